"""Vectors of users with many rows, cached and compared in memory: one matrix product instead of a row at a time.

A table of vectors can be cached when each write of a row takes a new number of a sequence, writers of one user take
turns until they have committed, and each removal raises the user's epoch (table `owner_revisions`). Then rows with
numbers above the highest cached one are all that is new, and an entry of the same epoch holds nothing that is gone.
"""

from __future__ import annotations

import asyncio
import os
import uuid
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Final, TypeVar

from services.common.cache import CacheKind, OwnerCache, OwnerKey
from services.common.embedding.vector_table import VectorTable
from services.common.embedding.vectors import Vector
from services.common.postgres.pool import decode_vectors
from services.common.postgres.tenancy import tenant_connection
from services.common.postgres.types import Pool

_R = TypeVar("_R")

_READ_AT_ONCE: Final = 1_000
_COMPARED_IN_PLACE_MAX: Final = 4_000
"""Vectors that are compared too fast for another thread to pay."""
_THREADS: Final = ThreadPoolExecutor(max(1, (os.cpu_count() or 2) - 1), thread_name_prefix="cached-vectors")
"""One core stays the event loop's."""
_TRIES: Final = 4
"""How often a search starts anew because its user was written to meanwhile."""


@dataclass(frozen=True, slots=True)
class VectorSource:
    """Where the vectors are. All parameters begin with $1 tenant, $2 user, $3 model."""

    name: str
    """What they are of: names the kind in the cache."""
    new: str
    """Statement for what is after revision $4, up to $5 rows in the order of their numbers: one row of `ids`,
    `scope_keys`, `levels` and `ends` (arrays, or null: all the same), `vectors` (in binary, one after the other), of
    those that may be found; `gone`, the ids of those that may not; `revision`, the highest number; and `epoch`, of the
    user. Nulls but for the epoch where nothing is new."""
    count: str
    """Statement for one value: how many may be found, counted up to $4."""


@dataclass(frozen=True, slots=True)
class VectorOwner:
    """A user's vectors of one model."""

    tenant_id: str
    user_id: str
    model: str

    @property
    def key(self) -> OwnerKey:
        """The user, as the cache names it."""
        return self.tenant_id, self.user_id


@dataclass(frozen=True, slots=True)
class NearestQuery:
    """Which vectors are looked for."""

    vector: Vector  # of length 1
    scope_keys: Sequence[str]
    limit: int  # >= 1
    level_min: float | None = None  # least level; None: any
    end_after: float | None = None  # what ends must be above; None: any


@dataclass(frozen=True, slots=True)
class Nearest:
    """What was found in memory, best first, ties by id. Never empty."""

    ids: list[uuid.UUID]
    scores: list[float]  # cosines
    revision: int  # all rows up to this number were compared, and none above it
    epoch: int  # of the user when they were read


@dataclass(slots=True)
class _Entry:
    """One user's vectors of one model, up to a revision."""

    model: str
    table: VectorTable[uuid.UUID] | None = None  # None: no vector was read yet
    revision: int = 0
    epoch: int = 0
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    def __len__(self) -> int:
        return 0 if self.table is None else len(self.table)

    @property
    def size_bytes(self) -> int:
        return 0 if self.table is None else self.table.size_bytes

    @property
    def state(self) -> tuple[int, int]:
        return self.epoch, self.revision


