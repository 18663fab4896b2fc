"""Points of the vector index as records: copied with their vectors, so that nothing is embedded again."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Protocol
from uuid import UUID

import numpy as np
from qdrant_client import models
from qdrant_edge import EdgeShard, Point, SparseVector, UpdateOperation

from services.common.copying.model import CopyError, Key, Kind, Record
from services.common.copying.postgres_values import vector_bytes, vector_values
from services.episodic.config import EdgeSettings, QdrantSettings
from services.episodic.model import Owner, TenantId, UserId
from services.episodic.stores.edge_shard import (
    generation,
    known_shards,
    lock_shard,
    open_shard,
    shard_folder,
    translated,
)
from services.episodic.stores.edge_shard import scroll as scroll_shard
from services.episodic.stores.points import DENSE, LEXICAL, id_behind
from services.episodic.stores.qdrant_collection import (
    QdrantCollection,
    collection_name,
    known_collections,
    open_collection,
)
from services.episodic.stores.qdrant_connection import QdrantConnection
from services.episodic.stores.qdrant_scroll import scroll

_FIELDS: Final = frozenset({"id", "vector", "term_ids", "term_weights", "payload"})


@dataclass(frozen=True, slots=True)
class EmbeddingModel:
    """A model that an index was made with."""

    fingerprint: str
    dimension: int


class PointRecords(Protocol):
    """The points of one model: a `RecordStore` with a single kind."""

    @property
    def index_name(self) -> str:
        """What rows of episodes say that they are indexed in: the model, and which index of it."""
        ...

    @property
    def kinds(self) -> Sequence[Kind]:
        """See `RecordStore.kinds`."""
        ...

    async def count(self, kind: Kind) -> int:
        """See `RecordStore.count`."""
        ...

    async def read(self, kind: Kind, *, after: Key | None, limit: int) -> list[Record]:
        """See `RecordStore.read`."""
        ...

    async def write(self, kind: Kind, records: Sequence[Record]) -> None:
        """See `RecordStore.write`."""
        ...

    async def aclose(self) -> None:
        """Write what is buffered, and give up what is open."""
        ...


class PointEngine(Protocol):
    """Where the points of all models are."""

    async def known(self) -> dict[str, int]:
        """Dimensions of what is there, by generation."""
        ...

    async def open(self, model: EmbeddingModel, *, create: bool) -> PointRecords:
        """The points of a model.

        Args:
            model: Which one.
            create: Make its index where there is none.

        Raises:
            CopyError: There is none, and none is made.
            MnemeError: The engine cannot be used.
        """
        ...

    async def aclose(self) -> None:
        """Give up what is open."""
        ...


class EdgePointEngine:
    """The embedded engine. A shard is locked while it is open, as a service locks it."""

    def __init__(self, qdrant_folder: Path, settings: EdgeSettings | None = None) -> None:
        """Use a folder."""
        self._folder = qdrant_folder
        self._settings = settings or EdgeSettings()

    async def known(self) -> dict[str, int]:
        """See `PointEngine.known`."""
        return {name: dimension for name, (_, dimension) in known_shards(self._folder).items()}

    async def open(self, model: EmbeddingModel, *, create: bool) -> EdgePointRecords:
        """See `PointEngine.open`."""
        folder = shard_folder(self._folder, model=model.fingerprint, dimension=model.dimension)
        if not create and folder not in {known for known, _ in known_shards(self._folder).values()}:
            raise CopyError(f"{self._folder} holds no vectors of the model {model.fingerprint}")
        lock = lock_shard(folder)
        try:
            shard = translated(lambda: open_shard(folder, dimension=model.dimension, settings=self._settings))
        except BaseException:
            os.close(lock)
            raise
        return EdgePointRecords(shard, lock, model, generation(folder), self._settings)

    async def aclose(self) -> None:
        """Nothing is open."""


class EdgePointRecords:
    """`PointRecords` of a shard. Calls block the process, which does nothing else."""

    def __init__(
        self, shard: EdgeShard, lock: int, model: EmbeddingModel, generation: str, settings: EdgeSettings
    ) -> None:
        """Use an open shard and the descriptor of its lock; `aclose` closes both."""
        self._shard = shard
        self._lock = lock
        self._kind = _kind(model)
        self._settings = settings
        self._unoptimized = 0
        self.index_name = f"{model.fingerprint}@{generation}"

    @property
    def kinds(self) -> Sequence[Kind]:
        """See `RecordStore.kinds`."""
        return (self._kind,)

    async def count(self, kind: Kind) -> int:  # noqa: ARG002 - there is one
        """See `RecordStore.count`."""
        return int(translated(self._shard.info).points_count)

    async def read(self, kind: Kind, *, after: Key | None, limit: int) -> list[Record]:  # noqa: ARG002
        """See `RecordStore.read`. The order is that of the ids."""
        start = _start(after)
        if start is None:
            return []
        return [_record_of(point) for point in scroll_shard(self._shard, start=start, limit=limit, vectors=True)]

    async def write(self, kind: Kind, records: Sequence[Record]) -> None:  # noqa: ARG002
        """See `RecordStore.write`."""
        for start in range(0, len(records), self._settings.upsert_points_max):
            points = [
                Point(
                    UUID(record["id"]),
                    {
                        DENSE: vector_values(record["vector"]).tolist(),
                        LEXICAL: SparseVector(record["term_ids"], record["term_weights"]),
                    },
                    record["payload"],
                )
                for record in records[start : start + self._settings.upsert_points_max]
            ]
            operation = UpdateOperation.upsert_points(points)
            translated(lambda operation=operation: self._shard.update(operation))  # type: ignore[misc]
            self._unoptimized += len(points)
            # In segments as small as those of a running index: the next start would build one of everything.
            if self._unoptimized >= self._settings.optimize_after_points:
                translated(self._shard.optimize)
                self._unoptimized = 0
        translated(self._shard.flush)

    async def aclose(self) -> None:
        """Write what is buffered and close the shard."""
        try:
            translated(self._shard.flush)
            translated(self._shard.close)
        finally:
            os.close(self._lock)


class QdrantPointEngine:
    """A server."""

    def __init__(self, connection: QdrantConnection, settings: QdrantSettings | None = None) -> None:
        """Use a connection, which `aclose` closes."""
        self._connection = connection
        self._settings = settings or QdrantSettings()

    async def known(self) -> dict[str, int]:
        """See `PointEngine.known`."""
        await self._connection.check()
        found = await known_collections(self._connection, settings=self._settings)
        return {name: dimension for name, (_, dimension) in found.items()}

    async def open(self, model: EmbeddingModel, *, create: bool) -> QdrantPointRecords:
        """See `PointEngine.open`."""
        await self._connection.check()
        if not create:
            known = await known_collections(self._connection, settings=self._settings)
            name = collection_name(self._settings.collection_prefix, model=model.fingerprint, dimension=model.dimension)
            if name not in {collection.name for collection, _ in known.values()}:
                raise CopyError(f"the Qdrant server holds no vectors of the model {model.fingerprint}")
        collection = await open_collection(
            self._connection, model=model.fingerprint, dimension=model.dimension, settings=self._settings
        )
        return QdrantPointRecords(self._connection, collection, model)

    async def aclose(self) -> None:
        """Close the connection."""
        await self._connection.aclose()


class QdrantPointRecords:
    """`PointRecords` of a collection."""

    def __init__(
        self,
        connection: QdrantConnection,
        collection: QdrantCollection,
        model: EmbeddingModel,
    ) -> None:
        """Use a collection that is ready, within the limits that its administrator has set."""
        self._connection = connection
        self._collection = collection
        self._settings = collection.settings
        self._kind = _kind(model)
        self.index_name = f"{model.fingerprint}@{collection.generation}"

    @property
    def kinds(self) -> Sequence[Kind]:
        """See `RecordStore.kinds`."""
        return (self._kind,)

    async def count(self, kind: Kind) -> int:  # noqa: ARG002 - there is one
        """See `RecordStore.count`."""
        result = await self._connection.write(
            lambda client: client.count(
                self._collection.name, exact=True, timeout=self._settings.write_timeout_seconds
            ),
            operation="count",
            collection=self._collection.name,
        )
        return result.count

    async def read(self, kind: Kind, *, after: Key | None, limit: int) -> list[Record]:  # noqa: ARG002
        """See `RecordStore.read`. The order is that of the ids, over all shards."""
        start = _start(after)
        if start is None:
            return []
        points = await scroll(self._connection, self._collection, start=start, limit=limit, vectors=True)
        return [_record_of(point) for point in points]

    async def write(self, kind: Kind, records: Sequence[Record]) -> None:  # noqa: ARG002
        """See `RecordStore.write`."""
        by_shard: dict[str | None, list[models.PointStruct]] = {}
        for record in records:
            payload = record["payload"]
            owner = Owner(TenantId(payload["tenant"]), UserId(payload["user"]))
            by_shard.setdefault(self._collection.shard_of(owner), []).append(_point_struct(record))
        for shard, points in by_shard.items():
            for start in range(0, len(points), self._settings.upsert_points_max):
                await self._upsert(points[start : start + self._settings.upsert_points_max], shard)

    async def aclose(self) -> None:
        """The connection is the engine's."""

    async def _upsert(self, points: list[models.PointStruct], shard: str | None) -> None:
        result = await self._connection.write(
            lambda client: client.upsert(
                self._collection.name,
                points,
                wait=True,
                ordering=models.WriteOrdering.MEDIUM,
                shard_key_selector=shard,
                timeout=self._settings.write_timeout_seconds,
            ),
            operation="upsert",
            collection=self._collection.name,
        )
        if result.status != models.UpdateStatus.COMPLETED:
            raise CopyError("the Qdrant server has not applied a write in time: start the copy again, and it goes on")


