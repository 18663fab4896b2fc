# Generated from aio/operations.py by `make client`, not to be edited.
"""What the operations on every resource share."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeVar

from mneme_client.calls import Call, Page
from mneme_client.retry import RetryPolicy
from mneme_client.sync_transport import SyncTransport

Result = TypeVar("Result")


class Operations:
    """A part of the client: the operations on one resource."""

    def __init__(self, transport: SyncTransport, *, timeout_seconds: float, retry: RetryPolicy) -> None:
        """Makes calls over `transport`, with `timeout_seconds` as the default deadline."""
        self._transport = transport
        self._timeout_seconds = timeout_seconds
        self._retry = retry

    def _call(self, call: Call[Result], timeout_seconds: float | None) -> Result:
        timeout = self._timeout_seconds if timeout_seconds is None else timeout_seconds
        return self._transport.call(call, timeout)

    def _pages(self, call: Call[Page[Result]], timeout_seconds: float | None) -> Iterator[Result]:
        """Yields the items of a list, and calls for the next page when it is needed."""
        while True:
            page = self._call(call, timeout_seconds)
            yield from page.items
            if not page.next_page_token:
                return
            call = call.at_page(page.next_page_token)
