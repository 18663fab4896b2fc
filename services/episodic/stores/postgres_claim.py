"""Which embedded index is filled from a database: one at a time."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from typing import Final

import structlog

from services.common.errors import FailedPrecondition, MnemeError
from services.common.postgres.pool import translate_errors
from services.common.postgres.types import Pool

_log = structlog.get_logger(__name__)

_HEARTBEAT_SECONDS: Final = 3.0
_MISSED_MAX: Final = 4
"""Heartbeats that a service may miss before another one takes its place."""

# Takes over from `$3`, whose heartbeat has stood still at `$4`, or where there is nobody.
_CLAIM: Final = """
    INSERT INTO episodic.embedded_index AS held (index_name, place) VALUES ($1, $2)
    ON CONFLICT (is_only) DO UPDATE
        SET index_name = excluded.index_name, place = excluded.place, heartbeat = held.heartbeat + 1
        WHERE held.index_name = excluded.index_name OR (held.index_name = $3 AND held.heartbeat = $4)
    RETURNING true
"""
_HOLDER: Final = "SELECT index_name, place, heartbeat FROM episodic.embedded_index"
_BEAT: Final = "UPDATE episodic.embedded_index SET heartbeat = heartbeat + 1 WHERE index_name = $1 RETURNING true"
_RELEASE: Final = "DELETE FROM episodic.embedded_index WHERE index_name = $1"


@contextlib.asynccontextmanager
async def embedded_index_claimed(
    pool: Pool,
    index_name: str,
    *,
    place: str,
    on_lost: Callable[[], None],
    heartbeat_seconds: float = _HEARTBEAT_SECONDS,
) -> AsyncIterator[None]:
    """Hold the database for one embedded index, for the length of the block.

    A holder that was killed shows no heartbeat, and is replaced after some seconds; the same index, which its folder's
    lock makes the only one of its name, at once. Works through PgBouncer, since no lock belongs to a connection.

    Args:
        pool: Of the services' role.
        index_name: Model and shard of the index.
        place: Where it is, for the message to others.
        on_lost: Called when another index has taken over, since this service gave no sign of life.
        heartbeat_seconds: Between two signs of life.

    Raises:
        FailedPrecondition: Another embedded index is being filled from this database.
        StoreUnavailable: The database cannot be asked.
    """
    await _claim(pool, index_name, place, heartbeat_seconds)
    beating = asyncio.create_task(_beat(pool, index_name, on_lost, heartbeat_seconds), name="episodic-index-claim")
    try:
        yield
    finally:
        beating.cancel()
        await asyncio.gather(beating, return_exceptions=True)
        with contextlib.suppress(MnemeError), translate_errors():
            await pool.execute(_RELEASE, index_name)


async def _claim(pool: Pool, index_name: str, place: str, heartbeat_seconds: float) -> None:
    seen: tuple[str, int] | None = None
    where = "somewhere else"
    for missed in range(_MISSED_MAX + 1):
        with translate_errors():
            replaced = seen if missed == _MISSED_MAX and seen else (None, None)
            if await pool.fetchval(_CLAIM, index_name, place, *replaced):
                return
            holder = await pool.fetchrow(_HOLDER)
        if holder is None:
            continue  # it has just stopped
        where = holder["place"]
        if seen is None:
            _log.warning("waiting to see whether another embedded index is alive", place=where)
            seen = holder["index_name"], holder["heartbeat"]
        elif seen != (holder["index_name"], holder["heartbeat"]):
            break
        await asyncio.sleep(heartbeat_seconds)
    raise FailedPrecondition(
        f"the episodes of this database are indexed by another service with an embedded index, {where}: "
        "stop it, or use a Qdrant server (MNEME_QDRANT_URL) for several"
    )


async def _beat(pool: Pool, index_name: str, on_lost: Callable[[], None], heartbeat_seconds: float) -> None:
    while True:
        await asyncio.sleep(heartbeat_seconds)
        try:
            with translate_errors():
                is_held = await pool.fetchval(_BEAT, index_name)
        except MnemeError as error:
            _log.warning("the claim of the embedded index cannot be renewed", error=str(error))
            continue
        if not is_held:
            _log.critical("another embedded index has taken over this database: this service stops")
            on_lost()
            return
