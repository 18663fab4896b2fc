# Generated from aio/deliveries.py by `make client`, not to be edited.
"""Deliveries: how what was remembered reaches the tiers. For operators."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from mneme.gateway.v1 import deliveries_pb2
from mneme_client import from_wire, results, to_wire
from mneme_client.blocking.operations import Operations
from mneme_client.calls import PAGE_SIZE_MAX, Call, read_one, read_page
from mneme_client.enums import Tier

_SERVICE = "/mneme.gateway.v1.DeliveryService"


class DeliveryOperations(Operations):
    """Reads the backlog, and lists and retries dead letters."""

    def get_backlog(self, *, timeout_seconds: float | None = None) -> tuple[results.TierBacklog, ...]:
        """The deliveries that wait, by tier."""
        request, response = deliveries_pb2.GetBacklogRequest(), deliveries_pb2.GetBacklogResponse
        return self._call(Call(f"{_SERVICE}/GetBacklog", request, response, from_wire.backlog), timeout_seconds)

    def list_dead_letters(
        self,
        *,
        tier: Tier | None = None,
        page_size: int = PAGE_SIZE_MAX,
        timeout_seconds: float | None = None,
    ) -> Iterator[results.DeadLetter]:
        """Deliveries that were given up, oldest first; pages are fetched as they are needed."""
        request = deliveries_pb2.ListDeadLettersRequest(tier=to_wire.optional_enum_number(tier), page_size=page_size)
        response = deliveries_pb2.ListDeadLettersResponse
        read = read_page("dead_letters", from_wire.dead_letter)
        return self._pages(Call(f"{_SERVICE}/ListDeadLetters", request, response, read), timeout_seconds)

    def retry_dead_letters(
        self,
        delivery_ids: Sequence[str],
        *,
        request_id: str | None = None,
        timeout_seconds: float | None = None,
    ) -> int:
        """Puts dead letters (1 to 1,000) back into the queue and returns how many that were."""
        request = deliveries_pb2.RetryDeadLettersRequest(
            request_id=request_id or to_wire.new_request_id(), delivery_ids=delivery_ids
        )
        call = Call(
            f"{_SERVICE}/RetryDeadLetters",
            request,
            deliveries_pb2.RetryDeadLettersResponse,
            read_one("retried_count", int),
        )
        return self._call(call, timeout_seconds)
