"""Episodes in PostgreSQL, embedded or of one's own."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import Final

from services.common.encryption.postgres import ALL_PLAIN, NO_DATA_KEYS, DataKeys
from services.common.encryption.rows import opened_rows
from services.common.maintenance.fence import fenced_transaction
from services.common.postgres.pool import translate_errors
from services.common.postgres.tenancy import tenant_transaction
from services.common.postgres.types import Pool
from services.common.scope import keys_seen
from services.episodic.columns import ROWS_ON_LOOP_MAX, EpisodeColumns
from services.episodic.comparison_store import ExpectedEpisode, IndexedEpisode, IndexState
from services.episodic.model import (
    POSITION_MAX,
    Episode,
    EpisodeId,
    EpisodeKey,
    EpisodeStatus,
    NewEpisode,
    Owner,
    TenantId,
    conversation_key,
)
from services.episodic.retention_store import FadingRule
from services.episodic.store import AccessCount, ColumnChanges, EpisodeCursor, EpisodeFilter, EpisodeUse, StoreOutcome
from services.episodic.stores import postgres_rows as rows
from services.episodic.stores import postgres_sql as sql
from services.episodic.stores.postgres_pending import PostgresPendingBatch
from services.episodic.stores.postgres_removal import DELETED_MAX
from services.episodic.stores.postgres_retention import PostgresRetentionStore
from services.episodic.stores.words import best_by_words

SCHEMA: Final = "episodic"
MIGRATIONS_FOLDER: Final = Path(__file__).parent / "migrations"


class _EpisodeGoneError(Exception):
    """Takes a transaction back."""


class PostgresEpisodeStore(PostgresRetentionStore):
    """An `EpisodeStore` on a pool of the services' role, which row-level security binds.

    Calls for one tenant run in a transaction that sees only that tenant. Background work across tenants goes
    through functions of the schema that do one thing each.
    """

    def __init__(
        self,
        pool: Pool,
        *,
        model: str,
        keys: DataKeys = NO_DATA_KEYS,
        fading: FadingRule | None = None,
        deleted_max: int = DELETED_MAX,
    ) -> None:
        """Use a pool whose database has the migrations of `MIGRATIONS_FOLDER`.

        Args:
            pool: Stays the caller's to close.
            model: Fingerprint of the embedding model; noted on episodes that become active.
            keys: Encrypt what was said.
            fading: When episodes fade; the default rule where None.
            deleted_max: Episodes after which a transaction that deletes a tenant ends.
        """
        super().__init__(pool, keys)
        self._deleted_max = deleted_max
        self._fading = fading or FadingRule()
        self._model = model
        self._last_tenant = ""  # the next claim of pending episodes goes on behind it

    async def insert(self, tenant_id: TenantId, episodes: Sequence[NewEpisode], *, now: datetime) -> list[StoreOutcome]:
        """See `EpisodeStore.insert`."""
        if not episodes:
            return []
        arguments = [] if self._keys.is_on else await rows.insert_arguments(episodes, ALL_PLAIN, now=now)
        async with tenant_transaction(self._pool, tenant_id) as connection:
            await connection.execute(sql.SHARE_INSERTS, tenant_id)
            if self._keys.is_on:
                users = {str(episode.owner.user_id) for episode in episodes}
                ciphers = await self._keys.for_writing(connection, tenant_id, users)
                arguments = await rows.insert_arguments(episodes, ciphers, now=now)
            inserted = await connection.fetch(sql.INSERT, *arguments)
            created = {(row["user_id"], row["episode_id"]) for row in inserted}
            existing: dict[tuple[str, EpisodeId], int | None] = {}
            if len(created) < len(episodes):
                names = [str(episode.owner.user_id) for episode in episodes]
                ids = [episode.episode_id for episode in episodes]
                found = await connection.fetch(sql.STATUSES_OF_PAIRS, names, ids)
                existing = {(row["user_id"], row["episode_id"]): row["status"] for row in found}
        outcomes = []
        for episode in episodes:
            pair = (str(episode.owner.user_id), episode.episode_id)
            if pair in created:
                created.discard(pair)  # a second one of the same id was not stored by itself
                existing[pair] = EpisodeStatus.PENDING_EMBEDDING
                outcomes.append(StoreOutcome(created=True, status=EpisodeStatus.PENDING_EMBEDDING))
            else:
                status = existing.get(pair)
                outcomes.append(
                    StoreOutcome(
                        created=False,
                        status=None if status is None else EpisodeStatus(status),
                        deleted=status is None and pair in existing,
                    )
                )
        return outcomes

    async def get(self, owner: Owner, episode_ids: Sequence[EpisodeId]) -> dict[EpisodeId, Episode]:
        """See `EpisodeStore.get`."""
        with translate_errors():
            found = await self._pool.fetch(sql.GET, owner.tenant_id, owner.user_id, list(episode_ids))
            opened = await opened_rows(self._keys, self._pool, rows.EPISODES, found)
        episodes = (rows.episode(row) for row in opened)
        return {episode.content.episode_id: episode for episode in episodes}

    async def statuses(self, owner: Owner, episode_ids: Sequence[EpisodeId]) -> dict[EpisodeId, EpisodeStatus]:
        """See `EpisodeStore.statuses`."""
        with translate_errors():
            found = await self._pool.fetch(sql.STATUSES, owner.tenant_id, owner.user_id, list(episode_ids))
        return {EpisodeId(row["episode_id"]): EpisodeStatus(row["status"]) for row in found}

    async def list_episodes(
        self, owner: Owner, query: EpisodeFilter, *, limit: int, after: EpisodeCursor | None
    ) -> list[Episode]:
        """See `EpisodeStore.list_episodes`."""
        first = None if query.conversation_id is None else conversation_key(owner, query.conversation_id)
        with translate_errors():
            found = await self._pool.fetch(
                sql.LIST if first is None else sql.LIST_CONVERSATION,
                owner.tenant_id,
                owner.user_id,
                limit,
                None if query.status is None else int(query.status),
                None if after is None else after.time,
                None if after is None else after.episode_id,
                query.start_time,
                query.end_time,
                keys_seen(query.reader),
                *(() if first is None else (rows.key_bytes(first), rows.key_bytes(first + POSITION_MAX))),
            )
            opened = await opened_rows(self._keys, self._pool, rows.EPISODES, found)
        return [rows.episode(row) for row in opened]

    async def changes(self, owner: Owner, *, since: int, limit: int) -> ColumnChanges:
        """See `EpisodeStore.changes`."""
        with translate_errors():
            found = await self._pool.fetch(sql.CHANGES, owner.tenant_id, owner.user_id, since, limit + 1)
            cipher = await self._cipher(owner)
        if len(found) > ROWS_ON_LOOP_MAX:
            return await asyncio.to_thread(rows.changes, found, cipher, since=since, limit=limit)
        return rows.changes(found, cipher, since=since, limit=limit)

    async def columns_at(
        self, owner: Owner, keys: Sequence[EpisodeKey], *, scope_keys: Sequence[str]
    ) -> EpisodeColumns:
        """See `EpisodeStore.columns_at`."""
        with translate_errors():
            found = await self._pool.fetch(
                sql.COLUMNS_AT,
                owner.tenant_id,
                owner.user_id,
                list(scope_keys),
                [rows.key_bytes(key) for key in keys],
            )
            cipher = await self._cipher(owner)
        return rows.columns(found, cipher)

    async def columns_of(
        self, owner: Owner, episode_ids: Sequence[EpisodeId], *, scope_keys: Sequence[str]
    ) -> EpisodeColumns:
        """See `EpisodeStore.columns_of`."""
        with translate_errors():
            found = await self._pool.fetch(
                sql.COLUMNS_OF, owner.tenant_id, owner.user_id, list(scope_keys), list(episode_ids)
            )
            cipher = await self._cipher(owner)
        return rows.columns(found, cipher)

    async def uses(self, owner: Owner, keys: Sequence[EpisodeKey]) -> dict[EpisodeKey, EpisodeUse]:
        """See `EpisodeStore.uses`."""
        with translate_errors():
            found = await self._pool.fetch(
                sql.USES, owner.tenant_id, owner.user_id, [rows.key_bytes(key) for key in keys]
            )
        return dict(map(rows.use, found))

    async def matching_columns(
        self, owner: Owner, query: str, *, scope_keys: Sequence[str], limit: int
    ) -> tuple[EpisodeColumns, list[float]]:
        """See `EpisodeStore.matching_columns`."""
        if self._keys.is_on:
            return await self._matching_opened(owner, query, scope_keys=scope_keys, limit=limit)
        with translate_errors():
            found = await self._pool.fetch(
                sql.COLUMNS_MATCHING, owner.tenant_id, owner.user_id, list(scope_keys), query, limit
            )
        return rows.columns(found), [row["word_score"] for row in found]

    async def _matching_opened(
        self, owner: Owner, query: str, *, scope_keys: Sequence[str], limit: int
    ) -> tuple[EpisodeColumns, list[float]]:
        """The same where the database cannot read the texts: all of the owner's are decrypted and compared here."""
        with translate_errors():
            found = await self._pool.fetch(sql.TEXTS, owner.tenant_id, owner.user_id, list(scope_keys))
            cipher = await self._cipher(owner)
        chosen, scores = await asyncio.to_thread(best_by_words, found, cipher, query, limit)
        return rows.columns(chosen, cipher), scores

    async def add_accesses(self, accesses: Sequence[AccessCount]) -> None:
        """See `EpisodeStore.add_accesses`."""
        if not accesses:
            return
        # In the order of the primary key, so that two replicas' updates cannot wait for each other.
        ordered = sorted(accesses, key=lambda access: (access.owner.key, access.episode_id))
        with translate_errors():
            await self._pool.execute(
                "SELECT episodic.add_accesses($1, $2, $3, $4, $5, $6, $7)",
                [str(access.owner.tenant_id) for access in ordered],
                [str(access.owner.user_id) for access in ordered],
                [access.episode_id for access in ordered],
                [access.count for access in ordered],
                [access.last_time for access in ordered],
                self._fading.scale_days,
                self._fading.strength_min,
            )

    @contextlib.asynccontextmanager
    async def claim_pending(self, *, limit: int, now: datetime) -> AsyncIterator[PostgresPendingBatch]:
        """See `EpisodeStore.claim_pending`. The claim is a row lock, so it ends with the process too."""
        with translate_errors():
            async with self._pool.acquire() as connection, connection.transaction():
                found = await connection.fetch(
                    "SELECT * FROM episodic.claim_pending($1, $2, $3)", limit, now, self._last_tenant
                )
                self._last_tenant = found[-1]["tenant_id"] if found else ""
                opened = await opened_rows(self._keys, connection, rows.EPISODES, found)
                pending = [rows.pending(row) for row in opened]
                yield PostgresPendingBatch(connection, pending, self._model, self._keys, self._fading)

    async def put_summary(self, owner: Owner, episode_id: EpisodeId, summary: str) -> bool:
        """See `EpisodeStore.put_summary`."""
        # Keys are taken before other locks. One that is made for an episode that is gone goes with the transaction.
        with contextlib.suppress(_EpisodeGoneError):
            async with tenant_transaction(self._pool, owner.tenant_id) as connection:
                ciphers = await self._keys.for_writing(connection, owner.tenant_id, [owner.user_id])
                cipher = ciphers.of(owner.tenant_id, owner.user_id)
                sealed = cipher.seal(str(episode_id), rows.EPISODES.field("summary"), summary)
                if not await connection.fetchval(sql.PUT_SUMMARY, owner.tenant_id, owner.user_id, episode_id, sealed):
                    raise _EpisodeGoneError
                return True
        return False

    async def is_indexing_again(self, owner: Owner) -> bool:
        """See `EpisodeStore.is_indexing_again`."""
        with translate_errors():
            return bool(await self._pool.fetchval(sql.INDEXING_AGAIN, owner.tenant_id, owner.user_id))

    async def index_states(
        self, model: str, *, after: Owner | None, limit: int, only: Owner | None = None
    ) -> list[IndexState]:
        """See `EpisodeStore.index_states`."""
        if only is not None:
            return [] if only == after else await self._index_state(model, only)
        tenant_id, user_id = ("", "") if after is None else (after.tenant_id, after.user_id)
        with translate_errors():
            found = await self._pool.fetch(
                "SELECT * FROM episodic.index_states($1, $2, $3, $4)", model, tenant_id, user_id, limit
            )
        return [rows.index_state(row) for row in found]

    async def _index_state(self, model: str, owner: Owner) -> list[IndexState]:
        async with tenant_transaction(self._pool, owner.tenant_id) as connection:
            found = await connection.fetch(sql.INDEX_STATE, owner.tenant_id, owner.user_id, model)
        return [rows.index_state(row) for row in found]

    async def expected_episodes(
        self, model: str, places: Sequence[tuple[Owner, EpisodeKey]]
    ) -> list[ExpectedEpisode | None]:
        """See `EpisodeStore.expected_episodes`."""
        with translate_errors():
            found = await self._pool.fetch(
                "SELECT * FROM episodic.expected_episodes($1, $2, $3, $4)",
                model,
                [str(owner.tenant_id) for owner, _ in places],
                [str(owner.user_id) for owner, _ in places],
                [rows.key_bytes(key) for _, key in places],
            )
        return rows.expected_episodes(found, count=len(places))

    async def adopt_indexed(self, model: str, held: Sequence[IndexedEpisode]) -> int:
        """See `EpisodeStore.adopt_indexed`."""
        with translate_errors():
            count = await self._pool.fetchval(
                "SELECT episodic.adopt_indexed($1, $2, $3, $4, $5)",
                model,
                [str(episode.owner.tenant_id) for episode in held],
                [str(episode.owner.user_id) for episode in held],
                [rows.key_bytes(episode.key) for episode in held],
                [episode.piece_count for episode in held],
            )
        return int(count)

    async def reset_listed(self, owner: Owner, episode_ids: Sequence[EpisodeId]) -> list[EpisodeId]:
        """See `EpisodeStore.reset_listed`."""
        async with fenced_transaction(self._pool) as connection:
            found = await connection.fetch(
                "SELECT * FROM episodic.reset_listed($1, $2, $3)", owner.tenant_id, owner.user_id, list(episode_ids)
            )
        return [EpisodeId(row[0]) for row in found]

    async def reset_episodes(
        self, owner: Owner, *, kept_model: str | None, after: EpisodeId | None, limit: int
    ) -> list[EpisodeId]:
        """See `EpisodeStore.reset_episodes`."""
        async with fenced_transaction(self._pool) as connection:
            found = await connection.fetch(
                "SELECT * FROM episodic.reset_episodes($1, $2, $3, $4, $5)",
                owner.tenant_id,
                owner.user_id,
                kept_model,
                after,
                limit,
            )
        return [EpisodeId(row[0]) for row in found]
