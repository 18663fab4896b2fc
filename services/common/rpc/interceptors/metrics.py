"""Counts calls and measures them."""

from __future__ import annotations

import time
from typing import Any

from services.common.rpc.interceptors.base import AroundInterceptor, Context, Method, Serve, code_name
from services.common.telemetry import state


class MetricsInterceptor(AroundInterceptor):
    """Records `rpc.server.duration` by method and status code; its count is the number of calls."""

    def __init__(self) -> None:
        """Takes the process's meter, which records nothing unless telemetry is on."""
        self._duration = state.meter("mneme.rpc").create_histogram(
            "rpc.server.duration", unit="ms", description="Time of calls served"
        )

    def around(self, call: Serve, method: Method) -> Serve:
        """See `AroundInterceptor`."""

        async def serve(request: Any, context: Context) -> Any:
            started = time.perf_counter()
            error: BaseException | None = None
            try:
                return await call(request, context)
            except BaseException as raised:
                error = raised
                raise
            finally:
                milliseconds = (time.perf_counter() - started) * 1000
                attributes = {"rpc.method": method.name, "rpc.grpc.status_code": code_name(context, error)}
                self._duration.record(milliseconds, attributes)

        return serve
