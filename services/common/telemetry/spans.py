"""Spans and the trace context that travels with calls and with queued work."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
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


def store_span(system: str, operation: str, collection: str) -> AbstractContextManager[object]:
    """A span around a call of a database whose library makes none, named as OpenTelemetry names those of databases.

    Args:
        system: `db.system.name`, such as "qdrant".
        operation: What is called, such as "upsert".
        collection: What it is called on.
    """
    if not state.is_on():
        return _NO_SPAN
    return state.tracer(_TRACER_NAME).start_as_current_span(
        f"{operation} {collection}",
        kind=trace.SpanKind.CLIENT,
        attributes={"db.system.name": system, "db.operation.name": operation, "db.collection.name": collection},
    )


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
def extract_context(stored: str, name: str, *, others: Iterable[str] = ()) -> Iterator[None]:
    """A span in the trace that queued work was put in by.

    Args:
        stored: What `traceparent` returned then.
        name: Of the span.
        others: The same of further work that is done in one go with it; the span links to their traces.
    """
    if not state.is_on():
        yield
        return
    links = [trace.Link(trace.get_current_span(_context(other)).get_span_context()) for other in others]
    with state.tracer(_TRACER_NAME).start_as_current_span(
        name, context=_context(stored), kind=trace.SpanKind.CONSUMER, links=links
    ):
        yield


def _context(stored: str) -> Context:
    """The stored trace context; an empty one, so that a trace begins, where none was stored."""
    return propagate.extract({TRACEPARENT: stored}, context=Context())
