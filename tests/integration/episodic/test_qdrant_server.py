"""The tier on a server that is killed, hangs, loses what it held, and comes up late. The server is a stand-in."""

from __future__ import annotations

import asyncio
import contextlib
import shutil
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from services.common.errors import StoreUnavailable
from services.common.postgres.pool import create_pool
from services.common.postgres.server import EmbeddedPostgres
from services.common.postgres.types import Pool
from services.common.rpc.readiness import Readiness, ReadinessSettings
from services.episodic.app import EpisodicResources, EpisodicTier, open_episodic
from services.episodic.candidates import CandidateQuery, Candidates
from services.episodic.config import EpisodicSettings, IndexerSettings, QdrantServer, QdrantSettings
from services.episodic.maintenance.reconciliation import ReconcileIndex
from services.episodic.service import StoreItem
from services.episodic.stores.postgres import MIGRATIONS_FOLDER, SCHEMA, PostgresEpisodeStore
from services.episodic.stores.qdrant import QdrantEpisodeIndex
from services.episodic.stores.qdrant_connection import create_qdrant_client
from tests.contract.episode_samples import GLOBAL, OWNER, TENANT, episode_id, new_episode
from tests.support.clock import FakeClock
from tests.support.embedding import HashingEmbedder
from tests.support.maintenance import MAINTENANCE, run_job
from tests.support.postgres import fresh_postgres
from tests.support.qdrant_server import Fault, QdrantProcess
from tests.support.redis import free_port

EMBEDDER = HashingEmbedder(64)
SETTINGS = EpisodicSettings(
    indexer=IndexerSettings(batch_max=8, poll_seconds=0.05, retry_seconds_min=0.05, outage_seconds_max=0.2),
    qdrant=QdrantSettings(
        retry_seconds_min=0.01, retry_seconds_max=0.05, search_timeout_seconds=1, write_timeout_seconds=3
    ),
)


@dataclass
class World:
    pool: Pool
    server: QdrantProcess
    folder: Path  # of the server's data

    @contextlib.asynccontextmanager
    async def tier(self) -> AsyncIterator[EpisodicTier]:
        resources = EpisodicResources(embedder=EMBEDDER, clock=FakeClock(), secret=b"s" * 32)
        server = QdrantServer(url=self.server.url)
        async with open_episodic(self.pool, self.folder, resources, SETTINGS, qdrant_server=server) as tier:
            yield tier

    async def missing(self) -> int:
        """How many owners have episodes that another service would have to index again."""
        client = create_qdrant_client(QdrantServer(url=self.server.url), SETTINGS.qdrant)
        index = await QdrantEpisodeIndex.open(
            client, model=EMBEDDER.fingerprint, dimension=EMBEDDER.dimension, settings=SETTINGS.qdrant
        )
        try:
            store = PostgresEpisodeStore(self.pool, model=index.model)
            return (await run_job(self.pool, ReconcileIndex(store, index))).applied
        finally:
            await index.aclose()


@pytest.fixture
async def world(postgres_server: EmbeddedPostgres, tmp_path: Path) -> AsyncIterator[World]:
    server = QdrantProcess(tmp_path / "data", free_port())
    async with fresh_postgres(postgres_server, migrations=[(SCHEMA, MIGRATIONS_FOLDER), MAINTENANCE]) as urls:
        pool = await create_pool(urls.app)
        try:
            yield World(pool, server, tmp_path / "data")
        finally:
            server.kill()
            await pool.close()


async def remember(tier: EpisodicTier, numbers: range, *, wait: bool = True) -> None:
    items = [
        StoreItem(episode_id=str(episode_id(number)), episode=new_episode(number, query=f"harbour walk {number}"))
        for number in numbers
    ]
    results = await tier.episodes.store_episodes(TENANT, items, wait_until_active=wait)
    assert all(result.created for result in results)


async def searched(tier: EpisodicTier) -> Candidates:
    text = "harbour"
    query = CandidateQuery(
        owner=OWNER,
        text=text,
        vector=EMBEDDER.vector(text),
        scope_keys=GLOBAL,
        retriever_limit=500,
        neighbour_seeds=5,
        neighbour_radius=0,
    )
    return await tier.episodes.search_candidates(query)


async def whole(tier: EpisodicTier, count: int) -> None:
    """Returns when a search finds so many episodes and is not degraded."""
    async with asyncio.timeout(60):
        while True:
            found = await searched(tier)
            if not found.degraded and len(found.columns) == count:
                assert all(score > 0 for score in found.dense_scores)
                return


