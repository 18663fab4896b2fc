"""What the rules of knowledge work on. Pure data."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import NewType

BeliefId = NewType("BeliefId", str)


class Standing(StrEnum):
    """Whether a belief still counts."""

    ACTIVE = "active"
    """It holds as far as known."""
    DEPRECATED = "deprecated"
    """Its confidence fell below the threshold."""
    SUPERSEDED = "superseded"
    """A later one of its slot took its place."""
    MERGED = "merged"
    """Another one says the same and has its evidence."""


@dataclass(frozen=True, slots=True, order=True)
class Evidence:
    """One episode that supports a belief."""

    time: datetime  # when it was said; aware, UTC
    episode_id: str  # the same episode supports a belief once, however often it is delivered


@dataclass(frozen=True, slots=True)
class Belief:
    """A statement with what is needed to weigh it."""

    belief_id: BeliefId
    text: str
    base_confidence: float  # in [0, 1]: of the first statement, before any support
    importance: float  # in [0, 1]
    observed_time: datetime  # when it was first said; aware, UTC
    evidence: frozenset[Evidence] = frozenset()  # support beyond the first statement
    earlier_evidence_count: int = 0  # supporting episodes that are no longer listed
    valid_from: datetime | None = None  # None: from when it was first said
    valid_to: datetime | None = None  # None: it holds
    recorded_time: datetime | None = None  # when it was stored; None: when it was first said
    end_recorded_time: datetime | None = None  # when `valid_to` was stored; None: together with the belief
    contradicts: frozenset[BeliefId] = frozenset()
    reduced_by: frozenset[BeliefId] = frozenset()  # contradictions that halved its confidence, each once
    standing: Standing = Standing.ACTIVE
    successor_id: BeliefId | None = None  # what superseded it or what it was merged into

    @property
    def effective_time(self) -> datetime:
        """Since when it is true as far as known."""
        return self.valid_from or self.observed_time

    @property
    def last_time(self) -> datetime:
        """When it was last said."""
        return max([self.observed_time, *(item.time for item in self.evidence)])

    @property
    def evidence_count(self) -> int:
        """How many episodes support it beyond the first statement."""
        return self.earlier_evidence_count + len(self.evidence)


@dataclass(frozen=True, slots=True)
class KnowledgeSettings:
    """Rates and thresholds; the defaults are those of SPEC 3.4 to 3.6."""

    evidence_rate: float = 0.05
    """Share of the remaining doubt that one supporting episode removes."""
    decay_per_day: float = 0.01
    """Rate of the exponential decay without new evidence."""
    deprecated_below: float = 0.3
    """Confidence under which a belief is deprecated."""
    confident_from: float = 0.5
    """Confidence from which both sides of a contradiction count as clear."""
    reduction: float = 0.5
    """What remains of both confidences under the policy `reduce`."""
    merge_confidence_above: float = 0.6
    """Confidence that one of a group needs for an automatic merge."""
    merge_cosine_above: float = 0.85
    """Cosine above which a pair is a candidate for merging or contradiction."""
    evidence_cosine_min: float = 0.75
    """Cosine from which an episode is a candidate for support."""


DEFAULTS = KnowledgeSettings()


@dataclass(frozen=True, slots=True)
class Candidate:
    """Two beliefs that an embedding calls similar."""

    first: BeliefId
    second: BeliefId
    cosine: float  # in [-1, 1]
    ids: frozenset[BeliefId] = field(init=False)

    def __post_init__(self) -> None:
        """Derive the unordered pair."""
        object.__setattr__(self, "ids", frozenset((self.first, self.second)))
