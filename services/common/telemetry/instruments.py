"""Instruments that several components make alike. Each component makes its own when it is put together."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Final

from opentelemetry import metrics

from services.common.telemetry import state

METER_NAME: Final = "mneme"

DURATION_BUCKETS_SECONDS: Final = (
    0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0,
)  # fmt: skip
"""Upper bounds of the buckets of every duration: a call within a machine takes less than a millisecond."""

Gauges = Mapping[str, float]
"""Current values by the value of one attribute."""


def duration_histogram(name: str, description: str) -> metrics.Histogram:
    """A histogram of durations in seconds, from 0.5 ms."""
    return state.meter(METER_NAME).create_histogram(
        name, unit="s", description=description, explicit_bucket_boundaries_advisory=DURATION_BUCKETS_SECONDS
    )


def counter(
    name: str, description: str, expected: Iterable[Mapping[str, str]] = (), *, unit: str = ""
) -> metrics.Counter:
    """A counter of events.

    Args:
        name: Of the metric.
        description: What is counted.
        expected: Attributes that are reported as zero from the start, so that the first event is seen as an increase.
        unit: As UCUM writes it, such as "By"; none by default.
    """
    created = state.meter(METER_NAME).create_counter(name, unit=unit, description=description)
    for attributes in expected:
        created.add(0, dict(attributes))
    return created


def observe(name: str, description: str, attribute: str, read: Callable[[], Gauges], *, unit: str = "") -> None:
    """A gauge that is read when metrics are collected.

    Args:
        name: Of the metric.
        description: What it is.
        attribute: Distinguishes the values.
        read: Returns the values; called in another thread, so it must not wait or change anything.
        unit: As UCUM writes it, such as "s".
    """

    def callback(_: metrics.CallbackOptions) -> Iterable[metrics.Observation]:
        return [metrics.Observation(value, {attribute: key}) for key, value in read().items()]

    state.meter(METER_NAME).create_observable_gauge(name, [callback], unit=unit, description=description)
