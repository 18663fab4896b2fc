"""Hands the journal's deliveries to the tiers, in the background, until each has been taken.

One worker for each tier, so that a tier that is down holds up no other. A worker claims due deliveries of one tenant,
the next in turn, hands them to its sink, and settles the outcome. A claim lasts about `claim_max`, however long the
texts are: that is what another tenant waits. Deliveries of a tenant go out in the order of their writing; those of
several gateways can overtake each other, except that each user's go to the agentic tier in order. A delivery that
waits after a failure is overtaken. Sessions place turns by position, and facts resolve by the time of a turn; a note
whose question, or whose neighbour, comes later than itself is without it. Kinds of failures:

- The tier cannot be reached: nothing is counted against the deliveries; the worker waits and tries again.
- The tier failed on a whole batch: the batch is halved until one delivery stands alone, and only then does the failure
  count against it. So one poisoned delivery cannot take others down with it. Where time ran out, smaller batches are
  claimed from then on.
- The tier refused one item: that delivery waits with growing delays, and is given up after a number of attempts,
  or at once where trying again cannot help.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import timedelta
from typing import Protocol

import structlog

from services.common.background import BackgroundWork, every
from services.common.clock import Clock
from services.common.errors import Conflict, DeadlineExceeded, LimitExceeded, MnemeError, Reason, StoreUnavailable
from services.common.settings_types import Count, Duration, DurationOrNone
from services.common.telemetry import extract_context, state
from services.common.telemetry.instruments import counter
from services.gateway.journal.gauges import OutboxGauges
from services.gateway.journal.model import Delivery, DeliveryFailure, DeliveryOutcome, Interaction, Tier
from services.gateway.journal.store import DeliveryQueue

_log = structlog.get_logger(__name__)

PERMANENT_REASONS = frozenset(
    {
        Reason.INVALID_FIELD,
        Reason.UNKNOWN_ENUM_VALUE,
        Reason.TEXT_TOO_LONG,
        Reason.TOO_MANY_ITEMS,
        Reason.INVALID_VECTOR,
        Reason.NOT_FOUND,
        Reason.ALREADY_EXISTS,
    }
)
"""Refusals that trying again cannot change."""


class DeliverySink(Protocol):
    """One tier as a taker of deliveries."""

    async def deliver(self, tenant_id: str, deliveries: Sequence[Delivery]) -> DeliveryOutcome:
        """Gives one tenant's deliveries to the tier; must name each of them in the outcome.

        Raises:
            StoreUnavailable: The tier cannot be reached.
            MnemeError: The tier failed on the whole batch.
        """
        ...


@dataclass(frozen=True, slots=True)
class DispatcherSettings:
    """How eagerly deliveries are handed on."""

    batch_max: Count = 128  # deliveries in one call of a tier; at most 256, the tiers' own limit
    batch_min: Count = 8  # deliveries that are claimed at once even where they take longer than claim_max
    batch_chars_max: Count = 20_000  # characters of all texts in one call: about a second of embedding; one longer turn
    # goes alone
    linger: DurationOrNone = timedelta(milliseconds=5)  # wait after a wake-up, for a batch to fill
    poll_interval: Duration = timedelta(seconds=1)  # without a wake-up: delays that ended, other writers
    delivery_timeout: Duration = timedelta(seconds=30)  # for one call of a tier
    claim_max: Duration = timedelta(seconds=0.5)  # after it no further call begins in a claim, for which other tenants
    # wait, and the next claim is smaller
    outage_delay_first: DurationOrNone = timedelta(milliseconds=200)  # wait after a tier could not be reached
    outage_delay_max: Duration = timedelta(seconds=10)  # longest such wait; it doubles with each attempt
    request_retention: Duration = timedelta(days=7)  # how long a request id is recognised
    recall_retention: Duration = timedelta(days=7)  # how long feedback can name a recall by its id
    purge_interval: Duration = timedelta(minutes=10)  # how often older records of requests and recalls are removed
    purge_max: Count = 10_000  # rows removed by one statement
    measure_interval: Duration = timedelta(seconds=15)  # how often the outbox is counted, where metrics are on


class TierWorker:
    """Delivers to one tier."""

    def __init__(
        self,
        tier: Tier,
        *,
        queue: DeliveryQueue,
        sink: DeliverySink,
        settings: DispatcherSettings,
        on_delivered: Callable[[], None],
    ) -> None:
        """Calls `on_delivered` after each batch that removed something."""
        self._tier = tier
        self._queue = queue
        self._sink = sink
        self._settings = settings
        self._on_delivered = on_delivered
        name = {"tier": tier.name.lower()}
        results = [{**name, "result": result} for result in ("done", "failed")]
        self._deliveries = counter("mneme.outbox.deliveries", "Deliveries to the tiers, by result.", results)
        self._outage_count = counter("mneme.outbox.outages", "Deliveries that met a tier out of reach.", [name])
        self._wake = asyncio.Event()
        self._batch_limit = settings.batch_max
        self._outages = 0

    def wake(self) -> None:
        """Reports that there may be something to deliver."""
        self._wake.set()

    async def run(self) -> None:
        """Delivers until cancelled; a batch under way is due again."""
        while True:
            try:
                await self._run_until_outage()
            except StoreUnavailable as error:
                if self._outages == 0:  # once per outage, not once per attempt
                    _log.warning("tier_unreachable", tier=self._tier.name, store=error.metadata.get("store"))
                delay = self._outage_delay()
                self._outages += 1
                await asyncio.sleep(delay.total_seconds())
            except MnemeError as error:
                _log.warning("journal_failed", tier=self._tier.name, reason=error.reason)
                await asyncio.sleep(self._settings.outage_delay_first.total_seconds())

    async def _run_until_outage(self) -> None:
        while True:
            self._wake.clear()
            claimed = await self.deliver_due()
            self._outages = 0
            if claimed:
                continue
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(self._settings.poll_interval.total_seconds()):
                    await self._wake.wait()
                await asyncio.sleep(self._settings.linger.total_seconds())

    async def deliver_due(self) -> int:
        """Delivers one batch. Returns how many deliveries were claimed.

        Raises:
            StoreUnavailable: The tier or the journal cannot be reached; what was claimed is due again.
        """
        async with self._queue.claim(self._tier, limit=self._batch_limit) as batch:
            if not batch.deliveries:
                return 0
            outcome, outage = await self._deliver_all(batch.deliveries)
            await batch.settle(outcome)
        self._count(outcome, outage)
        for failure in outcome.failed:
            _log.warning("delivery_refused", tier=self._tier.name, reason=failure.reason)
        if outcome.done or outcome.failed:
            self._on_delivered()
        if outage is not None:
            raise outage
        return len(batch.deliveries)

    def _count(self, outcome: DeliveryOutcome, outage: StoreUnavailable | None) -> None:
        tier = self._tier.name.lower()
        for result, count in (("done", len(outcome.done)), ("failed", len(outcome.failed))):
            if count:
                self._deliveries.add(count, {"tier": tier, "result": result})
        if outage is not None:
            self._outage_count.add(1, {"tier": tier})

    async def _deliver_all(self, deliveries: Sequence[Delivery]) -> tuple[DeliveryOutcome, StoreUnavailable | None]:
        """Delivers in calls of bounded size, until all are done, the tier is gone, or the claim has lasted too long."""
        outcome = DeliveryOutcome()
        begun, longest = time.monotonic(), self._settings.claim_max.total_seconds()
        is_clean, handed_over = True, 0
        for group in _calls(deliveries, chars_max=self._settings.batch_chars_max):
            try:
                with _in_trace(self._tier, group):
                    part = await self._deliver_group(group[0].tenant_id, group)
            except StoreUnavailable as error:
                return outcome, error
            outcome += part
            handed_over += len(group)
            is_clean = is_clean and len(part.done) == len(group)
            if time.monotonic() - begun >= longest:
                break
        self._adapt(handed_over, seconds=time.monotonic() - begun, is_clean=is_clean)
        return outcome, None

    def _adapt(self, handed_over: int, *, seconds: float, is_clean: bool) -> None:
        """Chooses how much the next claim takes: as much as lasts `claim_max`, or less after an error."""
        longest = self._settings.claim_max.total_seconds()
        if seconds > longest:
            least = min(self._settings.batch_min, self._batch_limit)
            self._batch_limit = max(least, min(self._batch_limit, int(handed_over * longest / seconds)))
        elif is_clean:
            self._batch_limit = min(self._settings.batch_max, self._batch_limit * 2)

    async def _deliver_group(self, tenant_id: str, group: Sequence[Delivery]) -> DeliveryOutcome:
        """Makes one call, and narrows down which delivery makes it fail."""
        reason, detail = str(Reason.INTERNAL), ""
        try:
            async with asyncio.timeout(self._settings.delivery_timeout.total_seconds()):
                return await self._sink.deliver(tenant_id, group)
        except StoreUnavailable:
            raise
        except (Conflict, LimitExceeded):
            # Not a fault of the deliveries: they are due again after a pause, and no attempt is counted.
            await asyncio.sleep(self._settings.outage_delay_first.total_seconds())
            return DeliveryOutcome()
        except (DeadlineExceeded, TimeoutError):
            if len(group) > 1:
                # Smaller calls from the next claim on: this one has lasted long enough.
                self._batch_limit = max(1, min(self._batch_limit, len(group)) // 2)
                return DeliveryOutcome()
            reason = str(Reason.DEADLINE_EXCEEDED)
        except MnemeError as error:
            reason, detail = str(error.reason), error.message
        except Exception:
            # A fault of ours, such as a turn that cannot be put into a request, must not stop the others.
            _log.exception("delivery_fault", tier=self._tier.name)
        if len(group) > 1:
            half = len(group) // 2
            first = await self._deliver_group(tenant_id, group[:half])
            return first + await self._deliver_group(tenant_id, group[half:])
        return DeliveryOutcome(failed=(DeliveryFailure(group[0], reason, reason in PERMANENT_REASONS, detail),))

    def _outage_delay(self) -> timedelta:
        doubled: int = 2 ** min(self._outages, 16)
        return min(self._settings.outage_delay_first * doubled, self._settings.outage_delay_max)


class Dispatcher:
    """All workers of one gateway, and the wait for what they deliver."""

    def __init__(
        self,
        *,
        queue: DeliveryQueue,
        sinks: dict[Tier, DeliverySink],
        clock: Clock,
        settings: DispatcherSettings | None = None,
    ) -> None:
        """Delivers to the tiers that have a sink."""
        self._queue = queue
        self._clock = clock
        self._settings = settings or DispatcherSettings()
        self._progress = asyncio.Event()  # replaced each time it is set
        self._completed: dict[tuple[str, Tier], list[str]] = {}
        self._workers = {
            tier: TierWorker(tier, queue=queue, sink=sink, settings=self._settings, on_delivered=self._delivered)
            for tier, sink in sinks.items()
        }

    def start(self, background: BackgroundWork[str]) -> None:
        """Delivers until `background` is closed; `flush` afterwards."""
        for tier, worker in self._workers.items():
            background.keep_running(f"deliver-{tier.name.lower()}", worker.run)
        completion_seconds = self._settings.poll_interval.total_seconds() / 4
        background.keep_running("complete-deliveries", every(completion_seconds, self.flush))
        if state.is_measured():
            gauges = OutboxGauges(self._queue, self._clock)
            background.keep_running(
                "measure-outbox", every(self._settings.measure_interval.total_seconds(), gauges.read)
            )
        background.keep_running("purge", every(self._settings.purge_interval.total_seconds(), self._purge))

    def wake(self) -> None:
        """Reports that something was written to the journal."""
        for worker in self._workers.values():
            worker.wake()

    def delivered_directly(self, tenant_id: str, tier: Tier, subject_ids: Sequence[str]) -> None:
        """Reports that a tier has taken something without a worker, so that its delivery can be removed."""
        self._completed.setdefault((tenant_id, tier), []).extend(subject_ids)

    async def wait_for(self, reached: Callable[[], Awaitable[bool]], *, timeout_seconds: float) -> bool:
        """Waits until `reached` is true, evaluated after every delivery and at intervals: other gateways deliver too.

        Returns whether it was within the time.
        """
        pause = 0.01  # seconds, doubled up to 0.2: noticed soon, and cheap while a long import runs
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(timeout_seconds):
                while not await reached():
                    progress = self._progress
                    with contextlib.suppress(TimeoutError):
                        async with asyncio.timeout(pause):
                            await progress.wait()
                    pause = min(pause * 2, 0.2)
                return True
        return False

    async def flush(self) -> None:
        """Removes the deliveries of what was delivered directly.

        Raises:
            MnemeError: The journal cannot be reached; the tiers will see repeats.
        """
        completed, self._completed = self._completed, {}
        for (tenant_id, tier), subject_ids in completed.items():
            await self._queue.complete(tenant_id, tier, subject_ids)

    def _delivered(self) -> None:
        progress, self._progress = self._progress, asyncio.Event()
        progress.set()

    async def _purge(self) -> None:
        now, limit = self._clock.now(), self._settings.purge_max
        while await self._queue.purge_requests(before=now - self._settings.request_retention, limit=limit) == limit:
            pass
        while await self._queue.purge_recalls(before=now - self._settings.recall_retention, limit=limit) == limit:
            pass


def _in_trace(tier: Tier, group: Sequence[Delivery]) -> AbstractContextManager[None]:
    """A span in the trace of the first write, linked to those of the writes that share its call."""
    first, *others = dict.fromkeys(delivery.trace_context for delivery in group)
    return extract_context(first, f"deliver.{tier.name.lower()}", others=others)


def _calls(deliveries: Sequence[Delivery], *, chars_max: int) -> list[list[Delivery]]:
    """One tenant's deliveries in groups of a bounded length, in their order."""
    calls: list[list[Delivery]] = []
    total = 0
    for delivery in deliveries:
        subject = delivery.subject
        chars = subject.text_chars if isinstance(subject, Interaction) else 0
        if not calls or total + chars > chars_max:
            calls.append([])
            total = 0
        calls[-1].append(delivery)
        total += chars
    return calls
