"""Makes calls over asyncio: one channel, one deadline and one span for each call, repeats included."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator, Awaitable, Callable, Iterable
from typing import Any, TypeVar

import grpc
from google.protobuf.message import Message

from mneme.gateway.v1 import memory_pb2
from mneme_client import to_wire
from mneme_client.calls import REMEMBER_STREAM_METHOD, Call
from mneme_client.channel import Connection
from mneme_client.errors import from_rpc_failure
from mneme_client.retry import NEVER, RetryPolicy
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

    async def close(self) -> None:
        """Closes the channel; calls under way are cancelled."""
        if self._channel is not None:
            await self._channel.close()
            self._channel = None

    async def call(self, call: Call[Result], timeout_seconds: float) -> Result:
        """Makes a unary call.

        Raises:
            MnemeClientError: It failed, repeats included.
        """
        method = self._open().unary_unary(
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
        method = self._open().stream_stream(
            REMEMBER_STREAM_METHOD,
            request_serializer=memory_pb2.RememberStreamRequest.SerializeToString,
            response_deserializer=memory_pb2.RememberStreamResponse.FromString,
        )
        done = 0  # items with a response

        async def attempt(timeout: float, metadata: Metadata, traced: TracedCall) -> None:
            nonlocal done
            start = done
            requests: Any = made[start:] if made is not None else _requests(items)
            messages = method(requests, timeout=timeout, metadata=metadata)
            try:
                async for message in messages:
                    message.index += start
                    traced.responded(message)
                    on_response(message)
                    done += 1
            finally:
                messages.cancel()

        retry = self._retry if made is not None else NEVER
        await self._repeat(REMEMBER_STREAM_METHOD, attempt, timeout_seconds, retry)

    async def upload(self, call: Call[Result], requests: Iterable[Message], timeout_seconds: float) -> Result:
        """Sends a stream of requests and reads one response; repeats it if the requests are a list or a tuple.

        Raises:
            MnemeClientError: It failed, repeats included.
        """
        method = self._open().stream_unary(
            call.method,
            request_serializer=type(call.request).SerializeToString,
            response_deserializer=call.response_type.FromString,
        )
        response = await self._repeat(
            call.method,
            lambda timeout, metadata, _: method(iter(requests), timeout=timeout, metadata=metadata),
            timeout_seconds,
            self._retry if isinstance(requests, list | tuple) else NEVER,
        )
        return call.read(response)

    async def stream(self, call: Call[Result], timeout_seconds: float) -> AsyncGenerator[Result, None]:
        """Makes a call with a stream as response; repeats it if it fails before the first message.

        Raises:
            MnemeClientError: It failed, repeats included.
        """
        method = self._open().unary_stream(
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
                    if has_begun or delay is None:
                        raise error from failure
                finally:
                    messages.cancel()  # if the caller left the loop early; no effect on a finished call
                await asyncio.sleep(delay)

    def _open(self) -> grpc.aio.Channel:
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
                    if delay is None:
                        raise error from failure
                await asyncio.sleep(delay)


async def _requests(
    items: AsyncIterable[RememberItem] | Iterable[RememberItem],
) -> AsyncIterator[memory_pb2.RememberStreamRequest]:
    if isinstance(items, AsyncIterable):
        async for item in items:
            yield to_wire.stream_request(item)
    else:
        for item in items:
            yield to_wire.stream_request(item)
