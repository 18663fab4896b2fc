from collections.abc import AsyncIterator
from datetime import datetime
from pathlib import Path

import asyncpg
import pytest

from services.common.errors import StoreUnavailable
from services.common.idempotency.model import IdempotencyKey
from services.common.postgres.pool import PoolSettings, create_pool
from services.common.postgres.server import EmbeddedPostgres
from services.common.postgres.tenancy import tenant_transaction
from services.episodic.model import Owner, TenantId, UserId
from services.episodic.removal_store import Deleted
from services.episodic.store import EpisodeFilter, EpisodeStore
from services.episodic.stores.postgres import MIGRATIONS_FOLDER, SCHEMA, PostgresEpisodeStore
from tests.contract.episode_background import NOW, insert
from tests.contract.episode_samples import GLOBAL, OWNER, new_episode, write
from tests.contract.episode_store import EpisodeStoreContract
from tests.support.encryption import ENCRYPTION, chosen_keys
from tests.support.postgres import DatabaseUrls, fresh_postgres


@pytest.fixture
async def database(postgres_server: EmbeddedPostgres) -> AsyncIterator[DatabaseUrls]:
    async with fresh_postgres(postgres_server, migrations=[(SCHEMA, MIGRATIONS_FOLDER)]) as urls:
        yield urls


@pytest.fixture(params=ENCRYPTION)
def encryption(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
async def store(database: DatabaseUrls, encryption: str, tmp_path: Path) -> AsyncIterator[EpisodeStore]:
    pool = await create_pool(database.app, PoolSettings(size_max=8))
    yield PostgresEpisodeStore(pool, model="model-a", keys=chosen_keys(encryption, tmp_path, SCHEMA))
    await pool.close()


@pytest.fixture
async def replica(database: DatabaseUrls, encryption: str, tmp_path: Path) -> AsyncIterator[EpisodeStore]:
    pool = await create_pool(database.app, PoolSettings(size_max=2))
    yield PostgresEpisodeStore(pool, model="model-a", keys=chosen_keys(encryption, tmp_path, SCHEMA))
    await pool.close()


class TestPostgresEpisodeStore(EpisodeStoreContract):
    async def test_spec_7_1_row_level_security_hides_rows_without_a_tenant(
        self, store: EpisodeStore, database: DatabaseUrls
    ) -> None:
        await insert(store, new_episode(1))
        connection = await asyncpg.connect(database.app)
        try:
            assert await connection.fetchval("SELECT count(*) FROM episodic.episodes") == 0
            await connection.execute("SELECT set_config('mneme.tenant', 'other', false)")
            assert await connection.fetchval("SELECT count(*) FROM episodic.episodes") == 0
            with pytest.raises(asyncpg.InsufficientPrivilegeError):
                await connection.execute(
                    "INSERT INTO episodic.idempotency_records VALUES ('acme', 'p', 'r', '', 'u', '', '', now())"
                )
        finally:
            await connection.close()

    async def test_a_read_leaves_no_tenant_behind_on_the_connection(self, database: DatabaseUrls) -> None:
        pool = await create_pool(database.app, PoolSettings(size_min=1, size_max=1))
        try:
            store = PostgresEpisodeStore(pool, model="model-a")
            await insert(store, new_episode(1))
            await store.columns_at(OWNER, [new_episode(1).key], scope_keys=GLOBAL)
            await store.list_episodes(OWNER, EpisodeFilter(), limit=1, after=None)
            assert await pool.fetchval("SELECT current_setting('mneme.tenant', true)") in {None, ""}
        finally:
            await pool.close()

    async def test_a_lost_database_is_unavailable(self, database: DatabaseUrls) -> None:
        pool = await create_pool(database.app, PoolSettings(size_max=1))
        store = PostgresEpisodeStore(pool, model="model-a")
        await pool.close()
        with pytest.raises(StoreUnavailable):
            await store.insert(OWNER.tenant_id, [new_episode(1)], now=NOW)


class _Interrupted(PostgresEpisodeStore):
    """Its server is away after the first transaction of a deletion."""

    async def _delete_users(self, tenant_id: TenantId, key: IdempotencyKey, now: datetime) -> bool:
        assert await super()._delete_users(tenant_id, key, now)
        raise StoreUnavailable("postgres")


async def test_spec_6_6_deletion_of_a_tenant_resumes_and_counts_what_the_interrupted_call_deleted(
    database: DatabaseUrls, encryption: str, tmp_path: Path
) -> None:
    keys = chosen_keys(encryption, tmp_path, SCHEMA)
    owners = [Owner(OWNER.tenant_id, UserId(f"user{number}")) for number in range(5)]
    async with await create_pool(database.app, PoolSettings(size_max=4)) as pool:
        kinds = (_Interrupted, PostgresEpisodeStore)
        stores = [kind(pool, model="model-a", keys=keys, deleted_max=4) for kind in kinds]
        for owner in owners:
            await insert(stores[0], *(new_episode(number, owner=owner) for number in range(3)))
        with pytest.raises(StoreUnavailable):
            await stores[0].delete_tenant(OWNER.tenant_id, key=write("t"), now=NOW)
        found = [await stores[1].list_episodes(owner, EpisodeFilter(), limit=9, after=None) for owner in owners]
        assert list(map(len, found)) == [0, 0, 3, 3, 3]
        await insert(stores[0], new_episode(7, owner=owners[0]))
        for _ in range(2):
            deleted = await stores[1].delete_tenant(OWNER.tenant_id, key=write("t"), now=NOW)
            assert deleted == Deleted(16, 6 if encryption == "encrypted" else 0)
        assert await stores[1].deleted_owners(OWNER.tenant_id) == owners
        async with tenant_transaction(pool, OWNER.tenant_id) as connection:
            records = await connection.fetch("SELECT request_id, response FROM episodic.idempotency_records")
        assert [row["request_id"] for row in records] == ["t"], "nothing is left of the progress"
