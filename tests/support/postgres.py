"""One embedded PostgreSQL per test session, and empty databases on it in milliseconds.

Fixtures:
    `postgres_server` (session): the running `EmbeddedPostgres`.
    `fresh_database` (function): `DatabaseUrls` of a new empty database.

A contract test of a service makes its own, with its migrations applied once and then cloned:

    @pytest.fixture
    async def database(postgres_server):
        async with fresh_postgres(postgres_server, migrations=[("episodic", MIGRATIONS_FOLDER)]) as urls:
            yield urls
"""

import asyncio
import contextlib
import functools
import hashlib
import itertools
import os
import tempfile
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import asyncpg
import pytest

from services.common.datadir import DataDir
from services.common.postgres.migrations import load_migrations, migrate
from services.common.postgres.server import EmbeddedPostgres
from tests.support.engines import engines_home
from tools.engines.folders import passing_folder

_SYNC_SECONDS_MAX = 0.02
"""Of a file in memory: where it takes longer, a slow disk is played."""
_database_numbers = itertools.count(1)


class PostgresServer(Protocol):
    """A running server whose roles are those of the embedded one."""

    def dsn(self, *, role: str, database: str) -> str:
        """Connection URL; the role "postgres" may do everything."""


@dataclass(frozen=True, kw_only=True)
class DatabaseUrls:
    """Connection URLs of one database."""

    owner: str
    """For migrations."""
    app: str
    """As services connect: bound by row-level security."""
    superuser: str
    """For looking behind row-level security."""
    database: str
    """Its name."""


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[EmbeddedPostgres]:
    """The session's server. It belongs to no event loop, so tests with loops of their own can share it."""
    with engines_home(passing_folder()) as folder, DataDir(folder / "data") as data_dir:
        server = EmbeddedPostgres(data_dir)
        asyncio.run(server.start())
        yield server
        asyncio.run(server.stop())


@pytest.fixture
async def fresh_database(postgres_server: EmbeddedPostgres) -> AsyncIterator[DatabaseUrls]:
    """A new, empty database for one test."""
    async with fresh_postgres(postgres_server) as urls:
        yield urls


@contextlib.asynccontextmanager
async def fresh_postgres(
    server: PostgresServer, *, migrations: Sequence[tuple[str, Path]] = (), copied_from: str = ""
) -> AsyncIterator[DatabaseUrls]:
    """A database of its own, dropped afterwards together with whoever is still connected.

    Args:
        server: A running server.
        migrations: (schema, folder) pairs to apply. They run once per content of the folders; further
            databases with the same ones are file copies of the first.
        copied_from: A database that nobody is connected to, whose content it has instead.
    """
    administration = await asyncpg.connect(server.dsn(role="postgres", database="postgres"))
    name = f"test_{os.getpid()}_{next(_database_numbers)}"
    try:
        template = copied_from or "template1"
        if migrations:
            template = await _migrated_template(server, administration, migrations)
        await administration.execute(
            f'CREATE DATABASE "{name}" TEMPLATE "{template}" OWNER mneme_owner STRATEGY {_strategy()}'
        )
        try:
            yield _urls(server, name)
        finally:
            await administration.execute(f'DROP DATABASE "{name}" WITH (FORCE)')
    finally:
        await administration.close()


@functools.cache
def _strategy() -> str:
    """How a database is copied: its files, which is quicker where they are in memory, since each of them is synced."""
    folder = passing_folder()
    return "WAL_LOG" if folder is None or _sync_seconds(folder) > _SYNC_SECONDS_MAX else "FILE_COPY"


def _sync_seconds(folder: Path) -> float:
    with tempfile.TemporaryFile(dir=folder) as file:
        file.write(b"x")
        file.flush()
        begun = time.perf_counter()
        os.fsync(file.fileno())
        return time.perf_counter() - begun


async def _migrated_template(
    server: PostgresServer,
    administration: "asyncpg.Connection[asyncpg.Record]",
    migrations: Sequence[tuple[str, Path]],
) -> str:
    content = [(schema, [file.sha256 for file in load_migrations(folder)]) for schema, folder in migrations]
    name = f"template_{hashlib.sha256(repr(content).encode()).hexdigest()[:16]}"
    if not await administration.fetchval("SELECT true FROM pg_database WHERE datname = $1", name):
        await administration.execute(f'CREATE DATABASE "{name}" OWNER mneme_owner')
        try:
            for schema, folder in migrations:
                await migrate(_urls(server, name).owner, schema=schema, folder=folder)
        except BaseException:
            await administration.execute(f'DROP DATABASE "{name}" WITH (FORCE)')
            raise
    return name


def _urls(server: PostgresServer, database: str) -> DatabaseUrls:
    return DatabaseUrls(
        owner=server.dsn(role="mneme_owner", database=database),
        app=server.dsn(role="mneme_app", database=database),
        superuser=server.dsn(role="postgres", database=database),
        database=database,
    )
