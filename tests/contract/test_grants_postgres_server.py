"""Grants in a PostgreSQL server of its own, reached directly and through PgBouncer."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from services.common.ids import Uuid7Ids
from services.common.postgres.pool import PoolSettings, create_pool
from services.gateway.grants.stores.postgres import PostgresGrants
from services.gateway.journal.stores.postgres import MIGRATIONS, SCHEMA
from tests.contract.grants import SETTINGS, GrantStoreContract
from tests.support.clock import FakeClock
from tests.support.postgres import fresh_postgres
from tests.support.postgres_server import PostgresByUrl


class ServerGrantsContract(GrantStoreContract):
    @pytest.fixture
    def clock(self) -> FakeClock:
        return FakeClock()

    @pytest.fixture
    async def grants(
        self, server: PostgresByUrl, settings: PoolSettings, clock: FakeClock
    ) -> AsyncIterator[PostgresGrants]:
        async with fresh_postgres(server, migrations=[(SCHEMA, Path(MIGRATIONS))]) as urls:
            pool = await create_pool(urls.app, settings)
            yield PostgresGrants(pool, clock=clock, ids=Uuid7Ids(clock), settings=SETTINGS)
            await pool.close()


class TestPostgresServerGrants(ServerGrantsContract):
    @pytest.fixture
    def server(self, real_postgres: PostgresByUrl) -> PostgresByUrl:
        return real_postgres

    @pytest.fixture
    def settings(self) -> PoolSettings:
        return PoolSettings(vectors=False)


class TestPooledPostgresGrants(ServerGrantsContract):
    @pytest.fixture
    def server(self, pooled_postgres: PostgresByUrl) -> PostgresByUrl:
        return pooled_postgres

    @pytest.fixture
    def settings(self) -> PoolSettings:
        return PoolSettings(vectors=False, behind_pgbouncer=True)
