"""Refuses writes while the disk of the embedded engines is nearly full."""

from __future__ import annotations

from collections.abc import Awaitable, Mapping
from typing import Any, Final, cast

import grpc

from services.common.auth import Role
from services.common.disk import DiskWatch
from services.common.rpc.interceptors.base import AroundInterceptor, Context, Method, Serve

_READ_VERBS: Final = ("Get", "BatchGet", "List", "Search", "Count", "Query", "Check", "Read", "Watch", "Export")
"""Of methods that only read although they ask for more than a reader."""


class DiskInterceptor(AroundInterceptor):
    """Lets reads pass always, and writes while there is space; a stream is asked at each of its messages."""

    def __init__(self, disk: DiskWatch, roles: Mapping[str, Role]) -> None:
        """Watch `disk`; `roles` by full method name say which methods only read."""
        self._disk = disk
        self._roles = dict(roles)

    def around(self, call: Serve, method: Method) -> Serve:
        """See `AroundInterceptor`."""
        is_read = self._roles.get(method.name) is Role.READER
        if is_read or method.name.rpartition("/")[2].startswith(_READ_VERBS):
            return call

        def serve(request: Any, context: Context) -> Awaitable[Any]:
            self._disk.require_space()
            guarded = cast("Context", _GuardedContext(context, self._disk)) if method.is_stream else context
            return call(request, guarded)

        return serve


class _GuardedContext:
    """A call's context that hands out messages only while there is space for what they write."""

    def __init__(self, context: Context, disk: DiskWatch) -> None:
        self._context = context
        self._disk = disk

    def __getattr__(self, name: str) -> Any:
        return getattr(self._context, name)

    async def read(self) -> Any:
        content = await self._context.read()
        if content is not grpc.aio.EOF:
            self._disk.require_space()
        return content
