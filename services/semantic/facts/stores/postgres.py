"""The fact store on PostgreSQL with pgvector."""

from __future__ import annotations

import math
import uuid
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, TypeVar

from services.common.cache import OwnerCache
from services.common.encryption.postgres import NO_DATA_KEYS, DataKeys
from services.common.encryption.rows import Row
from services.common.encryption.sealing import OwnerSealing, opened_of, reading_cipher
from services.common.errors import NotFound
from services.common.idempotency.model import IdempotencyRecords
from services.common.idempotency.postgres import PostgresIdempotencyRecords
from services.common.maintenance.fence import check_fence
from services.common.owners import InteractionId, Owner, TenantId, UserId
from services.common.postgres.cached_vectors import (
    Nearest,
    NearestQuery,
    StoreWithCachedVectors,
    VectorOwner,
    VectorSource,
)
from services.common.postgres.tenancy import fetch_as_tenant, tenant_transaction
from services.common.postgres.types import Connection, Pool, array_of_ids
from services.common.postgres.users import users_statement
from services.semantic.config import EvidenceSettings, SemanticSettings
from services.semantic.facts.identity import Keys
from services.semantic.facts.merge_groups import MergeGroup, MergeGroupWriter, MergePosition, MergeState
from services.semantic.facts.model import ExtractionResult, Fact, FactId, FactRecord, ScoredFact, StatementId
from services.semantic.facts.store import FactChange, FactFilter, FactPosition, FactSearch, FactWriter
from services.semantic.facts.stores import postgres_merges as merges
from services.semantic.facts.stores import postgres_sql as sql
from services.semantic.facts.stores.postgres_rows import (
    fact_from_row,
    fact_values,
    found_from_row,
    is_named,
    records_from_rows,
    scored_fact,
    statement_values,
)
from services.semantic.stores.postgres import LOCK_USER, SCHEMA
from services.semantic.stores.postgres_sealing import FACTS, STATEMENTS

_T = TypeVar("_T")

SUBJECT: Final = "facts"
"""Of the lock of a user's facts."""
_VECTORS: Final = VectorSource("facts", sql.NEW_VECTORS_AS_TENANT, sql.COUNT_VECTORS_AS_TENANT)

_USERS: Final = users_statement("semantic.facts")
_NAMED_AT_ONCE: Final = 500
"""Facts in a page that is decrypted to compare their subjects and predicates."""


