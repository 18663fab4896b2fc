"""The process's tracer and meter, and whether traces and metrics are recorded; read on every hot path.

Kept here rather than in OpenTelemetry's globals, which can be set only once in a process.
"""

from __future__ import annotations

from opentelemetry import metrics, trace

_is_on = False
_is_measured = False
_tracers: trace.TracerProvider = trace.NoOpTracerProvider()
_meters: metrics.MeterProvider = metrics.NoOpMeterProvider()


def is_on() -> bool:
    """Whether traces are recorded."""
    return _is_on


def is_measured() -> bool:
    """Whether metrics are recorded."""
    return _is_measured


def tracer(name: str) -> trace.Tracer:
    """The tracer of a component; records nothing while telemetry is off."""
    return _tracers.get_tracer(name)


def meter(name: str) -> metrics.Meter:
    """The meter of a component; records nothing while metrics are off. Configure telemetry before asking for it."""
    return _meters.get_meter(name)


def switch_on(tracers: trace.TracerProvider | None, meters: metrics.MeterProvider | None) -> None:
    """Set by `configure_telemetry`."""
    global _is_on, _is_measured, _tracers, _meters
    _is_on, _tracers = tracers is not None, tracers or trace.NoOpTracerProvider()
    _is_measured, _meters = meters is not None, meters or metrics.NoOpMeterProvider()


def switch_off() -> None:
    """Set by the handle that `configure_telemetry` returns."""
    switch_on(None, None)
