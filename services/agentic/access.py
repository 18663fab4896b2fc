"""Access statistics, written after the responses."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from datetime import datetime
from typing import Final

import structlog

from services.agentic.config import AccessSettings
from services.agentic.model import NoteId
from services.agentic.store import NoteStore
from services.common.clock import Clock
from services.common.errors import MnemeError
from services.common.owners import Owner

_log = structlog.get_logger(__name__)


class AccessRecorder:
    """Counts returned notes in memory, to be written each second and at the end.

    A crash loses at most one interval of counts.
    """

    def __init__(self, store: NoteStore, clock: Clock, settings: AccessSettings) -> None:
        """Write to `store`."""
        self._store = store
        self._clock = clock
        self._settings: Final = settings
        self._pending: dict[Owner, dict[NoteId, int]] = {}
        self._pending_count = 0
        self._latest: dict[Owner, datetime] = {}
        self._dropped = 0
        self._writing = asyncio.Lock()  # who flushes finds written what another one has begun to write

    def record(self, owner: Owner, note_ids: Iterable[NoteId]) -> None:
        """Count one access of each note. Never waits; beyond the bound counts are dropped."""
        counts = self._pending.setdefault(owner, {})
        for note_id in note_ids:
            if note_id not in counts:
                if self._pending_count >= self._settings.pending_notes_max:
                    self._dropped += 1
                    continue
                self._pending_count += 1
            counts[note_id] = counts.get(note_id, 0) + 1
        self._latest[owner] = self._clock.now()
        if not counts:
            self._forget(owner)

    async def flush(self) -> None:
        """Write all pending counts. What cannot be written is logged and dropped: they are statistics."""
        async with self._writing:
            await self._write()

    async def _write(self) -> None:
        pending, self._pending, self._pending_count = self._pending, {}, 0
        latest, self._latest = self._latest, {}
        failed = 0
        for owner, counts in pending.items():
            try:
                await self._store.record_access(owner, counts, time=latest[owner])
            except MnemeError:
                failed += len(counts)
        if failed or self._dropped:
            _log.warning("note_access_counts_lost", failed=failed, dropped=self._dropped)
            self._dropped = 0

    def _forget(self, owner: Owner) -> None:
        del self._pending[owner]
        del self._latest[owner]