class PostgresFactStore(StoreWithCachedVectors):
    """A `FactStore`. Searches are exact: they compare all facts of the user and of nobody else."""

    def __init__(
        self,
        pool: Pool,
        evidence: EvidenceSettings | None = None,
        *,
        cache: OwnerCache | None = None,
        cached_min: int | None = None,
        keys: DataKeys = NO_DATA_KEYS,
    ) -> None:
        """Use a pool of `create_pool`, of a role bound by row-level security; its owner closes it after `aclose`.

        Args:
            pool: Where the facts are.
            evidence: How facts follow from statements; defaults where None.
            cache: The process's; None: one of its own.
            cached_min: Facts of a user from which on vectors are cached; None: the default.
            keys: What texts of facts are encrypted with.
        """
        super().__init__(
            pool, _VECTORS, cache or OwnerCache(), vectors_min=cached_min or SemanticSettings().cached_facts_min
        )
        self._evidence = evidence or EvidenceSettings()
        self._keys = keys

    async def write(self, owner: Owner, work: Callable[[FactWriter], Awaitable[_T]]) -> _T:
        """A transaction under the user's advisory lock, which ends with it; work runs once."""
        return await self._write(owner, work)

    async def extracted(
        self, owner: Owner, interaction_ids: Sequence[InteractionId]
    ) -> Mapping[InteractionId, ExtractionResult]:
        """Results of those of the interactions that were extracted before."""
        async with tenant_transaction(self._pool, owner.tenant_id) as connection:
            return await self._writer(connection, owner).extracted(interaction_ids)

    async def get(self, owner: Owner, fact_id: FactId) -> Fact:
        """A fact with its versions."""
        async with tenant_transaction(self._pool, owner.tenant_id) as connection:
            rows = await connection.fetch(sql.GET_FACT, owner.tenant_id, owner.user_id, uuid.UUID(fact_id))
            opened = await opened_of(self._keys, connection, owner, FACTS, rows)
        if not opened:
            raise NotFound("fact", fact_id)
        return fact_from_row(opened[0])

    async def facts_of(self, owner: Owner, fact_ids: Sequence[FactId]) -> dict[FactId, Fact]:
        """Facts by their ids, without versions."""
        async with tenant_transaction(self._pool, owner.tenant_id) as connection:
            rows = await connection.fetch(sql.FACTS_OF, owner.tenant_id, owner.user_id, _uuids(fact_ids))
            opened = await opened_of(self._keys, connection, owner, FACTS, rows)
        return {fact.fact_id: fact for fact in map(fact_from_row, opened)}

    async def merge_groups(
        self, owner: Owner, *, state: MergeState | None, after: MergePosition | None, limit: int
    ) -> list[MergeGroup]:
        """One statement, by an index."""
        async with tenant_transaction(self._pool, owner.tenant_id) as connection:
            return await merges.list_merge_groups(connection, owner, state=state, after=after, limit=limit)

    async def list_facts(
        self, owner: Owner, *, which: FactFilter, after: FactPosition | None, limit: int
    ) -> list[Fact]:
        """A page of facts, last confirmed first, ties by id.

        The database cannot compare encrypted names: with encryption a list by subject or predicate decrypts all facts
        that the other filters choose.
        """
        if not (self._keys.is_on and (which.subject or which.predicate)):
            return await self._page(owner, which, after, limit)
        whole, size = replace(which, subject="", predicate=""), max(limit, _NAMED_AT_ONCE)
        found: list[Fact] = []
        while len(found) < limit:
            page = await self._page(owner, whole, after, size)
            found += [fact for fact in page if is_named(fact, which)]
            if len(page) < size:
                break
            after = FactPosition(page[-1].last_confirmed_time, page[-1].fact_id)
        return found[:limit]

    async def _page(self, owner: Owner, which: FactFilter, after: FactPosition | None, limit: int) -> list[Fact]:
        arguments: list[Any] = [
            owner.tenant_id,
            owner.user_id,
            limit,
            [int(status) for status in which.statuses],
            which.confidence_min,
            None if which.category is None else int(which.category),
            which.subject,
            which.predicate,
        ]
        statement = sql.LIST_FACTS
        if after is not None:
            statement = sql.LIST_FACTS_AFTER
            arguments += [after.last_confirmed_time, uuid.UUID(after.fact_id)]
        async with tenant_transaction(self._pool, owner.tenant_id) as connection:
            rows = await connection.fetch(statement, *arguments)
            opened = await opened_of(self._keys, connection, owner, FACTS, rows)
        return [fact_from_row(row) for row in opened]

    async def archive(self, owner: Owner, fact_ids: Sequence[FactId]) -> int:
        """Archive facts."""
        return await self._change(owner, sql.ARCHIVE, _uuids(fact_ids))

    async def restore(self, owner: Owner, fact_ids: Sequence[FactId]) -> int:
        """Restore archived facts."""
        return await self._change(owner, sql.RESTORE, _uuids(fact_ids))

    async def remove_owner(self, owner: Owner) -> int:
        """Remove all facts of a user."""

        async def work(writer: _PostgresFactWriter) -> int:
            await writer.idempotency.erase(owner.user_id)
            await writer.run(sql.FORGET_RESULTS_OF_OWNER)
            await writer.run(merges.REMOVE_OWNER)
            return await writer.run(sql.REMOVE_OWNER)

        return await self._write(owner, work)

    async def users(self, tenant_id: TenantId, *, after: UserId, limit: int) -> list[UserId]:
        """One statement, by the key of the table."""
        async with tenant_transaction(self._pool, tenant_id) as connection:
            return [UserId(row[0]) for row in await connection.fetch(_USERS, tenant_id, after, limit)]

    async def search(self, owner: Owner, search: FactSearch) -> list[ScoredFact]:
        """Filter and order in one statement; where the user's vectors are cached, in memory."""
        scope_keys = list(search.reader.visible_keys())
        least = search.confidence if search.includes_threshold else math.nextafter(search.confidence, math.inf)
        end_after = None if search.fading_after is None else search.fading_after.timestamp()

        async def read(near: Nearest) -> list[ScoredFact] | None:
            return await self._found(owner, near)

        found = await self._vectors.search(
            VectorOwner(owner.tenant_id, owner.user_id, search.model),
            NearestQuery(search.vector, scope_keys, search.limit, level_min=least, end_after=end_after),
            read,
        )
        return await self._compared_there(owner, search, scope_keys) if found is None else found

    async def _write(self, owner: Owner, work: Callable[[_PostgresFactWriter], Awaitable[_T]]) -> _T:
        async with tenant_transaction(self._pool, owner.tenant_id) as connection:
            await check_fence(connection)
            await connection.execute(LOCK_USER, owner.tenant_id, owner.user_id, SUBJECT)
            return await work(self._writer(connection, owner))

    def _writer(self, connection: Connection, owner: Owner) -> _PostgresFactWriter:
        return _PostgresFactWriter(connection, owner, self._evidence, self._keys)

    async def _change(self, owner: Owner, statement: str, *arguments: object) -> int:
        return await self._write(owner, lambda writer: writer.run(statement, *arguments))

    async def _found(self, owner: Owner, near: Nearest) -> list[ScoredFact] | None:
        ids = list(map(str, near.ids))
        rows = await fetch_as_tenant(
            self._pool,
            sql.FOUND_AS_TENANT,
            owner.tenant_id,
            owner.user_id,
            array_of_ids(ids),
            near.revision,
            near.epoch,
        )
        if len(rows) < len(ids) or rows[0]["is_stale"]:
            return None
        cipher = await reading_cipher(self._keys, self._pool, owner)
        by_id = {row["fact_id"]: FACTS.open(cipher, row) for row in rows}
        user_id = owner.user_id
        return [scored_fact(found_from_row(by_id[i], user_id), s) for i, s in zip(ids, near.scores, strict=True)]

    async def _compared_there(self, owner: Owner, search: FactSearch, scope_keys: Sequence[str]) -> list[ScoredFact]:
        rows = await fetch_as_tenant(
            self._pool,
            sql.SEARCH_AS_TENANT,
            owner.tenant_id,
            owner.user_id,
            search.model,
            search.vector,
            scope_keys,
            search.confidence,
            search.includes_threshold,
            search.limit,
            search.fading_after,
        )
        opened = await opened_of(self._keys, self._pool, owner, FACTS, rows)
        return [scored_fact(fact_from_row(row), row["similarity"]) for row in opened]


class _PostgresFactWriter:
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
        records = records_from_rows(
            await self._sealing.opened(FACTS, rows),
            await self._sealing.opened(STATEMENTS, statements),
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
