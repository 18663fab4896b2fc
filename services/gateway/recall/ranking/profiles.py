"""Scoring profiles: how candidate turns are ranked. Each is a sum of named parts, so that a response can say why.

`evidence` is fitted to find what answers a question. The others are formulas of use: how like the question, how
recent, how important, how often used. docs/scoring.md has them with their weights.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Final, Protocol, TypeAlias

import numpy as np

from services.common.settings_types import Amount
from services.gateway.recall.choices import Profile, ScoringChoice
from services.gateway.recall.columns import EpisodeColumns, FloatColumn
from services.gateway.recall.question.reading import QuestionEvidence
from services.gateway.recall.ranking.breadth import BREADTH
from services.gateway.recall.ranking.course_features import COURSE
from services.gateway.recall.ranking.formulas import (
    DecaySettings,
    Formula,
    FormulaScorer,
    assistant,
    balanced,
    interaction,
    narrative,
)
from services.gateway.recall.ranking.ranker import INTERPLAY

Parts: TypeAlias = Mapping[str, FloatColumn]


class Scorer(Protocol):
    """Scores n candidates."""

    def __call__(self, columns: EpisodeColumns, question: QuestionEvidence) -> tuple[FloatColumn, Parts]:
        """Returns the scores, float32 `[n]`, higher is better, and by name the parts that they are the sums of."""
        ...


@dataclass(frozen=True, slots=True)
class BalancedWeights:
    """(similarity + recency + importance + access, each by its weight) x confidence."""

    similarity: Amount = 0.4  # of the cosine similarity to the question
    recency: Amount = 0.2  # of the age since it happened
    importance: Amount = 0.2  # of the importance that linear decay leaves
    access: Amount = 0.2  # of 0.7 ln(uses + 1) / 5 + 0.3 exp(-0.05 hours since the last use)
    time: Amount = 0.3  # of how well it fits the times that the question names


@dataclass(frozen=True, slots=True)
class AssistantWeights:
    """similarity + recency + importance, each by its weight, + a bonus for use."""

    similarity: Amount = 0.3  # of the cosine similarity to the question
    recency: Amount = 0.3  # of the time since the last use, or since it happened where it was never used
    importance: Amount = 0.4  # of the importance that exponential decay leaves
    access: Amount = 1.0  # of the bonus min(uses / 10, 0.2)
    time: Amount = 0.3  # of how well it fits the times that the question names


@dataclass(frozen=True, slots=True)
class NarrativeWeights:
    """similarity + importance + recency, each by its weight."""

    similarity: Amount = 0.5  # of the cosine similarity to the question
    importance: Amount = 0.3  # of the importance that exponential decay leaves, slower the more important it is
    recency: Amount = 0.2  # of the age since it happened
    time: Amount = 0.3  # of how well it fits the times that the question names


@dataclass(frozen=True, slots=True)
class InteractionWeights:
    """similarity x decay x feedback factor."""

    feedback_good: Amount = 1.2  # factor of turns whose feedback was good
    feedback_bad: Amount = 0.5  # factor of those whose feedback was bad
    time: Amount = 0.3  # of how well it fits the times that the question names


@dataclass(frozen=True, slots=True)
class ProfileSettings:
    """Which profile ranks where a request names none, and the weights of the formulas."""

    default: Profile = Profile.EVIDENCE  # the profile of requests that name none
    balanced: BalancedWeights = field(default_factory=BalancedWeights)
    assistant: AssistantWeights = field(default_factory=AssistantWeights)
    narrative: NarrativeWeights = field(default_factory=NarrativeWeights)
    interaction: InteractionWeights = field(default_factory=InteractionWeights)
    decay: DecaySettings = field(default_factory=DecaySettings)
    # Where evidence ranks, of facts and notes: of how well they fit the times that the question names.
    derived_time: Amount = 0.15


EVIDENCE_PARTS: Final = (
    "dense",
    "lexical",
    "neighbours",
    "answers",
    "session",
    "speaker",
    "role",
    "time",
    "kind",
    "length",
)
"""Parts of the scorers by evidence; a weight multiplies its part, 1 leaves it as it is."""

FITTED_PARTS: Final = (*EVIDENCE_PARTS, COURSE, "late", INTERPLAY, BREADTH)
"""Parts of the fitted ones: beside these the course of a session, late interaction, interplay of features, and
what many turns do."""

_DERIVED: Final = ("facts", "notes")
_FITTED: Final = frozenset({Profile.EVIDENCE, Profile.LIGHT})
_BY_EVIDENCE: Final = _FITTED | {Profile.PLAIN}
_FORMULAS: Final[Mapping[Profile, Formula]] = {
    Profile.BALANCED: balanced,
    Profile.ASSISTANT: assistant,
    Profile.NARRATIVE: narrative,
    Profile.INTERACTION: interaction,
}
_WITHOUT_STATISTICS: Final = _BY_EVIDENCE | {Profile.NARRATIVE}


def weight_names(profile: Profile) -> tuple[str, ...]:
    """Names of the weights that a request may send with a profile.

    `facts` and `notes` belong to every profile: what these add to the turns that they come from.
    """
    if profile in _BY_EVIDENCE:
        return (*(FITTED_PARTS if profile in _FITTED else EVIDENCE_PARTS), *_DERIVED)
    return (*_defaults(ProfileSettings(), profile), *_DERIVED)


class Profiles:
    """Makes the scorer that a request chooses."""

    def __init__(self, by_evidence: Mapping[Profile, Scorer], settings: ProfileSettings | None = None) -> None:
        """Ranks by the scorers of the profiles `evidence`, `light` and `plain`, and by the settings' formulas."""
        self._by_evidence = by_evidence
        self._settings = settings or ProfileSettings()

    def scorer(self, choice: ScoringChoice, *, now: datetime) -> Scorer:
        """The scorer of a request; ages are counted up to `now`."""
        profile = choice.profile
        own = {name: value for name, value in choice.weights.items() if choice.is_by_evidence or name not in _DERIVED}
        if profile in _BY_EVIDENCE:
            scorer = self._by_evidence[profile]
            return _Weighted(scorer, own) if own else scorer
        return self._by_formula(choice, own, now)

    def of_derived(self, choice: ScoringChoice, *, now: datetime) -> FormulaScorer | None:
        """What scores facts and notes: the profile's formula; None where evidence ranks, for which they have none."""
        own = {name: value for name, value in choice.weights.items() if name not in _DERIVED}
        return None if choice.is_by_evidence else self._by_formula(choice, own, now)

    def time_of_derived(self, choice: ScoringChoice) -> float:
        """What a fact or a note gains where evidence ranks, when it fits a time that the question names."""
        return self._settings.derived_time * choice.weights.get("time", 1.0)

    def _by_formula(self, choice: ScoringChoice, own: Mapping[str, float], now: datetime) -> FormulaScorer:
        weights = {**_defaults(self._settings, choice.profile), **own}
        return FormulaScorer(_FORMULAS[choice.profile], weights, self._settings.decay, now=now)

    def derived_weights(self, choice: ScoringChoice) -> tuple[float, float]:
        """What facts and notes add beside a formula: nothing by default. Scorers by evidence know of them."""
        weights = {} if choice.is_by_evidence else choice.weights
        return weights.get("facts", 0.0), weights.get("notes", 0.0)


def needs_statistics(profile: Profile) -> bool:
    """Whether the profile looks at uses, confidence or the tier's decay, which the store must be asked for."""
    return profile not in _WITHOUT_STATISTICS


@dataclass(frozen=True, slots=True)
class _Weighted:
    """A scorer whose parts are multiplied."""

    scorer: Scorer
    weights: Mapping[str, float]

    def __call__(self, columns: EpisodeColumns, question: QuestionEvidence) -> tuple[FloatColumn, Parts]:
        scores, parts = self.scorer(columns, question)
        weighted = {name: (part * self.weights.get(name, 1.0)).astype(np.float32) for name, part in parts.items()}
        return sum(weighted.values(), start=np.zeros_like(scores)), weighted


def _defaults(settings: ProfileSettings, profile: Profile) -> dict[str, float]:
    return asdict(getattr(settings, profile.value))
