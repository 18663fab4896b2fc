"""The store of procedures on PostgreSQL."""

from __future__ import annotations

import uuid
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime
from typing import Final, TypeVar

from services.common.encryption.postgres import NO_DATA_KEYS, DataKeys
from services.common.encryption.sealing import OwnerSealing, opened_of
from services.common.idempotency.model import IdempotencyRecords
from services.common.idempotency.postgres import PostgresIdempotencyRecords
from services.common.owners import Owner, TenantId, UserId
from services.common.postgres.tenancy import as_tenant, fetch_as_tenant, tenant_transaction
from services.common.postgres.types import Connection, Pool
from services.common.postgres.users import users_statement
from services.semantic.procedures.model import JudgedRecall, Procedure, ProcedureKind, ProcedurePosition
from services.semantic.procedures.store import ProcedureWriter
from services.semantic.procedures.stores.records import judged_of, judged_state, procedure_of, procedure_state
from services.semantic.stores.postgres import LOCK_USER, SCHEMA
from services.semantic.stores.postgres_sealing import JUDGED_RECALLS, PROCEDURES

_T = TypeVar("_T")

_SUBJECT: Final = "procedures"
_USERS: Final = users_statement("semantic.procedures")

_OF_OWNER: Final = "FROM semantic.procedures WHERE tenant_id = $1 AND user_id = $2"
_GET: Final = f"SELECT procedure_id, state {_OF_OWNER} AND procedure_id = ANY($3) ORDER BY procedure_id"
_BY_IDENTITY: Final = f"SELECT procedure_id, state {_OF_OWNER} AND identity = $3"
_BY_SOURCE: Final = f"SELECT procedure_id, state {_OF_OWNER} AND derived_from && $3 ORDER BY procedure_id"
_BEYOND: Final = f"""
SELECT procedure_id {_OF_OWNER} AND kind = $3 ORDER BY confidence DESC, create_time DESC, procedure_id DESC OFFSET $4
"""
_LIST: Final = f"""
SELECT procedure_id, state {_OF_OWNER} AND ($3::smallint IS NULL OR kind = $3)
    AND ($4::timestamptz IS NULL OR create_time < $4 OR (create_time = $4 AND procedure_id > $5))
ORDER BY create_time DESC, procedure_id LIMIT $6
"""
_TRUSTED: Final = as_tenant("""
SELECT r.procedures AS revision, p.procedure_id, p.state
FROM (
    SELECT coalesce(max(o.procedures), 0) AS procedures FROM semantic.owner_revisions AS o
    WHERE o.tenant_id = $1 AND o.user_id = $2
) AS r
LEFT JOIN LATERAL (
    SELECT one.procedure_id, one.state FROM semantic.procedures AS one
    WHERE one.tenant_id = $1 AND one.user_id = $2 AND one.confidence > $4 AND r.procedures IS DISTINCT FROM $3::bigint
    ORDER BY one.confidence DESC, one.create_time DESC, one.procedure_id LIMIT $5
) AS p ON true
""")
_RAISE: Final = """
INSERT INTO semantic.owner_revisions AS o (tenant_id, user_id, epoch, procedures) VALUES ($1, $2, 0, 1)
ON CONFLICT (tenant_id, user_id) DO UPDATE SET procedures = o.procedures + 1
"""
_PUT: Final = """
INSERT INTO semantic.procedures
    (tenant_id, user_id, procedure_id, kind, identity, confidence, derived_from, create_time, state)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
ON CONFLICT (tenant_id, user_id, procedure_id) DO UPDATE
SET kind = $4, identity = $5, confidence = $6, derived_from = $7, create_time = $8, state = $9
"""
_DELETE: Final = f"DELETE {_OF_OWNER} AND ($3::uuid[] IS NULL OR procedure_id = ANY($3)) RETURNING procedure_id"
_JUDGED: Final = """
SELECT recall_id, state FROM semantic.judged_recalls WHERE tenant_id = $1 AND user_id = $2 AND recall_id = $3
"""
_JUDGED_BETWEEN: Final = """
SELECT recall_id, state FROM semantic.judged_recalls
WHERE tenant_id = $1 AND user_id = $2 AND time BETWEEN $3 AND $4
ORDER BY time DESC, recall_id LIMIT $5
"""
_PUT_JUDGED: Final = """
INSERT INTO semantic.judged_recalls (tenant_id, user_id, recall_id, time, state) VALUES ($1, $2, $3, $4, $5)
ON CONFLICT (tenant_id, user_id, recall_id) DO UPDATE SET time = $4, state = $5
"""
_TRIM_JUDGED: Final = """
DELETE FROM semantic.judged_recalls WHERE tenant_id = $1 AND user_id = $2 AND recall_id IN (
    SELECT recall_id FROM semantic.judged_recalls WHERE tenant_id = $1 AND user_id = $2
    ORDER BY time DESC, recall_id OFFSET $3
)
"""
_DELETE_JUDGED: Final = "DELETE FROM semantic.judged_recalls WHERE tenant_id = $1 AND user_id = $2"


