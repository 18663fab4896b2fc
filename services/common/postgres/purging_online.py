"""Physical removal from a PostgreSQL in use: calls wait for one table at a time, and for a bounded time."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Annotated, Final

import asyncpg
import structlog
from annotated_types import Ge, Le

from services.common.errors import Conflict
from services.common.postgres.purging import replace_wal, without_recycled_wal
from services.common.postgres.types import Connection
from services.common.settings_types import Count, Seconds

_log = structlog.get_logger(__name__)

_PURGE_LOCK: Final = 0x6D6E656D_70757267
"""Key of the advisory lock that one purge of a database holds."""

_TABLES: Final = """
    SELECT format('%I.%I', n.nspname, c.relname) FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
    WHERE c.relkind IN ('r', 'm') AND c.relpersistence <> 't' AND n.nspname NOT IN ('pg_catalog', 'information_schema')
        AND n.nspname NOT LIKE 'pg\\_%'
    ORDER BY pg_total_relation_size(c.oid), 1
"""
# What ANALYZE did not replace: of columns of tables that are empty by now.
_OLD_STATISTICS: Final = """
    DELETE FROM pg_catalog.pg_statistic AS s USING pg_class AS c, pg_namespace AS n
    WHERE c.oid = s.starelid AND n.oid = c.relnamespace AND n.nspname <> 'pg_catalog'
        AND age(s.xmin) >= age($1::text::xid)
"""
_NOW: Final = "SELECT (pg_current_xact_id()::xid)::text"
# Rows that were deleted since such a transaction began would be written to the new file as well.
_OLDER_TRANSACTIONS: Final = """
    SELECT count(*) FROM (
        SELECT backend_xmin AS xmin FROM pg_stat_activity
        WHERE (datname = current_database() OR datname IS NULL) AND pid <> pg_backend_pid()
        UNION ALL
        SELECT transaction FROM pg_prepared_xacts WHERE database = current_database()
        UNION ALL
        SELECT xmin FROM pg_replication_slots
    ) AS held WHERE held.xmin IS NOT NULL AND age(held.xmin) > age($1::text::xid)
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class OnlinePurgeSettings:
    """How long calls may wait for a purge while services run."""

    lock_seconds: Seconds = 0.5  # for a table's lock; calls that come after it wait as long, then it is tried again
    lock_seconds_max: Seconds = 5.0  # the same at most: it doubles with each attempt
    hold_seconds: Seconds = 20.0  # calls of one table wait at most for this long; one that takes longer stays as it is
    attempts: Count = 60  # at the lock of a table before the purge fails
    retry_seconds: Annotated[float, Ge(0.01), Le(60)] = 1.0  # between two attempts
    pause_seconds: Annotated[float, Ge(0), Le(60)] = 0.01  # between two tables, for calls that have waited
    older_seconds: Seconds = 330.0  # for transactions from before; the services' own end within 5 minutes


class PurgeIncomplete(Conflict):
    """A part of the database was not rewritten; the message says which. The purge may be repeated."""


@contextlib.asynccontextmanager
async def purging_connection(superuser_url: str) -> AsyncIterator[Connection]:
    """A superuser's connection that holds the lock of purges; one purge of a database at a time.

    Raises:
        Conflict: Another purge is running.
    """
    connection = await asyncpg.connect(superuser_url, statement_cache_size=0, command_timeout=None)
    try:
        await connection.execute("SET statement_timeout = 0")
        await connection.execute("SET idle_session_timeout = 0")
        if not await connection.fetchval("SELECT pg_try_advisory_lock($1)", _PURGE_LOCK):
            raise Conflict("another purge of this database is running")
        yield connection
    finally:
        await connection.close()


async def purge_online(connection: Connection, settings: OnlinePurgeSettings) -> int:
    """Writes all tables and indexes anew, each under its lock, and replaces the write-ahead log.

    Unlike `purge_postgres` it leaves the system's catalogs alone but for the planner's statistics, and replaces these
    before it removes what is left of them, so that queries always have some.

    Args:
        connection: See `purging_connection`.
        settings: How long calls may wait.

    Returns:
        How many tables were rewritten.

    Raises:
        PurgeIncomplete: A table could not be locked or takes too long; the others were rewritten.
    """
    left = []
    async with without_recycled_wal(connection):
        begun = await connection.fetchval(_NOW)
        await _wait_for_older(connection, begun, settings)
        await connection.execute("ANALYZE")
        await connection.execute(_OLD_STATISTICS, begun)
        tables = [row[0] for row in await connection.fetch(_TABLES)]
        for table in [*tables, "pg_catalog.pg_statistic"]:
            if not await _rewrite(connection, table, settings):
                left.append(table)
            await asyncio.sleep(settings.pause_seconds)
        await replace_wal(connection)
    if left:
        raise PurgeIncomplete(
            f"not rewritten, since calls would wait for too long: {', '.join(left)}; repeat the purge with a longer "
            "--hold-seconds or at a quieter time, or stop the services"
        )
    return len(tables)


async def _wait_for_older(connection: Connection, begun: str, settings: OnlinePurgeSettings) -> None:
    until = asyncio.get_running_loop().time() + settings.older_seconds
    while count := await connection.fetchval(_OLDER_TRANSACTIONS, begun):
        if asyncio.get_running_loop().time() > until:
            raise PurgeIncomplete(
                f"{count} transactions or replication slots from before still need what was deleted: see "
                "pg_stat_activity, pg_prepared_xacts and pg_replication_slots"
            )
        await asyncio.sleep(settings.retry_seconds)


async def _rewrite(connection: Connection, table: str, settings: OnlinePurgeSettings) -> bool:
    """Whether the table was rewritten; a table that was removed meanwhile counts as such."""
    try:
        for attempt in range(settings.attempts):
            lock_seconds = min(settings.lock_seconds * 2.0 ** min(attempt, 16), settings.lock_seconds_max)
            await connection.execute(f"SET lock_timeout = {round(lock_seconds * 1e3)}")
            await connection.execute(f"SET statement_timeout = {round((lock_seconds + settings.hold_seconds) * 1e3)}")
            try:
                await connection.execute(f"VACUUM (FULL) {table}")
            except (asyncpg.LockNotAvailableError, asyncpg.DeadlockDetectedError):
                await asyncio.sleep(settings.retry_seconds)
            except asyncpg.QueryCanceledError:
                _log.warning("table_not_purged", table=table, reason="takes longer than hold_seconds")
                return False
            except asyncpg.UndefinedTableError:
                return True
            else:
                return True
        _log.warning("table_not_purged", table=table, reason="its lock was never free")
        return False
    finally:
        await connection.execute("SET lock_timeout = 0")
        await connection.execute("SET statement_timeout = 0")
