"""Writes to one user's facts in PostgreSQL."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping, Sequence

from services.common.embedding.vectors import Vector
from services.common.encryption.postgres import DataKeys
from services.common.encryption.rows import Row
from services.common.encryption.sealing import OwnerSealing
from services.common.idempotency.model import IdempotencyRecords
from services.common.idempotency.postgres import PostgresIdempotencyRecords
from services.common.owners import InteractionId, Owner
from services.common.postgres.types import Connection
from services.common.scope import Scope
from services.semantic.config import EvidenceSettings
from services.semantic.facts.identity import Keys
from services.semantic.facts.merge_groups import MergeGroupWriter
from services.semantic.facts.model import ExtractionResult, FactId, FactRecord, SimilarFact, StatementId
from services.semantic.facts.store import FactChange
from services.semantic.facts.stores import postgres_merges as merges
from services.semantic.facts.stores import postgres_sql as sql
from services.semantic.facts.stores import postgres_supports as supports
from services.semantic.facts.stores.postgres_rows import fact_values, records_from_rows, statement_values
from services.semantic.stores.postgres import SCHEMA
from services.semantic.stores.postgres_sealing import FACTS, STATEMENTS


class PostgresFactWriter:
    """A `FactWriter` in an open transaction."""

    def __init__(self, connection: Connection, owner: Owner, evidence: EvidenceSettings, keys: DataKeys) -> None:
        """Write for `owner` through a connection bound to its tenant."""
        self._evidence = evidence
        self._sealing = OwnerSealing(keys, connection, owner)
        self._connection = connection
        self._owner = owner

    @property
    def idempotency(self) -> IdempotencyRecords:
        """The tenant's idempotency records."""
        return PostgresIdempotencyRecords(
            self._connection, self._owner.tenant_id, schema=SCHEMA, sealing=self._sealing.cipher
        )

    @property
    def merge_groups(self) -> MergeGroupWriter:
        """The user's groups of similar facts."""
        return merges.PostgresMergeGroupWriter(self._connection, self._owner)

    async def extracted(self, interaction_ids: Sequence[InteractionId]) -> Mapping[InteractionId, ExtractionResult]:
        """Results of those of the interactions that were extracted before."""
        rows = await self._connection.fetch(sql.EXTRACTED, *self._key, [uuid.UUID(i) for i in interaction_ids])
        results = (
            ExtractionResult(InteractionId(str(row["interaction_id"])), tuple(FactId(str(i)) for i in row["fact_ids"]))
            for row in rows
        )
        return {result.interaction_id: result for result in results}

    async def add_extracted(self, results: Sequence[ExtractionResult]) -> None:
        """Mark interactions as extracted."""
        await self._connection.executemany(
            sql.ADD_EXTRACTED,
            [(*self._key, uuid.UUID(r.interaction_id), [uuid.UUID(i) for i in r.fact_ids]) for r in results],
        )

    async def records(self, keys: Sequence[Keys]) -> list[FactRecord]:
        """Facts by their keys, those that share a topic with one found by its text alone, and those they contradict."""
        topics = {key.topic for key in keys if key.topic is not None}
        rows = await self._rows(
            [key.identity for key in keys], [key.text_identity for key in keys if key.is_by_text], topics
        )
        missing = {row["topic"] for row in rows if row["topic"] is not None} - topics
        if missing:
            rows = _with(rows, await self._rows([], [], missing))
        return await self._records(rows)

    async def similar(
        self, vector: Vector, scope: Scope, *, model: str, cosine_min: float, limit: int
    ) -> list[SimilarFact]:
        """Active facts near to a vector: all of the user's are compared."""
        near = (model, vector, scope.key, cosine_min, limit)
        rows = await self._sealing.opened(FACTS, await self._connection.fetch(supports.SIMILAR, *self._key, *near))
        return [
            SimilarFact(
                FactId(str(row["fact_id"])), row["text"], row["predicate"], row["valid_from_time"], row["similarity"]
            )
            for row in rows
        ]

    async def records_of(self, fact_ids: Sequence[FactId], *, are_reduced: bool = False) -> list[FactRecord]:
        """Facts by their ids, those of their topics, and those they contradict."""
        ids = _uuids(fact_ids)
        rows: list[Row] = list(await self._connection.fetch(sql.RECORDS_BY_ID, *self._key, ids))
        topics = {row["topic"] for row in rows if row["topic"] is not None}
        if topics:
            rows = _with(rows, await self._rows([], [], topics))
        return await self._records(rows, reduced=frozenset(ids) if are_reduced else frozenset())

    async def remove_evidence(self, interaction_ids: Sequence[InteractionId]) -> list[FactId]:
        """Remove interactions, and the statements that have none left."""
        ids = _uuids(interaction_ids)
        rows = await self._connection.fetch(sql.REMOVE_EVIDENCE, *self._key, ids)
        await self._connection.executemany(
            sql.REMOVE_STATEMENTS,
            [(*self._key, row["fact_id"], [row["statement_id"]]) for row in rows if not row["remaining"]],
        )
        supported = await self._connection.fetch(supports.REMOVE, *self._key, ids)
        if supported:
            named = list({row["fact_id"] for row in supported})
            rows += [*supported, *await self._connection.fetch(sql.WINNERS, *self._key, named)]
        await self._connection.execute(sql.MARK_REMOVED, *self._key, ids)
        return sorted({FactId(str(row["fact_id"])) for row in rows})

    async def remove_statements(self, fact_id: FactId, statement_ids: Sequence[StatementId]) -> None:
        """Remove statements of a fact."""
        await self.run(sql.REMOVE_STATEMENTS, uuid.UUID(fact_id), _uuids(statement_ids))

    async def merged_into(self, fact_ids: Sequence[FactId]) -> list[FactId]:
        """The facts that were merged into these."""
        rows = await self._connection.fetch(sql.MERGED_INTO, *self._key, _uuids(fact_ids))
        return [FactId(str(row["fact_id"])) for row in rows]

    async def unlink(self, fact_id: FactId) -> None:
        """Remove the links of a fact on both sides."""
        await self.run(sql.UNLINK, _uuids([fact_id]))

    async def remove(self, fact_ids: Sequence[FactId]) -> None:
        """Remove facts, their links and what names them."""
        ids = _uuids(fact_ids)
        for statement in (sql.UNLINK, sql.FORGET_RESULTS, *merges.REMOVE_FACTS, sql.REMOVE):
            await self.run(statement, ids)

    async def run(self, statement: str, *arguments: object) -> int:
        """Run a statement on the owner's rows; how many it changed."""
        tag = await self._connection.execute(statement, *self._key, *arguments)
        return int(tag.rsplit(" ", 1)[-1])

    async def put(self, changes: Sequence[FactChange]) -> None:
        """Store new states and new statements."""
        if not changes:
            return
        cipher = await self._sealing.cipher(is_new=True)
        for statement, is_new in ((sql.PUT_FACT, True), (sql.UPDATE_FACT, False)):
            values = [fact_values(self._owner, c, cipher) for c in changes if (c.record.fact is None) is is_new]
            if values:
                await self._connection.executemany(statement, values)
        await self._connection.executemany(
            sql.ADD_STATEMENT,
            [statement_values(self._owner, c.fact.fact_id, s, cipher) for c in changes for s in c.new_statements],
        )
        await supports.add_supports(self._connection, self._owner, changes)

    @property
    def _key(self) -> tuple[str, str]:
        return self._owner.tenant_id, self._owner.user_id

    async def _records(self, rows: list[Row], *, reduced: frozenset[uuid.UUID] = frozenset()) -> list[FactRecord]:
        """The facts of rows and those they contradict, with their newest statements; the reduced ones with all."""
        if not rows:
            return []
        context = {i for row in rows for i in row["contradictions"]} - {row["fact_id"] for row in rows}
        if context:
            rows = _with(rows, await self._connection.fetch(sql.RECORDS_BY_ID, *self._key, list(context)))
        ids = [row["fact_id"] for row in rows if row["fact_id"] not in reduced]
        statements = await self._connection.fetch(sql.STATEMENTS, *self._key, ids, self._evidence.statements_max)
        if reduced:
            statements += await self._connection.fetch(sql.STATEMENTS, *self._key, list(reduced), None)
        newest = self._evidence.supports_max
        supported = await supports.supports_of(self._connection, self._owner, ids, limit=newest)
        if reduced:
            supported |= await supports.supports_of(self._connection, self._owner, list(reduced), limit=None)
        records = records_from_rows(
            await self._sealing.opened(FACTS, rows),
            await self._sealing.opened(STATEMENTS, statements),
            supported,
            context=context,
            reduced=reduced,
        )
        return sorted(records, key=lambda record: record.fact_id)

    async def _rows(self, identities: Sequence[bytes], texts: Sequence[bytes], topics: set[bytes]) -> list[Row]:
        limit = self._evidence.topic_facts_max
        return list(await self._connection.fetch(sql.RECORDS, *self._key, identities, texts, list(topics), limit))


def _uuids(ids: Iterable[str]) -> list[uuid.UUID]:
    return [uuid.UUID(i) for i in ids]


def _with(rows: Sequence[Row], more: Iterable[Row]) -> list[Row]:
    """The rows, and those of others that are not among them."""
    known = {row["fact_id"] for row in rows}
    return [*rows, *(row for row in more if row["fact_id"] not in known)]
