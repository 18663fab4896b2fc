"""The store of statements and supersessions on Neo4j."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, Final, LiteralString

from services.common.errors import NotFound
from services.common.idempotency.neo4j import Neo4jIdempotencyRecords
from services.common.neo4j.graph import Graph, GraphTransaction
from services.common.owners import InteractionId, Owner
from services.semantic.stores.neo4j import IDEMPOTENCY, known_moment_of, microseconds
from services.semantic.supersession.model import (
    Assertion,
    Decision,
    Marks,
    Place,
    Reason,
    State,
    Supersession,
    SupersessionPosition,
)
from services.semantic.supersession.resolving import resolved
from services.semantic.supersession.store import Decide, Once, decided_pairs

# The node is locked until the transaction ends: writes of one user are serialized. It holds the revision of the marks.
LOCK: Final[LiteralString] = """
MERGE (o:MnemeSupersessionOwner {tenant_id: $tenant_id, user_id: $user_id})
SET o.works = coalesce(o.works, 0) + 1
"""
RAISE: Final[LiteralString] = """
MATCH (o:MnemeSupersessionOwner {tenant_id: $tenant_id, user_id: $user_id})
SET o.marks = coalesce(o.marks, 0) + 1
"""
KNOWN: Final[LiteralString] = """
MATCH (a:MnemeAssertion {
    tenant_id: $tenant_id, user_id: $user_id, interaction_id: $interaction_id, number: $number
})
RETURN a.is_only AS is_only
"""
ADD: Final[LiteralString] = """
CREATE (a:MnemeAssertion {
    tenant_id: $tenant_id, user_id: $user_id, interaction_id: $interaction_id, number: $number
})
SET a += $state
WITH a
UNWIND $state.keys AS key
MERGE (k:MnemeAssertionKey {tenant_id: $tenant_id, user_id: $user_id, key: key})
CREATE (a)-[:ABOUT]->(k)
"""
CANDIDATES: Final[LiteralString] = f"""
UNWIND $keys AS key
MATCH (k:MnemeAssertionKey {{tenant_id: $tenant_id, user_id: $user_id, key: key}})<-[:ABOUT]-(a:MnemeAssertion)
WHERE a.interaction_id <> $interaction_id
WITH a, count(*) AS shared
ORDER BY shared DESC, a.time DESC, a.interaction_id, a.number
LIMIT $limit
RETURN a {{
    .interaction_id, .number, .text, .speaker, .scope_key, .keys, .is_only, .is_announced,
    time: {microseconds("a.time")}
}} AS found
"""
EXISTS: Final[LiteralString] = """
MATCH (s:MnemeSupersession {tenant_id: $tenant_id, user_id: $user_id, supersession_id: $supersession_id})
RETURN true AS is_known
"""
PUT: Final[LiteralString] = """
MERGE (s:MnemeSupersession {tenant_id: $tenant_id, user_id: $user_id, supersession_id: $supersession_id})
SET s += $state
"""
_FIELDS: Final[LiteralString] = f"""s {{
    .loser_id, .loser_number, .winner_id, .winner_number, .reason, .state, .statement, .standing_statement, .is_whole,
    .is_turned, end_time: {microseconds("s.end_time")}, create_time: {microseconds("s.create_time")}
}}"""
GET: Final[LiteralString] = f"""
MATCH (s:MnemeSupersession {{tenant_id: $tenant_id, user_id: $user_id, supersession_id: $supersession_id}})
RETURN {_FIELDS} AS found
"""
REVISION: Final[LiteralString] = """
MATCH (o:MnemeSupersessionOwner {tenant_id: $tenant_id, user_id: $user_id})
RETURN coalesce(o.marks, 0) AS revision
"""
LIST: Final[LiteralString] = f"""
MATCH (s:MnemeSupersession {{tenant_id: $tenant_id, user_id: $user_id}})
USING INDEX s:MnemeSupersession(tenant_id, user_id, create_time)
WHERE s.create_time IS NOT NULL AND ($state IS NULL OR s.state = $state)
    AND ($time IS NULL OR s.create_time < $time OR (s.create_time = $time AND s.supersession_id > $id))
RETURN {_FIELDS} AS found
ORDER BY s.create_time DESC, s.supersession_id
LIMIT $limit
"""
REMOVE_ASSERTIONS: Final[LiteralString] = """
MATCH (a:MnemeAssertion {tenant_id: $tenant_id, user_id: $user_id})
USING INDEX a:MnemeAssertion(tenant_id, user_id, interaction_id, number)
WHERE a.interaction_id IS NOT NULL AND a.number IS NOT NULL
    AND ($interaction_ids IS NULL OR a.interaction_id IN $interaction_ids)
