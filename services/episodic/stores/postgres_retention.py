"""Which episodes fade, in PostgreSQL."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from services.common.maintenance.fence import check_fence
from services.common.postgres.pool import translate_errors
from services.common.postgres.tenancy import tenant_transaction
from services.common.postgres.types import Record
from services.episodic.model import EpisodeId, EpisodeKey, Owner, TenantId, UserId
from services.episodic.retention_store import ActiveCount, FadingEpisode, FadingRule
from services.episodic.stores import postgres_rows as rows
from services.episodic.stores.postgres_removal import PostgresRemovalStore

# A restored episode is due for the index at the time of its restoration: that counts as a use.
_USED: Final = "greatest(e.index_after, e.last_access_time)"

_NOT_NEWEST: Final = f"""
    SELECT e.episode_id, coalesce(e.importance, 0.5) AS importance, {_USED} AS used_time
    FROM episodic.episodes AS e
    WHERE e.tenant_id = $1 AND e.user_id = $2 AND e.status = 2 AND ($3 = 0 OR (e.time, e.episode_id) < (
        SELECT n.time, n.episode_id FROM episodic.episodes AS n
        WHERE n.tenant_id = $1 AND n.user_id = $2 AND n.status = 2
        ORDER BY n.time DESC, n.episode_id DESC OFFSET greatest($3 - 1, 0) LIMIT 1
    ))
"""  # noqa: S608 - built from constants of this module

FADED: Final = f"{_NOT_NEWEST} AND e.fade_time <= $4 ORDER BY e.fade_time, e.time, e.episode_id LIMIT $5"
"""Named for the test that reads its plan."""

_ACTIVE_COUNT: Final = """
    SELECT count(*) FROM episodic.episodes AS e WHERE e.tenant_id = $1 AND e.user_id = $2 AND e.status = 2
"""

# Read of owners alone who have episodes whose time has come, once a run.
_ACTIVE_TIME: Final = f"""
    SELECT max({_USED}) FROM episodic.episodes AS e WHERE e.tenant_id = $1 AND e.user_id = $2 AND e.status IN (1, 2)
"""  # noqa: S608 - built from constants of this module

_WEAKEST: Final = f"""
    {_NOT_NEWEST}
    ORDER BY coalesce(e.importance, 0.5)
        / (1 + greatest(0, date_part('epoch', $5::timestamptz - {_USED})) / ($4::float8 * 86400)), e.time, e.episode_id
    LIMIT $6
"""

_RULE_HOLDS: Final = """
    SELECT EXISTS (
        SELECT FROM episodic.owners WHERE tenant_id = $1 AND user_id = $2 AND fading_rule = $3
    )
"""
_SET_RULE: Final = "UPDATE episodic.owners SET fading_rule = $3 WHERE tenant_id = $1 AND user_id = $2"


def _time_fading(condition: str) -> str:
    """Of active episodes behind $3 that fulfil a condition; locks and writes those alone whose time is another."""
    computed = f"episodic.fade_time_of(e.importance, {_USED}, $5, $6)"
    return f"""
        WITH looked AS MATERIALIZED (
            SELECT e.episode_id,
                e.fade_time IS DISTINCT FROM episodic.kept_fade_time(e.fade_time, {computed}) AS differs
            FROM episodic.episodes AS e
            WHERE e.tenant_id = $1 AND e.user_id = $2 AND e.status = 2 AND ($3::uuid IS NULL OR e.episode_id > $3)
                AND {condition}
            ORDER BY e.episode_id LIMIT $4
        ), found AS MATERIALIZED (
            SELECT e.episode_id FROM episodic.episodes AS e
            WHERE e.tenant_id = $1 AND e.user_id = $2 AND e.status = 2
                AND e.episode_id IN (SELECT l.episode_id FROM looked AS l WHERE l.differs)
            ORDER BY e.episode_id FOR NO KEY UPDATE OF e
        ), timed AS (
            UPDATE episodic.episodes AS e SET fade_time = {computed}
            WHERE e.tenant_id = $1 AND e.user_id = $2
                AND e.episode_id = ANY (ARRAY(SELECT f.episode_id FROM found AS f))
        )
        SELECT episode_id FROM looked ORDER BY episode_id
    """  # noqa: S608 - built from constants of this module


_TIME_ALL: Final = _time_fading("true")
_TIME_NEW: Final = _time_fading("e.fade_time IS NULL")

# Locked in the order of the ids, as every write of several rows does.
_ARCHIVE_UNUSED: Final = f"""
    WITH found AS MATERIALIZED (
        SELECT e.episode_id FROM episodic.episodes AS e
        JOIN unnest($3::uuid[], $4::timestamptz[]) AS seen (episode_id, used_time) USING (episode_id)
        WHERE e.tenant_id = $1 AND e.user_id = $2 AND e.status = 2 AND {_USED} = seen.used_time
        ORDER BY e.episode_id FOR NO KEY UPDATE OF e
    ), tokens AS (
        DELETE FROM episodic.token_vectors AS t
        WHERE t.tenant_id = $1 AND t.user_id = $2 AND t.episode_id = ANY (ARRAY(SELECT f.episode_id FROM found AS f))
    )
    UPDATE episodic.episodes AS e SET status = 3, archive_time = $5, indexed_model = NULL, piece_count = 0
    WHERE e.tenant_id = $1 AND e.user_id = $2 AND e.episode_id = ANY (ARRAY(SELECT f.episode_id FROM found AS f))
    RETURNING e.episode_id, e.episode_key
