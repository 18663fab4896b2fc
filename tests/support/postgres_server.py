"""A PostgreSQL server of its own, of the kind that production has: without pgvector, reached over TCP.

Fixtures, to be used as the embedded `postgres_server` is:
    `real_postgres` (session): the server.
    `pooled_postgres` (session): the same one, which services reach through PgBouncer in transaction mode.
"""

import asyncio
from dataclasses import dataclass
from typing import Final
from urllib.parse import quote, unquote, urlsplit

import asyncpg
import pytest

from tests.support.engines import SessionEngines

_ROLES: Final = ("mneme_owner", "mneme_app")


@dataclass(frozen=True)
class PostgresByUrl:
    """A server on which one may make databases and roles."""

    url: str  # of the one who may
    pooler_url: str = ""  # where the services' role connects instead

    def dsn(self, *, role: str, database: str) -> str:
        """Connection URL. "postgres" stands for the user in the server's URL; all roles have that one's password."""
        parts = urlsplit(self.pooler_url if self.pooler_url and role == "mneme_app" else self.url)
        user = parts.username if role == "postgres" else quote(role, safe="")
        address = parts.netloc.rpartition("@")[2]
        return f"postgresql://{user}:{parts.password or ''}@{address}/{quote(database, safe='')}"

    async def make_roles(self) -> None:
        """Makes the roles of the services where they are missing."""
        password = unquote(urlsplit(self.url).password or "").replace("'", "''")
        connection = await asyncpg.connect(self.url)
        try:
            for role in _ROLES:
                if not await connection.fetchval("SELECT true FROM pg_roles WHERE rolname = $1", role):
                    await connection.execute(f"CREATE ROLE {role} LOGIN NOBYPASSRLS PASSWORD '{password}'")
        finally:
            await connection.close()


@pytest.fixture(scope="session")
def real_postgres(session_engines: SessionEngines, request: pytest.FixtureRequest) -> PostgresByUrl:
    """The session's server. It belongs to no event loop, so tests with loops of their own can share it."""
    server = PostgresByUrl(session_engines.url("postgres", request))
    asyncio.run(server.make_roles())
    return server


@pytest.fixture(scope="session")
def pooled_postgres(
    real_postgres: PostgresByUrl, session_engines: SessionEngines, request: pytest.FixtureRequest
) -> PostgresByUrl:
    """The session's server behind its pooler."""
    return PostgresByUrl(real_postgres.url, session_engines.url("pgbouncer", request))
