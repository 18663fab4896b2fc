"""Leaders over the store of maintenance: terms, takeovers, and the fence that stops a leader of the past."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from datetime import timedelta

import pytest

from services.common.errors import Conflict, StoreUnavailable
from services.common.ids import Uuid7Ids
from services.common.maintenance import Change, MaintenanceRunner
from services.common.maintenance.election import Leader
from services.common.maintenance.fence import fenced_transaction, writing_under
from services.common.maintenance.postgres import PostgresMaintenanceStore
from services.common.maintenance.store import Claim
from services.common.owners import Owner
from services.common.postgres.pool import create_pool
from services.common.postgres.server import EmbeddedPostgres
from services.common.postgres.types import Pool
from tests.contract.test_maintenance_postgres import ADA, BEN, RUN
from tests.support.clock import FakeClock
from tests.support.maintenance import MAINTENANCE, Shelves, shelves
from tests.support.postgres import fresh_postgres

LEASE = timedelta(seconds=60)


@pytest.fixture
async def pool(postgres_server: EmbeddedPostgres) -> AsyncIterator[Pool]:
    async with fresh_postgres(postgres_server, migrations=[MAINTENANCE]) as urls:
        opened = await create_pool(urls.app)
        yield opened
        await opened.close()


@pytest.fixture
def store(pool: Pool) -> PostgresMaintenanceStore:
    return PostgresMaintenanceStore(pool)


@dataclass
class Ballot:
    """An election whose outcome the test says."""

    outcomes: list[bool | Exception] = field(default_factory=list)  # the next ones; afterwards as the last
    valid_seconds: float = 10.0
    released: int = 0

    async def lead(self) -> bool:
        outcome = self.outcomes.pop(0) if len(self.outcomes) > 1 else self.outcomes[0]
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    async def release(self) -> None:
        self.released += 1


@dataclass
class Time:
    """A clock that the test moves."""

    now: float = 100.0

    def __call__(self) -> float:
        return self.now


async def claimed(store: PostgresMaintenanceStore, term: int, *, holder: str) -> Claim | None:
    now = FakeClock().now()
    return await store.claim("test.weed", None, holder=holder, run_id=RUN, now=now, lease=LEASE, term=term)


async def test_spec_6_9_each_term_has_a_number_above_all_before_it(store: PostgresMaintenanceStore) -> None:
    ballot, time = Ballot([True]), Time()
    leader, other = Leader(ballot, store.next_term, monotonic=time), Leader(Ballot([True]), store.next_term)
    terms: list[int | None] = []
    for outcomes in ([True], [True], [False], [True]):
        ballot.outcomes = [*outcomes]
        await leader.step()
        terms.append(leader.term)
        if outcomes == [False]:
            await other.step()
    first, again, none, last = terms
    assert first is not None
    assert last is not None
    assert other.term is not None
    assert (again, none) == (first, None)
    assert first < other.term < last


async def test_spec_6_9_a_leader_that_hears_nothing_stops_before_another_may_begin(
    store: PostgresMaintenanceStore,
) -> None:
    ballot, time = Ballot([True]), Time()
    leader = Leader(ballot, store.next_term, monotonic=time)
    await leader.step()
    term = leader.term
    ballot.outcomes = [StoreUnavailable("kubernetes")]
    seen: list[int | None] = []
    for seconds in (9, 1):
        time.now += seconds
        await leader.step()
        seen.append(leader.term)
    assert seen == [term, None], "an outage of the election is no loss until the time is over"
    ballot.outcomes = [True]
    await leader.step()
    assert leader.term not in {None, term}, "somebody else may have led meanwhile"


async def test_a_number_drawn_while_the_election_was_lost_is_not_used(store: PostgresMaintenanceStore) -> None:
    leader = Leader(Ballot([True, False]), store.next_term)
    await leader.step()
    assert leader.term is None


async def test_spec_6_9_jobs_over_a_store_run_on_the_leader_alone(store: PostgresMaintenanceStore, pool: Pool) -> None:
    del pool
    clock = FakeClock()
    ballot = Ballot([False])
    leader = Leader(ballot, store.next_term)
    runner = MaintenanceRunner(store, clock=clock, ids=Uuid7Ids(clock), leader=leader)
    await leader.step()
    job = shelves()
    assert not (await runner.run(job)).is_claimed
    assert job.looked_at == []
    assert (await runner.run(job, owner=BEN)).is_claimed, "what is asked for one user runs where it is asked"
    ballot.outcomes = [True]
    await leader.step()
    assert (await runner.run(job)).is_claimed


async def test_spec_6_9_a_new_leader_takes_a_job_over_at_once_and_at_its_cursor(
    store: PostgresMaintenanceStore,
) -> None:
    old = await claimed(store, 1, holder="old")
    assert old is not None
    await store.renew(old, cursor=ADA.key, now=FakeClock().now(), lease=LEASE)
    assert await claimed(store, 1, holder="other") is None, "within a term the lease counts"
    new = await claimed(store, 2, holder="new")
    assert new is not None
    assert (new.run_id, new.cursor) == (old.run_id, ADA.key)


async def test_spec_6_9_a_stale_leader_never_writes(store: PostgresMaintenanceStore, pool: Pool) -> None:
    old = await claimed(store, 1, holder="old")
    assert old is not None
    with writing_under(old):
        async with fenced_transaction(pool) as connection:
            await connection.execute("CREATE TEMPORARY TABLE written (text text)")
    assert await claimed(store, 2, holder="new") is not None
    with writing_under(old), pytest.raises(Conflict):
        async with fenced_transaction(pool) as connection:
            await connection.execute("INSERT INTO written VALUES ('late')")
    with pytest.raises(Conflict):
        await store.renew(old, cursor="z", now=FakeClock().now(), lease=LEASE)
    with pytest.raises(Conflict):
        await store.log_planned(old, ADA, [Change("retire", "a1", 1)], FakeClock().now())
    await store.release(old, is_finished=True, now=FakeClock().now())
    assert await claimed(store, 1, holder="old") is None
    assert await claimed(store, 2, holder="second") is None, "the stale leader's release changed nothing"
    async with fenced_transaction(pool) as connection:  # outside of a job nothing is checked
        assert await connection.fetchval("SELECT 1") == 1


async def test_spec_6_9_a_leader_that_is_replaced_during_a_run_changes_nothing_more(
    store: PostgresMaintenanceStore, pool: Pool
) -> None:
    clock = FakeClock()
    leader = Leader(Ballot([True]), store.next_term)
    await leader.step()

    class Interrupted(Shelves):
        async def apply(self, owner: Owner | None, changes: object) -> list[Change]:
            del changes
            assert leader.term is not None
            assert await claimed(store, leader.term + 1, holder="new") is not None
            async with fenced_transaction(pool):
                self.retired[owner] = {"everything"}  # type: ignore[index]
            return []

    job = Interrupted(shelves().memories)
    job.name = "test.weed"
    with pytest.raises(Conflict):
        await MaintenanceRunner(store, clock=clock, ids=Uuid7Ids(clock), leader=leader).run(job)
    assert job.retired == {}


async def test_a_leader_that_stops_lets_another_one_begin(store: PostgresMaintenanceStore) -> None:
    ballot = Ballot([True])
    leader = Leader(ballot, store.next_term, retry_seconds=0.0)
    task = asyncio.create_task(leader.run())
    assert await leader.settled_term() is not None
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    assert (ballot.released, leader.term) == (1, None)
