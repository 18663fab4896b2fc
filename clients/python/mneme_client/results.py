"""What the client's methods return: plain frozen data, no message of the wire format.

Times are aware and in UTC, and None where the service sent none.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from grpc import StatusCode

from mneme_client.enums import (
    ConflictKind,
    ConflictPolicy,
    ConflictReason,
    MemoryKind,
    ProcedureKind,
    TaskType,
    Tier,
    TierState,
)
from mneme_client.enums_decisions import GateReason
from mneme_client.resources import Fact, Note
from mneme_client.results_supersessions import Supersession
from mneme_client.trust import SourceTrust
from mneme_client.types import Scope, Turn


@dataclass(frozen=True, slots=True)
class InteractionReference:
    """Where a turn went."""

    interaction_id: str  # a UUID
    position: int  # place in the conversation, from 0
    gated: bool = False  # it stays in the conversation log alone: no memory is made of it
    gate_reason: GateReason = GateReason.UNSPECIFIED  # why it became a memory, or did not
    gate_detail: str = ""  # the rule that decided, in words


@dataclass(frozen=True, slots=True)
class RememberResult:
    """The acknowledgement of a write: it is durable."""

    interactions: tuple[InteractionReference, ...]  # one for each turn, in order
    consistency_token: str  # give it to `recall` to see at least this write
    replayed: bool  # a repeat was recognised and nothing was written


@dataclass(frozen=True, slots=True)
class ItemError:
    """Why one item of a batch or stream was refused while others were accepted."""

    code: StatusCode  # what the call would have failed with, had it been the only item
    reason: str  # of mneme.errors.v1.ErrorReason, without prefix
    message: str  # for people
    field_path: str = ""  # from the item, such as "turns[0].content"


@dataclass(frozen=True, slots=True)
class RefusedItem:
    """An item of a stream that was not taken."""

    index: int  # place in the stream, from 0
    error: ItemError


@dataclass(frozen=True, slots=True)
class StreamResult:
    """The sum of a stream."""

    accepted_count: int  # items made durable, repeats included
    turn_count: int  # turns in these
    refused: tuple[RefusedItem, ...]  # in the order of the stream
    consistency_token: str  # covers every accepted item


@dataclass(frozen=True, slots=True)
class RetrieverRank:
    """A rank in the results of one retriever."""

    retriever: str  # "dense", "lexical", "facts" or "notes"
    rank: int  # from 1
    score: float  # the retriever's raw score


@dataclass(frozen=True, slots=True)
class ScorePart:
    """One summand of a score."""

    name: str
    value: float


@dataclass(frozen=True, slots=True)
class Explanation:
    """How a score came about."""

    retrievers: tuple[RetrieverRank, ...] = ()
    parts: tuple[ScorePart, ...] = ()  # they add up to the score


@dataclass(frozen=True, slots=True)
class Memory:
    """One recalled turn with its reasons. Its text is data from a conversation, never an instruction."""

    memory_id: str
    kind: MemoryKind
    turn: Turn
    conversation_id: str
    position: int  # place in the conversation, from 0
    score: float  # comparable within one response only
    explanation: Explanation
    fact_ids: tuple[str, ...]  # facts of the same response that are derived from it
    note_ids: tuple[str, ...]  # notes of the same response that are derived from it
    scope: Scope
    superseded_by: str = ""  # the memory or fact of the same response that contradicts it and stands
    source_trust: SourceTrust = SourceTrust.UNSPECIFIED  # whose words it rests on
    superseded_statements: tuple[Supersession, ...] = ()  # what of it holds no more; the rest may still hold

    @property
    def text(self) -> str:
        """What was said."""
        return self.turn.content


@dataclass(frozen=True, slots=True)
class RecalledFact:
    """A fact with its reasons."""

    fact: Fact
    score: float  # by the scoring profile; comparable among the facts of one response
    similarity: float  # cosine, to the query
    explanation: Explanation
    superseded_by: str = ""  # the fact that contradicts it and stands
    source_trust: SourceTrust = SourceTrust.UNSPECIFIED  # whose words it rests on


@dataclass(frozen=True, slots=True)
class RecalledNote:
    """A note with its reasons."""

    note: Note
    score: float  # by the scoring profile; comparable among the notes of one response
    similarity: float  # cosine, to the query
    hops: int  # links between it and the nearest note found by similarity
    explanation: Explanation
    superseded_by: str = ""  # the memory that contradicts it, or all turns that it was made from, and stands
    source_trust: SourceTrust = SourceTrust.UNSPECIFIED  # whose words it rests on
    matched_attachment: int | None = None  # place of the attachment whose caption is similar; None: the note's text is


@dataclass(frozen=True, slots=True)
class SessionTurn:
    """A turn in the window of a running conversation."""

    interaction_id: str
    position: int | None
    turn: Turn
    token_count: int
    superseded_by: str = ""  # the turn that superseded it or a part of it; "" none
    superseded_statements: tuple[Supersession, ...] = ()  # what of it holds no more; the rest may still hold
    marks_missing: bool = False  # the two fields before may lack something: the semantic tier did not respond in time


@dataclass(frozen=True, slots=True)
class TierReport:
    """How one tier took part in a recall."""

    tier: Tier
    state: TierState
    reason: str  # why it was skipped or failed
    duration: timedelta
    candidate_count: int


@dataclass(frozen=True, slots=True)
class TimeRange:
    """A span of time, its end excluded."""

    start_time: datetime | None
    end_time: datetime | None


@dataclass(frozen=True, slots=True)
class AppliedPattern:
    """A learned pattern that changed the query, how it was searched, or how it is to be responded to."""

    pattern: str  # empty: it is for every query
    replacement: str  # what stands in the place of the pattern; of other kinds than rewriting, what to do
    confidence: float  # in [0, 1]
    procedure_id: str = ""  # empty for a pattern of the deployment
    kind: ProcedureKind = ProcedureKind.QUERY_REWRITING


@dataclass(frozen=True, slots=True)
class AppliedProfile:
    """What of the user's profile a recall applied."""

    preferred_sources: tuple[str, ...]  # turns that name one rank higher
    excluded_sources: tuple[str, ...]  # turns that name one are left out, and what rests on such turns alone
    fact_confidence_min: float  # facts at or below it are left out, unless tentative ones are included


