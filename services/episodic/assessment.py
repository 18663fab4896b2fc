"""What is found out about an episode while it is indexed: how important it is, and its summary."""

from __future__ import annotations

from collections.abc import Sequence

import structlog

from services.common.embedding.vectors import Vector
from services.common.summaries import Summariser
from services.episodic.importance import ImportanceScorer
from services.episodic.store import UNASSESSED, Assessment

_log = structlog.get_logger(__name__)


class EpisodeAssessor:
    """Assesses episodes behind the acknowledgement."""

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

    def assess(self, texts: Sequence[str], vectors: Sequence[Sequence[Vector]]) -> list[Assessment]:
        """Assesses texts, each with the embeddings of its pieces. Takes processor time: call it in a thread.

        A text that cannot be assessed is searchable all the same.
        """
        return [self._assessed(text, pieces) for text, pieces in zip(texts, vectors, strict=True)]

    def _assessed(self, text: str, pieces: Sequence[Vector]) -> Assessment:
        try:
            return Assessment(importance=self._importance.score(text, pieces), summary=self._summaries.summarise(text))
        except Exception:
            _log.exception("an episode cannot be assessed")
            return UNASSESSED
