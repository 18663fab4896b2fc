"""How important an episode is (SPEC 2.5): base + 0.3 emotion + 0.2 personal + 0.2 decision.

Each factor is found by rules, and by how much nearer the embedding is to prototype sentences of the factor than to
plain ones. Rules recognise words, prototypes what no rule lists. The embeddings are those that are made to index the
episode, so a score costs some products of vectors.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Final

import numpy as np

from services.common.embedding.embedder import Embedder
from services.common.embedding.vectors import Matrix, Vector
from services.common.settings_types import Amount, CountOrNone, Positive, Share
from services.common.statements import Statement, makes

_PROTOTYPES: Final = Path(__file__).parent / "data" / "prototypes.toml"
_PLAIN: Final = "plain"


class Factor(StrEnum):
    """What makes an episode important; the values are the names in the file of prototypes."""

    EMOTION = "emotion"
    PERSONAL = "personal"
    DECISION = "decision"


_RULES: Final[Mapping[Factor, tuple[Statement, ...]]] = {
    Factor.EMOTION: (Statement.EMOTION,),
    Factor.PERSONAL: (Statement.PERSONAL,),
    Factor.DECISION: (Statement.DECISION, Statement.REQUEST),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportanceSettings:
    """How important an episode is whose caller states no importance."""

    base: Share = 0.3  # of an episode without any factor
    emotion: Amount = 0.3  # added in full where somebody says how they feel
    personal: Amount = 0.2  # added in full where it is about the speaker or their people
    decision: Amount = 0.2  # added in full where something is decided, promised, or asked to be remembered
    by_rule: Share = 0.7  # of a factor that a rule alone finds
    with_prototypes: bool = True  # whether embeddings count beside the rules; the margins below are fitted to MiniLM
    words_min: CountOrNone = 4  # words of a text that is compared with prototypes; shorter ones say too little
    margin: Share = 0.15  # by which a prototype is nearer than any plain sentence where a factor is half there
    margin_width: Positive = 0.2  # of the margin, from no factor to all of it


class ImportanceScorer:
    """Scores episodes. Until `prepare` was awaited, by rules alone."""

    def __init__(self, embedder: Embedder, settings: ImportanceSettings | None = None) -> None:
        """Embeds the prototypes by the model that embeds episodes."""
        self._embedder = embedder
        self._settings = settings or ImportanceSettings()
        self._prototypes: dict[Factor, Matrix] = {}
        self._plain: Matrix | None = None

    async def prepare(self) -> None:
        """Embeds the prototypes, the first time.

        Raises:
            EmbeddingError: The model cannot be run.
        """
        if self._plain is not None or not self._settings.with_prototypes:
            return
        sentences = load_prototypes()
        vectors = await self._embedder.embed_documents([text for group in sentences.values() for text in group])
        groups = np.split(vectors, np.cumsum([len(group) for group in sentences.values()])[:-1])
        found = dict(zip(sentences, groups, strict=True))
        self._prototypes = {factor: found[factor.value] for factor in Factor}
        self._plain = found[_PLAIN]

    def score(self, text: str, vectors: Sequence[Vector]) -> float:
        """Returns the importance of a text in [0, 1].

        Args:
            text: What was said.
            vectors: Embeddings of its pieces, each of length 1.
        """
        weights, found = self._settings, self.factors(text, vectors)
        score = weights.base + weights.emotion * found[Factor.EMOTION]
        score += weights.personal * found[Factor.PERSONAL] + weights.decision * found[Factor.DECISION]
        return min(1.0, score)

    def factors(self, text: str, vectors: Sequence[Vector]) -> dict[Factor, float]:
        """Returns how far each factor is there, in [0, 1]."""
        words_min = self._settings.words_min
        near = self._near(vectors) if len(text.split(maxsplit=words_min)) >= words_min else {}
        return {
            factor: max(near.get(factor, 0.0), self._settings.by_rule if self._says(factor, text) else 0.0)
            for factor in Factor
        }

    @staticmethod
    def _says(factor: Factor, text: str) -> bool:
        return any(makes(statement, text) for statement in _RULES[factor])

    def _near(self, vectors: Sequence[Vector]) -> dict[Factor, float]:
        if self._plain is None or not vectors:
            return {}
        settings = self._settings
        pieces = np.stack(vectors)
        plain = (pieces @ self._plain.T).max(axis=1)
        found: dict[Factor, float] = {}
        for factor, prototypes in self._prototypes.items():
            margin = float(((pieces @ prototypes.T).max(axis=1) - plain).max())
            found[factor] = min(1.0, max(0.0, (margin - settings.margin) / settings.margin_width + 0.5))
        return found


def load_prototypes(file: Path = _PROTOTYPES) -> dict[str, tuple[str, ...]]:
    """The prototype sentences by factor, and the plain ones.

    Raises:
        ValueError: A factor has none, or there is one that is not known.
    """
    tables = tomllib.loads(file.read_text("utf-8"))
    if tables.keys() != {*(factor.value for factor in Factor), _PLAIN} or not all(tables.values()):
        raise ValueError(f"{file.name} should have sentences of each factor and plain ones, and nothing else")
    return {name: tuple(texts) for name, texts in tables.items()}
