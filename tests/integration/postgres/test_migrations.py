"""Migrations: order, concurrency, drift, crashes halfway, and grants."""

import asyncio
import shutil
from pathlib import Path

import asyncpg
import pytest

from services.common.postgres.migrations import MigrationError, load_migrations, migrate
from tests.support.postgres import DatabaseUrls

FOLDER = Path(__file__).parent / "migrations"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A copy that a test may change."""
    return Path(shutil.copytree(FOLDER, tmp_path / "migrations"))


async def _fetchval(dsn: str, query: str) -> object:
    connection = await asyncpg.connect(dsn)
    try:
        return await connection.fetchval(query)
    finally:
        await connection.close()


async def test_applies_each_file_once_and_in_order(fresh_database: DatabaseUrls, folder: Path) -> None:
    assert await migrate(fresh_database.owner, schema="episodic", folder=folder) == [1, 2]
    assert await migrate(fresh_database.owner, schema="episodic", folder=folder) == []
    (folder / "0003_tag.sql").write_text("ALTER TABLE notes ADD COLUMN tag text;")
    assert await migrate(fresh_database.owner, schema="episodic", folder=folder) == [3]
    names = await _fetchval(
        fresh_database.owner, "SELECT array_agg(name ORDER BY version) FROM episodic.schema_migrations"
    )
    assert names == ["notes", "note_rank", "tag"]


async def test_takes_an_open_connection(fresh_database: DatabaseUrls) -> None:
    connection = await asyncpg.connect(fresh_database.owner)
    assert await migrate(connection, schema="session", folder=FOLDER) == [1, 2]
    assert await connection.fetchval("SHOW search_path") == '"$user", public'
    await connection.close()


async def test_concurrent_runs_apply_every_file_once(fresh_database: DatabaseUrls) -> None:
    runs = [migrate(fresh_database.owner, schema="episodic", folder=FOLDER) for _ in range(8)]
    applied = [version for run in await asyncio.gather(*runs) for version in run]
    assert sorted(applied) == [1, 2]


async def test_schemas_are_independent(fresh_database: DatabaseUrls) -> None:
    assert await migrate(fresh_database.owner, schema="episodic", folder=FOLDER) == [1, 2]
    assert await migrate(fresh_database.owner, schema="agentic", folder=FOLDER) == [1, 2]


async def test_changed_file_is_refused(fresh_database: DatabaseUrls, folder: Path) -> None:
    await migrate(fresh_database.owner, schema="episodic", folder=folder)
    (folder / "0001_notes.sql").write_text("SELECT 1;")
    with pytest.raises(MigrationError, match="0001_notes of schema episodic was changed"):
        await migrate(fresh_database.owner, schema="episodic", folder=folder)


async def test_database_newer_than_the_program_is_refused(fresh_database: DatabaseUrls, folder: Path) -> None:
    await migrate(fresh_database.owner, schema="episodic", folder=folder)
    (folder / "0002_note_rank.sql").unlink()
    with pytest.raises(MigrationError, match="is at version 2, this program knows up to 1"):
        await migrate(fresh_database.owner, schema="episodic", folder=folder)


async def test_failing_file_leaves_nothing_of_itself(fresh_database: DatabaseUrls, folder: Path) -> None:
    (folder / "0003_broken.sql").write_text("CREATE TABLE half (n int); SELECT no_such_function();")
    with pytest.raises(MigrationError, match=r"migration 0003_broken.*no_such_function"):
        await migrate(fresh_database.owner, schema="episodic", folder=folder)
    assert await _fetchval(fresh_database.owner, "SELECT to_regclass('episodic.half')") is None
    assert await _fetchval(fresh_database.owner, "SELECT max(version) FROM episodic.schema_migrations") == 2


async def test_busy_lock_is_an_error_in_time(fresh_database: DatabaseUrls) -> None:
    blocker = await asyncpg.connect(fresh_database.owner)
    await blocker.execute("SELECT pg_advisory_lock(hashtextextended('mneme.migrations.episodic', 0))")
    with pytest.raises(MigrationError, match="lock timeout"):
        await migrate(fresh_database.owner, schema="episodic", folder=FOLDER, lock_timeout_seconds=0.05)
    await blocker.close()


async def test_missing_app_role_is_named(fresh_database: DatabaseUrls) -> None:
    with pytest.raises(MigrationError, match="role nobody_here does not exist"):
        await migrate(fresh_database.owner, schema="episodic", folder=FOLDER, app_role="nobody_here")


async def test_app_role_reads_and_writes_but_changes_no_schema(fresh_database: DatabaseUrls) -> None:
    await migrate(fresh_database.owner, schema="episodic", folder=FOLDER)
    for privilege in ("SELECT", "INSERT", "UPDATE", "DELETE"):
        query = f"SELECT has_table_privilege('episodic.notes', '{privilege}')"
        assert await _fetchval(fresh_database.app, query) is True
    with pytest.raises(asyncpg.InsufficientPrivilegeError):
        await _fetchval(fresh_database.app, "CREATE TABLE episodic.mine (n int)")
    with pytest.raises(asyncpg.InsufficientPrivilegeError):
        await _fetchval(fresh_database.app, "DELETE FROM episodic.schema_migrations")


@pytest.mark.parametrize("schema", ["Episodic", "a;b", "", 'x"'])
async def test_odd_schema_names_are_refused(fresh_database: DatabaseUrls, schema: str) -> None:
    with pytest.raises(MigrationError, match="identifier"):
        await migrate(fresh_database.owner, schema=schema, folder=FOLDER)


@pytest.mark.parametrize("names", [["1_short.sql"], ["0002_gap.sql"], ["0001_a.sql", "0001_b.sql"]])
def test_misnamed_files_are_refused(tmp_path: Path, names: list[str]) -> None:
    for name in names:
        (tmp_path / name).write_text("SELECT 1;")
    with pytest.raises(MigrationError):
        load_migrations(tmp_path)
