"""One client span for each call, and its context in the call's metadata.

Only OpenTelemetry's API is used: without a configured SDK nothing is recorded or sent, and without the package no span
is made.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from mneme_client.errors import MnemeClientError
from mneme_client.memory_spans import OPERATIONS, Attributes, records_json, request_attributes, response_records

try:
    from opentelemetry import propagate, trace
except ImportError:  # an extra: the client works without it
    IS_TRACED = False
else:
    IS_TRACED = True

if TYPE_CHECKING:
    from opentelemetry.trace import Span, Tracer

TRACER_NAME: Final = "mneme_client"

CAPTURE_VARIABLE: Final = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
"""Environment variable of OpenTelemetry's instrumentations: "true" records content in spans."""

_RECORDS_MAX: Final = 200
"""Memories whose content one span records."""


@dataclass(slots=True)
class TracedCall:
    """A call under way, and its span."""

    metadata: list[tuple[str, str]]  # propagates the trace
    operation: str = ""  # by the conventions for memory; empty: no operation on memories
    request: Any = None
    span: Span | None = None
    with_content: bool = False
    _count: int = 0
    _records: list[dict[str, Any]] = field(default_factory=list)

    def responded(self, response: Any) -> None:
        """Takes in a response; those of a stream one after the other."""
        if self.span is None or not self.operation or not self.span.is_recording():
            return
        for record in response_records(self.operation, self.request, response):
            self._count += 1
            if self.with_content and len(self._records) < _RECORDS_MAX:
                self._records.append(record)
        self.span.set_attribute("gen_ai.memory.record.count", self._count)
        if self._records:
            self.span.set_attribute("gen_ai.memory.records", records_json(self._records))


class CallTracing:
    """Makes the spans of one client."""

    def __init__(self, tracer: Tracer | None, *, target: str, capture_content: bool | None = None) -> None:
        """Describes calls to `target`.

        Args:
            tracer: Makes the spans. None means a tracer of OpenTelemetry's global provider.
            target: Address of the service.
            capture_content: Whether spans hold what is asked, remembered and found. None: as `CAPTURE_VARIABLE` says.
        """
        self._tracer = trace.get_tracer(TRACER_NAME) if tracer is None and IS_TRACED else tracer
        self._server = _server(target)
        self._with_content = (
            os.environ.get(CAPTURE_VARIABLE, "").lower() == "true" if capture_content is None else capture_content
        )

    @contextmanager
    def call(self, method: str, request: Any = None) -> Iterator[TracedCall]:
        """Opens a span around a call and yields what the call needs of it.

        Args:
            method: The full method, such as "/mneme.gateway.v1.MemoryService/Recall".
            request: What is sent; None where it is a stream.
        """
        if self._tracer is None:
            yield TracedCall([])
            return
        name, attributes = self._described(method, request)
        with self._tracer.start_as_current_span(name, kind=trace.SpanKind.CLIENT, attributes=attributes) as span:
            traced = self._traced(span, method, request)
            try:
                yield traced
            except MnemeClientError as error:
                _set_status(span, error)
                raise
            _set_status(span, None)

    @contextmanager
    def stream(self, method: str, request: Any) -> Iterator[TracedCall]:
        """Like `call`, for a generator: its span is not the current one, since its reader does other work meanwhile."""
        if self._tracer is None:
            yield TracedCall([])
            return
        name, attributes = self._described(method, request)
        span = self._tracer.start_span(name, kind=trace.SpanKind.CLIENT, attributes=attributes)
        with trace.use_span(span, end_on_exit=False):
            traced = self._traced(span, method, request)
        try:
            yield traced
        except MnemeClientError as error:
            span.record_exception(error)
            _set_status(span, error)
            span.set_status(trace.StatusCode.ERROR, error.message)
            raise
        else:
            _set_status(span, None)
        finally:
            span.end()

    def _traced(self, span: Span, method: str, request: Any) -> TracedCall:
        carrier: dict[str, str] = {}
        propagate.inject(carrier)
        metadata = [(key.lower(), value) for key, value in carrier.items()]
        operation = OPERATIONS.get(method.rpartition("/")[2], "")
        return TracedCall(metadata, operation, request, span, with_content=self._with_content)

    def _described(self, method: str, request: Any) -> tuple[str, Attributes]:
        name = method.lstrip("/")
        service, _, rpc = name.partition("/")
        attributes: Attributes = {"rpc.system": "grpc", "rpc.service": service, "rpc.method": rpc, **self._server}
        operation = OPERATIONS.get(rpc)
        if operation is None:
            return name, attributes
        return operation, attributes | request_attributes(operation, request, with_content=self._with_content)


def _set_status(span: Span, error: MnemeClientError | None) -> None:
    span.set_attribute("rpc.grpc.status_code", 0 if error is None else error.code.value[0])
    if error is not None:
        span.set_attribute("error.type", error.code.name)


def _server(target: str) -> Attributes:
    """Address and port of a target such as "dns:///mneme:7700"; a socket's path has no port."""
    address = target.rpartition("///")[2]
    host, separator, port = address.rpartition(":")
    if not separator or not port.isdecimal():
        return {"server.address": address}
    return {"server.address": host.strip("[]"), "server.port": int(port)}
