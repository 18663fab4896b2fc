"""Requests that cannot be read are the caller's fault, and answered as such."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import TYPE_CHECKING, Any, Final

from google.protobuf.message import DecodeError

from services.common.errors import FieldViolation, InvalidArgument

if TYPE_CHECKING:
    from services.common.rpc.interceptors.around import Context, Serve


class _Unreadable:
    """Stands for bytes that are no message, until there is somebody to tell."""


_UNREADABLE: Final = _Unreadable()


def tolerant(deserialize: Callable[[bytes], Any] | None) -> Callable[[bytes], Any] | None:
    """A deserializer that does not raise: gRPC runs it before all blocks, and answers its errors as UNKNOWN."""
    if deserialize is None:
        return None

    def read(content: bytes) -> Any:
        try:
            return deserialize(content)
        except DecodeError:
            return _UNREADABLE

    return read


def readable(call: Serve, *, is_streaming: bool) -> Serve:
    """A handler that gets messages alone; what cannot be read raises InvalidArgument."""

    def serve(request: Any, context: Context) -> Awaitable[Any]:
        return call(_checked(request), context)

    def serve_stream(requests: AsyncIterator[Any], context: Context) -> Awaitable[Any]:
        return call(_CheckedStream(requests), context)

    return serve_stream if is_streaming else serve


class _CheckedStream:
    """The requests of a stream."""

    def __init__(self, requests: AsyncIterator[Any]) -> None:
        self._requests = aiter(requests)

    def __aiter__(self) -> _CheckedStream:
        return self

    async def __anext__(self) -> Any:
        return _checked(await anext(self._requests))


def _checked(request: Any) -> Any:
    if request is _UNREADABLE:
        raise InvalidArgument(
            "the request cannot be read",
            violations=[FieldViolation("", "must be a message of the method's type, in protobuf's binary form")],
        )
    return request
