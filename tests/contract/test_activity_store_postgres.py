"""The PostgreSQL store of the activity log fulfils the contract; its months are made, filled and dropped."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path

import asyncpg
import pytest

from services.common.encryption.postgres import DataKeys
from services.common.postgres.pool import PoolSettings, create_pool
from services.common.postgres.server import EmbeddedPostgres
from services.common.postgres.types import Pool
from services.episodic.activity.store import ActivityStore, ActivityUpkeepStore, Removal
from services.episodic.activity.stores.postgres import PostgresActivityStore
from services.episodic.activity.stores.postgres_upkeep import PostgresActivityUpkeep
from services.episodic.stores.postgres import MIGRATIONS_FOLDER, SCHEMA
from tests.contract.activity_erasure import ActivityErasureContract
from tests.contract.activity_samples import ADA, BEN, at, ran, record, state, touched
from tests.contract.activity_store import SEEN, ActivityStoreContract
from tests.support.encryption import ENCRYPTION, chosen_keys
from tests.support.maintenance import MAINTENANCE
from tests.support.postgres import DatabaseUrls, fresh_postgres

_PLACE = "SELECT tableoid::regclass::text FROM episodic.activity_tools ORDER BY time"


class TestPostgresActivityStore(ActivityErasureContract, ActivityStoreContract):
    @pytest.fixture
    async def database(self, postgres_server: EmbeddedPostgres) -> AsyncIterator[DatabaseUrls]:
        async with fresh_postgres(postgres_server, migrations=[(SCHEMA, MIGRATIONS_FOLDER), MAINTENANCE]) as urls:
            yield urls

    @pytest.fixture
    async def pool(self, database: DatabaseUrls) -> AsyncIterator[Pool]:
        async with await create_pool(database.app, PoolSettings(size_max=6, vectors=False)) as pool:
            yield pool

    @pytest.fixture(params=ENCRYPTION)
    def keys(self, request: pytest.FixtureRequest, tmp_path: Path) -> DataKeys:
        return chosen_keys(request.param, tmp_path, SCHEMA)

    @pytest.fixture
    async def store(self, pool: Pool, keys: DataKeys) -> ActivityStore:
        return PostgresActivityStore(pool, keys=keys)

    @pytest.fixture
    async def upkeep(self, pool: Pool, keys: DataKeys) -> ActivityUpkeepStore:
        return PostgresActivityUpkeep(pool, keys=keys)

    async def test_spec_2_10_months_are_made_filled_and_dropped(
        self, store: ActivityStore, upkeep: ActivityUpkeepStore, database: DatabaseUrls
    ) -> None:
        may, april = datetime(2026, 5, 1, tzinfo=UTC), datetime(2026, 4, 1, tzinfo=UTC)
        await store.write(ADA, [record("1", ran("bash")), record("2", state(description="one"), task_id="k")])
        assert await upkeep.make_partitions(at(0)) == 5
        assert await upkeep.make_partitions(at(0)) == 0
        assert {"activity_tools_202605", "activity_tasks_202605"} <= {
            one.name for one in await upkeep.partitions() if one.month == may
        }
        await store.write(BEN, [record("1", ran("bash"), minutes=1), record("0", ran("old"), minutes=-60 * 24 * 20)])
        connection = await asyncpg.connect(database.superuser)
        try:
            places = [row[0] for row in await connection.fetch(_PLACE)]
        finally:
            await connection.close()
        # The row that came before its month was made has moved.
        assert places == ["episodic.activity_tools_rest", *["episodic.activity_tools_202605"] * 2]
        assert len(await store.list_tools(ADA, SEEN, after=None, limit=9)) == 1
        assert await upkeep.delete_before(april) == 0
        assert await upkeep.delete_before(may) == 1
        assert await upkeep.drop_partition("activity_tools_202605")
        assert not await upkeep.drop_partition("activity_tools_202605")
        assert not await upkeep.drop_partition("episodes")
        assert await store.list_tools(ADA, SEEN, after=None, limit=9) == []
        assert await store.get_task(ADA, "k", scope_keys=SEEN.scope_keys) is not None

    async def test_spec_6_9_an_erasure_that_waits_for_a_new_month_finds_what_was_moved_into_it(
        self, store: ActivityStore, database: DatabaseUrls
    ) -> None:
        await store.write(ADA, [record("1", ran("bash")), record("2", state(description="one"), task_id="k")])
        connection = await asyncpg.connect(database.superuser)
        try:
            async with connection.transaction():
                await connection.execute("SELECT episodic.make_activity_partitions($1)", at(0))
                erasing = asyncio.create_task(store.remove(ADA, Removal(), now=at(1)))
                for _ in range(1_000):
                    if await connection.fetchval("SELECT EXISTS (SELECT FROM pg_locks WHERE NOT granted)"):
                        break
                    await asyncio.sleep(0.01)
        finally:
            await connection.close()
        assert await erasing == 2
        assert await store.list_tools(ADA, SEEN, after=None, limit=9) == []
        assert await store.get_task(ADA, "k", scope_keys=SEEN.scope_keys) is None

    async def test_nobody_reads_a_partition_by_its_name(self, store: ActivityStore, pool: Pool) -> None:
        await store.write(ADA, [record("1", touched("a.py"))])
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            await pool.fetch("SELECT * FROM episodic.activity_files_rest")
        assert await pool.fetch("SELECT * FROM episodic.activity_files") == []
