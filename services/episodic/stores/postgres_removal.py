"""Archiving, restoring and deleting episodes in PostgreSQL, and the idempotency records of writes."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from services.common import owners
from services.common.encryption.cipher import PLAIN, Cipher
from services.common.idempotency.model import RETENTION_SECONDS, Idempotency, IdempotencyKey
from services.common.idempotency.postgres import PostgresIdempotencyRecords
from services.common.postgres.pool import translate_errors
from services.common.postgres.tenancy import tenant_transaction
from services.common.postgres.types import Connection
from services.episodic.columns import EpisodeColumns
from services.episodic.model import POSITION_MAX, EpisodeId, EpisodeKey, Owner, TenantId, UserId, conversation_key
from services.episodic.removal_store import Archived, Deleted, EpisodeSelection
from services.episodic.stores import postgres_rows as rows
from services.episodic.stores import postgres_sql as sql
from services.episodic.stores.postgres_tokens import PostgresTokenStore
from services.episodic.stores.words import best_by_words


@dataclass(frozen=True, slots=True)
class _Changed:
    """What a write returned."""

    count: int
    episode_ids: Sequence[UUID] = field(default_factory=list)  # of those that it names
    data_keys: int = 0  # that were destroyed


_ARCHIVED_READ_MAX: Final = 5_000
"""Newest archived episodes that a search reads: their texts are compared in memory."""
DELETED_MAX: Final = 10_000
"""Episodes after which a transaction that deletes a tenant ends; those of its last user go with it all the same."""
_USERS_MAX: Final = 500
"""Users after which it ends too."""
_USERS_READ: Final = 100
"""Users of a tenant that are looked up at once."""
_IDEMPOTENCY: Final = Idempotency(_Changed, retention_seconds=RETENTION_SECONDS)


class PostgresRemovalStore(PostgresTokenStore):
    """The part of an `EpisodeStore` that changes which episodes there are, on a pool of the services' role."""

    _deleted_max = DELETED_MAX

    async def set_feedback(
        self, owner: Owner, episode_ids: Sequence[EpisodeId], feedback: int, *, key: IdempotencyKey, now: datetime
    ) -> list[EpisodeId]:
        """See `EpisodeStore.set_feedback`."""

        async def write(connection: Connection) -> _Changed:
            found = await connection.fetch(sql.FEEDBACK, owner.tenant_id, owner.user_id, list(episode_ids), feedback)
            known = {row["episode_id"] for row in found}
            changed = [episode_id for episode_id in dict.fromkeys(episode_ids) if episode_id in known]
            return _Changed(len(changed), changed)

        return [EpisodeId(name) for name in (await self._once(owner, key, write, now=now)).episode_ids]

    async def archive(
        self, owner: Owner, selection: EpisodeSelection, *, key: IdempotencyKey, now: datetime
    ) -> Archived:
        """See `EpisodeStore.archive`."""
        keys: list[EpisodeKey] = []

        async def write(connection: Connection) -> _Changed:
            found = await connection.fetch(sql.ARCHIVE, *_selected(owner, selection), now)
            keys.extend(rows.key(row["episode_key"]) for row in found)
            return _Changed(len(found))

        return Archived((await self._once(owner, key, write, now=now)).count, keys)

    async def archived_columns(
        self, owner: Owner, query: str, *, scope_keys: Sequence[str], archived_after: datetime, limit: int
    ) -> tuple[EpisodeColumns, list[float]]:
        """See `RemovalStore.archived_columns`. The texts are compared here, whether or not they are encrypted."""
        with translate_errors():
            found = await self._pool.fetch(
                sql.TEXTS_ARCHIVED, owner.tenant_id, owner.user_id, list(scope_keys), archived_after, _ARCHIVED_READ_MAX
            )
            cipher = await self._cipher(owner)
        chosen, scores = await asyncio.to_thread(best_by_words, found, cipher, query, limit)
        return rows.columns(chosen, cipher), scores

    async def restore(self, owner: Owner, selection: EpisodeSelection, *, key: IdempotencyKey, now: datetime) -> int:
        """See `EpisodeStore.restore`."""

        async def write(connection: Connection) -> _Changed:
            return _Changed(len(await connection.fetch(sql.RESTORE, *_selected(owner, selection), now)))

        return (await self._once(owner, key, write, now=now)).count

    async def delete(self, owner: Owner, selection: EpisodeSelection, *, key: IdempotencyKey, now: datetime) -> Deleted:
        """See `EpisodeStore.delete`. No episode of the tenant is stored meanwhile, so none slips through."""

        async def write(connection: Connection) -> _Changed:
            await connection.execute(sql.EXCLUDE_INSERTS, owner.tenant_id)
            if selection.episode_ids:
                ids = list(selection.episode_ids)
                await connection.execute(sql.MARK_DELETED, owner.tenant_id, owner.user_id, ids, now)
            count = len(await connection.fetch(sql.DELETE, *_selected(owner, selection), now))
            if selection.is_everything:
                return _Changed(count, data_keys=await self._keys.destroy(connection, owner.tenant_id, owner.user_id))
            return _Changed(count)

        return _deleted(await self._once(owner, key, write, now=now))

    @contextlib.asynccontextmanager
    async def held(self, owner: Owner, episode_ids: Sequence[EpisodeId]) -> AsyncIterator[set[EpisodeId]]:
        """See `EpisodeStore.held`: by a lock of the rows."""
        async with tenant_transaction(self._pool, owner.tenant_id) as connection:
            found = await connection.fetch(sql.HOLD, owner.tenant_id, owner.user_id, list(episode_ids))
            yield {EpisodeId(row["episode_id"]) for row in found}

    async def delete_tenant(self, tenant_id: TenantId, *, key: IdempotencyKey, now: datetime) -> Deleted:
        """See `EpisodeStore.delete_tenant`. Some users a transaction; the last one stores the idempotency record.

        That one excludes inserts as well, and deletes what was stored between the others: then nothing is left.
        """
        while await self._delete_users(tenant_id, key, now):
            pass

        async def write(connection: Connection) -> _Changed:
            return (await self._delete_page(connection, tenant_id, key, now, is_last=True))[0]

        return _deleted(await self._once(Owner(tenant_id, UserId("")), key, write, now=now))

    async def _delete_users(self, tenant_id: TenantId, key: IdempotencyKey, now: datetime) -> bool:
        """Deletes some users in one transaction; whether any are left."""
        async with tenant_transaction(self._pool, tenant_id) as connection:
            await connection.execute(sql.LOCK_REQUEST, tenant_id, key.principal_id, key.request_id)
            if await PostgresIdempotencyRecords(connection, tenant_id, schema="episodic").find(key) is not None:
                return False  # a repeat: what was stored since stays
            done, is_left = await self._delete_page(connection, tenant_id, key, now, is_last=False)
            progress = json.dumps([done.count, done.data_keys])
            await connection.execute(
                sql.PUT_PROGRESS, tenant_id, key.principal_id, key.request_id, key.digest, progress, now
            )
            return is_left

    async def _delete_page(
        self, connection: Connection, tenant_id: TenantId, key: IdempotencyKey, now: datetime, *, is_last: bool
    ) -> tuple[_Changed, bool]:
        """What the request has deleted by now, and whether users are left: none where this transaction is the last."""
        await connection.execute(sql.EXCLUDE_INSERTS, tenant_id)
        progress = await connection.fetchval(sql.TAKE_PROGRESS, tenant_id, key.principal_id, key.request_id, key.digest)
        count, data_keys = json.loads(progress) if progress else (0, 0)
        bound, users_left, after = count + self._deleted_max, _USERS_MAX, ""
        while users := await connection.fetch(sql.USERS, tenant_id, after, _USERS_READ):
            for row in users:
                if not (is_last or (count < bound and users_left)):
                    return _Changed(count, data_keys=data_keys), True
                count += len(await connection.fetch(sql.DELETE, tenant_id, row["user_id"], None, None, None, now))
                data_keys += await self._keys.destroy(connection, tenant_id, row["user_id"])
                users_left -= 1
            after = users[-1]["user_id"]
        return _Changed(count, data_keys=data_keys), False

    async def deleted_keys(self, owner: Owner, selection: EpisodeSelection) -> list[EpisodeKey]:
        """See `EpisodeStore.deleted_keys`."""
        with translate_errors():
            found = await self._pool.fetch(sql.DELETED_KEYS, *_selected(owner, selection))
        return [rows.key(row["episode_key"]) for row in found]

    async def deleted_owners(self, tenant_id: TenantId) -> list[Owner]:
        """See `EpisodeStore.deleted_owners`."""
        with translate_errors():
            found = await self._pool.fetch(sql.DELETED_OWNERS, tenant_id)
        return [Owner(tenant_id, UserId(row["user_id"])) for row in found]

    async def _cipher(self, owner: Owner) -> Cipher:
        """For reading what was read before."""
        if not self._keys.is_on:
            return PLAIN
        name = (str(owner.tenant_id), str(owner.user_id))
        return (await self._keys.for_reading(self._pool, [name])).of(*name)

    async def _once(
        self, owner: Owner, key: IdempotencyKey, write: Callable[[Connection], Awaitable[_Changed]], *, now: datetime
    ) -> _Changed:
        """What `write` returns, in one transaction with its idempotency record; of a repeat the first."""
        async with tenant_transaction(self._pool, owner.tenant_id) as connection:
            # Concurrent repeats of a request wait for the first one.
            await connection.execute(sql.LOCK_REQUEST, owner.tenant_id, key.principal_id, key.request_id)
            return await _IDEMPOTENCY.run(
                PostgresIdempotencyRecords(connection, owner.tenant_id, schema="episodic"),
                key,
                lambda: write(connection),
                now=now,
                user_id=owners.UserId(owner.user_id),
                resource_id=lambda _: "",
            )


def _deleted(changed: _Changed) -> Deleted:
    return Deleted(changed.count, changed.data_keys)


def _selected(owner: Owner, selection: EpisodeSelection) -> tuple[Any, ...]:
    """Arguments of the statements over a selection."""
    first = last = None
    if selection.conversation_id is not None:
        start = conversation_key(owner, selection.conversation_id)
        first, last = rows.key_bytes(start), rows.key_bytes(start + POSITION_MAX)
    ids = None if selection.episode_ids is None else list(selection.episode_ids)
    return owner.tenant_id, owner.user_id, ids, first, last
