"""The store of statements and supersessions on PostgreSQL."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Sequence
from typing import Any, Final

from services.common.errors import NotFound
from services.common.idempotency.postgres import PostgresIdempotencyRecords
from services.common.owners import InteractionId, Owner
from services.common.postgres.tenancy import as_tenant, fetch_as_tenant, tenant_transaction
from services.common.postgres.types import Connection, Pool
from services.semantic.stores.postgres import LOCK_USER, SCHEMA
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

_SUBJECT: Final = "supersessions"

_ADD: Final = """
INSERT INTO semantic.assertions
    (tenant_id, user_id, interaction_id, number, text, speaker, time, scope_key, keys, is_only, is_announced)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
ON CONFLICT DO NOTHING
RETURNING number
"""
_CANDIDATES: Final = """
SELECT interaction_id, number, text, speaker, time, scope_key, keys, is_only, is_announced
FROM semantic.assertions
WHERE tenant_id = $1 AND user_id = $2 AND keys && $3 AND interaction_id <> $4
ORDER BY (SELECT count(*) FROM unnest(keys) AS k WHERE k = ANY($3)) DESC, time DESC, interaction_id, number
LIMIT $5
"""
_PUT: Final = """
INSERT INTO semantic.supersessions
    (tenant_id, user_id, supersession_id, loser_id, loser_number, winner_id, winner_number, reason, state, end_time,
     create_time, statement, standing_statement, is_whole, is_turned)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)
ON CONFLICT DO NOTHING
RETURNING supersession_id
"""
_COLUMNS: Final = """
    s.supersession_id, s.loser_id, s.loser_number, s.winner_id, s.winner_number, s.reason, s.state, s.end_time,
    s.create_time, s.statement, s.standing_statement, s.is_whole, s.is_turned
"""
_RAISE: Final = """
INSERT INTO semantic.owner_revisions AS o (tenant_id, user_id, epoch, marks) VALUES ($1, $2, 0, 1)
ON CONFLICT (tenant_id, user_id) DO UPDATE SET marks = o.marks + 1
"""
_MARKS: Final = as_tenant(f"""
SELECT r.marks AS revision, {_COLUMNS}
FROM (
    SELECT coalesce(max(o.marks), 0) AS marks FROM semantic.owner_revisions AS o
    WHERE o.tenant_id = $1 AND o.user_id = $2
) AS r
LEFT JOIN LATERAL (
    SELECT * FROM semantic.supersessions AS one
    WHERE one.tenant_id = $1 AND one.user_id = $2 AND one.state = 1 AND r.marks IS DISTINCT FROM $3::bigint
    ORDER BY one.create_time DESC, one.supersession_id LIMIT $4
) AS s ON true
""")  # noqa: S608 - a constant
_LIST: Final = f"""
SELECT {_COLUMNS} FROM semantic.supersessions AS s
WHERE s.tenant_id = $1 AND s.user_id = $2 AND ($3::smallint IS NULL OR s.state = $3)
    AND ($4::timestamptz IS NULL OR s.create_time < $4 OR (s.create_time = $4 AND s.supersession_id > $5))
ORDER BY s.create_time DESC, s.supersession_id
LIMIT $6
"""  # noqa: S608 - a constant
_GET: Final = f"""
SELECT {_COLUMNS} FROM semantic.supersessions AS s
WHERE s.tenant_id = $1 AND s.user_id = $2 AND s.supersession_id = $3
"""  # noqa: S608 - a constant
_UPDATE: Final = """
UPDATE semantic.supersessions
SET loser_id = $4, loser_number = $5, winner_id = $6, winner_number = $7, state = $8, end_time = $9, statement = $10,
    standing_statement = $11, is_whole = $12, is_turned = $13
