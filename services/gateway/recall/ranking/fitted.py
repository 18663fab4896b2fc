"""The fitted profiles: `evidence`, and `light`, which does without token vectors.

Each has two rankers: one for conversations in turns, and one for those in messages, of which people write several in a
row. The latter ranks messages better and turns worse, and which of the two a conversation is, its candidates show.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Final, TypeAlias

import numpy as np

from services.common.settings_types import Count, CountOrNone
from services.gateway.recall.columns import EpisodeColumns, FloatColumn
from services.gateway.recall.question.reading import QuestionEvidence
from services.gateway.recall.ranking.breadth import BREADTH, read_breadth
from services.gateway.recall.ranking.burst_features import speakers_of
from services.gateway.recall.ranking.bursts import are_messages
from services.gateway.recall.ranking.features import Features, extras_among, read_features
from services.gateway.recall.ranking.ranker import LIGHT_TREE_ROWS, TREE_ROWS, FittedRanker, RankerWeights

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
    evidence_chats_file: str = ""  # the same for messages in a row; empty: `evidence_file`, or what comes along
    light_chats_file: str = ""  # the same without token vectors; empty: `light_file`, or what comes along
    plain_up_to: CountOrNone = 2  # candidates: for so few the round weights rank, there is nothing to standardise by
    fitted_from: Count = 8  # candidates: from so many on the ranker alone; between the two both, in proportion


@dataclass(frozen=True, slots=True)
class RankerPair:
    """The rankers of one profile."""

    turns: FittedRanker
    chats: FittedRanker

    def of(self, columns: EpisodeColumns) -> FittedRanker:
        """The one for these candidates."""
        is_chat = are_messages(columns.session, columns.position, speakers_of(columns))
        return self.chats if is_chat else self.turns


@dataclass(frozen=True, slots=True)
class Rankers:
    """The rankers of the fitted profiles."""

    evidence: RankerPair
    light: RankerPair
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
            evidence=_rankers("evidence", chosen.evidence_file, chosen.evidence_chats_file),
            light=_rankers("light", chosen.light_file, chosen.light_chats_file, tree_rows=LIGHT_TREE_ROWS),
            settings=chosen,
        )


class FittedScorer:
    """Scores candidates by a ranker and by the parts of `breadth.py`; a `Scorer`."""

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
        known = self._known(columns)
        ranker = (self._rankers.light if known.token_scores is None else self._rankers.evidence).of(known)
        features = read_features(known, question, extras=extras_among(ranker.features))
        fitted = _broadened(ranker(features), known, question)
        return fitted if share == 1.0 else _mixed(fitted, self._plain(columns, question), share)

    def features(self, columns: EpisodeColumns, question: QuestionEvidence) -> Features:
        """What rankers see."""
        return read_features(self._known(columns), question)

    def _known(self, columns: EpisodeColumns) -> EpisodeColumns:
        """With token scores only where they are used."""
        if columns.token_scores is None or (columns.has_tokens.any() and not self._is_light):
            return columns
        return replace(columns, token_scores=None)


def _broadened(fitted: _Scored, columns: EpisodeColumns, question: QuestionEvidence) -> _Scored:
    scores, parts = fitted
    added = read_breadth(scores, columns, question)
    return fitted if added is None else (scores + added, {**parts, BREADTH: added})


def _mixed(fitted: _Scored, plain: _Scored, share: float) -> _Scored:
    parts: dict[str, FloatColumn] = {}
    for weight, (_, own) in ((share, fitted), (1.0 - share, plain)):
        for name, part in own.items():
            weighted = (weight * part).astype(np.float32)
            parts[name] = parts[name] + weighted if name in parts else weighted
    return (share * fitted[0] + (1.0 - share) * plain[0]).astype(np.float32), parts


def _rankers(profile: str, file: str, chats_file: str, *, tree_rows: int = TREE_ROWS) -> RankerPair:
    turns = Path(file) if file else shipped(profile)
    others = turns if file else shipped(profile, is_chats=True)
    return RankerPair(_read(turns, tree_rows), _read(Path(chats_file) if chats_file else others, tree_rows))


def shipped(profile: str, *, is_chats: bool = False) -> Path:
    """The file of a ranker that comes along."""
    return SHIPPED / f"{profile}{'-chats' if is_chats else ''}.json"


@cache
def _read(file: Path, tree_rows: int) -> FittedRanker:
    return FittedRanker(RankerWeights.read(file), tree_rows=tree_rows)
