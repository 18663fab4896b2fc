"""Two services with embedded indexes on one database: the second is refused, unless the first is dead."""

import asyncio
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from services.common.clock import SystemClock
from services.common.datadir import DataDir, DataDirLocked
from services.common.errors import FailedPrecondition
from services.common.postgres.pool import create_pool
from services.common.postgres.server import EmbeddedPostgres
from services.common.postgres.types import Pool
from services.episodic.app import EpisodicResources, migrate_episodic, open_episodic
from services.episodic.config import EdgeSettings, EpisodicSettings
from services.episodic.stores.postgres_claim import embedded_index_claimed
from tests.integration.episodic.hold_episodic import SECRET
from tests.support.embedding import HashingEmbedder

RESOURCES = EpisodicResources(embedder=HashingEmbedder(64), clock=SystemClock(), secret=SECRET)

IMPATIENT = EpisodicSettings(edge=EdgeSettings(lock_wait_seconds=0.1))


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[EmbeddedPostgres]:
    with DataDir(tmp_path / "data") as data_dir:
        async with EmbeddedPostgres(data_dir) as running:
            await migrate_episodic(running.owner_dsn)
            yield running


@pytest.fixture
async def pool(server: EmbeddedPostgres) -> AsyncIterator[Pool]:
    opened = await create_pool(server.app_dsn)
    yield opened
    await opened.close()


async def held(server: EmbeddedPostgres, folder: Path) -> asyncio.subprocess.Process:
    """A process of its own that serves with an embedded index."""
    child = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "tests.integration.episodic.hold_index",
        server.app_dsn,
        str(folder),
        stdout=asyncio.subprocess.PIPE,
    )
    assert child.stdout is not None
    async with asyncio.timeout(60):
        while (line := await child.stdout.readline()) != b"serving\n":
            assert line, "the process ended early"  # other lines are its log
    return child


async def test_a_process_refuses_to_share_and_its_kill_blocks_nobody(
    pool: Pool, server: EmbeddedPostgres, tmp_path: Path
) -> None:
    child = await held(server, tmp_path / "first")
    with pytest.raises(FailedPrecondition, match="embedded index"):
        async with open_episodic(pool, tmp_path / "second", RESOURCES):
            pytest.fail("it was let in")
    child.kill()
    await child.wait()
    async with asyncio.timeout(60), open_episodic(pool, tmp_path / "second", RESOURCES):
        assert await pool.fetchval("SELECT place LIKE '%/second' FROM episodic.embedded_index")


async def test_a_second_embedded_index_on_the_database_is_refused(pool: Pool, tmp_path: Path) -> None:
    async with open_episodic(pool, tmp_path / "first", RESOURCES):
        with pytest.raises(FailedPrecondition, match=r"indexed by another service with an embedded index.*/first"):
            async with open_episodic(pool, tmp_path / "second", RESOURCES):
                pytest.fail("it was let in")
        with pytest.raises(DataDirLocked):
            async with open_episodic(pool, tmp_path / "first", RESOURCES, IMPATIENT):
                pytest.fail("it was let in")
    async with open_episodic(pool, tmp_path / "second", RESOURCES):
        pass  # the first has stopped


async def test_a_claim_without_a_heartbeat_is_taken_over_and_its_holder_told(pool: Pool) -> None:
    lost = asyncio.Event()
    dead = "a@0000"
    await pool.execute("INSERT INTO episodic.embedded_index (index_name, place) VALUES ($1, 'elsewhere')", dead)
    async with embedded_index_claimed(pool, "b@1111", place="here", on_lost=lost.set, heartbeat_seconds=0.05):
        assert await pool.fetchval("SELECT place FROM episodic.embedded_index") == "here"
        await pool.execute("UPDATE episodic.embedded_index SET index_name = $1", dead)
        async with asyncio.timeout(60):
            await lost.wait()
    assert await pool.fetchval("SELECT index_name FROM episodic.embedded_index") == dead


async def test_the_same_index_is_claimed_again_at_once(pool: Pool) -> None:
    await pool.execute("INSERT INTO episodic.embedded_index (index_name, place) VALUES ('a@0000', 'here')")
    async with (
        asyncio.timeout(60),
        embedded_index_claimed(pool, "a@0000", place="here", on_lost=lambda: None, heartbeat_seconds=3_600.0),
    ):
        assert await pool.fetchval("SELECT count(*) FROM episodic.embedded_index") == 1
