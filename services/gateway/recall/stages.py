"""The clock of a recall: what each stage took, and a span for each."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator

from services.common.telemetry import span


class StageClock:
    """Measures the stages of one recall."""

    def __init__(self, *, deadline_seconds: float) -> None:
        """Starts with all of the time left."""
        self._ends = time.perf_counter() + deadline_seconds
        self._stages: list[tuple[str, float]] = []

    @property
    def seconds_left(self) -> float:
        """Time until the call's deadline, never below zero."""
        return max(0.0, self._ends - time.perf_counter())

    @property
    def stages(self) -> tuple[tuple[str, float], ...]:
        """Name and seconds of each stage so far."""
        return tuple(self._stages)

    @contextlib.contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Measures one stage."""
        started = time.perf_counter()
        with span(f"recall.{name}"):
            yield
        self._stages.append((name, time.perf_counter() - started))
