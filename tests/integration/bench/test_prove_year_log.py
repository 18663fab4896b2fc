"""`make prove-year` reads the whole log of maintenance, whatever runs go beside each other."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import asyncpg
import pytest

from bench.prove_year.log import UserLog
from services.common.maintenance import Change
from services.common.maintenance.postgres import PostgresMaintenanceStore
from services.common.maintenance.store import Claim
from services.common.postgres.pool import create_pool
from services.common.postgres.server import EmbeddedPostgres
from tests.support.clock import FakeClock
from tests.support.maintenance import ADA, BEN, MAINTENANCE
from tests.support.postgres import fresh_postgres


@dataclass
class World:
    store: PostgresMaintenanceStore
    database: asyncpg.Connection[Any]
    clock: FakeClock

    async def began(self, number: int, job: str) -> Claim:
        run_id = f"0190a1b2-0000-7000-8000-{number:012}"
        claim = await self.store.claim(
            job, ADA, holder="h", run_id=run_id, now=self.clock.now(), lease=timedelta(minutes=1)
        )
        assert claim is not None
        return claim

    async def logged(self, claim: Claim, *changes: Change) -> None:
        entry = await self.store.log_planned(claim, claim.owner, changes, self.clock.now())
        await self.store.log_applied(claim.owner, entry, changes)


@pytest.fixture
async def world(postgres_server: EmbeddedPostgres) -> AsyncIterator[World]:
    async with fresh_postgres(postgres_server, migrations=[MAINTENANCE]) as urls:
        pool = await create_pool(urls.app)
        database = await asyncpg.connect(urls.superuser)
        yield World(PostgresMaintenanceStore(pool), database, FakeClock())
        await database.close()
        await pool.close()


async def test_spec_6_9_an_entry_of_a_run_that_began_before_others_is_read_after_them(world: World) -> None:
    log = UserLog(world.database, ADA.user_id)
    scheduled, asked = await world.began(1, "agentic.fade_links"), await world.began(2, "episodic.retain_episodes")
    await world.logged(asked, Change("archive", "e1", 1))
    assert await log.news() == {"e1"}
    world.clock.advance(days=1)
    await world.logged(scheduled, Change("fade_link", "n1 n2", 0, {"from": "n1", "to_note": "n2", "to": 0.5}))
    assert await log.news() == {"n1 n2", "n1", "n2"}
    assert (await log.news(), log.runs, log.changes) == (set(), 2, 2)


async def test_spec_6_9_every_change_of_a_large_run_is_read(world: World) -> None:
    log = UserLog(world.database, ADA.user_id)
    await world.logged(await world.began(1, "agentic.fade_links"), *(Change("fade_link", str(n)) for n in range(1_500)))
    assert await log.news() == {str(n) for n in range(1_500)}


async def test_spec_6_9_what_is_changed_and_not_logged_yet_is_waited_for(world: World) -> None:
    log = UserLog(world.database, ADA.user_id)
    claim = await world.began(1, "agentic.fade_links")
    entry = await world.store.log_planned(claim, ADA, [Change("fade_link", "n1 n2")], world.clock.now())
    await world.store.log_planned(claim, BEN, [Change("fade_link", "n3 n4")], world.clock.now())
    assert await log.news() == set()
    waiting = asyncio.create_task(log.settled())
    await asyncio.sleep(0.05)
    assert not waiting.done()
    await world.store.log_applied(ADA, entry, [Change("fade_link", "n1 n2")])
    await waiting
    assert await log.news() == {"n1 n2"}