OPTIONAL MATCH (a)-[:ABOUT]->(k:MnemeAssertionKey)
WITH collect(DISTINCT a) AS gone, collect(DISTINCT k) AS touched
FOREACH (a IN gone | DETACH DELETE a)
WITH touched
UNWIND touched AS k
WITH k WHERE NOT EXISTS { (k)<-[:ABOUT]-() }
DELETE k
"""
REMOVE: Final[LiteralString] = """
MATCH (s:MnemeSupersession {tenant_id: $tenant_id, user_id: $user_id})
USING INDEX s:MnemeSupersession(tenant_id, user_id, create_time)
WHERE s.create_time IS NOT NULL
    AND ($interaction_ids IS NULL OR s.loser_id IN $interaction_ids OR s.winner_id IN $interaction_ids)
WITH s, s.supersession_id AS supersession_id
DELETE s
RETURN supersession_id
"""

ALL_QUERIES: Final[tuple[LiteralString, ...]] = (
    LOCK,
    RAISE,
    KNOWN,
    ADD,
    CANDIDATES,
    EXISTS,
    PUT,
    GET,
    REVISION,
    LIST,
    REMOVE_ASSERTIONS,
    REMOVE,
)
"""For the test that reads their plans."""


class Neo4jSupersessionStore:
    """A `SupersessionStore`. Statements are found through the nodes of their content words."""

    def __init__(self, graph: Graph) -> None:
        """Uses a graph whose migrations ran; its owner closes it."""
        self._graph = graph

    async def add(
        self, owner: Owner, assertions: Sequence[Assertion], decide: Decide, *, candidates_max: int
    ) -> Sequence[Supersession]:
        """See `SupersessionStore.add`."""
        if not assertions:
            return []

        async def work(transaction: GraphTransaction) -> Sequence[Supersession]:
            await transaction.run(LOCK, _key(owner))
            found: list[Supersession] = []
            for assertion in assertions:
                place = _place_key(owner, assertion.place)
                if await transaction.run(KNOWN, place):
                    continue
                await transaction.run(ADD, {**place, "state": _assertion_state(assertion)})
                named = {**place, "keys": list(assertion.keys), "limit": candidates_max}
                rows = await transaction.run(CANDIDATES, named) if assertion.keys else []
                candidates = [_assertion(row["found"]) for row in rows]
                found += await asyncio.to_thread(decided_pairs, decide, assertion, candidates)
            return await _put(transaction, owner, found)

        return await self._graph.write(work)

    async def put(self, owner: Owner, supersessions: Sequence[Supersession]) -> int:
        """See `SupersessionStore.put`."""

        async def work(transaction: GraphTransaction) -> int:
            await transaction.run(LOCK, _key(owner))
            return len(await _put(transaction, owner, supersessions))

        return await self._graph.write(work)

    async def marks(self, owner: Owner, *, cached_revision: int | None, limit: int) -> Marks:
        """See `SupersessionStore.marks`."""
        # The revision is read first: marks that are newer are read again by it.
        rows = await self._graph.read(REVISION, _key(owner))
        revision = int(rows[0]["revision"]) if rows else 0
        if revision == cached_revision:
            return Marks(revision, None)
        found = await self._list(owner, state=State.APPLIED, after=None, limit=limit) if revision else []
        return Marks(revision, found)

    async def list_page(
        self, owner: Owner, *, state: State | None, after: SupersessionPosition | None, limit: int
    ) -> Sequence[Supersession]:
        """See `SupersessionStore.list_page`."""
        return await self._list(owner, state=state, after=after, limit=limit)

    async def resolve(self, owner: Owner, supersession_id: str, decision: Decision, once: Once) -> Supersession:
        """See `SupersessionStore.resolve`."""
        named = {**_key(owner), "supersession_id": supersession_id}

        async def decide(transaction: GraphTransaction) -> Supersession:
            rows = await transaction.run(GET, named)
            if not rows:
                raise NotFound("supersession", supersession_id)
            stored = _supersession(rows[0]["found"])
            winner = await transaction.run(KNOWN, _place_key(owner, stored.winner))
            decided = resolved(stored, decision, is_winner_whole=bool(winner and winner[0]["is_only"]))
            await transaction.run(PUT, {**named, "state": _state(decided)})
            await transaction.run(RAISE, _key(owner))
            return decided

        async def work(transaction: GraphTransaction) -> Supersession:
            await transaction.run(LOCK, _key(owner))
            return await once(_records(transaction, owner), lambda: decide(transaction))

        return await self._graph.write(work)

    async def remove_sources(self, owner: Owner, interaction_ids: Sequence[InteractionId]) -> int:
        """See `SupersessionStore.remove_sources`."""
        return await self._remove(owner, list(interaction_ids))

    async def remove_owner(self, owner: Owner) -> int:
        """See `SupersessionStore.remove_owner`."""
        return await self._remove(owner, None)

    async def _list(
        self, owner: Owner, *, state: State | None, after: SupersessionPosition | None, limit: int
    ) -> Sequence[Supersession]:
        position = {"time": after.create_time, "id": after.supersession_id} if after else {"time": None, "id": ""}
        wanted = None if state is None else int(state)
        rows = await self._graph.read(LIST, {**_key(owner), **position, "state": wanted, "limit": limit})
        return [_supersession(row["found"]) for row in rows]

    async def _remove(self, owner: Owner, interaction_ids: list[InteractionId] | None) -> int:
        named = {**_key(owner), "interaction_ids": interaction_ids}

        async def work(transaction: GraphTransaction) -> int:
            await transaction.run(LOCK, _key(owner))
            await transaction.run(REMOVE_ASSERTIONS, named)
            gone = [row["supersession_id"] for row in await transaction.run(REMOVE, named)]
            if gone:
                await _records(transaction, owner).erase(owner.user_id, gone)
                await transaction.run(RAISE, _key(owner))
            return len(gone)

        return await self._graph.write(work)


async def _put(
    transaction: GraphTransaction, owner: Owner, supersessions: Sequence[Supersession]
) -> Sequence[Supersession]:
    new: list[Supersession] = []
    for one in supersessions:
        named = {**_key(owner), "supersession_id": one.supersession_id}
        if not await transaction.run(EXISTS, named):
            await transaction.run(PUT, {**named, "state": _state(one)})
            new.append(one)
    if any(one.state is State.APPLIED for one in new):
        await transaction.run(RAISE, _key(owner))
    return new


def _records(transaction: GraphTransaction, owner: Owner) -> Neo4jIdempotencyRecords:
    return Neo4jIdempotencyRecords(transaction, owner.tenant_id, IDEMPOTENCY)


def _key(owner: Owner) -> dict[str, Any]:
    return {"tenant_id": owner.tenant_id, "user_id": owner.user_id}


def _place_key(owner: Owner, place: Place) -> dict[str, Any]:
    return {**_key(owner), "interaction_id": place.interaction_id, "number": place.number}


def _assertion_state(assertion: Assertion) -> dict[str, Any]:
    return {
        "text": assertion.text,
        "speaker": assertion.speaker,
        "time": assertion.time,
        "scope_key": assertion.scope_key,
        "keys": list(assertion.keys),
        "is_only": assertion.is_only,
        "is_announced": assertion.is_announced,
    }


def _assertion(found: Mapping[str, Any]) -> Assertion:
    return Assertion(
        place=Place(InteractionId(found["interaction_id"]), found["number"]),
        text=found["text"],
        speaker=found["speaker"],
        time=known_moment_of(found["time"]),
        scope_key=found["scope_key"],
        keys=tuple(found["keys"]),
        is_only=found["is_only"],
        is_announced=found["is_announced"],
    )


def _state(one: Supersession) -> dict[str, Any]:
    return {
        "loser_id": one.loser.interaction_id,
        "loser_number": one.loser.number,
        "winner_id": one.winner.interaction_id,
        "winner_number": one.winner.number,
        "reason": int(one.reason),
        "state": int(one.state),
        "end_time": one.end_time,
        "create_time": one.create_time,
        "statement": one.statement,
        "standing_statement": one.standing_statement,
        "is_whole": one.is_whole,
        "is_turned": one.is_turned,
    }


def _supersession(found: Mapping[str, Any]) -> Supersession:
    return Supersession(
        loser=Place(InteractionId(found["loser_id"]), found["loser_number"]),
        winner=Place(InteractionId(found["winner_id"]), found["winner_number"]),
        reason=Reason(found["reason"]),
        state=State(found["state"]),
        end_time=known_moment_of(found["end_time"]),
        create_time=known_moment_of(found["create_time"]),
        statement=found["statement"],
        standing_statement=found["standing_statement"],
        is_whole=found["is_whole"],
        is_turned=found["is_turned"],
    )
