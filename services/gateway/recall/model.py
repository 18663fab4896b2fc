"""What passes between the stages of a recall. Frozen data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import IntEnum
from typing import Any

import numpy as np
import numpy.typing as npt

from mneme.agentic.v1 import notes_pb2
from mneme.episodic.v1 import episodic_pb2
from mneme.semantic.v1 import facts_pb2
from mneme.session.v1 import session_pb2
from services.common.paging import ANSWER_BYTES_MAX
from services.common.scope import GLOBAL_SCOPE, Scope
from services.common.settings_types import Amount, AnswerBytes, Count, CountOrNone, PositiveShare
from services.gateway.grants.model import Grant, MemoryKind, Readers
from services.gateway.journal.model import SequenceSpan, Tier
from services.gateway.recall.choices import ConflictChoice, ConflictPolicy, Profile, ScoringChoice, TaskType

FloatColumn = npt.NDArray[np.float32]
IntColumn = npt.NDArray[np.int32]

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
class Statistics:
    """What the store knows of the candidates' use: value i of every column belongs to candidate i."""

    access_count: npt.NDArray[np.int64]
    last_access_time: npt.NDArray[np.float64]  # seconds since the epoch; 0 if never
    confidence: FloatColumn  # in [0, 1]; -1 where it is not known
    decay: FloatColumn  # hyperbolic, in (0, 1]

    @classmethod
    def from_response(cls, response: episodic_pb2.SearchCandidatesResponse) -> Statistics | None:
        """Columns of a response of the episodic tier; None where it tells no statistics."""
        if not response.access_counts:
            return None
        return cls(
            access_count=np.array(response.access_counts, dtype=np.int64),
            last_access_time=np.array(response.last_access_times, dtype=np.float64),
            confidence=np.array(response.confidences, dtype=np.float32),
            decay=np.array(response.decay_factors, dtype=np.float32),
        )


@dataclass(frozen=True, slots=True)
class EpisodeColumns:
    """Evidence for candidate turns: value i of every column belongs to candidate i, n candidates in all."""

    ids: tuple[bytes, ...]  # 16 bytes each
    dense: FloatColumn  # cosine similarity, in [-1, 1]
    lexical: FloatColumn  # BM25, 0 without a shared term
    dense_rank: IntColumn  # from 1; 0 if the lane did not return it
    lexical_rank: IntColumn
    session: IntColumn  # a number for each session
    position: IntColumn
    speaker: IntColumn  # index into speakers
    time: npt.NDArray[np.float64]  # seconds since the epoch
    length: IntColumn  # characters
    traits: IntColumn  # bit set, see Trait
    feedback: IntColumn  # -1, 0, 1
    importance: FloatColumn
    speakers: tuple[str, ...]
    is_incomplete: bool = False  # the index lacked some of the user's turns, or could not be asked
    statistics: Statistics | None = None  # where they were asked for
    change_number: int = 0  # of the user's last change that this knows of; 0 where the tier does not tell
    active_count: int = 0  # active turns that the reader sees, candidates or not; 0 where the tier does not tell
    # Late interaction, float32 [q, n]: best cosine similarity of question token t to any token of candidate i, 0 for a
    # candidate without token vectors. None, and the columns below empty, where there is none.
    token_scores: FloatColumn | None = None
    token_ids: npt.NDArray[np.uint16] = field(default_factory=lambda: np.zeros(0, dtype=np.uint16))  # [q], word pieces
    token_frequencies: IntColumn = field(default_factory=lambda: np.zeros(0, dtype=np.int32))  # [q], candidates with it
    has_tokens: npt.NDArray[np.bool_] = field(default_factory=lambda: np.zeros(0, dtype=np.bool_))  # [n]
    reverse: FloatColumn = field(default_factory=lambda: np.zeros(0, dtype=np.float32))  # [n], candidate to question
    sentence: FloatColumn = field(default_factory=lambda: np.zeros(0, dtype=np.float32))  # [n], best sentence alone
    # What other tiers found that was made from the candidate, 0 where nothing; empty until they are joined.
    fact: FloatColumn = field(default_factory=lambda: np.zeros(0, dtype=np.float32))  # [n], similarity of its best fact
    note: FloatColumn = field(default_factory=lambda: np.zeros(0, dtype=np.float32))  # [n], score of its best note

    def __len__(self) -> int:
        """The number of candidates."""
        return len(self.ids)

    @classmethod
    def from_response(cls, response: episodic_pb2.SearchCandidatesResponse, token_ids: bytes = b"") -> EpisodeColumns:
        """Columns of a response of the episodic tier.

        Args:
            response: What the tier answered.
            token_ids: Ids of the question's word pieces that were asked with, uint16, little endian.
        """
        return cls(
            ids=tuple(np.frombuffer(response.episode_ids, dtype="V16").tolist()),
            dense=np.array(response.dense_scores, dtype=np.float32),
            lexical=np.array(response.lexical_scores, dtype=np.float32),
            dense_rank=np.array(response.dense_ranks, dtype=np.int32),
            lexical_rank=np.array(response.lexical_ranks, dtype=np.int32),
            session=np.array(response.sessions, dtype=np.int32),
            position=np.array(response.positions, dtype=np.int32),
            speaker=np.array(response.speaker_indexes, dtype=np.int32),
            time=np.array(response.times, dtype=np.float64),
            length=np.array(response.lengths, dtype=np.int32),
            traits=np.array(response.traits, dtype=np.int32),
            feedback=np.array(response.feedbacks, dtype=np.int32),
            importance=np.array(response.importances, dtype=np.float32),
            speakers=tuple(response.speakers),
            is_incomplete=response.degraded,
            statistics=Statistics.from_response(response),
            change_number=response.change_number,
            active_count=response.active_count,
            **_late_interaction(response, token_ids),
        )


