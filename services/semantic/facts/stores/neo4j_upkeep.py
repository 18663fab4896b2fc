"""What maintenance reads and writes of facts in Neo4j."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final, LiteralString

import numpy as np

from services.common.encryption.neo4j import NO_GRAPH_DATA_KEYS, GraphDataKeys, opened_in_graph
from services.common.maintenance.neo4j import check_graph_fence
from services.common.neo4j.graph import Graph, GraphTransaction, Record
from services.common.neo4j.owners import page_of_owners
from services.common.owners import Owner, TenantId, UserId
from services.semantic.facts.model import FactId, FactStatus
from services.semantic.facts.stores.neo4j_cypher import ACTIVE_TIME, LOCK_OWNER
from services.semantic.facts.upkeep_store import MergeableFact, OwnerFacts, RetainedFact
from services.semantic.stores.neo4j import known_moment_of, microseconds, moment_of
from services.semantic.stores.neo4j_sealing import FACTS

# Users in the order of their key; facts are counted for those of one page.
COUNTS: Final[LiteralString] = f"""
CYPHER 25
{page_of_owners("MnemeFactOwner")}CALL (tenant_id, user_id) {{
    MATCH (f:MnemeFact {{tenant_id: tenant_id, user_id: user_id}})
    USING INDEX f:MnemeFact(tenant_id, user_id, fact_id)
    WHERE f.fact_id IS NOT NULL AND f.status < 3
    RETURN count(f) AS count
}}
RETURN tenant_id, user_id, count ORDER BY tenant_id, user_id
"""
COUNT: Final[LiteralString] = """
MATCH (f:MnemeFact {tenant_id: $tenant_id, user_id: $user_id})
USING INDEX f:MnemeFact(tenant_id, user_id, fact_id)
WHERE f.fact_id IS NOT NULL AND f.status < 3
RETURN count(f) AS count
"""
_RETAINED: Final[LiteralString] = f"""
    f.fact_id AS fact_id, f.revision AS revision, f.importance AS importance,
    {microseconds("f.last_confirmed_time")} AS last_confirmed_time, {microseconds("f.fade_time")} AS fade_time
"""
FADED: Final[LiteralString] = f"""
MATCH (f:MnemeFact {{tenant_id: $tenant_id, user_id: $user_id}})
USING INDEX f:MnemeFact(tenant_id, user_id, fade_time)
WHERE f.fade_time <= $now AND f.status < 3
WITH f ORDER BY f.fade_time, f.fact_id LIMIT $limit
RETURN {_RETAINED}
"""
LEAST: Final[LiteralString] = f"""
MATCH (f:MnemeFact {{tenant_id: $tenant_id, user_id: $user_id}})
USING INDEX f:MnemeFact(tenant_id, user_id, fact_id)
WHERE f.fact_id IS NOT NULL AND f.status < 3
WITH f ORDER BY f.importance, f.last_confirmed_time, f.fact_id LIMIT $limit
RETURN {_RETAINED}
"""
MERGEABLE: Final[LiteralString] = f"""
MATCH (f:MnemeFact {{tenant_id: $tenant_id, user_id: $user_id}})
USING INDEX f:MnemeFact(tenant_id, user_id, last_confirmed_time)
WHERE f.last_confirmed_time IS NOT NULL AND f.status < 3 AND f.valid_to_time IS NULL AND f.embedding_model = $model
WITH f ORDER BY f.last_confirmed_time DESC, f.fact_id LIMIT $limit
RETURN {_RETAINED}, f.text AS text, f.confidence AS confidence, f.scope_key AS scope_key, f.embedding AS embedding,
    {microseconds("f.first_observed_time")} AS first_observed_time,
    {microseconds("f.valid_from_time")} AS valid_from_time,
    [
        (f)-[:CONTRADICTS]->(other:MnemeFact {{tenant_id: $tenant_id, user_id: $user_id}}) | other.fact_id
    ] AS contradictions
"""
RETIRE: Final[LiteralString] = """
UNWIND $facts AS row
MATCH (f:MnemeFact {tenant_id: $tenant_id, user_id: $user_id, fact_id: row.fact_id})
WHERE f.revision = row.revision AND f.status < 3
SET f.previous_status = f.status, f.status = $status, f.revision = f.revision + 1
RETURN f.fact_id AS fact_id ORDER BY fact_id
"""
REINSTATE: Final[LiteralString] = """
UNWIND $fact_ids AS fact_id
MATCH (f:MnemeFact {tenant_id: $tenant_id, user_id: $user_id, fact_id: fact_id})
WHERE f.status = $status
SET f.status = coalesce(f.previous_status, 1), f.previous_status = null, f.fade_time = null,
    f.revision = f.revision + 1