class PostgresProcedureStore:
    """A `ProcedureStore`."""

    def __init__(self, pool: Pool, *, keys: DataKeys = NO_DATA_KEYS) -> None:
        """Uses a pool of `create_pool`, of a role bound by row-level security; its owner closes it."""
        self._pool = pool
        self._keys = keys

    async def write(self, owner: Owner, work: Callable[[ProcedureWriter], Awaitable[_T]]) -> _T:
        """A transaction under the user's advisory lock, which ends with it; work runs once."""
        return await self._write(owner, work)

    async def remove_owner(self, owner: Owner) -> int:
        """See `ProcedureStore.remove_owner`. In one transaction."""
        return await self._write(owner, lambda writer: writer.delete_all())

    async def get(self, owner: Owner, procedure_id: str) -> Procedure | None:
        """See `ProcedureStore.get`."""
        async with tenant_transaction(self._pool, owner.tenant_id) as connection:
            found = await _PostgresProcedureWriter(connection, owner, self._keys).get([procedure_id])
        return found[0] if found else None

    async def users(self, tenant_id: TenantId, *, after: UserId, limit: int) -> list[UserId]:
        """One statement, by the key of the table."""
        async with tenant_transaction(self._pool, tenant_id) as connection:
            return [UserId(row[0]) for row in await connection.fetch(_USERS, tenant_id, after, limit)]

    async def list_page(
        self, owner: Owner, *, kind: ProcedureKind | None, after: ProcedurePosition | None, limit: int
    ) -> Sequence[Procedure]:
        """See `ProcedureStore.list_page`."""
        position = (None, None) if after is None else (after.create_time, uuid.UUID(after.procedure_id))
        wanted = None if kind is None else int(kind)
        async with tenant_transaction(self._pool, owner.tenant_id) as connection:
            rows = await connection.fetch(_LIST, owner.tenant_id, owner.user_id, wanted, *position, limit)
            opened = await opened_of(self._keys, connection, owner, PROCEDURES, rows)
        return [procedure_of(row["state"]) for row in opened]

    async def trusted(
        self, owner: Owner, *, cached_revision: int | None, confidence_above: float, limit: int
    ) -> tuple[int, Sequence[Procedure] | None]:
        """One round trip."""
        rows = await fetch_as_tenant(
            self._pool, _TRUSTED, owner.tenant_id, owner.user_id, cached_revision, confidence_above, limit
        )
        revision = int(rows[0]["revision"])
        if revision == cached_revision:
            return revision, None
        found = [row for row in rows if row["state"] is not None]
        opened = await opened_of(self._keys, self._pool, owner, PROCEDURES, found)
        return revision, [procedure_of(row["state"]) for row in opened]

    async def _write(self, owner: Owner, work: Callable[[_PostgresProcedureWriter], Awaitable[_T]]) -> _T:
        async with tenant_transaction(self._pool, owner.tenant_id) as connection:
            await connection.execute(LOCK_USER, owner.tenant_id, owner.user_id, _SUBJECT)
            return await work(_PostgresProcedureWriter(connection, owner, self._keys))


