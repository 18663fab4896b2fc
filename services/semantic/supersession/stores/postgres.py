"""The store of statements and supersessions on PostgreSQL."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Sequence
from functools import partial
from itertools import chain
from typing import Any, Final

from services.common.encryption.cipher import Cipher
from services.common.encryption.postgres import NO_DATA_KEYS, DataKeys
from services.common.encryption.rows import Row
from services.common.encryption.sealing import OwnerSealing, opened_of
from services.common.errors import NotFound
from services.common.idempotency.postgres import PostgresIdempotencyRecords
from services.common.owners import InteractionId, Owner
from services.common.postgres.tenancy import fetch_as_tenant, tenant_transaction
from services.common.postgres.types import Connection, Pool
from services.semantic.stores.postgres import LOCK_USER, SCHEMA
from services.semantic.stores.postgres_sealing import ASSERTIONS, SUPERSESSIONS
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
from services.semantic.supersession.stores import postgres_queries as queries

SUBJECT: Final = "supersessions"
"""Of the lock of a user's statements."""
_FEW: Final = 200
"""Marks that are read in less than a few milliseconds."""


class PostgresSupersessionStore:
    """A `SupersessionStore`. Statements are found through an index of their content words."""

    def __init__(self, pool: Pool, *, keys: DataKeys = NO_DATA_KEYS) -> None:
        """Uses a pool of `create_pool`, of a role bound by row-level security; its owner closes it."""
        self._pool = pool
        self._keys = keys

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
        key = (owner.tenant_id, owner.user_id)
        async with tenant_transaction(self._pool, owner.tenant_id) as connection:
            await connection.execute(LOCK_USER, *key, SUBJECT)
            named = {assertion.place: assertion for assertion in assertions}
            for row in await connection.fetch(queries.KNOWN, *key, list({_turn(place) for place in named})):
                named.pop(Place(InteractionId(str(row["interaction_id"])), row["number"]), None)
            if not named:
                return []
            sealing = OwnerSealing(self._keys, connection, owner)
            cipher = await sealing.cipher(is_new=True)
            await connection.executemany(
                queries.ADD, [(*key, *_assertion_values(new, cipher)) for new in named.values()]
            )
            added = [new for new in named.values() if new.keys]
            pairs = await self._pairs(connection, owner, added, candidates_max, sealing)
            found = list(await decide(pairs_once(pairs)))
            if rest is not None:
                found += await self._rests(connection, owner, pairs, found, rest, candidates_max, sealing)
            return await self._put(connection, owner, found, sealing)

    @staticmethod
    async def _pairs(
        connection: Connection,
        owner: Owner,
        assertions: Sequence[Assertion],
        candidates_max: CandidatesMax,
        sealing: OwnerSealing,
    ) -> list[tuple[Assertion, Assertion]]:
        """Stored statements, each with those of its candidates."""
        pairs: list[tuple[Assertion, Assertion]] = []
        for begin in range(0, len(assertions), STATEMENTS_MAX):
            part = assertions[begin : begin + STATEMENTS_MAX]
            places = (*_places([one.place for one in part]), [candidates_max(one) for one in part])
            found = await connection.fetch(queries.CANDIDATES, owner.tenant_id, owner.user_id, *places)
            candidates = await sealing.opened(ASSERTIONS, found)
            # Thousands of rows take milliseconds.
            pairs += await asyncio.to_thread(_paired, part, candidates)
        return pairs

    async def _rests(
        self,
        connection: Connection,
        owner: Owner,
        pairs: Sequence[tuple[Assertion, Assertion]],
        found: Sequence[Supersession],
        rest: Rest,
        candidates_max: CandidatesMax,
        sealing: OwnerSealing,
    ) -> list[Supersession]:
        """What rests on statements that are superseded now, and what new statements rest on superseded ones."""
        by_place = {one.place: one for pair in pairs for one in pair}
        places = _places(list({candidate.place for _, candidate in pairs}))
        rows = await connection.fetch(queries.ENDED, owner.tenant_id, owner.user_id, *places)
        stored = [supersession_of(row) for row in await sealing.opened(SUPERSESSIONS, rows)]
        ended = [one for one in found if one.ends_premises]
        losers = [by_place[place] for place in dict.fromkeys(one.loser for one in ended)]
        around = await self._pairs(connection, owner, losers, candidates_max, sealing)
        turned = [(other, premise) for premise, other in around]
        by_place |= {other.place: other for other, _ in turned}
        resting = chain(premises_of(pairs, stored), premises_of(turned, ended))
        return await asyncio.to_thread(lambda: rested_pairs(rest, resting, found, by_place))

    async def put(self, owner: Owner, supersessions: Sequence[Supersession]) -> int:
        """See `SupersessionStore.put`."""
        async with tenant_transaction(self._pool, owner.tenant_id) as connection:
            await connection.execute(LOCK_USER, owner.tenant_id, owner.user_id, SUBJECT)
            sealing = OwnerSealing(self._keys, connection, owner)
            return len(await self._put(connection, owner, supersessions, sealing))

    async def marks(self, owner: Owner, *, cached_revision: int | None, limit: int, incremental: bool = False) -> Marks:
        """See `SupersessionStore.marks`."""
        asked = (owner.tenant_id, owner.user_id, cached_revision, limit, incremental)
        rows = await fetch_as_tenant(self._pool, queries.MARKS, *asked)
        revision, since = int(rows[0]["marks_revision"]), rows[0]["since"]
        if revision == cached_revision:
            return Marks(revision, None)
        found = [row for row in rows if row["supersession_id"] is not None]
        opened = await opened_of(self._keys, self._pool, owner, SUPERSESSIONS, found)
        # Thousands of rows take longer than the event loop may wait.
        read = (
            [supersession_of(row) for row in opened] if len(opened) < _FEW else await asyncio.to_thread(_all_of, opened)
        )
        return Marks.of(revision, read, is_incremental=since is not None and len(read) < limit)

    async def corrected(
        self, owner: Owner, interaction_ids: Sequence[InteractionId], *, limit: int
    ) -> Sequence[tuple[InteractionId, str]]:
        """See `SupersessionStore.corrected`."""
        ids = [uuid.UUID(i) for i in interaction_ids]
        rows = await fetch_as_tenant(self._pool, queries.CORRECTED, owner.tenant_id, owner.user_id, ids, limit)
        opened = await opened_of(self._keys, self._pool, owner, SUPERSESSIONS, rows)
        return [(InteractionId(str(row["loser_id"])), row["statement"]) for row in opened]

    async def list_page(
        self, owner: Owner, *, state: State | None, after: SupersessionPosition | None, limit: int
    ) -> Sequence[Supersession]:
        """See `SupersessionStore.list_page`."""
        position = (None, "") if after is None else (after.create_time, after.supersession_id)
        wanted = None if state is None else int(state)
        async with tenant_transaction(self._pool, owner.tenant_id) as connection:
            rows = await connection.fetch(queries.LIST, owner.tenant_id, owner.user_id, wanted, *position, limit)
            opened = await opened_of(self._keys, connection, owner, SUPERSESSIONS, rows)
        return [supersession_of(row) for row in opened]

    async def resolve(self, owner: Owner, supersession_id: str, decision: Decision, once: Once) -> Supersession:
        """See `SupersessionStore.resolve`."""
        key = (owner.tenant_id, owner.user_id)
        async with tenant_transaction(self._pool, owner.tenant_id) as connection:
            await connection.execute(LOCK_USER, *key, SUBJECT)
            sealing = OwnerSealing(self._keys, connection, owner)

            async def work() -> Supersession:
                return await self._resolve(connection, owner, supersession_id, decision, sealing)

            return await once(_records(connection, owner, sealing), work)

    @staticmethod
    async def _resolve(
        connection: Connection, owner: Owner, supersession_id: str, decision: Decision, sealing: OwnerSealing
    ) -> Supersession:
        cipher = await sealing.cipher(is_new=True)
        found = await connection.fetch(queries.GET, owner.tenant_id, owner.user_id, supersession_id)
        rows = await sealing.opened(SUPERSESSIONS, found)
        if not rows:
            raise NotFound("supersession", supersession_id)
        return await put_decided(
            connection, owner, supersession_of(rows[0]), cipher, partial(resolved, decision=decision)
        )

    async def remove_sources(self, owner: Owner, interaction_ids: Sequence[InteractionId]) -> int:
        """See `SupersessionStore.remove_sources`."""
        ids = [uuid.UUID(i) for i in interaction_ids]
        return await self._remove(owner, queries.REMOVE_ASSERTIONS, queries.REMOVE, ids)

    async def remove_owner(self, owner: Owner) -> int:
        """See `SupersessionStore.remove_owner`."""
        return await self._remove(owner, queries.REMOVE_ALL_ASSERTIONS, queries.REMOVE_ALL)

    async def _remove(self, owner: Owner, of_assertions: str, of_supersessions: str, *arguments: object) -> int:
        key = (owner.tenant_id, owner.user_id)
        async with tenant_transaction(self._pool, owner.tenant_id) as connection:
            await connection.execute(LOCK_USER, *key, SUBJECT)
            await connection.execute(of_assertions, *key, *arguments)
            gone = [row["supersession_id"] for row in await connection.fetch(of_supersessions, *key, *arguments)]
            if gone:
                await _records(connection, owner, OwnerSealing(self._keys, connection, owner)).erase(
                    owner.user_id, gone
                )
                await connection.execute(queries.CHANGED, *key)
        return len(gone)

    @staticmethod
    async def _put(
        connection: Connection, owner: Owner, supersessions: Sequence[Supersession], sealing: OwnerSealing
    ) -> Sequence[Supersession]:
        key = (owner.tenant_id, owner.user_id)
        if not supersessions:
            return []
        by_id = {one.supersession_id: one for one in supersessions}
        cipher = await sealing.cipher(is_new=True)
        revision = await connection.fetchval(queries.NEXT_REVISION, *key)
        # Some thousand take longer than the event loop may wait.
        values = await asyncio.to_thread(lambda: [(*key, *_values(one, cipher), revision) for one in by_id.values()])
        rows = await connection.fetchmany(queries.PUT, values)
        new = [by_id[row["supersession_id"]] for row in rows]
        if any(one.state in READ_STATES for one in new):
            await connection.execute(queries.ADDED, *key, revision)
        return new


