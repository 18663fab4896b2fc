"""Vectors of users with many rows, kept in memory and compared there: one matrix product instead of a row at a time.

A table of vectors belongs to this when each of its rows has a number of a sequence that every write of the row takes
anew, and writers of one user take turns until they have committed: then the rows of a user whose numbers are above the
highest one known are all that is new.
"""

from __future__ import annotations

import asyncio
import os
import uuid
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Final, Protocol, TypeVar

import structlog

from services.common.background import BackgroundWork
from services.common.embedding.vector_table import VectorTable
from services.common.embedding.vectors import Vector
from services.common.errors import MnemeError
from services.common.postgres.pool import decode_vectors
from services.common.postgres.tenancy import tenant_connection
from services.common.postgres.types import Pool

_log = structlog.get_logger(__name__)

_R = TypeVar("_R")

_READ_AT_ONCE: Final = 1_000
_COMPARED_IN_PLACE_MAX: Final = 4_000
"""Vectors whose comparison, 0.3 ms, is not worth another thread."""
_THREADS: Final = ThreadPoolExecutor(max(1, (os.cpu_count() or 2) - 1), thread_name_prefix="kept-vectors")
"""One core stays the event loop's: where every store compares at once, what an answer waits for takes twice as long."""
_LOOKED_AT_MAX: Final = 10_000
_TRIES: Final = 4
"""How often a search starts anew because its user was written to meanwhile."""


class KeepingSettings(Protocol):
    """Whose vectors are kept."""

    @property
    def vectors_min(self) -> int:
        """Vectors of a user that make keeping them worth it."""

    @property
    def bytes_max(self) -> int:
        """Memory of all users together; those searched least recently go. 0 keeps none."""

    @property
    def look_again_seconds(self) -> float:
        """How long until a user who had too few or too many is looked at again."""


@dataclass(frozen=True, slots=True)
class VectorSource:
    """Where the vectors are. All parameters begin with $1 tenant, $2 user, $3 model."""

    name: str
    """What they are of, for the log."""
    new: str
    """Statement for what has a number above $4, up to $5 rows in the order of their numbers: one row of `ids`,
    `scope_keys`, `levels` (an array, or null: all the same), `vectors` (in binary, one after the other), of those that
    may be found; `gone`, the ids of those that may not, which are forgotten; and `number`, the highest. Nulls where
    there is nothing."""
    has_more: str
    """Statement for one value: whether there are more than $4 that may be found."""


@dataclass(frozen=True, slots=True)
class VectorOwner:
    """A user's vectors of one model."""

    tenant_id: str
    user_id: str
    model: str


@dataclass(frozen=True, slots=True)
class NearestQuery:
    """Which vectors are asked for."""

    vector: Vector  # of length 1
    scope_keys: Sequence[str]
    limit: int  # >= 1
    level_min: float | None = None  # least level; None: any


@dataclass(frozen=True, slots=True)
class Nearest:
    """What was found in memory, best first, ties by id. Never empty."""

    ids: list[uuid.UUID]
    scores: list[float]  # cosines
    number: int  # all rows up to this number were compared, and none above it


@dataclass(slots=True)
class _Kept:
    """One user's vectors of one model, up to a number."""

    table: VectorTable[uuid.UUID] | None = None  # None: no vector was read yet, so that the dimension is not known
    number: int = 0
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    @property
    def count(self) -> int:
        return 0 if self.table is None else len(self.table)

    @property
    def size_bytes(self) -> int:
        return 0 if self.table is None else self.table.size_bytes