def _kind(model: EmbeddingModel) -> Kind:
    return Kind(
        name=f"episodic.points of {model.fingerprint}", key=("id",), fields=_FIELDS, vectors=frozenset({"vector"})
    )


def _start(after: Key | None) -> UUID | None:
    """The first id that may come; None behind the last one."""
    return UUID(int=0) if after is None else id_behind(UUID(after[0]))


def _record_of(point: Any) -> Record:
    terms = point.vector[LEXICAL]
    return _record(UUID(str(point.id)), point.vector[DENSE], terms.indices, terms.values, point.payload)


def _record(identifier: UUID, vector: Any, term_ids: Any, term_weights: Any, payload: Any) -> Record:
    # Engines keep 4-byte numbers, and print some of them as the shorter number that was put in.
    terms = sorted(zip(term_ids, np.asarray(term_weights, dtype=np.float32).tolist(), strict=True))
    return {
        "id": str(identifier),
        "vector": vector_bytes(vector),
        "term_ids": [int(term) for term, _ in terms],
        "term_weights": [weight for _, weight in terms],
        # A whole second may come back as an integer.
        "payload": {**payload, "time": float(payload["time"])},
    }


def _point_struct(record: Record) -> models.PointStruct:
    return models.PointStruct(
        id=record["id"],
        vector={
            DENSE: vector_values(record["vector"]).tolist(),
            LEXICAL: models.SparseVector(indices=record["term_ids"], values=record["term_weights"]),
        },
        payload=record["payload"],
    )
