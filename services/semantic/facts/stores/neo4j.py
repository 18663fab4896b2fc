"""The fact store on Neo4j."""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import Any, Final, LiteralString, TypeVar

from services.common.embedding.vectors import Vector
from services.common.encryption.neo4j import NO_GRAPH_DATA_KEYS, GraphDataKeys, GraphSealing, opened_in_graph
from services.common.errors import NotFound
from services.common.idempotency.model import IdempotencyRecords
from services.common.idempotency.neo4j import Neo4jIdempotencyRecords
from services.common.maintenance.neo4j import check_graph_fence
from services.common.neo4j.graph import Graph, GraphTransaction, Record
from services.common.neo4j.removal import REMOVED_MAX, query_step, remove_in_pages
from services.common.owners import InteractionId, Owner, TenantId, UserId
from services.common.scope import Reader, Scope, keys_seen
from services.semantic.config import EvidenceSettings
from services.semantic.facts.identity import Keys
from services.semantic.facts.merge_groups import MergeGroup, MergeGroupWriter, MergePosition, MergeState
from services.semantic.facts.model import (
    ACTIVE,
    RETIRED,
    ExtractionResult,
    Fact,
    FactId,
    FactRecord,
    ScoredFact,
    SimilarFact,
    StatementId,
    Support,
)
from services.semantic.facts.store import FactChange, FactFilter, FactPosition, FactSearch, FactWriter
from services.semantic.facts.stores import neo4j_cypher as cypher
from services.semantic.facts.stores import neo4j_merges as merges
from services.semantic.facts.stores import neo4j_supports as supports
from services.semantic.facts.stores.named import named_facts
from services.semantic.facts.stores.neo4j_records import (
    fact_from_record,
    fact_row,
    graph_vector,
    opened_records,
    scored_from_record,
    statement_row,
    stored_record,
    with_supports,
)
from services.semantic.stores.neo4j import IDEMPOTENCY, known_moment_of
from services.semantic.stores.neo4j_sealing import FACTS

_T = TypeVar("_T")

_ALL: Final = 2**31 - 1
"""A bound of statements that no fact reaches."""

# Facts first: once they are gone, nothing is found any more.
_REMOVAL: Final[tuple[LiteralString, ...]] = (
    cypher.REMOVE_OWNER,
    cypher.REMOVE_STATEMENTS_OF_OWNER,
    supports.REMOVE_OF_OWNER,
    merges.REMOVE_OWNER,
    cypher.FORGET_RESULTS_OF_OWNER,
    IDEMPOTENCY.erase_some,
)

_BEFORE_ALL: Final = FactPosition(datetime.max.replace(tzinfo=UTC), FactId(""))
"""Where the first page of a list begins."""


