"""Maintenance on PostgreSQL: claims, caps, dry runs, the log and undo, resumption after a crash."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from datetime import timedelta

import pytest
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import HistogramDataPoint, InMemoryMetricReader

from services.common.errors import Conflict, StoreUnavailable
from services.common.ids import Uuid7Ids
from services.common.maintenance import Cap, Change, MaintenanceRunner
from services.common.maintenance.postgres import PostgresMaintenanceStore
from services.common.owners import Owner, TenantId, UserId
from services.common.postgres.pool import PoolSettings, create_pool
from services.common.postgres.server import EmbeddedPostgres
from services.common.postgres.types import Pool
from services.common.telemetry import state
from tests.support.clock import FakeClock
from tests.support.maintenance import MAINTENANCE, Shelves, runner, shelves
from tests.support.postgres import fresh_postgres

ADA = Owner(TenantId("acme"), UserId("ada"))
BEN = Owner(TenantId("acme"), UserId("ben"))
LEASE = timedelta(seconds=60)
RUN = "0190a1b2-0000-7000-8000-000000000001"


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
async def pool(postgres_server: EmbeddedPostgres) -> AsyncIterator[Pool]:
    async with fresh_postgres(postgres_server, migrations=[MAINTENANCE]) as urls:
        opened = await create_pool(urls.app)
        yield opened
        await opened.close()


@pytest.fixture
def store(pool: Pool) -> PostgresMaintenanceStore:
    return PostgresMaintenanceStore(pool)


@pytest.fixture
def replica(pool: Pool, clock: FakeClock) -> MaintenanceRunner:
    return runner(pool, clock)


async def test_a_run_retires_the_first_of_the_plan_within_the_cap_of_each_owner(replica: MaintenanceRunner) -> None:
    job = shelves()
    report = await replica.run(job)
    assert job.retired == {ADA: {"a1", "a3"}, BEN: {"b1"}}  # half of each, the lightest first
    assert (report.steps, report.memories, report.planned, report.applied) == (2, 6, 4, 3)
    assert (report.retired, report.over_cap) == (3, 1)


def test_by_default_a_run_may_retire_one_in_twenty() -> None:
    assert [Cap().allowed(count) for count in (0, 10, 20, 100, 110)] == [1, 1, 1, 5, 5]


async def test_a_dry_run_changes_and_logs_nothing(replica: MaintenanceRunner, store: PostgresMaintenanceStore) -> None:
    job = shelves()
    report = await replica.run(job, dry_run=True)
    assert (report.dry_run, report.planned, report.retired, report.applied) == (True, 4, 3, 0)
    assert job.retired == {}
    assert await store.entries(report.run_id) == []
    assert (await replica.run(job)).retired == report.retired


async def test_a_run_for_one_owner_looks_at_no_other(replica: MaintenanceRunner) -> None:
    job = shelves()
    await replica.run(job, owner=BEN)
    assert job.looked_at == [BEN]


async def test_what_its_sources_no_longer_call_for_is_not_logged(
    replica: MaintenanceRunner, store: PostgresMaintenanceStore
) -> None:
    job = shelves(kept_meanwhile={"a1", "b1"})
    report = await replica.run(job)
    (entry,) = await store.entries(report.run_id)
    assert (entry.owner, [change.target for change in entry.changes], entry.is_applied) == (ADA, ["a3"], True)
    assert entry.changes[0].facts == {"weight": 0.01}


async def test_a_run_is_undone_from_its_log_once(replica: MaintenanceRunner) -> None:
    job = shelves()
    report = await replica.run(job)
    assert await replica.undo(job, report.run_id) == 3
    assert job.retired == {ADA: set(), BEN: set()}
    assert await replica.undo(job, report.run_id) == 0
    assert await replica.undo(replace(job, name="test.other"), report.run_id) == 0


async def test_a_run_that_failed_goes_on_with_the_step_that_failed(replica: MaintenanceRunner) -> None:
    job = shelves(breaks_at=BEN)
    with pytest.raises(StoreUnavailable):
        await replica.run(job)
    job.breaks_at, job.looked_at = None, []
    report = await replica.run(job)
    assert job.looked_at == [BEN]
    assert await replica.undo(job, report.run_id) == 3  # it is the same run
    await replica.run(job)
    assert job.looked_at == [BEN, ADA, BEN]  # the next one begins anew


async def test_spec_6_9_of_two_replicas_one_works(
    store: PostgresMaintenanceStore, pool: Pool, clock: FakeClock
) -> None:
    claim = await store.claim("test.weed", None, holder="other", run_id=RUN, now=clock.now(), lease=LEASE)
    assert claim is not None
    replica, job = runner(pool, clock), shelves()
    assert not (await replica.run(job)).is_claimed
    assert job.looked_at == []
    await store.release(claim, is_finished=True, now=clock.now())
    assert (await replica.run(job)).is_claimed


async def test_spec_6_9_a_replica_that_died_is_replaced_at_its_cursor(
    store: PostgresMaintenanceStore, pool: Pool, clock: FakeClock
) -> None:
    claim = await store.claim("test.weed", None, holder="dead", run_id=RUN, now=clock.now(), lease=LEASE)
    assert claim is not None
    await store.renew(claim, cursor=ADA.key, now=clock.now(), lease=LEASE)
    replica, job = runner(pool, clock), shelves()
    clock.advance(seconds=59)
    assert not (await replica.run(job)).is_claimed
    clock.advance(seconds=1)
    report = await replica.run(job)
    assert (report.run_id, job.looked_at) == (RUN, [BEN])
    with pytest.raises(Conflict):
        await store.renew(claim, cursor="z", now=clock.now(), lease=LEASE)  # it was not dead, only slow


async def test_changes_of_a_process_that_died_are_undone_as_far_as_they_were_made(
    store: PostgresMaintenanceStore, pool: Pool, clock: FakeClock
) -> None:
    claim = await store.claim("test.weed", None, holder="dead", run_id=RUN, now=clock.now(), lease=LEASE)
    assert claim is not None
    await store.log_planned(claim, ADA, [Change("retire", "a1", 1), Change("retire", "a2", 1)], clock.now())
    job = shelves(retired={ADA: {"a1"}})
    assert await runner(pool, clock).undo(job, RUN) == 1
    assert job.retired == {ADA: set()}


async def test_beyond_the_cap_of_a_store_nothing_is_changed(replica: MaintenanceRunner) -> None:
    job = shelves(cap=Cap(share=0.5, of_store=True))
    report = await replica.run(job)
    assert (report.over_cap, report.applied, job.retired) == (4, 0, {})
    job.cap = Cap(share=0.7, of_store=True)
    assert (await replica.run(job)).applied == 4


async def test_an_owner_s_entries_and_claims_are_removed(
    replica: MaintenanceRunner, store: PostgresMaintenanceStore
) -> None:
    job = shelves()
    report = await replica.run(job)
    await replica.run(job, owner=ADA)
    assert await store.remove_owner(ADA) >= 2
    assert [entry.owner for entry in await store.entries(report.run_id)] == [BEN]
    assert await store.remove_owner(ADA) == 0


async def test_runners_of_one_process_share_no_claim(pool: Pool, clock: FakeClock) -> None:
    first = MaintenanceRunner(PostgresMaintenanceStore(pool), clock=clock, ids=Uuid7Ids(clock))
    second = MaintenanceRunner(PostgresMaintenanceStore(pool), clock=clock, ids=Uuid7Ids(clock))
    job, seen = shelves(), []

    class Watching(Shelves):
        async def apply(self, owner: Owner | None, changes: Sequence[Change]) -> Sequence[Change]:
            seen.append((await second.run(job)).is_claimed)
            return await super().apply(owner, changes)

    assert (await first.run(Watching(job.memories, job.cap))).is_claimed
    assert seen == [False, False]


async def test_spec_8_1_how_runs_ended_and_what_they_retired_is_measured(pool: Pool, clock: FakeClock) -> None:
    reader = InMemoryMetricReader()
    state.switch_on(None, MeterProvider(metric_readers=[reader]))
    try:
        replica = runner(pool, clock)
    finally:
        state.switch_off()
    job = shelves(breaks_at=BEN)
    with pytest.raises(StoreUnavailable):
        await replica.run(job)
    job.breaks_at = None
    await replica.run(job, dry_run=True)
    await replica.run(job)  # goes on with BEN
    await replica.run(shelves(kept_meanwhile={"a1", "a3", "b1"}))
    data = reader.get_metrics_data()
    assert data is not None
    points: dict[tuple[str, str], float] = {
        (metric.name, str((point.attributes or {}).get("result", ""))): point.value  # type: ignore[union-attr]
        for resource in data.resource_metrics
        for scope in resource.scope_metrics
        for metric in scope.metrics
        for point in metric.data.data_points
    }
    results = {result: count for (name, result), count in points.items() if name == "mneme.maintenance.runs"}
    assert results == {"changed": 1, "wrote_nothing": 1, "failed": 1, "over_cap": 0, "nothing_to_do": 0}
    assert points["mneme.maintenance.retired", ""] == 3  # two before the failure, one after it
    assert points["mneme.maintenance.over_cap", ""] == 2
    assert points["mneme.maintenance.memories", ""] == 6
    assert points["mneme.maintenance.completed", ""] == clock.now().timestamp()


async def test_spec_8_1_the_wait_for_a_connection_is_measured(postgres_server: EmbeddedPostgres) -> None:
    reader = InMemoryMetricReader()
    state.switch_on(None, MeterProvider(metric_readers=[reader]))
    try:
        async with fresh_postgres(postgres_server, migrations=[MAINTENANCE]) as urls:
            opened = await create_pool(urls.app, PoolSettings(size_max=1, application_name="mneme-test"))
            async with opened.acquire():
                with pytest.raises(TimeoutError):
                    await opened.acquire(timeout=0.05)
            assert await opened.fetchval("SELECT 1") == 1
            await opened.close()
    finally:
        state.switch_off()
    data = reader.get_metrics_data()
    assert data is not None
    (metric,) = data.resource_metrics[0].scope_metrics[0].metrics
    (point,) = metric.data.data_points
    assert (metric.name, dict(point.attributes or {})) == ("mneme.postgres.acquire.duration", {"pool": "mneme-test"})
    assert isinstance(point, HistogramDataPoint)
    assert point.count == 3
    assert point.max >= 0.05
