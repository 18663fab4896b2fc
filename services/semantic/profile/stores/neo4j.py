"""The profile store on Neo4j."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from typing import Any, Final, LiteralString, TypeVar

from services.common.encryption.cipher import PLAIN, Cipher
from services.common.encryption.neo4j import (
    NO_GRAPH_DATA_KEYS,
    GraphDataKeys,
    GraphSealing,
    Run,
    graph_cipher,
    opened_records,
)
from services.common.idempotency.model import IdempotencyRecords
from services.common.idempotency.neo4j import Neo4jIdempotencyRecords
from services.common.neo4j.graph import Graph, GraphTransaction, Record
from services.common.owners import InteractionId, Owner, TenantId, UserId
from services.common.turns import MessageRole
from services.semantic.config import ProfileLimits
from services.semantic.profile.model import (
    Counts,
    Lesson,
    Observation,
    Preferences,
    Profile,
    preferences_from_values,
    preferences_to_values,
)
from services.semantic.profile.store import ProfileWriter
from services.semantic.stores.neo4j import IDEMPOTENCY, known_moment_of, microseconds, moment_of
from services.semantic.stores.neo4j_sealing import OBSERVED, PROFILES

_T = TypeVar("_T")

# The node is locked until the transaction ends. Lines are taken in their order: two batches of the same users wait for
# each other at the first user that they share, and neither holds what the other waits for.
LOCK_PROFILES: Final[LiteralString] = """
UNWIND $user_ids AS user_id
MERGE (p:MnemeProfile {tenant_id: $tenant_id, user_id: user_id})
SET p.works = coalesce(p.works, 0) + 1
"""

GET_PROFILE: Final[LiteralString] = f"""
MATCH (p:MnemeProfile {{tenant_id: $tenant_id, user_id: $user_id}})
RETURN p {{.preferences, .etag, update_time: {microseconds("p.update_time")}}} AS profile
"""

PUT_PREFERENCES: Final[LiteralString] = """
MATCH (p:MnemeProfile {tenant_id: $tenant_id, user_id: $user_id})
SET p.preferences = $preferences, p.etag = $etag, p.update_time = $update_time
"""

# The node stays: it is the lock.
DELETE_PROFILE: Final[LiteralString] = """
MATCH (p:MnemeProfile {tenant_id: $tenant_id, user_id: $user_id})
WITH p, p.preferences IS NOT NULL AS is_there
SET p = {tenant_id: p.tenant_id, user_id: p.user_id, works: p.works}
RETURN is_there
"""

# What is left of a turn that was removed.
_EMPTIED: Final[LiteralString] = """
SET i = {tenant_id: i.tenant_id, user_id: i.user_id, interaction_id: i.interaction_id, removed: true}
"""
REMOVE: Final[LiteralString] = f"""
UNWIND $interaction_ids AS interaction_id
MERGE (i:MnemeObservedInteraction {{tenant_id: $tenant_id, user_id: $user_id, interaction_id: interaction_id}})
{_EMPTIED}
"""

_OBSERVED: Final[LiteralString] = """
MATCH (i:MnemeObservedInteraction {tenant_id: $tenant_id, user_id: $user_id})
USING INDEX i:MnemeObservedInteraction(tenant_id, user_id, interaction_id)
WHERE i.interaction_id IS NOT NULL
"""
REMOVE_ALL: Final[LiteralString] = f"""
{_OBSERVED} AND i.removed IS NULL
{_EMPTIED}
RETURN count(*) AS removed
"""

_LEARNED_TIME: Final[LiteralString] = (
    "SET i.learned_time = CASE WHEN i.stated IS NOT NULL OR i.feedback <> 0 THEN i.time ELSE null END"
)
JUDGE: Final[LiteralString] = f"""
UNWIND $interaction_ids AS interaction_id
MERGE (i:MnemeObservedInteraction {{tenant_id: $tenant_id, user_id: $user_id, interaction_id: interaction_id}})
WITH i WHERE i.removed IS NULL
SET i.feedback = $feedback
{_LEARNED_TIME}
"""

OBSERVE: Final[LiteralString] = f"""
UNWIND $observations AS given
MERGE (i:MnemeObservedInteraction {{
    tenant_id: $tenant_id, user_id: given.user_id, interaction_id: given.interaction_id
}})
WITH i, given WHERE i.removed IS NULL AND i.time IS NULL
SET i += given.state
{_LEARNED_TIME}
RETURN count(*) AS observed
"""

_COUNTED: Final[LiteralString] = f"{_OBSERVED} AND i.context_id = $context_id AND i.time IS NOT NULL"
COUNT_TURNS: Final[LiteralString] = f"""
{_COUNTED}
RETURN count(*) AS turns, count(CASE WHEN i.role = $user THEN 1 END) AS user_turns,
    count(CASE WHEN i.role = $assistant THEN 1 END) AS assistant_turns,
    count(DISTINCT i.conversation_id) AS conversations, count(CASE WHEN i.query_type <> '' THEN 1 END) AS questions,
    count(i.confidence) AS confidences, coalesce(sum(i.confidence), 0) AS confidence_sum,
    count(CASE WHEN i.feedback > 0 THEN 1 END) AS good, count(CASE WHEN i.feedback < 0 THEN 1 END) AS bad,
    {microseconds("min(i.time)")} AS first_time, {microseconds("max(i.time)")} AS last_time
