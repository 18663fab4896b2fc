"""The store of procedures on Neo4j."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime
from typing import Any, Final, LiteralString, TypeVar

from services.common.encryption.neo4j import NO_GRAPH_DATA_KEYS, GraphDataKeys, GraphSealing, opened_in_graph
from services.common.idempotency.model import IdempotencyRecords
from services.common.idempotency.neo4j import Neo4jIdempotencyRecords
from services.common.neo4j.graph import Graph, GraphTransaction, Record
from services.common.neo4j.removal import REMOVED_MAX, RemovalQueries, query_step, remove_in_pages
from services.common.owners import Owner, TenantId, UserId
from services.semantic.procedures.model import JudgedRecall, Procedure, ProcedureKind, ProcedurePosition
from services.semantic.procedures.store import ProcedureWriter
from services.semantic.procedures.stores.records import judged_of, judged_state, procedure_of, procedure_state
from services.semantic.stores.neo4j import IDEMPOTENCY
from services.semantic.stores.neo4j_sealing import JUDGED_RECALLS, PROCEDURES

_T = TypeVar("_T")

# The node is locked until the transaction ends: writes of one user are serialized. It holds the revision.
OWNER: Final = RemovalQueries.of("MnemeProcedureOwner")
LOCK: Final[LiteralString] = OWNER.lock
RAISE: Final[LiteralString] = """
MATCH (o:MnemeProcedureOwner {tenant_id: $tenant_id, user_id: $user_id})
SET o.revision = coalesce(o.revision, 0) + 1
"""
REVISION: Final[LiteralString] = """
MATCH (o:MnemeProcedureOwner {tenant_id: $tenant_id, user_id: $user_id})
RETURN coalesce(o.revision, 0) AS revision
"""
GET: Final[LiteralString] = """
UNWIND $procedure_ids AS procedure_id
MATCH (p:MnemeProcedure {tenant_id: $tenant_id, user_id: $user_id, procedure_id: procedure_id})
RETURN p.procedure_id AS procedure_id, p.state AS state ORDER BY procedure_id
"""
BY_IDENTITY: Final[LiteralString] = """
MATCH (p:MnemeProcedure {tenant_id: $tenant_id, user_id: $user_id, identity: $identity})
RETURN p.procedure_id AS procedure_id, p.state AS state
"""
_ALL: Final[LiteralString] = """
MATCH (p:MnemeProcedure {tenant_id: $tenant_id, user_id: $user_id})
USING INDEX p:MnemeProcedure(tenant_id, user_id, create_time)
WHERE p.create_time IS NOT NULL
"""
BY_SOURCE: Final[LiteralString] = f"""
{_ALL} AND any(source IN p.derived_from WHERE source IN $source_ids)
RETURN p.procedure_id AS procedure_id, p.state AS state ORDER BY p.procedure_id
"""
BEYOND: Final[LiteralString] = f"""
{_ALL} AND p.kind = $kind
RETURN p.procedure_id AS procedure_id
ORDER BY p.confidence DESC, p.create_time DESC, p.procedure_id DESC SKIP $count_max
"""
LIST: Final[LiteralString] = f"""
{_ALL} AND ($kind IS NULL OR p.kind = $kind)
    AND ($time IS NULL OR p.create_time < $time OR (p.create_time = $time AND p.procedure_id > $id))
