"""Continues the caller's trace with a span for the call."""

from __future__ import annotations

from typing import Any

import grpc
from opentelemetry import propagate
from opentelemetry.trace import SpanKind, Status, StatusCode

from services.common.rpc.interceptors.base import AroundInterceptor, Context, Method, Serve, code_name
from services.common.telemetry import state


class TraceInterceptor(AroundInterceptor):
    """One server span for each call, by OpenTelemetry's conventions for RPC.

    The instrumentation package for gRPC is not used: it records aborted calls as exceptions, and its spans of streams
    end in another task than they began in.
    """

    def around(self, call: Serve, method: Method) -> Serve:
        """See `AroundInterceptor`."""
        full_name = method.name.removeprefix("/")
        service, _, name = full_name.partition("/")

        async def serve(request: Any, context: Context) -> Any:
            carrier = {k: v for k, v in context.invocation_metadata() or () if isinstance(v, str)}
            with state.tracer("mneme.rpc").start_as_current_span(
                full_name,
                context=propagate.extract(carrier),
                kind=SpanKind.SERVER,
                attributes={"rpc.system": "grpc", "rpc.service": service, "rpc.method": name},
                record_exception=False,
                set_status_on_exception=False,
            ) as span:
                error: BaseException | None = None
                try:
                    return await call(request, context)
                except BaseException as raised:
                    error = raised
                    raise
                finally:
                    code = grpc.StatusCode[code_name(context, error)]
                    span.set_attribute("rpc.grpc.status_code", code.value[0])
                    if code is not grpc.StatusCode.OK:
                        span.set_status(Status(StatusCode.ERROR))

        return serve
