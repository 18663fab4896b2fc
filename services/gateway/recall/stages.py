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
        self._reasons: list[tuple[str, str]] = []

    @property
    def seconds_left(self) -> float:
        """Time until the call's deadline, never below zero."""
        return max(0.0, self._ends - time.perf_counter())

    @property
    def stages(self) -> tuple[tuple[str, float], ...]:
        """Name and seconds of each stage so far."""
        return tuple(self._stages)

    @property
    def reasons(self) -> tuple[tuple[str, str], ...]:
        """Name of each stage that has left work undone, and why."""
        return tuple(self._reasons)

    def leave(self, name: str, reason: str) -> None:
        """Notes why a stage leaves work undone; an empty reason means that it does not."""
        if reason:
            self._reasons.append((name, reason))

    @contextlib.contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Measures one stage."""
        started = time.perf_counter()
        with span(f"recall.{name}"):
            yield
        self._stages.append((name, time.perf_counter() - started))
