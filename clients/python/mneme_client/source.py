"""What a stream of requests is read from."""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator, Callable, Iterable, Iterator
from typing import Generic, TypeVar

from google.protobuf.message import Message

Item = TypeVar("Item")


class RequestSource(Generic[Item]):
    """Reads requests for gRPC and keeps what their source failed with: gRPC ends the call then and does not say why."""

    def __init__(self, items: Iterable[Item] | AsyncIterable[Item], convert: Callable[[Item], Message]) -> None:
        """Reads nothing yet; `convert` makes a request of an item."""
        self.failure: Exception | None = None
        self._items = items
        self._convert = convert

    def __iter__(self) -> Iterator[Message]:
        """The requests of a source that is read without an event loop."""
        if isinstance(self._items, AsyncIterable):
            raise TypeError("an asynchronous source is read by the asyncio client alone")
        try:
            for item in self._items:
                yield self._convert(item)
        except Exception as failure:
            self.failure = failure
            raise

    async def __aiter__(self) -> AsyncIterator[Message]:
        """The requests of either kind of source."""
        try:
            if isinstance(self._items, AsyncIterable):
                async for item in self._items:
                    yield self._convert(item)
            else:
                for item in self._items:
                    yield self._convert(item)
        except Exception as failure:
            self.failure = failure
            raise
