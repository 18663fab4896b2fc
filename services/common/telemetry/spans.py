"""Spans and the trace context that travels with calls and with queued work."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Final

from opentelemetry import propagate, trace
from opentelemetry.context import Context

from services.common.telemetry import state

_TRACER_NAME: Final = "mneme"
_NO_SPAN: Final[AbstractContextManager[None]] = nullcontext()

TRACEPARENT: Final = "traceparent"


def span(name: str, attributes: dict[str, str | int | float | bool] | None = None) -> AbstractContextManager[object]:
    """A span around a block; nothing at all while telemetry is off.

    Args:
        name: Such as "recall.fusion".
        attributes: Facts about it; never content of memories.
    """
    if not state.is_on():
        return _NO_SPAN
    return state.tracer(_TRACER_NAME).start_as_current_span(name, attributes=attributes)


def inject_context() -> dict[str, str]:
    """The current trace context as W3C headers; empty while telemetry is off."""
    headers: dict[str, str] = {}
    if state.is_on():
        propagate.inject(headers)
    return headers


def traceparent() -> str:
    """The current trace context as one W3C `traceparent`, to be stored with queued work; empty while off."""
    return inject_context().get(TRACEPARENT, "")


@contextmanager
def extract_context(stored: str, name: str) -> Iterator[None]:
    """A span in the trace that queued work was put in by.

    Args:
        stored: What `traceparent` returned then.
        name: Of the span.
    """
    if not state.is_on():
        yield
        return
    parent: Context | None = propagate.extract({TRACEPARENT: stored}) if stored else None
    with state.tracer(_TRACER_NAME).start_as_current_span(name, context=parent, kind=trace.SpanKind.CONSUMER):
        yield
