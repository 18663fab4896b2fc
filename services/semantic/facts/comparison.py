"""Compares two embedding models on a user's facts, before a change of the model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from services.common.embedding.embedder import Embedder
from services.common.model_comparison import (
    ComparedQuestion,
    ComparedText,
    ComparedTexts,
    TextComparer,
    TextComparison,
)
from services.common.owners import Owner
from services.common.scope import Reader
from services.common.tier_embedder import TierEmbedder, second_model
from services.semantic.config import SemanticSettings
from services.semantic.facts.model import Fact
from services.semantic.facts.store import FactFilter, FactPosition, FactStore

_PAGE: Final = 200


def fact_comparer(
    store: FactStore, embedder: TierEmbedder, second: Embedder | None, settings: SemanticSettings
) -> FactComparer:
    """A comparer of the tier's model with a second one, where there is one."""
    return FactComparer(
        store,
        TextComparer(embedder, second_model(second), settings.model_change),
        confidence_min=settings.use.explicit_confidence_min,
        rows_max=settings.model_change.compared_rows_max,
    )


class FactComparer:
    """Has two models embed the facts that searches find. Writes nothing."""

    def __init__(self, store: FactStore, comparer: TextComparer, *, confidence_min: float, rows_max: int) -> None:
        """Compare at most `rows_max` facts of a user, of at least this confidence."""
        self._store = store
        self._comparer = comparer
        self._which = FactFilter(confidence_min=confidence_min)
        self._rows_max = rows_max

    async def compare(self, owner: Owner, questions: Sequence[ComparedQuestion], *, reader: Reader) -> TextComparison:
        """What both models find among the facts that the reader sees, last confirmed first.

        Raises:
            FailedPrecondition: There is no second model.
            StoreUnavailable: The store or a model cannot be used.
        """
        self._comparer.second()
        texts = await self._texts(owner, frozenset(reader.visible_keys()))
        return await self._comparer.compare(owner, texts, questions)

    async def _texts(self, owner: Owner, visible: frozenset[str]) -> ComparedTexts:
        found: list[Fact] = []
        after: FactPosition | None = None
        while len(found) <= self._rows_max:
            page = await self._store.list_facts(owner, which=self._which, after=after, limit=_PAGE)
            found += page
            if len(page) < _PAGE:
                break
            after = FactPosition(page[-1].last_confirmed_time, page[-1].fact_id)
        texts = [ComparedText(fact.fact_id, fact.text) for fact in found[: self._rows_max] if fact.scope.key in visible]
        return ComparedTexts(texts, len(found) > self._rows_max)
