"""The profile store on PostgreSQL."""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Final, TypeVar

import asyncpg

from services.common.encryption.cipher import PLAIN, Cipher
from services.common.encryption.postgres import NO_DATA_KEYS, DataKeys
from services.common.encryption.sealing import OwnerSealing
from services.common.idempotency.model import IdempotencyRecords
from services.common.idempotency.postgres import PostgresIdempotencyRecords
from services.common.owners import InteractionId, Owner, TenantId, UserId
from services.common.postgres.tenancy import tenant_transaction
from services.common.postgres.types import Connection, Pool
from services.common.postgres.users import users_statement
from services.common.turns import MessageRole
from services.semantic.config import ProfileLimits
from services.semantic.profile.model import (
    Counts,
    Lesson,
    Observation,
    Preferences,
    Profile,
    ProfileStatistics,
    preferences_from_values,
    preferences_to_values,
)
from services.semantic.profile.store import ProfileWriter
from services.semantic.stores.postgres import LOCK_USER, SCHEMA
from services.semantic.stores.postgres_sealing import OBSERVED, PROFILES

_T = TypeVar("_T")

_SUBJECT: Final = "profile"
_USERS: Final = users_statement("semantic.profiles")

_GET: Final = """
SELECT user_id, preferences, etag, update_time FROM semantic.profiles WHERE tenant_id = $1 AND user_id = $2
"""

_OBSERVED: Final = """
FROM semantic.observed_interactions
WHERE tenant_id = $1 AND user_id = $2 AND context_id = $3 AND time IS NOT NULL
"""

# One row, also where nothing was observed. At most $4 topics; all where it is null: encrypted names have another order.
# Turns are counted by conversation and hour first: the rest works on those few rows, however much the user has said.
_COUNT: Final = f"""
WITH part AS (
    SELECT conversation_id, date_trunc('hour', time AT TIME ZONE 'UTC') AS begin,
        count(*) AS turns,
        count(*) FILTER (WHERE role = {int(MessageRole.USER)}) AS user_turns,
        count(*) FILTER (WHERE role = {int(MessageRole.ASSISTANT)}) AS assistant_turns,
        count(*) FILTER (WHERE query_type <> '') AS questions,
        count(confidence) AS confidences, sum(confidence) AS confidence_sum,
        count(*) FILTER (WHERE feedback > 0) AS good, count(*) FILTER (WHERE feedback < 0) AS bad,
        min(time) AS first_time, max(time) AS last_time
    {_OBSERVED} GROUP BY 1, 2
), days AS (
    SELECT extract(epoch FROM max(last_time) - min(first_time)) AS seconds
    FROM part GROUP BY conversation_id, begin::date
), topic AS (
    SELECT name, count(*) AS n FROM (SELECT unnest(topics) AS name {_OBSERVED} AND topics <> '{{}}') AS o
    GROUP BY name ORDER BY n DESC, name COLLATE "C" LIMIT $4
), asked AS (
    SELECT query_type AS name, count(*) AS n {_OBSERVED} AND query_type <> '' GROUP BY query_type
), by_hour AS (
    SELECT extract(hour FROM begin)::int AS hour, sum(user_turns)::bigint AS n
    FROM part WHERE user_turns > 0 GROUP BY 1
)
SELECT coalesce(sum(turns), 0)::bigint AS turns,
    coalesce(sum(user_turns), 0)::bigint AS user_turns,
    coalesce(sum(assistant_turns), 0)::bigint AS assistant_turns,
    count(DISTINCT conversation_id) AS conversations,
    coalesce(sum(questions), 0)::bigint AS questions,
    coalesce(sum(confidences), 0)::bigint AS confidences,
    coalesce(sum(confidence_sum), 0)::bigint AS confidence_sum,
    coalesce(sum(good), 0)::bigint AS good,
    coalesce(sum(bad), 0)::bigint AS bad,
    min(first_time) AS first_time, max(last_time) AS last_time,
    (SELECT count(*) FROM days) AS sessions,
    (SELECT coalesce(sum(seconds), 0)::float8 FROM days) AS session_seconds,
    (SELECT coalesce(jsonb_agg(jsonb_build_array(hour, n)), '[]') FROM by_hour) AS hours,
    (SELECT coalesce(jsonb_agg(jsonb_build_array(name, n) ORDER BY n DESC, name COLLATE "C"), '[]') FROM topic)
        AS topics,
    (SELECT coalesce(jsonb_agg(jsonb_build_array(name, n) ORDER BY n DESC, name COLLATE "C"), '[]') FROM asked)
        AS query_types
FROM part
"""  # noqa: S608 - numbers of enums

