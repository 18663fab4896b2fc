"""Purges that were asked for, and which of them were done: how a command and the services work on one together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, cast
from uuid import UUID

from services.common.errors import FailedPrecondition
from services.common.postgres.pool import translate_errors
from services.common.postgres.types import Connection, Pool

PURGES_KEPT: Final = 1_000
"""Newest purges that are remembered; older erasures are shown as purged by the oldest of these."""

_HAS_TABLE: Final = "SELECT to_regclass('maintenance.purges') IS NOT NULL"
_BEGIN: Final = """
    INSERT INTO maintenance.purges (purge_id, is_scheduled) VALUES ($1, $2)
    RETURNING begin_time, (SELECT memories FROM maintenance.purge_schedule) AS memories
"""
_REMOVE_OLD: Final = """
    DELETE FROM maintenance.purges WHERE begin_time < (
        SELECT begin_time FROM maintenance.purges ORDER BY begin_time DESC OFFSET $1 LIMIT 1
    )
"""
_DATABASE_DONE: Final = "UPDATE maintenance.purges SET database_time = clock_timestamp() WHERE purge_id = $1"
# An erasure that was done after the purge had begun waits for the next one.
_FORGET_ERASED: Final = """
    UPDATE maintenance.purge_schedule SET
        memories = CASE WHEN last_time < $1 THEN 0 ELSE greatest(memories - $2, 0) END,
        first_time = CASE WHEN last_time < $1 THEN NULL ELSE greatest(first_time, $1) END
    WHERE first_time IS NOT NULL
"""
_ERASED: Final = """
    INSERT INTO maintenance.purge_schedule AS s (first_time, last_time, memories)
    VALUES (clock_timestamp(), clock_timestamp(), $1)
    ON CONFLICT (is_only) DO UPDATE SET first_time = coalesce(s.first_time, clock_timestamp()),
        last_time = clock_timestamp(), memories = s.memories + $1
"""
_LOOK: Final = """
    INSERT INTO maintenance.purge_schedule AS s (age_seconds, look_time) VALUES ($1, clock_timestamp())
    ON CONFLICT (is_only) DO UPDATE SET age_seconds = $1, look_time = clock_timestamp()
    RETURNING first_time, memories, look_time,
        (SELECT max(begin_time) FROM maintenance.purges WHERE is_scheduled) AS begin_time
"""
_INDEX_IS_DONE: Final = "SELECT index_time IS NOT NULL FROM maintenance.purges WHERE purge_id = $1"
# One run does all that were asked for before it began.
_PENDING: Final = "SELECT max(begin_time) FROM maintenance.purges WHERE index_time IS NULL"
_INDEX_DONE: Final = """
    UPDATE maintenance.purges SET index_time = clock_timestamp() WHERE index_time IS NULL AND begin_time <= $1
"""
_AFTER: Final = """
    SELECT p.time, p.is_scheduled, t.time + make_interval(secs => s.age_seconds) AS due_time
    FROM unnest($1::timestamptz[]) WITH ORDINALITY AS t (time, n)
    LEFT JOIN LATERAL (
        SELECT greatest(p.database_time, p.index_time) AS time, p.is_scheduled FROM maintenance.purges AS p
        WHERE p.begin_time >= t.time AND p.database_time IS NOT NULL AND p.index_time IS NOT NULL
        ORDER BY 1 LIMIT 1
    ) AS p ON true
    LEFT JOIN maintenance.purge_schedule AS s ON s.look_time > clock_timestamp() - $2::interval
    ORDER BY t.n
"""
_SCHEDULE_SEEN: Final = timedelta(hours=1)
"""How long after the job last looked it is expected to go on; a run of it takes less."""


@dataclass(frozen=True, slots=True)
class Purge:
    """One that was asked for."""

    purge_id: UUID
    begin_time: datetime  # by the database's clock; what was erased before goes
    memories: int = 0  # that were erased since the purge before


@dataclass(frozen=True, slots=True)
class PurgeAfter:
    """What becomes of the files after an erasure."""

    done_time: datetime | None = None  # when the first purge that began then or later was done
    is_scheduled: bool = False  # the job did it
    due_time: datetime | None = None  # when the job purges at the latest; None where no job does


@dataclass(frozen=True, slots=True)
class Erased:
    """What waits for a purge."""

    first_time: datetime | None  # when the first erasure was done; None: nothing waits
    memories: int  # that were erased
    begin_time: datetime | None  # when the job's last purge began
    now: datetime  # by the database's clock, as all of these


async def note_erased(connection: Connection, memories: int) -> None:
    """Notes, in the transaction that ends an erasure, that files hold bytes of what it erased."""
    if await connection.fetchval(_HAS_TABLE):
        await connection.execute(_ERASED, memories)


async def look_for_erased(pool: Pool, *, age: timedelta) -> Erased:
    """What waits for a purge; notes that a job looked which purges what was erased for so long.

    Raises:
        MnemeError: The database cannot be asked.
    """
    with translate_errors():
        [row] = await pool.fetch(_LOOK, age.total_seconds())
    return Erased(row["first_time"], row["memories"], row["begin_time"], row["look_time"])


async def begin_purge(connection: Connection, purge_id: UUID, *, is_scheduled: bool = False) -> Purge | None:
    """Asks for a purge: the service with the embedded vector index sees it within seconds, or when it starts.

    Args:
        connection: See `purging_connection`.
        purge_id: Of the purge.
        is_scheduled: Whether the job asks for it.

    Returns:
        None where the database has no table of purges: its services never ran, or are of an earlier version.
    """
    if not await connection.fetchval(_HAS_TABLE):
        return None
    [begun] = await connection.fetch(_BEGIN, purge_id, is_scheduled)
    await connection.execute(_REMOVE_OLD, PURGES_KEPT)
    return Purge(purge_id, begun["begin_time"], begun["memories"] or 0)


async def database_is_purged(connection: Connection, purge: Purge) -> None:
    """Notes that the database was rewritten."""
    async with connection.transaction():
        await connection.execute(_DATABASE_DONE, purge.purge_id)
        await connection.execute(_FORGET_ERASED, purge.begin_time, purge.memories)


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


async def purges_after(pool: Pool, times: Sequence[datetime]) -> list[PurgeAfter]:
    """For each time what is known of the first purge, of database and indexes, that began then or later.

    Nothing for all where the tiers that run maintenance have no schema in this database yet.

    Raises:
        MnemeError: The database cannot be asked.
    """
    if not times:
        return []
    try:
        with translate_errors():
            found = await pool.fetch(_AFTER, times, _SCHEDULE_SEEN)
    except FailedPrecondition:
        return [PurgeAfter()] * len(times)
    return [PurgeAfter(row["time"], bool(row["is_scheduled"]), row["due_time"]) for row in found]
