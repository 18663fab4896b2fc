"""The queue of supersessions in PostgreSQL."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import datetime

from services.common.encryption.postgres import NO_DATA_KEYS, DataKeys
from services.common.encryption.rows import Row
from services.common.encryption.sealing import OwnerSealing, opened_of
from services.common.maintenance.fence import check_fence
from services.common.owners import Owner, TenantId, UserId
from services.common.postgres.pool import translate_errors
from services.common.postgres.tenancy import tenant_transaction
from services.common.postgres.types import Connection, Pool
from services.semantic.stores.postgres import LOCK_USER
from services.semantic.stores.postgres_sealing import SUPERSESSIONS
from services.semantic.supersession.model import QueuedPair, Strength, Supersession, SupersessionPosition
from services.semantic.supersession.queue_store import Judge
from services.semantic.supersession.resolving import reopened, settled
from services.semantic.supersession.stores import postgres_queries as queries
from services.semantic.supersession.stores.postgres import SUBJECT, put_decided, supersession_of


class PostgresSupersessionQueue:
    """Implements `SupersessionQueueStore`; see there for what each method guarantees."""

    def __init__(self, pool: Pool, *, keys: DataKeys = NO_DATA_KEYS) -> None:
        """Uses a pool of `create_pool`, of a role bound by row-level security; its owner closes it."""
        self._pool = pool
        self._keys = keys

    async def queued_owners(self, *, recorded_before: datetime, after: Owner | None, limit: int) -> Sequence[Owner]:
        """See `SupersessionQueueStore.queued_owners`."""
        last = ("", "") if after is None else (after.tenant_id, after.user_id)
        with translate_errors():
            async with self._pool.acquire() as connection, connection.transaction(readonly=True):
                await connection.execute("SELECT set_config('mneme.worker', 'on', true)")
                rows = await connection.fetch(queries.QUEUED_OWNERS, recorded_before, *last, limit)
        return [Owner(TenantId(row["tenant_id"]), UserId(row["user_id"])) for row in rows]

    async def queued(
        self, owner: Owner, *, recorded_before: datetime, after: SupersessionPosition | None, limit: int
    ) -> Sequence[QueuedPair]:
        """See `SupersessionQueueStore.queued`."""
        position = (None, "") if after is None else (after.create_time, after.supersession_id)
        async with tenant_transaction(self._pool, owner.tenant_id) as connection:
            found = await connection.fetch(
                queries.QUEUED, owner.tenant_id, owner.user_id, recorded_before, *position, limit
            )
            rows = await opened_of(self._keys, connection, owner, SUPERSESSIONS, found)
        return [_queued(row) for row in rows]

    async def decide_queued(
        self, owner: Owner, supersession_ids: Sequence[str], judge: Judge
    ) -> Sequence[Supersession]:
        """See `SupersessionQueueStore.decide_queued`."""
        async with tenant_transaction(self._pool, owner.tenant_id) as connection:
            sealing = await self._locked(connection, owner)
            found = await connection.fetch(queries.QUEUED_BY_ID, owner.tenant_id, owner.user_id, list(supersession_ids))
            pairs = [_queued(row) for row in await sealing.opened(SUPERSESSIONS, found)]
            verdicts = await asyncio.to_thread(lambda: [judge(pair) for pair in pairs])
            cipher = await sealing.cipher(is_new=True)
            return [
                await put_decided(
                    connection,
                    owner,
                    pair.supersession,
                    cipher,
                    lambda _, *, is_winner_whole, p=pair, v=verdict: settled(p, v, is_winner_whole=is_winner_whole),
                )
                for pair, verdict in zip(pairs, verdicts, strict=True)
                if verdict is not None
            ]

    async def reopen(self, owner: Owner, supersession_ids: Sequence[str]) -> int:
        """See `SupersessionQueueStore.reopen`."""
        async with tenant_transaction(self._pool, owner.tenant_id) as connection:
            sealing = await self._locked(connection, owner)
            found = await connection.fetch(queries.DECIDED, owner.tenant_id, owner.user_id, list(supersession_ids))
            rows = await sealing.opened(SUPERSESSIONS, found)
            cipher = await sealing.cipher(is_new=True)
            for row in rows:
                await put_decided(connection, owner, supersession_of(row), cipher, reopened)
        return len(rows)

    async def _locked(self, connection: Connection, owner: Owner) -> OwnerSealing:
        await check_fence(connection)
        await connection.execute(LOCK_USER, owner.tenant_id, owner.user_id, SUBJECT)
        return OwnerSealing(self._keys, connection, owner)


def _queued(row: Row) -> QueuedPair:
    return QueuedPair(supersession_of(row), _strength(row, "earlier"), _strength(row, "later"))


def _strength(row: Row, side: str) -> Strength | None:
    confidence = row[f"{side}_confidence"]
    return None if confidence is None else Strength(confidence, row[f"{side}_importance"])
