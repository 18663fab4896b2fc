"""Episodes in a PostgreSQL server of its own, reached directly and through PgBouncer."""

from collections.abc import AsyncIterator

import pytest

from services.common.postgres.pool import PoolSettings, create_pool
from services.episodic.store import EpisodeStore
from services.episodic.stores.postgres import MIGRATIONS_FOLDER, SCHEMA, PostgresEpisodeStore
from tests.contract.episode_store import EpisodeStoreContract
from tests.support.postgres import DatabaseUrls, fresh_postgres
from tests.support.postgres_server import PostgresByUrl


class ServerEpisodeStoreContract(EpisodeStoreContract):
    @pytest.fixture
    async def database(self, server: PostgresByUrl) -> AsyncIterator[DatabaseUrls]:
        async with fresh_postgres(server, migrations=[(SCHEMA, MIGRATIONS_FOLDER)]) as urls:
            yield urls

    @pytest.fixture
    async def store(self, database: DatabaseUrls, settings: PoolSettings) -> AsyncIterator[EpisodeStore]:
        pool = await create_pool(database.app, settings)
        yield PostgresEpisodeStore(pool, model="model-a")
        await pool.close()

    @pytest.fixture
    async def replica(self, database: DatabaseUrls, settings: PoolSettings) -> AsyncIterator[EpisodeStore]:
        pool = await create_pool(database.app, settings)
        yield PostgresEpisodeStore(pool, model="model-a")
        await pool.close()


class TestPostgresServerEpisodeStore(ServerEpisodeStoreContract):
    @pytest.fixture
    def server(self, real_postgres: PostgresByUrl) -> PostgresByUrl:
        return real_postgres

    @pytest.fixture
    def settings(self) -> PoolSettings:
        return PoolSettings(size_max=8, vectors=False)


class TestPooledPostgresEpisodeStore(ServerEpisodeStoreContract):
    @pytest.fixture
    def server(self, pooled_postgres: PostgresByUrl) -> PostgresByUrl:
        return pooled_postgres

    @pytest.fixture
    def settings(self) -> PoolSettings:
        return PoolSettings(size_max=8, vectors=False, behind_pgbouncer=True)
