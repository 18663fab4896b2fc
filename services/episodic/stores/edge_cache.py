"""Owners with many pieces whose rows are cached and compared in memory instead of by the engine."""

from __future__ import annotations

import asyncio
import weakref
from collections import defaultdict
from collections.abc import Sequence
from typing import Final
from uuid import UUID

from services.common.cache import CacheKind, OwnerCache, OwnerKey
from services.episodic.config import EdgeSettings
from services.episodic.model import EpisodeKey, Owner, TenantId, UserId
from services.episodic.store import IndexedPiece, IndexQuery, RetrieverHits
from services.episodic.stores.cached_rows import CachedPiece, OwnerRows, RowScores, Terms, unit
from services.episodic.stores.edge_host import EdgeHost
from services.episodic.stores.points import id_behind, point_id

_LISTED_AT_ONCE: Final = 2_000
_READ_AT_ONCE: Final = 50
"""Points of one call, for which searches of the engine wait."""
_COMPARED_IN_PLACE_MAX: Final = 150_000
"""Pieces that are compared too fast for another thread to pay."""


class EdgeCache:
    """Rows of owners. Belongs to the index: as all its writes pass through here, rows are never stale."""

    def __init__(self, engine: EdgeHost, cache: OwnerCache, settings: EdgeSettings, *, dimension: int) -> None:
        """Read from the engine, whose results must be applied in the order in which they come."""
        self._engine = engine
        self._settings = settings
        self._dimension = dimension
        self._entries: CacheKind[OwnerRows] = cache.kind("episode-rows", self._load)
        self._loading: dict[OwnerKey, OwnerRows] = {}
        # By the query's id, for `score`. Rows that the cache has dropped are held by nothing once the search is over.
        self._scored: dict[int, tuple[weakref.ref[IndexQuery], OwnerRows, RowScores]] = {}

    @property
    def count(self) -> int:
        """Pieces that are cached, of all owners."""
        return sum(map(len, self._entries.entries()))

    async def search(self, query: IndexQuery, terms: Terms, *, limit: int) -> RetrieverHits | None:
        """Hits of both retrievers; None where the owner is not cached."""
        rows = self._entries.get(_key(query.owner))
        if rows is None:
            return None
        vector = unit(query.vector)

        def compare() -> tuple[RowScores, RetrieverHits]:
            scores = rows.scores(vector, terms, query.scope_keys)
            return scores, rows.search(scores, limit=limit, overfetch=self._settings.overfetch_factor)

        if len(rows) <= _COMPARED_IN_PLACE_MAX:
            scores, hits = compare()
        else:
            scores, hits = await asyncio.to_thread(compare)
        self._hold(query, rows, scores)
        return hits

    def score(
        self, query: IndexQuery, *, dense: Sequence[EpisodeKey], lexical: Sequence[EpisodeKey]
    ) -> RetrieverHits | None:
        """Scores of named episodes for a query that was just searched; None where they are not known."""
        known = self._scored.get(id(query))
        if known is None or known[0]() is not query or not known[1].is_current(known[2]):
            return None
        _, rows, scores = known
        return RetrieverHits(
            dense=rows.score(scores, dense, lexical=False),
            lexical=rows.score(scores, lexical, lexical=True),
            dense_complete=False,
            lexical_complete=False,
        )

    def wants(self, pieces: Sequence[IndexedPiece]) -> bool:
        """Whether any of the pieces belongs to an owner that is cached or being loaded."""
        return any(self._rows_of(_key(piece.owner)) for piece in pieces)

    def put(self, pieces: Sequence[tuple[IndexedPiece, Terms]]) -> None:
        """Add pieces, with their terms, that the engine has stored."""
        by_owner: dict[OwnerKey, list[CachedPiece]] = defaultdict(list)
        for piece, terms in pieces:
            identifier = point_id(piece.key, piece.number).int
            cached = CachedPiece(identifier, piece.key, piece.scope_key, unit(piece.vector), terms)
            by_owner[_key(piece.owner)].append(cached)
        for key, found in by_owner.items():
            for rows in self._rows_of(key):
                rows.put(found)
            entry = self._entries.peek(key)
            if entry is not None:
                self._entries.put(key, entry)

    def remove(self, owner: Owner, keys: Sequence[EpisodeKey]) -> None:
        """Remove what the engine has removed."""
        for rows in self._rows_of(_key(owner)):
            rows.remove(keys)
            if rows.is_sparse:
                self._entries.forget(_key(owner))

    def remove_owner(self, owner: Owner) -> None:
        """Drop everything of an owner."""
        self._entries.forget(_key(owner))
        self._loading.pop(_key(owner), None)

    def forget_all(self) -> None:
        """Drop everything: what the engine holds is not known."""
        self._entries.forget_all()
        self._loading.clear()
        self._scored.clear()

    async def settle(self) -> None:
        """Wait for what is being loaded."""
        await self._entries.settle()

    async def aclose(self) -> None:
        """Stop loading and drop everything. Closing twice is allowed."""
        await self._entries.aclose()
        self.forget_all()

    def _hold(self, query: IndexQuery, rows: OwnerRows, scores: RowScores) -> None:
        """Have scores at hand for as long as their query lives."""
        name, scored = id(query), self._scored
        scored[name] = weakref.ref(query, lambda _: scored.pop(name, None)), rows, scores

    def _rows_of(self, key: OwnerKey) -> list[OwnerRows]:
        return [found for found in (self._entries.peek(key), self._loading.get(key)) if found is not None]

    async def _load(self, key: OwnerKey) -> None:
        owner = Owner(TenantId(key[0]), UserId(key[1]))
        count = await self._engine.call("count", owner)
        if count < self._settings.cached_points_min:
            return
        if OwnerRows.bytes_of(count, self._dimension) > self._entries.entry_bytes_max:
            return
        # What is written from here on is applied to these rows as well.
        rows = self._loading[key] = OwnerRows(self._dimension, count=count)
        try:
            if await self._read_all(owner, rows):
                self._entries.put(key, rows)
        finally:
            if self._loading.get(key) is rows:
                del self._loading[key]

    async def _read_all(self, owner: Owner, rows: OwnerRows) -> bool:
        """Read all points of an owner; false when they are not wanted any more."""
        start: UUID | None = UUID(int=0)
        while start is not None:
            listed: list[UUID] = await self._engine.call("ids_of", owner, start, _LISTED_AT_ONCE)
            for first in range(0, len(listed), _READ_AT_ONCE):
                await asyncio.sleep(self._settings.prefetch_pause_seconds)
                wanted = [found for found in listed[first : first + _READ_AT_ONCE] if found.int not in rows]
                # Applied right when the result is there: it holds what was written before, what comes later follows.
                rows.put([CachedPiece(*row) for row in await self._engine.call("pieces_of", wanted)])
                if self._loading.get(_key(owner)) is not rows:
                    return False
            start = id_behind(listed[-1]) if len(listed) == _LISTED_AT_ONCE else None
        return True


def _key(owner: Owner) -> OwnerKey:
    return owner.tenant_id, owner.user_id
