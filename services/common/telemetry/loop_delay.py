"""How late the event loop is: everything that a service does waits for it."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Callable
from typing import Final

import structlog

from services.common.telemetry.instruments import counter, duration_histogram

_log = structlog.get_logger(__name__)

_TICK_SECONDS: Final = 0.02
STALL_SECONDS: Final = 0.05
"""A delay above this is a stall."""
_LOG_SECONDS: Final = 60.0
"""Between two log lines about stalls."""


class LoopDelay:
    """Records delays: a histogram, a counter of stalls, and a log line a minute while there are any."""

    def __init__(self, *, clock: Callable[[], float] = time.monotonic) -> None:
        """Use the process's meter, which must be configured by now."""
        self._clock = clock
        self._delays = duration_histogram("mneme.event_loop.delay", "How late the event loop runs what is due.")
        self._stalls = counter("mneme.event_loop.stalls", "Delays of the event loop above 50 ms.", [{}])
        self._logged_at: float | None = None
        self._unlogged = 0
        self._longest = 0.0

    def record(self, seconds: float) -> None:
        """Take in one delay."""
        self._delays.record(seconds)
        if seconds <= STALL_SECONDS:
            return
        self._stalls.add(1)
        self._unlogged += 1
        self._longest = max(self._longest, seconds)
        now = self._clock()
        if self._logged_at is None or now - self._logged_at >= _LOG_SECONDS:
            _log.warning(
                "the event loop stood still", stalls=self._unlogged, longest_milliseconds=round(self._longest * 1000)
            )
            self._logged_at, self._unlogged, self._longest = now, 0, 0.0


@contextlib.asynccontextmanager
async def loop_delay_recorded(delays: LoopDelay | None = None) -> AsyncIterator[None]:
    """Record the delay of the running loop for the length of the block."""
    loop = asyncio.get_running_loop()
    recorder = delays or LoopDelay()

    async def watch() -> None:
        while True:
            due = loop.time() + _TICK_SECONDS
            await asyncio.sleep(_TICK_SECONDS)
            recorder.record(max(0.0, loop.time() - due))

    watching = asyncio.create_task(watch(), name="loop-delay")
    try:
        yield
    finally:
        watching.cancel()
        await asyncio.gather(watching, return_exceptions=True)