def _late_interaction(response: episodic_pb2.SearchCandidatesResponse, token_ids: bytes) -> dict[str, Any]:
    """Columns of late interaction by name; none where the tier tells nothing, or something of another shape."""
    count = len(response.episode_ids) // 16
    rows = len(response.token_frequencies)
    whole = (4 * rows * count, 4 * count, count, count)
    told = (response.token_scores, response.sentence_scores, response.token_present, response.reverse_scores)
    if not rows or not count or tuple(map(len, told)) != whole or len(token_ids) < 2 * rows:
        return {}
    return {
        "token_scores": np.frombuffer(response.token_scores, dtype="<f4").reshape(rows, count),
        "token_ids": np.frombuffer(token_ids, dtype="<u2", count=rows),
        "token_frequencies": np.array(response.token_frequencies, dtype=np.int32),
        "has_tokens": np.array(response.token_present, dtype=np.bool_),
        "reverse": np.array(response.reverse_scores, dtype=np.float32),
        "sentence": np.frombuffer(response.sentence_scores, dtype="<f4"),
    }


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


@dataclass(frozen=True, slots=True)
class RecallSettings:
    """Limits and shares of a recall."""

    limit_default: Count = 10  # memories where no number is asked for
    limit_max: Count = 200  # memories of one answer
    query_chars_max: Count = 8_192  # a question
    text_chars_max: Count = 1_000_000  # of all memories of an answer
    answer_bytes_max: AnswerBytes = ANSWER_BYTES_MAX  # of an answer; gRPC clients take 4 MiB unless told otherwise
    lane_limit: Count = 200  # hits of each lane of the episodic tier; the rankers were fitted on so many
    neighbour_seeds: CountOrNone = 60  # best hits whose neighbours become candidates
    light_lane_limit: Count = 70  # the same for the profile `light`, which trades little recall for time:
    light_neighbour_seeds: CountOrNone = 25  # docs/recall.md says how little
    neighbour_radius: CountOrNone = 2  # turns before and after
    fact_limit: CountOrNone = 10  # facts asked of the semantic tier
    note_limit: CountOrNone = 10  # notes asked of the agentic tier
    note_hops: CountOrNone = 2  # links walked from a note found by similarity
    tier_time_share: PositiveShare = 0.7  # of the time left, for the coarse search; the rest is for what comes after
    consistency_time_share: PositiveShare = 0.6  # of the time left, for waiting until a write is visible
    speaker_cache_seconds: Amount = 5.0  # how old the names of a user's speakers may be
    access_queue_max: Count = 1_000  # recalls whose access statistics wait to be written; more are dropped

    def lane_limit_of(self, profile: Profile) -> int:
        """Hits of each lane for a profile."""
        return self.light_lane_limit if profile is Profile.LIGHT else self.lane_limit

    def neighbour_seeds_of(self, profile: Profile) -> int:
        """Hits whose neighbours become candidates, for a profile."""
        return self.light_neighbour_seeds if profile is Profile.LIGHT else self.neighbour_seeds


def episode_id_text(raw: bytes) -> str:
    """An episode id as text."""
    digits = raw.hex()
    return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"


@dataclass(frozen=True, slots=True)
class StageDescription:
    """One stage of the pipeline, for documentation and traces."""

    name: str
    spec: str  # items of the specification that it serves
    purpose: str
    runs: str = "always"  # when it has something to do

    @property
    def is_skippable(self) -> bool:
        """Whether recalls may go without it."""
        return self.runs != "always"


STAGES: Sequence[StageDescription] = (
    StageDescription("consistency", "5.11", "waits until the writes of the token can be found", runs="with a token"),
    StageDescription("grants", "5.3", "finds what was granted to the reader"),
    StageDescription("read_question", "5.4, 5.5", "finds speakers and times, puts the question into first person"),
    StageDescription("rewrite", "5.1", "applies learned rewritings to the question"),
    StageDescription("embed", "5.1", "embeds the question, once"),
    StageDescription("intent", "5.2", "tells what the answer is wanted for, and chooses the tiers"),
    StageDescription("coarse_search", "5.1, 5.4", "asks all tiers at once, each with its share of the deadline"),
    StageDescription("quarantine", "5.3", "drops what neither the reader's scope nor a grant lets it see"),
    StageDescription("fusion", "5.4", "ranks turns by the evidence of all lanes"),
    StageDescription("fetch", "5.1", "reads the text of the best, as far as an answer holds them"),
    StageDescription(
        "cross_encode", "5.1", "reads question and turn together, the best first", runs="where a model is configured"
    ),
    StageDescription("conflicts", "5.7", "finds turns and facts that contradict each other, and which of them stand"),
    StageDescription("assemble", "5.10", "puts the answer together with its reasons, no longer than a message"),
)
