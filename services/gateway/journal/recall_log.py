"""What recalls returned, written in the background, so that feedback can judge a recall as a whole."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Sequence
from enum import StrEnum
from typing import Final

import structlog

from services.common.auth import current_principal_or_none
from services.common.clock import Clock
from services.common.errors import Conflict, DeadlineExceeded, MnemeError, NotFound, StoreUnavailable
from services.common.scope import GLOBAL_SCOPE, Scope
from services.common.telemetry.instruments import counter
from services.gateway.grants.model import MemoryKind
from services.gateway.journal.model import RecallRecord
from services.gateway.journal.store import RecallRecords

_BATCH_MAX = 100
"""Records that one transaction writes."""
_QUERY_CHARS_MAX = 500
"""Length of a query from which on nothing is learned from it."""
_TRANSIENT: Final = (StoreUnavailable, DeadlineExceeded, Conflict)
"""Failures of the journal after which the same records are written again."""

_log = structlog.get_logger(__name__)


class Unrecorded(StrEnum):
    """Why a recall has no record and no entry in the audit log."""

    QUEUE_FULL = "queue_full"  # the journal could not be written for longer than a recall waits
    REFUSED = "refused"  # the journal refuses this record, and would again
    CLOSED = "closed"  # the journal could not be written when the gateway stopped


class RecallLog:
    """Records recalls and finds them again.

    Recording does not wait for the journal. What cannot be written is written again. Where more recalls wait than may,
    the next ones wait for room, a bounded time; those that get none are counted and go unrecorded.
    """

    def __init__(
        self,
        records: RecallRecords,
        clock: Clock,
        *,
        queue_max: int,
        wait_seconds: float = 0.5,
        retry_seconds: float = 1.0,
    ) -> None:
        """Writes to `records` while `run` runs.

        Args:
            records: Where they are written.
            clock: The time of records.
            queue_max: Records that may wait to be written.
            wait_seconds: How long a recall beyond them waits for room.
            retry_seconds: Between two attempts to write where the journal cannot be written.
        """
        self._records = records
        self._clock = clock
        self._queue_max = queue_max
        self._wait_seconds = wait_seconds
        self._retry_seconds = retry_seconds
        self._waiting: list[RecallRecord] = []
        self._one_by_one = 0  # records of a refused batch that are left
        self._work = asyncio.Event()
        self._room = asyncio.Event()
        self._writing = asyncio.Lock()
        reasons = [{"reason": reason.value} for reason in Unrecorded]
        self._unrecorded = counter("mneme.recall.unrecorded", "Recalls without a record, by reason.", reasons)

    async def record(
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
        also_read: Sequence[str] = (),
        method: str = "Recall",
        seconds_left: float = 60.0,
    ) -> None:
        """Queues what a recall returned, and what it was: a query that is long is not stored.

        Returns at once where there is room; else waits for it, at most half of the seconds that are left.
        """
        if not await self._has_room(seconds_left / 2):
            self._drop(1, Unrecorded.QUEUE_FULL)
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
                tuple(also_read),
                method,
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

    async def latest(self, tenant_id: str, user_id: str, *, limit: int) -> Sequence[RecallRecord]:
        """A user's recalls, the latest first, those whose records wait to be written here included.

        Raises:
            MnemeError: They cannot be read.
        """
        await self.flush()
        return await self._records.latest_recalls(tenant_id, user_id, limit=limit)

    async def judged(self, tenant_id: str, user_id: str, recall_id: str) -> tuple[tuple[MemoryKind, str], ...]:
        """The memories that a recall returned; one that returned none takes feedback all the same.

        Raises:
            NotFound: See `find`.
        """
        return (await self.find(tenant_id, user_id, recall_id)).memories

    async def run(self) -> None:
        """Writes until cancelled, and again after a pause where the journal cannot be written."""
        while True:
            await self._work.wait()
            try:
                await self.flush()
            except _TRANSIENT as error:
                _log.warning("recalls_wait_to_be_recorded", reason=error.reason, count=len(self._waiting))
                await asyncio.sleep(self._retry_seconds)

    async def flush(self) -> None:
        """Writes what waits.

        Raises:
            MnemeError: The journal cannot be written. Nothing is lost: what waits is written by the next flush.
        """
        async with self._writing:
            self._work.clear()
            try:
                while self._waiting:
                    batch = self._waiting[: 1 if self._one_by_one else _BATCH_MAX]
                    if not await self._settled(batch):
                        self._one_by_one = len(batch)
                        continue
                    del self._waiting[: len(batch)]
                    self._one_by_one = max(0, self._one_by_one - 1)
                    self._room.set()
            finally:
                if self._waiting:
                    self._work.set()

    async def aclose(self) -> None:
        """Writes what waits, for the last time; what cannot be written is counted."""
        try:
            await self.flush()
        except MnemeError:
            self._drop(len(self._waiting), Unrecorded.CLOSED)
            self._waiting.clear()

    async def _settled(self, batch: Sequence[RecallRecord]) -> bool:
        """Writes a batch. False where the journal refuses it: the record to blame is dropped when it is alone."""
        try:
            await self._records.add_recalls(batch)
        except _TRANSIENT:
            raise
        except Exception as error:
            if len(batch) > 1:
                return False
            _log.exception("recall_refused", kind=type(error).__name__)
            self._drop(1, Unrecorded.REFUSED)
        return True

    async def _has_room(self, seconds: float) -> bool:
        if len(self._waiting) < self._queue_max:
            return True
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(min(self._wait_seconds, seconds)):
                while len(self._waiting) >= self._queue_max:
                    self._room.clear()
                    await self._room.wait()
        return len(self._waiting) < self._queue_max

    def _drop(self, count: int, reason: Unrecorded) -> None:
        self._unrecorded.add(count, {"reason": reason.value})
        _log.warning("recalls_unrecorded", reason=reason.value, count=count)