"""  # noqa: S608 - built from constants of this module


class PostgresRetentionStore(PostgresRemovalStore):
    """Implements `RetentionStore`; see there for what each method guarantees."""

    _fading: FadingRule

    async def active_counts(self, *, after: Owner | None, limit: int, only: Owner | None = None) -> list[ActiveCount]:
        """See `RetentionStore.active_counts`."""
        if only is not None:
            if only == after:
                return []
            async with tenant_transaction(self._pool, only.tenant_id) as connection:
                return [ActiveCount(only, await connection.fetchval(_ACTIVE_COUNT, only.tenant_id, only.user_id))]
        tenant_id, user_id = ("", "") if after is None else (after.tenant_id, after.user_id)
        with translate_errors():
            found = await self._pool.fetch(
                "SELECT * FROM episodic.active_counts($1, $2, $3)", tenant_id, user_id, limit
            )
        return [
            ActiveCount(Owner(TenantId(row["tenant_id"]), UserId(row["user_id"])), row["active_episodes"])
            for row in found
        ]

    async def time_fading(self, owner: Owner, *, after: EpisodeId | None, limit: int) -> EpisodeId | None:
        """See `RetentionStore.time_fading`."""
        rule = f"{self._fading.scale_days!r} {self._fading.strength_min!r}"
        async with tenant_transaction(self._pool, owner.tenant_id) as connection:
            await check_fence(connection)
            holds = await connection.fetchval(_RULE_HOLDS, owner.tenant_id, owner.user_id, rule)
            looked = await connection.fetch(
                _TIME_NEW if holds else _TIME_ALL,
                owner.tenant_id,
                owner.user_id,
                after,
                limit,
                self._fading.scale_days,
                self._fading.strength_min,
            )
            if len(looked) == limit:
                return EpisodeId(looked[-1]["episode_id"])
            if not holds:
                await connection.execute(_SET_RULE, owner.tenant_id, owner.user_id, rule)
        return None

    async def active_time(self, owner: Owner) -> datetime | None:
        """See `RetentionStore.active_time`."""
        async with tenant_transaction(self._pool, owner.tenant_id) as connection:
            time: datetime | None = await connection.fetchval(_ACTIVE_TIME, owner.tenant_id, owner.user_id)
        return time

    async def faded(self, owner: Owner, *, newest_kept: int, now: datetime, limit: int) -> list[FadingEpisode]:
        """See `RetentionStore.faded`."""
        async with tenant_transaction(self._pool, owner.tenant_id) as connection:
            found = await connection.fetch(FADED, owner.tenant_id, owner.user_id, newest_kept, now, limit)
        return [_fading(row) for row in found]

    async def weakest(
        self, owner: Owner, *, newest_kept: int, scale_days: float, now: datetime, limit: int
    ) -> list[FadingEpisode]:
        """See `RetentionStore.weakest`."""
        async with tenant_transaction(self._pool, owner.tenant_id) as connection:
            found = await connection.fetch(
                _WEAKEST, owner.tenant_id, owner.user_id, newest_kept, scale_days, now, limit
            )
        return [_fading(row) for row in found]

    async def archive_unused(
        self, owner: Owner, episodes: Sequence[FadingEpisode], *, now: datetime
    ) -> dict[EpisodeId, EpisodeKey]:
        """See `RetentionStore.archive_unused`."""
        async with tenant_transaction(self._pool, owner.tenant_id) as connection:
            await check_fence(connection)
            found = await connection.fetch(
                _ARCHIVE_UNUSED,
                owner.tenant_id,
                owner.user_id,
                [episode.episode_id for episode in episodes],
                [episode.used_time for episode in episodes],
                now,
            )
        return {EpisodeId(row["episode_id"]): rows.key(row["episode_key"]) for row in found}


def _fading(row: Record) -> FadingEpisode:
    return FadingEpisode(
        episode_id=EpisodeId(row["episode_id"]), importance=row["importance"], used_time=row["used_time"]
    )
