"""The job that purges the files of a database in use after erasures, and what receipts know of it."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import asyncpg
import pytest

from services.common.clock import SystemClock
from services.common.errors import Conflict
from services.common.ids import Uuid7Ids
from services.common.maintenance import MaintenanceRunner
from services.common.maintenance.postgres import PostgresMaintenanceStore, migrate_maintenance
from services.common.maintenance.purges import (
    PurgeAfter,
    index_is_purged,
    look_for_erased,
    note_erased,
    pending_index_purge,
    purges_after,
)
from services.common.postgres.pool import PoolSettings, create_pool
from services.common.postgres.purging_online import purging_connection
from services.common.postgres.server import EmbeddedPostgres
from services.common.postgres.types import Connection, Pool
from services.episodic.config import PurgeSettings
from services.episodic.maintenance.files import PurgeFiles
from tests.support.postgres import DatabaseUrls

SETTINGS = PurgeSettings(age_seconds=3_600.0, memories_min=50, interval_seconds=0.001)


@dataclass(frozen=True)
class Place:
    """A database with the schema of maintenance."""

    urls: DatabaseUrls
    pool: Pool
    superuser: Connection

    async def run(self, settings: PurgeSettings = SETTINGS) -> int:
        """Runs the job once, as the schedule does; how many purges it made."""
        clock = SystemClock()
        runner = MaintenanceRunner(PostgresMaintenanceStore(self.pool), clock=clock, ids=Uuid7Ids(clock))
        report = await runner.run(PurgeFiles(self.pool, self.urls.superuser, settings))
        assert report.is_claimed
        return report.applied


@pytest.fixture
async def place(fresh_database: DatabaseUrls) -> AsyncIterator[Place]:
    """With a table of the owner's."""
    await migrate_maintenance(fresh_database.owner)
    superuser = await asyncpg.connect(fresh_database.superuser)
    await superuser.execute("CREATE TABLE said (word text)")
    pool = await create_pool(fresh_database.app, PoolSettings(size_max=3))
    yield Place(fresh_database, pool, superuser)
    await pool.close()
    await superuser.close()


def _files_with(cluster: Path, word: bytes) -> list[Path]:
    return [path for path in cluster.rglob("*") if path.is_file() and word in path.read_bytes()]


async def test_spec_6_6_the_schedule_purges_the_files_after_an_erasure_and_not_again(
    postgres_server: EmbeddedPostgres, place: Place
) -> None:
    word = secrets.token_hex(8)
    await place.superuser.execute("INSERT INTO said SELECT $1 FROM generate_series(1, 50)", word)
    await place.superuser.execute("DELETE FROM said")
    cluster = postgres_server.log_file.parent / "cluster"
    assert await place.run() == 0  # nothing was erased that it knows of
    assert await asyncio.to_thread(_files_with, cluster, word.encode())
    async with place.pool.acquire() as connection:
        await note_erased(connection, 50)
    assert await place.run() == 1
    assert await asyncio.to_thread(_files_with, cluster, word.encode()) == []
    assert await place.run() == 0


async def test_spec_6_6_a_receipt_knows_until_when_the_schedule_purges_and_when_it_did(place: Place) -> None:
    time = await place.superuser.fetchval("SELECT clock_timestamp()")
    assert await purges_after(place.pool, [time]) == [PurgeAfter()]  # no job has looked
    await place.run()
    due = time + timedelta(hours=1)
    assert await purges_after(place.pool, [time]) == [PurgeAfter(due_time=due)]
    async with place.pool.acquire() as connection:
        await note_erased(connection, 50)
    assert await place.run() == 1
    begun = await pending_index_purge(place.pool)  # which the episodic service does
    assert begun is not None
    assert [after.done_time for after in await purges_after(place.pool, [time])] == [None]
    await index_is_purged(place.pool, begun)
    [after] = await purges_after(place.pool, [time])
    assert after.is_scheduled
    assert after.done_time is not None
    assert after.done_time >= begun


async def test_an_erasure_during_a_purge_waits_for_the_next_one(place: Place) -> None:
    async with place.pool.acquire() as connection, place.pool.acquire() as other:
        await note_erased(connection, 50)
        async with other.transaction():
            await other.execute("SET LOCAL lock_timeout = 0; LOCK TABLE maintenance.log IN ROW EXCLUSIVE MODE")
            purging = asyncio.create_task(place.run())
            while not await connection.fetchval("SELECT count(*) FROM maintenance.purges"):  # noqa: ASYNC110
                await asyncio.sleep(0.01)
            await note_erased(connection, 3)
    assert await purging == 1
    erased = await look_for_erased(place.pool, age=timedelta(hours=1))
    assert erased.memories == 3
    assert erased.first_time is not None
    assert erased.begin_time is not None
    assert erased.first_time >= erased.begin_time
    assert await place.run() == 0  # too few and too new
    assert await place.run(PurgeSettings(age_seconds=0.001, interval_seconds=0.001)) == 1


async def test_the_job_leaves_the_files_to_a_purge_that_is_running_and_does_not_count_as_failed(place: Place) -> None:
    async with place.pool.acquire() as connection:
        await note_erased(connection, 50)
    async with purging_connection(place.urls.superuser):
        with pytest.raises(Conflict, match="another purge"):
            await place.run()
    states = await PostgresMaintenanceStore(place.pool).job_states(["episodic.purge_files"])
    assert [state.failures for state in states.values()] == [0]
    assert await place.run() == 1
