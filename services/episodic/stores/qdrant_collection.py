"""The collection of a model: how it is named, made, and recognised."""

from __future__ import annotations

import contextlib
import hashlib
import re
import secrets
import sys
from dataclasses import dataclass, replace
from typing import Any, Final

import structlog
from grpc import StatusCode
from grpc.aio import AioRpcError
from qdrant_client import AsyncQdrantClient, models

from services.common.errors import FailedPrecondition
from services.episodic.config import QdrantSettings
from services.episodic.model import Owner
from services.episodic.stores.points import DENSE, LEXICAL
from services.episodic.stores.qdrant_connection import QdrantConnection

_log = structlog.get_logger(__name__)

_GENERATION: Final = "mneme_generation"
_SHARDS: Final = "mneme_shards"
_NAME_CHARS_MAX: Final = 120
_DIGEST_CHARS: Final = 12

#: Everything that may ever be filtered by: a server in strict mode refuses filters on other fields.
_PAYLOAD_INDEXES: Final[dict[str, models.PayloadSchemaParams]] = {
    # One graph and one stretch of the disk for each owner.
    "owner": models.KeywordIndexParams(type=models.KeywordIndexType.KEYWORD, is_tenant=True),
    "visibility": models.KeywordIndexParams(type=models.KeywordIndexType.KEYWORD, enable_hnsw=False),
    "turn": models.IntegerIndexParams(
        type=models.IntegerIndexType.INTEGER, lookup=True, range=False, enable_hnsw=False
    ),
    "tenant": models.KeywordIndexParams(type=models.KeywordIndexType.KEYWORD, enable_hnsw=False),
    "user": models.KeywordIndexParams(type=models.KeywordIndexType.KEYWORD, enable_hnsw=False),
    "time": models.FloatIndexParams(type=models.FloatIndexType.FLOAT, enable_hnsw=False),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class QdrantCollection:
    """A collection that is ready for use."""

    name: str
    generation: str  # drawn when it was made: another one under its name holds nothing of what this one held
    shards: int  # among which owners are divided; 1 where the server places points as it likes
    settings: QdrantSettings  # within the limits that the collection's administrator has set
    query_limit_max: int = sys.maxsize  # points that one query may ask for
    queries_max: int = sys.maxsize  # queries in one call

    def shard_of(self, owner: Owner) -> str | None:
        """The shard that holds all of an owner's points.

        The server takes its term statistics over one shard: an owner in several would be scored by parts.
        """
        if self.shards == 1:
            return None
        digest = hashlib.sha256(owner.key.encode("utf-8", "surrogatepass")).digest()
        return _shard_name(int.from_bytes(digest[:8], "big") % self.shards)


def collection_name(prefix: str, *, model: str, dimension: int) -> str:
    """Name of a model's collection, in characters that every server takes; different models, different names."""
    plain = re.sub(r"[^A-Za-z0-9._-]", "-", model)
    name = f"{prefix}-{dimension}-{plain}"
    if plain == model and len(name) <= _NAME_CHARS_MAX:
        return name
    digest = hashlib.sha256(model.encode("utf-8")).hexdigest()[:_DIGEST_CHARS]
    return f"{name[:_NAME_CHARS_MAX]}-{digest}"


async def open_collection(
    connection: QdrantConnection, *, model: str, dimension: int, settings: QdrantSettings
) -> QdrantCollection:
    """The collection of a model, made where it does not exist. Replicas may do so at the same time.

    Raises:
        StoreUnavailable: The server cannot be asked.
        FailedPrecondition: There is a collection of that name with other vectors, or the server refuses one.
    """
    name = collection_name(settings.collection_prefix, model=model, dimension=dimension)
    return await _ensure(connection, name, dimension, settings, generation=secrets.token_hex(8))


async def restore_collection(
    connection: QdrantConnection, collection: QdrantCollection, *, dimension: int
) -> QdrantCollection:
    """Make a collection anew, empty, that was lost while it was in use.

    It keeps its generation: that it holds too little is found by counting, without a new start.
    """
    settings = replace(collection.settings, shards=collection.shards)
    return await _ensure(connection, collection.name, dimension, settings, generation=collection.generation)


async def _ensure(
    connection: QdrantConnection, name: str, dimension: int, settings: QdrantSettings, *, generation: str
) -> QdrantCollection:
    if not await connection.prepare(lambda client: client.collection_exists(name)):
        _log.info("qdrant collection is made", collection=name, shards=settings.shards)
        await connection.prepare(lambda client: _create(client, name, dimension, settings, generation))
    found = await connection.prepare(lambda client: client.get_collection(name))
    _check_vectors(name, found.config.params, dimension)
    collection = _described(name, found, settings)
    if collection.shards > 1:
        await connection.prepare(lambda client: _create_shards(client, name, collection.shards, collection.settings))
    missing = [field for field in _PAYLOAD_INDEXES if field not in found.payload_schema]
    await connection.prepare(lambda client: _create_indexes(client, name, missing, collection.settings))
    return collection


def _described(name: str, found: models.CollectionInfo, settings: QdrantSettings) -> QdrantCollection:
    metadata = found.config.metadata or {}
    strict = found.config.strict_mode_config
    strict = strict if strict is not None and strict.enabled else models.StrictModeConfigOutput()
    return QdrantCollection(
        name=name,
        generation=str(metadata.get(_GENERATION, "")),
        shards=int(metadata.get(_SHARDS, 1)),
        settings=_within(strict, settings),
        query_limit_max=strict.max_query_limit or sys.maxsize,
        queries_max=strict.search_max_batchsize or sys.maxsize,
    )


def _within(strict: models.StrictModeConfigOutput, settings: QdrantSettings) -> QdrantSettings:
    """The settings, as far as a server in strict mode allows: it refuses what is beyond."""
    most = sys.maxsize
    return replace(
        settings,
        upsert_points_max=min(settings.upsert_points_max, strict.upsert_max_batchsize or most),
        keys_max=min(settings.keys_max, strict.condition_max_size or most),
        search_timeout_seconds=min(settings.search_timeout_seconds, strict.max_timeout or most),
        write_timeout_seconds=min(settings.write_timeout_seconds, strict.max_timeout or most),
    )


async def known_collections(
    connection: QdrantConnection, *, settings: QdrantSettings
) -> dict[str, tuple[QdrantCollection, int]]:
    """Collections of this tier with the dimensions of their vectors, by their generations. Nothing is made.

    Raises:
        StoreUnavailable: The server cannot be asked.
    """
    listed = await connection.prepare(lambda client: client.get_collections())
    names = sorted(c.name for c in listed.collections if c.name.startswith(f"{settings.collection_prefix}-"))
    known: dict[str, tuple[QdrantCollection, int]] = {}
    for name in names:
        found = await connection.prepare(lambda client, name=name: client.get_collection(name))  # type: ignore[misc]
        vectors = found.config.params.vectors
        dense = vectors.get(DENSE) if isinstance(vectors, dict) else None
        collection = _described(name, found, settings)
        if collection.generation and dense is not None:
            known[collection.generation] = (collection, dense.size)
    return known


async def _create(
    client: AsyncQdrantClient, name: str, dimension: int, settings: QdrantSettings, generation: str
) -> None:
    try:
        await client.create_collection(
            name,
            vectors_config={DENSE: models.VectorParams(size=dimension, distance=models.Distance.COSINE)},
            sparse_vectors_config={LEXICAL: models.SparseVectorParams(modifier=models.Modifier.IDF)},
            # Every search has an owner: no graph over everybody's points (m=0), one for each large owner.
            hnsw_config=models.HnswConfigDiff(
                m=0, payload_m=16, ef_construct=100, full_scan_threshold=settings.exact_up_to_kilobytes
            ),
            # Otherwise a write may wait until the server has built an index for its points.
            optimizers_config=models.OptimizersConfigDiff(prevent_unoptimized=False),
            sharding_method=models.ShardingMethod.AUTO if settings.shards == 1 else models.ShardingMethod.CUSTOM,
            shard_number=1,
            replication_factor=settings.replication_factor,
            metadata={_GENERATION: generation, _SHARDS: settings.shards},
            timeout=settings.write_timeout_seconds,
        )
    except AioRpcError as error:
        # Another replica was faster, or the name is an alias, which counts as no collection.
        if error.code() is not StatusCode.ALREADY_EXISTS and not await _can_be_read(client, name):
            raise


async def _can_be_read(client: AsyncQdrantClient, name: str) -> bool:
    with contextlib.suppress(AioRpcError):
        await client.get_collection(name)
        return True
    return False


async def _create_shards(client: AsyncQdrantClient, name: str, shards: int, settings: QdrantSettings) -> None:
    for shard in [_shard_name(number) for number in range(shards)]:
        if shard in await _shard_names(client, name):
            continue
        try:
            await client.create_shard_key(
                name,
                shard,
                shards_number=1,
                replication_factor=settings.replication_factor,
                timeout=settings.write_timeout_seconds,
            )
        except AioRpcError:
            if shard not in await _shard_names(client, name):
                raise


async def _shard_names(client: AsyncQdrantClient, name: str) -> set[str]:
    found = await client.list_shard_keys(name)
    return {str(description.key) for description in found.shard_keys or []}


async def _create_indexes(client: AsyncQdrantClient, name: str, fields: list[str], settings: QdrantSettings) -> None:
    for field in fields:
        await client.create_payload_index(
            name, field, _PAYLOAD_INDEXES[field], wait=True, timeout=settings.write_timeout_seconds
        )


def _shard_name(number: int) -> str:
    return f"owners-{number}"


def _check_vectors(name: str, params: models.CollectionParams, dimension: int) -> None:
    dense: Any = params.vectors.get(DENSE) if isinstance(params.vectors, dict) else None
    lexical = (params.sparse_vectors or {}).get(LEXICAL)
    is_ours = (
        dense is not None
        and (dense.size, dense.distance) == (dimension, models.Distance.COSINE)
        and lexical is not None
        and lexical.modifier == models.Modifier.IDF
    )
    if not is_ours:
        raise FailedPrecondition(
            f"the Qdrant collection {name!r} holds other vectors than this service's: choose another prefix"
        )
