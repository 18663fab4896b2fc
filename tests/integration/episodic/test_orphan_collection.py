"""Orphan collection on real stores: what the index has too much of, and what that hides from counts."""

import asyncio
import time
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import asyncpg
import pytest
from structlog.testing import capture_logs

from services.common.background import BackgroundWork
from services.common.errors import StoreUnavailable
from services.common.postgres.pool import create_pool
from services.common.postgres.server import EmbeddedPostgres
from services.common.postgres.types import Pool
from services.episodic.comparison_store import ExpectedEpisode, IndexedEpisode
from services.episodic.config import IndexerSettings, QdrantServer, QdrantSettings
from services.episodic.indexer import EpisodeIndexer
from services.episodic.maintenance.orphans import CollectOrphans
from services.episodic.maintenance.reconciliation import ReconcileIndex
from services.episodic.maintenance.schedule import IndexUpkeep
from services.episodic.model import EpisodeId, EpisodeKey, EpisodeStatus, NewEpisode, Owner, TenantId, UserId
from services.episodic.store import EpisodeIndex, IndexedPiece
from services.episodic.stores.edge import EdgeEpisodeIndex
from services.episodic.stores.postgres import MIGRATIONS_FOLDER, SCHEMA, PostgresEpisodeStore
from services.episodic.stores.qdrant import QdrantEpisodeIndex
from services.episodic.stores.qdrant_connection import create_qdrant_client
from tests.contract.episode_index import scanned
from tests.contract.episode_samples import OWNER, SAME_NAME_ELSEWHERE, TENANT, episode_id, new_episode
from tests.support.clock import FakeClock
from tests.support.embedding import HashingEmbedder
from tests.support.maintenance import MAINTENANCE, run_job, runner
from tests.support.postgres import DatabaseUrls, fresh_postgres
from tests.support.qdrant_server import StandIn, serving
from tests.support.vector_index import PATIENT_INDEX

EMBEDDER = HashingEmbedder(64)
QUICK = IndexerSettings(
    retry_seconds_min=0.01,
    outage_seconds_max=0.02,
    poll_seconds=0.05,
    scanned_pieces=4,
    scan_pause_seconds=0.0,
    scan_pause_factor=0.0,
)
UNKNOWN = Owner(TenantId("gone"), UserId("gone"))


@dataclass
class World:
    urls: DatabaseUrls
    pool: Pool
    store: PostgresEpisodeStore
    index: EpisodeIndex
    clock: FakeClock

    @property
    def indexer(self) -> EpisodeIndexer:
        return EpisodeIndexer(self.store, self.index, EMBEDDER, self.clock, settings=QUICK)

    async def remember(self, *episodes: NewEpisode) -> None:
        for owner in dict.fromkeys(episode.owner for episode in episodes):
            own = [episode for episode in episodes if episode.owner == owner]
            await self.store.insert(owner.tenant_id, own, now=self.clock.now())

    async def remember_active(self, *episodes: NewEpisode) -> None:
        await self.remember(*episodes)
        assert await self.indexer.index_batch() == len(episodes)

    async def put(self, episode: NewEpisode, *, pieces: Sequence[int] = (0,)) -> None:
        """Writes points of an episode, whether the store has it or not."""
        await self.index.put(
            [
                IndexedPiece(
                    owner=episode.owner,
                    key=episode.key,
                    number=number,
                    text=episode.text,
                    vector=EMBEDDER.vector(episode.text),
                    scope_key=episode.scope_key,
                    time=episode.time,
                )
                for number in pieces
            ]
        )

    async def collect(self, **changes: Any) -> int:
        settings = IndexerSettings(**{**_values(QUICK), **changes})
        return (await run_job(self.pool, CollectOrphans(self.store, self.index, settings))).applied

    async def compare(self) -> int:
        return (await run_job(self.pool, ReconcileIndex(self.store, self.index, QUICK))).applied

    async def indexed(self) -> dict[EpisodeKey, int]:
        return {episode.key: episode.piece_count for episode in await scanned(self.index, limit=100)}

    async def work_until(self, wanted: dict[EpisodeKey, int]) -> None:
        """Runs the indexer with its background work until the index holds so many pieces of these alone."""
        indexer = self.indexer
        upkeep = IndexUpkeep(
            runner(self.pool),
            ReconcileIndex(self.store, self.index, QUICK, notify=indexer.notify),
            CollectOrphans(self.store, self.index, QUICK, notify=indexer.notify),
            None,
            QUICK,
        )
        async with BackgroundWork[str]("test") as background, asyncio.timeout(60):
            indexer.start(background)
            upkeep.start(background)
            while await self.indexed() != wanted:  # noqa: ASYNC110 - what a caller can see
                await asyncio.sleep(0.01)

    async def status(self, number: int) -> EpisodeStatus:
        return (await self.store.statuses(OWNER, [episode_id(number)]))[episode_id(number)]


