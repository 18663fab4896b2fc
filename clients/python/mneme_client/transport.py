"""Makes calls over asyncio: one channel, one deadline and one span for each call, repeats included."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterable, Awaitable, Callable, Iterable
from typing import Any, TypeVar

import grpc
from google.protobuf.message import Message

from mneme.gateway.v1 import memory_pb2
from mneme_client import to_wire
from mneme_client.calls import REMEMBER_STREAM_METHOD, Call
from mneme_client.channel import Connection
from mneme_client.errors import client_is_closed, from_rpc_failure
from mneme_client.retry import NEVER, RetryPolicy
from mneme_client.source import RequestSource
from mneme_client.tracing import CallTracing, TracedCall
from mneme_client.types import RememberItem

Result = TypeVar("Result")
Metadata = tuple[tuple[str, str], ...]


class Transport:
    """An asyncio channel. It is opened by the first call, because it belongs to the loop that makes it."""

    def __init__(self, connection: Connection, retry: RetryPolicy, tracing: CallTracing) -> None:
        """Opens nothing yet."""
        self._connection = connection
        self._retry = retry
        self._tracing = tracing
        self._channel: grpc.aio.Channel | None = None
        self._is_closed = False

    async def close(self) -> None:
        """Closes the channel; calls under way, and later ones, fail with CANCELLED."""
        self._is_closed = True
        if self._channel is not None:
            await self._channel.close()
            self._channel = None

    async def call(self, call: Call[Result], timeout_seconds: float) -> Result:
        """Makes a unary call.

        Raises:
            MnemeClientError: It failed, repeats included.
        """
        method = self._open(call.method).unary_unary(
            call.method,
            request_serializer=type(call.request).SerializeToString,
            response_deserializer=call.response_type.FromString,
        )
        response = await self._repeat(
            call.method,
            lambda timeout, metadata, _: method(call.request, timeout=timeout, metadata=metadata),
            timeout_seconds,
            self._retry,
            call.request,
        )
        return call.read(response)

    async def remember_stream(
        self,
        items: AsyncIterable[RememberItem] | Iterable[RememberItem],
        timeout_seconds: float,
        on_response: Callable[[memory_pb2.RememberStreamResponse], None],
    ) -> None:
        """Sends a stream; after a failure it resumes after the last response, if its source can be read again.

        Raises:
            MnemeClientError: It failed, repeats included.
        """
        # Made once, so that a repeat carries the same request ids.
        made = [to_wire.stream_request(item) for item in items] if isinstance(items, list | tuple) else None
        method = self._open(REMEMBER_STREAM_METHOD).stream_stream(
            REMEMBER_STREAM_METHOD,
            request_serializer=memory_pb2.RememberStreamRequest.SerializeToString,
            response_deserializer=memory_pb2.RememberStreamResponse.FromString,
        )
        done = 0  # items with a response

        async def attempt(timeout: float, metadata: Metadata, traced: TracedCall) -> None:
            nonlocal done
            start = done
            source: RequestSource[Any] = (
                RequestSource(items, to_wire.stream_request)
                if made is None
                else RequestSource(made[start:], lambda request: request)
            )
            messages = method(aiter(source), timeout=timeout, metadata=metadata)
            try:
                async for message in messages:
                    message.index += start
                    traced.responded(message)
                    on_response(message)
                    done += 1
            except (grpc.aio.AioRpcError, asyncio.CancelledError):
                _raise_failure_of(source)
                raise
            finally:
                messages.cancel()

        retry = self._retry if made is not None else NEVER
        await self._repeat(REMEMBER_STREAM_METHOD, attempt, timeout_seconds, retry)

    async def upload(self, call: Call[Result], requests: Iterable[Message], timeout_seconds: float) -> Result:
        """Sends a stream of requests and reads one response; repeats it if the requests are a list or a tuple.

        Raises:
            MnemeClientError: It failed, repeats included.
        """
        method = self._open(call.method).stream_unary(
            call.method,
            request_serializer=type(call.request).SerializeToString,
            response_deserializer=call.response_type.FromString,
        )

        async def attempt(timeout: float, metadata: Metadata, _traced: TracedCall) -> Any:
            source = RequestSource(requests, lambda request: request)
            try:
                return await method(aiter(source), timeout=timeout, metadata=metadata)
            except (grpc.aio.AioRpcError, asyncio.CancelledError):
                _raise_failure_of(source)
                raise

        response = await self._repeat(
            call.method,
            attempt,
            timeout_seconds,
            self._retry if isinstance(requests, list | tuple) else NEVER,
        )
        return call.read(response)

    async def stream(self, call: Call[Result], timeout_seconds: float) -> AsyncGenerator[Result, None]:
        """Makes a call with a stream as response; repeats it if it fails before the first message.

        Raises:
            MnemeClientError: It failed, repeats included.
        """
        method = self._open(call.method).unary_stream(
            call.method,
            request_serializer=type(call.request).SerializeToString,
            response_deserializer=call.response_type.FromString,
        )
        deadline = time.monotonic() + timeout_seconds
        with self._tracing.stream(call.method, call.request) as traced:
            metadata = (*self._connection.metadata(), *traced.metadata)
            count = 0
            while True:
                count += 1
                has_begun = False
                messages = method(call.request, timeout=max(0.0, deadline - time.monotonic()), metadata=metadata)
                try:
                    async for message in messages:
                        has_begun = True
                        traced.responded(message)
                        yield call.read(message)
                    return
                except grpc.aio.AioRpcError as failure:
                    error = from_rpc_failure(failure, method=call.method)
                    remaining = deadline - time.monotonic()
                    delay = self._retry.delay_seconds(error, attempt=count, remaining_seconds=remaining)
                    if has_begun or delay is None or self._is_closed:
                        raise error from failure
                except asyncio.CancelledError:
                    self._raise_if_closed(call.method)
                    raise
                finally:
                    messages.cancel()  # if the caller left the loop early; no effect on a finished call
                await asyncio.sleep(delay)
                self._raise_if_closed(call.method)

    def _raise_if_closed(self, method: str) -> None:
        """Makes an error of a closed channel, whose calls gRPC cancels as if their callers' tasks were cancelled."""
        if self._is_closed and not _is_cancelling():
            raise client_is_closed(method) from None

    def _open(self, method: str) -> grpc.aio.Channel:
        if self._is_closed:
            raise client_is_closed(method)
        if self._channel is None:
            credentials, options = self._connection.credentials(), self._connection.options()
            self._channel = (
                grpc.aio.insecure_channel(self._connection.target, options=options)
                if credentials is None
                else grpc.aio.secure_channel(self._connection.target, credentials, options=options)
            )
        return self._channel

    async def _repeat(
        self,
        method: str,
        attempt: Callable[[float, Metadata, TracedCall], Awaitable[Any]],
        timeout_seconds: float,
        retry: RetryPolicy,
        request: Any = None,
    ) -> Any:
        deadline = time.monotonic() + timeout_seconds
        with self._tracing.call(method, request) as traced:
            metadata = (*self._connection.metadata(), *traced.metadata)
            count = 0
            while True:
                count += 1
                try:
                    response = await attempt(max(0.0, deadline - time.monotonic()), metadata, traced)
                    if request is not None:
                        traced.responded(response)
                    return response
                except grpc.aio.AioRpcError as failure:
                    error = from_rpc_failure(failure, method=method)
                    remaining = deadline - time.monotonic()
                    delay = retry.delay_seconds(error, attempt=count, remaining_seconds=remaining)
                    if delay is None or self._is_closed:
                        raise error from failure
                except asyncio.CancelledError:
                    self._raise_if_closed(method)
                    raise
                await asyncio.sleep(delay)
                self._raise_if_closed(method)


def _raise_failure_of(source: RequestSource[Any]) -> None:
    """Raises why a source could not be read to its end, unless the caller's task is being cancelled."""
    if source.failure is not None and not _is_cancelling():
        raise source.failure from None


def _is_cancelling() -> bool:
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0
