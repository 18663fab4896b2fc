"""Token vectors of candidates, from the cache where they were read before."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from typing import Final
from uuid import UUID

import structlog

from services.common.cache import CacheKind, OwnerCache, OwnerKey
from services.common.embedding.tokens import TokenSpace
from services.episodic.config import TokenSettings
from services.episodic.late_interaction import TokenRun, candidate_tokens, sentence_end_table
from services.episodic.model import EpisodeId, Owner, TenantId, UserId
from services.episodic.token_format import packed_shapes, unpack
from services.episodic.token_store import TokenStore

_log = structlog.get_logger(__name__)

_READ_AT_ONCE: Final = 200
"""Episodes of one step of a prefetch: a megabyte or less."""
_BYTES_BESIDE: Final = 150
"""Of an episode: its id, its place in the dictionary, and the object that holds its bytes."""
_SHARE_MAX: Final = 0.5
"""Of the budget that one owner's token vectors may take: the owner's rows and snapshot have a place beside them."""


class _OwnerTokens:
    """Packed token vectors of one owner. What an episode says never changes, so that they are never stale."""

    def __init__(self) -> None:
        self.packed: dict[bytes, bytes] = {}
        self.size_bytes = 0

    def add(self, episode_id: bytes, data: bytes) -> None:
        if episode_id not in self.packed:
            self.packed[episode_id] = data
            self.size_bytes += len(data) + _BYTES_BESIDE


class TokenCache:
    """Reads token vectors of one space, and caches them. Belongs to one event loop."""

    def __init__(self, store: TokenStore, space: TokenSpace, cache: OwnerCache, settings: TokenSettings) -> None:
        """Cache what is read from `store`."""
        self._store = store
        self._space = space
        self._pause_seconds = settings.prefetch_pause_seconds
        self._ends = sentence_end_table(space.sentence_ends)
        self._owner_bytes_max = int(cache.bytes_max * _SHARE_MAX)
        self._entries: CacheKind[_OwnerTokens] = cache.kind("token-vectors", self._load)

    @property
    def cached_count(self) -> int:
        """Episodes whose token vectors are cached."""
        return sum(len(entry.packed) for entry in self._entries.entries())

    async def read(self, owner: Owner, episode_ids: Sequence[bytes]) -> tuple[TokenRun | None, list[int]]:
        """Returns token vectors of the owner's episodes. What is not cached is read with one statement.

        Args:
            owner: Whose.
            episode_ids: 16 bytes each.

        Returns:
            Those of the episodes that have some, None where none has; and where in `episode_ids` each of them is.

        Raises:
            StoreUnavailable: The store cannot be asked.
        """
        key = (owner.tenant_id, owner.user_id)
        entry = self._entries.get(key)
        cached = {} if entry is None else entry.packed
        found = {name: data for name in episode_ids if (data := cached.get(name)) is not None}
        missing = [EpisodeId(UUID(bytes=name)) for name in episode_ids if name not in found]
        if missing:
            if entry is not None:
                self._entries.missed(key)
            stored = await self._store.tokens(owner, missing, model=self._space.fingerprint)
            usable = self._usable([(name.bytes, data) for name, data in stored.items()])
            found.update(usable)
            self._put(key, usable)
        places = [place for place, name in enumerate(episode_ids) if name in found]
        if not places:
            return None, []
        return candidate_tokens(unpack([found[episode_ids[place]] for place in places]), self._ends), places

    def forget(self, owner: Owner) -> None:
        """Drop what is cached of an owner, of whose episodes some were removed."""
        self._entries.forget((owner.tenant_id, owner.user_id))

    async def settle(self) -> None:
        """Wait until what is prefetched is cached."""
        await self._entries.settle()

    async def aclose(self) -> None:
        """Stop prefetching. Closing twice is allowed."""
        await self._entries.aclose()

    def _put(self, key: OwnerKey, found: Iterable[tuple[bytes, bytes]]) -> bool:
        """Cache what fits; whether all of it did."""
        entry = self._entries.peek(key) or _OwnerTokens()
        fits = True
        for name, data in found:
            fits = entry.size_bytes + len(data) <= self._owner_bytes_max
            if not fits:
                break
            entry.add(name, data)
        return self._entries.put(key, entry) and fits

    async def _load(self, key: OwnerKey) -> None:
        """Cache the owner's token vectors, the newest first, in small steps."""
        owner = Owner(TenantId(key[0]), UserId(key[1]))
        self._entries.forget(key)  # of an owner with more than fits the newest stay
        before: EpisodeId | None = None
        while True:
            found = await self._store.newest_tokens(
                owner, model=self._space.fingerprint, before=before, limit=_READ_AT_ONCE
            )
            if not self._put(key, self._usable([(name.bytes, data) for name, data in found])):
                return
            if len(found) < _READ_AT_ONCE:
                return
            before = found[-1][0]
            await asyncio.sleep(self._pause_seconds)

    def _usable(self, found: Sequence[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
        """Those of what was read whose tokens can be compared."""
        if not found:
            return []
        shapes = packed_shapes([data for _, data in found])
        alike = shapes.dimensions == self._space.dimension
        if not shapes.sound.all():
            _log.warning("stored token vectors cannot be read", count=int((~shapes.sound).sum()))
        if not alike[shapes.sound].all():
            _log.warning("stored token vectors have another dimension", count=int((shapes.sound & ~alike).sum()))
        return [found[place] for place in (shapes.sound & alike & (shapes.tokens > 0)).nonzero()[0].tolist()]
