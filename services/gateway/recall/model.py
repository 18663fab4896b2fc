"""What passes between the stages of a recall. Frozen data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import IntEnum

from mneme.agentic.v1 import notes_pb2
from mneme.episodic.v1 import episodic_pb2
from mneme.semantic.v1 import facts_pb2
from mneme.session.v1 import session_pb2
from services.common.scope import GLOBAL_SCOPE, Scope
from services.gateway.grants.model import Grant, MemoryKind, Readers
from services.gateway.journal.model import SequenceSpan, Tier
from services.gateway.recall.choices import ConflictChoice, ConflictPolicy, ScoringChoice, TaskType
from services.gateway.recall.columns import EpisodeColumns

RECALL_TIERS = (Tier.SESSION, Tier.EPISODIC, Tier.SEMANTIC, Tier.AGENTIC)


class TierState(IntEnum):
    """How a tier took part; the numbers are those of the wire format."""

    ANSWERED = 1
    SKIPPED = 2
    FAILED = 3


@dataclass(frozen=True, slots=True)
class RecallQuery:
    """What is asked for."""

    user_id: str
    text: str
    limit: int
    as_of: datetime  # "yesterday" is the day before
    scope: Scope = GLOBAL_SCOPE  # the reader's
    conversation_id: str = ""  # the running one; empty for none
    tiers: tuple[Tier, ...] = RECALL_TIERS
    written: SequenceSpan | None = None  # what must be visible first
    are_tiers_given: bool = False  # the caller named them, so that no loadout takes any away
    task_type: TaskType | None = None  # None: classified
    skip_reason: str = "not asked for"  # of the tiers that are not among `tiers`
    favoured: tuple[Tier, ...] = ()  # tiers that the task type lets give more
    favour_factor: float = 1.0  # how many times as many facts or notes they give
    with_features: bool = False  # tell what the fitted rankers see
    scoring: ScoringChoice = field(default_factory=ScoringChoice)
    conflicts: ConflictChoice = field(default_factory=ConflictChoice)
    grants: tuple[Grant, ...] = ()  # to the reader

    @property
    def readers(self) -> Readers:
        """Who reads, by kinds of memories."""
        return Readers(self.scope, self.grants)

    def limit_of(self, tier: Tier, limit: int) -> int:
        """How many facts or notes a tier is asked for that gives `limit` of them by default."""
        return round(limit * self.favour_factor) if tier in self.favoured else limit


@dataclass(frozen=True, slots=True)
class TierReport:
    """How one tier took part in an answer."""

    tier: Tier
    state: TierState
    reason: str = ""  # why it was skipped or failed, or what its answer may lack
    duration_seconds: float = 0.0
    candidate_count: int = 0
    is_partial: bool = False  # it answered with less than it should have


@dataclass(frozen=True, slots=True)
class CoarseResult:
    """What the tiers gave. Empty and failed are different: see the reports."""

    episodes: EpisodeColumns | None = None  # None when the tier did not answer
    facts: tuple[facts_pb2.ScoredFact, ...] = ()
    notes: tuple[notes_pb2.ScoredNote, ...] = ()
    recent_turns: tuple[session_pb2.SessionTurn, ...] = ()
    reports: tuple[TierReport, ...] = ()

    @property
    def all_failed(self) -> bool:
        """Whether no tier that was asked for memories has answered."""
        asked = [r for r in self.reports if r.state is not TierState.SKIPPED]
        return bool(asked) and all(r.state is TierState.FAILED for r in asked)

    @property
    def is_incomplete(self) -> bool:
        """Whether a tier is missing from the answer, or gave only a part of what it has."""
        return any(r.state is TierState.FAILED or r.is_partial for r in self.reports)


@dataclass(frozen=True, slots=True)
class LaneRank:
    """A rank in one lane of the coarse search."""

    lane: str
    rank: int  # from 1
    score: float  # the lane's raw score


@dataclass(frozen=True, slots=True)
class RankedEpisode:
    """A candidate with its final score and the reasons."""

    episode_id: str
    score: float
    lanes: tuple[LaneRank, ...]
    parts: tuple[tuple[str, float], ...]  # name and value; they add up to the score
    text_chars: int = 0  # length of its text
    features: tuple[float, ...] = ()  # what a ranker sees of it, where they were asked for


@dataclass(frozen=True, slots=True)
class RecalledMemory:
    """A ranked episode with its content."""

    ranked: RankedEpisode
    episode: episodic_pb2.Episode
    fact_ids: tuple[str, ...] = ()
    note_ids: tuple[str, ...] = ()


class ConflictKind(IntEnum):
    """How memories contradict each other; the numbers are those of the wire format."""

    NEGATION = 1
    VALUE = 2


@dataclass(frozen=True, slots=True)
class Conflict:
    """A contradiction among the turns, or among the facts, of one answer."""

    kind: ConflictKind
    memory_kind: MemoryKind  # what the ids are
    subject: str  # whose, and which statement or attribute
    winner_id: str  # what stands; of turns also a fact, where none of its turns is in the answer
    loser_ids: tuple[str, ...]
    policy: ConflictPolicy
    reason: str  # what made the winner win


@dataclass(frozen=True, slots=True)
class Reading:
    """What was understood of the query."""

    embedded_query: str
    speakers: tuple[str, ...]
    time_ranges: tuple[tuple[datetime, datetime], ...]
    task_type: TaskType = TaskType.GENERAL
    task_type_confidence: float = 0.0  # in [0, 1]; 1 where it was given
    is_task_type_given: bool = False
    rewritten_query: str = ""  # empty where nothing was rewritten


@dataclass(frozen=True, slots=True)
class Recalled:
    """The answer."""

    recall_id: str
    memories: tuple[RecalledMemory, ...]
    facts: tuple[facts_pb2.ScoredFact, ...]
    notes: tuple[notes_pb2.ScoredNote, ...]
    recent_turns: tuple[session_pb2.SessionTurn, ...]
    reports: tuple[TierReport, ...]
    reading: Reading
    stage_seconds: tuple[tuple[str, float], ...]
    is_degraded: bool
    is_consistent: bool | None = None  # None when no write was waited for
    feature_names: tuple[str, ...] = ()  # of the memories' features, where they were asked for
    stage_reasons: tuple[tuple[str, str], ...] = ()  # stages that left work undone, and why
    conflicts: tuple[Conflict, ...] = ()

    @property
    def superseded_by(self) -> Mapping[str, str]:
        """For each turn and fact that lost a conflict, what stands: of several, the first told."""
        told = [(loser, conflict.winner_id) for conflict in self.conflicts for loser in conflict.loser_ids]
        return dict(reversed(told))
