"""Job: makes token vectors of episodes that became active without them: of an older release, or another model."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from datetime import datetime
from uuid import UUID

import structlog

from services.common.embedding.embedder import Embedder
from services.common.embedding.errors import EmbedderBusyError, EmbeddingFailedError
from services.common.embedding.tokens import TokenSpace
from services.common.errors import StoreUnavailable
from services.common.maintenance import Cap, Change, Step
from services.episodic.config import TextSettings, TokenSettings
from services.episodic.model import EpisodeId, Owner, TenantId, UserId, episode_pieces
from services.episodic.token_format import PackedTokens, pack
from services.episodic.token_store import EpisodeName, TokenStore, UntokenedBatch, UntokenedEpisode

_log = structlog.get_logger(__name__)


class TokenBackfill:
    """Goes through all episodes by their names, a few at a time. They stay searchable meanwhile."""

    name = "episodic.backfill_tokens"
    cap = Cap()  # it retires nothing

    def __init__(
        self, store: TokenStore, embedder: Embedder, settings: TokenSettings, *, text: TextSettings | None = None
    ) -> None:
        """Stores token vectors of `embedder` in `store`; `text` is how texts are cut into pieces."""
        self._store = store
        self._embedder = embedder
        self._settings = settings
        self._text = text or TextSettings()
        self._batch: UntokenedBatch | None = None  # of the step under way

    async def steps(self, *, after: str, owner: Owner | None) -> AsyncIterator[Step[Sequence[UntokenedEpisode]]]:
        """See `Job.steps`: episodes without token vectors, a batch a step, with pauses."""
        space, settings = self._embedder.tokens, self._settings
        last = _name(after) if after else None
        while space is not None:
            async with self._store.claim_untokened(
                space.fingerprint, after=last, scan_limit=settings.backfill_scanned, limit=settings.backfill_batch
            ) as batch:
                self._batch = batch
                listed = [e for e in batch.episodes if owner is None or e.name.owner == owner]
                # The place before the batch: what it stores is committed when the step has ended.
                yield Step(listed, _cursor(last) if last is not None else after, memory_count=len(listed))
            if batch.after is None:
                return
            last = batch.after
            await asyncio.sleep(settings.backfill_pause_seconds)

    def plan(self, state: Sequence[UntokenedEpisode], now: datetime) -> Sequence[Change]:
        """See `Job.plan`."""
        del now
        return [Change("store_tokens", str(episode.name.episode_id)) for episode in state]

    async def apply(self, owner: Owner | None, changes: Sequence[Change]) -> Sequence[Change]:
        """See `Job.apply`. The batch holds its episodes until the step ends; those that are gone are ignored."""
        del owner
        space, batch = self._embedder.tokens, self._batch
        if space is None or batch is None:
            return []
        wanted = {change.target: change for change in changes}
        try:
            tokens = await self._tokens(space, [e for e in batch.episodes if str(e.name.episode_id) in wanted])
        except EmbedderBusyError as error:
            raise StoreUnavailable("embedder") from error
        await batch.put(tokens)
        return [wanted[str(name.episode_id)] for name in tokens]

    async def undo(self, owner: Owner | None, changes: Sequence[Change]) -> int:
        """See `Job.undo`. There is nothing to take back: token vectors follow from the text."""
        del owner, changes
        return 0

    async def _tokens(self, space: TokenSpace, episodes: Sequence[UntokenedEpisode]) -> dict[EpisodeName, PackedTokens]:
        try:
            return await self._packed(space, episodes)
        except EmbeddingFailedError:
            _log.warning("a batch has no token vectors; trying its episodes one by one", exc_info=True)
        found: dict[EpisodeName, PackedTokens] = {}
        for episode in episodes:
            try:
                found |= await self._packed(space, [episode])
            except EmbeddingFailedError:
                _log.warning("an episode has no token vectors", episode_id=str(episode.name.episode_id), exc_info=True)
        return found

    async def _packed(self, space: TokenSpace, episodes: Sequence[UntokenedEpisode]) -> dict[EpisodeName, PackedTokens]:
        texts = [
            episode_pieces(e.text, piece_chars=self._text.piece_chars, pieces_max=self._text.pieces_max)
            for e in episodes
        ]
        encodings = iter(await self._embedder.encode_documents([text for pieces in texts for text in pieces]))
        found: dict[EpisodeName, PackedTokens] = {}
        for episode, pieces in zip(episodes, texts, strict=True):
            tokens = [next(encodings).tokens for _ in pieces]
            found[episode.name] = PackedTokens(space.fingerprint, pack(space, [t for t in tokens if t is not None]))
        return found


def _cursor(name: EpisodeName) -> str:
    return json.dumps([name.owner.tenant_id, name.owner.user_id, str(name.episode_id)])


def _name(cursor: str) -> EpisodeName:
    tenant_id, user_id, episode_id = json.loads(cursor)
    return EpisodeName(Owner(TenantId(tenant_id), UserId(user_id)), EpisodeId(UUID(episode_id)))