async def test_spec_2_11_a_server_that_is_killed_while_it_is_written_to_loses_nothing(world: World) -> None:
    world.server.start()
    async with world.tier() as tier:
        await remember(tier, range(16))
        await remember(tier, range(16, 200), wait=False)  # the indexer is at work
        world.server.kill()
        await remember(tier, range(200, 240), wait=False)
        during = await searched(tier)
        assert during.degraded
        assert len(during.columns)
        world.server.start()
        await whole(tier, 240)
        await remember(tier, range(240, 250))
    assert await world.missing() == 0


async def test_spec_2_11_points_that_the_server_lost_are_indexed_again_while_the_service_runs(world: World) -> None:
    world.server.start()
    async with world.tier() as tier:
        await remember(tier, range(20))
        world.server.kill()
        backup = world.folder.with_name("backup")
        shutil.copytree(world.folder, backup)
        world.server.start()
        await remember(tier, range(20, 40))
        world.server.kill()
        shutil.rmtree(world.folder)
        backup.rename(world.folder)
        world.server.start()
        await whole(tier, 40)
    assert await world.missing() == 0


async def test_spec_2_11_a_server_that_comes_back_empty_is_filled_again(world: World) -> None:
    world.server.start()
    async with world.tier() as tier:
        await remember(tier, range(20))
        world.server.kill()
        shutil.rmtree(world.folder)
        world.server.start()
        assert (await searched(tier)).degraded
        await whole(tier, 20)
        await remember(tier, range(20, 25))
        await whole(tier, 25)
    async with world.tier() as tier:
        assert len((await searched(tier)).columns) == 25
    assert await world.missing() == 0


@pytest.mark.parametrize("goes_away", [QdrantProcess.kill, QdrantProcess.pause], ids=["killed", "hanging"])
async def test_spec_8_2_readiness_follows_the_server(world: World, goes_away: Callable[[QdrantProcess], None]) -> None:
    world.server.start()
    async with world.tier() as tier:
        checks = [binding.ready for binding in tier.bindings]
        reports: list[bool] = []

        async def report(is_ready: bool) -> None:
            reports.append(is_ready)

        for check in checks:
            assert check is not None
            reports.clear()
            watched = Readiness(check, report, ReadinessSettings(timeout_seconds=1.0, failures_max=1))
            await watched.check_once()
            assert reports == []
            goes_away(world.server)
            await watched.check_once()
            assert reports == [False]
            if goes_away is QdrantProcess.kill:
                world.server.start()
            else:
                world.server.resume()
            async with asyncio.timeout(60):
                while reports == [False]:
                    await watched.check_once()
            assert reports == [False, True]


async def test_spec_5_10_a_server_that_hangs_degrades_answers_in_time(world: World) -> None:
    world.server.start()
    async with world.tier() as tier:
        await remember(tier, range(5))
        world.server.pause()
        async with asyncio.timeout(8):
            assert (await searched(tier)).degraded
        world.server.resume()
        await whole(tier, 5)


@pytest.mark.parametrize("code", ["UNAVAILABLE", "DEADLINE_EXCEEDED", "RESOURCE_EXHAUSTED"])
async def test_writes_whose_answers_were_lost_are_written_again_in_place(world: World, code: str) -> None:
    world.server.start()
    async with world.tier() as tier:
        world.server.fail(Fault(code, "Upsert", times=6, is_done=True))
        await remember(tier, range(20))
        await whole(tier, 20)
    assert await world.missing() == 0


async def test_a_server_that_comes_up_while_it_is_waited_for_is_used(world: World) -> None:
    async def open_and_search() -> bool:
        async with world.tier() as tier:
            await remember(tier, range(3))
            return (await searched(tier)).degraded

    opening = asyncio.create_task(open_and_search())
    await asyncio.sleep(0)
    await asyncio.to_thread(world.server.start)
    assert not await opening


async def test_without_a_server_the_start_says_what_is_missing(world: World) -> None:
    client = create_qdrant_client(QdrantServer(url=world.server.url), SETTINGS.qdrant)
    impatient = QdrantSettings(start_timeout_seconds=0.1)
    with pytest.raises(StoreUnavailable, match="qdrant is unavailable"):
        await QdrantEpisodeIndex.open(client, model="m", dimension=64, settings=impatient)
