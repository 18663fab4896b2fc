"""A year of a user's facts with daily jobs: what is important stays, noise fades, every change is logged."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta

import pytest

from services.common.ids import Uuid7Ids
from services.common.maintenance import MaintenanceRunner
from services.common.maintenance.postgres import PostgresMaintenanceStore
from services.common.postgres.server import EmbeddedPostgres
from services.common.postgres.types import Pool
from services.semantic.config import FactRetentionSettings
from services.semantic.facts.model import ACTIVE, FactDraft, FactStatus, Statement
from services.semantic.facts.store import FactFilter
from services.semantic.facts.stores.postgres import PostgresFactStore
from services.semantic.facts.stores.postgres_upkeep import PostgresFactUpkeep
from services.semantic.maintenance.retention import RetainFacts
from tests.contract.fact_drivers import semantic_pool
from tests.contract.fact_samples import ANN, DAY_ONE, enter, likes, lives_in, said
from tests.support.clock import FakeClock

CAP = 150
DAYS = 365
EVERY_STATUS = FactFilter(statuses=frozenset(FactStatus))
ALLERGY = replace(likes("nuts"), text="Ann is allergic to nuts", predicate="allergic_to", importance=0.95)
HABIT = replace(likes("swimming"), text="Ann swims", predicate="habit", importance=0.5)


def noise(number: int) -> FactDraft:
    """Something that is said once."""
    return replace(likes(f"thing {number}"), importance=0.4, confidence=0.6)


def day_of(day: int, random_numbers: random.Random) -> list[Statement]:
    """What Ann says in a day."""
    spoken = [said(noise(10 * day + number), day=day) for number in range(random_numbers.randrange(1, 5))]
    if day % 30 == 0:
        spoken.append(said(HABIT, day=day))
    if day in (1, 200):
        spoken.append(said(lives_in("Leeds" if day == 1 else "York"), day=day))
    if day == 2:
        spoken.append(said(ALLERGY, day=day))
    return spoken


async def run_until_done(
    runner: MaintenanceRunner, job: RetainFacts, log: PostgresMaintenanceStore, logged: set[str]
) -> None:
    """Runs the job as often as it finds something to do: a run retires one in twenty at most."""
    while True:
        report = await runner.run(job)
        entries = await log.entries(report.run_id)
        logged.update(change.target for entry in entries for change in entry.changes)
        if not report.over_cap:
            return


@pytest.fixture
async def pool(postgres_server: EmbeddedPostgres) -> AsyncIterator[Pool]:
    async with semantic_pool(postgres_server) as opened:
        yield opened


@pytest.mark.ci("a year of writes and runs of jobs takes half a minute")
async def test_spec_3_8_in_a_simulated_year_caps_hold_and_nothing_changes_without_a_log_entry(pool: Pool) -> None:
    clock, numbers = FakeClock(DAY_ONE), random.Random(18)
    store, log = PostgresFactStore(pool), PostgresMaintenanceStore(pool)
    runner = MaintenanceRunner(log, clock=clock, ids=Uuid7Ids(clock))
    job = RetainFacts(PostgresFactUpkeep(pool), clock, FactRetentionSettings(facts_max=CAP))
    logged: set[str] = set()
    told: set[str] = set()
    for day in range(DAYS):
        clock.set(DAY_ONE + timedelta(days=day))
        told.update(await enter(store, ANN, day_of(day, numbers)))
        if day % 5:
            continue
        await run_until_done(runner, job, log, logged)
    await run_until_done(runner, job, log, logged)
    facts = await store.list_facts(ANN, which=EVERY_STATUS, after=None, limit=10_000)
    by_text = {fact.text: fact for fact in facts}
    active = [fact for fact in facts if fact.status in ACTIVE]
    assert {fact.fact_id for fact in facts} == told, "nothing is removed"
    assert len(active) <= CAP
    assert by_text["Ann is allergic to nuts"].status is FactStatus.TENTATIVE
    assert by_text["Ann lives in York"].valid_to_time is None
    assert by_text["Ann lives in Leeds"].valid_to_time is not None
    assert by_text["Ann swims"].status is FactStatus.STABLE
    retired = {fact.fact_id for fact in facts} - {fact.fact_id for fact in active}
    assert retired == logged, "each fact that searches find no more has a log entry"
    newest = sorted(facts, key=lambda fact: fact.last_confirmed_time)[-50:]
    assert {fact.status for fact in newest} <= ACTIVE
    old = [
        fact
        for fact in facts
        if fact.text.startswith("Ann likes thing") and fact.first_observed_time < DAY_ONE + timedelta(days=180)
    ]
    assert {fact.status for fact in old} <= {FactStatus.DEPRECATED, FactStatus.ARCHIVED}
