"""The profile store on PostgreSQL."""

from __future__ import annotations

import uuid
from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime
from typing import Final, TypeVar

import asyncpg

from services.common.idempotency.model import IdempotencyRecords
from services.common.idempotency.postgres import PostgresIdempotencyRecords
from services.common.owners import InteractionId, Owner, TenantId
from services.common.postgres.tenancy import as_tenant, tenant_connection, tenant_transaction
from services.common.postgres.types import Connection, Pool
from services.common.turns import MessageRole
from services.semantic.profile.model import (
    CONFIDENCE_UNIT,
    HOURS_A_DAY,
    Observation,
    Preferences,
    Profile,
    ProfileStatistics,
    peak_hours,
    preferences_from_values,
    preferences_to_values,
)
from services.semantic.profile.store import ProfileWriter
from services.semantic.stores.postgres import LOCK_USER, SCHEMA

_T = TypeVar("_T")

_SUBJECT: Final = "profile"

_GET: Final = """
SELECT p.preferences, p.etag, p.update_time, s.user_turns, s.assistant_turns, s.conversations, s.questions,
    s.confidences, s.confidence_sum, s.hours, s.first_time, s.last_time
FROM (SELECT $1::text AS tenant_id, $2::text AS user_id) k
    LEFT JOIN semantic.profiles p USING (tenant_id, user_id)
    LEFT JOIN semantic.profile_statistics s USING (tenant_id, user_id)
"""
_GET_ALONE: Final = as_tenant(_GET)

_PUT: Final = """
INSERT INTO semantic.profiles (tenant_id, user_id, preferences, etag, update_time) VALUES ($1, $2, $3, $4, $5)
ON CONFLICT (tenant_id, user_id) DO UPDATE SET preferences = $3, etag = $4, update_time = $5
"""

# Whether there were preferences, then statistics.
_DELETIONS: Final = (
    "DELETE FROM semantic.profiles WHERE tenant_id = $1 AND user_id = $2 RETURNING true",
    "DELETE FROM semantic.profile_statistics WHERE tenant_id = $1 AND user_id = $2 RETURNING true",
    "DELETE FROM semantic.observed_conversations WHERE tenant_id = $1 AND user_id = $2 RETURNING true",
)

_EXCLUDE: Final = """
INSERT INTO semantic.observed_interactions (tenant_id, user_id, interaction_id)
SELECT $1, $2, i FROM unnest($3::uuid[]) AS given (i) ORDER BY i
ON CONFLICT DO NOTHING
"""

# One statement for a batch of any users. Rows are written in one order everywhere, so that two batches that share
# interactions wait for each other and do not deadlock.
_OBSERVE: Final = f"""
WITH given AS (
    SELECT DISTINCT ON (user_id, interaction_id) *
    FROM unnest($2::text[], $3::uuid[], $4::text[], $5::smallint[], $6::timestamptz[], $7::boolean[], $8::bigint[])
        AS g (user_id, interaction_id, conversation_id, role, time, asks, confidence)
    ORDER BY user_id, interaction_id
), new AS (
    INSERT INTO semantic.observed_interactions (tenant_id, user_id, interaction_id)
    SELECT $1, user_id, interaction_id FROM given ORDER BY user_id, interaction_id
    ON CONFLICT DO NOTHING
    RETURNING user_id, interaction_id
), counted AS (
    SELECT g.* FROM new JOIN given g USING (user_id, interaction_id)
), opened AS (
    INSERT INTO semantic.observed_conversations (tenant_id, user_id, conversation_id)
    SELECT DISTINCT $1, user_id, conversation_id FROM counted ORDER BY user_id, conversation_id
    ON CONFLICT DO NOTHING
    RETURNING user_id
), summed AS (
    SELECT user_id,
        count(*) FILTER (WHERE role = {int(MessageRole.USER)}) AS user_turns,
        count(*) FILTER (WHERE role = {int(MessageRole.ASSISTANT)}) AS assistant_turns,
        (SELECT count(*) FROM opened o WHERE o.user_id = c.user_id) AS conversations,
        count(*) FILTER (WHERE asks) AS questions,
        count(confidence) AS confidences,
        coalesce(sum(confidence), 0)::bigint AS confidence_sum,
        ARRAY(
            SELECT count(d.user_id) FROM generate_series(0, {HOURS_A_DAY - 1}) h LEFT JOIN counted d
                ON d.user_id = c.user_id AND d.role = {int(MessageRole.USER)}
                AND extract(hour FROM d.time AT TIME ZONE 'UTC') = h
            GROUP BY h ORDER BY h
        ) AS hours,
        min(time) AS first_time, max(time) AS last_time
    FROM counted c GROUP BY user_id
), written AS (
    INSERT INTO semantic.profile_statistics AS s (
        tenant_id, user_id, user_turns, assistant_turns, conversations, questions, confidences, confidence_sum, hours,
        first_time, last_time
    )
    SELECT $1, user_id, user_turns, assistant_turns, conversations, questions, confidences, confidence_sum, hours,
        first_time, last_time
    FROM summed ORDER BY user_id
    ON CONFLICT (tenant_id, user_id) DO UPDATE SET
        user_turns = s.user_turns + excluded.user_turns,
        assistant_turns = s.assistant_turns + excluded.assistant_turns,
        conversations = s.conversations + excluded.conversations,
        questions = s.questions + excluded.questions,
        confidences = s.confidences + excluded.confidences,
        confidence_sum = s.confidence_sum + excluded.confidence_sum,
        hours = ARRAY(
            SELECT a + b FROM unnest(s.hours, excluded.hours) WITH ORDINALITY AS u (a, b, i) ORDER BY i
        ),
        first_time = least(s.first_time, excluded.first_time),
        last_time = greatest(s.last_time, excluded.last_time)
)
SELECT count(*) FROM counted
"""  # noqa: S608 - numbers of enums


