"""Writes take turns by tenant, and stop where a tenant's backlog is too long."""

from __future__ import annotations

import asyncio

import pytest

from services.common.errors import LimitExceeded, StoreUnavailable
from services.gateway.journal.admission import AdmissionSettings, BacklogBound, TenantTurns


class Writes:
    """Writes that end when they are let go."""

    def __init__(self, turns: TenantTurns) -> None:
        self._turns = turns
        self.begun: list[str] = []
        self._ends: dict[str, asyncio.Event] = {}
        self.tasks: dict[str, asyncio.Task[None]] = {}

    async def start(self, tenant_id: str, name: str) -> None:
        end = self._ends[name] = asyncio.Event()

        async def write() -> None:
            async with self._turns.turn(tenant_id):
                self.begun.append(name)
                await end.wait()

        self.tasks[name] = asyncio.create_task(write())
        await asyncio.sleep(0)

    async def end(self, name: str) -> None:
        self._ends[name].set()
        await self.tasks[name]
        await asyncio.sleep(0)

    async def end_all(self) -> None:
        for end in self._ends.values():
            end.set()
        await asyncio.gather(*self.tasks.values(), return_exceptions=True)


async def test_spec_6_5_a_tenant_waits_for_one_write_however_many_another_has_waiting() -> None:
    writes = Writes(TenantTurns(AdmissionSettings(writes_max=2, writes_per_tenant_max=2, writes_beside_others_max=2)))
    for number in range(40):
        await writes.start("a", f"a{number}")
    assert writes.begun == ["a0", "a1"]
    await writes.start("b", "b0")
    await writes.end("a0")
    await writes.end("a1")
    assert writes.begun == ["a0", "a1", "a2", "b0"]
    await writes.end_all()
    assert len(writes.begun) == 41


async def test_spec_6_5_a_tenant_writes_one_at_a_time_while_another_one_writes_and_for_a_while_after() -> None:
    now = 0.0
    settings = AdmissionSettings(writes_max=4, writes_per_tenant_max=3, writes_beside_others_max=1, others_seconds=10.0)
    turns = TenantTurns(settings, monotonic=lambda: now)
    writes = Writes(turns)
    await writes.start("b", "b0")
    assert turns.has_others("a")
    assert not turns.has_others("b")
    await writes.end("b0")
    for number in range(3):
        await writes.start("a", f"a{number}")
    assert writes.begun == ["b0", "a0"]
    now = 11.0
    await writes.end("a0")
    assert writes.begun == ["b0", "a0", "a1", "a2"]
    for number in range(3, 9):
        await writes.start("a", f"a{number}")
    assert writes.begun[-1] == "a3"  # three at once again
    await writes.start("b", "b1")
    await writes.end("a1")
    await writes.end("a2")
    assert writes.begun[-1] == "b1"
    await writes.end("a3")
    assert writes.begun[-1] == "a4"
    await writes.end_all()


async def test_spec_6_5_one_tenant_leaves_a_permit_to_others() -> None:
    writes = Writes(TenantTurns(AdmissionSettings(writes_max=4, writes_per_tenant_max=3)))
    for number in range(5):
        await writes.start("a", f"a{number}")
    await writes.start("b", "b0")
    assert writes.begun == ["a0", "a1", "a2", "b0"]
    await writes.end_all()


async def test_a_tenants_writes_keep_their_order() -> None:
    writes = Writes(TenantTurns(AdmissionSettings(writes_max=1, writes_per_tenant_max=1)))
    for number in range(5):
        await writes.start("a", f"a{number}")
    await writes.end_all()
    assert writes.begun == [f"a{number}" for number in range(5)]


async def test_a_cancelled_write_gives_up_its_place_and_its_permit() -> None:
    writes = Writes(TenantTurns(AdmissionSettings(writes_max=1, writes_per_tenant_max=1)))
    for name in ("running", "waiting", "next"):
        await writes.start("a", name)
    writes.tasks["waiting"].cancel()
    await asyncio.sleep(0)
    await writes.end("running")
    assert writes.begun == ["running", "next"]
    # Cancelled in the moment in which it is handed the permit.
    await writes.start("b", "handed")
    writes._ends["next"].set()
    await asyncio.sleep(0)
    writes.tasks["handed"].cancel()
    await asyncio.gather(*writes.tasks.values(), return_exceptions=True)
    await writes.start("c", "last")
    assert writes.begun[-1] == "last"
    await writes.end_all()


async def test_spec_7_2_a_tenants_queue_is_bounded_and_others_are_not_refused() -> None:
    settings = AdmissionSettings(writes_max=1, writes_per_tenant_max=1, waiting_per_tenant_max=2)
    turns = TenantTurns(settings)
    writes = Writes(turns)
    for number in range(3):
        await writes.start("a", f"a{number}")
    with pytest.raises(LimitExceeded) as refused:
        async with turns.turn("a"):
            raise AssertionError("admitted")
    assert refused.value.retry_after_seconds == settings.retry_after_seconds  # clients repeat what says so
    await writes.start("b", "b0")
    await writes.end_all()
    assert "b0" in writes.begun


class Journal:
    """Counts what waits, as told."""

    def __init__(self, pending: int) -> None:
        self.pending = pending
        self.counted = 0
        self.fails = False

    async def count(self, _tenant_id: str, count_max: int) -> int:
        self.counted += 1
        if self.fails:
            raise StoreUnavailable("postgres")
        return min(self.pending, count_max)


def bound(journal: Journal, now: list[float]) -> BacklogBound:
    settings = AdmissionSettings(pending_max=100, pending_check_seconds=1.0, retry_after_seconds=7.0)
    return BacklogBound(journal.count, settings, deliveries_per_turn=5, monotonic=lambda: now[0])


async def test_spec_6_5_a_tenant_at_its_bound_is_refused_until_its_backlog_shrinks() -> None:
    journal, now = Journal(100), [0.0]
    backlog = bound(journal, now)
    with pytest.raises(LimitExceeded) as caught:
        await backlog.check("a")
    assert caught.value.retry_after_seconds == 7.0
    journal.pending = 99
    now[0] = 1.5
    await backlog.check("a")


async def test_what_is_written_between_two_counts_is_added() -> None:
    journal, now = Journal(0), [0.0]
    backlog = bound(journal, now)
    await backlog.check("a")
    backlog.written("a", 19)
    await backlog.check("a")
    backlog.written("a", 1)
    with pytest.raises(LimitExceeded):
        await backlog.check("a")
    await backlog.check("b")
    assert journal.counted == 2


async def test_a_write_does_not_wait_for_the_count_of_a_tenant_that_was_below_its_bound() -> None:
    journal, now = Journal(0), [0.0]
    backlog = bound(journal, now)
    await backlog.check("a")
    journal.pending = 100
    now[0] = 60.0
    await backlog.check("a")  # by what was known; counted again behind it
    assert journal.counted == 1
    await asyncio.sleep(0)
    with pytest.raises(LimitExceeded):
        await backlog.check("a")
    assert journal.counted == 2
    await backlog.aclose()


async def test_a_count_that_fails_behind_a_write_is_made_again_by_a_later_one() -> None:
    journal, now = Journal(0), [0.0]
    backlog = bound(journal, now)
    await backlog.check("a")
    journal.fails = True
    now[0] = 2.0
    await backlog.check("a")
    await asyncio.sleep(0)
    journal.fails, journal.pending = False, 100
    now[0] = 4.0
    await backlog.check("a")
    await asyncio.sleep(0)
    with pytest.raises(LimitExceeded):
        await backlog.check("a")
