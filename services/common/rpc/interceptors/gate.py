"""The last thing before a handler: whether the server still takes calls, and which of them are under way."""

from __future__ import annotations

import asyncio
from typing import Any, Final

from services.common.errors import Reason, StoreUnavailable
from services.common.rpc.interceptors.base import Context, Serve

_RETRY_SECONDS: Final = 0.1  # connections are closed: the next attempt goes elsewhere, if there is an elsewhere


class CallGate:
    """Lets calls in until it is closed, and ends those that outlast the time they are given.

    It stands inside of the blocks around a call, so that what it answers is logged and counted like any other status.
    """

    def __init__(self) -> None:
        """Open."""
        self._tasks: set[asyncio.Task[Any]] = set()
        self._ended: set[asyncio.Task[Any]] = set()
        self._is_closed = False

    def close(self) -> None:
        """Refuses new calls from now on."""
        self._is_closed = True

    async def end_calls(self, *, after_seconds: float) -> None:
        """Returns when all calls under way are done; those that are not in time end as the server's, not as theirs."""
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=after_seconds)
        self._ended |= self._tasks
        for task in self._ended:
            task.cancel()

    def guarding(self, call: Serve) -> Serve:
        """A handler that is called while the gate is open."""

        async def serve(request: Any, context: Context) -> Any:
            if self._is_closed:
                raise shutting_down()
            task = asyncio.current_task()
            assert task is not None
            self._tasks.add(task)
            try:
                return await call(request, context)
            except asyncio.CancelledError:
                if task not in self._ended:
                    raise  # by its caller, or by its caller's deadline
                task.uncancel()
                raise shutting_down() from None
            finally:
                self._tasks.discard(task)
                self._ended.discard(task)

        return serve


def shutting_down() -> StoreUnavailable:
    """The error for a call that this server does not start any more."""
    return StoreUnavailable("server", _RETRY_SECONDS, reason=Reason.SHUTTING_DOWN)
