"""A second index beside the first, of another embedding model, for a change of the model."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import replace

import structlog

from services.common.background import BackgroundWork
from services.common.embedding.embedder import Embedder
from services.common.embedding.errors import EmbeddingError
from services.common.errors import MnemeError
from services.episodic.comparison_store import IndexedEpisode
from services.episodic.config import IndexerSettings
from services.episodic.model import EpisodeId, EpisodeKey, Owner
from services.episodic.store import EpisodeIndex, EpisodeStore, IndexedPiece, IndexQuery, RetrieverHits, Vector

_log = structlog.get_logger(__name__)


class PairedEpisodeIndex:
    """An `EpisodeIndex` that searches its first index and writes to both, to the second by another model.

    A write that the second index or its model refuses is left to the job that fills it. A removal must succeed in
    both: what is erased may stay in neither.
    """

    def __init__(self, first: EpisodeIndex, second: EpisodeIndex, embedder: Embedder) -> None:
        """Search `first`; `embedder` makes the vectors of `second`. Both are closed with this."""
        self.first = first
        self.second = second
        self._embedder = embedder

    @property
    def model(self) -> str:
        """Of the index that is searched."""
        return self.first.model

    @property
    def dimension(self) -> int:
        """Of the index that is searched."""
        return self.first.dimension

    async def put(self, pieces: Sequence[IndexedPiece]) -> None:
        """See `EpisodeIndex.put`. The second index takes the same pieces if it can."""
        await self.first.put(pieces)
        try:
            await self.put_second(pieces)
        except (MnemeError, EmbeddingError) as error:
            _log.warning("the second episode index lacks new episodes for now", error=str(error))

    async def put_second(self, pieces: Sequence[IndexedPiece]) -> None:
        """Put pieces into the second index alone, with vectors of its model.

        Raises:
            StoreUnavailable: The index cannot be written to.
            EmbeddingError: The model cannot be run.
        """
        if pieces:
            await self.second.put(await self.embedded(pieces))

    async def embedded(self, pieces: Sequence[IndexedPiece]) -> Sequence[IndexedPiece]:
        """The same pieces with vectors of the second index's model.

        Raises:
            EmbeddingError: The model cannot be run.
        """
        vectors = await self._embedder.embed_documents([piece.text for piece in pieces])
        return [replace(piece, vector=vector) for piece, vector in zip(pieces, vectors, strict=True)]

    async def search(self, query: IndexQuery, *, limit: int) -> RetrieverHits:
        """See `EpisodeIndex.search`: the first index alone."""
        return await self.first.search(query, limit=limit)

    async def score(
        self, query: IndexQuery, *, dense: Sequence[EpisodeKey], lexical: Sequence[EpisodeKey]
    ) -> RetrieverHits:
        """See `EpisodeIndex.score`: the first index alone."""
        return await self.first.score(query, dense=dense, lexical=lexical)

    async def vectors(self, owner: Owner, keys: Sequence[EpisodeKey]) -> Mapping[EpisodeKey, Vector]:
        """See `EpisodeIndex.vectors`: of the first index."""
        return await self.first.vectors(owner, keys)

    async def remove(self, owner: Owner, keys: Sequence[EpisodeKey]) -> None:
        """See `EpisodeIndex.remove`."""
        await self.first.remove(owner, keys)
        await self.second.remove(owner, keys)

    async def remove_owner(self, owner: Owner) -> None:
        """See `EpisodeIndex.remove_owner`."""
        await self.first.remove_owner(owner)
        await self.second.remove_owner(owner)

    async def count(self, owner: Owner) -> int:
        """See `EpisodeIndex.count`: of the first index."""
        return await self.first.count(owner)

    async def scan(self, *, after: EpisodeKey | None, limit: int) -> list[IndexedEpisode]:
        """See `EpisodeIndex.scan`: of the first index."""
        return await self.first.scan(after=after, limit=limit)

    async def check(self) -> None:
        """See `EpisodeIndex.check`: of the first index, without which nothing is found."""
        await self.first.check()

    async def aclose(self) -> None:
        """Close both."""
        try:
            await self.first.aclose()
        finally:
            await self.second.aclose()


async def adopt_indexed(store: EpisodeStore, index: EpisodeIndex, *, owners_at_once: int, pieces_at_once: int) -> int:
    """Note what an index holds already of episodes that another model's index made active; returns how many.

    An index that was filled beside another one is searched at once that way. Repeating it changes nothing.

    Raises:
        StoreUnavailable: The store or the index cannot be read.
    """
    last: Owner | None = None
    while True:
        states = await store.index_states(index.model, after=last, limit=owners_at_once)
        if any(state.other_episodes for state in states):
            break
        if len(states) < owners_at_once:
            return 0
        last = states[-1].owner
    count = 0
    key: EpisodeKey | None = None
    while page := await index.scan(after=key, limit=pieces_at_once):
        key = page[-1].key
        count += await store.adopt_indexed(index.model, page)
    if count:
        _log.info("episodes of an index that was filled beside another one are searched", episodes=count)
    return count


class Adoption:
    """Takes over what one index holds already, when the model of that index begins to serve."""

    def __init__(
        self, store: EpisodeStore, index: EpisodeIndex, settings: IndexerSettings, *, settle_seconds: float
    ) -> None:
        """Of `index`, in `store`; other processes may write with the former model for `settle_seconds`."""
        self._store = store
        self._index = index
        self._settings = settings
        self._settle_seconds = settle_seconds

    async def adopt(self) -> int:
        """See `adopt_indexed`."""
        chosen = self._settings
        return await adopt_indexed(
            self._store, self._index, owners_at_once=chosen.reconciled_owners, pieces_at_once=chosen.scanned_pieces
        )

    def start(self, background: BackgroundWork[str]) -> None:
        """Adopts in the background where there are two models: this one may just have begun to serve."""
        if self._settle_seconds:
            background.keep_running("adopt-indexed", self.run)

    async def run(self) -> None:
        """Adopts what is there, then, when no process writes with the former model, has indexed what is not.

        Such are episodes whose points the index could not take while it was the second one.
        """
        await self.adopt()
        await asyncio.sleep(self._settle_seconds)
        await self.adopt()
        await self.index_rest()

    async def index_rest(self) -> int:
        """Makes active episodes pending again that another model's index made active; returns how many."""
        count, limit = 0, self._settings.reset_batch_max
        last: Owner | None = None
        while True:
            states = await self._store.index_states(
                self._index.model, after=last, limit=self._settings.reconciled_owners
            )
            for state in states:
                last = state.owner
                if state.other_episodes:
                    count += await self._reset(last, limit)
            if len(states) < self._settings.reconciled_owners:
                break
        if count:
            _log.warning("episodes that the index lacks are indexed again", episodes=count)
        return count

    async def _reset(self, owner: Owner, limit: int) -> int:
        count = 0
        last: EpisodeId | None = None
        while True:
            model = self._index.model
            found = await self._store.reset_episodes(owner, kept_model=model, after=last, limit=limit)
            count += len(found)
            if len(found) < limit:
                return count
            last = max(found)


async def owners_lacking(
    store: EpisodeStore,
    index: PairedEpisodeIndex,
    *,
    owners_at_once: int,
    after: Owner | None = None,
    only: Owner | None = None,
) -> AsyncIterator[Owner]:
    """Users of whom the second index lacks pieces, by tenant and user, those after `after`; with `only` no others."""
    last = after
    while True:
        states = await store.index_states(index.model, after=last, limit=owners_at_once, only=only)
        for state in states:
            last = state.owner
            if state.piece_count and await index.second.count(last) < state.piece_count:
                yield last
        if len(states) < owners_at_once:
            return
