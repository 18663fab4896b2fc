"""One line in the log for each call, without its content; of a refused one with the reason and the limit."""

from __future__ import annotations

import logging
import time
from typing import Any, Final

import structlog

from services.common.auth import current_principal_or_none
from services.common.errors_grpc import reason_and_limit
from services.common.log_sampling import LogSampler
from services.common.rpc.interceptors.base import AroundInterceptor, Context, Method, Serve, code_name

#: Codes that are the caller's business and no sign of trouble here.
_QUIET: Final = frozenset({"OK", "NOT_FOUND", "ALREADY_EXISTS", "CANCELLED"})


class LogInterceptor(AroundInterceptor):
    """Logs at debug level what succeeded and at warning level what did not.

    Warnings are sampled by status: callers who are refused as fast as they can call do not fill a disk.
    """

    def __init__(self) -> None:
        """Takes the logger as it is configured now: binding it for each call would cost more than all else here."""
        self._log = structlog.get_logger("mneme.rpc").bind()
        self._logs_debug: bool = self._log.is_enabled_for(logging.DEBUG)
        self._sampler = LogSampler("call")

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
                code = code_name(context, error)
                if self._logs_debug if code in _QUIET else self._sampler.admits(code):
                    self._write(method.name, code, time.perf_counter() - started, context)

        return serve

    def _write(self, method: str, code: str, seconds: float, context: Context) -> None:
        write = self._log.debug if code in _QUIET else self._log.warning
        principal = current_principal_or_none()
        reason, limit = reason_and_limit(context.trailing_metadata() or ()) if code != "OK" else ("", "")
        facts = {name: value for name, value in (("reason", reason), ("limit", limit)) if value}
        write(
            "call",
            method=method,
            code=code,
            milliseconds=round(seconds * 1000, 2),
            tenant=principal.tenant_id if principal else None,
            principal=principal.principal_id if principal else None,
            **facts,
        )
