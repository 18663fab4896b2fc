"""The profile store on Neo4j."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final, LiteralString, TypeAlias, TypeVar

from services.common.idempotency.model import IdempotencyRecords
from services.common.idempotency.neo4j import Neo4jIdempotencyRecords
from services.common.neo4j.graph import Graph, GraphTransaction, Record
from services.common.owners import InteractionId, Owner, TenantId, UserId
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
from services.semantic.stores.neo4j import IDEMPOTENCY, microseconds, moment_of

_T = TypeVar("_T")

_Counted: TypeAlias = tuple[UserId, InteractionId]
"""What is counted once."""

# The node is locked until the transaction ends. Lines are taken in their order: two batches of the same users wait for
# each other at the first user that they share, and neither holds what the other waits for.
LOCK_PROFILES: Final[LiteralString] = """
UNWIND $user_ids AS user_id
MERGE (p:MnemeProfile {tenant_id: $tenant_id, user_id: user_id})
SET p.works = coalesce(p.works, 0) + 1
"""

GET_PROFILE: Final[LiteralString] = f"""
MATCH (p:MnemeProfile {{tenant_id: $tenant_id, user_id: $user_id}})
RETURN p {{
    .preferences, .etag, .user_turns, .assistant_turns, .conversations, .questions, .confidences, .confidence_sum,
    .hours, update_time: {microseconds("p.update_time")}, first_time: {microseconds("p.first_time")},
    last_time: {microseconds("p.last_time")}
}} AS profile
"""

PUT_PREFERENCES: Final[LiteralString] = """
MATCH (p:MnemeProfile {tenant_id: $tenant_id, user_id: $user_id})
SET p.preferences = $preferences, p.etag = $etag, p.update_time = $update_time
"""

# The node stays: it is the lock.
DELETE_PROFILE: Final[LiteralString] = """
MATCH (p:MnemeProfile {tenant_id: $tenant_id, user_id: $user_id})
WITH p, p.preferences IS NOT NULL OR p.user_turns IS NOT NULL AS is_there
SET p = {tenant_id: p.tenant_id, user_id: p.user_id, works: p.works}
RETURN is_there
"""

DELETE_CONVERSATIONS: Final[LiteralString] = """
MATCH (c:MnemeObservedConversation {tenant_id: $tenant_id, user_id: $user_id})
USING INDEX c:MnemeObservedConversation(tenant_id, user_id, conversation_id)
WHERE c.conversation_id IS NOT NULL
DELETE c
"""

EXCLUDE: Final[LiteralString] = """
UNWIND $interaction_ids AS interaction_id
MERGE (:MnemeObservedInteraction {tenant_id: $tenant_id, user_id: $user_id, interaction_id: interaction_id})
"""

OBSERVED: Final[LiteralString] = """
UNWIND $interactions AS given
MATCH (i:MnemeObservedInteraction {
    tenant_id: $tenant_id, user_id: given.user_id, interaction_id: given.interaction_id
})
RETURN i.user_id AS user_id, i.interaction_id AS interaction_id
"""

ADD_OBSERVED: Final[LiteralString] = """
UNWIND $interactions AS given
CREATE (:MnemeObservedInteraction {
    tenant_id: $tenant_id, user_id: given.user_id, interaction_id: given.interaction_id
})
"""

# How many conversations of each user are new.
ADD_CONVERSATIONS: Final[LiteralString] = """
UNWIND $conversations AS given
OPTIONAL MATCH (known:MnemeObservedConversation {
    tenant_id: $tenant_id, user_id: given.user_id, conversation_id: given.conversation_id
})
WITH given WHERE known IS NULL
CREATE (:MnemeObservedConversation {
    tenant_id: $tenant_id, user_id: given.user_id, conversation_id: given.conversation_id
})
RETURN given.user_id AS user_id, count(*) AS opened
"""

ADD_STATISTICS: Final[LiteralString] = """
UNWIND $sums AS sum
MATCH (p:MnemeProfile {tenant_id: $tenant_id, user_id: sum.user_id})
SET p.user_turns = coalesce(p.user_turns, 0) + sum.user_turns,
    p.assistant_turns = coalesce(p.assistant_turns, 0) + sum.assistant_turns,
    p.conversations = coalesce(p.conversations, 0) + sum.conversations,
    p.questions = coalesce(p.questions, 0) + sum.questions,
    p.confidences = coalesce(p.confidences, 0) + sum.confidences,
    p.confidence_sum = coalesce(p.confidence_sum, 0) + sum.confidence_sum,
    p.hours = [hour IN range(0, size(sum.hours) - 1) | coalesce(p.hours[hour], 0) + sum.hours[hour]],
    p.first_time = CASE WHEN p.first_time < sum.first_time THEN p.first_time ELSE sum.first_time END,
    p.last_time = CASE WHEN p.last_time > sum.last_time THEN p.last_time ELSE sum.last_time END
