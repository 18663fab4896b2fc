"""The purge of a PostgreSQL in use: what was deleted goes from its files, and calls wait for a bounded time."""

from __future__ import annotations

import asyncio
import secrets
import uuid
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import asyncpg
import pytest

from services.common.errors import Conflict
from services.common.maintenance.postgres import migrate_maintenance
from services.common.maintenance.purges import (
    PurgeAfter,
    begin_purge,
    database_is_purged,
    index_is_purged,
    is_index_purged,
    pending_index_purge,
    purges_after,
)
from services.common.postgres.purging_online import (
    OnlinePurgeSettings,
    PurgeIncomplete,
    purge_online,
    purging_connection,
)
from services.common.postgres.server import EmbeddedPostgres
from services.common.postgres.types import Connection
from tests.support.postgres import DatabaseUrls

SETTINGS: Final = OnlinePurgeSettings(lock_seconds=0.2, attempts=2, retry_seconds=0.05, older_seconds=0.2)


@pytest.fixture
async def reader(fresh_database: DatabaseUrls) -> AsyncIterator[Connection]:
    """Another connection of the database, with two tables."""
    connection = await asyncpg.connect(fresh_database.superuser)
    await connection.execute("CREATE TABLE kept (word text); CREATE TABLE emptied (word text)")
    yield connection
    await connection.close()


async def _with_erased_word(connection: Connection) -> bytes:
    """A word that both tables and the planner's statistics held, and that was deleted."""
    word = secrets.token_hex(8)
    for table in ("kept", "emptied"):
        await connection.execute(f"INSERT INTO {table} SELECT $1 FROM generate_series(1, 50)", word)  # noqa: S608
    await connection.execute("INSERT INTO kept SELECT 'other ' || n FROM generate_series(1, 50) AS n")
    await connection.execute("ANALYZE; CHECKPOINT")
    for table in ("kept", "emptied"):
        await connection.execute(f"DELETE FROM {table} WHERE word = $1", word)  # noqa: S608
    return word.encode()


def _files_with(cluster: Path, word: bytes) -> list[Path]:
    return [path for path in cluster.rglob("*") if path.is_file() and word in path.read_bytes()]


async def test_spec_6_6_what_was_deleted_is_in_no_file_after_a_purge_beside_open_connections(
    postgres_server: EmbeddedPostgres, fresh_database: DatabaseUrls, reader: Connection
) -> None:
    word = await _with_erased_word(reader)
    cluster = postgres_server.log_file.parent / "cluster"
    assert await asyncio.to_thread(_files_with, cluster, word)
    async with purging_connection(fresh_database.superuser) as connection:
        assert await purge_online(connection, SETTINGS) == 2
        assert await reader.fetchval("SELECT current_setting('wal_recycle')") == "on"
    assert await asyncio.to_thread(_files_with, cluster, word) == []
    assert await reader.fetchval("SELECT count(*) FROM kept") == 50
    statistics = "SELECT count(*) FROM pg_stats WHERE tablename = $1"
    assert await reader.fetchval(statistics, "kept") == 1  # queries had some all the time
    assert await reader.fetchval(statistics, "emptied") == 0


async def test_spec_6_6_calls_wait_for_the_lock_of_a_purge_for_no_longer_than_was_set(
    fresh_database: DatabaseUrls, reader: Connection
) -> None:
    caller = await asyncpg.connect(fresh_database.superuser)
    try:
        async with purging_connection(fresh_database.superuser) as connection:
            async with reader.transaction():
                await reader.execute("LOCK TABLE kept IN ACCESS SHARE MODE")
                purging = asyncio.create_task(purge_online(connection, SETTINGS))
                waited = []
                while not purging.done():
                    begun = asyncio.get_running_loop().time()
                    await caller.fetchval("SELECT count(*) FROM kept")
                    waited.append(asyncio.get_running_loop().time() - begun)
                    await asyncio.sleep(0.01)
                with pytest.raises(PurgeIncomplete, match=r"public\.kept"):
                    await purging
            assert max(waited) < 5.0  # and not for the two tries, nor until the lock is free
            assert await connection.fetchval("SELECT current_setting('lock_timeout')") == "0"
    finally:
        await caller.close()


async def test_a_table_that_takes_longer_than_calls_may_wait_stays_as_it_is(
    fresh_database: DatabaseUrls, reader: Connection
) -> None:
    await reader.execute("INSERT INTO kept SELECT repeat(n::text, 20) FROM generate_series(1, 200000) AS n")
    settings = OnlinePurgeSettings(lock_seconds=0.001, hold_seconds=0.005)
    async with purging_connection(fresh_database.superuser) as connection:
        with pytest.raises(PurgeIncomplete, match=r"public\.kept"):
            await purge_online(connection, settings)
    assert await reader.fetchval("SELECT count(*) FROM kept") == 200_000


async def test_a_transaction_from_before_that_may_still_read_what_was_deleted_is_waited_for(
    fresh_database: DatabaseUrls, reader: Connection
) -> None:
    async with purging_connection(fresh_database.superuser) as connection:
        async with reader.transaction(isolation="repeatable_read"):
            await reader.fetchval("SELECT count(*) FROM pg_class")
            await connection.execute("INSERT INTO emptied VALUES ('erased')")
            await connection.execute("DELETE FROM emptied")  # which the reader still sees
            with pytest.raises(PurgeIncomplete, match="1 transactions"):
                await purge_online(connection, SETTINGS)
        assert await purge_online(connection, SETTINGS) == 2


async def test_one_purge_of_a_database_runs_at_a_time(fresh_database: DatabaseUrls) -> None:
    async with purging_connection(fresh_database.superuser):
        with pytest.raises(Conflict, match="another purge"):
            async with purging_connection(fresh_database.superuser):
                pass


async def test_a_purge_is_done_when_the_database_and_the_indexes_are(fresh_database: DatabaseUrls) -> None:
    await migrate_maintenance(fresh_database.owner)
    pool = await asyncpg.create_pool(fresh_database.app, min_size=1, max_size=1)
    connection = await asyncpg.connect(fresh_database.superuser)
    try:
        assert await pending_index_purge(pool) is None
        before = await connection.fetchval("SELECT clock_timestamp()")
        first = await begin_purge(connection, uuid.uuid4())
        assert first is not None
        assert await pending_index_purge(pool) == first.begin_time
        second = await begin_purge(connection, uuid.uuid4())
        assert second is not None
        await database_is_purged(connection, first)
        assert await purges_after(pool, [before]) == [PurgeAfter()]
        await index_is_purged(pool, first.begin_time)
        assert await is_index_purged(connection, first)
        assert not await is_index_purged(connection, second)
        done, none = await purges_after(pool, [before, second.begin_time])
        assert done.done_time is not None
        assert done.done_time >= first.begin_time
        assert not done.is_scheduled
        assert none == PurgeAfter()
        assert await pending_index_purge(pool) == second.begin_time
    finally:
        await connection.close()
        await pool.close()


async def test_a_database_without_the_table_of_purges_is_known_as_such(
    fresh_database: DatabaseUrls, reader: Connection
) -> None:
    assert await begin_purge(reader, uuid.uuid4()) is None
    async with asyncpg.create_pool(fresh_database.superuser, min_size=1, max_size=1) as pool:
        assert await purges_after(pool, [datetime.now(UTC)]) == [PurgeAfter()]
