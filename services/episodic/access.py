"""Access statistics, counted in memory and written in the background."""

from __future__ import annotations

import asyncio
import contextlib
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
    """Adds up accesses and writes them every second and when closed.

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
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin to write regularly."""
        self._task = asyncio.create_task(self._run(), name="episodic-access-recorder")

    async def aclose(self) -> None:
        """Write what is left and stop."""
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task
            self._task = None
        await self._try_flush()

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
        counts, self._counts = self._counts, {}
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

    async def _run(self) -> None:
        while True:
            await asyncio.sleep(self._settings.flush_seconds)
            await self._try_flush()

    async def _try_flush(self) -> None:
        if self._dropped:
            _log.warning("accesses were dropped because too many wait to be written", count=self._dropped)
            self._dropped = 0
        if not self._counts:
            return
        try:
            await self.flush()
        except MnemeError as error:
            _log.warning("access statistics were not written; trying again", error=str(error))
