"""What gateways are asked for, in PostgreSQL."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from services.common.errors import StoreUnavailable
from services.common.postgres.pool import create_pool
from services.common.postgres.server import EmbeddedPostgres
from services.common.postgres.types import Pool
from services.common.rates import CallKind, RateLimiter, RateSettings, SharedRates
from services.gateway.journal.stores.postgres import MIGRATIONS, SCHEMA
from services.gateway.rates.postgres import PostgresDemand
from tests.support.postgres import fresh_postgres
from tests.unit.common.test_rates import Time, admitted

READS, WRITES = ("acme", CallKind.READ), ("acme", CallKind.WRITE)


@pytest.fixture
async def pool(postgres_server: EmbeddedPostgres) -> AsyncIterator[Pool]:
    async with fresh_postgres(postgres_server, migrations=[(SCHEMA, Path(MIGRATIONS))]) as urls:
        opened = await create_pool(urls.app)
        yield opened
        await opened.close()


async def test_spec_7_2_gateways_learn_what_the_others_are_asked_for(pool: Pool) -> None:
    store = PostgresDemand(pool)
    assert await store.exchange("a", {READS: 30, WRITES: 1}, seconds=60) == {}
    assert await store.exchange("b", {READS: 10}, seconds=60) == {READS: 30}
    assert await store.exchange("c", {READS: 5, ("globex", CallKind.READ): 7}, seconds=60) == {READS: 40}
    assert await store.exchange("a", {READS: 0, WRITES: 0}, seconds=60) == {READS: 15}
    assert await store.exchange("b", {READS: 10, WRITES: 3}, seconds=60) == {READS: 5, WRITES: 0}
    assert await store.exchange("b", {READS: 10}, seconds=0) == {}, "reports that are too old do not count"


async def test_spec_7_2_gateways_share_the_rate_of_a_tenant(pool: Pool) -> None:
    time = Time()
    settings = RateSettings(reads_per_second=100.0)
    limiters = [RateLimiter(settings, monotonic=time) for _ in range(2)]
    shared = [SharedRates(limiter, PostgresDemand(pool), name) for limiter, name in zip(limiters, "ab", strict=True)]
    counts = []
    for _ in range(6):
        time.now += 1.0
        counts.append([admitted(limiter, asked) for limiter, asked in zip(limiters, (900, 300), strict=True)])
        for replica in shared:
            await replica.run_once()
    assert counts[-1] == [75, 25]


async def test_without_the_store_gateways_stay_with_their_shares(pool: Pool) -> None:
    time = Time()
    limiter = RateLimiter(RateSettings(reads_per_second=10.0), monotonic=time)
    shared = SharedRates(limiter, PostgresDemand(pool), "a")
    await PostgresDemand(pool).exchange("b", {READS: 20}, seconds=60)
    assert admitted(limiter, 20) == 20
    await shared.run_once()
    await pool.close()
    with pytest.raises(StoreUnavailable):
        await PostgresDemand(pool).exchange("a", {READS: 1}, seconds=60)
    await shared.run_once()
    time.now += 1.0
    assert admitted(limiter, 100) == 5
