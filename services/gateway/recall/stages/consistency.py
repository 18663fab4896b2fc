"""Stage consistency: waits until a write can be found."""

from __future__ import annotations

from collections.abc import Sequence

from services.gateway.journal.dispatcher import Dispatcher
from services.gateway.journal.model import DeliveryState, SequenceSpan, Tier
from services.gateway.journal.store import JournalReader


class ConsistencyWait:
    """Waits for the deliveries of a span."""

    def __init__(self, journal: JournalReader, dispatcher: Dispatcher) -> None:
        """`dispatcher` reports progress."""
        self._journal = journal
        self._dispatcher = dispatcher

    async def __call__(
        self, tenant_id: str, span: SequenceSpan, tiers: Sequence[Tier], *, timeout_seconds: float
    ) -> bool:
        """Returns whether the tiers took everything within the time. What was given up is not visible: false."""
        state = DeliveryState.PENDING

        async def settled() -> bool:
            nonlocal state
            state = await self._journal.delivery_state(tenant_id, span, tiers)
            return state is not DeliveryState.PENDING

        await self._dispatcher.wait_for(settled, timeout_seconds=timeout_seconds)
        return state is DeliveryState.DELIVERED
