"""What maintenance reads and writes of facts in PostgreSQL."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final

from services.common.encryption.postgres import NO_DATA_KEYS, DataKeys
from services.common.encryption.rows import Row
from services.common.encryption.sealing import opened_of
from services.common.maintenance.fence import check_fence
from services.common.owners import Owner, TenantId, UserId
from services.common.postgres.pool import translate_errors
from services.common.postgres.tenancy import tenant_transaction
from services.common.postgres.types import Pool, Record
from services.semantic.facts.model import FactId, FactStatus
from services.semantic.facts.stores.postgres import SUBJECT
from services.semantic.facts.stores.postgres_sql import ACTIVE_TIME, HAS_VECTOR, VECTOR
from services.semantic.facts.upkeep_store import MergeableFact, OwnerFacts, RetainedFact
from services.semantic.stores.postgres import LOCK_USER
from services.semantic.stores.postgres_sealing import FACTS

_COUNTS: Final = """
SELECT tenant_id, user_id, count(*) AS count FROM semantic.facts
WHERE status IN (1, 2) AND (tenant_id, user_id) > ($1, $2)
GROUP BY tenant_id, user_id
ORDER BY tenant_id, user_id
LIMIT $3
"""
_COUNT: Final = """
SELECT count(*) AS count FROM semantic.facts WHERE tenant_id = $1 AND user_id = $2 AND status IN (1, 2)
"""
_RETAINED: Final = "fact_id, revision, importance, last_confirmed_time, fade_time"
_FADED: Final = f"""
SELECT {_RETAINED} FROM semantic.facts
WHERE tenant_id = $1 AND user_id = $2 AND status IN (1, 2) AND fade_time <= $3
ORDER BY fade_time, fact_id LIMIT $4
"""  # noqa: S608 - no input in it
_LEAST: Final = f"""
SELECT {_RETAINED} FROM semantic.facts WHERE tenant_id = $1 AND user_id = $2 AND status IN (1, 2)
ORDER BY importance, last_confirmed_time, fact_id LIMIT $3
"""  # noqa: S608 - no input in it
_MERGEABLE: Final = f"""
SELECT fact_id, revision, text, confidence, importance, first_observed_time, last_confirmed_time, valid_from_time,
    contradictions, scope_key, {VECTOR} AS embedding
FROM semantic.facts
WHERE tenant_id = $1 AND user_id = $2 AND status IN (1, 2) AND valid_to_time IS NULL AND {HAS_VECTOR}
ORDER BY last_confirmed_time DESC, fact_id LIMIT $4
"""  # noqa: S608 - no input in it
_RETIRE: Final = """
UPDATE semantic.facts AS f SET previous_status = f.status, status = $5, revision = f.revision + 1, number = DEFAULT
FROM unnest($3::uuid[], $4::bigint[]) AS given (fact_id, revision)
WHERE f.tenant_id = $1 AND f.user_id = $2 AND f.fact_id = given.fact_id AND f.revision = given.revision
    AND f.status IN (1, 2)
RETURNING f.fact_id
"""
_REINSTATE: Final = """
UPDATE semantic.facts SET status = coalesce(previous_status, 1), previous_status = NULL, fade_time = NULL,
    revision = revision + 1, number = DEFAULT
