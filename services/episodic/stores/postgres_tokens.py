"""Token vectors in PostgreSQL."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from typing import Final
from uuid import UUID

from services.common.encryption.postgres import NO_DATA_KEYS, DataKeys
from services.common.encryption.rows import opened_rows
from services.common.postgres.pool import translate_errors
from services.common.postgres.types import Connection, Pool
from services.episodic.model import EpisodeId, Owner, TenantId, UserId
from services.episodic.stores import postgres_rows as rows
from services.episodic.stores import postgres_sql as sql
from services.episodic.token_format import PackedTokens
from services.episodic.token_store import EpisodeName, UntokenedEpisode

_PUT_BYTES_MAX: Final = 4 * 1024 * 1024
"""Token vectors in one statement, about: a batch of long texts has hundreds of megabytes."""
_BEHIND_ALL: Final = UUID(int=2**128 - 1)
_BEFORE_ALL: Final = EpisodeName(Owner(TenantId(""), UserId("")), EpisodeId(UUID(int=0)))


class PostgresTokenStore:
    """A `TokenStore` on a pool of the services' role."""

    def __init__(self, pool: Pool, keys: DataKeys = NO_DATA_KEYS) -> None:
        """Use a pool whose database has the tier's migrations; it stays the caller's to close."""
        self._pool = pool
        self._keys = keys

    async def tokens(self, owner: Owner, episode_ids: Sequence[EpisodeId], *, model: str) -> dict[EpisodeId, bytes]:
        """See `TokenStore.tokens`."""
        with translate_errors():
            found = await self._pool.fetch(sql.TOKENS, owner.tenant_id, owner.user_id, list(episode_ids), model)
        return {EpisodeId(row["episode_id"]): row["tokens"] for row in found}

    async def newest_tokens(
        self, owner: Owner, *, model: str, before: EpisodeId | None, limit: int
    ) -> list[tuple[EpisodeId, bytes]]:
        """See `TokenStore.newest_tokens`."""
        with translate_errors():
            found = await self._pool.fetch(
                sql.NEWEST_TOKENS, owner.tenant_id, owner.user_id, model, before or _BEHIND_ALL, limit
            )
        return [(EpisodeId(row["episode_id"]), row["tokens"]) for row in found]

    @contextlib.asynccontextmanager
    async def claim_untokened(
        self, model: str, *, after: EpisodeName | None, scan_limit: int, limit: int
    ) -> AsyncIterator[PostgresUntokenedBatch]:
        """See `TokenStore.claim_untokened`. The claim is a lock of the transaction: no replica repeats the work."""
        start = after or _BEFORE_ALL
        with translate_errors():
            async with self._pool.acquire() as connection, connection.transaction():
                if not await connection.fetchval(sql.UNTOKENED_CLAIM):
                    yield PostgresUntokenedBatch(connection, is_claimed=False, episodes=(), after=after)
                    return
                found = await connection.fetch(
                    "SELECT * FROM episodic.untokened($1, $2, $3, $4, $5, $6)",
                    *(model, start.owner.tenant_id, start.owner.user_id, start.episode_id, scan_limit, limit),
                )
                opened = await opened_rows(self._keys, connection, rows.EPISODES, found)
                episodes = [rows.untokened(row) for row in opened if row["query"] is not None]
                last = rows.name(found[-1]) if found else None
                yield PostgresUntokenedBatch(connection, is_claimed=True, episodes=episodes, after=last)


class PostgresUntokenedBatch:
    """What a transaction has found, and may add to."""

    def __init__(
        self,
        connection: Connection,
        *,
        is_claimed: bool,
        episodes: Sequence[UntokenedEpisode],
        after: EpisodeName | None,
    ) -> None:
        """Wrap the transaction's connection and what it found."""
        self._connection = connection
        self.is_claimed = is_claimed
        self.episodes = episodes
        self.after = after

    async def put(self, tokens: Mapping[EpisodeName, PackedTokens]) -> None:
        """See `UntokenedBatch.put`."""
        await put_tokens(self._connection, tokens.items())


async def put_tokens(connection: Connection, tokens: Iterable[tuple[EpisodeName, PackedTokens]]) -> None:
    """Keeps token vectors within the transaction that a connection is in."""
    part: list[tuple[EpisodeName, PackedTokens]] = []
    size = 0
    for name, packed in tokens:
        if part and size + len(packed.data) > _PUT_BYTES_MAX:
            await _put(connection, part)
            part, size = [], 0
        part.append((name, packed))
        size += len(packed.data)
    if part:
        await _put(connection, part)


async def _put(connection: Connection, tokens: Sequence[tuple[EpisodeName, PackedTokens]]) -> None:
    await connection.execute(
        "SELECT episodic.put_token_vectors($1, $2, $3, $4, $5)",
        [str(name.owner.tenant_id) for name, _ in tokens],
        [str(name.owner.user_id) for name, _ in tokens],
        [name.episode_id for name, _ in tokens],
        [packed.model for _, packed in tokens],
        [packed.data for _, packed in tokens],
    )
