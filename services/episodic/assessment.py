"""What is found out about an episode while it is indexed: how important it is, and its summary."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import structlog

from services.common.embedding.vectors import Vector
from services.common.summaries import Summariser
from services.episodic.importance import ImportanceScorer
from services.episodic.store import UNASSESSED, Assessment, PendingEpisode

_log = structlog.get_logger(__name__)


class EpisodeAssessor:
    """Assesses episodes after the acknowledgement."""

    def __init__(self, importance: ImportanceScorer, summaries: Summariser) -> None:
        """Scores by `importance` and summarises by `summaries`."""
        self._importance = importance
        self._summaries = summaries

    async def prepare(self) -> None:
        """Embeds what texts are compared with, the first time.

        Raises:
            EmbeddingError: The model cannot be run.
        """
        await self._importance.prepare()

    def assess(self, episodes: Sequence[PendingEpisode], vectors: Sequence[Sequence[Vector]]) -> list[Assessment]:
        """Assesses episodes, each with the embeddings of its pieces. Takes processor time: call it in a thread.

        A summary that is stored stays. An episode that cannot be assessed is searchable all the same.
        """
        return [self._assessed(episode, pieces) for episode, pieces in zip(episodes, vectors, strict=True)]

    def _assessed(self, episode: PendingEpisode, pieces: Sequence[Vector]) -> Assessment:
        try:
            importance = self._importance.score(episode.text, pieces)
            return Assessment(importance=importance, summary=episode.summary or self._summaries.summarise(episode.text))
        except Exception:
            _log.exception("an episode cannot be assessed")
            return replace(UNASSESSED, summary=episode.summary)
