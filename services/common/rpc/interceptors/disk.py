"""Refuses writes while the disk of the embedded engines is nearly full."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final, cast

import grpc

from services.common.auth import Role
from services.common.disk import DiskWatch
from services.common.rpc.interceptors.base import AroundInterceptor, Context, Method, Serve

_READ_VERBS: Final = ("Get", "BatchGet", "List", "Search", "Count", "Query", "Check", "Read", "Watch", "Export")
"""Of methods that only read although they ask for more than a reader."""


_DELETION_VERBS: Final = ("Delete", "Remove", "Erase", "Forget", "Archive", "Revoke")
"""Of methods that take something away: refusing them would keep the disk full."""


class DiskInterceptor(AroundInterceptor):
    """Lets reads pass always, and writes while there is space, which is checked at each message of a stream.

    Deletions pass longer than other writes.
    """

    def __init__(self, disk: DiskWatch, roles: Mapping[str, Role]) -> None:
        """Watch `disk`; `roles` by full method name say which methods only read."""
        self._disk = disk
        self._roles = dict(roles)

    def around(self, call: Serve, method: Method) -> Serve:
        """See `AroundInterceptor`."""
        name = method.name.rpartition("/")[2]
        if self._roles.get(method.name) is Role.READER or name.startswith(_READ_VERBS):
            return call
        is_deletion = name.startswith(_DELETION_VERBS)
        require_space = self._disk.require_space_to_delete if is_deletion else self._disk.require_space

        def serve(request: Any, context: Context) -> Awaitable[Any]:
            require_space()
            guarded = cast("Context", _GuardedContext(context, require_space)) if method.is_stream else context
            return call(request, guarded)

        return serve


class _GuardedContext:
    """A call's context that hands out messages only while there is space for what they write."""

    def __init__(self, context: Context, require_space: Callable[[], None]) -> None:
        self._context = context
        self._require_space = require_space

    def __getattr__(self, name: str) -> Any:
        return getattr(self._context, name)

    async def read(self) -> Any:
        content = await self._context.read()
        if content is not grpc.aio.EOF:
            self._require_space()
        return content
