"""Episodes that were archived since a time, as candidates of a search as of that time (SPEC 3.7).

They are in no index: those that share words with the query, then the newest ones, are read from the store and embedded
for this search.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

import numpy as np

from services.common.embedding.embedder import Embedder
from services.episodic.candidates import CandidateQuery, Candidates
from services.episodic.columns import EpisodeColumns
from services.episodic.config import TextSettings
from services.episodic.model import EpisodeId, Owner, episode_pieces
from services.episodic.store import EpisodeStore, Vector


@dataclass(frozen=True, slots=True)
class ArchivedCandidates:
    """Adds archived episodes to the candidates of a search."""

    store: EpisodeStore
    embedder: Embedder
    text: TextSettings
    count_max: int  # episodes that are added

    async def added(self, query: CandidateQuery, found: Candidates, archived_after: datetime) -> Candidates:
        """The candidates with episodes that happened before a time and were archived after it.

        No retriever returned them, so they have scores and no ranks.
        """
        columns, lexical = await self.store.archived_columns(
            query.owner,
            query.text,
            scope_keys=query.scope_keys,
            archived_after=archived_after,
            limit=min(self.count_max, query.retriever_limit),
        )
        known = set(found.columns.keys)
        further = [i for i, key in enumerate(columns.keys) if key not in known]
        if not further:
            return found
        columns = columns.selected(further)
        similarities = await self._similarities(query.owner, query.vector, columns.episode_ids)
        nothing = [0] * len(further)
        return replace(
            found,
            columns=found.columns.joined(columns),
            dense_scores=[*found.dense_scores, *similarities],
            lexical_scores=[*found.lexical_scores, *(lexical[i] for i in further)],
            dense_ranks=[*found.dense_ranks, *nothing],
            lexical_ranks=[*found.lexical_ranks, *nothing],
        )

    async def similar(
        self, owner: Owner, text: str, vector: Vector, *, scope_keys: Sequence[str], archived_after: datetime
    ) -> tuple[EpisodeColumns, list[float]]:
        """Episodes that happened before a time and were archived after it, with their similarities to a query."""
        columns, _ = await self.store.archived_columns(
            owner, text, scope_keys=scope_keys, archived_after=archived_after, limit=self.count_max
        )
        return columns, await self._similarities(owner, vector, columns.episode_ids)

    async def _similarities(self, owner: Owner, vector: Vector, names: list[bytes]) -> list[float]:
        """For each episode the best cosine of its pieces to the query; 0 for one that is gone."""
        episodes = await self.store.get(owner, [EpisodeId(UUID(bytes=name)) for name in names])
        pieces = [
            (place, piece)
            for place, name in enumerate(names)
            if (episode := episodes.get(EpisodeId(UUID(bytes=name)))) is not None
            for piece in episode_pieces(
                episode.content.text, piece_chars=self.text.piece_chars, pieces_max=self.text.pieces_max
            )
        ]
        best = np.zeros(len(names), dtype=np.float32)
        if pieces:
            vectors = await self.embedder.embed_documents([piece for _, piece in pieces])
            np.maximum.at(best, [place for place, _ in pieces], vectors @ vector)
        similarities: list[float] = best.tolist()
        return similarities