"""

ALL_QUERIES: Final[tuple[LiteralString, ...]] = (
    LOCK_PROFILES,
    GET_PROFILE,
    PUT_PREFERENCES,
    DELETE_PROFILE,
    DELETE_CONVERSATIONS,
    EXCLUDE,
    OBSERVED,
    ADD_OBSERVED,
    ADD_CONVERSATIONS,
    ADD_STATISTICS,
)
"""For the test that reads their plans."""


class Neo4jProfileStore:
    """A `ProfileStore`. Preferences and statistics of a user are one node, and it is the lock of both."""

    def __init__(self, graph: Graph, *, peak_hours_max: int = 5) -> None:
        """Use a graph whose migrations ran; its owner closes it."""
        self._graph = graph
        self._peak_hours_max = peak_hours_max

    async def write(self, owner: Owner, work: Callable[[ProfileWriter], Awaitable[_T]]) -> _T:
        """A transaction that holds the lock of the user's node; work runs again after a transient failure."""

        async def locked(transaction: GraphTransaction) -> _T:
            await transaction.run(LOCK_PROFILES, {"tenant_id": owner.tenant_id, "user_ids": [owner.user_id]})
            return await work(_Neo4jProfileWriter(transaction, owner, self._peak_hours_max))

        return await self._graph.write(locked)

    async def get(self, owner: Owner) -> Profile:
        """The profile in one query."""
        return _profile(owner, await self._graph.read(GET_PROFILE, _key(owner)), self._peak_hours_max)

    async def exclude(self, owner: Owner, interaction_ids: Sequence[InteractionId]) -> None:
        """Mark interactions as counted."""

        async def mark(transaction: GraphTransaction) -> None:
            await transaction.run(LOCK_PROFILES, {"tenant_id": owner.tenant_id, "user_ids": [owner.user_id]})
            await transaction.run(EXCLUDE, {**_key(owner), "interaction_ids": list(interaction_ids)})

        await self._graph.write(mark)

    async def observe(self, tenant_id: TenantId, observations: Sequence[Observation]) -> int:
        """Count a batch in one transaction, under the locks of its users."""
        unique = {(o.user_id, o.interaction_id): o for o in observations}
        if not unique:
            return 0

        async def count(transaction: GraphTransaction) -> int:
            return await _count(transaction, tenant_id, unique)

        return await self._graph.write(count)


class _Neo4jProfileWriter:
    """A `ProfileWriter` in an open transaction."""

    def __init__(self, transaction: GraphTransaction, owner: Owner, peak_hours_max: int) -> None:
        """Write for `owner` in a transaction that holds its lock."""
        self._transaction = transaction
        self._owner = owner
        self._peak_hours_max = peak_hours_max

    @property
    def idempotency(self) -> IdempotencyRecords:
        """The tenant's idempotency records."""
        return Neo4jIdempotencyRecords(self._transaction, self._owner.tenant_id, IDEMPOTENCY)

    async def get(self) -> Profile:
        """The profile as it is now."""
        rows = await self._transaction.run(GET_PROFILE, _key(self._owner))
        return _profile(self._owner, rows, self._peak_hours_max)

    async def put_preferences(self, preferences: Preferences, *, etag: str, update_time: datetime) -> None:
        """Replace the preferences."""
        text = json.dumps(preferences_to_values(preferences), ensure_ascii=False)
        parameters = {**_key(self._owner), "preferences": text, "etag": etag, "update_time": update_time}
        await self._transaction.run(PUT_PREFERENCES, parameters)

    async def delete(self) -> bool:
        """Delete preferences and statistics."""
        [row] = await self._transaction.run(DELETE_PROFILE, _key(self._owner))
        await self._transaction.run(DELETE_CONVERSATIONS, _key(self._owner))
        return bool(row["is_there"])