async def put_decided(
    connection: Connection, owner: Owner, stored: Supersession, cipher: Cipher, decide: DecideStored
) -> Supersession:
    """Stores what becomes of a pair, and of what rests on it."""
    key = (owner.tenant_id, owner.user_id)
    winner = (uuid.UUID(stored.winner.interaction_id), stored.winner.number)
    is_only = await connection.fetchval(queries.IS_ONLY, *key, *winner)
    decided = decide(stored, is_winner_whole=bool(is_only))
    await connection.execute(queries.UPDATE, *key, stored.supersession_id, *_state_values(decided, cipher))
    earlier, later = original_pair(stored)
    rests = State.APPLIED if decided.ends_premises and not decided.is_turned else State.REJECTED
    await connection.execute(queries.RESTS, *key, str(earlier), _turn(later), later.number, int(rests))
    await connection.execute(queries.CHANGED, *key)
    return decided


def _records(connection: Connection, owner: Owner, sealing: OwnerSealing) -> PostgresIdempotencyRecords:
    return PostgresIdempotencyRecords(connection, owner.tenant_id, schema=SCHEMA, sealing=sealing.cipher)


def _turn(place: Place) -> uuid.UUID:
    return uuid.UUID(place.interaction_id)


def _places(places: Sequence[Place]) -> tuple[list[uuid.UUID], list[int]]:
    return [_turn(place) for place in places], [place.number for place in places]


