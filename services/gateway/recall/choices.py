"""What a caller may choose about a recall beside its question: the task it is for, and how turns are ranked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum, StrEnum
from typing import Final

SCORING_WEIGHT_MAX: Final = 1_000.0
"""The most that a weight may be: scores are numbers of seven digits."""


class TaskType(IntEnum):
    """What the memories are wanted for; the numbers are those of the wire format."""

    FACTUAL = 1
    """A fact is looked up."""
    RECOMMENDATION = 2
    """Something shall be recommended."""
    CONVERSATIONAL = 3
    """A conversation goes on, or is asked about."""
    PROCEDURAL = 4
    """Something shall be done the way it is done."""
    DEBUGGING = 5
    """A fault shall be found."""
    GENERAL = 6
    """Anything."""


class Profile(StrEnum):
    """The scoring profiles by the names that callers give."""

    EVIDENCE = "evidence"
    """Fitted on benchmarks of recall."""
    LIGHT = "light"
    """The same without token vectors."""
    PLAIN = "plain"
    """The same evidence with round weights that were set by hand."""
    BALANCED = "balanced"
    """Similarity, recency, importance and use, times confidence."""
    ASSISTANT = "assistant"
    """Relevance, recency of use, importance that fades, and a bonus for use."""
    NARRATIVE = "narrative"
    """Similarity, importance and recency."""
    INTERACTION = "interaction"
    """Similarity times decay times feedback."""


class ConflictPolicy(IntEnum):
    """Which of two memories that contradict each other stands; the numbers are those of the wire format."""

    RECENCY = 1
    """The one that was said last."""
    CONFIDENCE = 2
    """The one that is believed more; then the last."""
    IMPORTANCE = 3
    """The more important one; then the last."""
    USER_OVERRIDE = 4
    """The one that the user has decided for; then the last."""
    REDUCE = 5
    """Neither: both are returned where they rank, and reported."""


@dataclass(frozen=True, slots=True)
class ConflictChoice:
    """What a request says about memories that contradict each other."""

    policy: ConflictPolicy | None = None  # None: the configured one
    preferred: frozenset[str] = frozenset()  # ids of memories and facts that the user has decided for
    drops_superseded: bool = False  # leave out what loses, which else is marked


@dataclass(frozen=True, slots=True)
class ScoringChoice:
    """What a request says about ranking."""

    profile: Profile = Profile.EVIDENCE
    weights: Mapping[str, float] = field(default_factory=dict)  # what replaces weights of the profile
    is_named: bool = False  # the caller named the profile

    @property
    def compares_tokens(self) -> bool:
        """Whether token vectors are looked at."""
        return self.profile is Profile.EVIDENCE

    @property
    def is_by_evidence(self) -> bool:
        """Whether evidence ranks and no formula; facts and notes are a part of it."""
        return self.profile in {Profile.EVIDENCE, Profile.LIGHT, Profile.PLAIN}
