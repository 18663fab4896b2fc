"""A channel to a server of the same process."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeAlias

import grpc

from services.common.rpc.in_process.call import InProcessCall, Metadata
from services.common.rpc.in_process.server import InProcessServer, too_large

if TYPE_CHECKING:  # the library's classes take no type arguments at run time
    Unary: TypeAlias = grpc.aio.UnaryUnaryMultiCallable[Any, Any]
else:
    Unary = grpc.aio.UnaryUnaryMultiCallable


class InProcessChannel(grpc.aio.Channel):
    """What generated stubs take for a channel, whose calls pass through no socket. Its owner closes it.

    Stubs call unary methods. A method whose response is a stream is called by `responses`; the stub of a method with
    streams can be made, and raises NotImplementedError when it is called.
    """

    def __init__(self, server: InProcessServer, *, message_bytes_max: int = 8 * 1024 * 1024) -> None:
        """Calls `server`; refuses requests and responses above the size."""
        self._server = server
        self._message_bytes_max = message_bytes_max
        self._calls: set[InProcessCall] = set()
        self._is_closed = False

    def unary_unary(
        self,
        method: str,
        request_serializer: Callable[[Any], bytes] | None = None,
        response_deserializer: Callable[[bytes], Any] | None = None,
        _registered_method: bool | None = False,  # noqa: FBT001, FBT002 - as generated stubs pass it
    ) -> Unary:
        """See grpc.aio.Channel."""
        return _UnaryMethod(self, method, request_serializer, response_deserializer)

    def unary_stream(self, method: str, *_args: Any, **_kwargs: Any) -> Any:
        """Returns what raises when it is called; see `responses`."""
        return _stream(method)

    def stream_unary(self, method: str, *_args: Any, **_kwargs: Any) -> Any:
        """Returns what raises when it is called."""
        return _stream(method)

    def stream_stream(self, method: str, *_args: Any, **_kwargs: Any) -> Any:
        """Returns what raises when it is called."""
        return _stream(method)

    async def close(self, grace: float | None = None) -> None:
        """Begins no more calls, and cancels those that outlast the grace, or all without one."""
        self._is_closed = True
        pending = {asyncio.ensure_future(call.code()) for call in self._calls} if grace else set()
        if pending:
            await asyncio.wait(pending, timeout=grace)
        for call in tuple(self._calls):
            call.cancel()
        if pending:
            await asyncio.wait(pending)

    async def __aenter__(self) -> InProcessChannel:
        """Returns the channel."""
        return self

    async def __aexit__(
        self, exc_type: type[BaseException] | None, exc_val: BaseException | None, exc_tb: TracebackType | None
    ) -> None:
        """Closes it."""
        await self.close()

    def get_state(self, try_to_connect: bool = False) -> grpc.ChannelConnectivity:  # noqa: ARG002, FBT001, FBT002 - as in its base
        """Ready until it is closed: there is nothing to connect to."""
        return grpc.ChannelConnectivity.SHUTDOWN if self._is_closed else grpc.ChannelConnectivity.READY

    async def wait_for_state_change(self, last_observed_state: grpc.ChannelConnectivity) -> None:
        """Returns at once where the state is another; waiting for the end of a channel is not offered."""
        if self.get_state() is last_observed_state:
            raise NotImplementedError("a channel within the process does not change")

    async def channel_ready(self) -> None:
        """Returns at once."""

    def begin(
        self,
        method: str,
        request: bytes,
        read_response: Callable[[bytes], Any],
        *,
        timeout_seconds: float | None,
        metadata: Metadata,
    ) -> InProcessCall:
        """Begins a call; see `InProcessServer.call`.

        Raises:
            grpc.aio.UsageError: The channel is closed.
        """
        if self._is_closed:
            raise grpc.aio.UsageError("Channel is closed.")
        if len(request) > self._message_bytes_max:
            call = InProcessCall(None)
            call.settle(too_large(len(request), self._message_bytes_max))
            return call
        call = self._server.call(
            method,
            request,
            timeout_seconds=timeout_seconds,
            metadata=metadata,
            response_bytes_max=self._message_bytes_max,
            read_response=read_response,
        )
        if not call.done():
            self._calls.add(call)
            call.add_done_callback(self._calls.discard)
        return call

    def responses(
        self, method: str, request: bytes, *, timeout_seconds: float | None, metadata: Metadata
    ) -> AsyncIterator[bytes]:
        """Calls a method whose response is a stream: serialised responses, until its end.

        Raises:
            grpc.aio.AioRpcError: While it is iterated over: the call ended with another status than OK.
        """
        return self._server.stream(method, request, timeout_seconds=timeout_seconds, metadata=metadata).responses()


class _UnaryMethod(Unary):
    """One method of a stub."""

    def __init__(
        self,
        channel: InProcessChannel,
        method: str,
        serialize: Callable[[Any], bytes] | None,
        deserialize: Callable[[bytes], Any] | None,
    ) -> None:
        self._channel = channel
        self._method = method
        self._serialize = serialize or _same
        self._deserialize = deserialize or _same

    def __call__(
        self,
        request: Any,
        *,
        timeout: float | None = None,
        metadata: Any = None,
        credentials: grpc.CallCredentials | None = None,  # noqa: ARG002 - those of a connection, which there is none
        wait_for_ready: bool | None = None,  # noqa: ARG002
        compression: grpc.Compression | None = None,  # noqa: ARG002
    ) -> InProcessCall:
        """See grpc.aio.UnaryUnaryMultiCallable."""
        return self._channel.begin(
            self._method,
            self._serialize(request),
            self._deserialize,
            timeout_seconds=timeout,
            metadata=tuple(metadata or ()),
        )


def _stream(method: str) -> Callable[..., Any]:
    def refuse(*_args: Any, **_kwargs: Any) -> Any:
        raise NotImplementedError(f"{method} has a stream, which needs a socket")

    return refuse


def _same(message: Any) -> Any:
    return message
