"""Requests as they come: within a time, and as messages that can be read."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any

import grpc
from google.protobuf.message import DecodeError

from services.common.errors import DeadlineExceeded, FieldViolation, InvalidArgument
from services.common.rpc.interceptors.base import Context, Serve


def one_request(call: Serve, deserialize: Callable[[bytes], Any] | None, *, timeout_seconds: float) -> Serve:
    """A handler of a unary request that waits for it.

    Args:
        call: Takes the message.
        deserialize: Makes it of its bytes; None for a method of bytes.
        timeout_seconds: A caller that has not sent it by then fails with DEADLINE_EXCEEDED.
    """

    async def serve(_requests: Any, context: Context) -> Any:
        request = await _read(context, deserialize, timeout_seconds)
        if request is grpc.aio.EOF:
            raise InvalidArgument("the call ended without a request")
        return await call(request, context)

    return serve


def many_requests(call: Serve, deserialize: Callable[[bytes], Any] | None, *, timeout_seconds: float) -> Serve:
    """A handler of a stream of requests.

    Args:
        call: Takes an iterator of messages.
        deserialize: Makes a message of its bytes; None for a method of bytes.
        timeout_seconds: A caller that sends none for so long fails with DEADLINE_EXCEEDED.
    """

    async def requests(context: Context) -> AsyncIterator[Any]:
        while (request := await _read(context, deserialize, timeout_seconds)) is not grpc.aio.EOF:
            yield request

    def serve(_requests: Any, context: Context) -> Any:
        return call(requests(context), context)

    return serve


async def _read(context: Context, deserialize: Callable[[bytes], Any] | None, timeout_seconds: float) -> Any:
    timeout = asyncio.timeout(timeout_seconds)
    try:
        async with timeout:
            content = await context.read()
    except TimeoutError:
        if not timeout.expired():
            raise
        raise DeadlineExceeded(f"no request came within {timeout_seconds:g} s") from None
    if content is grpc.aio.EOF or deserialize is None:
        return content
    try:
        return deserialize(content)
    except DecodeError:
        raise InvalidArgument(
            "the request cannot be read",
            violations=[FieldViolation("", "must be a message of the method's type, in protobuf's binary form")],
        ) from None
