"""The worker after the acknowledgement: embeds pending episodes, indexes them, then makes them active."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta

import numpy as np
import structlog

from services.common.background import BackgroundWork
from services.common.clock import Clock
from services.common.embedding.embedder import Embedder
from services.common.embedding.errors import EmbedderBusyError, EmbedderClosedError
from services.common.embedding.tokens import TextEncoding
from services.common.errors import MnemeError
from services.episodic.assessment import EpisodeAssessor
from services.episodic.config import IndexerSettings, TextSettings, TokenSettings
from services.episodic.model import EpisodeId, EpisodeStatus, Owner, episode_pieces
from services.episodic.pending_pieces import PendingPieces
from services.episodic.store import (
    Assessment,
    EpisodeIndex,
    EpisodeStore,
    IndexedPiece,
    PendingBatch,
    PendingEpisode,
    Vector,
)
from services.episodic.token_format import PackedTokens, pack
from services.episodic.token_store import EpisodeName

_log = structlog.get_logger(__name__)


class EpisodeIndexer:
    """Takes pending episodes from the store, which is the queue, so nothing is lost with the process.

    Any number of replicas may run one. An episode that cannot be embedded is set aside with growing waits and
    never holds up others. Belongs to one event loop.
    """

    def __init__(
        self,
        store: EpisodeStore,
        index: EpisodeIndex,
        embedder: Embedder,
        clock: Clock,
        *,
        settings: IndexerSettings | None = None,
        text: TextSettings | None = None,
        tokens: TokenSettings | None = None,
        assessor: EpisodeAssessor | None = None,
        on_summarised: Callable[[Sequence[EpisodeName]], None] = lambda _: None,
        on_doubt: Callable[[], None] = lambda: None,
    ) -> None:
        """Index what `store` holds into `index`, with vectors of `embedder`; call `on_doubt` where it may lack some.

        Without `assessor` episodes have no summary, and the importance that their callers stated. `on_summarised` is
        called with active episodes that had no summary before.
        """
        self._on_doubt = on_doubt
        self._on_summarised = on_summarised
        self._assessor = assessor
        self._store = store
        self._index = index
        self._embedder = embedder
        self._clock = clock
        self._settings = settings or IndexerSettings()
        self._text = text or TextSettings()
        self._tokens = tokens or TokenSettings()
        self._space = embedder.tokens if self._tokens.stored else None
        self._pending_pieces = PendingPieces(self._settings)
        self._work = asyncio.Event()
        self._progress = asyncio.Event()

    def start(self, background: BackgroundWork[str]) -> None:
        """Indexes until `background` is closed. What is under way then is done after the next start."""
        background.keep_running("index", self._run)

    def compare_soon(self) -> None:
        """Report that the index may lack what it once had."""
        self._on_doubt()

    def notify(self, encodings: Mapping[tuple[Owner, EpisodeId], Sequence[TextEncoding]] | None = None) -> None:
        """Report that there is work, with the encodings of pieces that callers brought along.

        They wait in memory only: after a crash, or when too many wait, the texts are embedded again.
        """
        for name, pieces in (encodings or {}).items():
            self._pending_pieces.add(name, pieces)
        self._work.set()

    async def wait_active(self, owner: Owner, episode_ids: Sequence[EpisodeId]) -> dict[EpisodeId, EpisodeStatus]:
        """Wait until none of the episodes is pending, in whichever process they are indexed, and return their statuses.

        The deadline is the caller's.
        """
        while True:
            progress = self._progress
            statuses = await self._store.statuses(owner, episode_ids)
            if EpisodeStatus.PENDING_EMBEDDING not in statuses.values():
                return statuses
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(self._settings.active_poll_seconds):
                    await progress.wait()

    async def index_batch(self) -> int:
        """Index one batch of pending episodes and return how many were taken on; 0 when none is due."""
        summarised: Sequence[EpisodeName] = ()
        async with self._store.claim_pending(limit=self._settings.batch_max, now=self._clock.now()) as batch:
            if batch.episodes:
                summarised = await self._index_claimed(batch)
        if summarised:
            self._on_summarised(summarised)
        progress, self._progress = self._progress, asyncio.Event()
        progress.set()
        return len(batch.episodes)

    async def _run(self) -> None:
        failures = 0
        while True:
            self._work.clear()
            try:
                count = await self.index_batch()
            except Exception as error:
                failures += 1
                # Unexpected errors are logged in full; the store's and the embedder's own say enough.
                known = isinstance(error, MnemeError | EmbedderBusyError | EmbedderClosedError)
                _log.warning("indexing failed", error=str(error), failures=failures, exc_info=not known)
                await asyncio.sleep(self._settings.outage_seconds(failures))
                continue
            if failures:
                self._on_doubt()  # of what was lost in an outage
            failures = 0
            if count < self._settings.batch_max:
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(self._settings.poll_seconds):
                        await self._work.wait()

    async def _index_claimed(self, batch: PendingBatch) -> Sequence[EpisodeName]:
        """Index what was claimed, and return which episodes have got a summary."""
        try:
            put = await self._put(batch.episodes)
        except (MnemeError, EmbedderBusyError, EmbedderClosedError):
            raise
        except Exception:
            _log.warning("a batch cannot be embedded; trying its episodes one by one", exc_info=True)
        else:
            await batch.mark_active(batch.episodes, put.piece_counts, put.tokens, put.assessments)
            return _summarised(batch.episodes, put)
        summarised: list[EpisodeName] = []
        for episode in batch.episodes:
            try:
                put = await self._put([episode])
            except (MnemeError, EmbedderBusyError, EmbedderClosedError):
                raise
            except Exception:
                wait = timedelta(seconds=self._settings.retry_seconds(episode.attempts + 1))
                _log.warning("an episode cannot be embedded", episode_id=str(episode.episode_id), exc_info=True)
                await batch.defer(episode, until=self._clock.now() + wait)
            else:
                await batch.mark_active([episode], put.piece_counts, put.tokens, put.assessments)
                summarised += _summarised([episode], put)
        return summarised

    async def _put(self, episodes: Sequence[PendingEpisode]) -> _Put:
        """Encode what nobody brought along, and put the vectors of everything into the index."""
        texts = [
            episode_pieces(e.text, piece_chars=self._text.piece_chars, pieces_max=self._text.pieces_max)
            for e in episodes
        ]
        kept = [self._taken(e, len(pieces)) for e, pieces in zip(episodes, texts, strict=True)]
        missing = [text for pieces, known in zip(texts, kept, strict=True) if self._lacks(known) for text in pieces]
        encoded = iter(await self._embedder.encode_documents(missing)) if missing else iter(())
        encodings = [
            _completed(known, [next(encoded) for _ in pieces]) if self._lacks(known) else known or ()
            for pieces, known in zip(texts, kept, strict=True)
        ]
        await self._index.put(
            [
                IndexedPiece(
                    owner=episode.owner,
                    key=episode.key,
                    number=number,
                    text=text,
                    vector=_checked(encoding.vector),
                    scope_key=episode.scope_key,
                    time=episode.time,
                )
                for episode, pieces, known in zip(episodes, texts, encodings, strict=True)
                for number, (text, encoding) in enumerate(zip(pieces, known, strict=True))
            ]
        )
        assessments = await self._assessed(episodes, encodings)
        return _Put([len(pieces) for pieces in texts], self._packed(episodes, encodings), assessments)

    async def _assessed(
        self, episodes: Sequence[PendingEpisode], encodings: Sequence[Sequence[TextEncoding]]
    ) -> Sequence[Assessment]:
        if self._assessor is None:
            return ()
        await self._assessor.prepare()
        vectors = [[piece.vector for piece in pieces] for pieces in encodings]
        return await asyncio.to_thread(self._assessor.assess, episodes, vectors)

    def _packed(
        self, episodes: Sequence[PendingEpisode], encodings: Sequence[Sequence[TextEncoding]]
    ) -> dict[EpisodeName, PackedTokens]:
        """Token vectors of the episodes, where any are stored."""
        space = self._space
        if space is None:
            return {}
        found: dict[EpisodeName, PackedTokens] = {}
        for episode, pieces in zip(episodes, encodings, strict=True):
            tokens = [piece.tokens for piece in pieces if piece.tokens is not None]
            if len(tokens) == len(pieces):
                found[EpisodeName(episode.owner, episode.episode_id)] = PackedTokens(
                    space.fingerprint, pack(space, tokens)
                )
        return found

    def _taken(self, episode: PendingEpisode, pieces_count: int) -> Sequence[TextEncoding] | None:
        """What a caller brought along, if it is as much as the pieces."""
        pieces = self._pending_pieces.take((episode.owner, episode.episode_id))
        return pieces if pieces is not None and len(pieces) == pieces_count else None

    def _lacks(self, known: Sequence[TextEncoding] | None) -> bool:
        """Whether the model has to be run for pieces, since their vectors did not come with them."""
        return known is None or (self._space is not None and any(piece.tokens is None for piece in known))


@dataclass(frozen=True, slots=True)
class _Put:
    """What became of a batch."""

    piece_counts: list[int]  # of each episode
    tokens: dict[EpisodeName, PackedTokens]
    assessments: Sequence[Assessment]  # one for each episode, or none


def _summarised(episodes: Sequence[PendingEpisode], put: _Put) -> list[EpisodeName]:
    """Those that have a summary and had none."""
    return [
        EpisodeName(episode.owner, episode.episode_id)
        for episode, assessment in zip(episodes, put.assessments, strict=bool(put.assessments))
        if assessment.summary and not episode.summary
    ]


def _completed(known: Sequence[TextEncoding] | None, encoded: Sequence[TextEncoding]) -> Sequence[TextEncoding]:
    """What the model gave, with the vectors that a caller brought along."""
    if known is None:
        return encoded
    return [TextEncoding(own.vector, piece.tokens) for own, piece in zip(known, encoded, strict=True)]


def _checked(vector: Vector) -> Vector:
    """Refuse a vector that would poison the index: engines take NaN without a word."""
    if not np.isfinite(vector).all():
        raise ValueError("the model returned a vector that is not finite")
    return vector