def _assertion_values(assertion: Assertion, cipher: Cipher) -> tuple[object, ...]:
    turn = _turn(assertion.place)
    named = {"interaction_id": turn, "number": assertion.place.number}
    sealed = ASSERTIONS.seal(cipher, {**named, "text": assertion.text, "speaker": assertion.speaker})
    return (
        turn,
        assertion.place.number,
        sealed["text"],
        sealed["speaker"],
        assertion.time,
        assertion.scope_key,
        list(assertion.keys),
        assertion.is_only,
        assertion.is_announced,
    )


def _paired(assertions: Sequence[Assertion], candidates: Sequence[Any]) -> list[tuple[Assertion, Assertion]]:
    return [(assertions[row["place"] - 1], _assertion(row)) for row in candidates]


def _assertion(row: Any) -> Assertion:
    return Assertion(
        place=Place(InteractionId(str(row["interaction_id"])), row["number"]),
        text=row["text"],
        speaker=row["speaker"],
        time=row["time"],
        scope_key=row["scope_key"],
        keys=tuple(row["keys"]),
        is_only=row["is_only"],
        is_announced=row["is_announced"],
    )


def _sealed(one: Supersession, cipher: Cipher) -> tuple[str, str, str, str]:
    """Statement, standing statement, premise and reason of the decision as they are stored."""
    values = {"statement": one.statement, "standing_statement": one.standing_statement, "premise": one.premise}
    values["decision_reason"] = one.decision_reason
    sealed = SUPERSESSIONS.seal(cipher, {"supersession_id": one.supersession_id, **values})
    return sealed["statement"], sealed["standing_statement"], sealed["premise"], sealed["decision_reason"]


