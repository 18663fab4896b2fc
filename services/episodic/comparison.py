"""Compares the first and the second embedding model on questions, before a change of the model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from services.common.embedding.embedder import Embedder
from services.common.embedding.errors import EmbeddingError
from services.common.errors import FailedPrecondition, StoreUnavailable
from services.common.model_comparison import HITS, QuestionComparison, compare_hits
from services.episodic.model import EpisodeId, EpisodeKey, Owner
from services.episodic.second_index import PairedEpisodeIndex, owners_lacking
from services.episodic.store import EpisodeIndex, EpisodeStore, IndexQuery

LACKING_MAX: Final = 100
"""Users that `ModelComparer.count_lacking` counts."""
_OWNERS_AT_ONCE: Final = 200


@dataclass(frozen=True, slots=True)
class ModelQuestion:
    """A question, and the episodes that are right for it where they are known."""

    query: str
    relevant_ids: Sequence[EpisodeId] = ()


@dataclass(frozen=True, slots=True)
class ModelComparison:
    """What two models find for questions of one user."""

    first_model: str
    second_model: str
    first_pieces: int  # of the user in each index: where the second has fewer, it is not filled yet
    second_pieces: int
    questions: Sequence[QuestionComparison]


class ModelComparer:
    """Asks both indexes the same questions, by their vectors alone. Writes nothing."""

    def __init__(
        self, store: EpisodeStore, index: EpisodeIndex, embedder: Embedder, second_embedder: Embedder | None
    ) -> None:
        """Compare within `index`, where it is one of two; right episodes are looked up in `store`."""
        self._store = store
        self._index = index
        self._embedder = embedder
        self._second_embedder = second_embedder

    async def compare(
        self, owner: Owner, questions: Sequence[ModelQuestion], *, scope_keys: Sequence[str]
    ) -> ModelComparison:
        """One question after the other, so that requests go in between.

        Raises:
            FailedPrecondition: There is no second model.
            StoreUnavailable: A store, an index or a model cannot be used.
        """
        index, second = self._index, self._second_embedder
        if not isinstance(index, PairedEpisodeIndex) or second is None:
            raise FailedPrecondition("no second embedding model is configured: set MNEME_EMBEDDING_SECOND_MODEL_DIR")
        ids = list({each: None for question in questions for each in question.relevant_ids})
        found = await self._store.get(owner, ids) if ids else {}
        keys = {each: episode.content.key for each, episode in found.items()}
        compared = []
        for question in questions:
            by_first = await _nearest(index.first, self._embedder, owner, question.query, scope_keys)
            by_second = await _nearest(index.second, second, owner, question.query, scope_keys)
            compared.append(compare_hits(by_first, by_second, _right(question, keys)))
        return ModelComparison(
            first_model=self._embedder.fingerprint,
            second_model=second.fingerprint,
            first_pieces=await index.first.count(owner),
            second_pieces=await index.second.count(owner),
            questions=compared,
        )

    async def count_lacking(self, model: str) -> int:
        """How many users the index of a model lacks pieces of, at most `LACKING_MAX`; none of the one that is searched.

        Raises:
            FailedPrecondition: There is no index of this model.
            StoreUnavailable: The store or an index cannot be read.
        """
        if model == self._embedder.fingerprint:
            return 0
        index, second = self._index, self._second_embedder
        if not isinstance(index, PairedEpisodeIndex) or second is None or model != second.fingerprint:
            raise FailedPrecondition(f"the episodic tier does not hold the embedding model {model}")
        count = 0
        async for _ in owners_lacking(self._store, index, owners_at_once=_OWNERS_AT_ONCE):
            count += 1
            if count == LACKING_MAX:
                break
        return count


async def _nearest(
    index: EpisodeIndex, embedder: Embedder, owner: Owner, query: str, scope_keys: Sequence[str]
) -> set[EpisodeKey]:
    try:
        vector = await embedder.embed_query(query)
    except EmbeddingError as error:
        raise StoreUnavailable("embedder") from error
    asked = IndexQuery(owner=owner, text=query, vector=vector, scope_keys=scope_keys)
    hits = (await index.search(asked, limit=HITS)).dense
    return set(sorted(hits, key=lambda key: -hits[key])[:HITS])


def _right(question: ModelQuestion, keys: Mapping[EpisodeId, EpisodeKey]) -> set[EpisodeKey]:
    """Those that are there: one that was erased counts for neither model."""
    return {keys[each] for each in question.relevant_ids if each in keys}
