"""The store of statements and supersessions on Neo4j."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping, Sequence
from functools import partial
from itertools import chain
from typing import Any

from services.common.encryption.cipher import Cipher
from services.common.encryption.neo4j import NO_GRAPH_DATA_KEYS, GraphDataKeys, GraphSealing, opened_in_graph
from services.common.errors import NotFound
from services.common.idempotency.neo4j import Neo4jIdempotencyRecords
from services.common.neo4j.graph import Graph, GraphTransaction, Record
from services.common.neo4j.removal import REMOVED_MAX
from services.common.owners import InteractionId, Owner
from services.semantic.stores.neo4j import IDEMPOTENCY, known_moment_of
from services.semantic.stores.neo4j_sealing import ASSERTIONS, SUPERSESSIONS
from services.semantic.supersession.model import (
    READ_STATES,
    Assertion,
    Decider,
    Decision,
    Marks,
    Place,
    Reason,
    State,
    Supersession,
    SupersessionPosition,
)
from services.semantic.supersession.resolving import resolved
from services.semantic.supersession.store import (
    STATEMENTS_MAX,
    CandidatesMax,
    Decide,
    DecideStored,
    Once,
    Rest,
    original_pair,
    pairs_once,
    premises_of,
    rested_pairs,
)
from services.semantic.supersession.stores.neo4j_queries import (
    ADD,
    ADD_SUPERSESSIONS,
    ADDED,
    CANDIDATES,
    CHANGED,
    CORRECTED,
    ENDED,
    GET,
    KNOWN,
    KNOWN_OF_TURNS,
    LIST,
    LOCK,
    PUT,
    RESTS,
    REVISION,
)
from services.semantic.supersession.stores.neo4j_removal import remove_owner, remove_sources


class Neo4jSupersessionStore:
    """A `SupersessionStore`. Statements are found through the nodes of their content words."""

    def __init__(
        self, graph: Graph, *, keys: GraphDataKeys = NO_GRAPH_DATA_KEYS, removed_max: int = REMOVED_MAX
    ) -> None:
        """Uses a graph whose migrations ran; its owner closes it.

        Args:
            graph: Where statements are.
            keys: Encrypt them.
            removed_max: Nodes that one transaction deletes at most where all of a user goes.
        """
        self._graph = graph
        self._keys = keys
        self._removed_max = removed_max

    async def add(
        self,
        owner: Owner,
        assertions: Sequence[Assertion],
        decide: Decide,
        *,
        candidates_max: CandidatesMax,
        rest: Rest | None = None,
    ) -> Sequence[Supersession]:
        """See `SupersessionStore.add`."""
        if not assertions:
            return []

        async def work(transaction: GraphTransaction) -> Sequence[Supersession]:
            sealing = await self._locked(transaction, owner)
            named = {assertion.place: assertion for assertion in assertions}
            turns = list({place.interaction_id for place in named})
            for row in await transaction.run(KNOWN_OF_TURNS, {**key_of(owner), "interaction_ids": turns}):
                named.pop(Place(InteractionId(row["interaction_id"]), row["number"]), None)
            added = list(named.values())
            cipher = await sealing.cipher(is_new=True)
            for part in await asyncio.to_thread(lambda: _parts(added, cipher)):
                await transaction.run(ADD, {**key_of(owner), "added": part})
            pairs = await _pairs(transaction, owner, added, candidates_max, sealing)
            found = list(await decide(pairs_once(pairs)))
            if rest is not None:
                found += await _rests(transaction, owner, pairs, found, rest, candidates_max, sealing)
            return await _put(transaction, owner, found, sealing)

        return await self._graph.write(work)

    async def put(self, owner: Owner, supersessions: Sequence[Supersession]) -> int:
        """See `SupersessionStore.put`."""

        async def work(transaction: GraphTransaction) -> int:
            sealing = await self._locked(transaction, owner)
            return len(await _put(transaction, owner, supersessions, sealing))

        return await self._graph.write(work)

    async def marks(self, owner: Owner, *, cached_revision: int | None, limit: int, incremental: bool = False) -> Marks:
        """See `SupersessionStore.marks`."""
        # The revision is read first: marks that are newer are read again by it.
        rows = await self._graph.read(REVISION, key_of(owner))
        revision, base = (int(rows[0]["revision"]), int(rows[0]["base"])) if rows else (0, 0)
        if revision == cached_revision:
            return Marks(revision, None)
        is_known = incremental and cached_revision is not None and base <= cached_revision <= revision
        since = cached_revision if is_known else None
        if not revision:
            return Marks.of(revision, [])
        found = await self._list(owner, states=READ_STATES, after=None, limit=limit, since=since)
        return Marks.of(revision, found, is_incremental=is_known and len(found) < limit)

    async def corrected(
        self, owner: Owner, interaction_ids: Sequence[InteractionId], *, limit: int
    ) -> Sequence[tuple[InteractionId, str]]:
        """See `SupersessionStore.corrected`."""
        named = {**key_of(owner), "interaction_ids": list(dict.fromkeys(interaction_ids)), "limit": limit}
        found = await self._graph.read(CORRECTED, named)
        rows = await opened_in_graph(self._keys, self._graph.read, owner, SUPERSESSIONS, found)
        return [(InteractionId(row["loser_id"]), row["statement"]) for row in rows]

    async def list_page(
        self, owner: Owner, *, state: State | None, after: SupersessionPosition | None, limit: int
    ) -> Sequence[Supersession]:
        """See `SupersessionStore.list_page`."""
        states = None if state is None else frozenset({state})
        return await self._list(owner, states=states, after=after, limit=limit)

    async def resolve(self, owner: Owner, supersession_id: str, decision: Decision, once: Once) -> Supersession:
        """See `SupersessionStore.resolve`."""
        named = {**key_of(owner), "supersession_id": supersession_id}

        async def decide(transaction: GraphTransaction, sealing: GraphSealing) -> Supersession:
            rows = await sealing.opened(SUPERSESSIONS, found_maps(await transaction.run(GET, named)))
            if not rows:
                raise NotFound("supersession", supersession_id)
            stored = supersession_of(rows[0])
            cipher = await sealing.cipher(is_new=True)
            return await put_decided(transaction, owner, stored, cipher, partial(resolved, decision=decision))

        async def work(transaction: GraphTransaction) -> Supersession:
            sealing = await self._locked(transaction, owner)
            return await once(_records(transaction, owner, sealing), lambda: decide(transaction, sealing))

        return await self._graph.write(work)

    async def remove_sources(self, owner: Owner, interaction_ids: Sequence[InteractionId]) -> int:
        """See `SupersessionStore.remove_sources`."""
        return await remove_sources(self._graph, owner, interaction_ids)

    async def remove_owner(self, owner: Owner) -> int:
        """See `SupersessionStore.remove_owner`. Page by page, each a transaction of its own."""
        return await remove_owner(self._graph, owner, limit=self._removed_max)

    async def _list(
        self,
        owner: Owner,
        *,
        states: Collection[State] | None,
        after: SupersessionPosition | None,
        limit: int,
        since: int | None = None,
    ) -> Sequence[Supersession]:
        position = {"time": after.create_time, "id": after.supersession_id} if after else {"time": None, "id": ""}
        wanted = None if states is None else sorted(map(int, states))
        asked = {**key_of(owner), **position, "states": wanted, "limit": limit, "since": since}
        rows = await self._graph.read(LIST, asked)
        opened = await opened_in_graph(self._keys, self._graph.read, owner, SUPERSESSIONS, found_maps(rows))
        return [supersession_of(found) for found in opened]

    async def _locked(self, transaction: GraphTransaction, owner: Owner) -> GraphSealing:
        await transaction.run(LOCK, key_of(owner))
        return GraphSealing(self._keys, transaction, owner)


def _parts(assertions: Sequence[Assertion], cipher: Cipher) -> list[list[dict[str, Any]]]:
    states = [{"place": place, "state": _assertion_state(one, cipher)} for place, one in enumerate(assertions)]
    return [states[begin : begin + STATEMENTS_MAX] for begin in range(0, len(states), STATEMENTS_MAX)]


async def _pairs(
    transaction: GraphTransaction,
    owner: Owner,
    assertions: Sequence[Assertion],
    candidates_max: CandidatesMax,
    sealing: GraphSealing,
) -> list[tuple[Assertion, Assertion]]:
    """Stored statements, each with those of its candidates."""
    rows: list[Mapping[str, Any]] = []
    asked = [
        {
            "place": place,
            "state": {"interaction_id": one.place.interaction_id, "keys": list(one.keys)},
            "candidates_max": candidates_max(one),
        }
        for place, one in enumerate(assertions)
    ]
    for begin in range(0, len(asked), STATEMENTS_MAX):
        part = asked[begin : begin + STATEMENTS_MAX]
        rows += await transaction.run(CANDIDATES, {**key_of(owner), "added": part})
    opened = await sealing.opened(ASSERTIONS, found_maps(rows))
    return [(assertions[row["place"]], _assertion(found)) for row, found in zip(rows, opened, strict=True)]


async def _rests(
    transaction: GraphTransaction,
    owner: Owner,
    pairs: Sequence[tuple[Assertion, Assertion]],
    found: Sequence[Supersession],
    rest: Rest,
    candidates_max: CandidatesMax,
    sealing: GraphSealing,
) -> list[Supersession]:
    """What rests on statements that are superseded now, and what new statements rest on superseded ones."""
    by_place = {one.place: one for pair in pairs for one in pair}
    candidates = dict.fromkeys(candidate.place for _, candidate in pairs)
    places = [{"interaction_id": place.interaction_id, "number": place.number} for place in candidates]
    rows = await transaction.run(ENDED, {**key_of(owner), "places": places})
    stored = [supersession_of(row) for row in await sealing.opened(SUPERSESSIONS, found_maps(rows))]
    ended = [one for one in found if one.ends_premises]
    losers = [by_place[place] for place in dict.fromkeys(one.loser for one in ended)]
    around = await _pairs(transaction, owner, losers, candidates_max, sealing)
    turned = [(other, premise) for premise, other in around]
    by_place |= {other.place: other for other, _ in turned}
    resting = chain(premises_of(pairs, stored), premises_of(turned, ended))
    return await asyncio.to_thread(lambda: rested_pairs(rest, resting, found, by_place))


async def put_decided(
    transaction: GraphTransaction, owner: Owner, stored: Supersession, cipher: Cipher, decide: DecideStored
) -> Supersession:
    """Stores what becomes of a pair, and of what rests on it."""
    winner = await transaction.run(KNOWN, _place_key(owner, stored.winner))
    decided = decide(stored, is_winner_whole=bool(winner and winner[0]["is_only"]))
    named = {**key_of(owner), "supersession_id": stored.supersession_id}
    await transaction.run(PUT, {**named, "state": _state(decided, cipher)})
    await transaction.run(RESTS, {**key_of(owner), **_rests_state(stored, decided)})
    await transaction.run(CHANGED, key_of(owner))
    return decided


def _rests_state(stored: Supersession, decided: Supersession) -> dict[str, Any]:
    earlier, later = original_pair(stored)
    is_applied = decided.ends_premises and not decided.is_turned
    return {
        "premise_place": str(earlier),
        "winner_id": later.interaction_id,
        "winner_number": later.number,
        "state": int(State.APPLIED if is_applied else State.REJECTED),
    }


async def _put(
    transaction: GraphTransaction, owner: Owner, supersessions: Sequence[Supersession], sealing: GraphSealing
) -> Sequence[Supersession]:
    if not supersessions:
        return []
    by_id = {one.supersession_id: one for one in supersessions}
    cipher = await sealing.cipher(is_new=True)
    # The owner is locked: no other change of the user's marks has the same revision.
    revision = (await transaction.run(REVISION, key_of(owner)))[0]["revision"] + 1
    states = await asyncio.to_thread(
        lambda: [{**_state(one, cipher), "marks_revision": revision} for one in by_id.values()]
    )
    rows = await transaction.run(ADD_SUPERSESSIONS, {**key_of(owner), "states": states})
    new = [by_id[row["supersession_id"]] for row in rows]
    if any(one.state in READ_STATES for one in new):
        await transaction.run(ADDED, {**key_of(owner), "revision": revision})
    return new


def _records(transaction: GraphTransaction, owner: Owner, sealing: GraphSealing) -> Neo4jIdempotencyRecords:
    return Neo4jIdempotencyRecords(transaction, owner.tenant_id, IDEMPOTENCY, sealing=sealing.cipher)


def found_maps(rows: Sequence[Record]) -> list[Mapping[str, Any]]:
    """The maps that queries return as `found`."""
    return [row["found"] for row in rows]


def key_of(owner: Owner) -> dict[str, Any]:
    """Tenant and user as parameters."""
    return {"tenant_id": owner.tenant_id, "user_id": owner.user_id}


def _place_key(owner: Owner, place: Place) -> dict[str, Any]:
    return {**key_of(owner), "interaction_id": place.interaction_id, "number": place.number}


def _assertion_state(assertion: Assertion, cipher: Cipher) -> dict[str, Any]:
    state = {
        "interaction_id": assertion.place.interaction_id,
        "number": assertion.place.number,
        "text": assertion.text,
        "speaker": assertion.speaker,
        "time": assertion.time,
        "scope_key": assertion.scope_key,
        "keys": list(assertion.keys),
        "is_only": assertion.is_only,
        "is_announced": assertion.is_announced,
    }
    return ASSERTIONS.seal(cipher, state)


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


def _state(one: Supersession, cipher: Cipher) -> dict[str, Any]:
    state = {
        "supersession_id": one.supersession_id,
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
        "premise": one.premise,
        "is_called_wrong": one.is_called_wrong,
        "premise_place": "" if one.premise_place is None else str(one.premise_place),
        "decided_by": int(one.decided_by),
        "decision_reason": one.decision_reason,
    }
    return SUPERSESSIONS.seal(cipher, state)


def supersession_of(found: Mapping[str, Any]) -> Supersession:
    """The supersession of a map."""
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
        premise=found["premise"],
        is_called_wrong=found["is_called_wrong"],
        premise_place=Place.parse(found["premise_place"]) if found["premise_place"] else None,
        decided_by=Decider(found["decided_by"]),
        decision_reason=found["decision_reason"],
    )
