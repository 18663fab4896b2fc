"""Grants in PostgreSQL."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from services.common.ids import Uuid7Ids
from services.common.postgres.pool import create_pool
from services.common.postgres.server import EmbeddedPostgres
from services.gateway.grants.stores.postgres import PostgresGrants
from services.gateway.journal.stores.postgres import MIGRATIONS, SCHEMA
from tests.contract.grants import SETTINGS, GrantStoreContract
from tests.support.clock import FakeClock
from tests.support.postgres import fresh_postgres


class TestPostgresGrants(GrantStoreContract):
    @pytest.fixture
    def clock(self) -> FakeClock:
        return FakeClock()

    @pytest.fixture
    async def grants(self, postgres_server: EmbeddedPostgres, clock: FakeClock) -> AsyncIterator[PostgresGrants]:
        async with fresh_postgres(postgres_server, migrations=[(SCHEMA, Path(MIGRATIONS))]) as urls:
            pool = await create_pool(urls.app)
            yield PostgresGrants(pool, clock=clock, ids=Uuid7Ids(clock), settings=SETTINGS)
            await pool.close()
