"""Access statistics, counted in memory and written in the background."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import datetime

import structlog

from services.common.clock import Clock
from services.common.errors import MnemeError
from services.episodic.config import AccessSettings
from services.episodic.model import EpisodeId, Owner
from services.episodic.store import AccessCount, EpisodeStore

_log = structlog.get_logger(__name__)


class AccessRecorder:
    """Adds up accesses, to be written every second and at the end.

    Statistics, not records: a crash loses the last second, and accesses beyond the buffer's bound are
    dropped. Belongs to one event loop.
    """

    def __init__(self, store: EpisodeStore, clock: Clock, settings: AccessSettings | None = None) -> None:
        """Write to `store`."""
        self._store = store
        self._clock = clock
        self._settings = settings or AccessSettings()
        self._counts: dict[tuple[Owner, EpisodeId], tuple[int, datetime]] = {}
        self._dropped = 0
        self._writing = asyncio.Lock()  # who flushes finds written what another one has begun to write

    def record(self, owner: Owner, episode_ids: Sequence[EpisodeId]) -> None:
        """Count one use of each of the episodes."""
        now = self._clock.now()
        for name in dict.fromkeys((owner, episode_id) for episode_id in episode_ids):
            count, _ = self._counts.get(name, (0, now))
            if count or len(self._counts) < self._settings.buffered_max:
                self._counts[name] = (count + 1, now)
            else:
                self._dropped += 1

    async def flush(self) -> None:
        """Write what was counted.

        Raises:
            StoreUnavailable: It was not written, and stays counted.
        """
        async with self._writing:
            await self._write()

    async def _write(self) -> None:
        counts, self._counts = self._counts, {}
        if not counts:
            return
        try:
            await self._store.add_accesses(
                [
                    AccessCount(owner=owner, episode_id=episode_id, count=count, last_time=last_time)
                    for (owner, episode_id), (count, last_time) in counts.items()
                ]
            )
        except BaseException:
            for name, (count, last_time) in counts.items():
                newer_count, newer_time = self._counts.get(name, (0, last_time))
                self._counts[name] = (count + newer_count, newer_time)
            raise

    async def try_flush(self) -> None:
        """Write what was counted; what cannot be written stays counted."""
        if self._dropped:
            _log.warning("accesses were dropped because too many wait to be written", count=self._dropped)
            self._dropped = 0
        if not self._counts:
            return
        try:
            await self.flush()
        except MnemeError as error:
            _log.warning("access statistics were not written; trying again", error=str(error))
