"""Versioned SQL migrations of one PostgreSQL schema."""

import contextlib
import hashlib
import re
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import asyncpg

from services.common.errors import FailedPrecondition
from services.common.postgres.pool import translate_errors
from services.common.postgres.types import Connection

_FILE_NAME: Final = re.compile(r"(?P<version>\d{4})_(?P<name>[a-z0-9_]+)\.sql")
_SCHEMA_NAME: Final = re.compile(r"[a-z][a-z0-9_]{0,62}")

APP_ROLE: Final = "mneme_app"
"""The services' role unless another is chosen. In a file the word stands for whichever is chosen."""

_APP_ROLE_WORD: Final = re.compile(rf"\b{APP_ROLE}\b")


class MigrationError(FailedPrecondition):
    """The schema cannot be brought up to date."""


@dataclass(frozen=True)
class Migration:
    """One file `NNNN_title.sql`."""

    version: int
    """Number NNNN, from 1 without gaps."""
    name: str
    """The title."""
    sql: str
    """The statements, run in one transaction with the schema first on the search path."""
    sha256: str
    """Checksum of the statements in hex; an applied file must not change."""


def load_migrations(folder: Path) -> list[Migration]:
    """Read a folder's migrations in the order of their versions.

    Raises:
        MigrationError: A misnamed .sql file, two files of one version, or a gap.
    """
    found: list[Migration] = []
    for file in sorted(folder.glob("*.sql")):
        match = _FILE_NAME.fullmatch(file.name)
        if match is None:
            raise MigrationError(f"migration file {file.name} is not named NNNN_title.sql")
        sql = file.read_text("utf-8")
        digest = hashlib.sha256(sql.encode("utf-8")).hexdigest()
        found.append(Migration(int(match["version"]), match["name"], sql, digest))
    versions = [migration.version for migration in found]
    if versions != list(range(1, len(found) + 1)):
        raise MigrationError(f"migrations in {folder} must be numbered 0001, 0002, ...; found {versions}")
    return found


async def migrate(
    target: str | Connection,
    *,
    schema: str,
    folder: Path,
    app_role: str | None = APP_ROLE,
    lock_timeout_seconds: float = 120.0,
) -> list[int]:
    """Bring a schema up to date. Any number of processes may do so at once; one does the work.

    Each file runs in a transaction of its own under a transaction-level advisory lock, so a crash leaves
    whole files applied or not at all, no lock survives it, and it works through PgBouncer. Files must
    therefore not contain statements that refuse a transaction (CREATE INDEX CONCURRENTLY).

    Before the first file the app role gets USAGE on the schema and, by default privileges, SELECT, INSERT,
    UPDATE and DELETE on every table the migrating role creates in it later; a migration that wants less (an
    append-only table) revokes it.

    Args:
        target: Connection URL of the owner role, or an open connection that is in no transaction.
        schema: Name of the schema, created where missing.
        folder: Folder of `NNNN_title.sql` files.
        app_role: Role of the services, None to grant nothing. Files that grant by themselves name it `mneme_app`.
        lock_timeout_seconds: Patience with another migration and with locks on tables, > 0.

    Returns:
        Versions applied by this call, ascending; empty when all were already.

    Raises:
        MigrationError: An applied file was changed, the database is newer than the folder, the app role is
            missing, the lock was not free in time, or a statement failed (with file name and the cause).
    """
    if not _SCHEMA_NAME.fullmatch(schema):
        raise MigrationError(f"schema name {schema!r} is not a plain lower-case identifier")
    migrations = load_migrations(folder)
    applied: list[int] = []
    async with _connection(target) as connection:
        if await _known_count(connection, schema, migrations) < len(migrations):
            await _prepare(connection, schema, app_role, lock_timeout_seconds)
            applied = [
                migration.version
                for migration in migrations
                if await _apply(connection, schema, migrations, migration, app_role, lock_timeout_seconds)
            ]
    return applied


async def outstanding(target: str | Connection, *, schema: str, folder: Path) -> list[Migration]:
    """What `migrate` would apply, found out without any lock; nothing is changed.

    Args:
        target: Connection URL of the owner role, or an open connection.
        schema: Name of the schema, which need not exist.
        folder: Folder of `NNNN_title.sql` files.

    Raises:
        MigrationError: An applied file was changed, or the database is newer than the folder.
    """
    migrations = load_migrations(folder)
    async with _connection(target) as connection:
        return migrations[await _known_count(connection, schema, migrations) :]


async def _known_count(connection: Connection, schema: str, migrations: Sequence[Migration]) -> int:
    """Number of applied versions, 0 where there is no schema."""
    # Asked of the catalog by name: to_regclass refuses who may not look into the schema.
    found = await connection.fetchval(
        "SELECT true FROM pg_tables WHERE schemaname = $1 AND tablename = 'schema_migrations'", schema
    )
    return await _applied_count(connection, schema, migrations) if found else 0


