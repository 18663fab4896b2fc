"""What a handler knows of a call that comes from its own process."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, NoReturn

import grpc

from services.common.rpc.in_process.call import CallEnd, Metadata
from services.common.rpc.interceptors.base import Context

PEER: Final = "in-process"


class InProcessContext(Context):
    """The servicer context of one call: holds its metadata and deadline, and takes its status.

    There are no streams, no compression and no certificates within a process.
    """

    def __init__(self, request: bytes, metadata: Metadata, deadline: float | None) -> None:
        """Begins with the caller's request, metadata, and deadline by time.monotonic(), None where it has none."""
        self._request: Any = request
        self._invocation_metadata = tuple(metadata)
        self._deadline = deadline
        self._code: Any = None  # as in grpc: what was set, None for OK
        self._details = ""
        self._trailing_metadata: Metadata = ()
        self._aborted: grpc.aio.AbortError | None = None
        self._callbacks: list[Callable[[Any], None]] = []
        self._is_cancelled = False
        self._is_done = False

    def end(self) -> CallEnd:
        """The status as the handler left it; OK unless it set another or aborted."""
        code = _status_code(self._code) if self._code is not None else grpc.StatusCode.OK
        return CallEnd(code, self._details, self._trailing_metadata)

    def finish(self, *, is_cancelled: bool) -> None:
        """Notifies listeners that the handler has returned."""
        self._is_cancelled = is_cancelled
        self._is_done = True
        callbacks, self._callbacks = self._callbacks, []
        for callback in callbacks:
            callback(self)

    async def abort(self, code: grpc.StatusCode, details: str = "", trailing_metadata: Any = ()) -> NoReturn:
        """Ends the call with a status, even where the handler suppresses the error that this raises."""
        if self._aborted is not None:
            raise grpc.aio.UsageError("Abort already called!")
        self._aborted = grpc.aio.AbortError("Locally aborted.")
        self._code = code
        self._details = details or self._details
        self._trailing_metadata = tuple(trailing_metadata) or self._trailing_metadata
        raise self._aborted

    async def abort_with_status(self, status: grpc.Status) -> NoReturn:
        """See `abort`."""
        await self.abort(status.code, status.details, status.trailing_metadata or ())

    def set_trailing_metadata(self, trailing_metadata: Any) -> None:
        """Replaces what is sent with the status."""
        self._trailing_metadata = tuple(trailing_metadata)

    def trailing_metadata(self) -> Any:
        """What is sent with the status."""
        return self._trailing_metadata

    def invocation_metadata(self) -> Any:
        """What the caller sent."""
        return self._invocation_metadata

    def set_code(self, code: grpc.StatusCode) -> None:
        """Sets the status."""
        self._code = code

    def code(self) -> Any:
        """The status as it was set; None before that."""
        return self._code

    def set_details(self, details: str) -> None:
        """Sets the text of the status."""
        self._details = details

    def details(self) -> str:
        """The text of the status."""
        return self._details

    def time_remaining(self) -> Any:
        """Seconds until the deadline, never below zero; None without one."""
        return None if self._deadline is None else max(0.0, self._deadline - time.monotonic())

    def peer(self) -> str:
        """The same for every caller."""
        return PEER

    def peer_identities(self) -> Iterable[bytes] | None:
        """Nobody shows a certificate."""
        return None

    def peer_identity_key(self) -> str | None:
        """Nobody shows a certificate."""
        return None

    def auth_context(self) -> Mapping[str, Iterable[bytes]]:
        """Nobody shows a certificate."""
        return {}

    async def send_initial_metadata(self, initial_metadata: Any) -> None:
        """Drops it: callers of unary methods here read none."""

    def set_compression(self, compression: grpc.Compression) -> None:
        """Nothing is compressed."""

    def disable_next_message_compression(self) -> None:
        """Nothing is compressed."""

    async def read(self) -> Any:
        """The request, once; then the end of what its caller sends."""
        request, self._request = self._request, grpc.aio.EOF
        return request

    async def write(self, message: Any) -> None:  # noqa: ARG002
        """Raises grpc.aio.UsageError: there are no streams."""
        raise grpc.aio.UsageError("a unary call within the process has no stream to write")

    def add_done_callback(self, callback: Callable[[Any], None]) -> None:
        """Calls `callback` with the context when the handler has returned."""
        self._callbacks.append(callback)

    def cancelled(self) -> bool:
        """Whether the handler was cancelled."""
        return self._is_cancelled

    def done(self) -> bool:
        """Whether the call has its status."""
        return self._is_done or self._aborted is not None


def _status_code(code: Any) -> grpc.StatusCode:
    """A status by itself or by its number."""
    if isinstance(code, grpc.StatusCode):
        return code
    return next((known for known in grpc.StatusCode if known.value[0] == code), grpc.StatusCode.UNKNOWN)