_LESSONS: Final = """
SELECT interaction_id, stated, feedback, sources FROM semantic.observed_interactions
WHERE tenant_id = $1 AND user_id = $2 AND scope_key = ANY($3) AND time IS NOT NULL
    AND (stated IS NOT NULL OR feedback <> 0)
ORDER BY time DESC, interaction_id DESC LIMIT $4
"""

_JUDGE: Final = """
INSERT INTO semantic.observed_interactions AS o (tenant_id, user_id, interaction_id, feedback)
SELECT $1, $2, i, $4 FROM (SELECT DISTINCT unnest($3::uuid[])) AS given (i) ORDER BY i
ON CONFLICT (tenant_id, user_id, interaction_id) DO UPDATE SET feedback = excluded.feedback WHERE NOT o.removed
"""

_PUT: Final = """
INSERT INTO semantic.profiles (tenant_id, user_id, preferences, etag, update_time) VALUES ($1, $2, $3, $4, $5)
ON CONFLICT (tenant_id, user_id) DO UPDATE SET preferences = $3, etag = $4, update_time = $5
"""

_DELETE: Final = "DELETE FROM semantic.profiles WHERE tenant_id = $1 AND user_id = $2 RETURNING true"

_EMPTY: Final = """
    removed = true, feedback = 0, conversation_id = NULL, context_id = NULL, scope_key = NULL, role = NULL, time = NULL,
    confidence = NULL, query_type = NULL, topics = NULL, sources = NULL, stated = NULL
"""

_REMOVE: Final = f"""
INSERT INTO semantic.observed_interactions (tenant_id, user_id, interaction_id, removed)
SELECT $1, $2, i, true FROM (SELECT DISTINCT unnest($3::uuid[])) AS given (i) ORDER BY i
ON CONFLICT (tenant_id, user_id, interaction_id) DO UPDATE SET {_EMPTY}
"""  # noqa: S608 - a constant

_REMOVE_ALL: Final = f"""
WITH removed AS (
    UPDATE semantic.observed_interactions SET {_EMPTY} WHERE tenant_id = $1 AND user_id = $2 AND NOT removed
    RETURNING 1
)
SELECT count(*) > 0 FROM removed
"""  # noqa: S608 - a constant

# One statement for a batch of any users. Rows are written in one order everywhere, so that two batches that share
# interactions wait for each other and do not deadlock. Lists come as JSON: the rows of an array are of one length.
_OBSERVE: Final = """
WITH given AS (
    SELECT DISTINCT ON (user_id, interaction_id) *
    FROM unnest($2::text[], $3::uuid[], $4::text[], $5::text[], $6::text[], $7::smallint[], $8::timestamptz[],
        $9::bigint[], $10::text[], $11::jsonb[])
        AS g (user_id, interaction_id, conversation_id, context_id, scope_key, role, time, confidence, query_type,
            lists)
    ORDER BY user_id, interaction_id
), written AS (
    INSERT INTO semantic.observed_interactions AS o (tenant_id, user_id, interaction_id, conversation_id, context_id,
        scope_key, role, time, confidence, query_type, topics, sources, stated)
    SELECT $1, user_id, interaction_id, conversation_id, context_id, scope_key, role, time, confidence, query_type,
        ARRAY(SELECT jsonb_array_elements_text(lists->'topics')),
        ARRAY(SELECT jsonb_array_elements_text(lists->'sources')), lists->'stated'
    FROM given ORDER BY user_id, interaction_id
    ON CONFLICT (tenant_id, user_id, interaction_id) DO UPDATE SET
        conversation_id = excluded.conversation_id, context_id = excluded.context_id, scope_key = excluded.scope_key,
        role = excluded.role, time = excluded.time, confidence = excluded.confidence, query_type = excluded.query_type,
        topics = excluded.topics, sources = excluded.sources, stated = excluded.stated
        WHERE o.time IS NULL AND NOT o.removed
    RETURNING 1
)
SELECT count(*) FROM written
"""