RETURN f.fact_id AS fact_id
"""
OWNER_QUERIES: Final[tuple[LiteralString, ...]] = (COUNT, FADED, LEAST, MERGEABLE, RETIRE, REINSTATE)
"""For the test that reads their plans."""


class Neo4jFactUpkeep:
    """Implements `FactUpkeepStore`; see there for what each method guarantees."""

    def __init__(self, graph: Graph, *, keys: GraphDataKeys = NO_GRAPH_DATA_KEYS) -> None:
        """Uses a graph whose migrations ran; its owner closes it. Facts are decrypted by `keys`."""
        self._graph = graph
        self._keys = keys

    async def active_counts(
        self, *, after: Owner | None, limit: int, only: Owner | None = None
    ) -> Sequence[OwnerFacts]:
        """See `FactUpkeepStore.active_counts`."""
        if only is not None:
            count = 0 if only == after else (await self._read(COUNT, only))[0]["count"]
            return [OwnerFacts(only, count)] if count else []
        last = {"tenant_id": "", "user_id": ""} if after is None else _key(after)
        # A page of users may have no active facts at all: the next one is read then.
        while True:
            rows = await self._graph.read(COUNTS, {**last, "limit": limit})
            found = [
                OwnerFacts(Owner(TenantId(row["tenant_id"]), UserId(row["user_id"])), row["count"])
                for row in rows
                if row["count"]
            ]
            if found or len(rows) < limit:
                return found
            last = {"tenant_id": rows[-1]["tenant_id"], "user_id": rows[-1]["user_id"]}

    async def active_time(self, owner: Owner) -> datetime | None:
        """See `FactUpkeepStore.active_time`."""
        rows = await self._read(ACTIVE_TIME, owner)
        return known_moment_of(rows[0]["active_time"]) if rows else None

    async def faded(self, owner: Owner, *, now: datetime, limit: int) -> Sequence[RetainedFact]:
        """See `FactUpkeepStore.faded`."""
        return [_retained(row) for row in await self._read(FADED, owner, now=now, limit=limit)]

    async def least_important(self, owner: Owner, *, limit: int) -> Sequence[RetainedFact]:
        """See `FactUpkeepStore.least_important`."""
        return [_retained(row) for row in await self._read(LEAST, owner, limit=limit)]

    async def mergeable(self, owner: Owner, *, model: str, limit: int) -> Sequence[MergeableFact]:
        """See `FactUpkeepStore.mergeable`."""
        found = await self._read(MERGEABLE, owner, model=model, limit=limit)
        rows = await opened_in_graph(self._keys, self._graph.read, owner, FACTS, found)
        return [
            MergeableFact(
                fact_id=FactId(row["fact_id"]),
                revision=row["revision"],
                text=row["text"],
                confidence=row["confidence"],
                importance=row["importance"],
                first_observed_time=known_moment_of(row["first_observed_time"]),
                last_confirmed_time=known_moment_of(row["last_confirmed_time"]),
                valid_from_time=moment_of(row["valid_from_time"]),
                contradictions=tuple(sorted(FactId(i) for i in row["contradictions"])),
                scope_key=row["scope_key"],
                vector=np.asarray(row["embedding"], np.float32),
            )
            for row in rows
        ]

    async def retire(self, owner: Owner, revisions: Mapping[FactId, int], status: FactStatus) -> Sequence[FactId]:
        """See `FactUpkeepStore.retire`."""
        facts = [{"fact_id": fact_id, "revision": revision} for fact_id, revision in revisions.items()]
        rows = await self._written(RETIRE, owner, facts=facts, status=int(status))
        return [FactId(row["fact_id"]) for row in rows]

    async def reinstate(self, owner: Owner, fact_ids: Sequence[FactId], status: FactStatus) -> int:
        """See `FactUpkeepStore.reinstate`."""
        return len(await self._written(REINSTATE, owner, fact_ids=list(fact_ids), status=int(status)))

    async def _read(self, query: LiteralString, owner: Owner, **parameters: Any) -> Sequence[Record]:
        return await self._graph.read(query, {**_key(owner), **parameters})

    async def _written(self, query: LiteralString, owner: Owner, **parameters: Any) -> Sequence[Record]:
        async def work(transaction: GraphTransaction) -> Sequence[Record]:
            await check_graph_fence(transaction)
            await transaction.run(LOCK_OWNER, _key(owner))
            return await transaction.run(query, {**_key(owner), **parameters})

        return await self._graph.write(work)


def _key(owner: Owner) -> dict[str, Any]:
    return {"tenant_id": owner.tenant_id, "user_id": owner.user_id}


def _retained(row: Record) -> RetainedFact:
    return RetainedFact(
        fact_id=FactId(row["fact_id"]),
        revision=row["revision"],
        importance=row["importance"],
        last_confirmed_time=known_moment_of(row["last_confirmed_time"]),
        fade_time=moment_of(row["fade_time"]),
    )
