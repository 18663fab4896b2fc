"""Erase, Forget and Correct by another process at every moment of a maintenance job, and stores that fail: nothing
derived outlives its source, nothing else is lost, and what was made can be taken back.

`MNEME_INTERLEAVINGS` says how many cases of each tier run, and `MNEME_INTERLEAVINGS_STEP` how many moments of a job lie
between two that are tried each by itself; `make prove-interleavings` runs 500, and tries each moment.
"""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import asyncpg
import pytest

from services.common.postgres.server import EmbeddedPostgres
from tests.integration.maintenance.episodic_cases import EPISODIC_CASES
from tests.integration.maintenance.graph_cases import AGENTIC_CASES
from tests.integration.maintenance.places import MIGRATIONS, JobCase, Place, opened
from tests.property.interleavings.activity import ActivityWorld, activity_disturber
from tests.property.interleavings.episodes import EpisodeWorld, episode_disturber
from tests.property.interleavings.facts import FactWorld, fact_disturber
from tests.property.interleavings.notes import NoteWorld, note_disturber
from tests.property.interleavings.other import MakeDisturber, OtherProcess, opened_other
from tests.property.interleavings.statements import StatementWorld, statement_disturber
from tests.property.interleavings.world import Actions, World
from tests.support.clock import FakeClock
from tests.support.postgres import fresh_postgres

CASES: Final = int(os.environ.get("MNEME_INTERLEAVINGS", "10"))
STEP: Final = int(os.environ.get("MNEME_INTERLEAVINGS_STEP", "24"))


@dataclass(frozen=True)
class Tier:
    """Whose memories, and what is done to them."""

    schema: str
    world: type[World]
    disturber: MakeDisturber
    case: JobCase  # one with as many indexes as the jobs need


def _of(name: str) -> JobCase:
    return next(case for case in EPISODIC_CASES if case.name == name)


TIERS: Final = {
    "notes": Tier("agentic", NoteWorld, note_disturber, AGENTIC_CASES[0]),
    "facts": Tier("semantic", FactWorld, fact_disturber, AGENTIC_CASES[0]),
    "statements": Tier("semantic", StatementWorld, statement_disturber, AGENTIC_CASES[0]),
    "episodes": Tier("episodic", EpisodeWorld, episode_disturber, _of("episodic.fill_second_index")),
    "activity": Tier("episodic", ActivityWorld, activity_disturber, _of("episodic.learn_patterns")),
}


@dataclass
class Stage:
    """This process's stores, and another process with its own."""

    place: Place
    other: OtherProcess
    superuser: asyncpg.Connection[asyncpg.Record]
    tier: Tier

    def world(self, number: int, case: JobCase | None = None) -> World:
        return self.tier.world(number, self.place, self.other, self.superuser, self.tier.schema, case)


@pytest.fixture(params=TIERS)
async def stage(
    request: pytest.FixtureRequest, postgres_server: EmbeddedPostgres, tmp_path: Path
) -> AsyncIterator[Stage]:
    tier = TIERS[request.param]
    async with (
        fresh_postgres(postgres_server, migrations=MIGRATIONS) as urls,
        opened(tier.case, urls.app, tmp_path, FakeClock()) as place,
        opened_other(urls, tier.disturber) as other,
    ):
        superuser = await asyncpg.connect(urls.superuser)
        try:
            yield Stage(place, other, superuser, tier)
        finally:
            await superuser.close()


async def lived(world: World) -> int:
    """Runs jobs while another process changes memories, checks after each, and erases the user at the end.

    Returns how many memories were erased, forgotten or corrected before that.
    """
    await world.fill()
    for _ in range(world.random.randint(1, 2)):
        await world.run(world.job(), world.actions())
        await world.check()
        world.clock.advance(seconds=3_600)
    if world.random.random() < 0.5:
        await world.change()
        await world.settled()
        await world.check()
    if world.random.random() < 0.5:
        await world.undo()
        await world.check()
    changed = len(world.gone) + len(world.corrected)
    await world.erase_all()
    await world.check()
    await world.leave()
    return changed


@pytest.mark.ci("a proof by many cases")
async def test_spec_6_9_whatever_another_process_does_in_the_middle_of_a_job_nothing_derived_outlives_its_source(
    stage: Stage,
) -> None:
    changed = applied = within = 0
    for number in range(CASES):
        world = stage.world(number)
        try:
            changed += await lived(world)
        except AssertionError as error:
            raise AssertionError(f"case {number}: {error}") from error
        applied += world.applied
        within += world.within
    counts = f"{changed} memories gone or corrected, {applied} changes by jobs, {within} disturbances in their middle"
    sys.stdout.write(f"{CASES} cases: {counts}; {stage.other.blocked} disturbances waited for a lock of a job\n")
    assert changed >= CASES / 2, "the cases disturb the jobs"
    assert within >= CASES / 2, "in their middle"
    assert applied >= CASES / 2, "the jobs change something"


@pytest.mark.ci("a proof by many cases")
async def test_spec_6_9_at_each_moment_of_a_job_another_process_can_erase_forget_and_correct(stage: Stage) -> None:
    """Once for a job that goes on, and once for one that loses its store at the next moment and is run again."""
    number = tried = 0
    for case in dict.fromkeys(stage.tier.world.cases):
        moment, is_reached = 1, True
        while is_reached:
            for dies in (False, True):
                number += 1
                world = stage.world(100_000 + number, case)
                is_within = await _tried(world, case, moment, dies=dies)
                is_reached = is_within if not dies else is_reached
            moment += STEP
        tried += moment
    sys.stdout.write(f"{number} runs for {tried} moments; {stage.other.blocked} disturbances waited for a lock\n")
    assert number >= 4 * len(set(stage.tier.world.cases)), "some moments of each job are tried"


async def _tried(world: World, case: JobCase, moment: int, *, dies: bool) -> bool:
    """Runs a job that is disturbed at one moment; whether it had that moment."""
    actions: Actions = {moment: [world.change]}
    if dies:
        actions[moment + 1] = [world.die]
    await world.fill()
    is_reached = await world.run(world.job(), actions)
    try:
        await world.check()
        await world.erase_all()
        await world.check()
    except AssertionError as error:
        raise AssertionError(f"{case.name} at moment {moment}{', died' if dies else ''}: {error}") from error
    await world.leave()
    return is_reached
