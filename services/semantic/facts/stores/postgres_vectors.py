"""Vectors of facts in PostgreSQL by their embedding models: a fact has one, and a second one beside it for a while."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from typing import Final

from services.common.embedding.vectors import Matrix
from services.common.encryption.postgres import NO_DATA_KEYS, DataKeys
from services.common.encryption.sealing import opened_of
from services.common.maintenance.fence import check_fence
from services.common.model_change import EmbeddedText
from services.common.owners import Owner, TenantId, UserId
from services.common.postgres.pool import translate_errors
from services.common.postgres.tenancy import tenant_transaction
from services.common.postgres.types import Pool, Record
from services.semantic.facts.stores.postgres import SUBJECT
from services.semantic.stores.postgres import LOCK_USER
from services.semantic.stores.postgres_sealing import FACTS

_OWNERS: Final = """
SELECT DISTINCT tenant_id, user_id FROM semantic.facts
WHERE (tenant_id, user_id) > ($1, $2) AND embedding_model <> $3 AND second_model <> $3
ORDER BY tenant_id, user_id LIMIT $4
"""
_COUNT: Final = """
SELECT count(*) FROM (
    SELECT FROM semantic.facts WHERE embedding_model <> $1 AND second_model <> $1 LIMIT $2
) AS lacking
"""
_LACKS: Final = """
SELECT EXISTS (
    SELECT FROM semantic.facts
    WHERE tenant_id = $1 AND user_id = $2 AND (embedding_model < $3 OR embedding_model > $3) AND second_model <> $3
        AND status IN (1, 2)
)
"""
_FORMER: Final = """
SELECT fact_id FROM semantic.facts
WHERE tenant_id = $1 AND user_id = $2 AND embedding_model <> $3 AND second_model <> $3
    AND ($4::uuid IS NULL OR fact_id < $4)
ORDER BY fact_id DESC LIMIT $5
"""
_TEXTS: Final = """
SELECT fact_id, revision, text FROM semantic.facts WHERE tenant_id = $1 AND user_id = $2 AND fact_id = ANY ($3::uuid[])
"""
#: Those of the facts that are as they were read.
_UNCHANGED: Final = """
SELECT f.fact_id FROM semantic.facts AS f JOIN unnest($3::uuid[], $4::bigint[]) AS given (fact_id, revision)
    ON f.fact_id = given.fact_id AND f.revision = given.revision
WHERE f.tenant_id = $1 AND f.user_id = $2
"""
#: Of the model $4, beside the vector of the model $6 where the fact has that, else instead of its vectors. With a new
#: number, so that caches read it.
_REPLACE: Final = """
UPDATE semantic.facts SET
    embedding_model = CASE WHEN embedding_model = $6 THEN embedding_model ELSE $4 END,
    embedding = CASE WHEN embedding_model = $6 THEN embedding ELSE $5 END,
    second_model = CASE WHEN embedding_model = $6 THEN $4 WHEN second_model = $6 THEN second_model ELSE '' END,
    second_embedding = CASE WHEN embedding_model = $6 THEN $5 WHEN second_model = $6 THEN second_embedding END,
    number = DEFAULT
WHERE tenant_id = $1 AND user_id = $2 AND fact_id = $3
"""
_OWNERS_WITH_OTHERS: Final = """
SELECT DISTINCT tenant_id, user_id FROM semantic.facts
WHERE (tenant_id, user_id) > ($1, $2) AND second_model <> '' AND (embedding_model = $3 OR second_model = $3)
ORDER BY tenant_id, user_id LIMIT $4
"""
_DROP_OTHERS: Final = """
UPDATE semantic.facts SET
    embedding_model = $3,
    embedding = CASE WHEN embedding_model = $3 THEN embedding ELSE second_embedding END,
    second_model = '', second_embedding = NULL, number = DEFAULT
