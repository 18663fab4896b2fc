"""A second index beside the first, of another embedding model, for a change of the model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import structlog

from services.common.embedding.embedder import Embedder
from services.common.embedding.errors import EmbeddingError
from services.common.errors import MnemeError
from services.episodic.model import EpisodeKey, Owner
from services.episodic.store import (
    EpisodeIndex,
    EpisodeStore,
    IndexedEpisode,
    IndexedPiece,
    IndexQuery,
    RetrieverHits,
    Vector,
)

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
            vectors = await self._embedder.embed_documents([piece.text for piece in pieces])
            await self.second.put(
                [replace(piece, vector=vector) for piece, vector in zip(pieces, vectors, strict=True)]
            )

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
