"""Bounds on the log lines that a flood of calls or failures writes: a few each second, and a count of the rest."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Hashable
from typing import Final

import structlog

_log = structlog.get_logger(__name__)

_WINDOW_SECONDS: Final = 1.0


class LogSampler:
    """Decides which lines are written. Lines of one key are alike: the same event for the same reason."""

    def __init__(self, event: str, *, lines_per_second: int = 5, seconds: Callable[[], float] = time.monotonic) -> None:
        """Counts lines of no key yet.

        Args:
            event: Name of the event, for the line that counts what was suppressed.
            lines_per_second: Of one key.
            seconds: The time.
        """
        self._event = event
        self._lines_max = lines_per_second
        self._seconds = seconds
        self._window_ends = 0.0
        self._written: Counter[Hashable] = Counter()
        self._suppressed: Counter[Hashable] = Counter()

    def admits(self, key: Hashable) -> bool:
        """Whether a line of the key is to be written now; else it is counted, and the count written within a second."""
        now = self._seconds()
        if now >= self._window_ends:
            self.report()
            self._window_ends = now + _WINDOW_SECONDS
        if self._written[key] < self._lines_max:
            self._written[key] += 1
            return True
        if not self._suppressed:
            asyncio.get_running_loop().call_later(_WINDOW_SECONDS, self.report)
        self._suppressed[key] += 1
        return False

    def report(self) -> None:
        """Writes how many lines were suppressed, one line for each key, and begins anew."""
        suppressed, self._suppressed = self._suppressed, Counter()
        self._written.clear()
        for key, count in suppressed.items():
            _log.warning("lines_suppressed", suppressed_event=self._event, reason=str(key), count=count)