"""
COUNT_SESSIONS: Final[LiteralString] = f"""
{_COUNTED}
WITH i.conversation_id AS conversation_id, date(i.time) AS day, min(i.time) AS first, max(i.time) AS last
RETURN count(*) AS sessions, sum({microseconds("last")} - ({microseconds("first")})) / 1000000.0 AS session_seconds
"""
COUNT_HOURS: Final[LiteralString] = f"""
{_COUNTED} AND i.role = $user
RETURN i.time.hour AS name, count(*) AS count
"""
COUNT_TOPICS: Final[LiteralString] = f"""
{_COUNTED}
UNWIND i.topics AS name
RETURN name, count(*) AS count ORDER BY count DESC, name LIMIT $topics_max
"""
COUNT_QUERY_TYPES: Final[LiteralString] = f"""
{_COUNTED} AND i.query_type <> ''
RETURN i.query_type AS name, count(*) AS count ORDER BY count DESC, name
"""

LESSONS: Final[LiteralString] = """
MATCH (i:MnemeObservedInteraction {tenant_id: $tenant_id, user_id: $user_id})
USING INDEX i:MnemeObservedInteraction(tenant_id, user_id, learned_time)
WHERE i.learned_time IS NOT NULL AND i.scope_key IN $scope_keys
RETURN i.interaction_id AS interaction_id, i.stated AS stated, coalesce(i.feedback, 0) AS feedback,
    i.sources AS sources
