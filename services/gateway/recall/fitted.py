"""The fitted profiles: `evidence`, and `light`, which does without token vectors."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Final

from services.gateway.recall.features import Features, read_features
from services.gateway.recall.model import EpisodeColumns, FloatColumn
from services.gateway.recall.question import QuestionEvidence
from services.gateway.recall.ranker import FittedRanker, RankerWeights

SHIPPED: Final = Path(__file__).with_name("rankers")
"""Where the rankers are that come along."""


@dataclass(frozen=True, slots=True)
class RankerSettings:
    """Which rankers the fitted profiles use."""

    evidence_file: str = ""  # a ranker that was fitted with token vectors; empty for the one that comes along
    light_file: str = ""  # one that was fitted without; empty for the one that comes along


@dataclass(frozen=True, slots=True)
class Rankers:
    """The rankers of the fitted profiles."""

    evidence: FittedRanker
    light: FittedRanker

    @classmethod
    def open(cls, settings: RankerSettings | None = None) -> Rankers:
        """Reads them.

        Raises:
            RankerFileError: A file cannot be used.
        """
        chosen = settings or RankerSettings()
        return cls(
            evidence=_ranker(chosen.evidence_file, "evidence"),
            light=_ranker(chosen.light_file, "light"),
        )


class FittedScorer:
    """Scores candidates by a ranker; a `Scorer`."""

    def __init__(self, rankers: Rankers, *, is_light: bool) -> None:
        """Uses token vectors where there are any, unless it is light."""
        self._rankers = rankers
        self._is_light = is_light

    def __call__(
        self, columns: EpisodeColumns, question: QuestionEvidence
    ) -> tuple[FloatColumn, dict[str, FloatColumn]]:
        """See `Scorer`."""
        features = self.features(columns, question)
        ranker = self._rankers.light if self._without_tokens(columns) else self._rankers.evidence
        return ranker(features)

    def features(self, columns: EpisodeColumns, question: QuestionEvidence) -> Features:
        """What the ranker sees."""
        return read_features(
            replace(columns, token_scores=None) if self._without_tokens(columns) else columns, question
        )

    def _without_tokens(self, columns: EpisodeColumns) -> bool:
        return self._is_light or columns.token_scores is None or not columns.has_tokens.any()


def _ranker(file: str, name: str) -> FittedRanker:
    return _read(Path(file) if file else SHIPPED / f"{name}.json")


@cache
def _read(file: Path) -> FittedRanker:
    return FittedRanker(RankerWeights.read(file))