class Neo4jFactStore:
    """A `FactStore`. Searches go through the vector index, which filters by tenant, user and all else."""

    def __init__(
        self,
        graph: Graph,
        evidence: EvidenceSettings | None = None,
        *,
        search_candidates: int = 512,
        keys: GraphDataKeys = NO_GRAPH_DATA_KEYS,
        removed_max: int = REMOVED_MAX,
    ) -> None:
        """Use a graph whose migrations ran; its owner closes it.

        Args:
            graph: The database.
            evidence: Bounds of what a statement is compared with.
            search_candidates: Facts that a search takes from the index, >= 1. The index is approximate where more
                facts than that pass its filters; else it compares them all, so that the search is exact.
            keys: What texts of facts are encrypted with.
            removed_max: Nodes that one transaction removes at most where all of a user goes.
        """
        self._graph = graph
        self._removed_max = removed_max
        self._keys = keys
        self._evidence = evidence or EvidenceSettings()
        self._search_candidates = search_candidates

    async def write(self, owner: Owner, work: Callable[[FactWriter], Awaitable[_T]]) -> _T:
        """A transaction that holds the lock of the user's node; work runs again after a transient failure."""
        return await self._write(owner, work)

    async def extracted(
        self, owner: Owner, interaction_ids: Sequence[InteractionId]
    ) -> Mapping[InteractionId, ExtractionResult]:
        """Results of those of the interactions that were extracted before."""
        parameters = {**_key(owner), "interaction_ids": list(interaction_ids)}
        return _results(await self._graph.read(cypher.EXTRACTED, parameters))

    async def get(self, owner: Owner, fact_id: FactId) -> Fact:
        """A fact with its versions."""
        rows = await self._opened(owner, await self._graph.read(cypher.GET_FACT, {**_key(owner), "fact_id": fact_id}))
        if not rows:
            raise NotFound("fact", fact_id)
        return fact_from_record(rows[0])

    async def facts_of(self, owner: Owner, fact_ids: Sequence[FactId]) -> dict[FactId, Fact]:
        """Facts by their ids, without versions."""
        rows = await self._graph.read(cypher.FACTS_OF, {**_key(owner), "fact_ids": list(fact_ids)})
        return {fact.fact_id: fact for fact in map(fact_from_record, await self._opened(owner, rows))}

    async def merge_groups(
        self,
        owner: Owner,
        *,
        state: MergeState | None,
        after: MergePosition | None,
        limit: int,
        reader: Reader | None = None,
    ) -> list[MergeGroup]:
        """One query, by an index."""
        return await merges.list_merge_groups(self._graph, owner, state=state, after=after, limit=limit, reader=reader)

    async def list_facts(
        self, owner: Owner, *, which: FactFilter, after: FactPosition | None, limit: int
    ) -> list[Fact]:
        """A page of facts, last confirmed first, ties by id.

        The graph cannot compare encrypted names: with encryption a list by subject or predicate decrypts all facts that
        the other filters choose.
        """
        if not (self._keys.is_on and (which.subject or which.predicate)):
            return await self._page(owner, which, after, limit)
        return await named_facts(partial(self._page, owner), which, after, limit)

    async def _page(self, owner: Owner, which: FactFilter, after: FactPosition | None, limit: int) -> list[Fact]:
        position = after or _BEFORE_ALL
        parameters = {
            **_key(owner),
            "after_time": position.last_confirmed_time,
            "after_fact_id": position.fact_id,
            "category": None if which.category is None else int(which.category),
            "statuses": [int(status) for status in which.statuses],
            "subject": which.subject,
            "predicate": which.predicate,
            "confidence_min": which.confidence_min,
            "scope_keys": keys_seen(which.reader),
            "limit": limit,
        }
        rows = await self._graph.read(cypher.LIST_FACTS, parameters)
        return [fact_from_record(row) for row in await self._opened(owner, rows)]

    async def archive(self, owner: Owner, fact_ids: Sequence[FactId]) -> int:
        """Archive facts."""
        return await self._write(owner, lambda writer: writer.change(cypher.ARCHIVE, fact_ids))

    async def restore(self, owner: Owner, fact_ids: Sequence[FactId]) -> int:
        """Restore archived facts."""
        return await self._write(owner, lambda writer: writer.change(cypher.RESTORE, fact_ids))

    async def remove_owner(self, owner: Owner) -> int:
        """Remove all facts of a user, page by page; the count includes pages of earlier calls that were interrupted."""
        key = _key(owner)
        steps = [query_step(query, key) for query in _REMOVAL]
        return await remove_in_pages(self._graph, steps, key, queries=cypher.OWNER, limit=self._removed_max)

    async def users(self, tenant_id: TenantId, *, after: UserId, limit: int) -> list[UserId]:
        """One query, by an index."""
        found = await self._graph.read(cypher.USERS, {"tenant_id": tenant_id, "after": after, "limit": limit})
        return [UserId(row["user_id"]) for row in found]

    async def active_time(self, owner: Owner) -> datetime | None:
        """One query, by an index."""
        rows = await self._graph.read(cypher.ACTIVE_TIME, _key(owner))
        return known_moment_of(rows[0]["active_time"]) if rows else None

    async def search(self, owner: Owner, search: FactSearch) -> list[ScoredFact]:
        """Filter, order and read in one query."""
        least = search.confidence if search.includes_threshold else math.nextafter(search.confidence, math.inf)
        parameters = {
            **_key(owner),
            "vector": graph_vector(search.vector),
            "model": search.model,
            "scope_keys": list(search.reader.visible_keys()),
            "confidence_min": least,
            "candidates": max(self._search_candidates, search.limit),
            "limit": search.limit,
            "fading_after": search.fading_after,
            "status_before": max(RETIRED if search.includes_retired else ACTIVE) + 1,
        }
        rows = await self._graph.read(cypher.SEARCH, parameters)
        return [scored_from_record(row) for row in await self._opened(owner, rows)]

    async def _opened(self, owner: Owner, rows: Sequence[Record]) -> Sequence[Record]:
        return await opened_in_graph(self._keys, self._graph.read, owner, FACTS, rows)

    async def _write(self, owner: Owner, work: Callable[[_Neo4jFactWriter], Awaitable[_T]]) -> _T:
        async def locked(transaction: GraphTransaction) -> _T:
            await check_graph_fence(transaction)
            await transaction.run(cypher.LOCK_OWNER, _key(owner))
            return await work(_Neo4jFactWriter(transaction, owner, self._evidence, self._keys))

        return await self._graph.write(locked)


