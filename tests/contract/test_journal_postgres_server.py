"""The journal in a PostgreSQL server of its own, reached directly and through PgBouncer."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from services.common.ids import Uuid7Ids
from services.common.postgres.pool import PoolSettings, create_pool
from services.common.postgres.types import Pool
from services.gateway.journal.stores.postgres import MIGRATIONS, SCHEMA, PostgresJournal
from tests.contract.journal import GATED, JournalContract
from tests.contract.journal_fairness import FairClaimsContract
from tests.contract.journal_removal import JournalRemovalContract
from tests.support.clock import FakeClock
from tests.support.postgres import fresh_postgres
from tests.support.postgres_server import PostgresByUrl


class ServerJournalContract(JournalContract, FairClaimsContract, JournalRemovalContract):
    @pytest.fixture
    def clock(self) -> FakeClock:
        return FakeClock()

    @pytest.fixture
    async def pool(self, server: PostgresByUrl, settings: PoolSettings) -> AsyncIterator[Pool]:
        async with fresh_postgres(server, migrations=[(SCHEMA, Path(MIGRATIONS))]) as urls:
            opened = await create_pool(urls.app, settings)
            yield opened
            await opened.close()

    @pytest.fixture
    async def journal(self, pool: Pool, clock: FakeClock) -> PostgresJournal:
        return PostgresJournal(pool, clock=clock, ids=Uuid7Ids(clock), settings=GATED)

    @pytest.fixture
    async def second(self, pool: Pool, clock: FakeClock) -> PostgresJournal:
        return PostgresJournal(pool, clock=clock, ids=Uuid7Ids(clock))


class TestPostgresServerJournal(ServerJournalContract):
    @pytest.fixture
    def server(self, real_postgres: PostgresByUrl) -> PostgresByUrl:
        return real_postgres

    @pytest.fixture
    def settings(self) -> PoolSettings:
        return PoolSettings(vectors=False)


class TestPooledPostgresJournal(ServerJournalContract):
    @pytest.fixture
    def server(self, pooled_postgres: PostgresByUrl) -> PostgresByUrl:
        return pooled_postgres

    @pytest.fixture
    def settings(self) -> PoolSettings:
        return PoolSettings(vectors=False, behind_pgbouncer=True)
