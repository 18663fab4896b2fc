"""The formulas behind the scoring profiles: sums of named signals of similarity, age, importance and use."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

from services.common.decay import SECONDS_PER_DAY, exponential, half_lives, hyperbolic, linear
from services.common.settings_types import Amount, Positive
from services.gateway.recall.columns import EpisodeColumns, FloatColumn
from services.gateway.recall.question.reading import QuestionEvidence
from services.gateway.recall.ranking.times import time_match

Column: TypeAlias = npt.NDArray[np.float64]

_HOURS_PER_DAY: Final = 24.0


@dataclass(frozen=True, slots=True)
class DecaySettings:
    """How ages count in the profiles that know them."""

    recency_half_life_days: Positive = 30.0  # age at which recency is one half
    importance_half_life_days: Positive = 30.0  # age at which little importance is halved, in assistant and narrative
    importance_half_life_growth: Amount = 2.0  # by how much of itself the half-life grows at importance 1, in narrative
    importance_loss_per_day: Amount = 0.01  # what a day takes from importance, in balanced
    scale_days: Positive = 365.0  # age at which hyperbolic decay is one half, where the tier does not report it
    access_count_share: Amount = 0.7  # of the count of uses in what access adds, in balanced
    access_count_scale: Positive = 5.0  # ln(uses + 1) that counts as 1, in balanced
    access_recency_share: Amount = 0.3  # of the time since the last use in what access adds, in balanced
    access_recency_loss_per_hour: Amount = 0.05  # exponent for each hour since the last use, in balanced
    access_uses_scale: Positive = 10.0  # uses that would add 1, in assistant
    access_bonus_max: Amount = 0.2  # the most that uses add, in assistant


@dataclass(frozen=True, slots=True)
class Signals:
    """What the formulas know of n candidates: value i of every column belongs to candidate i."""

    similarity: Column  # in [0, 1]
    importance: Column  # in [0, 1]
    days: Column  # since it happened, at least 0
    seconds: Column  # when it happened, since the epoch
    days_unused: Column  # since it was last used; infinite where it never was
    uses: Column
    confidence: Column  # in [0, 1], 1 where it is not known
    decay: Column  # hyperbolic, as reported by the tier, in (0, 1]
    feedback: npt.NDArray[np.int32]  # -1, 0, 1


Formula: TypeAlias = Callable[[Signals, Mapping[str, float], DecaySettings], dict[str, Column]]
"""From the signals, the weights by name and the decays to the parts of the score."""


def balanced(signals: Signals, weights: Mapping[str, float], decay: DecaySettings) -> dict[str, Column]:
    """Returns the parts of (similarity + recency + importance + access, each by its weight) x confidence.

    Importance fades linearly. Access is 0.7 ln(uses + 1) / 5 + 0.3 exp(-0.05 hours since the last use); its numbers are
    settings.
    """
    hours = signals.days_unused * _HOURS_PER_DAY
    counted = decay.access_count_share * np.log1p(signals.uses) / decay.access_count_scale
    access = counted + decay.access_recency_share * np.exp(-decay.access_recency_loss_per_hour * hours)
    importance = linear(signals.importance, signals.days, rate_per_day=decay.importance_loss_per_day)
    return {
        "similarity": weights["similarity"] * signals.similarity * signals.confidence,
        "recency": weights["recency"] * _recency(signals.days, decay) * signals.confidence,
        "importance": weights["importance"] * importance * signals.confidence,
        "access": weights["access"] * access * signals.confidence,
    }


def assistant(signals: Signals, weights: Mapping[str, float], decay: DecaySettings) -> dict[str, Column]:
    """Returns the parts of similarity + recency + importance, each by its weight, + access by its weight.

    Access is min(uses / 10, 0.2); its numbers are settings. Recency counts from the last use, importance halves with
    each half-life.
    """
    unused = np.minimum(signals.days_unused, signals.days)
    faded = exponential(signals.days, half_life_days=decay.importance_half_life_days)
    return {
        "similarity": weights["similarity"] * signals.similarity,
        "recency": weights["recency"] * _recency(unused, decay),
        "importance": weights["importance"] * signals.importance * faded,
        "access": weights["access"] * np.minimum(signals.uses / decay.access_uses_scale, decay.access_bonus_max),
    }


def narrative(signals: Signals, weights: Mapping[str, float], decay: DecaySettings) -> dict[str, Column]:
    """Returns the parts of similarity + importance + recency, each by its weight.

    Importance halves with each half-life, which is the longer the more important a memory is.
    """
    lives = half_lives(
        signals.importance,
        half_life_days=decay.importance_half_life_days,
        growth=decay.importance_half_life_growth,
    )
    return {
        "similarity": weights["similarity"] * signals.similarity,
        "importance": weights["importance"] * signals.importance * exponential(signals.days, half_life_days=lives),
        "recency": weights["recency"] * _recency(signals.days, decay),
    }


def interaction(signals: Signals, weights: Mapping[str, float], decay: DecaySettings) -> dict[str, Column]:
    """Returns the parts of similarity x decay x feedback factor: what each factor adds to the product before it."""
    del decay  # the tier has done it
    factor = np.where(signals.feedback > 0, weights["feedback_good"], 1.0)
    factor = np.where(signals.feedback < 0, weights["feedback_bad"], factor)
    faded = signals.similarity * signals.decay
    return {
        "similarity": signals.similarity,
        "decay": faded - signals.similarity,
        "feedback": faded * factor - faded,
    }


class FormulaScorer:
    """Scores candidates by a formula; a `Scorer`."""

    def __init__(self, formula: Formula, weights: Mapping[str, float], decay: DecaySettings, *, now: datetime) -> None:
        """Counts ages up to `now`."""
        self._formula = formula
        self._weights = weights
        self._decay = decay
        self._now_seconds = now.timestamp()

    @property
    def scale_days(self) -> float:
        """Age in days at which hyperbolic decay is one half."""
        return self._decay.scale_days

    def __call__(
        self, columns: EpisodeColumns, question: QuestionEvidence
    ) -> tuple[FloatColumn, dict[str, FloatColumn]]:
        """Returns the scores float32 `[n]` and their parts; see `Scorer`."""
        return self.of(read_signals(columns, self._decay, now_seconds=self._now_seconds), question)

    def of(self, signals: Signals, question: QuestionEvidence) -> tuple[FloatColumn, dict[str, FloatColumn]]:
        """Returns the scores and their parts of anything that has signals: turns, facts, notes."""
        found = self._formula(signals, self._weights, self._decay)
        if question.time_ranges:
            found = {**found, "time": self._weights["time"] * time_match(signals.seconds, question)}
        parts = {name: part.astype(np.float32) for name, part in found.items()}
        scores: FloatColumn = np.stack(list(parts.values())).sum(axis=0, dtype=np.float32)
        return scores, parts


def read_signals(columns: EpisodeColumns, decay: DecaySettings, *, now_seconds: float) -> Signals:
    """Returns the signals of the candidates; without statistics none was ever used, and all are trusted."""
    days = np.maximum(0.0, (now_seconds - columns.time) / SECONDS_PER_DAY)
    count = len(columns)
    known = columns.statistics
    if known is None:
        return Signals(
            similarity=_similarity(columns),
            importance=columns.importance.astype(np.float64),
            days=days,
            seconds=columns.time,
            days_unused=np.full(count, np.inf),
            uses=np.zeros(count),
            confidence=np.ones(count),
            decay=hyperbolic(days, scale_days=decay.scale_days),
            feedback=columns.feedback,
        )
    unused = np.maximum(0.0, (now_seconds - known.last_access_time) / SECONDS_PER_DAY)
    return Signals(
        similarity=_similarity(columns),
        importance=columns.importance.astype(np.float64),
        days=days,
        seconds=columns.time,
        days_unused=np.where(known.last_access_time > 0, unused, np.inf),
        uses=known.access_count.astype(np.float64),
        confidence=np.where(known.confidence < 0, 1.0, known.confidence).astype(np.float64),
        decay=known.decay.astype(np.float64),
        feedback=columns.feedback,
    )


def _similarity(columns: EpisodeColumns) -> Column:
    """Cosine similarity, 0 at least; by words, as shares of the best, where the vector index could not be asked."""
    dense = np.maximum(0.0, columns.dense.astype(np.float64))
    if not columns.is_incomplete or dense.any():
        return dense
    best = float(columns.lexical.max(initial=0.0))
    return columns.lexical.astype(np.float64) / best if best > 0 else dense


def _recency(days: Column, decay: DecaySettings) -> Column:
    return exponential(days, half_life_days=decay.recency_half_life_days)
