"""Folders and files of the embedded vector engine: how a model's shard is named, made, and recognised."""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final, TypeVar
from uuid import UUID

from qdrant_edge import (
    Distance,
    EdgeConfig,
    EdgeOptimizersConfig,
    EdgeShard,
    EdgeSparseVectorParams,
    EdgeVectorParams,
    HnswIndexConfig,
    IntegerIndexParams,
    KeywordIndexParams,
    Modifier,
    ScrollRequest,
    UpdateOperation,
)

from services.common.errors import StoreUnavailable
from services.episodic.config import EdgeSettings
from services.episodic.stores.points import DENSE, LEXICAL

_T = TypeVar("_T")

_FOLDER: Final = re.compile(r"episodes-(?P<dimension>\d+)-.+")
_SHARD_FILE: Final = "edge_config.json"
_GENERATION_FILE: Final = "mneme-generation"
"""In the shard's folder."""
_SEGMENTS_MAX: Final = 1_000
"""More would be merged: 16 million points."""


def shard_folder(qdrant_folder: Path, *, model: str, dimension: int) -> Path:
    """Where a model's shard is."""
    plain = re.sub(r"[^A-Za-z0-9._-]", "-", model)
    return qdrant_folder / f"episodes-{dimension}-{plain}"


def known_shards(qdrant_folder: Path) -> dict[str, tuple[Path, int]]:
    """Folder and dimension of each shard that was ever opened, by its generation."""
    found: dict[str, tuple[Path, int]] = {}
    for folder in sorted(qdrant_folder.glob("episodes-*")):
        match = _FOLDER.fullmatch(folder.name)
        if match and (folder / _SHARD_FILE).exists() and (folder / _GENERATION_FILE).exists():
            found[generation(folder)] = (folder, int(match["dimension"]))
    return found


def open_shard(folder: Path, *, dimension: int, settings: EdgeSettings) -> EdgeShard:
    """Opens or creates a shard with its indexes of the payload."""
    config = EdgeConfig(
        vectors={DENSE: EdgeVectorParams(size=dimension, distance=Distance.Cosine)},
        sparse_vectors={LEXICAL: EdgeSparseVectorParams(modifier=Modifier.Idf)},
        # Every search has an owner: no graph over everybody's points (m=0), one for each large owner.
        hnsw_config=HnswIndexConfig(
            m=0, ef_construct=100, full_scan_threshold=settings.exact_up_to_kilobytes, payload_m=16
        ),
        # The engine is to find a segment worth building when we do. It stops the process while it builds, so segments
        # stay small and are never merged: many cost a search little, and merging all would take seconds.
        optimizers=EdgeOptimizersConfig(
            indexing_threshold=_kilobytes(settings.optimize_after_points, dimension),
            max_segment_size=_kilobytes(settings.segment_points_max, dimension),
            default_segment_number=_SEGMENTS_MAX,
        ),
        max_search_threads=settings.search_threads,
    )
    if (folder / _SHARD_FILE).exists():
        shard = EdgeShard.load(str(folder), config)
    else:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        (folder / _GENERATION_FILE).unlink(missing_ok=True)  # of a shard that is gone
        shard = EdgeShard.create(str(folder), config)
    indexed = shard.info().payload_schema
    for field, params in (
        ("owner", KeywordIndexParams(is_tenant=True)),
        ("visibility", KeywordIndexParams(enable_hnsw=False)),
        ("turn", IntegerIndexParams(lookup=True, range=False, enable_hnsw=False)),
        ("tenant", KeywordIndexParams(enable_hnsw=False)),
    ):
        if field not in indexed:
            shard.update(UpdateOperation.create_field_index(field, params))
    return shard


def _kilobytes(points: int, dimension: int) -> int:
    """What their vectors take."""
    return max(1, points * dimension * 4 // 1024)


def generation(folder: Path) -> str:
    """What tells this shard from any other that was or will be in its place; drawn when it is first opened."""
    file = folder / _GENERATION_FILE
    known = file.read_text("ascii").strip() if file.exists() else ""
    if not known:
        known = secrets.token_hex(8)
        file.write_text(known, "ascii")
    return known


def scroll(
    shard: EdgeShard, *, start: UUID, limit: int, payload: bool | Sequence[str] = True, vectors: bool = False
) -> list[Any]:
    """Points from an id on, in the order of ids; fewer than `limit` only where there are no more.

    Args:
        shard: An open one.
        start: The first id that may come.
        limit: Points at most.
        payload: All of it, or fields of it.
        vectors: Whether they come too.

    Raises:
        StoreUnavailable: The engine failed.
    """
    chosen: Any = payload if isinstance(payload, bool) else list(payload)
    request = ScrollRequest(offset=start, limit=limit, with_payload=chosen, with_vector=vectors)
    points, _ = translated(lambda: shard.scroll(request))
    return list(points)


def translated(call: Callable[[], _T]) -> _T:
    """Run an engine call. The engine raises plain `Exception`, so nothing narrower can be caught."""
    try:
        return call()
    except Exception as error:
        raise StoreUnavailable("qdrant", 1.0) from error
