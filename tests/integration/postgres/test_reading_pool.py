"""The pool that leaves a connection at hand for the next read."""

from __future__ import annotations

import asyncio

import asyncpg
import pytest

from services.common.errors import DeadlineExceeded, StoreUnavailable
from services.common.postgres import reading_pool
from services.common.postgres.pool import PoolSettings, create_pool
from services.common.postgres.tenancy import as_tenant, fetch_as_tenant
from services.common.postgres.types import Pool
from tests.support.postgres import DatabaseUrls

WHO = "SELECT pg_backend_pid()"


async def _opened(urls: DatabaseUrls, size_max: int = 4, **settings: float) -> Pool:
    return await create_pool(urls.app, PoolSettings(size_min=0, size_max=size_max, **settings))  # type: ignore[arg-type]


def _in_use(pool: Pool) -> int:
    return pool.get_size() - pool.get_idle_size()


async def test_reads_share_a_connection_that_stays_at_hand(fresh_database: DatabaseUrls) -> None:
    async with await _opened(fresh_database) as pool:
        assert len({(await pool.fetch(WHO))[0][0] for _ in range(3)}) == 1
        assert _in_use(pool) == 1


async def test_reads_at_the_same_time_have_one_each(fresh_database: DatabaseUrls) -> None:
    async with await _opened(fresh_database) as pool:
        rows = await asyncio.gather(*(pool.fetch(f"{WHO}, pg_sleep(0.05)") for _ in range(3)))
        assert len({row[0][0] for row in rows}) == 3
        assert _in_use(pool) == 1


async def test_a_small_pool_spares_none(fresh_database: DatabaseUrls) -> None:
    async with await _opened(fresh_database, size_max=1) as pool:
        await pool.fetch(WHO)
        assert _in_use(pool) == 0


async def test_what_is_not_used_goes_back(fresh_database: DatabaseUrls, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading_pool, "_IDLE_SECONDS", 0.01)
    async with await _opened(fresh_database) as pool:
        await pool.fetch(WHO)
        async with asyncio.timeout(5):
            taken = [await pool.acquire() for _ in range(4)]  # waits until it does
        for connection in taken:
            await pool.release(connection)
        assert (await pool.fetch("SELECT 1"))[0][0] == 1


async def test_after_many_reads_it_goes_back(fresh_database: DatabaseUrls, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading_pool, "_READS_MAX", 2)
    async with await _opened(fresh_database) as pool:
        await pool.fetch(WHO)
        await pool.fetch(WHO)
        assert _in_use(pool) == 0


async def test_a_statement_that_fails_gives_it_back(fresh_database: DatabaseUrls) -> None:
    async with await _opened(fresh_database) as pool:
        await pool.fetch(WHO)
        with pytest.raises(asyncpg.DivisionByZeroError):
            await pool.fetch("SELECT 1 / 0")
        assert _in_use(pool) == 0
        assert (await pool.fetch("SELECT 1"))[0][0] == 1


async def test_a_read_that_is_cancelled_leaves_nothing_running(fresh_database: DatabaseUrls) -> None:
    async with await _opened(fresh_database) as pool:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.05):
                await pool.fetch("SELECT pg_sleep(30)")
        assert _in_use(pool) == 0
        active = "SELECT count(*) FROM pg_stat_activity WHERE state = 'active' AND datname = current_database()"
        assert (await pool.fetch(active))[0][0] == 1


async def test_one_that_was_lost_meanwhile_is_replaced(fresh_database: DatabaseUrls) -> None:
    async with await _opened(fresh_database) as pool:
        [[number]] = await pool.fetch(WHO)
        lost = asyncio.Event()
        connection = pool._at_hand
        assert connection is not None
        connection.add_termination_listener(lambda _: lost.set())
        killer = await asyncpg.connect(fresh_database.superuser)
        await killer.execute("SELECT pg_terminate_backend($1)", number)
        await killer.close()
        async with asyncio.timeout(5):
            await lost.wait()
        [[other]] = await pool.fetch(WHO)
        assert other != number


async def test_closing_waits_for_nobody_at_hand(fresh_database: DatabaseUrls) -> None:
    pool = await _opened(fresh_database)
    await asyncio.gather(*(pool.fetch("SELECT pg_sleep(0.05)") for _ in range(2)))  # two are connected from here on
    reading = asyncio.create_task(pool.fetch("SELECT pg_sleep(0.1)"))
    await pool.fetch(WHO)
    async with asyncio.timeout(5):
        await pool.close()
        await reading
    assert pool.get_size() == 0


async def test_a_full_pool_is_unavailable_and_a_slow_statement_late(fresh_database: DatabaseUrls) -> None:
    statement = as_tenant("SELECT $1::text AS tenant, pg_sleep($2)")
    async with await _opened(fresh_database, command_timeout_seconds=0.2) as pool:
        assert (await fetch_as_tenant(pool, statement, "ours", 0.0))[0]["tenant"] == "ours"
        with pytest.raises(DeadlineExceeded):
            await fetch_as_tenant(pool, statement, "ours", 5.0)
        taken = [await pool.acquire() for _ in range(4)]
        with pytest.raises(StoreUnavailable):
            await fetch_as_tenant(pool, statement, "ours", 0.0, acquire_timeout_seconds=0.05)
        for connection in taken:
            await pool.release(connection)
