"""Every maintenance job in a process that is killed (SIGKILL) before a statement to PostgreSQL or a write to the vector
index: no memory is lost, and another process brings the run to the same end.

`MNEME_KILLS` says at how many moments of a job, evenly spread, of one with a vector index at fewer; 0: at all of them.
`make prove-kills` runs all.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

import asyncpg
import pytest

from mneme_client import Client
from services.common.postgres.server import EmbeddedPostgres
from tests.integration.maintenance.cases import CASES
from tests.integration.maintenance.killed import run_apart
from tests.integration.maintenance.places import MIGRATIONS, JobCase, Place, Seen, opened
from tests.support.clock import FakeClock
from tests.support.postgres import DatabaseUrls, fresh_postgres

KILLS = int(os.environ.get("MNEME_KILLS", "2"))
_SESSIONS = "SELECT count(*) FROM pg_stat_activity WHERE datname = $1"
TAKEN_OVER = timedelta(seconds=61)
"""After which another process may have the job of one that is gone."""


@dataclass
class Trial:
    """A case with its memories, of which each run gets a copy."""

    case: JobCase
    server: EmbeddedPostgres
    database: str
    folder: Path
    start: datetime
    before: Seen

    @contextlib.asynccontextmanager
    async def copy(self) -> AsyncIterator[tuple[DatabaseUrls, Path]]:
        """A copied database and a copied folder."""
        folder = self.folder.with_name("copy")
        shutil.copytree(self.folder, folder)
        try:
            async with fresh_postgres(self.server, copied_from=self.database) as urls:
                yield urls, folder
        finally:
            shutil.rmtree(folder)

    async def undisturbed(self) -> tuple[int, Seen]:
        """The moments of the job, and what is there after it and after whatever else runs."""
        async with self.copy() as (urls, folder):
            moments = await run_apart(self.case.name, urls.app, folder, self.start, killed_at=None)
            assert moments is not None
            async with opened(self.case, urls.app, folder, FakeClock(self.start + TAKEN_OVER)) as place:
                await self.case.settle(place)
                await self.case.check(place)
                return moments, await self.case.seen(place)

    async def killed(self, moment: int, after: Seen) -> None:
        """Kills the job before a moment, looks at what is there, and has another process finish it."""
        case = self.case
        async with self.copy() as (urls, folder):
            assert await run_apart(case.name, urls.app, folder, self.start, killed_at=moment) is None
            await self._disconnected(urls.database)
            async with opened(case, urls.app, folder, FakeClock(self.start + TAKEN_OVER)) as place:
                await case.settle(place)
                now = await case.seen(place)
                assert not (self.before.recallable & after.recallable) - now.recallable, "memories are not found"
                assert not (self.before.stored & after.stored) - now.stored, "memories are lost"
                await case.check(place)
                await self._finished(place, after)

    async def _disconnected(self, database: str) -> None:
        """Waits until the server has ended the sessions of the killed process: a claim lasts longer than they do."""
        connection = await asyncpg.connect(self.server.dsn(role="postgres", database="postgres"))
        try:
            async with asyncio.timeout(60):
                while await connection.fetchval(_SESSIONS, database):
                    continue
        finally:
            await connection.close()

    async def _finished(self, place: Place, after: Seen) -> None:
        case, runner = self.case, place.runner
        report = await runner.run(case.job(place))
        assert report.is_claimed
        assert not report.is_cut
        await case.settle(place)
        await case.check(place)
        assert await case.seen(place) == after, "the end is another one"
        assert (await runner.run(case.job(place))).applied == 0, "something was left"
        if case.comes_back:
            await runner.undo(case.job(place), report.run_id)
            await case.settle(place)
            assert self.before.recallable <= (await case.seen(place)).recallable, "an undo does not bring all back"


@pytest.fixture
async def trial(
    request: pytest.FixtureRequest, postgres_server: EmbeddedPostgres, tmp_path: Path
) -> AsyncIterator[Trial]:
    case, folder, clock = CASES[request.param], tmp_path / "index", FakeClock()
    folder.mkdir()
    async with fresh_postgres(postgres_server, migrations=MIGRATIONS) as urls:
        async with opened(case, urls.app, folder, clock) as place:
            await case.fill(place)
            before = await case.seen(place)
        yield Trial(case, postgres_server, urls.database, folder, clock.now(), before)


@pytest.mark.ci("kills every job in a process of its own")
@pytest.mark.parametrize("trial", CASES, indirect=True)
async def test_spec_6_9_a_job_that_is_killed_at_any_step_loses_nothing_and_comes_to_its_end(trial: Trial) -> None:
    moments, after = await trial.undisturbed()
    assert after != trial.before, "the job has nothing to do"
    # With a vector index each start takes long.
    count = min(max(1, KILLS // (1 + trial.case.index_count)) if KILLS else moments, moments)
    chosen = sorted({1 + (moments - 1) * (2 * number + 1) // (2 * count) for number in range(count)})
    if not KILLS:
        chosen = list(range(1, moments + 1))
    for moment in chosen:
        try:
            await trial.killed(moment, after)
        except AssertionError as error:
            raise AssertionError(f"killed before moment {moment} of {moments}: {error}") from error


@pytest.mark.asyncio(loop_scope="session")
async def test_spec_6_9_every_job_is_tried(client: Client) -> None:
    registered = {job.name for job in (await client.get_jobs()).jobs}
    assert registered <= set(CASES)
    fills = {"episodic.fill_second_index", "semantic.fill_second_vectors", "agentic.fill_second_vectors"}
    off = fills | {"episodic.purge_files"}
    assert set(CASES) - registered == off, "with a second model, and where the schedule of purges is on"
