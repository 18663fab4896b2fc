"""Data keys of the tier's users in PostgreSQL."""

from __future__ import annotations

from typing import Final

from services.common.encryption.postgres import DataKeys
from services.common.idempotency.postgres import PostgresIdempotencyRecords
from services.common.owners import Owner, TenantId, UserId
from services.common.postgres.tenancy import tenant_transaction
from services.common.postgres.types import Pool
from services.common.postgres.users import users_statement
from services.semantic.stores.postgres import LOCK_USER, SCHEMA

_USERS: Final = users_statement("semantic.data_keys")
_SUBJECTS: Final = ("facts", "supersessions", "profile", "procedures")
"""Of the locks that writers of encrypted content take before anything else."""
# Statements go with their facts, by reference.
_REST: Final = (
    "DELETE FROM semantic.facts WHERE tenant_id = $1 AND user_id = $2",
    "DELETE FROM semantic.merge_groups WHERE tenant_id = $1 AND user_id = $2",
    "DELETE FROM semantic.assertions WHERE tenant_id = $1 AND user_id = $2",
    "DELETE FROM semantic.supersessions WHERE tenant_id = $1 AND user_id = $2",
    "DELETE FROM semantic.procedures WHERE tenant_id = $1 AND user_id = $2",
    "DELETE FROM semantic.judged_recalls WHERE tenant_id = $1 AND user_id = $2",
    "DELETE FROM semantic.profiles WHERE tenant_id = $1 AND user_id = $2",
    """
    UPDATE semantic.observed_interactions SET topics = '{}', sources = '{}', stated = NULL
    WHERE tenant_id = $1 AND user_id = $2 AND time IS NOT NULL
    """,
    "DELETE FROM semantic.code_repositories WHERE tenant_id = $1 AND user_id = $2",
    "DELETE FROM semantic.code_files WHERE tenant_id = $1 AND user_id = $2",
)
_RAISE: Final = """
INSERT INTO semantic.owner_revisions AS o (tenant_id, user_id, epoch, marks, marks_base, procedures)
VALUES ($1, $2, 1, 1, 1, 1)
ON CONFLICT (tenant_id, user_id) DO UPDATE
SET epoch = o.epoch + 1, marks = o.marks + 1, marks_base = o.marks + 1, procedures = o.procedures + 1
"""


class PostgresContentKeys:
    """Implements `ContentKeys` on the table `data_keys` of the tier's schema."""

    def __init__(self, pool: Pool, keys: DataKeys) -> None:
        """Uses a pool of `create_pool`, of a role bound by row-level security; its owner closes it."""
        self._pool = pool
        self._keys = keys

    async def destroy(self, owner: Owner) -> int:
        """See `ContentKeys.destroy`. One transaction, which waits for the user's writers."""
        key = (owner.tenant_id, owner.user_id)
        async with tenant_transaction(self._pool, owner.tenant_id) as connection:
            for subject in _SUBJECTS:
                await connection.execute(LOCK_USER, *key, subject)
            destroyed = await self._keys.destroy(connection, *key)
            if destroyed:
                for statement in _REST:
                    await connection.execute(statement, *key)
                await PostgresIdempotencyRecords(connection, owner.tenant_id, schema=SCHEMA).erase(owner.user_id)
                await connection.execute(_RAISE, *key)
        return destroyed

    async def users(self, tenant_id: TenantId, *, after: UserId, limit: int) -> list[UserId]:
        """See `ContentKeys.users`. One statement, by the key of the table."""
        async with tenant_transaction(self._pool, tenant_id) as connection:
            return [UserId(row[0]) for row in await connection.fetch(_USERS, tenant_id, after, limit)]
