"""Makes token vectors of episodes that became active without them: before the tier kept any, or with another model."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import structlog

from services.common.embedding.embedder import Embedder
from services.common.embedding.errors import EmbedderBusyError, EmbeddingFailedError
from services.common.embedding.tokens import TokenSpace
from services.common.errors import MnemeError
from services.episodic.config import IndexerSettings, TextSettings, TokenSettings
from services.episodic.model import episode_pieces
from services.episodic.token_format import PackedTokens, pack
from services.episodic.token_store import EpisodeName, TokenStore, UntokenedEpisode

_log = structlog.get_logger(__name__)


class TokenBackfill:
    """Goes through all episodes by their names, a few at a time. They stay searchable meanwhile.

    Of several replicas one works at a time; the others find its work done.
    """

    def __init__(
        self,
        store: TokenStore,
        embedder: Embedder,
        settings: TokenSettings,
        *,
        indexer: IndexerSettings | None = None,
        text: TextSettings | None = None,
    ) -> None:
        """Keep token vectors of `embedder` in `store`; `text` is how texts are cut, `indexer` how failures wait."""
        self._store = store
        self._embedder = embedder
        self._settings = settings
        self._waits = indexer or IndexerSettings()
        self._text = text or TextSettings()

    async def run(self) -> int:
        """Go through all episodes once, and return how many were given token vectors.

        Where the store cannot be asked or the model is busy, it waits and goes on where it was.
        """
        space = self._embedder.tokens
        total, failures = 0, 0
        after: EpisodeName | None = None
        while space is not None:
            try:
                count, after, is_claimed = await self._step(space, after)
            except (MnemeError, EmbedderBusyError) as error:
                failures += 1
                _log.warning("token vectors are not made", error=type(error).__name__, failures=failures)
                await asyncio.sleep(self._waits.outage_seconds(failures))
                continue
            failures = 0
            total += count
            if is_claimed and after is None:
                break
            await asyncio.sleep(self._settings.backfill_pause_seconds if is_claimed else self._waits.poll_seconds)
        if total:
            _log.info("episodes were given token vectors", count=total)
        return total

    async def _step(self, space: TokenSpace, after: EpisodeName | None) -> tuple[int, EpisodeName | None, bool]:
        settings = self._settings
        async with self._store.claim_untokened(
            space.fingerprint, after=after, scan_limit=settings.backfill_scanned, limit=settings.backfill_batch
        ) as batch:
            if not batch.episodes:
                return 0, batch.after, batch.is_claimed
            tokens = await self._tokens(space, batch.episodes)
            await batch.put(tokens)
        return len(tokens), batch.after, True

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