def _values(settings: IndexerSettings) -> dict[str, Any]:
    return {name: getattr(settings, name) for name in settings.__dataclass_fields__}


@pytest.fixture(params=["edge", "server"])
async def index(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[EpisodeIndex]:
    opened: EpisodeIndex
    if request.param == "edge":
        opened = await EdgeEpisodeIndex.open(tmp_path, model="m", dimension=64, settings=PATIENT_INDEX)
        yield opened
        await opened.aclose()
        return
    async with serving(StandIn(tmp_path)) as port:
        client = create_qdrant_client(QdrantServer(url=f"http://127.0.0.1:{port}"), QdrantSettings())
        settings = QdrantSettings(shards=2)
        opened = await QdrantEpisodeIndex.open(client, model="m", dimension=64, settings=settings)
        yield opened
        await opened.aclose()


@pytest.fixture
async def world(postgres_server: EmbeddedPostgres, index: EpisodeIndex) -> AsyncIterator[World]:
    async with fresh_postgres(postgres_server, migrations=[(SCHEMA, MIGRATIONS_FOLDER), MAINTENANCE]) as urls:
        pool = await create_pool(urls.app)
        yield World(urls, pool, PostgresEpisodeStore(pool, model=index.model), index, FakeClock())
        await pool.close()


async def test_spec_2_11_a_whole_index_is_left_as_it_is(world: World) -> None:
    await world.remember_active(*(new_episode(n) for n in range(9)), new_episode(1, owner=SAME_NAME_ELSEWHERE))
    before = await world.indexed()

    assert await world.collect() == 0

    assert await world.indexed() == before
    assert len(before) == 10


async def test_a_collection_leaves_most_of_the_time_to_others(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    await world.remember_active(*(new_episode(n) for n in range(20)))
    steps: list[tuple[float, float]] = []
    scan = world.index.scan

    async def timed(*, after: EpisodeKey | None, limit: int) -> Sequence[IndexedEpisode]:
        started = time.perf_counter()
        page = await scan(after=after, limit=limit)
        steps.append((started, time.perf_counter() - started))
        return page

    monkeypatch.setattr(world.index, "scan", timed)
    assert await world.collect(scan_pause_factor=3.0) == 0
    assert len(steps) > 4
    for (started, elapsed), (following, _) in pairwise(steps):
        assert following - started > 3.9 * elapsed


async def test_spec_2_11_orphans_are_removed_whoever_had_them(world: World) -> None:
    await world.remember_active(new_episode(1), new_episode(2))
    kept = await world.indexed()
    await world.put(new_episode(3), pieces=range(5))  # the database came back from an older backup
    await world.put(new_episode(1, conversation_id="another"))
    await world.put(new_episode(1, owner=UNKNOWN))

    assert await world.collect() == 3

    assert await world.indexed() == kept
    assert await world.index.count(UNKNOWN) == 0
    assert await world.collect() == 0


async def test_spec_2_11_archived_episodes_leave_the_index(world: World) -> None:
    await world.remember_active(new_episode(1), new_episode(2))
    connection = await asyncpg.connect(world.urls.app)
    async with connection.transaction():
        await connection.execute("SELECT set_config('mneme.tenant', $1, true)", TENANT)
        await connection.execute("UPDATE episodic.episodes SET status = 3 WHERE episode_id = $1", episode_id(1))
    await connection.close()

    assert await world.collect() == 1

    assert set(await world.indexed()) == {new_episode(2).key}


async def test_spec_2_11_an_orphan_hides_no_missing_episode(world: World) -> None:
    await world.remember_active(new_episode(1), new_episode(2))
    await world.index.remove(OWNER, [new_episode(1).key])
    await world.put(new_episode(3))
    assert await world.compare() == 0  # as many pieces as there should be

    assert await world.collect() == 1
    assert await world.compare() == 1  # the owner

    assert await world.indexer.index_batch() == 2
    assert set(await world.indexed()) == {new_episode(1).key, new_episode(2).key}


async def test_spec_2_11_orphans_are_collected_behind_comparisons_and_owners_compared_again(world: World) -> None:
    await world.remember_active(new_episode(1), new_episode(2))
    await world.index.remove(OWNER, [new_episode(1).key])
    await world.put(new_episode(3))

    await world.work_until({new_episode(1).key: 1, new_episode(2).key: 1})


async def test_spec_2_11_episodes_that_lack_pieces_or_have_old_ones_are_indexed_again(world: World) -> None:
    long = "harbour walk. " * 200
    await world.remember_active(new_episode(1, query=long), new_episode(2), new_episode(3))
    whole = await world.indexed()
    await world.index.remove(OWNER, [new_episode(1).key])
    await world.put(new_episode(1, query=long), pieces=[0])  # of several
    await world.put(new_episode(2), pieces=range(whole[new_episode(1).key]))  # hides it from a count of the owner
    assert await world.compare() == 0

    assert await world.collect() == 2

    assert await world.status(3) is EpisodeStatus.ACTIVE
    assert await world.indexer.index_batch() == 2
    assert await world.indexed() == whole
    assert await world.collect() == 0


async def test_spec_2_11_pending_episodes_are_left_alone(world: World) -> None:
    await world.remember_active(new_episode(1))
    await world.remember(new_episode(2))
    await world.put(new_episode(2), pieces=range(3))  # another replica is at work

    assert await world.collect() == 0

    assert (await world.indexed())[new_episode(2).key] == 3
    assert await world.status(2) is EpisodeStatus.PENDING_EMBEDDING


async def test_spec_2_11_an_index_of_which_the_store_knows_little_is_not_emptied(world: World) -> None:
    await world.remember_active(new_episode(1))
    for number in range(2, 12):
        await world.put(new_episode(number))

    with capture_logs() as logs:
        assert await world.collect(orphans_small_index=9) == 0

    assert [log["would_retire"] for log in logs if log["log_level"] == "error"] == [10]
    assert len(await world.indexed()) == 11
    assert await world.collect(orphans_small_index=9, orphans_share_max=1.0) == 10
    assert set(await world.indexed()) == {new_episode(1).key}


class ForgetfulStore(PostgresEpisodeStore):
    """Knows nothing any more once the index was looked through."""

    asked = 0

    async def expected_episodes(
        self, model: str, places: Sequence[tuple[Owner, EpisodeKey]]
    ) -> list[ExpectedEpisode | None]:
        self.asked += 1
        found = await super().expected_episodes(model, places)
        return found if self.asked <= 1 else [None] * len(found)


async def test_spec_2_11_a_store_that_forgets_everything_meanwhile_costs_no_more_than_the_cap(world: World) -> None:
    await world.remember_active(*(new_episode(n) for n in range(9)))
    await world.put(new_episode(9))
    forgetful = ForgetfulStore(world.pool, model=world.index.model)
    settings = IndexerSettings(scanned_pieces=100, orphans_small_index=5)

    report = await run_job(world.pool, CollectOrphans(forgetful, world.index, settings))

    assert report.over_cap == 5
    assert len(await world.indexed()) == 5  # no more than the cap


class BreakingStore(PostgresEpisodeStore):
    """Fails once, between what is removed from the index and what becomes pending."""

    has_failed = False

    async def reset_listed(self, owner: Owner, episode_ids: Sequence[EpisodeId]) -> list[EpisodeId]:
        if not self.has_failed:
            self.has_failed = True
            raise StoreUnavailable("postgres", 1.0)
        return await super().reset_listed(owner, episode_ids)


async def test_spec_2_11_a_repair_that_breaks_off_halfway_is_known_to_need_a_comparison(world: World) -> None:
    await world.remember_active(new_episode(1), new_episode(2))
    await world.put(new_episode(1), pieces=range(3))
    breaking = BreakingStore(world.pool, model=world.index.model)

    with pytest.raises(StoreUnavailable):  # behind which the schedule compares
        await run_job(world.pool, CollectOrphans(breaking, world.index, QUICK))

    assert set(await world.indexed()) == {new_episode(2).key}
    assert await world.compare() == 1


async def test_spec_2_11_nothing_is_removed_while_the_store_cannot_be_asked(world: World) -> None:
    await world.remember_active(new_episode(1))
    await world.put(new_episode(2))
    lost_pool = await create_pool(world.urls.app)
    store = PostgresEpisodeStore(lost_pool, model=world.index.model)
    await lost_pool.close()

    with pytest.raises(StoreUnavailable):
        await run_job(world.pool, CollectOrphans(store, world.index, QUICK))
    assert len(await world.indexed()) == 2
    store._pool = world.pool  # the database is back

    assert (await run_job(world.pool, CollectOrphans(store, world.index, QUICK))).applied == 1
    assert set(await world.indexed()) == {new_episode(1).key}
