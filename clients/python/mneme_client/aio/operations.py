"""What the operations on every resource share."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import TypeVar

from mneme_client.calls import Call, Page
from mneme_client.retry import RetryPolicy
from mneme_client.transport import Transport

Result = TypeVar("Result")


class Operations:
    """A part of the client: the operations on one resource."""

    def __init__(self, transport: Transport, *, timeout_seconds: float, retry: RetryPolicy) -> None:
        """Makes calls over `transport`, with `timeout_seconds` as the default deadline."""
        self._transport = transport
        self._timeout_seconds = timeout_seconds
        self._retry = retry

    async def _call(self, call: Call[Result], timeout_seconds: float | None) -> Result:
        timeout = self._timeout_seconds if timeout_seconds is None else timeout_seconds
        return await self._transport.call(call, timeout)

    async def _pages(self, call: Call[Page[Result]], timeout_seconds: float | None) -> AsyncIterator[Result]:
        """Yields the items of a list, and calls for the next page when it is needed."""
        while True:
            page = await self._call(call, timeout_seconds)
            for item in page.items:
                yield item
            if not page.next_page_token:
                return
            call = call.at_page(page.next_page_token)
