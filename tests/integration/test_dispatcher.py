"""The dispatcher on a real journal, with sinks that fail on command."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from datetime import timedelta
from pathlib import Path

import pytest

from services.common.errors import FailedPrecondition, MnemeError, StoreUnavailable
from services.common.ids import Uuid7Ids
from services.common.postgres.pool import create_pool
from services.common.postgres.server import EmbeddedPostgres
from services.gateway.journal.dispatcher import Dispatcher, DispatcherSettings, TierWorker
from services.gateway.journal.model import (
    Delivery,
    DeliveryFailure,
    DeliveryOutcome,
    Interaction,
    Tier,
)
from services.gateway.journal.stores.postgres import MIGRATIONS, SCHEMA, PostgresJournal
from tests.contract.journal import OTHER, append, command
from tests.support.clock import FakeClock
from tests.support.postgres import fresh_postgres


class Sink:
    """Takes deliveries and remembers them; fails as told."""

    def __init__(self) -> None:
        self.taken: list[str] = []
        self.calls: list[tuple[str, int]] = []
        self.outage: MnemeError | None = None
        self.poison: set[str] = set()  # a call that holds one fails as a whole
        self.refused: set[str] = set()  # these alone are refused

    async def deliver(self, tenant_id: str, deliveries: Sequence[Delivery]) -> DeliveryOutcome:
        texts = [d.subject.turn.content for d in deliveries if isinstance(d.subject, Interaction)]
        self.calls.append((tenant_id, len(texts)))
        if self.outage is not None:
            raise self.outage
        if self.poison & set(texts):
            raise FailedPrecondition("cannot digest this")
        good = [d for d, text in zip(deliveries, texts, strict=True) if text not in self.refused]
        bad = [d for d, text in zip(deliveries, texts, strict=True) if text in self.refused]
        self.taken += [text for text in texts if text not in self.refused]
        return DeliveryOutcome(tuple(good), tuple(DeliveryFailure(d, "INVALID_FIELD", permanent=True) for d in bad))


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
async def journal(postgres_server: EmbeddedPostgres, clock: FakeClock) -> AsyncIterator[PostgresJournal]:
    async with fresh_postgres(postgres_server, migrations=[(SCHEMA, Path(MIGRATIONS))]) as urls:
        pool = await create_pool(urls.app)
        yield PostgresJournal(pool, clock=clock, ids=Uuid7Ids(clock))
        await pool.close()


def worker(journal: PostgresJournal, sink: Sink, *, batch_max: int = 8) -> TierWorker:
    settings = DispatcherSettings(batch_max=batch_max, outage_delay_first=timedelta(milliseconds=1))
    return TierWorker(Tier.EPISODIC, queue=journal, sink=sink, settings=settings, on_delivered=lambda: None)


async def drain(of: TierWorker) -> None:
    while await of.deliver_due():
        pass


async def test_deliveries_go_out_in_order_and_by_tenant(journal: PostgresJournal, clock: FakeClock) -> None:
    sink = Sink()
    for text in "abc":
        await append(journal, command(text))
        clock.advance(seconds=1)
    await append(journal, command("d"), OTHER)
    await drain(worker(journal, sink))
    assert sink.taken == list("abcd")
    assert sink.calls == [("acme", 3), ("other", 1)]


async def test_an_outage_counts_against_nobody(journal: PostgresJournal) -> None:
    sink = Sink()
    sink.outage = StoreUnavailable("episodic")
    await append(journal, command("a"))
    of = worker(journal, sink)
    for _ in range(20):
        with pytest.raises(StoreUnavailable):
            await of.deliver_due()
    sink.outage = None
    await drain(of)
    assert sink.taken == ["a"]
    assert (await journal.dead_letters("acme", tier=None, limit=10, after=None)).items == ()


async def test_a_poisoned_delivery_is_isolated_from_its_batch(journal: PostgresJournal, clock: FakeClock) -> None:
    sink = Sink()
    sink.poison = {"bad"}
    for text in ["a", "b", "bad", "c", "d"]:
        await append(journal, command(text))
        clock.advance(seconds=1)
    of = worker(journal, sink)
    await drain(of)
    assert sorted(sink.taken) == ["a", "b", "c", "d"]
    for _ in range(20):
        clock.advance(minutes=10)
        await drain(of)
    (letter,) = (await journal.dead_letters("acme", tier=None, limit=10, after=None)).items
    assert letter.last_reason == "PRECONDITION_FAILED"


async def test_spec_6_1_a_refused_item_becomes_a_dead_letter_and_its_batch_is_delivered(
    journal: PostgresJournal,
) -> None:
    sink = Sink()
    sink.refused = {"bad"}
    await append(journal, command("a", "bad", "b"))
    await drain(worker(journal, sink))
    assert sink.taken == ["a", "b"]
    assert len((await journal.dead_letters("acme", tier=None, limit=10, after=None)).items) == 1


async def test_spec_6_5_the_dispatcher_delivers_behind_the_write_and_wakes_who_waits(
    journal: PostgresJournal, clock: FakeClock
) -> None:
    sink = Sink()
    dispatcher = Dispatcher(queue=journal, sinks={Tier.EPISODIC: sink}, clock=clock)
    async with dispatcher.running():
        appended = await append(journal, command("a"))
        dispatcher.wake()

        async def reached() -> bool:
            return await journal.is_delivered("acme", appended.span, [Tier.EPISODIC])

        assert await dispatcher.wait_for(reached, timeout_seconds=10)
    assert sink.taken == ["a"]


async def test_waiting_for_what_is_not_delivered_ends_in_time(journal: PostgresJournal, clock: FakeClock) -> None:
    dispatcher = Dispatcher(queue=journal, sinks={}, clock=clock)

    async def never() -> bool:
        return False

    async with dispatcher.running():
        assert not await dispatcher.wait_for(never, timeout_seconds=0.05)


async def test_a_session_that_was_appended_directly_has_no_delivery_left(
    journal: PostgresJournal, clock: FakeClock
) -> None:
    dispatcher = Dispatcher(queue=journal, sinks={}, clock=clock)
    async with dispatcher.running():
        appended = await append(journal, command("a"))
        dispatcher.delivered_directly("acme", Tier.SESSION, appended.interaction_ids)
    assert await journal.is_delivered("acme", appended.span, [Tier.SESSION])


async def test_two_workers_share_the_work_and_deliver_nothing_twice(journal: PostgresJournal) -> None:
    sink = Sink()
    for number in range(60):
        await append(journal, command(str(number)))
    await asyncio.gather(*(drain(worker(journal, sink, batch_max=4)) for _ in range(4)))
    await drain(worker(journal, sink))
    assert sorted(map(int, sink.taken)) == list(range(60))
