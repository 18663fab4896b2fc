"""One client span for each call, and its context in the call's metadata.

Only OpenTelemetry's API is used: without a configured SDK nothing is recorded or sent.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from opentelemetry import propagate, trace

from mneme_client.errors import MnemeClientError

TRACER_NAME = "mneme_client"


@contextmanager
def call_span(tracer: trace.Tracer, method: str) -> Iterator[list[tuple[str, str]]]:
    """Opens a span around a call and yields the metadata that propagates it.

    Args:
        tracer: Makes the span.
        method: The full method, such as "/mneme.gateway.v1.MemoryService/Recall".
    """
    name, attributes = _described(method)
    with tracer.start_as_current_span(name, kind=trace.SpanKind.CLIENT, attributes=attributes) as span:
        carrier: dict[str, str] = {}
        propagate.inject(carrier)
        try:
            yield [(key.lower(), value) for key, value in carrier.items()]
        except MnemeClientError as error:
            span.set_attribute("rpc.grpc.status_code", error.code.value[0])
            raise
        span.set_attribute("rpc.grpc.status_code", 0)


@contextmanager
def stream_span(tracer: trace.Tracer, method: str) -> Iterator[list[tuple[str, str]]]:
    """Like `call_span`, for a generator: its span is not the current one, since callers do other work between messages.

    Args:
        tracer: Makes the span.
        method: The full method.
    """
    name, attributes = _described(method)
    span = tracer.start_span(name, kind=trace.SpanKind.CLIENT, attributes=attributes)
    with trace.use_span(span, end_on_exit=False):
        carrier: dict[str, str] = {}
        propagate.inject(carrier)
    try:
        yield [(key.lower(), value) for key, value in carrier.items()]
    except MnemeClientError as error:
        span.record_exception(error)
        span.set_attribute("rpc.grpc.status_code", error.code.value[0])
        span.set_status(trace.StatusCode.ERROR, error.message)
        raise
    else:
        span.set_attribute("rpc.grpc.status_code", 0)
    finally:
        span.end()


def _described(method: str) -> tuple[str, dict[str, str]]:
    name = method.lstrip("/")
    service, _, operation = name.partition("/")
    return name, {"rpc.system": "grpc", "rpc.service": service, "rpc.method": operation}