class PostgresProfileStore:
    """A `ProfileStore`."""

    def __init__(self, pool: Pool, limits: ProfileLimits | None = None, *, keys: DataKeys = NO_DATA_KEYS) -> None:
        """Use a pool of `create_pool`, of a role bound by row-level security; its owner closes it."""
        self._pool = pool
        self._keys = keys
        self._limits = limits or ProfileLimits()

    async def write(self, owner: Owner, work: Callable[[ProfileWriter], Awaitable[_T]]) -> _T:
        """A transaction under the user's advisory lock, which ends with it; work runs once."""
        async with tenant_transaction(self._pool, owner.tenant_id) as connection:
            await connection.execute(LOCK_USER, owner.tenant_id, owner.user_id, _SUBJECT)
            return await work(_PostgresProfileWriter(connection, owner, self._limits, self._keys))

    async def get(self, owner: Owner, *, context_id: str = "") -> Profile:
        """The profile in two statements."""
        async with tenant_transaction(self._pool, owner.tenant_id) as connection:
            return await _get(OwnerSealing(self._keys, connection, owner), connection, owner, context_id, self._limits)

    async def lessons(
        self, owner: Owner, *, scope_keys: Sequence[str], limit: int
    ) -> tuple[Preferences, Sequence[Lesson]]:
        """Two statements by their indexes."""
        async with tenant_transaction(self._pool, owner.tenant_id) as connection:
            sealing = OwnerSealing(self._keys, connection, owner)
            found = await connection.fetch(_GET, owner.tenant_id, owner.user_id)
            written = await sealing.opened(PROFILES, found)
            rows = await connection.fetch(_LESSONS, owner.tenant_id, owner.user_id, list(scope_keys), limit)
            lessons = await sealing.opened(OBSERVED, rows)
        preferences = preferences_from_values(written[0]["preferences"]) if written else Preferences()
        return preferences, [
            Lesson(InteractionId(str(row["interaction_id"])), row["stated"], row["feedback"], tuple(row["sources"]))
            for row in lessons
        ]

    async def judge(self, owner: Owner, interaction_ids: Sequence[InteractionId], feedback: int) -> None:
        """One statement."""
        async with tenant_transaction(self._pool, owner.tenant_id) as connection:
            await connection.execute(_JUDGE, owner.tenant_id, owner.user_id, _uuids(interaction_ids), feedback)

    async def remove(self, owner: Owner, interaction_ids: Sequence[InteractionId]) -> None:
        """One statement; the ids stay."""
        async with tenant_transaction(self._pool, owner.tenant_id) as connection:
            await connection.execute(_REMOVE, owner.tenant_id, owner.user_id, _uuids(interaction_ids))

    async def users(self, tenant_id: TenantId, *, after: UserId, limit: int) -> list[UserId]:
        """One statement, by the key of the table."""
        async with tenant_transaction(self._pool, tenant_id) as connection:
            return [UserId(row[0]) for row in await connection.fetch(_USERS, tenant_id, after, limit)]

    async def observe(self, tenant_id: TenantId, observations: Sequence[Observation]) -> int:
        """A batch in one statement."""
        async with tenant_transaction(self._pool, tenant_id) as connection:
            ciphers = await self._keys.for_writing(connection, tenant_id, [o.user_id for o in observations])
            lists = [_lists(one, ciphers.of(tenant_id, one.user_id)) for one in observations]
            counted: int = await connection.fetchval(_OBSERVE, tenant_id, *_columns(observations), lists)
        return counted


def _columns(observations: Sequence[Observation]) -> tuple[list[object], ...]:
    """Columns of observations, without their lists."""
    return (
        [o.user_id for o in observations],
        list(_uuids([o.interaction_id for o in observations])),
        [o.conversation_id for o in observations],
        [o.context_id for o in observations],
        [o.scope_key for o in observations],
        [int(o.role) for o in observations],
        [o.time for o in observations],
        [o.confidence for o in observations],
        [o.query_type for o in observations],
    )


