"""Row-level security as services meet it: one tenant per transaction, none without."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import asyncpg
import pytest

from services.common.errors import Conflict, StoreUnavailable
from services.common.postgres.pool import PoolSettings, create_pool
from services.common.postgres.server import EmbeddedPostgres
from services.common.postgres.tenancy import tenant_transaction
from services.common.postgres.types import Pool
from tests.support.postgres import DatabaseUrls, fresh_postgres

FOLDER = Path(__file__).parent / "migrations"
INSERT = "INSERT INTO episodic.notes (tenant_id, note_id) VALUES ($1, $2)"
COUNT = "SELECT count(*) FROM episodic.notes"


@pytest.fixture
async def database(postgres_server: EmbeddedPostgres) -> AsyncIterator[DatabaseUrls]:
    async with fresh_postgres(postgres_server, migrations=[("episodic", FOLDER)]) as urls:
        yield urls


@pytest.fixture
async def pool(database: DatabaseUrls) -> AsyncIterator[Pool]:
    async with await create_pool(database.app, PoolSettings(size_max=2)) as opened:
        yield opened


async def _store(pool: Pool, tenant_id: str, note_id: str) -> None:
    async with tenant_transaction(pool, tenant_id) as connection:
        await connection.execute(INSERT, tenant_id, note_id)


async def test_spec_7_1_a_tenant_sees_only_its_own_rows(pool: Pool) -> None:
    await _store(pool, "acme", "a")
    await _store(pool, "globex", "b")
    async with tenant_transaction(pool, "acme") as connection:
        rows = await connection.fetch("SELECT note_id FROM episodic.notes")
        deleted = await connection.execute("DELETE FROM episodic.notes WHERE tenant_id = 'globex'")
    assert [row["note_id"] for row in rows] == ["a"]
    assert deleted == "DELETE 0"


async def test_spec_7_1_a_row_of_another_tenant_cannot_be_written(pool: Pool) -> None:
    with pytest.raises(asyncpg.InsufficientPrivilegeError, match="row-level security"):
        async with tenant_transaction(pool, "acme") as connection:
            await connection.execute(INSERT, "globex", "a")


async def test_spec_7_1_without_a_tenant_nothing_is_visible_even_on_a_used_connection(
    database: DatabaseUrls,
) -> None:
    async with await create_pool(database.app, PoolSettings(size_max=1)) as pool:
        await _store(pool, "acme", "a")
        assert await pool.fetchval(COUNT) == 0


async def test_spec_7_1_the_owner_is_bound_too(database: DatabaseUrls, pool: Pool) -> None:
    await _store(pool, "acme", "a")
    owner = await asyncpg.connect(database.owner)
    assert await owner.fetchval(COUNT) == 0
    await owner.close()


async def test_spec_7_1_app_role_cannot_lift_its_limits(pool: Pool) -> None:
    for statement in ("ALTER TABLE episodic.notes DISABLE ROW LEVEL SECURITY", "SET ROLE postgres"):
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            await pool.execute(statement)


async def test_failure_rolls_back_and_clears_the_tenant(pool: Pool) -> None:
    async def fail_after_writing() -> None:
        async with tenant_transaction(pool, "acme") as connection:
            await connection.execute(INSERT, "acme", "a")
            raise LookupError

    with pytest.raises(LookupError):
        await fail_after_writing()
    async with tenant_transaction(pool, "acme") as connection:
        assert await connection.fetchval(COUNT) == 0


async def test_savepoints_work_inside(pool: Pool) -> None:
    async with tenant_transaction(pool, "acme") as connection:
        await connection.execute(INSERT, "acme", "a")
        with pytest.raises(asyncpg.UniqueViolationError):
            async with connection.transaction():
                await connection.execute(INSERT, "acme", "a")
        await connection.execute(INSERT, "acme", "b")
    async with tenant_transaction(pool, "acme") as connection:
        assert await connection.fetchval(COUNT) == 2


async def test_driver_errors_leave_translated(pool: Pool) -> None:
    await _store(pool, "acme", "a")
    with pytest.raises(Conflict) as caught:
        await _store(pool, "acme", "a")
    assert isinstance(caught.value.__cause__, asyncpg.UniqueViolationError)


async def test_full_pool_is_unavailable_in_time(pool: Pool) -> None:
    async with tenant_transaction(pool, "a"), tenant_transaction(pool, "b"):
        with pytest.raises(StoreUnavailable):
            async with tenant_transaction(pool, "c", acquire_timeout_seconds=0.02):
                pytest.fail("a third connection was given out")


async def test_cancelled_transaction_gives_its_connection_back(database: DatabaseUrls) -> None:
    async with await create_pool(database.app, PoolSettings(size_max=1)) as pool:
        inside = asyncio.Event()

        async def hold() -> None:
            async with tenant_transaction(pool, "acme") as connection:
                await connection.execute(INSERT, "acme", "a")
                inside.set()
                await asyncio.Event().wait()

        task = asyncio.create_task(hold())
        await inside.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        async with tenant_transaction(pool, "acme") as connection:
            assert await connection.fetchval(COUNT) == 0


async def test_empty_tenant_is_refused(pool: Pool) -> None:
    with pytest.raises(ValueError, match="tenant"):
        async with tenant_transaction(pool, ""):
            pytest.fail("a transaction without a tenant began")


async def test_strange_tenant_names_are_only_data(pool: Pool) -> None:
    name = "o'; DROP TABLE notes; -- ü\\"
    await _store(pool, name, "a")
    async with tenant_transaction(pool, name) as connection:
        assert await connection.fetchval(COUNT) == 1
