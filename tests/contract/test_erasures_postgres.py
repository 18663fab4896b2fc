"""Erasures in PostgreSQL: embedded, in a server of its own, and through PgBouncer."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from services.common.ids import Uuid7Ids
from services.common.postgres.pool import PoolSettings, create_pool
from services.common.postgres.server import EmbeddedPostgres
from services.common.postgres.types import Pool
from services.gateway.erasure.stores.postgres import PostgresErasures
from services.gateway.journal.stores.postgres import MIGRATIONS, SCHEMA, PostgresJournal
from tests.contract.erasures import ErasureStoreContract
from tests.support.clock import FakeClock
from tests.support.encryption import ENCRYPTION, chosen_keys
from tests.support.postgres import fresh_postgres
from tests.support.postgres_server import PostgresByUrl


class PostgresErasuresContract(ErasureStoreContract):
    @pytest.fixture
    def clock(self) -> FakeClock:
        return FakeClock()

    @pytest.fixture
    async def pool(self, server: EmbeddedPostgres | PostgresByUrl, settings: PoolSettings) -> AsyncIterator[Pool]:
        async with fresh_postgres(server, migrations=[(SCHEMA, Path(MIGRATIONS))]) as urls:
            opened = await create_pool(urls.app, settings)
            yield opened
            await opened.close()

    @pytest.fixture
    def encryption(self) -> str:
        return "plain"

    @pytest.fixture
    def journal(self, pool: Pool, clock: FakeClock, encryption: str, tmp_path: Path) -> PostgresJournal:
        return PostgresJournal(pool, clock=clock, ids=Uuid7Ids(clock), keys=chosen_keys(encryption, tmp_path, SCHEMA))

    @pytest.fixture
    def erasures(self, pool: Pool, clock: FakeClock, encryption: str, tmp_path: Path) -> PostgresErasures:
        return PostgresErasures(pool, clock=clock, ids=Uuid7Ids(clock), keys=chosen_keys(encryption, tmp_path, SCHEMA))

    @pytest.fixture
    def second(self, pool: Pool, clock: FakeClock, encryption: str, tmp_path: Path) -> PostgresErasures:
        return PostgresErasures(pool, clock=clock, ids=Uuid7Ids(clock), keys=chosen_keys(encryption, tmp_path, SCHEMA))


class TestEmbeddedPostgresErasures(PostgresErasuresContract):
    @pytest.fixture(params=ENCRYPTION)
    def encryption(self, request: pytest.FixtureRequest) -> str:
        return str(request.param)

    @pytest.fixture
    def server(self, postgres_server: EmbeddedPostgres) -> EmbeddedPostgres:
        return postgres_server

    @pytest.fixture
    def settings(self) -> PoolSettings:
        return PoolSettings(vectors=False)


class TestPostgresServerErasures(PostgresErasuresContract):
    @pytest.fixture
    def server(self, real_postgres: PostgresByUrl) -> PostgresByUrl:
        return real_postgres

    @pytest.fixture
    def settings(self) -> PoolSettings:
        return PoolSettings(vectors=False)


class TestPooledPostgresErasures(PostgresErasuresContract):
    @pytest.fixture
    def server(self, pooled_postgres: PostgresByUrl) -> PostgresByUrl:
        return pooled_postgres

    @pytest.fixture
    def settings(self) -> PoolSettings:
        return PoolSettings(vectors=False, behind_pgbouncer=True)