class _PostgresProcedureWriter:
    """A `ProcedureWriter` in an open transaction."""

    def __init__(self, connection: Connection, owner: Owner, keys: DataKeys) -> None:
        """Write for `owner` through a connection bound to its tenant."""
        self._sealing = OwnerSealing(keys, connection, owner)
        self._connection = connection
        self._owner = owner
        self._key = (owner.tenant_id, owner.user_id)

    @property
    def idempotency(self) -> IdempotencyRecords:
        """The tenant's idempotency records."""
        return PostgresIdempotencyRecords(
            self._connection, self._owner.tenant_id, schema=SCHEMA, sealing=self._sealing.cipher
        )

    async def get(self, procedure_ids: Sequence[str]) -> Sequence[Procedure]:
        """See `ProcedureWriter.get`."""
        return await self._fetch(_GET, _uuids(procedure_ids)) if procedure_ids else []

    async def by_identity(self, identity: str) -> Procedure | None:
        """See `ProcedureWriter.by_identity`."""
        found = await self._fetch(_BY_IDENTITY, identity)
        return found[0] if found else None

    async def by_source(self, source_ids: Sequence[str]) -> Sequence[Procedure]:
        """See `ProcedureWriter.by_source`."""
        return await self._fetch(_BY_SOURCE, _uuids(source_ids))

    async def beyond(self, kind: ProcedureKind, count_max: int) -> Sequence[str]:
        """See `ProcedureWriter.beyond`."""
        rows = await self._connection.fetch(_BEYOND, *self._key, int(kind), count_max)
        return [str(row["procedure_id"]) for row in rows]

    async def put(self, procedure: Procedure) -> None:
        """See `ProcedureWriter.put`."""
        procedure_id = uuid.UUID(procedure.procedure_id)
        values = {"procedure_id": procedure_id, "state": procedure_state(procedure)}
        sealed = PROCEDURES.seal(await self._sealing.cipher(is_new=True), values)
        await self._connection.execute(
            _PUT,
            *self._key,
            procedure_id,
            int(procedure.draft.kind),
            procedure.draft.identity,
            procedure.confidence,
            _uuids(procedure.source_ids),
            procedure.create_time,
            sealed["state"],
        )
        await self._connection.execute(_RAISE, *self._key)

    async def delete(self, procedure_ids: Sequence[str]) -> int:
        """See `ProcedureWriter.delete`."""
        return await self._delete(_uuids(procedure_ids)) if procedure_ids else 0

    async def delete_all(self) -> int:
        """All procedures and judgements of the user; how many procedures."""
        await self._connection.execute(_DELETE_JUDGED, *self._key)
        return await self._delete(None)

    async def judged(self, recall_id: str) -> JudgedRecall | None:
        """See `ProcedureWriter.judged`."""
        found = await self._judged(_JUDGED, uuid.UUID(recall_id))
        return found[0] if found else None

    async def judged_between(self, start: datetime, end: datetime, *, limit: int) -> Sequence[JudgedRecall]:
        """See `ProcedureWriter.judged_between`."""
        return await self._judged(_JUDGED_BETWEEN, start, end, limit)

    async def put_judged(self, judged: JudgedRecall, *, count_max: int) -> None:
        """See `ProcedureWriter.put_judged`."""
        recall_id = uuid.UUID(judged.recall_id)
        values = {"recall_id": recall_id, "state": judged_state(judged)}
        sealed = JUDGED_RECALLS.seal(await self._sealing.cipher(is_new=True), values)
        await self._connection.execute(_PUT_JUDGED, *self._key, recall_id, judged.time, sealed["state"])
        await self._connection.execute(_TRIM_JUDGED, *self._key, count_max)

    async def _fetch(self, statement: str, argument: object) -> list[Procedure]:
        rows = await self._connection.fetch(statement, *self._key, argument)
        return [procedure_of(row["state"]) for row in await self._sealing.opened(PROCEDURES, rows)]

    async def _judged(self, statement: str, *arguments: object) -> list[JudgedRecall]:
        rows = await self._connection.fetch(statement, *self._key, *arguments)
        return [judged_of(row["state"]) for row in await self._sealing.opened(JUDGED_RECALLS, rows)]

    async def _delete(self, procedure_ids: Sequence[uuid.UUID] | None) -> int:
        rows = await self._connection.fetch(_DELETE, *self._key, procedure_ids)
        if rows:
            gone = [str(row["procedure_id"]) for row in rows]
            await self.idempotency.erase(self._owner.user_id, gone)
            await self._connection.execute(_RAISE, *self._key)
        return len(rows)


def _uuids(ids: Sequence[str]) -> list[uuid.UUID]:
    return [uuid.UUID(identifier) for identifier in ids]
