"""Makes calls that block: one channel, one deadline and one span for each call, repeats included.

It uses gRPC's own blocking channel and no event loop, so it works in any thread, beside any loop.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterable
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


class SyncTransport:
    """A blocking channel. Thread-safe."""

    def __init__(self, connection: Connection, retry: RetryPolicy, tracing: CallTracing) -> None:
        """Opens the channel; it connects with the first call."""
        self._connection = connection
        self._retry = retry
        self._tracing = tracing
        self._is_closed = False
        credentials, options = connection.credentials(), connection.options()
        self._channel: grpc.Channel = (
            grpc.insecure_channel(connection.target, options=options)
            if credentials is None
            else grpc.secure_channel(connection.target, credentials, options=options)
        )

    def close(self) -> None:
        """Closes the channel; calls under way, and later ones, fail with CANCELLED."""
        self._is_closed = True  # calls cancelled by closing must not be repeated
        self._channel.close()

    def call(self, call: Call[Result], timeout_seconds: float) -> Result:
        """Makes a unary call.

        Raises:
            MnemeClientError: It failed, repeats included.
        """
        method = self._channel.unary_unary(
            call.method,
            request_serializer=type(call.request).SerializeToString,
            response_deserializer=call.response_type.FromString,
        )
        response = self._repeat(
            call.method,
            lambda timeout, metadata, _: method(call.request, timeout=timeout, metadata=metadata),
            timeout_seconds,
            self._retry,
            call.request,
        )
        return call.read(response)

    def remember_stream(
        self,
        items: Iterable[RememberItem],
        timeout_seconds: float,
        on_response: Callable[[memory_pb2.RememberStreamResponse], None],
    ) -> None:
        """Sends a stream; after a failure it resumes after the last response, if its source can be read again.

        Raises:
            MnemeClientError: It failed, repeats included.
        """
        # Made once, so that a repeat carries the same request ids.
        made = [to_wire.stream_request(item) for item in items] if isinstance(items, list | tuple) else None
        method = self._channel.stream_stream(
            REMEMBER_STREAM_METHOD,
            request_serializer=memory_pb2.RememberStreamRequest.SerializeToString,
            response_deserializer=memory_pb2.RememberStreamResponse.FromString,
        )
        done = 0  # items with a response

        def attempt(timeout: float, metadata: Metadata, traced: TracedCall) -> None:
            nonlocal done
            start = done
            source = RequestSource(items, to_wire.stream_request)
            requests = iter(source if made is None else made[start:])
            messages = method(requests, timeout=timeout, metadata=metadata)
            try:
                for message in messages:
                    message.index += start
                    traced.responded(message)
                    on_response(message)
                    done += 1
            except grpc.RpcError:
                _raise_failure_of(source)
                raise
            finally:
                messages.cancel()

        retry = self._retry if made is not None else NEVER
        self._repeat(REMEMBER_STREAM_METHOD, attempt, timeout_seconds, retry)

    def upload(self, call: Call[Result], requests: Iterable[Message], timeout_seconds: float) -> Result:
        """Sends a stream of requests and reads one response; repeats it if the requests are a list or a tuple.

        Raises:
            MnemeClientError: It failed, repeats included.
        """
        method = self._channel.stream_unary(
            call.method,
            request_serializer=type(call.request).SerializeToString,
            response_deserializer=call.response_type.FromString,
        )

        def attempt(timeout: float, metadata: Metadata, _traced: TracedCall) -> Any:
            source = RequestSource(requests, lambda request: request)
            try:
                return method(iter(source), timeout=timeout, metadata=metadata)
            except grpc.RpcError:
                _raise_failure_of(source)
                raise

        response = self._repeat(
            call.method,
            attempt,
            timeout_seconds,
            self._retry if isinstance(requests, list | tuple) else NEVER,
        )
        return call.read(response)

    def stream(self, call: Call[Result], timeout_seconds: float) -> Generator[Result, None, None]:
        """Makes a call with a stream as response; repeats it if it fails before the first message.

        Raises:
            MnemeClientError: It failed, repeats included.
        """
        method = self._channel.unary_stream(
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
                if self._is_closed:
                    raise client_is_closed(call.method)
                messages = method(call.request, timeout=max(0.0, deadline - time.monotonic()), metadata=metadata)
                try:
                    for message in messages:
                        has_begun = True
                        traced.responded(message)
                        yield call.read(message)
                    return
                except grpc.RpcError as failure:
                    error = from_rpc_failure(failure, method=call.method)
                    remaining = deadline - time.monotonic()
                    delay = self._retry.delay_seconds(error, attempt=count, remaining_seconds=remaining)
                    if has_begun or delay is None or self._is_closed:
                        raise error from failure
                finally:
                    messages.cancel()  # if the caller left the loop early; no effect on a finished call
                time.sleep(delay)

    def _repeat(
        self,
        method: str,
        attempt: Callable[[float, Metadata, TracedCall], Any],
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
                if self._is_closed:
                    raise client_is_closed(method)
                try:
                    response = attempt(max(0.0, deadline - time.monotonic()), metadata, traced)
                    if request is not None:
                        traced.responded(response)
                    return response
                except grpc.RpcError as failure:
                    # An error of the blocking library is also the call, and has its status.
                    error = from_rpc_failure(failure, method=method)
                    remaining = deadline - time.monotonic()
                    delay = retry.delay_seconds(error, attempt=count, remaining_seconds=remaining)
                    if delay is None or self._is_closed:
                        raise error from failure
                time.sleep(delay)


def _raise_failure_of(source: RequestSource[Any]) -> None:
    """Raises why a source could not be read to its end."""
    if source.failure is not None:
        raise source.failure from None
