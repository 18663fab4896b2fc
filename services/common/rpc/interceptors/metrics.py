"""Counts calls and measures them."""

from __future__ import annotations

import time
from typing import Any

from services.common.rpc.interceptors.base import AroundInterceptor, Context, Method, Serve, code_name
from services.common.telemetry.instruments import duration_histogram


class MetricsInterceptor(AroundInterceptor):
    """Records `rpc.server.call.duration` by method and status code; its count is the number of calls."""

    def __init__(self) -> None:
        """Takes the process's meter, which records nothing unless telemetry is on."""
        self._duration = duration_histogram("rpc.server.call.duration", "Duration of the calls that a server served.")

    def around(self, call: Serve, method: Method) -> Serve:
        """See `AroundInterceptor`."""
        name = method.name.removeprefix("/")

        async def serve(request: Any, context: Context) -> Any:
            started = time.perf_counter()
            error: BaseException | None = None
            try:
                return await call(request, context)
            except BaseException as raised:
                error = raised
                raise
            finally:
                self._duration.record(
                    time.perf_counter() - started,
                    {
                        "rpc.system.name": "grpc",
                        "rpc.method": name,
                        "rpc.response.status_code": code_name(context, error),
                    },
                )

        return serve
