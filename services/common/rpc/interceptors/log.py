"""One line in the log for each call, without anything of its content."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

import structlog

from services.common.auth import current_principal_or_none
from services.common.rpc.interceptors.around import AroundInterceptor, Context, code_name

#: Codes that are the caller's business and no sign of trouble here.
_QUIET: Final = frozenset({"OK", "NOT_FOUND", "ALREADY_EXISTS", "CANCELLED"})


class LogInterceptor(AroundInterceptor):
    """Logs at debug level what went well and at warning level what did not."""

    def __init__(self) -> None:
        """Takes the logger as it is configured now: binding it for each call would cost more than all else here."""
        self._log = structlog.get_logger("mneme.rpc").bind()

    @asynccontextmanager
    async def around(self, context: Context, method: str) -> AsyncIterator[None]:
        """See `AroundInterceptor`."""
        started = time.perf_counter()
        error: BaseException | None = None
        try:
            yield
        except BaseException as raised:
            error = raised
            raise
        finally:
            code = code_name(context, error)
            write = self._log.debug if code in _QUIET else self._log.warning
            principal = current_principal_or_none()
            write(
                "call",
                method=method,
                code=code,
                milliseconds=round((time.perf_counter() - started) * 1000, 2),
                tenant=principal.tenant_id if principal else None,
                principal=principal.principal_id if principal else None,
            )
