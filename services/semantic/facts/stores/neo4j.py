"""The fact store on Neo4j."""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final, LiteralString, TypeVar

from services.common.errors import NotFound
from services.common.idempotency.model import IdempotencyRecords
from services.common.idempotency.neo4j import Neo4jIdempotencyRecords
from services.common.neo4j.graph import Graph, GraphTransaction, Record
from services.common.owners import InteractionId, Owner
from services.semantic.config import EvidenceSettings
from services.semantic.facts.identity import Keys
from services.semantic.facts.model import ExtractionResult, Fact, FactId, FactRecord, ScoredFact
from services.semantic.facts.store import FactChange, FactFilter, FactPosition, FactSearch, FactWriter
from services.semantic.facts.stores import neo4j_cypher as cypher
from services.semantic.facts.stores.neo4j_records import (
    fact_from_record,
    fact_row,
    graph_vector,
    scored_from_record,
    statement_row,
    stored_record,
)
from services.semantic.stores.neo4j import IDEMPOTENCY

_T = TypeVar("_T")

_BEFORE_ALL: Final = FactPosition(datetime.max.replace(tzinfo=UTC), FactId(""))
"""Where the first page of a list begins."""


class Neo4jFactStore:
    """A `FactStore`. Searches go through the vector index, which filters by tenant, user and all else."""

    def __init__(self, graph: Graph, evidence: EvidenceSettings | None = None, *, search_candidates: int = 512) -> None:
        """Use a graph whose migrations ran; its owner closes it.

        Args:
            graph: The database.
            evidence: Bounds of what a statement is weighed against.
            search_candidates: Facts that a search takes from the index, >= 1. The index is approximate where more
                facts than that pass its filters; else it compares them all, so that the search is exact.
        """
        self._graph = graph
        self._evidence = evidence or EvidenceSettings()
        self._search_candidates = search_candidates

    async def write(self, owner: Owner, work: Callable[[FactWriter], Awaitable[_T]]) -> _T:
        """A transaction that holds the lock of the user's node; work runs again after a transient failure."""

        async def locked(transaction: GraphTransaction) -> _T:
            await transaction.run(cypher.LOCK_OWNER, _key(owner))
            return await work(_Neo4jFactWriter(transaction, owner, self._evidence))

        return await self._graph.write(locked)

    async def extracted(
        self, owner: Owner, interaction_ids: Sequence[InteractionId]
    ) -> Mapping[InteractionId, ExtractionResult]:
        """Results of those of the interactions that were extracted before."""
        parameters = {**_key(owner), "interaction_ids": list(interaction_ids)}
        return _results(await self._graph.read(cypher.EXTRACTED, parameters))

    async def get(self, owner: Owner, fact_id: FactId) -> Fact:
        """A fact with its versions."""
        rows = await self._graph.read(cypher.GET_FACT, {**_key(owner), "fact_id": fact_id})
        if not rows:
            raise NotFound("fact", fact_id)
        return fact_from_record(rows[0])

    async def list_facts(
        self, owner: Owner, *, which: FactFilter, after: FactPosition | None, limit: int
    ) -> list[Fact]:
        """A page of facts, last confirmed first, ties by id."""
        position = after or _BEFORE_ALL
        parameters = {
            **_key(owner),
            "after_time": position.last_confirmed_time,
            "after_fact_id": position.fact_id,
            "category": None if which.category is None else int(which.category),
            "status": None if which.status is None else int(which.status),
            "limit": limit,
        }
        return [fact_from_record(row) for row in await self._graph.read(cypher.LIST_FACTS, parameters)]

    async def search(self, owner: Owner, search: FactSearch) -> list[ScoredFact]:
        """Filter, order and read in one query."""
        least = search.confidence if search.includes_threshold else math.nextafter(search.confidence, math.inf)
        parameters = {
            **_key(owner),
            "vector": graph_vector(search.vector),
            "model": search.model,
            "scope_keys": list(search.reader.visible_keys()),
            "confidence_min": least,
            "candidates": max(self._search_candidates, search.top_k),
            "top_k": search.top_k,
        }
        return [scored_from_record(row) for row in await self._graph.read(cypher.SEARCH, parameters)]


class _Neo4jFactWriter:
    """A `FactWriter` in an open transaction."""

    def __init__(self, transaction: GraphTransaction, owner: Owner, evidence: EvidenceSettings) -> None:
        """Write for `owner` in a transaction that holds its lock."""
        self._transaction = transaction
        self._owner = owner
        self._evidence = evidence

    @property
    def idempotency(self) -> IdempotencyRecords:
        """The tenant's idempotency records."""
        return Neo4jIdempotencyRecords(self._transaction, self._owner.tenant_id, IDEMPOTENCY)

    async def extracted(self, interaction_ids: Sequence[InteractionId]) -> Mapping[InteractionId, ExtractionResult]:
        """Results of those of the interactions that were extracted before."""
        return _results(await self._run(cypher.EXTRACTED, interaction_ids=list(interaction_ids)))

    async def add_extracted(self, results: Sequence[ExtractionResult]) -> None:
        """Mark interactions as extracted."""
        rows = [{"interaction_id": r.interaction_id, "fact_ids": list(r.fact_ids)} for r in results]
        await self._run_if_any(cypher.ADD_EXTRACTED, results=rows)

    async def records(self, keys: Sequence[Keys]) -> list[FactRecord]:
        """Facts by their keys, those of the topics of all of these, and those they contradict, in one query."""
        rows = await self._run(
            cypher.RECORDS,
            identities=[key.identity.hex() for key in keys],
            texts=[key.text_identity.hex() for key in keys if key.is_by_text],
            topics=[key.topic.hex() for key in keys if key.topic is not None],
            topic_facts_max=self._evidence.topic_facts_max,
            statements_max=self._evidence.statements_max,
        )
        return [stored_record(row) for row in rows]

    async def put(self, changes: Sequence[FactChange]) -> None:
        """Store new states, vectors, statements and links."""
        await self._run_if_any(cypher.PUT_FACTS, facts=[fact_row(change) for change in changes])
        vectors = [
            {"fact_id": c.fact.fact_id, "model": c.model, "vector": graph_vector(c.vector)}
            for c in changes
            if c.vector is not None
        ]
        await self._run_if_any(cypher.PUT_VECTORS, vectors=vectors)
        statements = [statement_row(c.fact.fact_id, s) for c in changes for s in c.new_statements]
        await self._run_if_any(cypher.PUT_STATEMENTS, statements=statements)
        contradictions = [
            {"fact_id": c.fact.fact_id, "rivals": list(c.fact.contradictions)}
            for c in changes
            if c.fact.contradictions != (c.record.fact.contradictions if c.record.fact is not None else ())
        ]
        await self._run_if_any(cypher.PUT_CONTRADICTIONS, contradictions=contradictions)

    async def _run(self, query: LiteralString, **parameters: Any) -> list[Record]:
        return await self._transaction.run(query, {**_key(self._owner), **parameters})

    async def _run_if_any(self, query: LiteralString, **rows: list[dict[str, Any]]) -> None:
        if any(rows.values()):
            await self._run(query, **rows)


def _key(owner: Owner) -> dict[str, Any]:
    return {"tenant_id": owner.tenant_id, "user_id": owner.user_id}


def _results(rows: Sequence[Record]) -> dict[InteractionId, ExtractionResult]:
    results = (
        ExtractionResult(InteractionId(row["interaction_id"]), tuple(FactId(i) for i in row["fact_ids"]))
        for row in rows
    )
    return {result.interaction_id: result for result in results}
