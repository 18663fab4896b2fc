"""What recalls returned, in PostgreSQL."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final
from uuid import UUID

from services.common.encryption.cipher import Cipher
from services.common.encryption.postgres import DataKeys
from services.common.encryption.rows import opened_rows
from services.common.paging import Cursor
from services.common.postgres.pool import translate_errors
from services.common.postgres.tenancy import tenant_transaction
from services.common.postgres.types import Connection, Pool
from services.gateway.grants.model import MemoryKind
from services.gateway.journal.judged import JudgedRecall, Judgement, judged
from services.gateway.journal.model import Page, RecallRecord
from services.gateway.journal.stores import rows

# The entry of the audit log comes with the record: a batch that is written again adds none.
_ADD: Final = """
    WITH added AS (
        INSERT INTO gateway.recalls (tenant_id, recall_id, user_id, kinds, memory_ids, create_time, query, scope_key,
            procedure_ids, uses_due)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) ON CONFLICT DO NOTHING
        RETURNING tenant_id, recall_id, user_id, create_time
    )
    SELECT gateway.audit(tenant_id, $11, $13, recall_id::text, user_id, $12::uuid[], create_time) FROM added
"""
_CLAIM_USES: Final = """
    UPDATE gateway.recalls AS r SET uses_due = $2 FROM (
        SELECT tenant_id, recall_id FROM gateway.recalls WHERE uses_due <= $1
        ORDER BY uses_due LIMIT $3 FOR UPDATE SKIP LOCKED
    ) AS due WHERE r.tenant_id = due.tenant_id AND r.recall_id = due.recall_id
    RETURNING r.*
"""
_SETTLE_USES: Final = """
    UPDATE gateway.recalls AS r SET uses_due = NULL FROM unnest($1::text[], $2::uuid[]) AS done (tenant_id, recall_id)
    WHERE r.tenant_id = done.tenant_id AND r.recall_id = done.recall_id
"""
_PURGE: Final = """
    DELETE FROM gateway.recalls AS r USING (
        SELECT tenant_id, recall_id FROM gateway.recalls WHERE create_time < $1
        ORDER BY create_time LIMIT $2 FOR UPDATE SKIP LOCKED
    ) AS old WHERE r.tenant_id = old.tenant_id AND r.recall_id = old.recall_id
"""
_NEWEST: Final = """
    SELECT * FROM gateway.recalls
    WHERE tenant_id = $1 AND user_id = $2
        AND ($3::timestamptz IS NULL OR (create_time, recall_id) < ($3::timestamptz, $4::uuid))
    ORDER BY create_time DESC, recall_id DESC LIMIT $5
"""
# Feedback on single memories does not name a recall: what came since the oldest of the recalls may be on theirs.
_JUDGEMENTS: Final = """
    SELECT recall_id, memory_ids, value, create_time FROM gateway.feedback
    WHERE tenant_id = $1 AND user_id = $2 AND create_time >= $3 AND (recall_id IS NULL OR recall_id = ANY($4::uuid[]))
    ORDER BY sequence DESC LIMIT $5
