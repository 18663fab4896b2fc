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
    contradicts: frozenset[BeliefId] = frozenset()
    standing: Standing = Standing.ACTIVE

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
    """Rates and thresholds; the defaults are those of SPEC 3.4 and 3.6."""

    evidence_rate: float = 0.05
    """Share of the remaining doubt that one supporting episode removes."""
    decay_per_day: float = 0.01
    """Rate of the exponential decay without new evidence."""
    deprecated_below: float = 0.3
    """Confidence under which a belief is deprecated."""
    merge_confidence_above: float = 0.6
    """Confidence that one of a group needs for an automatic merge."""
    merge_cosine_above: float = 0.85
    """Cosine above which a pair is a candidate for merging."""
    queued_group_max: int = 8
    """Beliefs of a group that waits for a decision, at least 2; a larger one is divided."""


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
