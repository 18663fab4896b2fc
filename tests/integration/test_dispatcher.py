"""The dispatcher on a real journal, with sinks that fail on command."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from services.common.background import BackgroundWork
from services.common.errors import FailedPrecondition, InvalidArgument, MnemeError, StoreUnavailable
from services.common.ids import Uuid7Ids
from services.common.postgres.pool import create_pool
from services.common.postgres.server import EmbeddedPostgres
from services.common.turns import MessageRole, Turn
from services.gateway.journal.dispatcher import Dispatcher, DispatcherSettings, TierWorker
from services.gateway.journal.model import (
    Appended,
    Delivery,
    DeliveryFailure,
    DeliveryOutcome,
    DeliveryState,
    Interaction,
    RememberCommand,
    Tier,
)
from services.gateway.journal.stores.postgres import MIGRATIONS, SCHEMA, PostgresJournal
from tests.contract.journal import ACME, NOON, OTHER, append, command, turn
from tests.support.clock import FakeClock
from tests.support.postgres import fresh_postgres


class Sink:
    """Takes deliveries and remembers them; fails as told."""

    def __init__(self) -> None:
        self.taken: list[str] = []
        self.calls: list[tuple[str, int]] = []
        self.outage: MnemeError | None = None
        self.poison: set[str] = set()  # a call that holds one fails as a whole
        self.fault: Exception = FailedPrecondition("cannot digest this")
        self.refused: set[str] = set()  # these alone are refused

    async def deliver(self, tenant_id: str, deliveries: Sequence[Delivery]) -> DeliveryOutcome:
        texts = [d.subject.turn.content for d in deliveries if isinstance(d.subject, Interaction)]
        self.calls.append((tenant_id, len(texts)))
        if self.outage is not None:
            raise self.outage
        if self.poison & set(texts):
            raise self.fault
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
    assert sink.taken == list("abcd")  # in order within a tenant
    assert sink.calls == [("acme", 3), ("other", 1)]


async def test_spec_6_5_long_texts_of_a_tenant_hold_up_another_for_one_claim(journal: PostgresJournal) -> None:
    sink = Sink()
    await append(journal, command(*(str(n) * 400 for n in range(4))))
    settings = DispatcherSettings(batch_max=8, batch_chars_max=400, claim_max=timedelta(microseconds=1))
    of = TierWorker(Tier.EPISODIC, queue=journal, sink=sink, settings=settings, on_delivered=lambda: None)
    await append(journal, command("b"), OTHER)
    await of.deliver_due()
    assert sink.calls == [("acme", 1)]  # it has lasted long enough
    await of.deliver_due()
    assert sink.calls == [("acme", 1), ("other", 1)]
    await drain(of)
    assert [len(text) for text in sink.taken] == [400, 1, 400, 400, 400]


async def test_spec_6_5_what_was_delivered_is_settled_before_another_tenants_call_begins(
    journal: PostgresJournal,
) -> None:
    small = await append(journal, command("b"), OTHER)
    states: list[DeliveryState] = []

    class Watching(Sink):
        async def deliver(self, tenant_id: str, deliveries: Sequence[Delivery]) -> DeliveryOutcome:
            states.append(await journal.delivery_state("other", small.span, [Tier.EPISODIC]))
            return await super().deliver(tenant_id, deliveries)

    of = worker(journal, Watching())
    await of.deliver_due()
    await append(journal, command("a"))
    await drain(of)
    assert states == [DeliveryState.PENDING, DeliveryState.DELIVERED]


async def test_spec_6_5_claims_shrink_to_what_lasts_as_long_as_another_tenant_may_wait(
    journal: PostgresJournal,
) -> None:
    sink = Sink()
    for number in range(5):
        await append(journal, command(*(f"{number}-{n}" for n in range(16))))
    settings = DispatcherSettings(batch_max=16, batch_min=4, claim_max=timedelta(microseconds=1))
    of = TierWorker(Tier.EPISODIC, queue=journal, sink=sink, settings=settings, on_delivered=lambda: None)
    await drain(of)
    assert [count for _, count in sink.calls][:3] == [16, 4, 4]


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
    async with BackgroundWork[str]("test") as background:
        dispatcher.start(background)
        appended = await append(journal, command("a"))
        dispatcher.wake()

        async def reached() -> bool:
            return await journal.delivery_state("acme", appended.span, [Tier.EPISODIC]) is DeliveryState.DELIVERED

        assert await dispatcher.wait_for(reached, timeout_seconds=10)
    assert sink.taken == ["a"]


async def test_waiting_for_what_is_not_delivered_ends_in_time(journal: PostgresJournal, clock: FakeClock) -> None:
    dispatcher = Dispatcher(queue=journal, sinks={}, clock=clock)

    async def never() -> bool:
        return False

    async with BackgroundWork[str]("test") as background:
        dispatcher.start(background)
        assert not await dispatcher.wait_for(never, timeout_seconds=0.05)


async def test_a_session_that_was_appended_directly_has_no_delivery_left(
    journal: PostgresJournal, clock: FakeClock
) -> None:
    dispatcher = Dispatcher(queue=journal, sinks={}, clock=clock)
    async with BackgroundWork[str]("test") as background:
        dispatcher.start(background)
        appended = await append(journal, command("a"))
        dispatcher.delivered_directly("acme", Tier.SESSION, appended.interaction_ids)
    await dispatcher.flush()
    assert await journal.delivery_state("acme", appended.span, [Tier.SESSION]) is DeliveryState.DELIVERED


async def test_two_workers_share_the_work_and_deliver_nothing_twice(journal: PostgresJournal) -> None:
    sink = Sink()
    for number in range(60):
        await append(journal, command(str(number)))
    await asyncio.gather(*(drain(worker(journal, sink, batch_max=4)) for _ in range(4)))
    await drain(worker(journal, sink))
    assert sorted(map(int, sink.taken)) == list(range(60))


async def test_a_fault_of_ours_stops_nobody_else(journal: PostgresJournal, clock: FakeClock) -> None:
    sink = Sink()
    sink.poison = {"bad"}
    sink.fault = ValueError("year -1 is out of range")
    await append(journal, command("a", "bad", "b"))
    await append(journal, command("c"), OTHER)
    of = worker(journal, sink)
    for _ in range(20):
        await drain(of)
        clock.advance(minutes=10)
    assert sorted(sink.taken) == ["a", "b", "c"]
    (letter,) = (await journal.dead_letters("acme", tier=None, limit=10, after=None)).items
    assert letter.last_reason == "INTERNAL"


async def test_what_cannot_be_cured_is_not_tried_again(journal: PostgresJournal) -> None:
    sink = Sink()
    sink.poison = {"bad"}
    sink.fault = InvalidArgument("no good")
    await append(journal, command("a", "bad", "b"))
    await drain(worker(journal, sink))
    assert sorted(sink.taken) == ["a", "b"]
    (letter,) = (await journal.dead_letters("acme", tier=None, limit=10, after=None)).items
    assert (letter.attempts, letter.last_reason) == (1, "INVALID_FIELD")


async def test_poison_of_one_tenant_is_isolated_beside_the_work_of_others(journal: PostgresJournal) -> None:
    sink = Sink()
    sink.poison = {"bad"}
    await append(journal, command("bad", "good"))
    for number in range(12):
        await append(journal, command(f"x{number}"), replace(OTHER, tenant_id=f"other{number % 3}"))
    await drain(worker(journal, sink, batch_max=4))
    assert sorted(sink.taken) == sorted(["good", *(f"x{number}" for number in range(12))])


async def test_a_call_is_bounded_by_all_texts_of_its_turns(journal: PostgresJournal) -> None:
    sink = Sink()
    heavy = Turn(role=MessageRole.USER, content="hi", time=NOON, metadata={str(n): "x" * 1_000 for n in range(30)})
    await append(journal, RememberCommand("u1", "c1", (heavy,) * 6))
    await drain(worker(journal, sink))
    assert [count for _, count in sink.calls] == [1] * 6


async def test_batches_with_the_same_new_speakers_do_not_wait_for_each_other(journal: PostgresJournal) -> None:
    names = [f"speaker {n}" for n in range(60)]
    items = [RememberCommand("u1", f"c{n}", (turn("x", speaker=name),)) for n, name in enumerate(names)]
    others = [RememberCommand("u1", f"d{n}", (turn("x", speaker=name),)) for n, name in enumerate(reversed(names))]
    for outcomes in await asyncio.gather(journal.append(ACME, items), journal.append(ACME, others)):
        assert all(isinstance(outcome, Appended) for outcome in outcomes)
