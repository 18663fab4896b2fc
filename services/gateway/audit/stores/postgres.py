"""The audit log in the journal's database. What the journal writes itself is added by its own transactions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final
from uuid import UUID

from services.common.audit.verification import AuditEntry
from services.common.merkle import Frontier, leaf_hash
from services.common.postgres.pool import translate_errors
from services.common.postgres.tenancy import tenant_transaction
from services.common.postgres.types import Connection, Pool
from services.gateway.audit.store import Access

_BATCH: Final = 5_000
_TENANTS: Final = 100

_ADD: Final = "SELECT gateway.audit($1, $2, $3, $4, $5, $6, $7, $8)"
_OPEN: Final = "INSERT INTO gateway.audit_trees (tenant_id, size, roots) VALUES ($1, 0, '{}') ON CONFLICT DO NOTHING"
_TREE: Final = "SELECT size, roots FROM gateway.audit_trees WHERE tenant_id = $1 FOR UPDATE"
_WAITING: Final = """
    SELECT entry_id, commitment FROM gateway.audit_entries
    WHERE tenant_id = $1 AND leaf_index IS NULL ORDER BY entry_id LIMIT $2
"""
_NUMBER: Final = """
    UPDATE gateway.audit_entries AS e SET leaf_index = n.leaf_index
    FROM unnest($2::bigint[], $3::bigint[]) AS n (entry_id, leaf_index)
    WHERE e.tenant_id = $1 AND e.entry_id = n.entry_id
"""
_SAVE: Final = "UPDATE gateway.audit_trees SET size = $2, roots = $3 WHERE tenant_id = $1"
_TENANTS_WAITING: Final = """
    SELECT DISTINCT tenant_id FROM gateway.audit_entries WHERE leaf_index IS NULL LIMIT $1
"""
_ENTRIES: Final = """
    SELECT leaf_index, commitment, salt, body FROM gateway.audit_entries
    WHERE tenant_id = $1 AND leaf_index >= $2 ORDER BY leaf_index LIMIT $3
"""
_LEAVES: Final = """
    SELECT commitment FROM gateway.audit_entries WHERE tenant_id = $1 AND leaf_index < $2 ORDER BY leaf_index
"""


class PostgresAudit:
    """Implements `AuditStore`."""

    def __init__(self, pool: Pool) -> None:
        """Uses the journal's pool and schema."""
        self._pool = pool

    async def add(self, accesses: Sequence[Access], *, durable: bool) -> None:
        """See `AuditStore.add`. Durable ones cost one commit, which PostgreSQL shares among those that wait for it."""
        with translate_errors():
            async with self._pool.acquire() as connection, connection.transaction():
                await connection.execute("SELECT set_config('mneme.worker', 'on', true)")
                if not durable:
                    await connection.execute("SET LOCAL synchronous_commit = off")
                await connection.executemany(
                    _ADD,
                    [
                        (a.tenant_id, a.principal_id, a.method, a.request_id, a.user_id, _uuids(a), a.time, a.target)
                        for a in accesses
                    ],
                )

    async def append(self, tenant_id: str) -> Frontier:
        """See `AuditStore.append`."""
        while True:
            async with tenant_transaction(self._pool, tenant_id) as connection:
                frontier, added = await _append(connection, tenant_id)
            if added < _BATCH:
                return frontier

    async def append_waiting(self) -> int:
        """See `AuditStore.append_waiting`."""
        with translate_errors():
            async with self._pool.acquire() as connection, connection.transaction():
                await connection.execute("SELECT set_config('mneme.worker', 'on', true)")
                tenants = [row["tenant_id"] for row in await connection.fetch(_TENANTS_WAITING, _TENANTS)]
        count = 0
        for tenant_id in tenants:
            async with tenant_transaction(self._pool, tenant_id) as transaction:
                _, added = await _append(transaction, tenant_id)
            count += added
        return count

    async def entries(self, tenant_id: str, *, begin: int, limit: int) -> Sequence[AuditEntry]:
        """See `AuditStore.entries`."""
        async with tenant_transaction(self._pool, tenant_id) as connection:
            found = await connection.fetch(_ENTRIES, tenant_id, begin, limit)
        return [AuditEntry(row["leaf_index"], row["commitment"], row["salt"], row["body"]) for row in found]

    async def leaves(self, tenant_id: str, *, size: int) -> Sequence[bytes]:
        """See `AuditStore.leaves`."""
        async with tenant_transaction(self._pool, tenant_id) as connection:
            found = await connection.fetch(_LEAVES, tenant_id, size)
        return [leaf_hash(row["commitment"]) for row in found]


async def _append(connection: Connection, tenant_id: str) -> tuple[Frontier, int]:
    """Numbers entries that wait; the lock on the tree lets one gateway do so at a time."""
    await connection.execute(_OPEN, tenant_id)
    tree = await connection.fetchrow(_TREE, tenant_id)
    assert tree is not None  # made above, and never deleted
    frontier = Frontier(tree["size"], tuple(tree["roots"]))
    waiting = await connection.fetch(_WAITING, tenant_id, _BATCH)
    if not waiting:
        return frontier, 0
    extended = frontier.extended(leaf_hash(row["commitment"]) for row in waiting)
    numbers = list(range(frontier.size, extended.size))
    await connection.execute(_NUMBER, tenant_id, [row["entry_id"] for row in waiting], numbers)
    await connection.execute(_SAVE, tenant_id, extended.size, list(extended.roots))
    return extended, len(waiting)


def _uuids(access: Access) -> list[UUID]:
    found = []
    for memory_id in access.memory_ids:
        try:
            found.append(UUID(memory_id))
        except ValueError:
            continue
    return found