async def _applied_count(connection: Connection, schema: str, migrations: Sequence[Migration]) -> int:
    """Number of applied versions, after checking that they are this folder's."""
    rows = await connection.fetch(
        f"SELECT version, sha256 FROM {schema}.schema_migrations ORDER BY version"  # noqa: S608 - checked name
    )
    known = {migration.version: migration for migration in migrations}
    for row in rows:
        migration = known.get(row["version"])
        if migration is None:
            raise MigrationError(
                f"schema {schema} is at version {rows[-1]['version']}, this program knows up to "
                f"{len(migrations)}: it is older than the database"
            )
        if migration.sha256 != row["sha256"]:
            raise MigrationError(
                f"migration {migration.version:04d}_{migration.name} of schema {schema} was changed after it "
                "had been applied; restore the file and put the change into a new one"
            )
    return len(rows)


async def _prepare(connection: Connection, schema: str, app_role: str | None, lock_timeout_seconds: float) -> None:
    """Create schema and table and grant access; repeatable."""
    async with _locked_transaction(connection, schema, lock_timeout_seconds, step="preparation"):
        await connection.execute(f"CREATE SCHEMA IF NOT EXISTS {schema}")
        await connection.execute(
            f"""
            CREATE TABLE IF NOT EXISTS {schema}.schema_migrations (
                version integer PRIMARY KEY,
                name text NOT NULL,
                sha256 text NOT NULL,
                applied_time timestamptz NOT NULL DEFAULT now()
            )
            """
        )
        if app_role is None:
            return
        if not await connection.fetchval("SELECT true FROM pg_roles WHERE rolname = $1", app_role):
            raise MigrationError(f"role {app_role} does not exist: create it or name another")
        role = quoted(app_role)
        await connection.execute(
            f"""
            GRANT USAGE ON SCHEMA {schema} TO {role};
            GRANT SELECT ON {schema}.schema_migrations TO {role};
            ALTER DEFAULT PRIVILEGES IN SCHEMA {schema}
                GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO {role};
            ALTER DEFAULT PRIVILEGES IN SCHEMA {schema} GRANT USAGE, SELECT ON SEQUENCES TO {role};
            """
        )


async def _apply(
    connection: Connection,
    schema: str,
    migrations: Sequence[Migration],
    migration: Migration,
    app_role: str | None,
    lock_timeout_seconds: float,
) -> bool:
    """Apply one migration unless it is, or another process was faster."""
    step = f"migration {migration.version:04d}_{migration.name}"
    async with _locked_transaction(connection, schema, lock_timeout_seconds, step=step):
        if await _applied_count(connection, schema, migrations) >= migration.version:
            return False
        await connection.execute(f"SET LOCAL search_path TO {schema}, public")
        await connection.execute(_for_role(migration.sql, app_role))
        await connection.execute(
            f"INSERT INTO {schema}.schema_migrations "  # noqa: S608 - checked name
            "(version, name, sha256) VALUES ($1, $2, $3)",
            migration.version,
            migration.name,
            migration.sha256,
        )
    return True


def quoted(name: str) -> str:
    """A name of the database as SQL writes it, whatever is in it."""
    return '"' + name.replace('"', '""') + '"'


def _for_role(sql: str, app_role: str | None) -> str:
    return sql if app_role is None else _APP_ROLE_WORD.sub(lambda _: quoted(app_role), sql)


@contextlib.asynccontextmanager
async def _locked_transaction(
    connection: Connection, schema: str, lock_timeout_seconds: float, *, step: str
) -> AsyncIterator[None]:
    """A transaction that only one migrating process of a schema is in at a time."""
    milliseconds = str(round(lock_timeout_seconds * 1000))
    try:
        async with connection.transaction():
            # A migration may take longer than a service's statement may.
            await connection.execute(
                "SELECT set_config('lock_timeout', $1, true), set_config('statement_timeout', '0', true)",
                milliseconds,
            )
            await connection.execute(
                "SELECT pg_advisory_xact_lock(hashtextextended('mneme.migrations.' || $1, 0))", schema
            )
            yield
    except asyncpg.PostgresError as error:
        raise MigrationError(f"schema {schema}, {step}: {error}") from error


@contextlib.asynccontextmanager
async def _connection(target: str | Connection) -> AsyncIterator[Connection]:
    if not isinstance(target, str):
        yield target
        return
    with translate_errors():
        # No prepared statements, so that the URL may lead through PgBouncer.
        connection = await asyncpg.connect(target, statement_cache_size=0)
    try:
        yield connection
    finally:
        await connection.close()
