"""Physical removal: what was deleted from tables goes from the files of a PostgreSQL as well."""

from __future__ import annotations

import asyncpg

from services.common.postgres.pool import translate_errors

_PLANNER_STATISTICS = """
    DELETE FROM pg_catalog.pg_statistic AS s USING pg_class AS c, pg_namespace AS n
    WHERE c.oid = s.starelid AND n.oid = c.relnamespace AND n.nspname <> 'pg_catalog'
"""
_WAL_FILES = "SELECT count(*) FROM pg_ls_waldir() WHERE name ~ '^[0-9A-F]{24}$'"


async def purge_postgres_server(superuser_url: str) -> None:
    """`purge_postgres` on a server, whose write-ahead log is not reused meanwhile.

    Raises:
        MnemeError: The server cannot be reached, or the role may not do it.
    """
    with translate_errors():
        connection = await asyncpg.connect(superuser_url, statement_cache_size=0, command_timeout=None)
        try:
            await connection.execute("ALTER SYSTEM SET wal_recycle = off")
            await connection.execute("SELECT pg_reload_conf()")
            await purge_postgres(superuser_url)
        finally:
            await connection.execute("ALTER SYSTEM RESET wal_recycle")
            await connection.execute("SELECT pg_reload_conf()")
            await connection.close()


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
        await connection.execute("CHECKPOINT")
        for _ in range(1 + await connection.fetchval(_WAL_FILES)):
            # A file that nothing was written to is not left.
            await connection.execute("SELECT pg_logical_emit_message(false, 'mneme', ''), pg_switch_wal()")
        await connection.execute("CHECKPOINT")
    finally:
        await connection.close()
