"""One call within the process: what its caller holds, and how it ended."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import grpc

Metadata: TypeAlias = Sequence[tuple[str, str | bytes]]

if TYPE_CHECKING:  # the library's classes take no type arguments at run time
    UnaryCall: TypeAlias = grpc.aio.UnaryUnaryCall[Any, Any]
else:
    UnaryCall = grpc.aio.UnaryUnaryCall


@dataclass(frozen=True, slots=True)
class CallEnd:
    """The status that a call ended with, and the response where it is OK."""

    code: grpc.StatusCode = grpc.StatusCode.OK
    details: str = ""
    trailing_metadata: Metadata = ()
    response: Any = None  # as the caller's stub reads it


CANCELLED: Final = CallEnd(grpc.StatusCode.CANCELLED, "Locally cancelled by application!")
OUT_OF_TIME: Final = CallEnd(grpc.StatusCode.DEADLINE_EXCEEDED, "Deadline Exceeded")


class InProcessCall(UnaryCall):
    """What a caller awaits: the response, or grpc.aio.AioRpcError with the status, as of a call through a socket.

    Cancelling it, or a task that awaits it, cancels the handler; so does its deadline. The caller goes on at once and
    does not wait for the handler to clean up.
    """

    def __init__(self, timeout_seconds: float | None) -> None:
        """A call that has not ended, with so much time from now; None means as long as it takes."""
        loop = asyncio.get_running_loop()
        #: By time.monotonic(); None without one.
        self.deadline = None if timeout_seconds is None else time.monotonic() + timeout_seconds
        self._ended: asyncio.Future[None] = loop.create_future()
        self._end: CallEnd | None = None
        self._task: asyncio.Task[None] | None = None
        self._timer = None if timeout_seconds is None else loop.call_later(max(0.0, timeout_seconds), self._run_out)
        self._callbacks: list[Callable[[Any], None]] = []

    def run_in(self, task: asyncio.Task[None]) -> None:
        """Says which task the handler runs in: it is cancelled with the call."""
        self._task = task

    def settle(self, end: CallEnd) -> bool:
        """Ends the call; the first end counts.

        Returns:
            Whether it was this one.
        """
        if self._end is not None:
            return False
        self._end = end
        self._task = None  # a finished call refers to nothing that refers to it: no garbage to search for
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if not self._ended.done():
            self._ended.set_result(None)
        callbacks, self._callbacks = self._callbacks, []
        for callback in callbacks:
            callback(self)
        return True

    def __await__(self) -> Generator[Any, None, Any]:
        """Waits for the response.

        Raises:
            grpc.aio.AioRpcError: The call ended with another status than OK.
            asyncio.CancelledError: It was cancelled by its caller.
        """
        end = self._end
        if end is None:
            end = yield from self._until_end().__await__()
        elif end.code is not grpc.StatusCode.OK:
            yield  # others run between the tries of a caller that is refused at once
        if end.code is grpc.StatusCode.OK:
            return end.response
        if end is CANCELLED:
            raise asyncio.CancelledError
        raise grpc.aio.AioRpcError(
            end.code,
            grpc.aio.Metadata(),
            grpc.aio.Metadata.from_tuple(tuple(end.trailing_metadata)),
            details=end.details,
            debug_error_string="in process",
        )

    def cancel(self) -> bool:
        """Cancels the call and its handler; False where it has ended."""
        return self._stop(CANCELLED)

    def cancelled(self) -> bool:
        """Whether its caller cancelled it."""
        return self._end is CANCELLED

    def done(self) -> bool:
        """Whether it has ended."""
        return self._end is not None

    def time_remaining(self) -> float | None:
        """Seconds until its deadline, never below zero; None without one."""
        return None if self.deadline is None else max(0.0, self.deadline - time.monotonic())

    def add_done_callback(self, callback: Callable[[Any], None]) -> None:
        """Calls `callback` with the call when it has ended, at once where it has."""
        if self._end is None:
            self._callbacks.append(callback)
        else:
            callback(self)

    async def initial_metadata(self) -> grpc.aio.Metadata:
        """None is sent within a process."""
        return grpc.aio.Metadata()

    async def trailing_metadata(self) -> grpc.aio.Metadata:
        """What the handler sent with the status."""
        return grpc.aio.Metadata.from_tuple(tuple((await self._until_end()).trailing_metadata))

    async def code(self) -> grpc.StatusCode:
        """The status."""
        return (await self._until_end()).code

    async def details(self) -> str:
        """The text of the status."""
        return (await self._until_end()).details

    async def wait_for_connection(self) -> None:
        """There is nothing to connect to."""

    async def _until_end(self) -> CallEnd:
        try:
            while self._end is None:
                await self._ended
        except asyncio.CancelledError:
            self.cancel()  # as grpc does: who stops waiting has no more use for the response
            raise
        return self._end

    def _run_out(self) -> None:
        self._stop(OUT_OF_TIME)

    def _stop(self, end: CallEnd) -> bool:
        task = self._task
        if not self.settle(end):
            return False
        if task is not None:
            task.cancel()
        return True
