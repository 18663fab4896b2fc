"""What recalls returned, written in the background, so that feedback can judge a recall as a whole."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from services.common.auth import current_principal_or_none
from services.common.clock import Clock
from services.common.errors import NotFound
from services.common.scope import GLOBAL_SCOPE, Scope
from services.gateway.grants.model import MemoryKind
from services.gateway.journal.model import RecallRecord
from services.gateway.journal.store import RecallRecords

_BATCH_MAX = 100
"""Records that one transaction writes."""
_QUERY_CHARS_MAX = 500
"""Length of a query from which on nothing is learned from it."""


class RecallLog:
    """Records recalls and finds them again. Recording never waits: beyond a bound records are dropped."""

    def __init__(self, records: RecallRecords, clock: Clock, *, queue_max: int) -> None:
        """Writes to `records` while `run` runs; at most `queue_max` records wait for it."""
        self._records = records
        self._clock = clock
        self._queue_max = queue_max
        self._waiting: list[RecallRecord] = []
        self._work = asyncio.Event()
        self._writing = asyncio.Lock()

    def record(
        self,
        tenant_id: str,
        user_id: str,
        recall_id: str,
        memories: Sequence[tuple[MemoryKind, str]],
        *,
        query: str = "",
        scope: Scope = GLOBAL_SCOPE,
        procedure_ids: Sequence[str] = (),
        counts_use: bool = True,
    ) -> None:
        """Queues what a recall returned, and what it was: a query that is long is not stored."""
        if len(self._waiting) >= self._queue_max:
            return
        stored = query if len(query) <= _QUERY_CHARS_MAX else ""
        principal = current_principal_or_none()
        self._waiting.append(
            RecallRecord(
                tenant_id,
                recall_id,
                user_id,
                tuple(memories),
                self._clock.now(),
                principal.principal_id if principal is not None else "",
                stored,
                scope,
                tuple(procedure_ids),
                counts_use,
            )
        )
        self._work.set()

    async def find(self, tenant_id: str, user_id: str, recall_id: str) -> RecallRecord:
        """The record of a recall, also of one whose record waits to be written here.

        Raises:
            NotFound: There is none: never was, purged, or another gateway has not written it yet.
        """
        await self.flush()
        record = await self._records.recall_record(tenant_id, user_id, recall_id)
        if record is None:
            raise NotFound("recall", recall_id)
        return record

    async def judged(self, tenant_id: str, user_id: str, recall_id: str) -> tuple[tuple[MemoryKind, str], ...]:
        """The memories that a recall returned; one that returned none takes feedback all the same.

        Raises:
            NotFound: See `find`.
        """
        return (await self.find(tenant_id, user_id, recall_id)).memories

    async def run(self) -> None:
        """Writes until cancelled.

        Raises:
            StoreUnavailable: The records of one batch are lost; run it again.
        """
        while True:
            await self._work.wait()
            await self.flush()

    async def flush(self) -> None:
        """Writes what waits."""
        async with self._writing:
            self._work.clear()
            while self._waiting:
                batch, self._waiting = self._waiting[:_BATCH_MAX], self._waiting[_BATCH_MAX:]
                await self._records.add_recalls(batch)