WHERE tenant_id = $1 AND user_id = $2 AND supersession_id = $3
"""
_IS_ONLY: Final = """
SELECT is_only FROM semantic.assertions
WHERE tenant_id = $1 AND user_id = $2 AND interaction_id = $3 AND number = $4
"""
_REMOVE_ASSERTIONS: Final = """
DELETE FROM semantic.assertions WHERE tenant_id = $1 AND user_id = $2 AND interaction_id = ANY($3)
"""
_REMOVE: Final = """
DELETE FROM semantic.supersessions
WHERE tenant_id = $1 AND user_id = $2 AND (loser_id = ANY($3) OR winner_id = ANY($3))
RETURNING supersession_id
"""
_REMOVE_ALL_ASSERTIONS: Final = "DELETE FROM semantic.assertions WHERE tenant_id = $1 AND user_id = $2"
_REMOVE_ALL: Final = """
DELETE FROM semantic.supersessions WHERE tenant_id = $1 AND user_id = $2 RETURNING supersession_id
"""


class PostgresSupersessionStore:
    """A `SupersessionStore`. Statements are found through an index of their content words."""

    def __init__(self, pool: Pool) -> None:
        """Uses a pool of `create_pool`, of a role bound by row-level security; its owner closes it."""
        self._pool = pool

    async def add(
        self, owner: Owner, assertions: Sequence[Assertion], decide: Decide, *, candidates_max: int
    ) -> Sequence[Supersession]:
        """See `SupersessionStore.add`."""
        if not assertions:
            return []
        key = (owner.tenant_id, owner.user_id)
        async with tenant_transaction(self._pool, owner.tenant_id) as connection:
            await connection.execute(LOCK_USER, *key, _SUBJECT)
            found: list[Supersession] = []
            for assertion in assertions:
                is_new = await connection.fetchrow(_ADD, *key, *_assertion_values(assertion))
                if is_new is None or not assertion.keys:
                    continue
                place = uuid.UUID(assertion.place.interaction_id)
                rows = await connection.fetch(_CANDIDATES, *key, list(assertion.keys), place, candidates_max)
                candidates = [_assertion(row) for row in rows]
                found += await asyncio.to_thread(decided_pairs, decide, assertion, candidates)
            return await self._put(connection, owner, found)

    async def put(self, owner: Owner, supersessions: Sequence[Supersession]) -> int:
        """See `SupersessionStore.put`."""
        async with tenant_transaction(self._pool, owner.tenant_id) as connection:
            await connection.execute(LOCK_USER, owner.tenant_id, owner.user_id, _SUBJECT)
            return len(await self._put(connection, owner, supersessions))

    async def marks(self, owner: Owner, *, cached_revision: int | None, limit: int) -> Marks:
        """See `SupersessionStore.marks`."""
        rows = await fetch_as_tenant(self._pool, _MARKS, owner.tenant_id, owner.user_id, cached_revision, limit)
        revision = int(rows[0]["revision"])
        if revision == cached_revision:
            return Marks(revision, None)
        return Marks(revision, [_supersession(row) for row in rows if row["supersession_id"] is not None])

    async def list_page(
        self, owner: Owner, *, state: State | None, after: SupersessionPosition | None, limit: int
    ) -> Sequence[Supersession]:
        """See `SupersessionStore.list_page`."""
        position = (None, "") if after is None else (after.create_time, after.supersession_id)
        wanted = None if state is None else int(state)
        async with tenant_transaction(self._pool, owner.tenant_id) as connection:
            rows = await connection.fetch(_LIST, owner.tenant_id, owner.user_id, wanted, *position, limit)
        return [_supersession(row) for row in rows]

    async def resolve(self, owner: Owner, supersession_id: str, decision: Decision, once: Once) -> Supersession:
        """See `SupersessionStore.resolve`."""
        key = (owner.tenant_id, owner.user_id)
        async with tenant_transaction(self._pool, owner.tenant_id) as connection:
            await connection.execute(LOCK_USER, *key, _SUBJECT)

            async def work() -> Supersession:
                return await self._resolve(connection, owner, supersession_id, decision)

            return await once(_records(connection, owner), work)

    @staticmethod
    async def _resolve(connection: Connection, owner: Owner, supersession_id: str, decision: Decision) -> Supersession:
        key = (owner.tenant_id, owner.user_id)
        row = await connection.fetchrow(_GET, *key, supersession_id)
        if row is None:
            raise NotFound("supersession", supersession_id)
        stored = _supersession(row)
        winner = (uuid.UUID(stored.winner.interaction_id), stored.winner.number)
        is_only = await connection.fetchval(_IS_ONLY, *key, *winner)
        decided = resolved(stored, decision, is_winner_whole=bool(is_only))
        await connection.execute(_UPDATE, *key, supersession_id, *_state_values(decided))
        await connection.execute(_RAISE, *key)
        return decided

    async def remove_sources(self, owner: Owner, interaction_ids: Sequence[InteractionId]) -> int:
        """See `SupersessionStore.remove_sources`."""
        ids = [uuid.UUID(i) for i in interaction_ids]
        return await self._remove(owner, _REMOVE_ASSERTIONS, _REMOVE, ids)

    async def remove_owner(self, owner: Owner) -> int:
        """See `SupersessionStore.remove_owner`."""
        return await self._remove(owner, _REMOVE_ALL_ASSERTIONS, _REMOVE_ALL)

    async def _remove(self, owner: Owner, of_assertions: str, of_supersessions: str, *arguments: object) -> int:
        key = (owner.tenant_id, owner.user_id)
        async with tenant_transaction(self._pool, owner.tenant_id) as connection:
            await connection.execute(LOCK_USER, *key, _SUBJECT)
            await connection.execute(of_assertions, *key, *arguments)
            gone = [row["supersession_id"] for row in await connection.fetch(of_supersessions, *key, *arguments)]
            if gone:
                await _records(connection, owner).erase(owner.user_id, gone)
                await connection.execute(_RAISE, *key)
        return len(gone)

    @staticmethod
    async def _put(
        connection: Connection, owner: Owner, supersessions: Sequence[Supersession]
    ) -> Sequence[Supersession]:
        key = (owner.tenant_id, owner.user_id)
        new = [one for one in supersessions if await connection.fetchrow(_PUT, *key, *_values(one)) is not None]
        if any(one.state is State.APPLIED for one in new):
            await connection.execute(_RAISE, *key)
        return new


def _records(connection: Connection, owner: Owner) -> PostgresIdempotencyRecords:
    return PostgresIdempotencyRecords(connection, owner.tenant_id, schema=SCHEMA)


def _assertion_values(assertion: Assertion) -> tuple[object, ...]:
    return (
        uuid.UUID(assertion.place.interaction_id),
        assertion.place.number,
        assertion.text,
        assertion.speaker,
        assertion.time,
        assertion.scope_key,
        list(assertion.keys),
        assertion.is_only,
        assertion.is_announced,
    )


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


def _values(one: Supersession) -> tuple[object, ...]:
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
        one.statement,
        one.standing_statement,
        one.is_whole,
        one.is_turned,
    )


def _state_values(one: Supersession) -> tuple[object, ...]:
    return (
        uuid.UUID(one.loser.interaction_id),
        one.loser.number,
        uuid.UUID(one.winner.interaction_id),
        one.winner.number,
        int(one.state),
        one.end_time,
        one.statement,
        one.standing_statement,
        one.is_whole,
        one.is_turned,
    )


def _supersession(row: Any) -> Supersession:
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
    )