class KeptVectors:
    """Vectors of the users that were searched last. Belongs to one event loop; `aclose` it.

    Any number of replicas may keep those of one user. What a search sees is what was committed before it asked.
    """

    def __init__(self, pool: Pool, source: VectorSource, settings: KeepingSettings) -> None:
        """Keep what is read from `source` through `pool`."""
        self._pool = pool
        self._source = source
        self._settings = settings
        self._kept: OrderedDict[VectorOwner, _Kept] = OrderedDict()
        self._looked_at: OrderedDict[VectorOwner, float] = OrderedDict()
        self._loading = BackgroundWork[VectorOwner](f"kept-vectors-{source.name}")

    async def search(
        self, owner: VectorOwner, query: NearestQuery, read: Callable[[Nearest], Awaitable[list[_R] | None]]
    ) -> list[_R] | None:
        """What `read` makes of the nearest vectors; None where the user's are not kept.

        In the latter case it is found out in the background whether they should be.

        Args:
            owner: Whose vectors, and of which model.
            query: Which of them.
            read: Reads what was found, and by the same statement whether the user has rows with numbers above
                `Nearest.number`: then it returns None and is called anew with what is found by then. Both are seen at
                one moment, so that what it returns is what a search in the database would have. None also says that
                a row is not there any more; then nothing of this user is kept for a while.

        Raises:
            StoreUnavailable: The database cannot be asked.
        """
        kept = self._kept.get(owner)
        if kept is None:
            self._consider(owner)
            return None
        self._kept.move_to_end(owner)
        for _ in range(_TRIES):
            number = kept.number
            near = await _compared(kept, query)
            if kept.number != number:  # changed beneath the comparison
                continue
            if near:
                ids, scores = zip(*near, strict=True)
                answer = await read(Nearest(list(ids), list(scores), number))
                if answer is not None:
                    return answer
            if not await self._catch_up(owner, kept):
                break
            if kept.number == number:
                if not near:
                    return []
                break
            self._forget_some()
        else:
            return None
        self._forget(owner, kept)
        return None

    @property
    def count(self) -> int:
        """Vectors that are kept, of all users."""
        return sum(kept.count for kept in self._kept.values())

    async def settle(self) -> None:
        """Wait for what is being read in the background."""
        await self._loading.settle()

    async def aclose(self) -> None:
        """Stop reading and forget everything. Closing twice is allowed."""
        await self._loading.aclose()
        self._kept.clear()

    def _consider(self, owner: VectorOwner) -> None:
        if not self._settings.bytes_max:
            return
        now = asyncio.get_running_loop().time()
        last = self._looked_at.get(owner)
        if owner in self._loading or (last is not None and now - last < self._settings.look_again_seconds):
            return
        self._looked_at[owner] = now
        self._looked_at.move_to_end(owner)
        if len(self._looked_at) > _LOOKED_AT_MAX:
            self._looked_at.popitem(last=False)
        self._loading.begin(owner, lambda: self._load(owner))

    async def _load(self, owner: VectorOwner) -> None:
        arguments = (owner.tenant_id, owner.user_id, owner.model, self._settings.vectors_min - 1)
        try:
            async with tenant_connection(self._pool) as connection:
                has_more = await connection.fetchval(self._source.has_more, *arguments)
            kept = _Kept()
            if not has_more or not await self._catch_up(owner, kept):
                return
        except MnemeError as error:
            _log.warning("vectors are not kept", of=self._source.name, error=str(error))
            return
        self._kept[owner] = kept
        self._forget_some()

    async def _catch_up(self, owner: VectorOwner, kept: _Kept) -> bool:
        """Read what is new; whether all of it has a place here."""
        async with kept.lock:  # of two that read at once one would put the other's number back
            while True:
                # A connection for each step: a long reading leaves others a turn.
                async with tenant_connection(self._pool) as connection:
                    row = await connection.fetchrow(
                        self._source.new, owner.tenant_id, owner.user_id, owner.model, kept.number, _READ_AT_ONCE
                    )
                if row is None or row["number"] is None:
                    return True
                ids, gone = row["ids"] or (), row["gone"] or ()
                if ids:
                    vectors = decode_vectors(row["vectors"], count=len(ids))
                    if kept.table is None:
                        kept.table = VectorTable(vectors.shape[1])
                    kept.table.put(ids, row["scope_keys"], vectors, row["levels"])
                if kept.table is not None:
                    kept.table.remove(gone)
                kept.number = row["number"]
                if kept.size_bytes > self._settings.bytes_max:
                    return False
                if len(ids) + len(gone) < _READ_AT_ONCE:
                    return True

    def _forget_some(self) -> None:
        size = sum(kept.size_bytes for kept in self._kept.values())
        while size > self._settings.bytes_max and self._kept:
            _, dropped = self._kept.popitem(last=False)
            size -= dropped.size_bytes

    def _forget(self, owner: VectorOwner, kept: _Kept) -> None:
        if self._kept.get(owner) is kept:
            del self._kept[owner]


class StoreWithKeptVectors:
    """What stores on PostgreSQL share that have vectors searched in memory."""

    def __init__(self, pool: Pool, source: VectorSource, settings: KeepingSettings) -> None:
        """Use a pool, which its owner closes after `aclose`."""
        self._pool = pool
        self._vectors = KeptVectors(pool, source, settings)

    async def aclose(self) -> None:
        """Stop what reads in the background. Closing twice is allowed."""
        await self._vectors.aclose()

    @property
    def kept_count(self) -> int:
        """Vectors that are kept in memory, of all users."""
        return self._vectors.count

    async def settle(self) -> None:
        """Wait until vectors that are being read into memory are there."""
        await self._vectors.settle()


async def _compared(kept: _Kept, query: NearestQuery) -> list[tuple[uuid.UUID, float]]:
    table = kept.table
    if table is None:
        return []

    def compare() -> list[tuple[uuid.UUID, float]]:
        return table.nearest(query.vector, query.scope_keys, query.limit, level_min=query.level_min)

    if len(table) <= _COMPARED_IN_PLACE_MAX:
        return compare()
    return await asyncio.get_running_loop().run_in_executor(_THREADS, compare)
