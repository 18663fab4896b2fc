"""What every driver of the maintenance store must do."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest

from services.common.errors import Conflict, FailedPrecondition, InvalidArgument, NotFound
from services.common.idempotency.model import IdempotencyKey
from services.common.ids import Uuid7Ids
from services.common.maintenance import Cap, Change, MaintenanceRunner
from services.common.maintenance.runner import FAILURES_MAX
from services.common.maintenance.store import Claim, JobState, MaintenanceStore
from services.common.maintenance.tier import TierJob, TierMaintenance
from services.common.owners import Owner, TenantId, UserId
from tests.support.clock import FakeClock
from tests.support.maintenance import Shelves, shelves

ADA = Owner(TenantId("acme"), UserId("ada"))
BEN = Owner(TenantId("acme"), UserId("ben"))
LEASE = timedelta(seconds=60)
RUNS = [f"0190a1b2-0000-7000-8000-00000000000{n}" for n in range(4)]


def key(request_id: str, digest: str = "d") -> IdempotencyKey:
    return IdempotencyKey("ada-key", request_id, digest)


def tier_of(store: MaintenanceStore, job: Shelves, clock: FakeClock, **fields: Any) -> TierMaintenance:
    runner = MaintenanceRunner(store, clock=clock, ids=Uuid7Ids(clock))
    return TierMaintenance(runner, store, [TierJob(job, "Weeds.", 3_600.0, **fields)], clock, retention_seconds=60.0)


class MaintenanceStoreContract:
    """Subclass it with a fixture `store` that returns a fresh, empty store."""

    @pytest.fixture
    def clock(self) -> FakeClock:
        return FakeClock()

    async def claim(self, store: MaintenanceStore, clock: FakeClock, holder: str, **fields: Any) -> Claim | None:
        fields = {"job": "test.weed", "owner": None, "run_id": RUNS[0], "now": clock.now(), "lease": LEASE, **fields}
        return await store.claim(holder=holder, **fields)

    async def test_spec_6_9_one_holder_has_a_job_until_its_lease_ends(
        self, store: MaintenanceStore, clock: FakeClock
    ) -> None:
        first = await self.claim(store, clock, "first")
        assert first is not None
        assert await self.claim(store, clock, "second", run_id=RUNS[1]) is None
        assert await self.claim(store, clock, "second", owner=ADA, run_id=RUNS[1]) is not None
        await store.renew(first, cursor="c", now=clock.now(), lease=LEASE)
        clock.advance(seconds=60)
        second = await self.claim(store, clock, "second", run_id=RUNS[1])
        assert second is not None
        assert (second.run_id, second.cursor) == (RUNS[0], "c")
        with pytest.raises(Conflict):
            await store.renew(first, cursor="d", now=clock.now(), lease=LEASE)
        with pytest.raises(Conflict):
            await store.log_planned(first, ADA, [Change("retire", "a1")], clock.now())
        await store.release(second, is_finished=True, now=clock.now())
        third = await self.claim(store, clock, "third", run_id=RUNS[2])
        assert third is not None
        assert (third.run_id, third.cursor) == (RUNS[2], "")

    async def test_spec_6_9_a_claim_of_an_earlier_term_is_void(self, store: MaintenanceStore, clock: FakeClock) -> None:
        terms = [await store.next_term(), await store.next_term()]
        assert terms[0] < terms[1]
        assert await self.claim(store, clock, "old", term=terms[0]) is not None
        assert await self.claim(store, clock, "new", term=terms[1]) is not None
        assert await self.claim(store, clock, "old", term=terms[0]) is None

    async def test_the_log_is_read_by_run_and_owner(self, store: MaintenanceStore, clock: FakeClock) -> None:
        claim = await self.claim(store, clock, "first")
        assert claim is not None
        change = Change("retire", "a1", 1, {"weight": 0.25})
        of_ada = await store.log_planned(claim, ADA, [change, Change("retire", "a2", 1)], clock.now())
        of_ben = await store.log_planned(claim, BEN, [change], clock.now())
        nothing = await store.log_planned(claim, ADA, [change], clock.now())
        assert await store.runs(ADA, jobs=["test.weed"], before_run_id="", limit=9) == []
        await store.log_applied(ADA, of_ada, [change])
        await store.log_applied(BEN, of_ben, [change])
        await store.log_applied(ADA, nothing, [])
        entries = await store.entries(RUNS[0])
        assert [(entry.owner, entry.changes, entry.is_applied) for entry in entries] == [
            (ADA, (change,), True),
            (BEN, (change,), True),
        ]
        [run] = await store.runs(ADA, jobs=["test.weed"], before_run_id="", limit=9)
        assert (run.run_id, run.applied, run.retired, run.is_undone, run.time) == (RUNS[0], 1, 1, False, clock.now())
        assert await store.runs(ADA, jobs=["test.weed"], before_run_id=RUNS[0], limit=9) == []
        assert await store.runs(ADA, jobs=["other"], before_run_id="", limit=9) == []
        await store.log_undone(ADA, of_ada)
        assert [entry.is_undone for entry in await store.entries(RUNS[0], owner=ADA)] == [True]
        assert [run.is_undone for run in await store.runs(BEN, jobs=["test.weed"], before_run_id="", limit=9)] == [
            False
        ]
        assert await store.remove_owner(ADA) == 1
        assert [entry.owner for entry in await store.entries(RUNS[0])] == [BEN]

    async def test_spec_6_9_a_job_that_fails_three_times_in_a_row_stops_until_it_is_resumed(
        self, store: MaintenanceStore, clock: FakeClock
    ) -> None:
        job = shelves(fails=True)
        tier = tier_of(store, job, clock)
        [each] = [report.job for report in await tier.jobs()]
        for _ in range(FAILURES_MAX):
            with pytest.raises(ZeroDivisionError):
                await tier.run_when_due(each, 3_600.0)
        job.fails = False
        assert await tier.run_when_due(each, 3_600.0) == 60.0  # it is looked at again soon
        assert job.retired == {}
        with pytest.raises(FailedPrecondition, match=r"test\.weed"):
            await tier.check()
        [report] = await tier.jobs()
        assert (report.is_stopped, report.state) == (True, JobState(FAILURES_MAX, None))
        await tier.resume(ADA.tenant_id, key("r"), "test.weed")
        await tier.check()
        await tier.run_when_due(each, 3_600.0)
        assert set(job.retired) == {ADA, BEN}
        assert [report.state for report in await tier.jobs()] == [JobState(0, clock.now())]

    async def test_spec_6_9_restarts_and_replicas_add_no_runs(self, store: MaintenanceStore, clock: FakeClock) -> None:
        job = shelves()
        tiers = [tier_of(store, job, clock) for _ in range(2)]
        [each] = [report.job for report in await tiers[0].jobs()]
        assert await tiers[0].run_when_due(each, 3_600.0) == 3_600.0
        looked_at = len(job.looked_at)
        clock.advance(seconds=600)
        assert await tiers[1].run_when_due(each, 3_600.0) == 3_000.0
        assert len(job.looked_at) == looked_at
        clock.advance(seconds=3_000)
        await tiers[1].run_when_due(each, 3_600.0)
        assert len(job.looked_at) > looked_at

    async def test_spec_6_9_a_run_for_one_user_is_asked_for_once_shown_and_taken_back(
        self, store: MaintenanceStore, clock: FakeClock
    ) -> None:
        job = shelves()
        tier = tier_of(store, job, clock)
        planned, changes = await tier.look(ADA, "test.weed", retired_max=1)
        assert (planned.retired, [change.target for change in changes]) == (1, ["a1"])
        first = await tier.run(ADA, key("r1"), "test.weed", retired_max=1)
        again = await tier.run(ADA, key("r1"), "test.weed", retired_max=1)
        assert (first, job.retired) == (again, {ADA: {"a1"}})
        with pytest.raises(InvalidArgument):
            await tier.run(ADA, key("r1", "other"), "test.weed")
        [run] = await tier.runs(ADA, job="", before_run_id="", limit=9)
        details = await tier.get_run(ADA, run.run_id)
        assert (run.run_id, [change.target for change in details.changes]) == (first.run_id, ["a1"])
        with pytest.raises(NotFound):
            await tier.undo(BEN, key("r2"), run.run_id)
        assert await tier.undo(ADA, key("r3"), run.run_id) == 1
        assert await tier.undo(ADA, key("r3"), run.run_id) == 1  # the first response
        assert job.retired == {ADA: set()}
        assert (await tier.get_run(ADA, run.run_id)).run.is_undone

    async def test_unknown_jobs_and_jobs_of_whole_stores_are_refused(
        self, store: MaintenanceStore, clock: FakeClock
    ) -> None:
        tier = tier_of(store, shelves(), clock, for_user=False)
        with pytest.raises(NotFound):
            await tier.look(ADA, "test.other")
        with pytest.raises(NotFound):
            await tier.resume(ADA.tenant_id, key("r"), "test.other")
        with pytest.raises(FailedPrecondition):
            await tier.run(ADA, key("r"), "test.weed")

    async def test_spec_6_9_a_run_ends_when_its_time_is_over_and_the_next_goes_on_there(
        self, store: MaintenanceStore, clock: FakeClock
    ) -> None:
        job = shelves()

        class Slow(FakeClock):
            """Each look at it takes a second."""

            def now(self) -> datetime:
                return clock.advance(seconds=1)

        runner = MaintenanceRunner(store, clock=Slow(), ids=Uuid7Ids(clock), seconds_max=1.0)
        first = await runner.run(job)
        assert (first.is_cut, first.steps) == (True, 1)
        assert (await store.job_states([job.name]))[job.name].complete_time is None
        second = await runner.run(job)
        assert (second.run_id, second.steps, job.looked_at) == (first.run_id, 1, [ADA, BEN])
        assert job.retired == {ADA: {"a1", "a3"}, BEN: {"b1"}}

    async def test_spec_6_9_the_record_of_a_request_names_its_tier(
        self, store: MaintenanceStore, clock: FakeClock
    ) -> None:
        job = shelves()
        await tier_of(store, job, clock).run(ADA, key("r1"), job.name)
        record = await store.with_requests(ADA.tenant_id, lambda records: records.find(key("r1")))
        assert record is not None
        assert record.resource_id == job.name.partition(".")[0]

    async def test_spec_6_9_a_job_whose_time_was_over_goes_on_soon(
        self, store: MaintenanceStore, clock: FakeClock
    ) -> None:
        job = shelves()
        runner = MaintenanceRunner(store, clock=clock, ids=Uuid7Ids(clock), seconds_max=0.0)
        each = TierJob(job, "Weeds.", 3_600.0)
        tier = TierMaintenance(runner, store, [each], clock, retention_seconds=60.0)
        for owners in ([ADA], [ADA, BEN]):
            assert await tier.run_when_due(each, 3_600.0) == 60.0
            assert job.looked_at == owners
        assert await tier.run_when_due(each, 3_600.0) == 3_600.0

    async def test_spec_6_9_the_log_is_stored_for_a_while_and_can_be_undone_until_then(
        self, store: MaintenanceStore, clock: FakeClock
    ) -> None:
        job = shelves()
        runner = MaintenanceRunner(store, clock=clock, ids=Uuid7Ids(clock))
        each = TierJob(job, "Weeds.", 3_600.0)
        tier = TierMaintenance(runner, store, [each], clock, retention_seconds=60.0, log_days=90.0)
        old = await runner.run(job, owner=ADA)
        clock.advance(days=90)
        new = await runner.run(job, owner=BEN)
        await tier.purge_log()
        assert [len(await store.entries(run.run_id)) for run in (old, new)] == [1, 1]
        clock.advance(seconds=1)
        await tier.purge_log()
        assert [len(await store.entries(run.run_id)) for run in (old, new)] == [0, 1]
        assert await runner.undo(job, old.run_id) == 0
        assert await runner.undo(job, new.run_id) == 1
        now = clock.advance(days=1)
        assert await store.purge_log(before=now, undone_before=now, limit=0) == 0

    async def test_spec_6_9_the_grounds_of_what_was_taken_back_are_listed_for_its_owner_and_job(
        self, store: MaintenanceStore, clock: FakeClock
    ) -> None:
        claim = await self.claim(store, clock, "first")
        assert claim is not None
        since = clock.now()
        changes = [
            Change("retire", "a1", 1, {}, ("a", "b")),
            Change("retire", "a2", 1),
            Change("x", "a3", 0, {}, ("b",)),
        ]
        taken_back = await store.log_planned(claim, ADA, changes, since)
        stands = await store.log_planned(claim, ADA, [Change("retire", "a4", 1, {}, ("c",))], since)
        of_ben = await store.log_planned(claim, BEN, [Change("retire", "b1", 1, {}, ("d",))], since)
        assert await store.undone(ADA, "test.weed", since=since) == frozenset()
        await store.log_applied(ADA, taken_back, changes)
        await store.log_undone(ADA, taken_back)
        await store.log_undone(BEN, of_ben)
        assert await store.undone(ADA, "test.weed", since=since) == {"a", "b"}
        assert await store.undone(BEN, "test.weed", since=since) == {"d"}
        assert await store.undone(ADA, "test.other", since=since) == frozenset()
        assert await store.undone(ADA, "test.weed", since=since + timedelta(seconds=1)) == frozenset()
        [entry, _] = await store.entries(claim.run_id, owner=ADA)
        assert (entry.entry_id, list(entry.changes)) == (taken_back, changes)
        now = clock.advance(days=100)
        assert await store.purge_log(before=now, undone_before=since, limit=9) == 1
        assert [each.entry_id for each in await store.entries(claim.run_id)] == [taken_back, of_ben]
        assert stands not in {taken_back, of_ben}
        assert await store.remove_owner(ADA) == 1
        assert await store.undone(ADA, "test.weed", since=since) == frozenset()
        assert await store.purge_log(before=now, undone_before=now, limit=9) == 1

    async def test_spec_6_9_what_was_taken_back_is_planned_no_more_until_its_grounds_change(
        self, store: MaintenanceStore, clock: FakeClock
    ) -> None:
        job = shelves(cap=Cap(share=1.0), heeds=True)
        tier = tier_of(store, job, clock)
        first = await tier.run(ADA, key("r1"), job.name)
        assert job.retired == {ADA: {"a1", "a2", "a3"}}
        await tier.undo(ADA, key("r2"), first.run_id)
        for replica in (tier, tier_of(store, job, clock)):
            assert (await replica.look(ADA, job.name))[1] == []
        job.memories[ADA]["a2"] = 0.06
        again = await tier_of(store, job, clock).run(ADA, key("r3"), job.name)
        assert (again.planned, job.retired) == (1, {ADA: {"a2"}})
        await tier.run(BEN, key("r4"), job.name)
        assert job.retired[BEN] == {"b1"}
        clock.advance(days=366)
        await tier.run(ADA, key("r5"), job.name)
        assert job.retired[ADA] == {"a1", "a2", "a3"}
