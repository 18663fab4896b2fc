"""Reports which notes recalls returned together to the agentic tier, after the responses (SPEC 4.3)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from itertools import groupby

import structlog

from mneme.agentic.internal.v1 import notes_pb2
from services.common.background import BackgroundWork, every
from services.common.clock import Clock
from services.common.convert import timestamp
from services.common.errors import MnemeError
from services.common.settings_types import Count, Duration, Seconds
from services.gateway.grants.model import MemoryKind
from services.gateway.journal.dispatcher import PERMANENT_REASONS
from services.gateway.journal.model import RecallRecord
from services.gateway.journal.store import RecallRecords
from services.gateway.upstream import Upstream
from services.gateway.worker import worker_principal

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class UseSettings:
    """How uses of notes are reported."""

    interval_seconds: Seconds = 2.0  # between two reports: recalls of a user in between share one call
    batch_max: Count = 256  # recalls that are claimed at once; the tier takes as many of one user
    claim: Duration = timedelta(seconds=60)  # after which another gateway reports what this one claimed
    timeout_seconds: Seconds = 10.0  # for one call of the tier


class UseReports:
    """Reports each recall at least once. The tier counts each once, by its id."""

    def __init__(self, records: RecallRecords, upstream: Upstream, clock: Clock, settings: UseSettings) -> None:
        """Claims recalls in `records`."""
        self._records = records
        self._upstream = upstream
        self._clock = clock
        self._settings = settings

    def start(self, background: BackgroundWork[str]) -> None:
        """Reports at each interval until `background` is closed."""
        background.keep_running("report-uses", every(self._settings.interval_seconds, self.run_once))

    async def run_once(self) -> None:
        """Reports all recalls that are due. Those that cannot be reported now are due again when the claim ends.

        Raises:
            StoreUnavailable: The journal cannot be reached.
        """
        limit = self._settings.batch_max
        while True:
            now = self._clock.now()
            claimed = await self._records.claim_uses(now=now, until=now + self._settings.claim, limit=limit)
            by_owner = sorted(claimed, key=lambda record: (record.tenant_id, record.user_id, record.create_time))
            for (tenant_id, user_id), records in groupby(by_owner, key=lambda r: (r.tenant_id, r.user_id)):
                await self._report(tenant_id, user_id, list(records))
            if len(claimed) < limit:
                return

    async def _report(self, tenant_id: str, user_id: str, records: Sequence[RecallRecord]) -> None:
        request = notes_pb2.RecordUseRequest(
            user_id=user_id,
            uses=[
                notes_pb2.NoteUse(
                    use_id=record.recall_id,
                    note_ids=record.ids(MemoryKind.NOTE),
                    time=timestamp(record.create_time),
                )
                for record in records
                if record.ids(MemoryKind.NOTE)  # none is left where all were erased meanwhile
            ],
        )
        try:
            if request.uses:
                await self._upstream.notes.record_use(
                    worker_principal(tenant_id), request, timeout_seconds=self._settings.timeout_seconds
                )
        except MnemeError as error:
            if error.reason not in PERMANENT_REASONS:
                return
            _log.warning("note_uses_refused", reason=error.reason, count=len(records))
        await self._records.settle_uses(records)