ORDER BY i.learned_time DESC, i.interaction_id DESC LIMIT $limit
"""

# By the index, which begins with tenant and user.
USERS: Final[LiteralString] = """
MATCH (n:MnemeProfile {tenant_id: $tenant_id}) WHERE n.user_id > $after
WITH DISTINCT n.user_id AS user_id ORDER BY user_id LIMIT $limit
RETURN user_id
"""

ALL_QUERIES: Final[tuple[LiteralString, ...]] = (
    USERS,
    LOCK_PROFILES,
    GET_PROFILE,
    PUT_PREFERENCES,
    DELETE_PROFILE,
    REMOVE,
    REMOVE_ALL,
    JUDGE,
    OBSERVE,
    COUNT_TURNS,
    COUNT_SESSIONS,
    COUNT_HOURS,
    COUNT_TOPICS,
    COUNT_QUERY_TYPES,
    LESSONS,
)
"""For the test that reads their plans."""

_ALL_TOPICS: Final = 2**31 - 1
"""A bound that no number of topics reaches."""


class Neo4jProfileStore:
    """A `ProfileStore`. The node of a user's preferences is the lock of all that belongs to the profile."""

    def __init__(
        self, graph: Graph, limits: ProfileLimits | None = None, *, keys: GraphDataKeys = NO_GRAPH_DATA_KEYS
    ) -> None:
        """Use a graph whose migrations ran; its owner closes it. Content is encrypted by `keys`."""
        self._graph = graph
        self._keys = keys
        self._limits = limits or ProfileLimits()

    async def write(self, owner: Owner, work: Callable[[ProfileWriter], Awaitable[_T]]) -> _T:
        """A transaction that holds the lock of the user's node; work runs again after a transient failure."""

        async def locked(transaction: GraphTransaction) -> _T:
            await transaction.run(LOCK_PROFILES, {"tenant_id": owner.tenant_id, "user_ids": [owner.user_id]})
            return await work(_Neo4jProfileWriter(transaction, owner, self._limits, self._keys))

        return await self._graph.write(locked)

    async def get(self, owner: Owner, *, context_id: str = "") -> Profile:
        """The profile in some queries."""
        return await _get(self._graph.read, partial(self._cipher, owner), owner, context_id, self._limits)

    async def lessons(
        self, owner: Owner, *, scope_keys: Sequence[str], limit: int
    ) -> tuple[Preferences, Sequence[Lesson]]:
        """Two queries by their indexes."""
        key = _key(owner)
        written = await self._graph.read(GET_PROFILE, key)
        found = await self._graph.read(LESSONS, {**key, "scope_keys": list(scope_keys), "limit": limit})
        cipher = await self._cipher(owner) if written or found else PLAIN
        rows = await opened_records(cipher, OBSERVED, found)
        return _written(owner, written, cipher).preferences, [
            Lesson(
                InteractionId(row["interaction_id"]),
                json.loads(row["stated"]) if row["stated"] else None,
                row["feedback"],
                tuple(row["sources"]),
            )
            for row in rows
        ]

    async def judge(self, owner: Owner, interaction_ids: Sequence[InteractionId], feedback: int) -> None:
        """One query, under the lock of the user."""
        parameters = {**_key(owner), "interaction_ids": list(interaction_ids), "feedback": feedback}
        await self._locked(owner, JUDGE, parameters)

    async def remove(self, owner: Owner, interaction_ids: Sequence[InteractionId]) -> None:
        """One query, under the lock of the user; the ids stay."""
        parameters = {**_key(owner), "interaction_ids": list(interaction_ids)}
        await self._locked(owner, REMOVE, parameters)

    async def users(self, tenant_id: TenantId, *, after: UserId, limit: int) -> list[UserId]:
        """One query, by an index."""
        found = await self._graph.read(USERS, {"tenant_id": tenant_id, "after": after, "limit": limit})
        return [UserId(row["user_id"]) for row in found]

    async def observe(self, tenant_id: TenantId, observations: Sequence[Observation]) -> int:
        """A batch in one query, under the locks of its users."""
        unique = {(o.user_id, o.interaction_id): o for o in observations}
        if not unique:
            return 0
        user_ids = sorted({user_id for user_id, _ in unique})

        async def run(transaction: GraphTransaction) -> int:
            await transaction.run(LOCK_PROFILES, {"tenant_id": tenant_id, "user_ids": user_ids})
            ciphers = await self._keys.for_writing(transaction, tenant_id, user_ids)
            given = [_observed(one, ciphers.of(tenant_id, one.user_id)) for one in unique.values()]
            [row] = await transaction.run(OBSERVE, {"tenant_id": tenant_id, "observations": given})
            return int(row["observed"])

        return await self._graph.write(run)

    async def _cipher(self, owner: Owner) -> Cipher:
        return await graph_cipher(self._keys, self._graph.read, owner)

    async def _locked(self, owner: Owner, query: LiteralString, parameters: dict[str, Any]) -> None:
        async def run(transaction: GraphTransaction) -> None:
            await transaction.run(LOCK_PROFILES, {"tenant_id": owner.tenant_id, "user_ids": [owner.user_id]})
            await transaction.run(query, parameters)

        await self._graph.write(run)


class _Neo4jProfileWriter:
    """A `ProfileWriter` in an open transaction."""

    def __init__(self, transaction: GraphTransaction, owner: Owner, limits: ProfileLimits, keys: GraphDataKeys) -> None:
        """Write for `owner` in a transaction that holds its lock."""
        self._sealing = GraphSealing(keys, transaction, owner)
        self._transaction = transaction
        self._owner = owner
        self._limits = limits

    @property
    def idempotency(self) -> IdempotencyRecords:
        """The tenant's idempotency records."""
        return Neo4jIdempotencyRecords(
            self._transaction, self._owner.tenant_id, IDEMPOTENCY, sealing=self._sealing.cipher
        )

    async def get(self) -> Profile:
        """The profile as it is now."""
        cipher = partial(self._sealing.cipher, is_new=False)
        return await _get(self._transaction.run, cipher, self._owner, "", self._limits)

    async def put_preferences(self, preferences: Preferences, *, etag: str, update_time: datetime) -> None:
        """Replace the preferences."""
        text = json.dumps(preferences_to_values(preferences), ensure_ascii=False)
        parameters = {**_key(self._owner), "preferences": text, "etag": etag, "update_time": update_time}
        sealed = PROFILES.seal(await self._sealing.cipher(is_new=True), parameters)
        await self._transaction.run(PUT_PREFERENCES, sealed)

    async def delete(self) -> bool:
        """Delete preferences and observations; the ids of interactions stay."""
        [preferences] = await self._transaction.run(DELETE_PROFILE, _key(self._owner))
        [observed] = await self._transaction.run(REMOVE_ALL, _key(self._owner))
        return bool(preferences["is_there"]) or observed["removed"] > 0


