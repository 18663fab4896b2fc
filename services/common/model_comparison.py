"""Compares two embedding models on texts that have stored vectors of the first one alone, such as facts and notes.

Both models embed the texts for it. Episodes are compared by their two indexes instead.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Final, TypeVar

import numpy as np

from services.common.embedding.vectors import Matrix, Vector
from services.common.errors import FailedPrecondition
from services.common.model_change import ModelChangeSettings
from services.common.owners import Owner
from services.common.tier_embedder import TierEmbedder

_Hit = TypeVar("_Hit")

HITS: Final = 10
"""Nearest texts of each model that are compared."""
_KEPT_SECONDS: Final = 30.0
"""How long vectors wait for further questions about the same texts."""


@dataclass(frozen=True, slots=True)
class ComparedText:
    """A text that models are compared on."""

    row_id: str
    text: str


@dataclass(frozen=True, slots=True)
class ComparedTexts:
    """The texts of a user."""

    texts: Sequence[ComparedText]
    is_truncated: bool  # whether there are more


@dataclass(frozen=True, slots=True)
class ComparedQuestion:
    """A question, and the ids of what is right for it where that is known."""

    query: str
    relevant_ids: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class QuestionComparison:
    """What two models find for a question."""

    overlap: float  # of the nearest ones, in [0, 1]; 1 where neither finds any
    first_recall: float | None  # share of the right ones among the nearest; None: none is known
    second_recall: float | None


@dataclass(frozen=True, slots=True)
class TextComparison:
    """What two models find for questions of one user."""

    first_model: str
    second_model: str
    compared: int
    is_truncated: bool
    questions: Sequence[QuestionComparison]


@dataclass(frozen=True, slots=True)
class _Embedded:
    """The vectors of one user's texts, for the next questions about them."""

    digest: bytes  # of the user and the texts
    first: Matrix
    second: Matrix


class TextComparer:
    """Asks two models the same questions, one request at a time. Belongs to one event loop."""

    def __init__(self, first: TierEmbedder, second: TierEmbedder | None, settings: ModelChangeSettings) -> None:
        """Compares `first` with `second`, where there is one."""
        self._first = first
        self._second = second
        self._settings = settings
        self._lock = asyncio.Lock()
        self._last: _Embedded | None = None
        self._dropping: asyncio.TimerHandle | None = None

    def second(self) -> TierEmbedder:
        """The second model.

        Raises:
            FailedPrecondition: There is none.
        """
        if self._second is None:
            raise FailedPrecondition("no second embedding model is configured: set MNEME_EMBEDDING_SECOND_MODEL_DIR")
        return self._second

    async def compare(
        self, owner: Owner, found: ComparedTexts, questions: Sequence[ComparedQuestion]
    ) -> TextComparison:
        """One question after the other, so that requests go in between.

        Raises:
            FailedPrecondition: There is no second model.
            StoreUnavailable: A model cannot be used.
        """
        second = self.second()
        async with self._lock:
            embedded = await self._embedded(owner, found.texts, second)
            compared = []
            for question in questions:
                by_first = _nearest(embedded.first, await self._first.embed_query(question.query))
                by_second = _nearest(embedded.second, await second.embed_query(question.query))
                wanted = frozenset(question.relevant_ids)
                right = {place for place, text in enumerate(found.texts) if text.row_id in wanted}
                compared.append(compare_hits(by_first, by_second, right))
        return TextComparison(self._first.model_id, second.model_id, len(found.texts), found.is_truncated, compared)

    async def _embedded(self, owner: Owner, texts: Sequence[ComparedText], second: TierEmbedder) -> _Embedded:
        digest = hashlib.sha256(repr((owner, [each.text for each in texts])).encode("utf-8", "surrogatepass")).digest()
        last = self._last
        if last is None or last.digest != digest:
            self._drop()
            first, other = [await self._vectors(model, texts) for model in (self._first, second)]
            last = self._last = _Embedded(digest, first, other)
        if self._dropping is not None:
            self._dropping.cancel()
        self._dropping = asyncio.get_running_loop().call_later(_KEPT_SECONDS, self._drop)
        return last

    def _drop(self) -> None:
        self._last = None

    async def _vectors(self, model: TierEmbedder, texts: Sequence[ComparedText]) -> Matrix:
        """In batches, so that what others embed goes in between."""
        size = self._settings.batch_max
        batches = [[each.text for each in texts[start : start + size]] for start in range(0, len(texts), size)]
        found = [await model.embed(batch) for batch in batches]
        return np.concatenate([np.empty((0, model.dimension), dtype=np.float32), *found])


def _nearest(vectors: Matrix, query: Vector) -> set[int]:
    """Places of the vectors nearest to a query; of equal ones the first."""
    return set(np.argsort(-(vectors @ query), kind="stable")[:HITS].tolist())


def compare_hits(first: AbstractSet[_Hit], second: AbstractSet[_Hit], right: AbstractSet[_Hit]) -> QuestionComparison:
    """What two models have found, and what of it is right."""
    most = max(len(first), len(second))
    return QuestionComparison(
        len(first & second) / most if most else 1.0,
        len(first & right) / len(right) if right else None,
        len(second & right) / len(right) if right else None,
    )
