"""A call as data: the method, the request, and how to read the response. The transports make it, and repeat it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Generic, Self, TypeVar

from google.protobuf.message import Message

Result = TypeVar("Result")

PAGE_SIZE_MAX = 200
"""Largest page that the service returns."""

REMEMBER_STREAM_METHOD = "/mneme.gateway.v1.MemoryService/RememberStream"
"""A method whose requests and responses are streams."""


@dataclass(frozen=True, slots=True)
class Call(Generic[Result]):
    """One call that can be made, and made again."""

    method: str  # full name, with leading slash
    request: Message
    response_type: type[Message]
    read: Callable[[Any], Result]  # from the response to the result

    def at_page(self, page_token: str) -> Self:
        """The same call of a list, for another page."""
        request: Any = type(self.request)()
        request.CopyFrom(self.request)
        request.page_token = page_token
        return replace(self, request=request)


@dataclass(frozen=True, slots=True)
class Page(Generic[Result]):
    """One page of a list."""

    items: tuple[Result, ...]
    next_page_token: str  # empty on the last one


class SearchHits(tuple[Result, ...]):
    """What a search found, best first."""

    degraded: bool = False
    """True while memories are not found whose vectors are of a former embedding model (docs/model-change.md)."""


def read_one(field: str, read: Callable[[Any], Result]) -> Callable[[Any], Result]:
    """Reads the one field of a response that matters."""
    return lambda message: read(getattr(message, field))


def read_nothing(_message: Message) -> None:
    """Reads a response that is empty."""


def read_page(field: str, read: Callable[[Any], Result]) -> Callable[[Any], Page[Result]]:
    """Reads the response of a list: the items of `field`, and the token of the next page."""
    return lambda message: Page(tuple(read(item) for item in getattr(message, field)), message.next_page_token)


def read_all(field: str, read: Callable[[Any], Result]) -> Callable[[Any], tuple[Result, ...]]:
    """Reads the items of `field`."""
    return lambda message: tuple(read(item) for item in getattr(message, field))


def read_hits(read: Callable[[Any], Result]) -> Callable[[Any], SearchHits[Result]]:
    """Reads the response of a search."""

    def read_message(message: Any) -> SearchHits[Result]:
        hits = SearchHits(read(hit) for hit in message.hits)
        hits.degraded = message.degraded
        return hits

    return read_message
