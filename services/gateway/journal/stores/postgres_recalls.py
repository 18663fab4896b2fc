"""What recalls returned, in PostgreSQL."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Final
from uuid import UUID

from services.common.postgres.pool import translate_errors
from services.common.postgres.tenancy import tenant_transaction
from services.common.postgres.types import Pool
from services.gateway.grants.model import MemoryKind
from services.gateway.journal.model import RecallRecord
from services.gateway.journal.stores import rows

_ADD: Final = """
    INSERT INTO gateway.recalls (tenant_id, recall_id, user_id, kinds, memory_ids, create_time)
    VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT DO NOTHING
"""
_PURGE: Final = """
    DELETE FROM gateway.recalls AS r USING (
        SELECT tenant_id, recall_id FROM gateway.recalls WHERE create_time < $1
        ORDER BY create_time LIMIT $2 FOR UPDATE SKIP LOCKED
    ) AS old WHERE r.tenant_id = old.tenant_id AND r.recall_id = old.recall_id
"""


class PostgresRecalls:
    """The part of the journal that implements `RecallRecords`."""

    _pool: Pool

    async def add_recalls(self, records: Sequence[RecallRecord]) -> None:
        """See `RecallRecords.add_recalls`. Does not wait for the disk."""
        with translate_errors():
            async with self._pool.acquire() as connection, connection.transaction():
                await connection.execute("SELECT set_config('mneme.worker', 'on', true)")
                await connection.execute("SET LOCAL synchronous_commit = off")
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
                "SELECT kinds, memory_ids, create_time FROM gateway.recalls"
                " WHERE tenant_id = $1 AND recall_id = $2 AND user_id = $3",
                tenant_id,
                wanted,
                user_id,
            )
        if found is None:
            return None
        memories = zip(map(MemoryKind, found["kinds"]), map(str, found["memory_ids"]), strict=True)
        return RecallRecord(tenant_id, recall_id, user_id, tuple(memories), found["create_time"])

    async def purge_recalls(self, *, before: datetime, limit: int) -> int:
        """See `DeliveryQueue.purge_recalls`."""
        with translate_errors():
            async with self._pool.acquire() as connection, connection.transaction():
                await connection.execute("SELECT set_config('mneme.worker', 'on', true)")
                return rows.affected(await connection.execute(_PURGE, before, limit))