async def _get(
    run: Run, reading: Callable[[], Awaitable[Cipher]], owner: Owner, context_id: str, limits: ProfileLimits
) -> Profile:
    written = await run(GET_PROFILE, _key(owner))
    cipher = await reading()
    profile = _written(owner, written, cipher)
    parameters = {
        **_key(owner),
        "context_id": context_id,
        "user": int(MessageRole.USER),
        "assistant": int(MessageRole.ASSISTANT),
        # Which of encrypted topics come first is seen once they are decrypted.
        "topics_max": limits.topics_max if cipher is PLAIN else _ALL_TOPICS,
    }
    [turns] = await run(COUNT_TURNS, parameters)
    if not turns["turns"]:
        return profile
    [sessions] = await run(COUNT_SESSIONS, parameters)
    hours, topics, query_types = [
        tuple((row["name"], row["count"]) for row in await run(query, parameters))
        for query in (COUNT_HOURS, COUNT_TOPICS, COUNT_QUERY_TYPES)
    ]
    counted = {name: turns[name] for name in _COUNTS}
    counts = Counts(
        **counted,
        first_time=known_moment_of(turns["first_time"]),
        last_time=known_moment_of(turns["last_time"]),
        sessions=sessions["sessions"],
        session_seconds=sessions["session_seconds"],
        hours=dict(hours),
        topics=_topics(topics, limits, cipher),
        query_types=query_types,
    )
    return replace(profile, statistics=counts.statistics(turns["turns"], peak_hours_max=limits.peak_hours_max))


_COUNTS: Final = (
    "user_turns", "assistant_turns", "conversations", "questions", "confidences", "confidence_sum", "good", "bad",
)  # fmt: skip


def _topics(counted: Sequence[tuple[str, int]], limits: ProfileLimits, cipher: Cipher) -> tuple[tuple[str, int], ...]:
    """The most frequent topics, ties by name. One that was stored before encryption counts with its encrypted form."""
    counts: Counter[str] = Counter()
    for name, count in counted:
        counts[cipher.open_name("topics", name)] += count
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0].encode("utf-8", "surrogatepass")))
    return tuple(ordered[: limits.topics_max])


def _observed(observation: Observation, cipher: Cipher) -> dict[str, Any]:
    stated = observation.stated
    values = {
        "interaction_id": observation.interaction_id,
        "topics": list(observation.topics),
        "sources": list(observation.sources),
        "stated": None if stated is None else json.dumps(dict(stated), ensure_ascii=False),
    }
    sealed = OBSERVED.seal(cipher, values)
    return {
        "user_id": observation.user_id,
        "interaction_id": observation.interaction_id,
        "state": {
            "conversation_id": observation.conversation_id,
            "context_id": observation.context_id,
            "scope_key": observation.scope_key,
            "role": int(observation.role),
            "time": observation.time.astimezone(UTC),
            "confidence": observation.confidence,
            "query_type": observation.query_type,
            "topics": sealed["topics"],
            "sources": sealed["sources"],
            "stated": sealed["stated"],
        },
    }


def _key(owner: Owner) -> dict[str, Any]:
    return {"tenant_id": owner.tenant_id, "user_id": owner.user_id}


def _written(owner: Owner, rows: Sequence[Record], cipher: Cipher) -> Profile:
    if not rows:
        return Profile(user_id=owner.user_id)
    values = PROFILES.open(cipher, {**rows[0]["profile"], "user_id": owner.user_id})
    return Profile(
        user_id=owner.user_id,
        preferences=preferences_from_values(json.loads(values["preferences"] or "{}")),
        etag=values["etag"] or "",
        update_time=moment_of(values["update_time"]),
    )