WHERE tenant_id = $1 AND user_id = $2 AND fact_id = ANY ($3::uuid[]) AND status = $4
RETURNING fact_id
"""


class PostgresFactUpkeep:
    """Implements `FactUpkeepStore`; see there for what each method guarantees."""

    def __init__(self, pool: Pool, *, keys: DataKeys = NO_DATA_KEYS) -> None:
        """Uses a pool whose role is bound by row-level security and whose connections know vectors."""
        self._pool = pool
        self._keys = keys

    async def active_counts(
        self, *, after: Owner | None, limit: int, only: Owner | None = None
    ) -> Sequence[OwnerFacts]:
        """See `FactUpkeepStore.active_counts`."""
        if only is not None:
            count = 0 if only == after else (await self._read(_COUNT, only))[0]["count"]
            return [OwnerFacts(only, count)] if count else []
        last = ("", "") if after is None else (after.tenant_id, after.user_id)
        with translate_errors():
            async with self._pool.acquire() as connection, connection.transaction(readonly=True):
                await connection.execute("SELECT set_config('mneme.worker', 'on', true)")
                rows = await connection.fetch(_COUNTS, *last, limit)
        return [OwnerFacts(Owner(TenantId(row["tenant_id"]), UserId(row["user_id"])), row["count"]) for row in rows]

    async def active_time(self, owner: Owner) -> datetime | None:
        """See `FactUpkeepStore.active_time`."""
        async with tenant_transaction(self._pool, owner.tenant_id) as connection:
            time: datetime | None = await connection.fetchval(ACTIVE_TIME, owner.tenant_id, owner.user_id)
        return time

    async def faded(self, owner: Owner, *, now: datetime, limit: int) -> Sequence[RetainedFact]:
        """See `FactUpkeepStore.faded`."""
        return [_retained(row) for row in await self._read(_FADED, owner, now, limit)]

    async def least_important(self, owner: Owner, *, limit: int) -> Sequence[RetainedFact]:
        """See `FactUpkeepStore.least_important`."""
        return [_retained(row) for row in await self._read(_LEAST, owner, limit)]

    async def mergeable(self, owner: Owner, *, model: str, limit: int) -> Sequence[MergeableFact]:
        """See `FactUpkeepStore.mergeable`."""
        found = await self._read(_MERGEABLE, owner, model, limit)
        rows = await opened_of(self._keys, self._pool, owner, FACTS, found)
        # Of thousands of facts it takes as long as other calls should not wait.
        return await asyncio.to_thread(lambda: [_mergeable(row) for row in rows])

    async def retire(self, owner: Owner, revisions: Mapping[FactId, int], status: FactStatus) -> Sequence[FactId]:
        """See `FactUpkeepStore.retire`."""
        ids = [uuid.UUID(fact_id) for fact_id in revisions]
        rows = await self._written(_RETIRE, owner, ids, list(revisions.values()), int(status))
        return sorted(FactId(str(row["fact_id"])) for row in rows)

    async def reinstate(self, owner: Owner, fact_ids: Sequence[FactId], status: FactStatus) -> int:
        """See `FactUpkeepStore.reinstate`."""
        ids = [uuid.UUID(fact_id) for fact_id in fact_ids]
        return len(await self._written(_REINSTATE, owner, ids, int(status)))

    async def _read(self, statement: str, owner: Owner, *arguments: object) -> Sequence[Record]:
        async with tenant_transaction(self._pool, owner.tenant_id) as connection:
            return await connection.fetch(statement, owner.tenant_id, owner.user_id, *arguments)

    async def _written(self, statement: str, owner: Owner, *arguments: object) -> Sequence[Record]:
        async with tenant_transaction(self._pool, owner.tenant_id) as connection:
            await check_fence(connection)
            await connection.execute(LOCK_USER, owner.tenant_id, owner.user_id, SUBJECT)
            return await connection.fetch(statement, owner.tenant_id, owner.user_id, *arguments)


def _mergeable(row: Row) -> MergeableFact:
    return MergeableFact(
        fact_id=FactId(str(row["fact_id"])),
        revision=row["revision"],
        text=row["text"],
        confidence=row["confidence"],
        importance=row["importance"],
        first_observed_time=row["first_observed_time"],
        last_confirmed_time=row["last_confirmed_time"],
        valid_from_time=row["valid_from_time"],
        contradictions=tuple(FactId(str(i)) for i in row["contradictions"]),
        scope_key=row["scope_key"],
        vector=row["embedding"],
    )


def _retained(row: Record) -> RetainedFact:
    return RetainedFact(
        fact_id=FactId(str(row["fact_id"])),
        revision=row["revision"],
        importance=row["importance"],
        last_confirmed_time=row["last_confirmed_time"],
        fade_time=row["fade_time"],
    )
