"""What passes between the stages of a recall. Frozen data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import IntEnum
from typing import NamedTuple, TypeAlias

from mneme.agentic.v1 import notes_pb2
from mneme.episodic.v1 import episodic_pb2
from mneme.semantic.v1 import facts_pb2, supersessions_pb2
from mneme.session.v1 import session_pb2
from services.common.scope import GLOBAL_SCOPE, Scope
from services.gateway.grants.model import Grant, MemoryKind, Readers
from services.gateway.journal.model import SequenceSpan, Tier
from services.gateway.recall.choices import ConflictChoice, ConflictPolicy, ScoringChoice, TaskType
from services.gateway.recall.columns import EpisodeColumns
from services.gateway.recall.patterns import NO_PATTERNS, PatternKind, Patterns
from services.gateway.recall.trust import SourceTrust, trust_of_turn

RECALL_TIERS = (Tier.SESSION, Tier.EPISODIC, Tier.SEMANTIC, Tier.AGENTIC)


class TierState(IntEnum):
    """How a tier took part; the numbers are those of the wire format."""

    RESPONDED = 1
    SKIPPED = 2
    FAILED = 3


@dataclass(frozen=True, slots=True)
class RecallQuery:
    """What is asked for."""

    user_id: str
    text: str
    limit: int
    as_of: datetime  # "yesterday" is the day before
    known_at: datetime | None = None  # only what had been recorded by then; None: everything
    is_past: bool = False  # `as_of` is before the present
    scope: Scope = GLOBAL_SCOPE  # the reader's
    conversation_id: str = ""  # the running one; empty for none
    tiers: tuple[Tier, ...] = RECALL_TIERS
    written: SequenceSpan | None = None  # what must be visible first
    are_tiers_given: bool = False  # the caller named them, so that no loadout takes any away
    task_type: TaskType | None = None  # None: classified
    skip_reason: str = "not asked for"  # of the tiers that are not among `tiers`
    favoured: tuple[Tier, ...] = ()  # tiers that the task type lets give more
    favour_factor: float = 1.0  # how many times as many facts or notes they give
    with_features: bool = False  # return what the fitted rankers see
    wanted: int | None = None  # memories that are likely to be used, by which retrievers are sized; None: the limit
    include_tentative_facts: bool = False  # also facts that are believed little
    scoring: ScoringChoice = field(default_factory=ScoringChoice)
    conflicts: ConflictChoice = field(default_factory=ConflictChoice)
    grants: tuple[Grant, ...] = ()  # to the reader
    method: str = "Recall"  # by which it was asked: for the audit log

    @property
    def wanted_count(self) -> int:
        """Memories by which retrievers are sized."""
        return self.limit if self.wanted is None else self.wanted

    @property
    def former_time(self) -> datetime | None:
        """The earlier one of `known_at` and an `as_of` that is past; None for a recall of the present."""
        if not self.is_past:
            return self.known_at
        return self.as_of if self.known_at is None else min(self.as_of, self.known_at)

    @property
    def readers(self) -> Readers:
        """Who reads, by kinds of memories."""
        return Readers(self.scope, self.grants)

    def limit_of(self, tier: Tier, limit: int) -> int:
        """How many facts or notes a tier is asked for that gives `limit` of them by default."""
        return round(limit * self.favour_factor) if tier in self.favoured else limit


class DerivedLimits(NamedTuple):
    """How many facts and notes a response has at most."""

    facts: int
    notes: int


@dataclass(frozen=True, slots=True)
class AppliedProfile:
    """What the user's profile asks of a recall."""

    preferred_sources: tuple[str, ...] = ()
    excluded_sources: tuple[str, ...] = ()
    fact_confidence_min: float = 0.0  # facts must be above it, unless tentative ones are asked for

    @property
    def names_sources(self) -> bool:
        """Whether it prefers or excludes any."""
        return bool(self.preferred_sources or self.excluded_sources)


@dataclass(frozen=True, slots=True)
class OwnerReading:
    """What is stored of how a user is to be served."""

    profile: AppliedProfile = field(default_factory=AppliedProfile)
    patterns: Patterns = NO_PATTERNS


@dataclass(frozen=True, slots=True)
class TierReport:
    """How one tier took part in a recall."""

    tier: Tier
    state: TierState
    reason: str = ""  # why it was skipped or failed, or what its results may lack
    duration_seconds: float = 0.0
    candidate_count: int = 0
    is_partial: bool = False  # its results may lack something