class _Neo4jFactWriter:
    """A `FactWriter` in an open transaction."""

    def __init__(
        self, transaction: GraphTransaction, owner: Owner, evidence: EvidenceSettings, keys: GraphDataKeys
    ) -> None:
        """Write for `owner` in a transaction that holds its lock."""
        self._sealing = GraphSealing(keys, transaction, owner)
        self._transaction = transaction
        self._owner = owner
        self._evidence = evidence

    @property
    def idempotency(self) -> IdempotencyRecords:
        """The tenant's idempotency records."""
        return Neo4jIdempotencyRecords(
            self._transaction, self._owner.tenant_id, IDEMPOTENCY, sealing=self._sealing.cipher
        )

    @property
    def merge_groups(self) -> MergeGroupWriter:
        """The user's groups of similar facts."""
        return merges.Neo4jMergeGroupWriter(self._transaction, self._owner)

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
        return await self._supported(rows)

    async def similar(
        self, vector: Vector, scope: Scope, *, model: str, cosine_min: float, limit: int
    ) -> list[SimilarFact]:
        """Active facts near to a vector, by the index; what was written in this transaction is not in it yet."""
        near = {"vector": graph_vector(vector), "scope_key": scope.key, "model": model}
        rows = await self._run(supports.SIMILAR, **near, cosine_min=cosine_min, limit=limit)
        return [supports.similar_fact(row) for row in await self._sealing.opened(FACTS, rows)]

    async def records_of(self, fact_ids: Sequence[FactId], *, are_reduced: bool = False) -> list[FactRecord]:
        """Facts by their ids, those of their topics, and those they contradict, in one query."""
        rows = await self._run(
            cypher.RECORDS_OF,
            fact_ids=list(fact_ids),
            topics=[],
            topic_facts_max=self._evidence.topic_facts_max,
            statements_max=_ALL if are_reduced else self._evidence.statements_max,
        )
        return await self._supported(rows, reduced=fact_ids if are_reduced else ())

    async def _opened(self, rows: Sequence[Record]) -> Sequence[Record]:
        return await opened_records(await self._sealing.cipher(is_new=False), rows) if rows else rows

    async def _supported(self, rows: Sequence[Record], *, reduced: Sequence[FactId] = ()) -> list[FactRecord]:
        """The records of rows with their supports; those that are reduced with all of them."""
        records = [stored_record(row, reduced=reduced) for row in await self._opened(rows)]
        members = await supports.with_merged(self._run, {row["fact_id"]: row["merged"] for row in rows})
        found: dict[str, list[Support]] = {}
        for are_reduced, limit in ((False, self._evidence.supports_max), (True, _ALL)):
            fact_ids = [record.fact_id for record in records if record.is_reduced is are_reduced]
            asked = [{"fact_id": fact_id, "members": members[fact_id]} for fact_id in fact_ids]
            for row in await self._run(supports.OF_FACTS, facts=asked, limit=limit) if asked else ():
                found.setdefault(row["fact_id"], []).append(supports.support_of(row))
        return [with_supports(record, found.get(record.fact_id, [])[::-1]) for record in records]

    async def remove_evidence(self, interaction_ids: Sequence[InteractionId]) -> list[FactId]:
        """Remove interactions, and the statements that have none left."""
        named = list(interaction_ids)
        rows = await self._run(cypher.REMOVE_EVIDENCE, interaction_ids=named)
        supported = [row["fact_id"] for row in await self._run(supports.REMOVE, interaction_ids=named)]
        supported += await supports.winners_of(self._run, supported)
        await self._run(cypher.MARK_REMOVED, interaction_ids=named)
        return sorted({*(FactId(row["fact_id"]) for row in rows), *map(FactId, supported)})

    async def remove_statements(self, fact_id: FactId, statement_ids: Sequence[StatementId]) -> None:
        """Remove statements of a fact."""
        await self._run(cypher.REMOVE_STATEMENTS, fact_id=fact_id, statement_ids=list(statement_ids))

    async def merged_into(self, fact_ids: Sequence[FactId]) -> list[FactId]:
        """The facts that were merged into these."""
        rows = await self._run(cypher.MERGED_INTO, fact_ids=list(fact_ids))
        return [FactId(row["fact_id"]) for row in rows]

    async def unlink(self, fact_id: FactId) -> None:
        """Remove the links of a fact on both sides."""
        await self._run(cypher.UNLINK, fact_ids=[fact_id])

    async def remove(self, fact_ids: Sequence[FactId]) -> None:
        """Remove facts, their links and what names them."""
        mentions = (cypher.UNLINK, cypher.FORGET_RESULTS, merges.REMOVE_FACTS, supports.REMOVE_OF_FACTS)
        for query in (*mentions, cypher.REMOVE_FACTS):
            await self._run(query, fact_ids=list(fact_ids))

    async def change(self, query: LiteralString, fact_ids: Sequence[FactId]) -> int:
        """Run a query on facts; how many it changed."""
        [row] = await self._run(query, fact_ids=list(fact_ids))
        return int(row["changed"])

    async def put(self, changes: Sequence[FactChange]) -> None:
        """Store new states, vectors, statements and links."""
        if not changes:
            return
        cipher = await self._sealing.cipher(is_new=True)
        await self._run_if_any(cypher.PUT_FACTS, facts=[fact_row(change, cipher) for change in changes])
        vectors = [
            {"fact_id": c.fact.fact_id, "model": c.model, "vector": graph_vector(c.vector)}
            for c in changes
            if c.vector is not None
        ]
        await self._run_if_any(cypher.PUT_VECTORS, vectors=vectors)
        statements = [statement_row(c.fact.fact_id, s, cipher) for c in changes for s in c.new_statements]
        await self._run_if_any(cypher.PUT_STATEMENTS, statements=statements)
        await self._run_if_any(supports.ADD, supports=supports.support_rows(changes))
        contradictions = [
            {"fact_id": c.fact.fact_id, "others": list(c.fact.contradictions)}
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
