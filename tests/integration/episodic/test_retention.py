"""Fading and the cap of episodes on real stores."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path

import pytest

from services.common.errors import Conflict
from services.common.ids import Uuid7Ids
from services.common.maintenance import RunReport
from services.common.maintenance.fence import writing_under
from services.common.maintenance.postgres import PostgresMaintenanceStore
from services.common.postgres.pool import create_pool
from services.common.postgres.server import EmbeddedPostgres
from services.common.postgres.tenancy import tenant_transaction
from services.common.postgres.types import Pool
from services.episodic.config import RetentionSettings
from services.episodic.indexer import EpisodeIndexer
from services.episodic.maintenance.retention import ActiveEpisodes, RetainEpisodes, strength_of
from services.episodic.model import EpisodeStatus, NewEpisode, Owner, TenantId, UserId
from services.episodic.retention_store import FadingEpisode, FadingRule
from services.episodic.store import AccessCount, EpisodeFilter, EpisodeIndex
from services.episodic.stores.edge import EdgeEpisodeIndex
from services.episodic.stores.postgres import MIGRATIONS_FOLDER, SCHEMA, PostgresEpisodeStore
from services.episodic.stores.postgres_retention import FADED
from tests.contract.episode_index import scanned
from tests.contract.episode_samples import OWNER, SAME_NAME_ELSEWHERE, episode_id, new_episode
from tests.contract.test_maintenance_postgres import RUN
from tests.support.clock import FakeClock
from tests.support.embedding import HashingEmbedder
from tests.support.maintenance import MAINTENANCE, runner
from tests.support.postgres import fresh_postgres

EMBEDDER = HashingEmbedder(64)
NOBODY = Owner(TenantId("acme"), UserId("nobody"))


@dataclass
class World:
    pool: Pool
    store: PostgresEpisodeStore
    index: EpisodeIndex
    clock: FakeClock

    async def remember(self, *episodes: NewEpisode) -> None:
        for owner in dict.fromkeys(episode.owner for episode in episodes):
            own = [episode for episode in episodes if episode.owner == owner]
            await self.store.insert(owner.tenant_id, own, now=self.clock.now())
        await self.work()

    async def work(self) -> None:
        indexer = EpisodeIndexer(self.store, self.index, EMBEDDER, self.clock)
        while await indexer.index_batch():
            pass

    def job(self, settings: RetentionSettings) -> RetainEpisodes:
        return RetainEpisodes(self.store, self.index, self.clock, Uuid7Ids(self.clock), settings)

    async def run(self, settings: RetentionSettings, *, dry_run: bool = False) -> RunReport:
        return await runner(self.pool, self.clock).run(self.job(settings), dry_run=dry_run)

    def with_rule(self, rule: FadingRule) -> World:
        return replace(self, store=PostgresEpisodeStore(self.pool, model=self.index.model, fading=rule))

    async def use(self, number: int, time: datetime) -> None:
        used = AccessCount(owner=OWNER, episode_id=episode_id(number), count=1, last_time=time)
        await self.store.add_accesses([used])

    async def advance(self, *, used: int, days: float, hours: float = 0) -> None:
        """Time goes by until the user uses an episode."""
        await self.use(used, self.clock.advance(days=days, hours=hours))

    async def execute(self, statement: str) -> None:
        async with tenant_transaction(self.pool, OWNER.tenant_id) as connection:
            await connection.execute(statement)

    async def fade_times(self) -> dict[int, datetime | None]:
        async with tenant_transaction(self.pool, OWNER.tenant_id) as connection:
            rows = await connection.fetch(
                "SELECT episode_id, fade_time FROM episodic.episodes WHERE user_id = $1", OWNER.user_id
            )
        return {row["episode_id"].int: row["fade_time"] for row in rows}

    async def with_status(self, status: EpisodeStatus) -> Sequence[int]:
        found = await self.store.list_episodes(OWNER, EpisodeFilter(status=status), limit=200, after=None)
        return sorted(episode.content.episode_id.int for episode in found)


@pytest.fixture
async def world(postgres_server: EmbeddedPostgres, tmp_path: Path) -> AsyncIterator[World]:
    async with fresh_postgres(postgres_server, migrations=[(SCHEMA, MIGRATIONS_FOLDER), MAINTENANCE]) as urls:
        pool = await create_pool(urls.app)
        index = await EdgeEpisodeIndex.open(tmp_path, model="m", dimension=64)
        yield World(pool, PostgresEpisodeStore(pool, model=index.model), index, FakeClock())
        await index.aclose()
        await pool.close()


def settings(**changes: float) -> RetentionSettings:
    return RetentionSettings(**{"newest_kept": 2, "share_max": 1.0, "owners_page": 1, **changes})  # type: ignore[arg-type]


async def test_spec_2_8_what_has_faded_is_archived_but_for_the_newest(world: World) -> None:
    await world.remember(*(new_episode(n, importance=0.2 if n % 2 else 0.9) for n in range(1, 9)))
    await world.advance(days=400, used=8)
    report = await world.run(settings())
    assert (report.applied, await world.with_status(EpisodeStatus.ARCHIVED)) == (3, [1, 3, 5])
    assert len(await scanned(world.index, limit=100)) == 5
    assert (await world.run(settings())).applied == 0


async def test_spec_2_8_time_counts_up_to_the_latest_activity_of_the_user(world: World) -> None:
    await world.remember(*(new_episode(n, importance=0.2) for n in range(1, 6)))
    await world.remember(*(new_episode(n, owner=SAME_NAME_ELSEWHERE, importance=0.2) for n in range(6, 11)))
    assert await world.store.active_time(NOBODY) is None
    written, used = world.clock.now(), world.clock.advance(days=360)
    assert await world.store.active_time(OWNER) == written
    await world.use(5, used)
    assert await world.store.active_time(OWNER) == used
    assert await world.store.active_time(SAME_NAME_ELSEWHERE) == written
    world.clock.advance(days=4_000)
    assert [step async for step in world.job(settings()).steps(after="", owner=None)] == []
    assert (await world.run(settings())).applied == 0
    await world.remember(new_episode(11, importance=0.2))
    assert (await world.run(settings())).applied == 4
    assert await world.with_status(EpisodeStatus.ARCHIVED) == [1, 2, 3, 4]


async def test_spec_2_8_the_cap_holds_for_a_user_who_is_away(world: World) -> None:
    await world.remember(*(new_episode(n, importance=0.2) for n in range(1, 6)))
    world.clock.advance(days=4_000)
    assert (await world.run(settings(active_max=4))).applied == 1
    assert await world.with_status(EpisodeStatus.ARCHIVED) == [1]


async def test_spec_2_8_use_and_restoration_begin_the_fading_anew(world: World) -> None:
    await world.remember(*(new_episode(n, importance=0.2) for n in range(1, 6)))
    world.clock.advance(days=400)
    now = world.clock.now()
    await world.store.add_accesses(
        [AccessCount(owner=OWNER, episode_id=episode_id(2), count=1, last_time=now - timedelta(days=1))]
    )
    report = await world.run(settings())
    assert await world.with_status(EpisodeStatus.ARCHIVED) == [1, 3]
    undone = await runner(world.pool, world.clock).undo(world.job(settings()), report.run_id)
    assert undone == 2
    await world.work()
    assert await world.with_status(EpisodeStatus.ACTIVE) == [1, 2, 3, 4, 5]
    assert (await world.run(settings())).applied == 0


async def test_spec_6_9_a_leader_that_was_replaced_archives_nothing(world: World) -> None:
    await world.remember(*(new_episode(n, importance=0.2) for n in range(1, 5)))
    world.clock.advance(days=400)
    claims = PostgresMaintenanceStore(world.pool)
    claim = partial(claims.claim, "episodic.retain_episodes", OWNER, now=world.clock.now(), lease=timedelta(seconds=60))
    old = await claim(holder="old", run_id=RUN, term=1)
    assert old is not None
    assert await claim(holder="new", run_id=RUN, term=2) is not None
    faded = await world.store.weakest(OWNER, newest_kept=2, scale_days=30.0, now=world.clock.now(), limit=10)
    assert len(faded) == 2
    with writing_under(old), pytest.raises(Conflict):
        await world.store.archive_unused(OWNER, faded, now=world.clock.now())
    assert await world.with_status(EpisodeStatus.ARCHIVED) == []
    assert len(await world.store.archive_unused(OWNER, faded, now=world.clock.now())) == 2


async def test_spec_2_8_beyond_the_cap_the_least_important_and_oldest_go_first(world: World) -> None:
    await world.remember(*(new_episode(n, importance=0.3 if n in {2, 4, 5} else 0.9) for n in range(1, 11)))
    await world.remember(new_episode(1, owner=SAME_NAME_ELSEWHERE))
    assert (await world.run(settings(active_max=8))).applied == 2
    assert await world.with_status(EpisodeStatus.ARCHIVED) == [2, 4]
    assert (await world.run(settings(active_max=4))).applied == 4
    assert await world.with_status(EpisodeStatus.ARCHIVED) == [1, 2, 3, 4, 5, 6]


async def test_spec_6_9_the_cap_holds_whatever_was_taken_back(world: World) -> None:
    await world.remember(*(new_episode(n, importance=0.9) for n in range(1, 7)))
    first = await world.run(settings(active_max=4))
    assert first.applied == 2
    await runner(world.pool, world.clock).undo(world.job(settings()), first.run_id)
    await world.work()
    assert (await world.run(settings(active_max=4))).applied == 2


async def test_spec_6_9_an_episode_of_no_importance_that_was_restored_by_an_undo_stays(world: World) -> None:
    await world.remember(*(new_episode(n, importance=0.02) for n in range(1, 6)))
    first = await world.run(settings())
    assert await world.with_status(EpisodeStatus.ARCHIVED) == [1, 2, 3]
    await runner(world.pool, world.clock).undo(world.job(settings()), first.run_id)
    await world.work()
    await world.remember(new_episode(6, importance=0.02))
    assert (await world.run(settings())).applied == 1
    assert await world.with_status(EpisodeStatus.ARCHIVED) == [4]


async def test_spec_2_8_a_run_archives_no_more_than_its_share_and_says_so(world: World) -> None:
    await world.remember(*(new_episode(n, importance=0.2) for n in range(40)))
    await world.advance(days=4_000, used=39)
    capped = settings(share_max=0.05)
    looked = await world.run(capped, dry_run=True)
    assert (looked.retired, looked.over_cap, await world.with_status(EpisodeStatus.ARCHIVED)) == (2, 36, [])
    report = await world.run(capped)
    assert (report.applied, report.over_cap) == (2, 36)
    assert await world.with_status(EpisodeStatus.ARCHIVED) == [0, 1]


async def test_spec_2_8_what_was_used_after_the_plan_stays(world: World) -> None:
    await world.remember(*(new_episode(n, importance=0.2) for n in range(5)))
    await world.advance(days=400, used=4)
    job = world.job(settings())
    (step,) = [step async for step in job.steps(after="", owner=OWNER)]
    changes = job.plan(step.state, world.clock.now())
    await world.store.add_accesses(
        [AccessCount(owner=OWNER, episode_id=episode_id(1), count=1, last_time=world.clock.now())]
    )
    made = await job.apply(OWNER, changes)
    assert [change.target for change in made] == [str(episode_id(0)), str(episode_id(2))]
    assert await job.apply(OWNER, changes) == []


async def test_spec_2_8_nothing_fades_where_the_threshold_is_zero(world: World) -> None:
    state = ActiveEpisodes(
        3,
        world.clock.now(),
        [FadingEpisode(episode_id=episode_id(1), importance=0.0, used_time=world.clock.now() - timedelta(days=9_999))],
    )
    assert world.job(settings(strength_min=0.0)).plan(state, world.clock.now()) == []
    never = world.with_rule(FadingRule(strength_min=0.0))
    await never.remember(new_episode(1, importance=0.0))
    assert (await never.fade_times())[1] == world.clock.now() + timedelta(days=1_000_000)


async def test_spec_2_8_the_time_of_fading_is_stored_when_an_episode_becomes_active(world: World) -> None:
    await world.remember(*(new_episode(n, importance=importance) for n, importance in enumerate((0.3, 0.05, None), 1)))
    now = world.clock.now()
    # importance / (1 + days / 365) = 0.1; without an importance it is taken to be 0.5.
    expected = {1: now + timedelta(days=730), 2: now, 3: now + timedelta(days=1460)}
    assert await world.fade_times() == expected
    world.clock.advance(days=1)
    assert await world.fade_times() == expected


async def test_spec_2_8_a_use_puts_the_time_off_in_the_write_that_counts_it(world: World) -> None:
    await world.remember(new_episode(1, importance=0.3))
    stored = (await world.fade_times())[1]
    await world.use(1, world.clock.advance(hours=23))
    assert (await world.fade_times())[1] == stored  # early by less than a day: the row is updated in place
    await world.use(1, world.clock.advance(days=10))
    assert (await world.fade_times())[1] == world.clock.now() + timedelta(days=730)


async def test_spec_2_8_a_time_that_is_early_by_some_hours_archives_nothing_yet(world: World) -> None:
    await world.remember(*(new_episode(n, importance=0.3) for n in range(1, 5)))
    await world.use(1, world.clock.advance(hours=20))
    await world.advance(days=729, hours=5, used=4)
    assert (await world.run(settings())).applied == 1
    assert await world.with_status(EpisodeStatus.ARCHIVED) == [2]
    await world.advance(days=1, used=4)
    assert (await world.run(settings())).applied == 1


async def test_spec_2_8_the_job_reads_those_alone_whose_time_has_come(world: World) -> None:
    await world.remember(*(new_episode(n, importance=0.2 if n < 4 else 0.9) for n in range(1, 9)))
    await world.advance(days=400, used=8)
    (step,) = [step async for step in world.job(settings()).steps(after="", owner=OWNER)]
    assert [each.episode_id for each in step.state.faded] == [episode_id(n) for n in (1, 2, 3)]
    assert not step.state.weakest
    async with tenant_transaction(world.pool, OWNER.tenant_id) as connection:
        await connection.execute("SET LOCAL enable_seqscan = off")
        await connection.execute("SET LOCAL enable_bitmapscan = off")
        rows = await connection.fetch(f"EXPLAIN {FADED}", OWNER.tenant_id, OWNER.user_id, 0, world.clock.now(), 100)
    plan = " ".join(row[0] for row in rows)
    assert "tenant_id_user_id_fade_time_idx" in plan
    assert "fade_time <=" in plan.split("Index Cond:")[1].split("Filter:")[0]


async def test_spec_2_8_episodes_from_before_times_were_stored_get_theirs_in_bounded_steps(world: World) -> None:
    await world.remember(*(new_episode(n, importance=0.2) for n in range(1, 8)))
    await world.execute("UPDATE episodic.episodes SET fade_time = NULL")
    await world.execute("UPDATE episodic.owners SET fading_rule = NULL")
    after, steps = await world.store.time_fading(OWNER, after=None, limit=3), 1
    assert sum(time is not None for time in (await world.fade_times()).values()) == 3
    while after is not None:
        after, steps = await world.store.time_fading(OWNER, after=after, limit=3), steps + 1
    assert steps == 3
    assert set((await world.fade_times()).values()) == {world.clock.now() + timedelta(days=365)}
    # One that a replica of the version before made active is found by the next run.
    await world.execute("UPDATE episodic.episodes SET fade_time = NULL WHERE position = 1")
    await world.advance(days=400, used=7)
    assert (await world.run(settings())).applied == 5


async def test_spec_2_8_another_rule_changes_the_times_that_are_stored(world: World) -> None:
    await world.remember(*(new_episode(n, importance=0.2) for n in range(1, 4)))
    await world.run(settings())
    shorter = world.with_rule(FadingRule(scale_days=10.0))
    assert await shorter.store.time_fading(OWNER, after=None, limit=100) is None
    assert set((await world.fade_times()).values()) == {world.clock.now() + timedelta(days=10)}


def test_spec_2_8_strength_is_importance_that_decays_with_time() -> None:
    clock = FakeClock()
    episode = FadingEpisode(episode_id=episode_id(1), importance=0.8, used_time=clock.now())
    assert strength_of(episode, clock.now(), scale_days=365.0) == pytest.approx(0.8)
    assert strength_of(episode, clock.advance(days=365), scale_days=365.0) == pytest.approx(0.4)
