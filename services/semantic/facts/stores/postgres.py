"""The fact store on PostgreSQL with pgvector."""

from __future__ import annotations

import math
import uuid
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import Any, Final, TypeVar

from services.common.cache import OwnerCache
from services.common.encryption.postgres import NO_DATA_KEYS, DataKeys
from services.common.encryption.sealing import opened_of, reading_cipher
from services.common.errors import NotFound
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
from services.common.scope import Reader, keys_seen
from services.semantic.config import EvidenceSettings, SemanticSettings
from services.semantic.facts.merge_groups import MergeGroup, MergePosition, MergeState
from services.semantic.facts.model import ACTIVE, RETIRED, ExtractionResult, Fact, FactId, ScoredFact
from services.semantic.facts.store import FactFilter, FactPosition, FactSearch, FactWriter
from services.semantic.facts.stores import postgres_merges as merges
from services.semantic.facts.stores import postgres_sql as sql
from services.semantic.facts.stores.named import named_facts
from services.semantic.facts.stores.postgres_rows import (
    fact_from_row,
    found_from_row,
    scored_fact,
)
from services.semantic.facts.stores.postgres_writer import PostgresFactWriter
from services.semantic.stores.postgres import LOCK_USER
from services.semantic.stores.postgres_sealing import FACTS

_T = TypeVar("_T")

SUBJECT: Final = "facts"
"""Of the lock of a user's facts."""
_VECTORS: Final = VectorSource("facts", sql.NEW_VECTORS_AS_TENANT, sql.COUNT_VECTORS_AS_TENANT)

_USERS: Final = users_statement("semantic.facts")


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
        self,
        owner: Owner,
        *,
        state: MergeState | None,
        after: MergePosition | None,
        limit: int,
        reader: Reader | None = None,
    ) -> list[MergeGroup]:
        """One statement, by an index."""
        async with tenant_transaction(self._pool, owner.tenant_id) as connection:
            return await merges.list_merge_groups(
                connection, owner, state=state, after=after, limit=limit, reader=reader
            )

    async def list_facts(
        self, owner: Owner, *, which: FactFilter, after: FactPosition | None, limit: int
    ) -> list[Fact]:
        """A page of facts, last confirmed first, ties by id.

        The database cannot compare encrypted names: with encryption a list by subject or predicate decrypts all facts
        that the other filters choose.
        """
        if not (self._keys.is_on and (which.subject or which.predicate)):
            return await self._page(owner, which, after, limit)
        return await named_facts(partial(self._page, owner), which, after, limit)

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
            keys_seen(which.reader),
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

        async def work(writer: PostgresFactWriter) -> int:
            await writer.idempotency.erase(owner.user_id)
            await writer.run(sql.FORGET_RESULTS_OF_OWNER)
            await writer.run(merges.REMOVE_OWNER)
            return await writer.run(sql.REMOVE_OWNER)

        return await self._write(owner, work)

    async def users(self, tenant_id: TenantId, *, after: UserId, limit: int) -> list[UserId]:
        """One statement, by the key of the table."""
        async with tenant_transaction(self._pool, tenant_id) as connection:
            return [UserId(row[0]) for row in await connection.fetch(_USERS, tenant_id, after, limit)]

    async def active_time(self, owner: Owner) -> datetime | None:
        """One statement, by an index."""
        [row] = await fetch_as_tenant(self._pool, sql.ACTIVE_TIME_AS_TENANT, owner.tenant_id, owner.user_id)
        time: datetime | None = row["active_time"]
        return time

    async def search(self, owner: Owner, search: FactSearch) -> list[ScoredFact]:
        """Filter and order in one statement; where the user's vectors are cached, in memory: of active facts alone."""
        scope_keys = list(search.reader.visible_keys())
        if search.includes_retired:
            return await self._compared_there(owner, search, scope_keys)
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

    async def _write(self, owner: Owner, work: Callable[[PostgresFactWriter], Awaitable[_T]]) -> _T:
        async with tenant_transaction(self._pool, owner.tenant_id) as connection:
            await check_fence(connection)
            await connection.execute(LOCK_USER, owner.tenant_id, owner.user_id, SUBJECT)
            return await work(self._writer(connection, owner))

    def _writer(self, connection: Connection, owner: Owner) -> PostgresFactWriter:
        return PostgresFactWriter(connection, owner, self._evidence, self._keys)

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
            sorted(map(int, RETIRED | ACTIVE if search.includes_retired else ACTIVE)),
        )
        opened = await opened_of(self._keys, self._pool, owner, FACTS, rows)
        return [scored_fact(fact_from_row(row), row["similarity"]) for row in opened]


def _uuids(ids: Iterable[str]) -> list[uuid.UUID]:
    return [uuid.UUID(i) for i in ids]
