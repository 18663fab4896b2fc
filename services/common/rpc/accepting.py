"""A gRPC server that takes several waiting calls of a method at once.

The library's asyncio server accepts one call of a method at a time, which takes five rounds of the event loop. On a
busy loop the calls of all tenants then wait in one queue, before anything knows whose they are. Here several calls of
each method are accepted at once. They reach the interceptors sooner, and wait where tenants take turns.

There is no public way to do so: what is used of the library is named in `_AcceptingServer`, and tested.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Any, Final

import grpc
from grpc._cython import cygrpc  # type: ignore[attr-defined] # it has no public name

_CALLS_ASKED_FOR: Final = 4
"""Of each method. A call that was asked for costs four rounds of the event loop, so one is taken in each round."""

_ROUNDS_MAX: Final = 100


def server(**arguments: Any) -> grpc.aio.Server:
    """Like `grpc.aio.server`, with the same arguments."""
    library = cygrpc.AioServer
    cygrpc.AioServer = _AcceptingServer
    try:
        return grpc.aio.server(**arguments)
    finally:
        cygrpc.AioServer = library


class _Calls:
    """Calls of one method that were asked for, and those of them that came."""

    def __init__(self, ask: Callable[[], asyncio.Task[Any]], is_running: Callable[[], bool]) -> None:
        self._ask = ask
        self._is_running = is_running
        self._next: asyncio.Future[Any] | None = None
        self.came: deque[Any] = deque()
        for _ in range(_CALLS_ASKED_FOR):
            self._ask().add_done_callback(self._asked)

    def next(self) -> asyncio.Future[Any]:
        """The next call that nobody has taken."""
        self._next = taken = asyncio.get_running_loop().create_future()
        if self.came:
            taken.set_result(self.came.popleft())
        return taken

    def _asked(self, asked: asyncio.Task[Any]) -> None:
        if asked.cancelled():
            return
        error = asked.exception()
        waiting = self._next if self._next is not None and not self._next.done() else None
        if error is None and waiting is None:
            self.came.append(asked.result())
        elif error is None and waiting is not None:
            waiting.set_result(asked.result())
        elif error is not None and not (self._is_running() and _is_lost(error)):
            if waiting is not None:
                waiting.set_exception(error)  # the server stops, or the library stops it for this error
            return
        self._ask().add_done_callback(self._asked)


def _is_lost(error: BaseException) -> bool:
    """Whether one call was lost on its way, and the next one may be asked for."""
    return isinstance(error, cygrpc._RequestCallError)  # noqa: SLF001


class _AcceptingServer(cygrpc.AioServer):  # type: ignore[misc] # the library's module has no types
    """The library's server, whose loop asks `_make_request_call_future` for the next call of each method."""

    _calls: dict[bytes | None, _Calls]

    def _make_request_call_future(self, method: bytes | None) -> asyncio.Future[Any]:
        """The next call of a method; of those that are not registered where None."""
        calls = self.__dict__.setdefault("_calls", {})
        if method not in calls:
            ask = super()._make_request_call_future
            calls[method] = _Calls(lambda: ask(method), self.is_running)
        following: asyncio.Future[Any] = calls[method].next()
        return following

    async def shutdown(self, grace: float | None) -> None:
        """Like the library's, after the calls that came were handed over: it would leave them without an answer."""
        for _ in range(_ROUNDS_MAX):
            if not any(calls.came for calls in self.__dict__.get("_calls", {}).values()):
                break
            await asyncio.sleep(0)
        await super().shutdown(grace)