class PostgresProfileStore:
    """A `ProfileStore`."""

    def __init__(self, pool: Pool, *, peak_hours_max: int = 5) -> None:
        """Use a pool of `create_pool`, of a role bound by row-level security; its owner closes it."""
        self._pool = pool
        self._peak_hours_max = peak_hours_max

    async def write(self, owner: Owner, work: Callable[[ProfileWriter], Awaitable[_T]]) -> _T:
        """A transaction under the user's advisory lock, which ends with it; work runs once."""
        async with tenant_transaction(self._pool, owner.tenant_id) as connection:
            await connection.execute(LOCK_USER, owner.tenant_id, owner.user_id, _SUBJECT)
            return await work(_PostgresProfileWriter(connection, owner, self._peak_hours_max))

    async def get(self, owner: Owner) -> Profile:
        """The profile in one statement."""
        async with tenant_connection(self._pool) as connection:
            row = await connection.fetchrow(_GET_ALONE, owner.tenant_id, owner.user_id)
        return _profile(owner, row, self._peak_hours_max)

    async def exclude(self, owner: Owner, interaction_ids: Sequence[InteractionId]) -> None:
        """Mark interactions as counted."""
        async with tenant_transaction(self._pool, owner.tenant_id) as connection:
            ids = [uuid.UUID(i) for i in interaction_ids]
            await connection.execute(_EXCLUDE, owner.tenant_id, owner.user_id, ids)

    async def observe(self, tenant_id: TenantId, observations: Sequence[Observation]) -> int:
        """Count a batch in one statement."""
        columns = (
            [o.user_id for o in observations],
            [uuid.UUID(o.interaction_id) for o in observations],
            [o.conversation_id for o in observations],
            [int(o.role) for o in observations],
            [o.time for o in observations],
            [o.asks for o in observations],
            [o.confidence for o in observations],
        )
        async with tenant_transaction(self._pool, tenant_id) as connection:
            counted: int = await connection.fetchval(_OBSERVE, tenant_id, *columns)
        return counted


class _PostgresProfileWriter:
    """A `ProfileWriter` in an open transaction."""

    def __init__(self, connection: Connection, owner: Owner, peak_hours_max: int) -> None:
        """Write for `owner` through a connection bound to its tenant."""
        self._connection = connection
        self._owner = owner
        self._peak_hours_max = peak_hours_max

    @property
    def idempotency(self) -> IdempotencyRecords:
        """The tenant's idempotency records."""
        return PostgresIdempotencyRecords(self._connection, self._owner.tenant_id, schema=SCHEMA)

    async def get(self) -> Profile:
        """The profile as it is now."""
        row = await self._connection.fetchrow(_GET, self._owner.tenant_id, self._owner.user_id)
        return _profile(self._owner, row, self._peak_hours_max)

    async def put_preferences(self, preferences: Preferences, *, etag: str, update_time: datetime) -> None:
        """Replace the preferences."""
        await self._connection.execute(
            _PUT, self._owner.tenant_id, self._owner.user_id, preferences_to_values(preferences), etag, update_time
        )

    async def delete(self) -> bool:
        """Delete preferences and statistics."""
        key = (self._owner.tenant_id, self._owner.user_id)
        deleted = [await self._connection.fetchval(statement, *key) for statement in _DELETIONS]
        return any(deleted[:2])


def _profile(owner: Owner, row: asyncpg.Record | None, peak_hours_max: int) -> Profile:
    assert row is not None
    return Profile(
        user_id=owner.user_id,
        preferences=preferences_from_values(row["preferences"] or {}),
        statistics=_statistics(row, peak_hours_max),
        etag=row["etag"] or "",
        update_time=row["update_time"],
    )


def _statistics(row: asyncpg.Record, peak_hours_max: int) -> ProfileStatistics:
    if row["user_turns"] is None:
        return ProfileStatistics()
    stated = row["confidences"]
    return ProfileStatistics(
        user_turn_count=row["user_turns"],
        assistant_turn_count=row["assistant_turns"],
        conversation_count=row["conversations"],
        question_count=row["questions"],
        mean_confidence=row["confidence_sum"] / stated / CONFIDENCE_UNIT if stated else None,
        peak_hours=peak_hours(row["hours"], count_max=peak_hours_max),
        first_interaction_time=row["first_time"].astimezone(UTC),
        last_interaction_time=row["last_time"].astimezone(UTC),
    )
