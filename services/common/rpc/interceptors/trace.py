"""Continues the caller's trace with a span for the call."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from opentelemetry import propagate, trace
from opentelemetry.trace import SpanKind, Status, StatusCode

from services.common.rpc.interceptors.around import AroundInterceptor, Context
from services.common.telemetry import state

_TRACER: Final = trace.get_tracer("mneme.rpc")


class TraceInterceptor(AroundInterceptor):
    """One server span for each call, by OpenTelemetry's conventions for RPC; nothing while telemetry is off."""

    @asynccontextmanager
    async def around(self, context: Context, method: str) -> AsyncIterator[None]:
        """See `AroundInterceptor`."""
        if not state.is_on():
            yield
            return
        carrier = {k: v for k, v in context.invocation_metadata() or () if isinstance(v, str)}
        service, _, name = method.removeprefix("/").partition("/")
        attributes = {"rpc.system": "grpc", "rpc.service": service, "rpc.method": name}
        with _TRACER.start_as_current_span(
            method.removeprefix("/"),
            context=propagate.extract(carrier),
            kind=SpanKind.SERVER,
            attributes=attributes,
            record_exception=False,
            set_status_on_exception=False,
        ) as span:
            try:
                yield
            finally:
                code = context.code()
                number = code if isinstance(code, int) else code.value[0]
                span.set_attribute("rpc.grpc.status_code", number)
                if number:
                    span.set_status(Status(StatusCode.ERROR))
