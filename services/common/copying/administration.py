"""Connections to PostgreSQL that see the rows of all tenants."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Sequence
from typing import Final

import asyncpg

from services.common.copying.model import CopyError
from services.common.postgres.pool import decode_vector, encode_vector
from services.common.postgres.types import Connection

APPLICATION_NAME: Final = "mneme-copy"

_PASSES: Final = "SELECT rolsuper OR rolbypassrls FROM pg_roles WHERE rolname = current_user"
_SERVICES: Final = """
    SELECT DISTINCT application_name FROM pg_stat_activity
    WHERE datname = current_database() AND application_name LIKE 'mneme-%' AND application_name <> $1
    ORDER BY application_name
"""
_HINT: Final = """\
Row-level security hides the rows of all tenants from the services' role and from the owner. Copying needs a role \
that passes it by; make one as a superuser:

    CREATE ROLE mneme_admin LOGIN BYPASSRLS PASSWORD '...' IN ROLE mneme_owner;

and name it in MNEME_POSTGRES_ADMIN_URL (a way past PgBouncer). Drop it when the copy is done."""


@contextlib.asynccontextmanager
async def open_administration(urls: Sequence[str], *, place: str) -> AsyncIterator[Connection]:
    """A connection as the first role that row-level security does not bind.

    Args:
        urls: Connection URLs, best first; empty ones are passed over.
        place: Whose database, for messages.

    Raises:
        CopyError: None of the roles will do, or the server cannot be reached.
    """
    for url in urls:
        if not url:
            continue
        try:
            # No prepared statements are cached, so that the URL may lead through PgBouncer; a page may take its time.
            connection = await asyncpg.connect(
                url,
                timeout=30,
                statement_cache_size=0,
                server_settings={"application_name": APPLICATION_NAME},
            )
        except (OSError, TimeoutError, asyncpg.PostgresError, asyncpg.InterfaceError) as error:
            raise CopyError(f"{place}: PostgreSQL cannot be reached: {error}") from error
        try:
            if await connection.fetchval(_PASSES):
                await connection.execute("SET statement_timeout = 0")
                if await connection.fetchval("SELECT to_regtype('public.vector') IS NOT NULL"):
                    await connection.set_type_codec(
                        "vector", schema="public", encoder=encode_vector, decoder=decode_vector, format="binary"
                    )
                yield connection
                return
        finally:
            await connection.close()
    raise CopyError(f"{place}: there is no role that may read the rows of all tenants.\n{_HINT}")


async def services_connected(connection: Connection) -> Sequence[str]:
    """Names under which Mneme's services are connected to the same database."""
    return [row["application_name"] for row in await connection.fetch(_SERVICES, APPLICATION_NAME)]
