"""Folders and files of the embedded vector engine: how a model's shard is named, made, and recognised."""

from __future__ import annotations

import os
import re
import secrets
import shutil
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
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

from services.common.datadir import lock_folder
from services.common.errors import StoreUnavailable
from services.episodic.index_config import EdgeSettings
from services.episodic.stores.edge_checksums import CHECKSUMS_FILE, take_checksums
from services.episodic.stores.points import DENSE, LEXICAL

_T = TypeVar("_T")

_FOLDER: Final = re.compile(r"episodes-(?P<dimension>\d+)-.+")
_SHARD_FILE: Final = "edge_config.json"
_GENERATION_FILE: Final = "mneme-generation"
"""In the shard's folder."""
_GENERATION: Final = re.compile(rb"[0-9a-f]{16}")
_DAMAGED: Final = "damaged-"
_REMOVED: Final = "removed-"
_PURGING: Final[dict[str, Any]] = {"deleted_threshold": 1e-9, "vacuum_min_vector_number": 1}
"""The engine leaves removed points in a segment until a fifth of it is removed, and in small ones for ever."""
_SEGMENTS: Final = "segments"
_VECTORS_OF_WRITTEN_SEGMENT: Final = f"vector_storage-{DENSE}/vectors"
"""In a segment that points are put into; one that was built has another file."""
_IDS: Final = ("mutable_id_tracker.mappings", "id_tracker.mappings")
_SEGMENTS_MAX: Final = 1_000
"""More would be merged: 16 million points."""


def lock_shard(folder: Path) -> int:
    """Lock a shard for this process, by a file beside its folder.

    Returns:
        The descriptor; closing it releases the lock.

    Raises:
        DataDirLocked: Another process has it.
    """
    folder.parent.mkdir(parents=True, exist_ok=True)
    return lock_folder(folder, folder.with_name(f"{folder.name}.lock"))


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


def purge_shard(folder: Path, *, dimension: int, settings: EdgeSettings) -> None:
    """Write the segments of a closed shard anew, without the points that were removed from it. Blocks.

    Raises:
        DataDirLocked: A service has the shard open.
        StoreUnavailable: The engine failed.
    """
    lock = lock_shard(folder)
    try:
        # What a crash left in the engine's own log is done and written first.
        shard = translated(lambda: open_shard(folder, dimension=dimension, settings=settings))
        translated(shard.flush)
        translated(shard.close)
        translated(lambda: rewrite_segments(folder, dimension=dimension, settings=settings))
        take_checksums(folder)
    finally:
        os.close(lock)


def rewrite_segments(folder: Path, *, dimension: int, settings: EdgeSettings) -> None:
    """See `purge_shard`: for the holder of the lock of a flushed and closed shard. Errors are the engine's own."""
    remove_pointless_segments(folder)
    shard = open_shard(folder, dimension=dimension, settings=settings, purging=True)
    shard.optimize()
    shard.flush()
    shard.close()


def remove_pointless_segments(folder: Path) -> int:
    """Remove segments of a flushed and closed shard that name no point; returns how many.

    When the engine is killed before it has written the ids of a segment, its vectors may be in the segment's files by
    then. The engine does the writes again in another segment, and never rewrites one that has no points.
    """
    found = [
        segment
        for segment in (folder / _SEGMENTS).iterdir()
        if (segment / _VECTORS_OF_WRITTEN_SEGMENT).is_dir()
        and not any((segment / name).exists() and (segment / name).stat().st_size for name in _IDS)
    ]
    for segment in found:
        shutil.rmtree(segment)
    return len(found)


def remove_shard(folder: Path) -> None:
    """Remove a closed shard; the empty file of its lock stays. Blocks; may be interrupted and repeated.

    Raises:
        DataDirLocked: A service has the shard open.
        OSError: A file cannot be removed.
    """
    gone = folder if folder.name.startswith(_REMOVED) else folder.with_name(f"{_REMOVED}{folder.name}")
    if gone != folder:
        lock = lock_shard(folder)
        try:
            shutil.rmtree(gone, ignore_errors=True)
            folder.rename(gone)  # at once: an interrupted removal must not leave half of a shard under its name
        finally:
            os.close(lock)
    shutil.rmtree(gone)


def removed_shards(qdrant_folder: Path) -> list[str]:
    """Folders of shards whose removal was interrupted."""
    return [folder.name for folder in qdrant_folder.glob(f"{_REMOVED}*")]


def remove_damaged(qdrant_folder: Path) -> int:
    """Remove shards that were set aside; returns how many."""
    found = list(qdrant_folder.glob(f"{_DAMAGED}*"))
    for folder in found:
        shutil.rmtree(folder)
    return len(found)


def open_shard(folder: Path, *, dimension: int, settings: EdgeSettings, purging: bool = False) -> EdgeShard:
    """Open or create a shard with its payload indexes. Checksums of its files do not hold from then on.

    With `purging`, optimizing writes every segment anew from which a point was removed, however small.
    """
    (folder / CHECKSUMS_FILE).unlink(missing_ok=True)
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
            **(_PURGING if purging else {}),
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
    """Name of this shard that no other one in its place ever had or will have; drawn when it is first opened.

    A name that is damaged, as when its file was zeroed, is replaced: then everything is indexed again.
    """
    known = _read_generation(folder)
    if _GENERATION.fullmatch(known):
        return known.decode("ascii")
    fresh = secrets.token_hex(8)
    write_generation(folder, fresh)
    return fresh


def damaged_generation(folder: Path) -> Path | None:
    """The file with the shard's name, where it holds something else."""
    known = _read_generation(folder)
    return folder / _GENERATION_FILE if known and not _GENERATION.fullmatch(known) else None


def _read_generation(folder: Path) -> bytes:
    file = folder / _GENERATION_FILE
    return file.read_bytes().strip() if file.exists() else b""


def write_generation(folder: Path, name: str) -> None:
    """Give a shard its name."""
    fresh = (folder / _GENERATION_FILE).with_suffix(".new")
    fresh.write_text(name, "ascii")
    fresh.replace(folder / _GENERATION_FILE)


def set_aside(folder: Path) -> Path:
    """Rename a damaged shard's folder, and remove those that were set aside before; returns the new path."""
    for old in folder.parent.glob(f"{_DAMAGED}*-{folder.name}"):
        shutil.rmtree(old, ignore_errors=True)
    target = folder.with_name(f"{_DAMAGED}{datetime.now(UTC):%Y%m%dT%H%M%S%f}-{folder.name}")
    folder.replace(target)
    return target


def read_points(
    shard: EdgeShard, *, start: UUID, limit: int, payload: bool | Sequence[str] = True, vectors: bool = False
) -> list[Any]:
    """Points from an id on, in the order of ids; fewer than `limit` only where there are no more."""
    chosen: Any = payload if isinstance(payload, bool) else list(payload)
    points, _ = shard.scroll(ScrollRequest(offset=start, limit=limit, with_payload=chosen, with_vector=vectors))
    return list(points)


def scroll(
    shard: EdgeShard, *, start: UUID, limit: int, payload: bool | Sequence[str] = True, vectors: bool = False
) -> list[Any]:
    """See `read_points`.

    Raises:
        StoreUnavailable: The engine failed.
    """
    return translated(lambda: read_points(shard, start=start, limit=limit, payload=payload, vectors=vectors))


def translated(call: Callable[[], _T]) -> _T:
    """Run an engine call. The engine raises plain `Exception`, so nothing narrower can be caught."""
    try:
        return call()
    except Exception as error:
        raise StoreUnavailable("qdrant", 1.0) from error
