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
from services.episodic.second_index import PairedEpisodeIndex, owners_lacking
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
        begun = self._begun(after)
        if begun is not None and owner in {None, begun[0]}:
            async for step in self._pages(*begun):
                yield step
        last = begun[0] if begun is not None else None
        limit = self._settings.reconciled_owners
        async for lacking in owners_lacking(self._store, self._index, owners_at_once=limit, after=last, only=owner):
            async for step in self._pages(lacking, None):
                yield step

    def plan(self, state: Sequence[Episode], now: datetime) -> Sequence[Change]:
        """See `Job.plan`."""
        del now
        return [Change("index_beside", str(episode.content.episode_id)) for episode in state]

    async def apply(self, owner: Owner | None, changes: Sequence[Change]) -> Sequence[Change]:
        """See `Job.apply`. An archive or deletion waits until the points are there, and removes them then.

        Even where this process dies meanwhile: nothing else would look for points of episodes that are gone.
        """
        if owner is None:
            return []
        wanted = {EpisodeId(UUID(change.target)): change for change in changes}
        found = await self._store.get(owner, list(wanted))
        active = {name: episode for name, episode in found.items() if episode.status is EpisodeStatus.ACTIVE}
        if not active:
            return []
        try:
            pieces = await self._index.embedded([each for one in active.values() for each in self._pieces(one)])
        except EmbeddingError as error:
            raise StoreUnavailable("embedder") from error
        async with self._store.held(owner, list(active)) as held:
            keys = {active[name].content.key for name in held}
            await self._index.second.put([piece for piece in pieces if piece.key in keys])
        return [wanted[name] for name in active if name in held]

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
            yield Step(page, self._cursor(owner, after), owner, len(page))
            if len(page) < limit:
                return

    def _cursor(self, owner: Owner, place: EpisodeCursor) -> str:
        """Names the index as well: a run that filled the other one, before a cut-over, does not go on."""
        found = [
            self._index.second.model,
            owner.tenant_id,
            owner.user_id,
            place.time.isoformat(),
            str(place.episode_id),
        ]
        return json.dumps(found)

    def _begun(self, cursor: str) -> tuple[Owner, EpisodeCursor] | None:
        if not cursor:
            return None
        *model, tenant_id, user_id, time, episode_id = json.loads(cursor)  # without a model, of an earlier release
        if model and model != [self._index.second.model]:
            return None
        place = EpisodeCursor(datetime.fromisoformat(time), EpisodeId(UUID(episode_id)))
        return Owner(TenantId(tenant_id), UserId(user_id)), place

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
