"""Physical removal: what was deleted from tables goes from the files of a PostgreSQL as well."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from typing import Final

import asyncpg

from services.common.postgres.types import Connection

_PLANNER_STATISTICS: Final = """
    DELETE FROM pg_catalog.pg_statistic AS s USING pg_class AS c, pg_namespace AS n
    WHERE c.oid = s.starelid AND n.oid = c.relnamespace AND n.nspname <> 'pg_catalog'
"""
_OTHERS: Final = """
    SELECT EXISTS (SELECT FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()
        AND backend_type = 'client backend')
"""
_WAL_FILES: Final = "SELECT count(*) FROM pg_ls_waldir() WHERE name ~ '^[0-9A-F]{24}$'"


@contextlib.asynccontextmanager
async def without_recycled_wal(connection: Connection) -> AsyncIterator[None]:
    """Old files of a server's write-ahead log are removed, and not used again, for the length of the block."""
    try:
        await connection.execute("ALTER SYSTEM SET wal_recycle = off")
        await connection.execute("SELECT pg_reload_conf()")
        yield
    finally:
        if not connection.is_closed():
            await connection.execute("ALTER SYSTEM RESET wal_recycle")
            await connection.execute("SELECT pg_reload_conf()")


async def is_used_by_others(connection: Connection) -> bool:
    """Whether anybody else is connected to the database."""
    return bool(await connection.fetchval(_OTHERS))


async def replace_wal(connection: Connection) -> None:
    """Fill and remove each file of the write-ahead log, within `without_recycled_wal`."""
    await connection.execute("CHECKPOINT")
    for _ in range(1 + await connection.fetchval(_WAL_FILES)):
        # A file that nothing was written to is not left.
        await connection.execute("SELECT pg_logical_emit_message(false, 'mneme', ''), pg_switch_wal()")
    await connection.execute("CHECKPOINT")


async def purge_postgres(superuser_url: str) -> None:
    """Writes all tables and indexes of a database anew, and replaces the write-ahead log.

    VACUUM alone leaves deleted rows in the free space of their pages. The planner's statistics hold values of columns;
    those of a table that is emptied are never replaced, so they go first. Files of the log that are used again hold
    what they held until they are overwritten: each is filled once. Set `wal_recycle` to off before, so that none is
    left.

    Args:
        superuser_url: The database as a superuser; nobody else should use it meanwhile, every table is locked in turn.
    """
    connection = await asyncpg.connect(superuser_url, statement_cache_size=0, command_timeout=None)
    try:
        await connection.execute("SET statement_timeout = 0")
        await connection.execute(_PLANNER_STATISTICS)
        await connection.execute("VACUUM FULL")
        await connection.execute("ANALYZE")
        await replace_wal(connection)
    finally:
        await connection.close()