@dataclass(frozen=True, slots=True)
class QueryReading:
    """How the query was understood."""

    embedded_query: str
    speakers: tuple[str, ...]
    time_ranges: tuple[TimeRange, ...]
    task_type: TaskType = TaskType.UNSPECIFIED  # as given, or as classified
    task_type_confidence: float = 0.0  # in [0, 1]; 1 where it was given
    task_type_given: bool = False
    rewritten_query: str = ""  # after learned rewriting; empty where nothing was rewritten
    applied_patterns: tuple[AppliedPattern, ...] = ()  # those that rewrote the query first
    applied_profile: AppliedProfile | None = None  # None where it could not be read


@dataclass(frozen=True, slots=True)
class StageTiming:
    """What one stage of the pipeline took."""

    stage: str
    duration: timedelta
    reason: str = ""  # what it skipped and why; empty if it completed


@dataclass(frozen=True, slots=True)
class RecallPart:
    """A part of a streamed recall: the results of one tier, or at last the whole result."""

    tier: TierReport | None  # which tier, and how it took part; None with the whole result
    memories: tuple[Memory, ...]  # of the episodic tier: a first ranking
    facts: tuple[RecalledFact, ...]
    notes: tuple[RecalledNote, ...]
    recent_turns: tuple[SessionTurn, ...]
    result: RecallResult | None = None  # the whole result, with the last part


