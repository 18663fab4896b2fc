"""Access statistics are written behind the answer, and never pile up."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from services.common.auth import Role
from services.common.background import BackgroundWork
from services.common.errors import StoreUnavailable
from services.gateway.recall.stages.access import AccessRecorder
from tests.unit.gateway.tiers import ADA, NEVER, FakeTiers, uuid


async def test_used_episodes_are_told_to_the_tier_whoever_asked() -> None:
    tiers = FakeTiers()
    method = tiers.episodic.method("record_access")
    recorder = AccessRecorder(tiers.upstream(), queue_max=10)
    async with BackgroundWork[str]("test") as background:
        background.keep_running("access", recorder.run)
        recorder.record(replace(ADA, role=Role.READER), "ada", [uuid(1), uuid(2)])
        await method.until_asked(1)
    assert list(method.requests[0].episode_ids) == [uuid(1), uuid(2)]
    assert method.requests[0].user_id == "ada"
    (principal,) = method.principals
    assert (principal.tenant_id, principal.role) == (ADA.tenant_id, Role.WRITER)  # a reader may not write itself


async def test_a_recall_that_found_nothing_is_not_told() -> None:
    tiers = FakeTiers()
    recorder = AccessRecorder(tiers.upstream(), queue_max=10)
    async with BackgroundWork[str]("test") as background:
        background.keep_running("access", recorder.run)
        recorder.record(ADA, "ada", [])
        recorder.record(ADA, "ada", [uuid(1)])
        await tiers.episodic.method("record_access").until_asked(1)
    assert [list(r.episode_ids) for r in tiers.episodic.method("record_access").requests] == [[uuid(1)]]


async def test_beyond_the_bound_statistics_are_dropped() -> None:
    tiers = FakeTiers()
    method = tiers.episodic.method("record_access")
    recorder = AccessRecorder(tiers.upstream(), queue_max=2)
    for number in range(5):
        recorder.record(ADA, f"u{number}", [uuid(number)])
    async with BackgroundWork[str]("test") as background:
        background.keep_running("access", recorder.run)
        await method.until_asked(2)
        recorder.record(ADA, "later", [uuid(9)])
        await method.until_asked(3)
    assert [request.user_id for request in method.requests] == ["u0", "u1", "later"]


async def test_a_tier_that_is_down_costs_its_statistics_alone() -> None:
    tiers = FakeTiers()
    method = tiers.episodic.method("record_access")
    method.answer = StoreUnavailable("episodic")
    recorder = AccessRecorder(tiers.upstream(), queue_max=10)
    async with BackgroundWork[str]("test") as background:
        background.keep_running("access", recorder.run)
        recorder.record(ADA, "ada", [uuid(1)])
        recorder.record(ADA, "ada", [uuid(2)])
        await method.until_asked(2)


async def test_it_stops_while_a_call_hangs() -> None:
    tiers = FakeTiers()
    tiers.episodic.method("record_access").answer = NEVER
    recorder = AccessRecorder(tiers.upstream(), queue_max=10)
    async with asyncio.timeout(5.0), BackgroundWork[str]("test") as background:
        background.keep_running("access", recorder.run)
        recorder.record(ADA, "ada", [uuid(1)])
        await tiers.episodic.method("record_access").until_asked(1)