async def _count(
    transaction: GraphTransaction, tenant_id: TenantId, observations: Mapping[_Counted, Observation]
) -> int:
    user_ids = sorted({o.user_id for o in observations.values()})
    await transaction.run(LOCK_PROFILES, {"tenant_id": tenant_id, "user_ids": user_ids})
    # From here on nobody else counts for these users.
    rows = await transaction.run(OBSERVED, {"tenant_id": tenant_id, "interactions": _interactions(observations)})
    known = {(row["user_id"], row["interaction_id"]) for row in rows}
    new = {key: observation for key, observation in observations.items() if key not in known}
    if not new:
        return 0
    await transaction.run(ADD_OBSERVED, {"tenant_id": tenant_id, "interactions": _interactions(new)})
    conversations = sorted({(o.user_id, o.conversation_id) for o in new.values()})
    given = [{"user_id": user_id, "conversation_id": conversation_id} for user_id, conversation_id in conversations]
    rows = await transaction.run(ADD_CONVERSATIONS, {"tenant_id": tenant_id, "conversations": given})
    opened = {row["user_id"]: row["opened"] for row in rows}
    by_user: dict[UserId, list[Observation]] = {}
    for observation in new.values():
        by_user.setdefault(observation.user_id, []).append(observation)
    sums = [_sums(user_id, found, opened=opened.get(user_id, 0)) for user_id, found in by_user.items()]
    await transaction.run(ADD_STATISTICS, {"tenant_id": tenant_id, "sums": sums})
    return len(new)


def _sums(user_id: UserId, observations: Sequence[Observation], *, opened: int) -> dict[str, Any]:
    hours = [0] * HOURS_A_DAY
    for observation in observations:
        if observation.role is MessageRole.USER:
            hours[observation.time.astimezone(UTC).hour] += 1
    confidences = [o.confidence for o in observations if o.confidence is not None]
    return {
        "user_id": user_id,
        "user_turns": sum(hours),
        "assistant_turns": sum(o.role is MessageRole.ASSISTANT for o in observations),
        "conversations": opened,
        "questions": sum(o.asks for o in observations),
        "confidences": len(confidences),
        "confidence_sum": sum(confidences),
        "hours": hours,
        "first_time": min(o.time for o in observations),
        "last_time": max(o.time for o in observations),
    }


def _interactions(observations: Mapping[_Counted, Observation]) -> list[dict[str, str]]:
    return [{"user_id": user_id, "interaction_id": interaction_id} for user_id, interaction_id in observations]


def _key(owner: Owner) -> dict[str, Any]:
    return {"tenant_id": owner.tenant_id, "user_id": owner.user_id}


def _profile(owner: Owner, rows: Sequence[Record], peak_hours_max: int) -> Profile:
    if not rows:
        return Profile(user_id=owner.user_id)
    values: Mapping[str, Any] = rows[0]["profile"]
    return Profile(
        user_id=owner.user_id,
        preferences=preferences_from_values(json.loads(values["preferences"] or "{}")),
        statistics=_statistics(values, peak_hours_max),
        etag=values["etag"] or "",
        update_time=moment_of(values["update_time"]),
    )


def _statistics(values: Mapping[str, Any], peak_hours_max: int) -> ProfileStatistics:
    if values["user_turns"] is None:
        return ProfileStatistics()
    stated = values["confidences"]
    return ProfileStatistics(
        user_turn_count=values["user_turns"],
        assistant_turn_count=values["assistant_turns"],
        conversation_count=values["conversations"],
        question_count=values["questions"],
        mean_confidence=values["confidence_sum"] / stated / CONFIDENCE_UNIT if stated else None,
        peak_hours=peak_hours(values["hours"], count_max=peak_hours_max),
        first_interaction_time=moment_of(values["first_time"]),
        last_interaction_time=moment_of(values["last_time"]),
    )