WHERE tenant_id = $1 AND user_id = $2 AND second_model <> '' AND (embedding_model = $3 OR second_model = $3)
"""


class PostgresFactVectors:
    """Implements `FormerVectorStore`; see there for what each method guarantees."""

    keeps_two = True

    def __init__(self, pool: Pool, *, keys: DataKeys = NO_DATA_KEYS) -> None:
        """Uses a pool whose role is bound by row-level security and whose connections know vectors."""
        self._pool = pool
        self._keys = keys

    async def owners(self, *, model: str, after: Owner | None, limit: int) -> Sequence[Owner]:
        """See `FormerVectorStore.owners`: by an index, without reading facts."""
        return await self._owners(_OWNERS, after, model, limit)

    async def count(self, *, model: str, limit: int) -> int:
        """See `FormerVectorStore.count`: by the same index."""
        [row] = await self._of_all(_COUNT, model, limit)
        return int(row["count"])

    async def lacks(self, owner: Owner, *, model: str) -> bool:
        """See `FormerVectorStore.lacks`."""
        async with tenant_transaction(self._pool, owner.tenant_id) as connection:
            return bool(await connection.fetchval(_LACKS, owner.tenant_id, owner.user_id, model))

    async def former(self, owner: Owner, *, model: str, before: str, limit: int) -> Sequence[str]:
        """See `FormerVectorStore.former`."""
        end = uuid.UUID(before) if before else None
        async with tenant_transaction(self._pool, owner.tenant_id) as connection:
            rows = await connection.fetch(_FORMER, owner.tenant_id, owner.user_id, model, end, limit)
        return [str(row["fact_id"]) for row in rows]

    async def texts(self, owner: Owner, row_ids: Sequence[str]) -> Sequence[EmbeddedText]:
        """See `FormerVectorStore.texts`."""
        ids = [uuid.UUID(row_id) for row_id in row_ids]
        async with tenant_transaction(self._pool, owner.tenant_id) as connection:
            found = await connection.fetch(_TEXTS, owner.tenant_id, owner.user_id, ids)
        rows = await opened_of(self._keys, self._pool, owner, FACTS, found)
        return [EmbeddedText(str(row["fact_id"]), str(row["revision"]), row["text"]) for row in rows]

    async def replace(
        self, owner: Owner, texts: Sequence[EmbeddedText], vectors: Matrix, *, model: str, beside: str = ""
    ) -> set[str]:
        """See `FormerVectorStore.replace`."""
        new = {uuid.UUID(each.row_id): vector for each, vector in zip(texts, vectors, strict=True)}
        key = (owner.tenant_id, owner.user_id)
        async with tenant_transaction(self._pool, owner.tenant_id) as connection:
            await check_fence(connection)
            await connection.execute(LOCK_USER, *key, SUBJECT)
            rows = await connection.fetch(_UNCHANGED, *key, list(new), [int(each.version) for each in texts])
            kept = [row["fact_id"] for row in rows]
            await connection.executemany(_REPLACE, [(*key, fact_id, model, new[fact_id], beside) for fact_id in kept])
        return {str(fact_id) for fact_id in kept}

    async def owners_with_others(self, *, model: str, after: Owner | None, limit: int) -> Sequence[Owner]:
        """See `FormerVectorStore.owners_with_others`."""
        return await self._owners(_OWNERS_WITH_OTHERS, after, model, limit)

    async def drop_others(self, owner: Owner, *, model: str) -> int:
        """See `FormerVectorStore.drop_others`."""
        key = (owner.tenant_id, owner.user_id)
        async with tenant_transaction(self._pool, owner.tenant_id) as connection:
            await check_fence(connection)
            await connection.execute(LOCK_USER, *key, SUBJECT)
            tag = await connection.execute(_DROP_OTHERS, *key, model)
        return int(tag.rsplit(" ", 1)[-1])

    async def _owners(self, statement: str, after: Owner | None, model: str, limit: int) -> Sequence[Owner]:
        last = ("", "") if after is None else (after.tenant_id, after.user_id)
        rows = await self._of_all(statement, *last, model, limit)
        return [Owner(TenantId(row["tenant_id"]), UserId(row["user_id"])) for row in rows]

    async def _of_all(self, statement: str, *arguments: object) -> list[Record]:
        """Reads the facts of all tenants."""
        with translate_errors():
            async with self._pool.acquire() as connection, connection.transaction(readonly=True):
                await connection.execute("SELECT set_config('mneme.worker', 'on', true)")
                return list(await connection.fetch(statement, *arguments))