RETURN p.procedure_id AS procedure_id, p.state AS state ORDER BY p.create_time DESC, p.procedure_id LIMIT $limit
"""
TRUSTED: Final[LiteralString] = f"""
{_ALL} AND p.confidence > $confidence_above
RETURN p.procedure_id AS procedure_id, p.state AS state
ORDER BY p.confidence DESC, p.create_time DESC, p.procedure_id LIMIT $limit
"""
PUT: Final[LiteralString] = """
MERGE (p:MnemeProcedure {tenant_id: $tenant_id, user_id: $user_id, procedure_id: $procedure_id})
SET p += $fields
"""
DELETE: Final[LiteralString] = f"""
{_ALL} AND p.procedure_id IN $procedure_ids
WITH p, p.procedure_id AS procedure_id
DELETE p
RETURN procedure_id
"""
# Of a user, `limit` at most: what one transaction removes is bounded.
REMOVE: Final[LiteralString] = f"""
{_ALL}
WITH p, p.procedure_id AS procedure_id LIMIT $limit
DELETE p
RETURN procedure_id
"""
JUDGED: Final[LiteralString] = """
MATCH (j:MnemeJudgedRecall {tenant_id: $tenant_id, user_id: $user_id, recall_id: $recall_id})
RETURN j.recall_id AS recall_id, j.state AS state
"""
_ALL_JUDGED: Final[LiteralString] = """
MATCH (j:MnemeJudgedRecall {tenant_id: $tenant_id, user_id: $user_id})
USING INDEX j:MnemeJudgedRecall(tenant_id, user_id, time)
WHERE j.time IS NOT NULL
"""
JUDGED_BETWEEN: Final[LiteralString] = f"""
{_ALL_JUDGED} AND j.time >= $start AND j.time <= $end
RETURN j.recall_id AS recall_id, j.state AS state ORDER BY j.time DESC, j.recall_id LIMIT $limit
"""
PUT_JUDGED: Final[LiteralString] = """
MERGE (j:MnemeJudgedRecall {tenant_id: $tenant_id, user_id: $user_id, recall_id: $recall_id})
SET j.time = $time, j.state = $state
"""
TRIM_JUDGED: Final[LiteralString] = f"""
{_ALL_JUDGED}
WITH j ORDER BY j.time DESC, j.recall_id SKIP $count_max
DELETE j
"""
REMOVE_JUDGED: Final[LiteralString] = f"""
{_ALL_JUDGED}
WITH j LIMIT $limit
DELETE j
RETURN count(*) AS removed
"""

# By the index of the key: each of its properties has to be asked for.
USERS: Final[LiteralString] = """
MATCH (n:MnemeProcedure {tenant_id: $tenant_id})
USING INDEX n:MnemeProcedure(tenant_id, user_id, procedure_id)
WHERE n.user_id > $after AND n.procedure_id IS NOT NULL
WITH DISTINCT n.user_id AS user_id ORDER BY user_id LIMIT $limit
RETURN user_id
"""

ALL_QUERIES: Final[tuple[LiteralString, ...]] = (
    USERS,
    *OWNER.all,
    RAISE,
    REVISION,
    GET,
    BY_IDENTITY,
    BY_SOURCE,
    BEYOND,
    LIST,
    TRUSTED,
    PUT,
    DELETE,
    JUDGED,
    JUDGED_BETWEEN,
    PUT_JUDGED,
    TRIM_JUDGED,
    REMOVE,
    REMOVE_JUDGED,
)
"""For the test that reads their plans."""


class Neo4jProcedureStore:
    """A `ProcedureStore`."""

    def __init__(
        self, graph: Graph, *, keys: GraphDataKeys = NO_GRAPH_DATA_KEYS, removed_max: int = REMOVED_MAX
    ) -> None:
        """Uses a graph whose migrations ran; its owner closes it.

        Args:
            graph: Where procedures are.
            keys: Encrypt states.
            removed_max: Nodes that one transaction removes at most where all of a user goes.
        """
        self._graph = graph
        self._keys = keys
        self._removed_max = removed_max

    async def write(self, owner: Owner, work: Callable[[ProcedureWriter], Awaitable[_T]]) -> _T:
        """A transaction that holds the user's node."""

        async def unit(transaction: GraphTransaction) -> _T:
            await transaction.run(LOCK, _key(owner))
            return await work(_Neo4jProcedureWriter(transaction, owner, self._keys))

        return await self._graph.write(unit)

    async def remove_owner(self, owner: Owner) -> int:
        """See `ProcedureStore.remove_owner`. Page by page; the count includes those of interrupted calls before."""
        key = _key(owner)

        async def remove(transaction: GraphTransaction, limit: int) -> int:
            return await _forget(transaction, owner, await transaction.run(REMOVE, {**key, "limit": limit}))

        steps = (remove, query_step(REMOVE_JUDGED, key))
        return await remove_in_pages(self._graph, steps, key, queries=OWNER, limit=self._removed_max)

    async def get(self, owner: Owner, procedure_id: str) -> Procedure | None:
        """See `ProcedureStore.get`."""
        found = await self._procedures(GET, owner, procedure_ids=[procedure_id])
        return found[0] if found else None

    async def users(self, tenant_id: TenantId, *, after: UserId, limit: int) -> list[UserId]:
        """One query, by an index."""
        found = await self._graph.read(USERS, {"tenant_id": tenant_id, "after": after, "limit": limit})
        return [UserId(row["user_id"]) for row in found]

    async def list_page(
        self, owner: Owner, *, kind: ProcedureKind | None, after: ProcedurePosition | None, limit: int
    ) -> Sequence[Procedure]:
        """See `ProcedureStore.list_page`."""
        position = {"time": after.create_time, "id": after.procedure_id} if after else {"time": None, "id": ""}
        wanted = None if kind is None else int(kind)
        return await self._procedures(LIST, owner, **position, kind=wanted, limit=limit)

    async def trusted(
        self, owner: Owner, *, cached_revision: int | None, confidence_above: float, limit: int
    ) -> tuple[int, Sequence[Procedure] | None]:
        """The revision is read first: procedures that are newer are read again by it."""
        rows = await self._graph.read(REVISION, _key(owner))
        revision = int(rows[0]["revision"]) if rows else 0
        if revision == cached_revision:
            return revision, None
        if not revision:
            return revision, []
        return revision, await self._procedures(TRUSTED, owner, confidence_above=confidence_above, limit=limit)

    async def _procedures(self, query: LiteralString, owner: Owner, **named: Any) -> list[Procedure]:
        found = await self._graph.read(query, {**_key(owner), **named})
        rows = await opened_in_graph(self._keys, self._graph.read, owner, PROCEDURES, found)
        return [_procedure(row["state"]) for row in rows]


