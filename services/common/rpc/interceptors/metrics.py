"""Counts calls and measures them."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Final

import grpc
from opentelemetry import metrics

from services.common.rpc.interceptors.around import AroundInterceptor, Context

_NAMES: Final = {code.value[0]: code.name for code in grpc.StatusCode}


class MetricsInterceptor(AroundInterceptor):
    """Records `rpc.server.duration` in milliseconds by method and status code."""

    def __init__(self) -> None:
        """Takes the process's meter, which records nothing unless telemetry is on."""
        meter = metrics.get_meter("mneme.rpc")
        self._duration = meter.create_histogram("rpc.server.duration", unit="ms", description="Time of calls served")

    @asynccontextmanager
    async def around(self, context: Context, method: str) -> AsyncIterator[None]:
        """See `AroundInterceptor`."""
        started = time.perf_counter()
        try:
            yield
        finally:
            milliseconds = (time.perf_counter() - started) * 1000
            self._duration.record(milliseconds, {"rpc.method": method, "rpc.grpc.status_code": code_name(context)})


def code_name(context: Context) -> str:
    """The status that a call has so far, by name. gRPC keeps it as a number once it is set."""
    code: Any = context.code()
    number = code if isinstance(code, int) else code.value[0] if code is not None else 0
    return _NAMES.get(number, "UNKNOWN")