@dataclass(frozen=True, slots=True)
class TurnSources:
    """Which turns the sources of the profile are about."""

    excluded: frozenset[str] = frozenset()
    preferred: frozenset[str] = frozenset()

    def __bool__(self) -> bool:
        """Whether there are any."""
        return bool(self.excluded or self.preferred)


@dataclass(frozen=True, slots=True)
class CoarseResult:
    """What the tiers returned. Empty and failed are different: see the reports."""

    episodes: EpisodeColumns | None = None  # None when the tier did not respond
    facts: tuple[facts_pb2.ScoredFact, ...] = ()
    notes: tuple[notes_pb2.ScoredNote, ...] = ()
    recent_turns: tuple[session_pb2.SessionTurn, ...] = ()
    reports: tuple[TierReport, ...] = ()
    superseded: Mapping[str, Sequence[supersessions_pb2.Supersession]] = field(default_factory=dict)  # by turn
    reduced: Mapping[str, Sequence[supersessions_pb2.Supersession]] = field(default_factory=dict)  # by both turns
    sources: TurnSources = field(default_factory=TurnSources)  # where the profile names any

    @property
    def all_failed(self) -> bool:
        """Whether every tier that was searched has failed."""
        asked = [r for r in self.reports if r.state is not TierState.SKIPPED]
        return bool(asked) and all(r.state is TierState.FAILED for r in asked)

    @property
    def is_incomplete(self) -> bool:
        """Whether the results of a tier are missing, or lack something."""
        return any(r.state is TierState.FAILED or r.is_partial for r in self.reports)


ScorePart: TypeAlias = tuple[str, float]
"""Name and value of a part of a score."""


@dataclass(frozen=True, slots=True)
class RetrieverRank:
    """A rank in the results of one retriever."""

    retriever: str  # "dense", "lexical", "facts" or "notes"
    rank: int  # from 1
    score: float  # the retriever's raw score


@dataclass(frozen=True, slots=True)
class RankedEpisode:
    """A candidate turn with its final score and the reasons."""

    episode_id: str
    score: float
    retrievers: tuple[RetrieverRank, ...]
    parts: tuple[ScorePart, ...]  # they add up to the score
    text_chars: int = 0  # length of its text
    features: tuple[float, ...] = ()  # of the fitted rankers, where the query wants them


@dataclass(frozen=True, slots=True)
class RecalledMemory:
    """A ranked episode with its content."""

    ranked: RankedEpisode
    episode: episodic_pb2.Episode
    fact_ids: tuple[str, ...] = ()
    note_ids: tuple[str, ...] = ()

    @property
    def memory_id(self) -> str:
        """The episode's id."""
        return self.ranked.episode_id

    @property
    def source_trust(self) -> SourceTrust:
        """Whose words it holds."""
        return trust_of_turn(self.episode.role, self.episode.speaker, self.episode.user_id)

    def without(self, derived_ids: Set[str]) -> RecalledMemory:
        """The same without these ids of facts and notes."""
        return replace(
            self,
            fact_ids=tuple(i for i in self.fact_ids if i not in derived_ids),
            note_ids=tuple(i for i in self.note_ids if i not in derived_ids),
        )


def confidence_now(hit: facts_pb2.ScoredFact) -> float:
    """The confidence of a fact with its decay; tiers of an earlier release do not send it."""
    return hit.current_confidence if hit.HasField("current_confidence") else hit.fact.confidence


@dataclass(frozen=True, slots=True)
class RecalledFact:
    """A fact with its final score and the reasons."""

    fact: facts_pb2.Fact
    similarity: float  # cosine, to the query
    score: float
    retriever: RetrieverRank
    parts: tuple[ScorePart, ...]  # they add up to the score
    source_trust: SourceTrust = SourceTrust.UNSPECIFIED
    confidence_now: float | None = None  # with its decay, in [0, 1]; None: that of the fact

    @property
    def memory_id(self) -> str:
        """The fact's id."""
        return self.fact.fact_id

    @property
    def confidence(self) -> float:
        """How much it is believed now, in [0, 1]."""
        return self.fact.confidence if self.confidence_now is None else self.confidence_now


