"""How good a ranking is: recall at k, all at k, reciprocal rank; intervals by resampling conversations."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

RECALL_DEPTHS: Final = (1, 5, 10, 25, 50)
_ALL_DEPTH: Final = 10
_WORD: Final = re.compile(r"\w+")
_WORD_CHARS_MIN: Final = 4
"""Shorter ones are mostly in every text."""
_RESAMPLES: Final = 5_000
_SEED: Final = 20_240_229


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean over questions with its 95 % interval."""

    value: float
    """The mean."""
    low: float | None
    """Lower end of the interval; None with fewer than two conversations."""
    high: float | None
    """Upper end."""
    questions: int
    """How many questions it is the mean of."""


@dataclass(frozen=True, slots=True)
class ScoredQuestion:
    """The measures of one question."""

    conversation: str
    """Where it was asked; the unit of resampling."""
    category: str
    """Its category."""
    scores: Mapping[str, float]
    """Measure by name, each in [0, 1]."""


def recall_at(ranked: Sequence[str], gold: Collection[str], depth: int) -> float:
    """Share of the gold ids among the first `depth`; `gold` must not be empty."""
    return len(set(ranked[:depth]) & set(gold)) / len(set(gold))


def all_at(ranked: Sequence[str], gold: Collection[str], depth: int) -> float:
    """1 when every gold id is among the first `depth`, else 0."""
    return float(set(gold) <= set(ranked[:depth]))


def reciprocal_rank(ranked: Sequence[str], gold: Collection[str]) -> float:
    """1 / rank of the first gold id; 0 when none was returned."""
    wanted = set(gold)
    return next((1.0 / rank for rank, item in enumerate(ranked, start=1) if item in wanted), 0.0)


def words_held(said: str, lines: Iterable[str]) -> float:
    """Share of the different words of a turn that one line of a context holds, of the line that holds most.

    A line that stands for many turns holds little of each; which turns it names says nothing of that.
    """
    words = _words(said)
    return max((len(words & _words(line)) / len(words) for line in lines), default=0.0) if words else 1.0


def _words(text: str) -> set[str]:
    return {word for word in _WORD.findall(text.casefold()) if len(word) >= _WORD_CHARS_MIN}


def ranking_scores(ranked: Sequence[str], gold: Collection[str], *, limit: int) -> dict[str, float]:
    """All measures of one ranking, with those depths that `limit` allows."""
    depths = [depth for depth in RECALL_DEPTHS if depth <= limit]
    scores = {f"recall@{depth}": recall_at(ranked, gold, depth) for depth in depths}
    if limit >= _ALL_DEPTH:
        scores[f"all@{_ALL_DEPTH}"] = all_at(ranked, gold, _ALL_DEPTH)
    scores["mrr"] = reciprocal_rank(ranked, gold)
    return scores


def summarise(
    questions: Sequence[ScoredQuestion], *, resamples: int = _RESAMPLES, seed: int = _SEED
) -> dict[str, Estimate]:
    """Mean of each measure over questions, with an interval by resampling conversations.

    Questions of one conversation are not independent, so whole conversations are drawn, with replacement, and
    the mean is taken over all questions drawn. The draws are the same for the same seed.
    """
    names = list(questions[0].scores) if questions else []
    return {name: _estimate(name, questions, resamples, seed) for name in names}


def by_category(questions: Sequence[ScoredQuestion]) -> dict[str, list[ScoredQuestion]]:
    """Questions of each category, categories by name."""
    groups: defaultdict[str, list[ScoredQuestion]] = defaultdict(list)
    for question in questions:
        groups[question.category].append(question)
    return dict(sorted(groups.items()))


def by_conversation(questions: Sequence[ScoredQuestion]) -> dict[str, list[ScoredQuestion]]:
    """Questions of each conversation, in order of appearance."""
    groups: defaultdict[str, list[ScoredQuestion]] = defaultdict(list)
    for question in questions:
        groups[question.conversation].append(question)
    return dict(groups)


def _estimate(name: str, questions: Sequence[ScoredQuestion], resamples: int, seed: int) -> Estimate:
    groups = by_conversation(questions).values()
    sums = np.array([sum(question.scores[name] for question in group) for group in groups])
    counts = np.array([len(group) for group in groups])
    value = round(float(sums.sum() / counts.sum()), 4)
    if len(sums) < 2:
        return Estimate(value=value, low=None, high=None, questions=int(counts.sum()))
    draws = np.random.default_rng(seed).integers(0, len(sums), size=(resamples, len(sums)))
    means = sums[draws].sum(axis=1) / counts[draws].sum(axis=1)
    low, high = np.percentile(means, [2.5, 97.5])
    return Estimate(value=value, low=round(float(low), 4), high=round(float(high), 4), questions=int(counts.sum()))
