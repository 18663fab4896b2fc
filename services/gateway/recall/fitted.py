"""The fitted profiles: `evidence`, and `light`, which does without token vectors."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Final, TypeAlias

import numpy as np

from services.common.settings_types import Count, CountOrNone
from services.gateway.recall.features import Features, read_features
from services.gateway.recall.model import EpisodeColumns, FloatColumn
from services.gateway.recall.question import QuestionEvidence
from services.gateway.recall.ranker import FittedRanker, RankerWeights

SHIPPED: Final = Path(__file__).with_name("rankers")
"""Where the rankers are that come along."""


_Scored: TypeAlias = tuple[FloatColumn, Mapping[str, FloatColumn]]
PlainScorer: TypeAlias = Callable[[EpisodeColumns, QuestionEvidence], _Scored]
"""Scores candidates by weights set by hand."""


@dataclass(frozen=True, slots=True)
class RankerSettings:
    """Which rankers the fitted profiles use."""

    evidence_file: str = ""  # a ranker that was fitted with token vectors; empty for the one that comes along
    light_file: str = ""  # one that was fitted without; empty for the one that comes along
    plain_up_to: CountOrNone = 2  # candidates: for so few the round weights rank, there is nothing to standardise by
    fitted_from: Count = 8  # candidates: from so many on the ranker alone; between the two both, in proportion


@dataclass(frozen=True, slots=True)
class Rankers:
    """The rankers of the fitted profiles."""

    evidence: FittedRanker
    light: FittedRanker
    settings: RankerSettings = RankerSettings()

    def fitted_share(self, candidates: int) -> float:
        """The share of the ranker in the score of so many candidates."""
        low, high = self.settings.plain_up_to, max(self.settings.fitted_from, self.settings.plain_up_to + 1)
        return min(1.0, max(0.0, (candidates - low) / (high - low)))

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
            settings=chosen,
        )


class FittedScorer:
    """Scores candidates by a ranker; a `Scorer`."""

    def __init__(self, rankers: Rankers, plain: PlainScorer, *, is_light: bool) -> None:
        """Uses token vectors where there are any, unless it is light; `plain` ranks where there is little to rank."""
        self._rankers = rankers
        self._plain = plain
        self._is_light = is_light

    def __call__(
        self, columns: EpisodeColumns, question: QuestionEvidence
    ) -> tuple[FloatColumn, Mapping[str, FloatColumn]]:
        """See `Scorer`."""
        share = self._rankers.fitted_share(len(columns))
        if share == 0.0:
            return self._plain(columns, question)
        ranker = self._rankers.light if self._without_tokens(columns) else self._rankers.evidence
        fitted = ranker(self.features(columns, question))
        return fitted if share == 1.0 else _mixed(fitted, self._plain(columns, question), share)

    def features(self, columns: EpisodeColumns, question: QuestionEvidence) -> Features:
        """What the ranker sees."""
        return read_features(
            replace(columns, token_scores=None) if self._without_tokens(columns) else columns, question
        )

    def _without_tokens(self, columns: EpisodeColumns) -> bool:
        return self._is_light or columns.token_scores is None or not columns.has_tokens.any()


def _mixed(fitted: _Scored, plain: _Scored, share: float) -> _Scored:
    parts: dict[str, FloatColumn] = {}
    for weight, (_, own) in ((share, fitted), (1.0 - share, plain)):
        for name, part in own.items():
            weighted = (weight * part).astype(np.float32)
            parts[name] = parts[name] + weighted if name in parts else weighted
    return (share * fitted[0] + (1.0 - share) * plain[0]).astype(np.float32), parts


def _ranker(file: str, name: str) -> FittedRanker:
    return _read(Path(file) if file else SHIPPED / f"{name}.json")


@cache
def _read(file: Path) -> FittedRanker:
    return FittedRanker(RankerWeights.read(file))