@dataclass(frozen=True, slots=True)
class RecalledNote:
    """A note with its final score and the reasons."""

    note: notes_pb2.Note
    similarity: float  # cosine, to the query
    score: float
    retriever: RetrieverRank
    parts: tuple[ScorePart, ...]  # they add up to the score
    path: tuple[notes_pb2.WalkedLink, ...] = ()  # links from a note found by similarity; empty for such a note
    matched_attachment: int | None = None  # place of the attachment whose caption is similar; None: the note's text is
    source_trust: SourceTrust = SourceTrust.UNSPECIFIED

    @property
    def memory_id(self) -> str:
        """The note's id."""
        return self.note.note_id


class ConflictKind(IntEnum):
    """How memories contradict each other; the numbers are those of the wire format."""

    NEGATION = 1
    VALUE = 2


class ConflictReason(IntEnum):
    """What made the winner of a conflict win; the numbers are those of the wire format."""

    LATER = 1
    CONFIDENCE = 2
    IMPORTANCE = 3
    USER_CHOICE = 4
    STILL_VALID = 5
    RANK = 6
    NEITHER = 7


@dataclass(frozen=True, slots=True)
class Conflict:
    """A contradiction among candidates of one kind."""

    kind: ConflictKind
    subject: str  # whose, and which statement or attribute
    winner_id: str
    winner_kind: MemoryKind  # that of the losers; a fact where no turn that it was made from is a candidate
    loser_ids: tuple[str, ...]
    loser_kind: MemoryKind
    policy: ConflictPolicy
    reason: ConflictReason
    contradicting_ids: tuple[str, ...] = ()  # where neither stands: of the losers' kind, and there are none of these


@dataclass(frozen=True, slots=True)
class AppliedPattern:
    """A learned pattern that changed the query, how it is searched, or how it is to be responded to."""

    pattern: str  # empty: it is for every query
    replacement: str  # what stands in the place of the pattern; of other kinds than rewriting, what to do
    confidence: float
    procedure_id: str = ""  # empty for a pattern of the deployment
    kind: PatternKind = PatternKind.QUERY_REWRITING


@dataclass(frozen=True, slots=True)
class Reading:
    """What was understood of the query."""

    embedded_query: str
    speakers: tuple[str, ...]
    time_ranges: tuple[tuple[datetime, datetime], ...]
    task_type: TaskType = TaskType.GENERAL
    task_type_confidence: float = 0.0  # in [0, 1]; 1 where it was given
    task_type_given: bool = False
    rewritten_query: str = ""  # empty where nothing was rewritten
    applied_patterns: tuple[AppliedPattern, ...] = ()  # rewritings by their places in the query, then other kinds
    applied_profile: AppliedProfile | None = None  # None where it could not be read


@dataclass(frozen=True, slots=True)
class Recalled:
    """The result of a recall."""

    recall_id: str
    memories: tuple[RecalledMemory, ...]
    facts: tuple[RecalledFact, ...]
    notes: tuple[RecalledNote, ...]
    recent_turns: tuple[session_pb2.SessionTurn, ...]
    reports: tuple[TierReport, ...]
    reading: Reading
    stage_seconds: tuple[tuple[str, float], ...]
    is_degraded: bool
    is_consistent: bool | None = None  # None when no write was waited for
    feature_names: tuple[str, ...] = ()  # of the memories' features, where the query wants them
    stage_reasons: tuple[tuple[str, str], ...] = ()  # stages that left work undone, and why
    conflicts: tuple[Conflict, ...] = ()
    superseded: Mapping[str, Sequence[supersessions_pb2.Supersession]] = field(default_factory=dict)  # by turn
    reduced: Mapping[str, Sequence[supersessions_pb2.Supersession]] = field(default_factory=dict)  # by both turns
    as_of: datetime | None = None  # the time as of which was asked; None: it decides nothing

    @property
    def superseded_by(self) -> Mapping[str, str]:
        """Id of the winner for each memory that lost a conflict: of several, the first."""
        lost = [(loser, conflict.winner_id) for conflict in self.conflicts for loser in conflict.loser_ids]
        return dict(reversed(lost))

    @property
    def contradicted(self) -> frozenset[str]:
        """Ids of memories that others contradict of which it is not known which one stands."""
        return frozenset(memory_id for conflict in self.conflicts for memory_id in conflict.contradicting_ids)