class _PostgresProfileWriter:
    """A `ProfileWriter` in an open transaction."""

    def __init__(self, connection: Connection, owner: Owner, limits: ProfileLimits, keys: DataKeys) -> None:
        """Write for `owner` through a connection bound to its tenant."""
        self._sealing = OwnerSealing(keys, connection, owner)
        self._connection = connection
        self._owner = owner
        self._limits = limits

    @property
    def idempotency(self) -> IdempotencyRecords:
        """The tenant's idempotency records."""
        return PostgresIdempotencyRecords(
            self._connection, self._owner.tenant_id, schema=SCHEMA, sealing=self._sealing.cipher
        )

    async def get(self) -> Profile:
        """The profile as it is now."""
        return await _get(self._sealing, self._connection, self._owner, "", self._limits)

    async def put_preferences(self, preferences: Preferences, *, etag: str, update_time: datetime) -> None:
        """Replace the preferences."""
        tenant_id, user_id = self._owner.tenant_id, self._owner.user_id
        values = {"user_id": user_id, "preferences": preferences_to_values(preferences)}
        sealed = PROFILES.seal(await self._sealing.cipher(is_new=True), values)
        await self._connection.execute(_PUT, tenant_id, user_id, sealed["preferences"], etag, update_time)

    async def delete(self) -> bool:
        """Delete preferences and observations; the ids of interactions stay."""
        key = (self._owner.tenant_id, self._owner.user_id)
        had_preferences = await self._connection.fetchval(_DELETE, *key)
        return bool(await self._connection.fetchval(_REMOVE_ALL, *key)) or bool(had_preferences)


async def _get(
    sealing: OwnerSealing, connection: Connection, owner: Owner, context_id: str, limits: ProfileLimits
) -> Profile:
    key = (owner.tenant_id, owner.user_id)
    found = await sealing.opened(PROFILES, await connection.fetch(_GET, *key))
    written = found[0] if found else None
    cipher = await sealing.cipher(is_new=False)
    topics_max = limits.topics_max if cipher is PLAIN else None
    counted = await connection.fetchrow(_COUNT, *key, context_id, topics_max)
    assert counted is not None
    profile = Profile(user_id=owner.user_id, statistics=_statistics(counted, limits, cipher))
    if written is None:
        return profile
    return replace(
        profile,
        preferences=preferences_from_values(written["preferences"]),
        etag=written["etag"],
        update_time=written["update_time"],
    )


def _statistics(row: asyncpg.Record, limits: ProfileLimits, cipher: Cipher) -> ProfileStatistics:
    values = dict(row)
    turns = values.pop("turns")
    if not turns:
        return ProfileStatistics()
    values["first_time"], values["last_time"] = (values[name].astimezone(UTC) for name in ("first_time", "last_time"))
    values["hours"] = dict(values["hours"])
    values["topics"] = _topics(values["topics"], limits, cipher)
    values["query_types"] = tuple((name, count) for name, count in values["query_types"])
    return Counts(**values).statistics(turns, peak_hours_max=limits.peak_hours_max)


def _topics(counted: Sequence[tuple[str, int]], limits: ProfileLimits, cipher: Cipher) -> tuple[tuple[str, int], ...]:
    """The most frequent topics, ties by name. One that was stored before encryption counts with its encrypted form."""
    counts: Counter[str] = Counter()
    for name, count in counted:
        counts[cipher.open_name("topics", name)] += count
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0].encode("utf-8", "surrogatepass")))
    return tuple(ordered[: limits.topics_max])


def _lists(observation: Observation, cipher: Cipher) -> dict[str, object]:
    """What the statement takes apart: it is stored as it is encrypted here."""
    stated = None if observation.stated is None else dict(observation.stated)
    sealed = OBSERVED.seal(
        cipher,
        {
            "interaction_id": uuid.UUID(observation.interaction_id),
            "topics": observation.topics,
            "sources": observation.sources,
            "stated": stated,
        },
    )
    lists: dict[str, object] = {"topics": list(sealed["topics"]), "sources": list(sealed["sources"])}
    return lists if stated is None else {**lists, "stated": sealed["stated"]}


def _uuids(ids: Sequence[str]) -> list[uuid.UUID]:
    return [uuid.UUID(identifier) for identifier in ids]