class CachedVectors:
    """Searches the vectors of a `VectorSource` in memory where they are cached. Belongs to one event loop."""

    def __init__(self, pool: Pool, source: VectorSource, cache: OwnerCache, *, vectors_min: int) -> None:
        """Cache what is read from `source` through `pool`, of users with at least so many vectors."""
        self._pool = pool
        self._source = source
        self._vectors_min = vectors_min
        self._wanted = ("", 1)  # model and dimension that was searched with last: a process has one
        self._entries: CacheKind[_Entry] = cache.kind(source.name, self._load)

    async def search(
        self, owner: VectorOwner, query: NearestQuery, read: Callable[[Nearest], Awaitable[list[_R] | None]]
    ) -> list[_R] | None:
        """Returns what `read` makes of the nearest vectors; None where the user's are not cached.

        Args:
            owner: Whose vectors, and of which model.
            query: Which of them.
            read: Reads what was found, and by the same statement whether the user has rows after `Nearest.revision`
                or another epoch than `Nearest.epoch`: then it returns None and is called anew with what is found by
                then. Both are seen at one moment, so that what it returns is what a search in the database would
                have.

        Raises:
            StoreUnavailable: The database is not available.
        """
        entry = self._entry_of(owner, len(query.vector))
        if entry is None:
            return None
        for _ in range(_TRIES):
            seen = entry.state
            near = await _compared(entry, query)
            if entry.state != seen:  # changed beneath the comparison
                continue
            if near:
                ids, scores = zip(*near, strict=True)
                found = await read(Nearest(list(ids), list(scores), entry.revision, entry.epoch))
                if found is not None:
                    return found
            await self._catch_up(owner, entry)
            if not self._entries.put(owner.key, entry):
                return None
            if entry.state == seen:
                if not near:
                    return []
                self._entries.forget(owner.key)  # stale, and nothing is new: the database was restored
                return None
        return None

    @property
    def count(self) -> int:
        """Vectors that are cached, of all users."""
        return sum(map(len, self._entries.entries()))

    async def settle(self) -> None:
        """Wait for what is being read in the background."""
        await self._entries.settle()

    async def aclose(self) -> None:
        """Stop reading and drop everything. Closing twice is allowed."""
        await self._entries.aclose()

    def _entry_of(self, owner: VectorOwner, dimension: int) -> _Entry | None:
        self._wanted = owner.model, dimension
        entry = self._entries.peek(owner.key)
        if entry is not None and entry.model != owner.model:
            self._entries.forget(owner.key)
        return self._entries.get(owner.key)

    async def _load(self, key: OwnerKey) -> None:
        model, dimension = self._wanted
        rows_max = self._entries.entry_bytes_max // VectorTable.bytes_of(1, dimension)
        async with tenant_connection(self._pool) as connection:
            count = await connection.fetchval(self._source.count, *key, model, rows_max + 1)
        if self._vectors_min <= count <= rows_max:
            entry = _Entry(model)
            await self._catch_up(VectorOwner(*key, model), entry)
            self._entries.put(key, entry)

    async def _catch_up(self, owner: VectorOwner, entry: _Entry) -> None:
        """Read what is new, or everything where the user's epoch is another."""
        async with entry.lock:  # of two that read at once one would put the other's revision back
            while True:
                # A connection for each step: a long reading leaves others a turn.
                async with tenant_connection(self._pool) as connection:
                    (row,) = await connection.fetch(
                        self._source.new, *owner.key, owner.model, entry.revision, _READ_AT_ONCE
                    )
                if row["epoch"] != entry.epoch:
                    was_empty = entry.revision == 0
                    entry.table, entry.revision, entry.epoch = None, 0, row["epoch"]
                    if not was_empty:
                        continue
                if row["revision"] is None:
                    return
                ids, gone = row["ids"] or (), row["gone"] or ()
                if ids:
                    vectors = decode_vectors(row["vectors"], count=len(ids))
                    if entry.table is None:
                        entry.table = VectorTable(vectors.shape[1])
                    entry.table.put(ids, row["scope_keys"], vectors, row["levels"], row["ends"])
                if entry.table is not None:
                    entry.table.remove(gone)
                entry.revision = row["revision"]
                if len(ids) + len(gone) < _READ_AT_ONCE or entry.size_bytes > self._entries.entry_bytes_max:
                    return


class StoreWithCachedVectors:
    """What stores on PostgreSQL share whose vectors are searched in memory."""

    def __init__(self, pool: Pool, source: VectorSource, cache: OwnerCache, *, vectors_min: int) -> None:
        """See `CachedVectors`; the pool's owner closes it after `aclose`."""
        self._pool = pool
        self._vectors = CachedVectors(pool, source, cache, vectors_min=vectors_min)

    async def aclose(self) -> None:
        """Stop what reads in the background. Closing twice is allowed."""
        await self._vectors.aclose()

    @property
    def cached_count(self) -> int:
        """Vectors that are cached, of all users."""
        return self._vectors.count

    async def settle(self) -> None:
        """Wait until vectors that are being loaded are cached."""
        await self._vectors.settle()


async def _compared(entry: _Entry, query: NearestQuery) -> list[tuple[uuid.UUID, float]]:
    table = entry.table
    if table is None:
        return []

    def compare() -> list[tuple[uuid.UUID, float]]:
        return table.nearest(
            query.vector, query.scope_keys, query.limit, level_min=query.level_min, end_after=query.end_after
        )

    if len(table) <= _COMPARED_IN_PLACE_MAX:
        return compare()
    return await asyncio.get_running_loop().run_in_executor(_THREADS, compare)