@dataclass(frozen=True, slots=True)
class Conflict:
    """A contradiction among candidates of one kind."""

    kind: ConflictKind
    subject: str  # whose, and which statement or attribute, such as "Ada lives in"
    winner_id: str  # what stands; empty where neither is known to
    winner_kind: MemoryKind
    loser_ids: tuple[str, ...]
    loser_kind: MemoryKind
    policy: ConflictPolicy
    reason: ConflictReason
    detail: str  # the reason in a few English words
    contradicting_ids: tuple[str, ...] = ()  # where neither is known to stand, of the losers' kind


@dataclass(frozen=True, slots=True)
class RecallResult:
    """What was found and why."""

    memories: tuple[Memory, ...]  # best first
    facts: tuple[RecalledFact, ...]  # best first
    notes: tuple[RecalledNote, ...]  # best first
    recent_turns: tuple[SessionTurn, ...]  # oldest first, when a conversation was named
    tiers: tuple[TierReport, ...]
    degraded: bool  # a tier failed or the token was not reached: the result may be incomplete
    reading: QueryReading
    stages: tuple[StageTiming, ...]
    recall_id: str  # in the service's logs and traces
    consistent: bool | None  # None without a consistency token
    conflicts: tuple[Conflict, ...] = ()


@dataclass(frozen=True, slots=True)
class JudgedRecall:
    """A recall with what it returned that was judged good."""

    recall_id: str
    query: str
    memory_ids: tuple[str, ...]  # turns, best first
    fact_ids: tuple[str, ...]
    note_ids: tuple[str, ...]
    create_time: datetime | None


@dataclass(frozen=True, slots=True)
class FeedbackResult:
    """The acknowledgement of a judgement."""

    consistency_token: str  # give it to `recall` to see the effect
    memory_count: int  # how many memories are judged
    replayed: bool  # a repeat was recognised by its request id


@dataclass(frozen=True, slots=True)
class Conversation:
    """An entry of the conversation log."""

    conversation_id: str
    user_id: str
    interaction_count: int
    create_time: datetime | None
    update_time: datetime | None


@dataclass(frozen=True, slots=True)
class Interaction:
    """One turn in the log."""

    interaction_id: str
    conversation_id: str
    position: int
    turn: Turn
    scope: Scope
    create_time: datetime | None
    superseded_by: str = ""  # the turn that superseded it or a part of it; "" none
    superseded_statements: tuple[Supersession, ...] = ()  # what of it holds no more; the rest may still hold
    marks_missing: bool = False  # the two fields before may lack something: the semantic tier did not respond in time


@dataclass(frozen=True, slots=True)
class SessionWindow:
    """A running conversation with its last turns."""

    conversation_id: str
    user_id: str
    turns: tuple[SessionTurn, ...]  # oldest first
    window_turns: int  # capacity of the window
    ttl: timedelta
    create_time: datetime | None
    last_active_time: datetime | None
    expire_time: datetime | None
    turn_count: int  # ever appended
    rebuilt: bool  # this call rebuilt it from the log
    degraded: bool  # the tier serves it from its own memory, without its store


@dataclass(frozen=True, slots=True)
class AppendResult:
    """What an append to a session did."""

    session: SessionWindow  # after it, without turns
    appended_count: int  # turns that were new
    created: bool  # this call created the session


@dataclass(frozen=True, slots=True)
class TierBacklog:
    """The deliveries to one tier."""

    tier: Tier
    pending_count: int
    dead_count: int
    oldest_age: timedelta | None  # None when nothing waits


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """A delivery that was given up."""

    delivery_id: str
    tier: Tier
    subject_id: str  # the interaction or feedback that it carries
    user_id: str
    attempt_count: int
    reason: str  # of the last failure, of mneme.errors.v1.ErrorReason without its prefix
    detail: str  # the tier's message; may be empty
    give_up_time: datetime | None


@dataclass(frozen=True, slots=True)
class Grant:
    """Readers in `to_scope` and below it see the memories of `from_scope`, and of that place alone."""

    grant_id: str
    user_id: str
    from_scope: Scope
    to_scope: Scope
    kinds: tuple[MemoryKind, ...]  # empty: all
    create_time: datetime | None
    expire_time: datetime | None  # None: never
    principal_id: str  # who granted it
