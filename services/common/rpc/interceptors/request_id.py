"""Gives every call an id that its log lines, its response and the calls that it makes carry."""

from __future__ import annotations

import re
from contextvars import ContextVar
from typing import Any, Final

from structlog.contextvars import bind_contextvars

from services.common.ids import IdSource
from services.common.rpc.interceptors.base import AroundInterceptor, Context, Method, Serve, metadata_value

METADATA_KEY: Final = "x-request-id"

_ACCEPTED: Final = re.compile(r"[\x21-\x7e]{1,128}")
_current: ContextVar[str] = ContextVar("mneme_request_id", default="")


def current_request_id() -> str:
    """The id of the call that is being served; empty outside of one."""
    return _current.get()


class RequestIdInterceptor(AroundInterceptor):
    """Takes the caller's id if it is printable and short, else makes one; the trailing metadata reports it."""

    def __init__(self, ids: IdSource) -> None:
        """Makes ids by `ids`."""
        self._ids = ids

    def around(self, call: Serve, method: Method) -> Serve:  # noqa: ARG002
        """See `AroundInterceptor`."""

        async def serve(request: Any, context: Context) -> Any:
            request_id = metadata_value(context, METADATA_KEY)
            if not _ACCEPTED.fullmatch(request_id):
                request_id = self._ids.new_id()
                context.set_trailing_metadata(((METADATA_KEY, request_id),))
            _current.set(request_id)  # the call has a context of its own, which ends with it
            bind_contextvars(request_id=request_id)
            return await call(request, context)

        return serve
