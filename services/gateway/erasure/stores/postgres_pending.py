"""Which users are being erased, from PostgreSQL."""

from __future__ import annotations

from typing import Final

from services.common.postgres.pool import translate_errors
from services.common.postgres.tenancy import tenant_transaction
from services.common.postgres.types import Pool
from services.gateway.erasure.model import TargetKind

_WHOLE: Final = f"complete_time IS NULL AND kind IN ({int(TargetKind.USER)}, {int(TargetKind.TENANT)})"
_OWNERS: Final = f"SELECT DISTINCT tenant_id, user_id FROM gateway.erasures WHERE {_WHOLE}"  # noqa: S608 - constants
_IS_PENDING: Final = f"""
    SELECT EXISTS (SELECT FROM gateway.erasures WHERE tenant_id = $1 AND user_id IN ($2, '') AND {_WHOLE})
"""  # noqa: S608


class PostgresPendingErasures:
    """Implements `PendingErasures`."""

    def __init__(self, pool: Pool) -> None:
        """Uses the journal's pool and schema."""
        self._pool = pool

    async def pending_owners(self) -> set[tuple[str, str]]:
        """See `PendingErasures.pending_owners`."""
        with translate_errors():
            async with self._pool.acquire() as connection, connection.transaction():
                await connection.execute("SELECT set_config('mneme.worker', 'on', true)")
                return {(row["tenant_id"], row["user_id"]) for row in await connection.fetch(_OWNERS)}

    async def is_pending(self, tenant_id: str, user_id: str) -> bool:
        """See `PendingErasures.is_pending`."""
        async with tenant_transaction(self._pool, tenant_id) as connection:
            return bool(await connection.fetchval(_IS_PENDING, tenant_id, user_id))
