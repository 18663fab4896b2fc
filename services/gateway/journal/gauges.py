"""Metrics of the outbox: what waits for each tier, for how long, and what was given up."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from services.common.clock import Clock
from services.common.errors import MnemeError
from services.common.telemetry.instruments import Gauges, observe
from services.gateway.journal.model import TierBacklog
from services.gateway.journal.store import DeliveryQueue


class OutboxGauges:
    """Counts of all tenants, as last read. Every gateway that shares a database reports the same."""

    def __init__(self, queue: DeliveryQueue, clock: Clock) -> None:
        """Use the process's meter, which must be configured by now."""
        self._queue = queue
        self._clock = clock
        self._backlog: Sequence[TierBacklog] = ()
        observe("mneme.outbox.depth", "Deliveries that wait for a tier.", "tier", self._by_tier(_pending))
        observe("mneme.outbox.dead_letters", "Deliveries that were given up.", "tier", self._by_tier(_dead))
        observe("mneme.outbox.age", "Age of the oldest that waits.", "tier", self._by_tier(self._age), unit="s")

    async def read(self) -> None:
        """Count anew.

        Raises:
            MnemeError: The journal cannot be read; the metrics are absent until it can.
        """
        try:
            self._backlog = await self._queue.backlog_of_all()
        except MnemeError:
            self._backlog = ()
            raise

    def _by_tier(self, value: Callable[[TierBacklog], float]) -> Callable[[], Gauges]:
        return lambda: {item.tier.name.lower(): value(item) for item in self._backlog}

    def _age(self, item: TierBacklog) -> float:
        if item.oldest_create_time is None:
            return 0.0
        return max(0.0, (self._clock.now() - item.oldest_create_time).total_seconds())


def _pending(item: TierBacklog) -> float:
    return item.pending_count


def _dead(item: TierBacklog) -> float:
    return item.dead_count
