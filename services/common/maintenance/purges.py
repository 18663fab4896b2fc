"""Purges that were asked for, and which of them were done: how a command and the services work on one together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, cast
from uuid import UUID

from services.common.errors import FailedPrecondition
from services.common.postgres.pool import translate_errors
from services.common.postgres.types import Connection, Pool

PURGES_KEPT: Final = 1_000
"""Newest purges that are remembered; older erasures are shown as purged by the oldest of these."""

_HAS_TABLE: Final = "SELECT to_regclass('maintenance.purges') IS NOT NULL"
_BEGIN: Final = "INSERT INTO maintenance.purges (purge_id) VALUES ($1) RETURNING begin_time"
_REMOVE_OLD: Final = """
    DELETE FROM maintenance.purges WHERE begin_time < (
        SELECT begin_time FROM maintenance.purges ORDER BY begin_time DESC OFFSET $1 LIMIT 1
    )
"""
_DATABASE_DONE: Final = "UPDATE maintenance.purges SET database_time = clock_timestamp() WHERE purge_id = $1"
_INDEX_IS_DONE: Final = "SELECT index_time IS NOT NULL FROM maintenance.purges WHERE purge_id = $1"
# One run does all that were asked for before it began.
_PENDING: Final = "SELECT max(begin_time) FROM maintenance.purges WHERE index_time IS NULL"
_INDEX_DONE: Final = """
    UPDATE maintenance.purges SET index_time = clock_timestamp() WHERE index_time IS NULL AND begin_time <= $1
"""
_FIRST_SINCE: Final = """
    SELECT (
        SELECT min(greatest(p.database_time, p.index_time)) FROM maintenance.purges AS p
        WHERE p.begin_time >= t.time AND p.database_time IS NOT NULL AND p.index_time IS NOT NULL
    ) AS purged
    FROM unnest($1::timestamptz[]) WITH ORDINALITY AS t (time, n) ORDER BY t.n
"""


@dataclass(frozen=True, slots=True)
class Purge:
    """One that was asked for."""

    purge_id: UUID
    begin_time: datetime  # by the database's clock; what was erased before goes


async def begin_purge(connection: Connection, purge_id: UUID) -> Purge | None:
    """Asks for a purge: the service with the embedded vector index sees it within seconds, or when it starts.

    Returns:
        None where the database has no table of purges: its services never ran, or are of an earlier version.
    """
    if not await connection.fetchval(_HAS_TABLE):
        return None
    begun = await connection.fetchval(_BEGIN, purge_id)
    await connection.execute(_REMOVE_OLD, PURGES_KEPT)
    return Purge(purge_id, begun)


async def database_is_purged(connection: Connection, purge: Purge) -> None:
    """Notes that the database was rewritten."""
    await connection.execute(_DATABASE_DONE, purge.purge_id)


async def is_index_purged(connection: Connection, purge: Purge) -> bool:
    """Whether the embedded vector indexes were rewritten."""
    return bool(await connection.fetchval(_INDEX_IS_DONE, purge.purge_id))


async def index_is_purged(connection: Connection | Pool, begun: datetime) -> None:
    """Notes that the indexes were rewritten for all purges that began by then."""
    with translate_errors():
        await connection.execute(_INDEX_DONE, begun)


async def pending_index_purge(pool: Pool) -> datetime | None:
    """When the last purge began that waits for the indexes; None where none waits.

    Raises:
        MnemeError: The database cannot be asked.
    """
    with translate_errors():
        return cast("datetime | None", await pool.fetchval(_PENDING))


async def first_purges_since(pool: Pool, times: Sequence[datetime]) -> list[datetime | None]:
    """For each time when the first purge, of database and indexes, was done that began then or later; None: none.

    None for all where the tiers that run maintenance have no schema in this database yet.

    Raises:
        MnemeError: The database cannot be asked.
    """
    if not times:
        return []
    try:
        with translate_errors():
            return [row["purged"] for row in await pool.fetch(_FIRST_SINCE, times)]
    except FailedPrecondition:
        return [None] * len(times)
