"""Job: fills the second index with what became active before it was there."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Sequence
from datetime import datetime
from typing import Final
from uuid import UUID

import numpy as np

from services.common.embedding.errors import EmbeddingError
from services.common.errors import StoreUnavailable
from services.common.maintenance import Cap, Change, Step
from services.episodic.config import IndexerSettings, TextSettings
from services.episodic.model import Episode, EpisodeId, EpisodeStatus, Owner, TenantId, UserId, episode_pieces
from services.episodic.second_index import PairedEpisodeIndex
from services.episodic.store import EpisodeCursor, EpisodeFilter, EpisodeStore, IndexedPiece, Vector

_NO_VECTOR: Final[Vector] = np.empty(0, dtype=np.float32)
"""Of pieces whose vector the second index's model is yet to make."""


class FillSecondIndex:
    """Indexes active episodes that the second index lacks, user by user."""

    name = "episodic.fill_second_index"
    cap = Cap()  # it retires nothing

    def __init__(
        self,
        store: EpisodeStore,
        index: PairedEpisodeIndex,
        settings: IndexerSettings | None = None,
        *,
        text: TextSettings | None = None,
    ) -> None:
        """Fills the second index of `index` from `store`; `text` is how texts are cut into pieces."""
        self._store = store
        self._index = index
        self._settings = settings or IndexerSettings()
        self._text = text or TextSettings()

    async def steps(self, *, after: str, owner: Owner | None) -> AsyncIterator[Step[Sequence[Episode]]]:
        """See `Job.steps`: a page of one user's episodes a step. A run that goes on begins with the user it was at."""
        limit = self._settings.reconciled_owners
        begun = _place(after) if after else None
        if begun is not None and owner in {None, begun[0]}:
            async for step in self._pages(*begun):
                yield step
        last = begun[0] if begun is not None else None
        while True:
            states = await self._store.index_states(self._index.model, after=last, limit=limit)
            for state in states:
                last = state.owner
                if owner is not None and owner != last:
                    continue
                if state.piece_count and await self._index.second.count(last) < state.piece_count:
                    async for step in self._pages(last, None):
                        yield step
            if len(states) < limit:
                return

    def plan(self, state: Sequence[Episode], now: datetime) -> Sequence[Change]:
        """See `Job.plan`."""
        del now
        return [Change("index_beside", str(episode.content.episode_id)) for episode in state]

    async def apply(self, owner: Owner | None, changes: Sequence[Change]) -> Sequence[Change]:
        """See `Job.apply`. What was archived or deleted meanwhile leaves no points behind."""
        if owner is None:
            return []
        wanted = {EpisodeId(UUID(change.target)): change for change in changes}
        found = await self._store.get(owner, list(wanted))
        active = {name: episode for name, episode in found.items() if episode.status is EpisodeStatus.ACTIVE}
        try:
            await self._index.put_second([piece for episode in active.values() for piece in self._pieces(episode)])
        except EmbeddingError as error:
            raise StoreUnavailable("embedder") from error
        now = await self._store.statuses(owner, list(active))
        gone = [name for name in active if now.get(name) not in {EpisodeStatus.ACTIVE, EpisodeStatus.PENDING_EMBEDDING}]
        await self._index.second.remove(owner, [active[name].content.key for name in gone])
        return [wanted[name] for name in active if name not in gone]

    async def undo(self, owner: Owner | None, changes: Sequence[Change]) -> int:
        """See `Job.undo`. There is nothing to take back: the second index is not searched."""
        del owner, changes
        return 0

    async def _pages(self, owner: Owner, after: EpisodeCursor | None) -> AsyncIterator[Step[Sequence[Episode]]]:
        limit = self._settings.batch_max
        query = EpisodeFilter(status=EpisodeStatus.ACTIVE)
        while page := await self._store.list_episodes(owner, query, limit=limit, after=after):
            last = page[-1].content
            after = EpisodeCursor(last.time, last.episode_id)
            yield Step(page, _cursor(owner, after), owner, len(page))
            if len(page) < limit:
                return

    def _pieces(self, episode: Episode) -> list[IndexedPiece]:
        content, text = episode.content, self._text
        pieces = episode_pieces(content.text, piece_chars=text.piece_chars, pieces_max=text.pieces_max)
        return [
            IndexedPiece(
                owner=content.owner,
                key=content.key,
                number=number,
                text=piece,
                vector=_NO_VECTOR,
                scope_key=content.scope_key,
                time=content.time,
            )
            for number, piece in enumerate(pieces)
        ]


def _cursor(owner: Owner, place: EpisodeCursor) -> str:
    return json.dumps([owner.tenant_id, owner.user_id, place.time.isoformat(), str(place.episode_id)])


def _place(cursor: str) -> tuple[Owner, EpisodeCursor]:
    tenant_id, user_id, time, episode_id = json.loads(cursor)
    place = EpisodeCursor(datetime.fromisoformat(time), EpisodeId(UUID(episode_id)))
    return Owner(TenantId(tenant_id), UserId(user_id)), place