"""
_JUDGEMENTS_MAX: Final = 5_000
"""Judgements that one page of recalls is looked up in, the newest ones."""


class PostgresRecalls:
    """The part of the journal that implements `RecallRecords`."""

    _pool: Pool
    _keys: DataKeys

    async def add_recalls(self, records: Sequence[RecallRecord]) -> None:
        """See `RecallRecords.add_recalls`. Does not wait for the disk."""
        with translate_errors():
            async with self._pool.acquire() as connection, connection.transaction():
                await connection.execute("SELECT set_config('mneme.worker', 'on', true)")
                await connection.execute("SET LOCAL synchronous_commit = off")
                ciphers = await self._recall_ciphers(connection, records)
                await connection.executemany(
                    _ADD,
                    [
                        (
                            record.tenant_id,
                            UUID(record.recall_id),
                            record.user_id,
                            [int(kind) for kind, _ in record.memories],
                            [UUID(memory_id) for _, memory_id in record.memories],
                            record.create_time,
                            rows.sealed_query(ciphers[record.tenant_id, record.user_id], record),
                            record.scope.key,
                            [UUID(procedure_id) for procedure_id in record.procedure_ids],
                            record.create_time if record.counts_use and len(record.ids(MemoryKind.NOTE)) > 1 else None,
                            record.principal_id,
                            list(filter(None, map(rows.uuid_or_none, record.read_ids))),
                            record.method,
                        )
                        for record in records
                    ],
                )

    async def recall_record(self, tenant_id: str, user_id: str, recall_id: str) -> RecallRecord | None:
        """See `RecallRecords.recall_record`."""
        wanted = rows.uuid_or_none(recall_id)
        if wanted is None:
            return None
        async with tenant_transaction(self._pool, tenant_id) as connection:
            found = await connection.fetchrow(
                "SELECT * FROM gateway.recalls WHERE tenant_id = $1 AND recall_id = $2 AND user_id = $3",
                tenant_id,
                wanted,
                user_id,
            )
            opened = await opened_rows(self._keys, connection, rows.RECALLS, [found] if found is not None else [])
        return rows.recall_of(opened[0]) if opened else None

    async def latest_recalls(self, tenant_id: str, user_id: str, *, limit: int) -> Sequence[RecallRecord]:
        """See `RecallRecords.latest_recalls`."""
        async with tenant_transaction(self._pool, tenant_id) as connection:
            found = await connection.fetch(_NEWEST, tenant_id, user_id, None, None, limit)
            opened = await opened_rows(self._keys, connection, rows.RECALLS, found)
        return [rows.recall_of(row) for row in opened]

    async def judged_recalls(
        self, tenant_id: str, user_id: str, *, limit: int, after: Cursor | None
    ) -> Page[JudgedRecall]:
        """See `RecallRecords.judged_recalls`."""
        time, recall_id = (rows.from_micros(after[0]), UUID(str(after[1]))) if after is not None else (None, None)
        async with tenant_transaction(self._pool, tenant_id) as connection:
            found = await connection.fetch(_NEWEST, tenant_id, user_id, time, recall_id, limit + 1)
            opened = await opened_rows(self._keys, connection, rows.RECALLS, found[:limit])
            recalls = [rows.recall_of(row) for row in opened]
            since = min((recall.create_time for recall in recalls), default=None)
            ids = [UUID(recall.recall_id) for recall in recalls]
            given = await connection.fetch(_JUDGEMENTS, tenant_id, user_id, since, ids, _JUDGEMENTS_MAX) if ids else []
        judgements = [
            Judgement(
                str(row["recall_id"] or ""),
                frozenset(map(str, row["memory_ids"])),
                row["value"],
                row["create_time"],
            )
            for row in reversed(given)
        ]
        last = recalls[-1] if len(found) > limit else None
        cursor = (rows.to_micros(last.create_time), last.recall_id) if last is not None else None
        return Page(tuple(judged(recalls, judgements)), cursor)

    async def _recall_ciphers(
        self, connection: Connection, records: Sequence[RecallRecord]
    ) -> dict[tuple[str, str], Cipher]:
        """Ciphers by tenant and user; keys are locked in the order of both, as everywhere."""
        found: dict[tuple[str, str], Cipher] = {}
        for tenant_id in sorted({record.tenant_id for record in records}):
            users = sorted({record.user_id for record in records if record.tenant_id == tenant_id})
            ciphers = await self._keys.for_writing(connection, tenant_id, users)
            found.update({(tenant_id, user_id): ciphers.of(tenant_id, user_id) for user_id in users})
        return found

    async def claim_uses(self, *, now: datetime, until: datetime, limit: int) -> list[RecallRecord]:
        """See `RecallRecords.claim_uses`."""
        with translate_errors():
            async with self._pool.acquire() as connection, connection.transaction():
                await connection.execute("SELECT set_config('mneme.worker', 'on', true)")
                found = await connection.fetch(_CLAIM_USES, now, until, limit)
        records = [replace(rows.recall_of(row), query="") for row in found]  # the query is encrypted, and not needed
        return sorted(records, key=lambda record: record.create_time)

    async def settle_uses(self, records: Sequence[RecallRecord]) -> None:
        """See `RecallRecords.settle_uses`."""
        with translate_errors():
            async with self._pool.acquire() as connection, connection.transaction():
                await connection.execute("SELECT set_config('mneme.worker', 'on', true)")
                ids = [UUID(record.recall_id) for record in records]
                await connection.execute(_SETTLE_USES, [record.tenant_id for record in records], ids)

    async def purge_recalls(self, *, before: datetime, limit: int) -> int:
        """See `DeliveryQueue.purge_recalls`."""
        with translate_errors():
            async with self._pool.acquire() as connection, connection.transaction():
                await connection.execute("SELECT set_config('mneme.worker', 'on', true)")
                return rows.affected(await connection.execute(_PURGE, before, limit))