class _Neo4jProcedureWriter:
    """A `ProcedureWriter` in an open transaction."""

    def __init__(self, transaction: GraphTransaction, owner: Owner, keys: GraphDataKeys) -> None:
        """Write for `owner`."""
        self._sealing = GraphSealing(keys, transaction, owner)
        self._transaction = transaction
        self._owner = owner
        self._key = _key(owner)

    @property
    def idempotency(self) -> IdempotencyRecords:
        """The tenant's idempotency records."""
        return Neo4jIdempotencyRecords(
            self._transaction, self._owner.tenant_id, IDEMPOTENCY, sealing=self._sealing.cipher
        )

    async def get(self, procedure_ids: Sequence[str]) -> Sequence[Procedure]:
        """See `ProcedureWriter.get`."""
        return await self._procedures(GET, procedure_ids=list(dict.fromkeys(procedure_ids)))

    async def by_identity(self, identity: str) -> Procedure | None:
        """See `ProcedureWriter.by_identity`."""
        found = await self._procedures(BY_IDENTITY, identity=identity)
        return found[0] if found else None

    async def by_source(self, source_ids: Sequence[str]) -> Sequence[Procedure]:
        """See `ProcedureWriter.by_source`."""
        return await self._procedures(BY_SOURCE, source_ids=list(source_ids))

    async def beyond(self, kind: ProcedureKind, count_max: int) -> Sequence[str]:
        """See `ProcedureWriter.beyond`."""
        named = {**self._key, "kind": int(kind), "count_max": count_max}
        return [row["procedure_id"] for row in await self._transaction.run(BEYOND, named)]

    async def put(self, procedure: Procedure) -> None:
        """See `ProcedureWriter.put`."""
        fields = {
            "kind": int(procedure.draft.kind),
            "identity": procedure.draft.identity,
            "confidence": procedure.confidence,
            "derived_from": list(procedure.source_ids),
            "create_time": procedure.create_time,
            "state": _json(procedure_state(procedure)),
        }
        sealed = PROCEDURES.seal(
            await self._sealing.cipher(is_new=True), {**fields, "procedure_id": procedure.procedure_id}
        )
        named = {**self._key, "procedure_id": procedure.procedure_id, "fields": sealed}
        await self._transaction.run(PUT, named)
        await self._transaction.run(RAISE, self._key)

    async def delete(self, procedure_ids: Sequence[str]) -> int:
        """See `ProcedureWriter.delete`."""
        if not procedure_ids:
            return 0
        removed = await self._transaction.run(DELETE, {**self._key, "procedure_ids": list(procedure_ids)})
        return await _forget(self._transaction, self._owner, removed)

    async def judged(self, recall_id: str) -> JudgedRecall | None:
        """See `ProcedureWriter.judged`."""
        found = await self._judged(JUDGED, recall_id=recall_id)
        return found[0] if found else None

    async def judged_between(self, start: datetime, end: datetime, *, limit: int) -> Sequence[JudgedRecall]:
        """See `ProcedureWriter.judged_between`."""
        return await self._judged(JUDGED_BETWEEN, start=start, end=end, limit=limit)

    async def put_judged(self, judged: JudgedRecall, *, count_max: int) -> None:
        """See `ProcedureWriter.put_judged`."""
        named = {**self._key, "recall_id": judged.recall_id, "time": judged.time, "state": _json(judged_state(judged))}
        sealed = JUDGED_RECALLS.seal(await self._sealing.cipher(is_new=True), named)
        await self._transaction.run(PUT_JUDGED, sealed)
        await self._transaction.run(TRIM_JUDGED, {**self._key, "count_max": count_max})

    async def _procedures(self, query: LiteralString, **named: Any) -> list[Procedure]:
        rows = await self._transaction.run(query, {**self._key, **named})
        return [_procedure(row["state"]) for row in await self._sealing.opened(PROCEDURES, rows)]

    async def _judged(self, query: LiteralString, **named: Any) -> list[JudgedRecall]:
        rows = await self._transaction.run(query, {**self._key, **named})
        return [judged_of(json.loads(row["state"])) for row in await self._sealing.opened(JUDGED_RECALLS, rows)]


async def _forget(transaction: GraphTransaction, owner: Owner, removed: Sequence[Record]) -> int:
    """Erases responses about removed procedures, and raises the revision; how many were removed."""
    gone = [row["procedure_id"] for row in removed]
    if gone:
        await Neo4jIdempotencyRecords(transaction, owner.tenant_id, IDEMPOTENCY).erase(owner.user_id, gone)
        await transaction.run(RAISE, _key(owner))
    return len(gone)


def _key(owner: Owner) -> dict[str, Any]:
    return {"tenant_id": owner.tenant_id, "user_id": owner.user_id}


def _procedure(state: str) -> Procedure:
    return procedure_of(json.loads(state))


def _json(state: Any) -> str:
    return json.dumps(state, ensure_ascii=False)
