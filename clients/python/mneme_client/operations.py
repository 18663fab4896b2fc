"""What operators ask of the deliveries behind `remember`; a part of both clients."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Iterator, Sequence
from typing import TypeVar

from mneme_client import calls, results
from mneme_client.calls import PAGE_SIZE_MAX, Call, Page
from mneme_client.types import Tier

Result = TypeVar("Result")


class DeliveryOperations(ABC):
    """Awaiting ones."""

    @abstractmethod
    async def _call(self, call: Call[Result], timeout_seconds: float | None) -> Result: ...

    async def get_backlog(self, *, timeout_seconds: float | None = None) -> tuple[results.TierBacklog, ...]:
        """The deliveries behind `remember` that wait, by tier."""
        return await self._call(calls.get_backlog(), timeout_seconds)

    async def list_dead_letters(
        self,
        *,
        tier: Tier | None = None,
        page_size: int = PAGE_SIZE_MAX,
        timeout_seconds: float | None = None,
    ) -> AsyncIterator[results.DeadLetter]:
        """Deliveries that were given up, oldest first; pages are fetched as they are needed."""
        token = ""
        while True:
            call = calls.list_dead_letters(tier=tier, page_size=page_size, page_token=token)
            page: Page[results.DeadLetter] = await self._call(call, timeout_seconds)
            for item in page.items:
                yield item
            if not (token := page.next_page_token):
                return

    async def retry_dead_letters(
        self,
        delivery_ids: Sequence[str],
        *,
        request_id: str | None = None,
        timeout_seconds: float | None = None,
    ) -> int:
        """Puts dead letters (1 to 1,000) back into the queue and returns how many that were."""
        return await self._call(calls.retry_dead_letters(delivery_ids, request_id=request_id), timeout_seconds)


class SyncDeliveryOperations(ABC):
    """Blocking ones."""

    @abstractmethod
    def _call(self, call: Call[Result], timeout_seconds: float | None) -> Result: ...

    def get_backlog(self, *, timeout_seconds: float | None = None) -> tuple[results.TierBacklog, ...]:
        """The deliveries behind `remember` that wait, by tier."""
        return self._call(calls.get_backlog(), timeout_seconds)

    def list_dead_letters(
        self,
        *,
        tier: Tier | None = None,
        page_size: int = PAGE_SIZE_MAX,
        timeout_seconds: float | None = None,
    ) -> Iterator[results.DeadLetter]:
        """Deliveries that were given up, oldest first; pages are fetched as they are needed."""
        token = ""
        while True:
            call = calls.list_dead_letters(tier=tier, page_size=page_size, page_token=token)
            page: Page[results.DeadLetter] = self._call(call, timeout_seconds)
            yield from page.items
            if not (token := page.next_page_token):
                return

    def retry_dead_letters(
        self,
        delivery_ids: Sequence[str],
        *,
        request_id: str | None = None,
        timeout_seconds: float | None = None,
    ) -> int:
        """Puts dead letters (1 to 1,000) back into the queue and returns how many that were."""
        return self._call(calls.retry_dead_letters(delivery_ids, request_id=request_id), timeout_seconds)
