"""Vectors of users with many notes, kept in memory and brought up to date before each use."""

from __future__ import annotations

import asyncio
import contextlib
import uuid
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Final, TypeAlias

import structlog

from services.agentic.config import KeptVectorsSettings
from services.agentic.model import Owner
from services.agentic.stores import postgres_sql as sql
from services.agentic.stores.neighbours import VECTOR_HEADER_BYTES, decode_vectors
from services.common.embedding.vector_table import VectorTable
from services.common.embedding.vectors import Vector
from services.common.errors import MnemeError
from services.common.postgres.tenancy import tenant_connection
from services.common.postgres.types import Pool

_log = structlog.get_logger(__name__)

_READ_AT_ONCE: Final = 1_000
_COMPARED_IN_PLACE_MAX: Final = 4_000
"""Vectors whose comparison, 0.3 ms, is not worth another thread."""
_LOOKED_AT_MAX: Final = 10_000

_Key: TypeAlias = tuple[Owner, str]


@dataclass(slots=True)
class _Kept:
    """One user's vectors of one model, up to a number."""

    table: VectorTable[uuid.UUID]
    number: int = 0
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)


class KeptVectors:
    """Vectors of the users that were searched last. Belongs to one event loop; `aclose` it.

    What a search sees is what was committed before it asked: each use costs one small query, which returns the new
    vectors alone. Any number of replicas may keep those of one user. Vectors never change, and notes are never removed
    one by one: a search joins what it finds here with the notes that are there.
    """

    def __init__(self, pool: Pool, settings: KeptVectorsSettings | None = None) -> None:
        """Keep what is read through `pool`."""
        self._pool = pool
        self._settings = settings or KeptVectorsSettings()
        self._kept: OrderedDict[_Key, _Kept] = OrderedDict()
        self._looked_at: OrderedDict[_Key, float] = OrderedDict()
        self._loading: dict[_Key, asyncio.Task[None]] = {}

    async def nearest(
        self, owner: Owner, model: str, vector: Vector, scope_keys: Sequence[str], *, limit: int
    ) -> list[tuple[uuid.UUID, float]] | None:
        """The nearest notes with their cosines, best first, ties by id; None where the user's are not kept.

        Then it is found out in the background whether they should be.

        Raises:
            StoreUnavailable: The database cannot be asked.
        """
        kept = self._kept.get((owner, model))
        if kept is None:
            self._consider((owner, model))
            return None
        table, number = kept.table, kept.number
        compare = partial(table.nearest, vector, scope_keys, limit)
        # Mostly there is nothing new: the comparison need not wait for that.
        early = asyncio.create_task(asyncio.to_thread(compare)) if len(table) > _COMPARED_IN_PLACE_MAX else None
        try:
            if not await self._catch_up(owner, model, kept):
                self._kept.pop((owner, model), None)
                return None
            self._kept[owner, model] = kept
            self._kept.move_to_end((owner, model))
            if early is None:
                return compare()
            return await (early if kept.number == number else asyncio.to_thread(compare))
        finally:
            if early is not None:
                early.cancel()

    @property
    def count(self) -> int:
        """Vectors that are kept, of all users."""
        return sum(len(kept.table) for kept in self._kept.values())

    async def settle(self) -> None:
        """Wait for what is being read in the background."""
        while self._loading:
            await asyncio.gather(*self._loading.values())

    async def aclose(self) -> None:
        """Stop reading and forget everything. Closing twice is allowed."""
        for task in list(self._loading.values()):
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task
        self._loading.clear()
        self._kept.clear()

    def _consider(self, key: _Key) -> None:
        if not self._settings.bytes_max:
            return
        now = asyncio.get_running_loop().time()
        last = self._looked_at.get(key)
        if key in self._loading or (last is not None and now - last < self._settings.look_again_seconds):
            return
        self._looked_at[key] = now
        self._looked_at.move_to_end(key)
        if len(self._looked_at) > _LOOKED_AT_MAX:
            self._looked_at.popitem(last=False)
        task = asyncio.create_task(self._load(key), name="agentic-kept-vectors")
        self._loading[key] = task
        task.add_done_callback(lambda _: self._loading.pop(key, None))

    async def _load(self, key: _Key) -> None:
        owner, model = key
        arguments = (owner.tenant_id, owner.user_id, model, self._settings.vectors_min - 1)
        try:
            async with tenant_connection(self._pool) as connection:
                has_more = await connection.fetchval(sql.HAS_MORE_VECTORS_AS_TENANT, *arguments)
            kept = _Kept(VectorTable(0))
            if not has_more or not await self._catch_up(owner, model, kept):
                return
        except MnemeError as error:
            _log.warning("vectors of notes are not kept", error=str(error))
            return
        self._kept[key] = kept
        self._forget_some()

    async def _catch_up(self, owner: Owner, model: str, kept: _Kept) -> bool:
        """Read what is new; whether all of it has a place here."""
        async with kept.lock:  # of two that read at once one would put the other's number back
            while True:
                # A connection for each step: a long reading leaves others a turn.
                async with tenant_connection(self._pool) as connection:
                    row = await connection.fetchrow(
                        sql.NEW_VECTORS_AS_TENANT, owner.tenant_id, owner.user_id, model, kept.number, _READ_AT_ONCE
                    )
                if row is None or row["note_ids"] is None:
                    return True
                note_ids, data = row["note_ids"], row["vectors"]
                dimension = (len(data) // len(note_ids) - VECTOR_HEADER_BYTES) // 4
                if kept.number == 0:
                    kept.table = VectorTable(dimension)
                vectors = decode_vectors(data, count=len(note_ids), dimension=dimension)
                kept.table.put(note_ids, row["scope_keys"], vectors)
                kept.number = row["number"]
                if kept.table.size_bytes > self._settings.bytes_max:
                    return False
                if len(note_ids) < _READ_AT_ONCE:
                    return True

    def _forget_some(self) -> None:
        size = sum(kept.table.size_bytes for kept in self._kept.values())
        while size > self._settings.bytes_max and self._kept:
            _, dropped = self._kept.popitem(last=False)
            size -= dropped.table.size_bytes
