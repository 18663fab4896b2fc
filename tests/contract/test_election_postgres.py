"""Elections by a lock of PostgreSQL."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator

import asyncpg
import pytest

from services.common.maintenance.elections.postgres import AdvisoryLockElection
from services.common.postgres.pool import PoolSettings, create_pool
from services.common.postgres.server import EmbeddedPostgres
from services.common.postgres.types import Pool
from tests.contract.election import ElectionContract, Replicas
from tests.support.postgres import DatabaseUrls, fresh_postgres


class PostgresReplicas(Replicas):
    """Each replica has a pool of its own."""

    def __init__(self, urls: DatabaseUrls, stack: contextlib.AsyncExitStack) -> None:
        self._urls = urls
        self._stack = stack

    async def join(self, name: str) -> AdvisoryLockElection:
        settings = PoolSettings(size_min=0, size_max=2, vectors=False, application_name=name)
        pool: Pool = await create_pool(self._urls.app, settings)
        self._stack.callback(pool.terminate)
        return AdvisoryLockElection(pool, "tests")

    async def kill(self, name: str) -> None:
        await self._as_superuser(
            "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE application_name = $1", name
        )

    async def stop_server(self) -> None:
        await self._as_superuser("UPDATE pg_database SET datconnlimit = 0 WHERE datname = $1", self._database)
        await self._as_superuser(
            "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = $1", self._database
        )

    async def start_server(self) -> None:
        await self._as_superuser("UPDATE pg_database SET datconnlimit = -1 WHERE datname = $1", self._database)

    @property
    def _database(self) -> str:
        return self._urls.superuser.partition("?")[0].rpartition("/")[2]

    async def _as_superuser(self, statement: str, argument: str) -> None:
        connection = await asyncpg.connect(self._urls.superuser, database="postgres")
        try:
            await connection.execute(statement, argument)
        finally:
            await connection.close()


@pytest.fixture
async def replicas(postgres_server: EmbeddedPostgres) -> AsyncIterator[PostgresReplicas]:
    async with fresh_postgres(postgres_server) as urls, contextlib.AsyncExitStack() as stack:
        yield PostgresReplicas(urls, stack)


class TestAdvisoryLockElection(ElectionContract):
    """See `ElectionContract`."""
