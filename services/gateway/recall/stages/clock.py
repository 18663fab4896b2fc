"""The clock of a recall: what each stage took, and a span for each."""

from __future__ import annotations

import time
from contextlib import AbstractContextManager
from types import TracebackType

from opentelemetry.metrics import Histogram

from services.common.telemetry import span
from services.common.telemetry.instruments import duration_histogram


def stage_durations() -> Histogram:
    """The histogram that the stages of recalls are recorded in."""
    return duration_histogram("mneme.recall.stage.duration", "Duration of each stage of a recall.")


class StageClock:
    """Measures the stages of one recall."""

    def __init__(self, *, deadline_seconds: float, durations: Histogram | None = None) -> None:
        """Starts with all of the time left; stages are recorded in `durations`, where given."""
        self._durations = durations
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

    def stage(self, name: str) -> AbstractContextManager[None]:
        """Measures one stage; one that fails is left out."""
        return _Stage(name, self._stages, self._durations)


class _Stage(AbstractContextManager[None]):
    """A block that is measured. As a generator it would take twice as long, for each of a recall's twelve."""

    def __init__(self, name: str, stages: list[tuple[str, float]], durations: Histogram | None) -> None:
        self._name = name
        self._durations = durations
        self._stages = stages
        self._started = time.perf_counter()
        self._span = span(f"recall.{name}")

    def __enter__(self) -> None:
        self._span.__enter__()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._span.__exit__(kind, error, traceback)
        if error is None:
            seconds = time.perf_counter() - self._started
            self._stages.append((self._name, seconds))
            if self._durations is not None:
                self._durations.record(seconds, {"stage": self._name})
