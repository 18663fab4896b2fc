"""A kill -9 between the acknowledgement and the index."""

import asyncio
import sys
from pathlib import Path

import pytest

from services.common.clock import SystemClock
from services.common.datadir import DataDir
from services.common.postgres.pool import create_pool
from services.common.postgres.server import EmbeddedPostgres
from services.episodic.app import EpisodicResources, open_episodic
from services.episodic.candidates import CandidateQuery
from services.episodic.model import EpisodeStatus
from tests.integration.episodic.hold_episodic import OWNER, SECRET, SETTINGS, item
from tests.support.embedding import HashingEmbedder

COUNT = 10


@pytest.mark.parametrize("embedded", [0, 4])
async def test_spec_2_2_what_was_acknowledged_becomes_active_once_after_a_kill(tmp_path: Path, embedded: int) -> None:
    child = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "tests.integration.episodic.hold_episodic",
        str(tmp_path / "data"),
        str(COUNT),
        str(embedded),
        stdout=asyncio.subprocess.PIPE,
    )
    assert child.stdout is not None
    async with asyncio.timeout(60):
        while (line := await child.stdout.readline()) != b"stored\n":
            assert line, "the process ended early"  # other lines are its log
    child.kill()
    await child.wait()

    embedder = HashingEmbedder(64)
    with DataDir(tmp_path / "data") as data_dir:
        async with EmbeddedPostgres(data_dir) as server:
            pool = await create_pool(server.app_dsn)
            resources = EpisodicResources(embedder=embedder, clock=SystemClock(), secret=SECRET)
            async with open_episodic(pool, data_dir.qdrant, resources, SETTINGS) as tier:
                again = await tier.episodes.store_episodes(
                    OWNER.tenant_id, [item(number) for number in range(COUNT)], wait_until_active=True
                )
                found = await tier.episodes.search_candidates(
                    CandidateQuery(
                        owner=OWNER,
                        text="harbour",
                        vector=embedder.vector("harbour"),
                        scope_keys=("1",),
                        retriever_limit=100,
                        neighbour_seeds=1,
                        neighbour_radius=0,
                    )
                )
                points = await tier.episodes._index.count(OWNER)
            await pool.close()

    assert [result.created for result in again] == [False] * COUNT
    assert {result.status for result in again} == {EpisodeStatus.ACTIVE}
    assert sorted(found.columns.positions) == list(range(COUNT))
    assert points == COUNT
    assert len(embedder.documents) == COUNT - embedded  # what was active before the kill stayed so