def _values(one: Supersession, cipher: Cipher) -> tuple[object, ...]:
    return (
        one.supersession_id,
        uuid.UUID(one.loser.interaction_id),
        one.loser.number,
        uuid.UUID(one.winner.interaction_id),
        one.winner.number,
        int(one.reason),
        int(one.state),
        one.end_time,
        one.create_time,
        *_sealed(one, cipher),
        one.is_whole,
        one.is_turned,
        "" if one.premise_place is None else str(one.premise_place),
        int(one.decided_by),
        one.is_called_wrong,
    )


def _state_values(one: Supersession, cipher: Cipher) -> tuple[object, ...]:
    statement, standing_statement, _, decision_reason = _sealed(one, cipher)
    return (
        uuid.UUID(one.loser.interaction_id),
        one.loser.number,
        uuid.UUID(one.winner.interaction_id),
        one.winner.number,
        int(one.state),
        one.end_time,
        statement,
        standing_statement,
        decision_reason,
        one.is_whole,
        one.is_turned,
        int(one.decided_by),
    )


def _all_of(rows: Sequence[Row]) -> list[Supersession]:
    return [supersession_of(row) for row in rows]


def supersession_of(row: Row) -> Supersession:
    """The supersession of a row."""
    return Supersession(
        loser=Place(InteractionId(str(row["loser_id"])), row["loser_number"]),
        winner=Place(InteractionId(str(row["winner_id"])), row["winner_number"]),
        reason=Reason(row["reason"]),
        state=State(row["state"]),
        end_time=row["end_time"],
        create_time=row["create_time"],
        statement=row["statement"],
        standing_statement=row["standing_statement"],
        is_whole=row["is_whole"],
        is_turned=row["is_turned"],
        premise=row["premise"],
        is_called_wrong=row["is_called_wrong"],
        premise_place=Place.parse(row["premise_place"]) if row["premise_place"] else None,
        decided_by=Decider(row["decided_by"]),
        decision_reason=row["decision_reason"],
    )
