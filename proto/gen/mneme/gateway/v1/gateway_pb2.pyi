import datetime

from google.protobuf import duration_pb2 as _duration_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from mneme.agentic.v1 import notes_pb2 as _notes_pb2
from mneme.common.v1 import common_pb2 as _common_pb2
from mneme.semantic.v1 import facts_pb2 as _facts_pb2
from mneme.semantic.v1 import profile_pb2 as _profile_pb2
from mneme.session.v1 import session_pb2 as _session_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Tier(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    TIER_UNSPECIFIED: _ClassVar[Tier]
    TIER_SESSION: _ClassVar[Tier]
    TIER_EPISODIC: _ClassVar[Tier]
    TIER_SEMANTIC: _ClassVar[Tier]
    TIER_AGENTIC: _ClassVar[Tier]
    TIER_PROFILE: _ClassVar[Tier]

class TierState(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    TIER_STATE_UNSPECIFIED: _ClassVar[TierState]
    TIER_STATE_ANSWERED: _ClassVar[TierState]
    TIER_STATE_SKIPPED: _ClassVar[TierState]
    TIER_STATE_FAILED: _ClassVar[TierState]

class MemoryKind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    MEMORY_KIND_UNSPECIFIED: _ClassVar[MemoryKind]
    MEMORY_KIND_EPISODE: _ClassVar[MemoryKind]
    MEMORY_KIND_FACT: _ClassVar[MemoryKind]
    MEMORY_KIND_NOTE: _ClassVar[MemoryKind]

class TaskType(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    TASK_TYPE_UNSPECIFIED: _ClassVar[TaskType]
    TASK_TYPE_FACTUAL: _ClassVar[TaskType]
    TASK_TYPE_RECOMMENDATION: _ClassVar[TaskType]
    TASK_TYPE_CONVERSATIONAL: _ClassVar[TaskType]
    TASK_TYPE_PROCEDURAL: _ClassVar[TaskType]
    TASK_TYPE_DEBUGGING: _ClassVar[TaskType]
    TASK_TYPE_GENERAL: _ClassVar[TaskType]

class ConflictPolicy(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    CONFLICT_POLICY_UNSPECIFIED: _ClassVar[ConflictPolicy]
    CONFLICT_POLICY_RECENCY: _ClassVar[ConflictPolicy]
    CONFLICT_POLICY_CONFIDENCE: _ClassVar[ConflictPolicy]
    CONFLICT_POLICY_IMPORTANCE: _ClassVar[ConflictPolicy]
    CONFLICT_POLICY_USER_OVERRIDE: _ClassVar[ConflictPolicy]

class ConflictKind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    CONFLICT_KIND_UNSPECIFIED: _ClassVar[ConflictKind]
    CONFLICT_KIND_NEGATION: _ClassVar[ConflictKind]
    CONFLICT_KIND_VALUE: _ClassVar[ConflictKind]

class ContextOrder(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    CONTEXT_ORDER_UNSPECIFIED: _ClassVar[ContextOrder]
    CONTEXT_ORDER_BEST_FIRST: _ClassVar[ContextOrder]
    CONTEXT_ORDER_CHRONOLOGICAL: _ClassVar[ContextOrder]

class ContextSectionState(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    CONTEXT_SECTION_STATE_UNSPECIFIED: _ClassVar[ContextSectionState]
    CONTEXT_SECTION_STATE_TOLD: _ClassVar[ContextSectionState]
    CONTEXT_SECTION_STATE_EMPTY: _ClassVar[ContextSectionState]
    CONTEXT_SECTION_STATE_NO_ROOM: _ClassVar[ContextSectionState]
    CONTEXT_SECTION_STATE_NOT_WANTED: _ClassVar[ContextSectionState]
    CONTEXT_SECTION_STATE_FAILED: _ClassVar[ContextSectionState]
    CONTEXT_SECTION_STATE_ABSENT: _ClassVar[ContextSectionState]

class ContextSectionKind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    CONTEXT_SECTION_KIND_UNSPECIFIED: _ClassVar[ContextSectionKind]
    CONTEXT_SECTION_KIND_RECENT_TURNS: _ClassVar[ContextSectionKind]
    CONTEXT_SECTION_KIND_FACTS: _ClassVar[ContextSectionKind]
    CONTEXT_SECTION_KIND_MEMORIES: _ClassVar[ContextSectionKind]
    CONTEXT_SECTION_KIND_NOTES: _ClassVar[ContextSectionKind]
    CONTEXT_SECTION_KIND_PROCEDURES: _ClassVar[ContextSectionKind]
TIER_UNSPECIFIED: Tier
TIER_SESSION: Tier
TIER_EPISODIC: Tier
TIER_SEMANTIC: Tier
TIER_AGENTIC: Tier
TIER_PROFILE: Tier
TIER_STATE_UNSPECIFIED: TierState
TIER_STATE_ANSWERED: TierState
TIER_STATE_SKIPPED: TierState
TIER_STATE_FAILED: TierState
MEMORY_KIND_UNSPECIFIED: MemoryKind
MEMORY_KIND_EPISODE: MemoryKind
MEMORY_KIND_FACT: MemoryKind
MEMORY_KIND_NOTE: MemoryKind
TASK_TYPE_UNSPECIFIED: TaskType
TASK_TYPE_FACTUAL: TaskType
TASK_TYPE_RECOMMENDATION: TaskType
TASK_TYPE_CONVERSATIONAL: TaskType
TASK_TYPE_PROCEDURAL: TaskType
TASK_TYPE_DEBUGGING: TaskType
TASK_TYPE_GENERAL: TaskType
CONFLICT_POLICY_UNSPECIFIED: ConflictPolicy
CONFLICT_POLICY_RECENCY: ConflictPolicy
CONFLICT_POLICY_CONFIDENCE: ConflictPolicy
CONFLICT_POLICY_IMPORTANCE: ConflictPolicy
CONFLICT_POLICY_USER_OVERRIDE: ConflictPolicy
CONFLICT_KIND_UNSPECIFIED: ConflictKind
CONFLICT_KIND_NEGATION: ConflictKind
CONFLICT_KIND_VALUE: ConflictKind
CONTEXT_ORDER_UNSPECIFIED: ContextOrder
CONTEXT_ORDER_BEST_FIRST: ContextOrder
CONTEXT_ORDER_CHRONOLOGICAL: ContextOrder
CONTEXT_SECTION_STATE_UNSPECIFIED: ContextSectionState
CONTEXT_SECTION_STATE_TOLD: ContextSectionState
CONTEXT_SECTION_STATE_EMPTY: ContextSectionState
CONTEXT_SECTION_STATE_NO_ROOM: ContextSectionState
CONTEXT_SECTION_STATE_NOT_WANTED: ContextSectionState
CONTEXT_SECTION_STATE_FAILED: ContextSectionState
CONTEXT_SECTION_STATE_ABSENT: ContextSectionState
CONTEXT_SECTION_KIND_UNSPECIFIED: ContextSectionKind
CONTEXT_SECTION_KIND_RECENT_TURNS: ContextSectionKind
CONTEXT_SECTION_KIND_FACTS: ContextSectionKind
CONTEXT_SECTION_KIND_MEMORIES: ContextSectionKind
CONTEXT_SECTION_KIND_NOTES: ContextSectionKind
CONTEXT_SECTION_KIND_PROCEDURES: ContextSectionKind

class Scoring(_message.Message):
    __slots__ = ("profile", "weights")
    class WeightsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: float
        def __init__(self, key: _Optional[str] = ..., value: _Optional[float] = ...) -> None: ...
    PROFILE_FIELD_NUMBER: _ClassVar[int]
    WEIGHTS_FIELD_NUMBER: _ClassVar[int]
    profile: str
    weights: _containers.ScalarMap[str, float]
    def __init__(self, profile: _Optional[str] = ..., weights: _Optional[_Mapping[str, float]] = ...) -> None: ...

class RememberRequest(_message.Message):
    __slots__ = ("request_id", "user_id", "conversation_id", "turns", "scope")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    CONVERSATION_ID_FIELD_NUMBER: _ClassVar[int]
    TURNS_FIELD_NUMBER: _ClassVar[int]
    SCOPE_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    user_id: str
    conversation_id: str
    turns: _containers.RepeatedCompositeFieldContainer[_common_pb2.Turn]
    scope: _common_pb2.Scope
    def __init__(self, request_id: _Optional[str] = ..., user_id: _Optional[str] = ..., conversation_id: _Optional[str] = ..., turns: _Optional[_Iterable[_Union[_common_pb2.Turn, _Mapping]]] = ..., scope: _Optional[_Union[_common_pb2.Scope, _Mapping]] = ...) -> None: ...

class RememberResponse(_message.Message):
    __slots__ = ("interactions", "consistency_token", "replayed")
    INTERACTIONS_FIELD_NUMBER: _ClassVar[int]
    CONSISTENCY_TOKEN_FIELD_NUMBER: _ClassVar[int]
    REPLAYED_FIELD_NUMBER: _ClassVar[int]
    interactions: _containers.RepeatedCompositeFieldContainer[InteractionReference]
    consistency_token: str
    replayed: bool
    def __init__(self, interactions: _Optional[_Iterable[_Union[InteractionReference, _Mapping]]] = ..., consistency_token: _Optional[str] = ..., replayed: _Optional[bool] = ...) -> None: ...

class InteractionReference(_message.Message):
    __slots__ = ("interaction_id", "position")
    INTERACTION_ID_FIELD_NUMBER: _ClassVar[int]
    POSITION_FIELD_NUMBER: _ClassVar[int]
    interaction_id: str
    position: int
    def __init__(self, interaction_id: _Optional[str] = ..., position: _Optional[int] = ...) -> None: ...

class RememberBatchRequest(_message.Message):
    __slots__ = ("items",)
    ITEMS_FIELD_NUMBER: _ClassVar[int]
    items: _containers.RepeatedCompositeFieldContainer[RememberRequest]
    def __init__(self, items: _Optional[_Iterable[_Union[RememberRequest, _Mapping]]] = ...) -> None: ...

class RememberBatchResponse(_message.Message):
    __slots__ = ("results",)
    RESULTS_FIELD_NUMBER: _ClassVar[int]
    results: _containers.RepeatedCompositeFieldContainer[RememberBatchResult]
    def __init__(self, results: _Optional[_Iterable[_Union[RememberBatchResult, _Mapping]]] = ...) -> None: ...

class RememberBatchResult(_message.Message):
    __slots__ = ("response", "error")
    RESPONSE_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    response: RememberResponse
    error: _common_pb2.ItemError
    def __init__(self, response: _Optional[_Union[RememberResponse, _Mapping]] = ..., error: _Optional[_Union[_common_pb2.ItemError, _Mapping]] = ...) -> None: ...

class RememberStreamRequest(_message.Message):
    __slots__ = ("item",)
    ITEM_FIELD_NUMBER: _ClassVar[int]
    item: RememberRequest
    def __init__(self, item: _Optional[_Union[RememberRequest, _Mapping]] = ...) -> None: ...

class RememberStreamResponse(_message.Message):
    __slots__ = ("accepted_count", "turn_count", "refused_count", "refused", "consistency_token")
    ACCEPTED_COUNT_FIELD_NUMBER: _ClassVar[int]
    TURN_COUNT_FIELD_NUMBER: _ClassVar[int]
    REFUSED_COUNT_FIELD_NUMBER: _ClassVar[int]
    REFUSED_FIELD_NUMBER: _ClassVar[int]
    CONSISTENCY_TOKEN_FIELD_NUMBER: _ClassVar[int]
    accepted_count: int
    turn_count: int
    refused_count: int
    refused: _containers.RepeatedCompositeFieldContainer[RefusedItem]
    consistency_token: str
    def __init__(self, accepted_count: _Optional[int] = ..., turn_count: _Optional[int] = ..., refused_count: _Optional[int] = ..., refused: _Optional[_Iterable[_Union[RefusedItem, _Mapping]]] = ..., consistency_token: _Optional[str] = ...) -> None: ...

class RefusedItem(_message.Message):
    __slots__ = ("index", "error")
    INDEX_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    index: int
    error: _common_pb2.ItemError
    def __init__(self, index: _Optional[int] = ..., error: _Optional[_Union[_common_pb2.ItemError, _Mapping]] = ...) -> None: ...

class RecallRequest(_message.Message):
    __slots__ = ("user_id", "query", "limit", "scope", "conversation_id", "consistency_token", "as_of_time", "tiers", "task_type", "scoring", "conflict_policy", "preferred_memory_ids", "drop_superseded", "with_features")
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    QUERY_FIELD_NUMBER: _ClassVar[int]
    LIMIT_FIELD_NUMBER: _ClassVar[int]
    SCOPE_FIELD_NUMBER: _ClassVar[int]
    CONVERSATION_ID_FIELD_NUMBER: _ClassVar[int]
    CONSISTENCY_TOKEN_FIELD_NUMBER: _ClassVar[int]
    AS_OF_TIME_FIELD_NUMBER: _ClassVar[int]
    TIERS_FIELD_NUMBER: _ClassVar[int]
    TASK_TYPE_FIELD_NUMBER: _ClassVar[int]
    SCORING_FIELD_NUMBER: _ClassVar[int]
    CONFLICT_POLICY_FIELD_NUMBER: _ClassVar[int]
    PREFERRED_MEMORY_IDS_FIELD_NUMBER: _ClassVar[int]
    DROP_SUPERSEDED_FIELD_NUMBER: _ClassVar[int]
    WITH_FEATURES_FIELD_NUMBER: _ClassVar[int]
    user_id: str
    query: str
    limit: int
    scope: _common_pb2.Scope
    conversation_id: str
    consistency_token: str
    as_of_time: _timestamp_pb2.Timestamp
    tiers: _containers.RepeatedScalarFieldContainer[Tier]
    task_type: TaskType
    scoring: Scoring
    conflict_policy: ConflictPolicy
    preferred_memory_ids: _containers.RepeatedScalarFieldContainer[str]
    drop_superseded: bool
    with_features: bool
    def __init__(self, user_id: _Optional[str] = ..., query: _Optional[str] = ..., limit: _Optional[int] = ..., scope: _Optional[_Union[_common_pb2.Scope, _Mapping]] = ..., conversation_id: _Optional[str] = ..., consistency_token: _Optional[str] = ..., as_of_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., tiers: _Optional[_Iterable[_Union[Tier, str]]] = ..., task_type: _Optional[_Union[TaskType, str]] = ..., scoring: _Optional[_Union[Scoring, _Mapping]] = ..., conflict_policy: _Optional[_Union[ConflictPolicy, str]] = ..., preferred_memory_ids: _Optional[_Iterable[str]] = ..., drop_superseded: _Optional[bool] = ..., with_features: _Optional[bool] = ...) -> None: ...

class RecallResponse(_message.Message):
    __slots__ = ("memories", "facts", "notes", "recent_turns", "tiers", "degraded", "reading", "stages", "recall_id", "consistent", "conflicts", "feature_names")
    MEMORIES_FIELD_NUMBER: _ClassVar[int]
    FACTS_FIELD_NUMBER: _ClassVar[int]
    NOTES_FIELD_NUMBER: _ClassVar[int]
    RECENT_TURNS_FIELD_NUMBER: _ClassVar[int]
    TIERS_FIELD_NUMBER: _ClassVar[int]
    DEGRADED_FIELD_NUMBER: _ClassVar[int]
    READING_FIELD_NUMBER: _ClassVar[int]
    STAGES_FIELD_NUMBER: _ClassVar[int]
    RECALL_ID_FIELD_NUMBER: _ClassVar[int]
    CONSISTENT_FIELD_NUMBER: _ClassVar[int]
    CONFLICTS_FIELD_NUMBER: _ClassVar[int]
    FEATURE_NAMES_FIELD_NUMBER: _ClassVar[int]
    memories: _containers.RepeatedCompositeFieldContainer[Memory]
    facts: _containers.RepeatedCompositeFieldContainer[RecalledFact]
    notes: _containers.RepeatedCompositeFieldContainer[RecalledNote]
    recent_turns: _containers.RepeatedCompositeFieldContainer[_session_pb2.SessionTurn]
    tiers: _containers.RepeatedCompositeFieldContainer[TierReport]
    degraded: bool
    reading: QueryReading
    stages: _containers.RepeatedCompositeFieldContainer[StageTiming]
    recall_id: str
    consistent: bool
    conflicts: _containers.RepeatedCompositeFieldContainer[Conflict]
    feature_names: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, memories: _Optional[_Iterable[_Union[Memory, _Mapping]]] = ..., facts: _Optional[_Iterable[_Union[RecalledFact, _Mapping]]] = ..., notes: _Optional[_Iterable[_Union[RecalledNote, _Mapping]]] = ..., recent_turns: _Optional[_Iterable[_Union[_session_pb2.SessionTurn, _Mapping]]] = ..., tiers: _Optional[_Iterable[_Union[TierReport, _Mapping]]] = ..., degraded: _Optional[bool] = ..., reading: _Optional[_Union[QueryReading, _Mapping]] = ..., stages: _Optional[_Iterable[_Union[StageTiming, _Mapping]]] = ..., recall_id: _Optional[str] = ..., consistent: _Optional[bool] = ..., conflicts: _Optional[_Iterable[_Union[Conflict, _Mapping]]] = ..., feature_names: _Optional[_Iterable[str]] = ...) -> None: ...

class Conflict(_message.Message):
    __slots__ = ("kind", "subject", "winner_id", "loser_ids", "policy", "reason", "memory_kind")
    KIND_FIELD_NUMBER: _ClassVar[int]
    SUBJECT_FIELD_NUMBER: _ClassVar[int]
    WINNER_ID_FIELD_NUMBER: _ClassVar[int]
    LOSER_IDS_FIELD_NUMBER: _ClassVar[int]
    POLICY_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    MEMORY_KIND_FIELD_NUMBER: _ClassVar[int]
    kind: ConflictKind
    subject: str
    winner_id: str
    loser_ids: _containers.RepeatedScalarFieldContainer[str]
    policy: ConflictPolicy
    reason: str
    memory_kind: MemoryKind
    def __init__(self, kind: _Optional[_Union[ConflictKind, str]] = ..., subject: _Optional[str] = ..., winner_id: _Optional[str] = ..., loser_ids: _Optional[_Iterable[str]] = ..., policy: _Optional[_Union[ConflictPolicy, str]] = ..., reason: _Optional[str] = ..., memory_kind: _Optional[_Union[MemoryKind, str]] = ...) -> None: ...

class RecallStreamRequest(_message.Message):
    __slots__ = ("recall",)
    RECALL_FIELD_NUMBER: _ClassVar[int]
    recall: RecallRequest
    def __init__(self, recall: _Optional[_Union[RecallRequest, _Mapping]] = ...) -> None: ...

class RecallStreamResponse(_message.Message):
    __slots__ = ("tier_answer", "response")
    TIER_ANSWER_FIELD_NUMBER: _ClassVar[int]
    RESPONSE_FIELD_NUMBER: _ClassVar[int]
    tier_answer: TierAnswer
    response: RecallResponse
    def __init__(self, tier_answer: _Optional[_Union[TierAnswer, _Mapping]] = ..., response: _Optional[_Union[RecallResponse, _Mapping]] = ...) -> None: ...

class TierAnswer(_message.Message):
    __slots__ = ("tier", "memories", "facts", "notes", "recent_turns")
    TIER_FIELD_NUMBER: _ClassVar[int]
    MEMORIES_FIELD_NUMBER: _ClassVar[int]
    FACTS_FIELD_NUMBER: _ClassVar[int]
    NOTES_FIELD_NUMBER: _ClassVar[int]
    RECENT_TURNS_FIELD_NUMBER: _ClassVar[int]
    tier: TierReport
    memories: _containers.RepeatedCompositeFieldContainer[Memory]
    facts: _containers.RepeatedCompositeFieldContainer[RecalledFact]
    notes: _containers.RepeatedCompositeFieldContainer[RecalledNote]
    recent_turns: _containers.RepeatedCompositeFieldContainer[_session_pb2.SessionTurn]
    def __init__(self, tier: _Optional[_Union[TierReport, _Mapping]] = ..., memories: _Optional[_Iterable[_Union[Memory, _Mapping]]] = ..., facts: _Optional[_Iterable[_Union[RecalledFact, _Mapping]]] = ..., notes: _Optional[_Iterable[_Union[RecalledNote, _Mapping]]] = ..., recent_turns: _Optional[_Iterable[_Union[_session_pb2.SessionTurn, _Mapping]]] = ...) -> None: ...

class Memory(_message.Message):
    __slots__ = ("memory_id", "kind", "turn", "conversation_id", "position", "score", "explanation", "fact_ids", "note_ids", "scope", "superseded_by", "features")
    MEMORY_ID_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    TURN_FIELD_NUMBER: _ClassVar[int]
    CONVERSATION_ID_FIELD_NUMBER: _ClassVar[int]
    POSITION_FIELD_NUMBER: _ClassVar[int]
    SCORE_FIELD_NUMBER: _ClassVar[int]
    EXPLANATION_FIELD_NUMBER: _ClassVar[int]
    FACT_IDS_FIELD_NUMBER: _ClassVar[int]
    NOTE_IDS_FIELD_NUMBER: _ClassVar[int]
    SCOPE_FIELD_NUMBER: _ClassVar[int]
    SUPERSEDED_BY_FIELD_NUMBER: _ClassVar[int]
    FEATURES_FIELD_NUMBER: _ClassVar[int]
    memory_id: str
    kind: MemoryKind
    turn: _common_pb2.Turn
    conversation_id: str
    position: int
    score: float
    explanation: Explanation
    fact_ids: _containers.RepeatedScalarFieldContainer[str]
    note_ids: _containers.RepeatedScalarFieldContainer[str]
    scope: _common_pb2.Scope
    superseded_by: str
    features: _containers.RepeatedScalarFieldContainer[float]
    def __init__(self, memory_id: _Optional[str] = ..., kind: _Optional[_Union[MemoryKind, str]] = ..., turn: _Optional[_Union[_common_pb2.Turn, _Mapping]] = ..., conversation_id: _Optional[str] = ..., position: _Optional[int] = ..., score: _Optional[float] = ..., explanation: _Optional[_Union[Explanation, _Mapping]] = ..., fact_ids: _Optional[_Iterable[str]] = ..., note_ids: _Optional[_Iterable[str]] = ..., scope: _Optional[_Union[_common_pb2.Scope, _Mapping]] = ..., superseded_by: _Optional[str] = ..., features: _Optional[_Iterable[float]] = ...) -> None: ...

class Explanation(_message.Message):
    __slots__ = ("lanes", "parts")
    LANES_FIELD_NUMBER: _ClassVar[int]
    PARTS_FIELD_NUMBER: _ClassVar[int]
    lanes: _containers.RepeatedCompositeFieldContainer[LaneRank]
    parts: _containers.RepeatedCompositeFieldContainer[ScorePart]
    def __init__(self, lanes: _Optional[_Iterable[_Union[LaneRank, _Mapping]]] = ..., parts: _Optional[_Iterable[_Union[ScorePart, _Mapping]]] = ...) -> None: ...

class LaneRank(_message.Message):
    __slots__ = ("lane", "rank", "score")
    LANE_FIELD_NUMBER: _ClassVar[int]
    RANK_FIELD_NUMBER: _ClassVar[int]
    SCORE_FIELD_NUMBER: _ClassVar[int]
    lane: str
    rank: int
    score: float
    def __init__(self, lane: _Optional[str] = ..., rank: _Optional[int] = ..., score: _Optional[float] = ...) -> None: ...

class ScorePart(_message.Message):
    __slots__ = ("name", "value")
    NAME_FIELD_NUMBER: _ClassVar[int]
    VALUE_FIELD_NUMBER: _ClassVar[int]
    name: str
    value: float
    def __init__(self, name: _Optional[str] = ..., value: _Optional[float] = ...) -> None: ...

class RecalledFact(_message.Message):
    __slots__ = ("fact", "similarity", "superseded_by")
    FACT_FIELD_NUMBER: _ClassVar[int]
    SIMILARITY_FIELD_NUMBER: _ClassVar[int]
    SUPERSEDED_BY_FIELD_NUMBER: _ClassVar[int]
    fact: _facts_pb2.Fact
    similarity: float
    superseded_by: str
    def __init__(self, fact: _Optional[_Union[_facts_pb2.Fact, _Mapping]] = ..., similarity: _Optional[float] = ..., superseded_by: _Optional[str] = ...) -> None: ...

class RecalledNote(_message.Message):
    __slots__ = ("note", "score", "hops")
    NOTE_FIELD_NUMBER: _ClassVar[int]
    SCORE_FIELD_NUMBER: _ClassVar[int]
    HOPS_FIELD_NUMBER: _ClassVar[int]
    note: _notes_pb2.Note
    score: float
    hops: int
    def __init__(self, note: _Optional[_Union[_notes_pb2.Note, _Mapping]] = ..., score: _Optional[float] = ..., hops: _Optional[int] = ...) -> None: ...

class TierReport(_message.Message):
    __slots__ = ("tier", "state", "reason", "duration", "candidate_count")
    TIER_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    DURATION_FIELD_NUMBER: _ClassVar[int]
    CANDIDATE_COUNT_FIELD_NUMBER: _ClassVar[int]
    tier: Tier
    state: TierState
    reason: str
    duration: _duration_pb2.Duration
    candidate_count: int
    def __init__(self, tier: _Optional[_Union[Tier, str]] = ..., state: _Optional[_Union[TierState, str]] = ..., reason: _Optional[str] = ..., duration: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., candidate_count: _Optional[int] = ...) -> None: ...

class QueryReading(_message.Message):
    __slots__ = ("embedded_query", "speakers", "time_ranges", "task_type", "task_type_confidence", "is_task_type_given", "rewritten_query")
    EMBEDDED_QUERY_FIELD_NUMBER: _ClassVar[int]
    SPEAKERS_FIELD_NUMBER: _ClassVar[int]
    TIME_RANGES_FIELD_NUMBER: _ClassVar[int]
    TASK_TYPE_FIELD_NUMBER: _ClassVar[int]
    TASK_TYPE_CONFIDENCE_FIELD_NUMBER: _ClassVar[int]
    IS_TASK_TYPE_GIVEN_FIELD_NUMBER: _ClassVar[int]
    REWRITTEN_QUERY_FIELD_NUMBER: _ClassVar[int]
    embedded_query: str
    speakers: _containers.RepeatedScalarFieldContainer[str]
    time_ranges: _containers.RepeatedCompositeFieldContainer[TimeRange]
    task_type: TaskType
    task_type_confidence: float
    is_task_type_given: bool
    rewritten_query: str
    def __init__(self, embedded_query: _Optional[str] = ..., speakers: _Optional[_Iterable[str]] = ..., time_ranges: _Optional[_Iterable[_Union[TimeRange, _Mapping]]] = ..., task_type: _Optional[_Union[TaskType, str]] = ..., task_type_confidence: _Optional[float] = ..., is_task_type_given: _Optional[bool] = ..., rewritten_query: _Optional[str] = ...) -> None: ...

class TimeRange(_message.Message):
    __slots__ = ("start_time", "end_time")
    START_TIME_FIELD_NUMBER: _ClassVar[int]
    END_TIME_FIELD_NUMBER: _ClassVar[int]
    start_time: _timestamp_pb2.Timestamp
    end_time: _timestamp_pb2.Timestamp
    def __init__(self, start_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., end_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class StageTiming(_message.Message):
    __slots__ = ("stage", "duration", "reason")
    STAGE_FIELD_NUMBER: _ClassVar[int]
    DURATION_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    stage: str
    duration: _duration_pb2.Duration
    reason: str
    def __init__(self, stage: _Optional[str] = ..., duration: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., reason: _Optional[str] = ...) -> None: ...

class BuildContextRequest(_message.Message):
    __slots__ = ("user_id", "query", "token_budget", "scope", "conversation_id", "consistency_token", "as_of_time", "section_budgets", "order", "task_type", "scoring", "conflict_policy", "preferred_memory_ids", "drop_superseded")
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    QUERY_FIELD_NUMBER: _ClassVar[int]
    TOKEN_BUDGET_FIELD_NUMBER: _ClassVar[int]
    SCOPE_FIELD_NUMBER: _ClassVar[int]
    CONVERSATION_ID_FIELD_NUMBER: _ClassVar[int]
    CONSISTENCY_TOKEN_FIELD_NUMBER: _ClassVar[int]
    AS_OF_TIME_FIELD_NUMBER: _ClassVar[int]
    SECTION_BUDGETS_FIELD_NUMBER: _ClassVar[int]
    ORDER_FIELD_NUMBER: _ClassVar[int]
    TASK_TYPE_FIELD_NUMBER: _ClassVar[int]
    SCORING_FIELD_NUMBER: _ClassVar[int]
    CONFLICT_POLICY_FIELD_NUMBER: _ClassVar[int]
    PREFERRED_MEMORY_IDS_FIELD_NUMBER: _ClassVar[int]
    DROP_SUPERSEDED_FIELD_NUMBER: _ClassVar[int]
    user_id: str
    query: str
    token_budget: int
    scope: _common_pb2.Scope
    conversation_id: str
    consistency_token: str
    as_of_time: _timestamp_pb2.Timestamp
    section_budgets: _containers.RepeatedCompositeFieldContainer[ContextSectionBudget]
    order: ContextOrder
    task_type: TaskType
    scoring: Scoring
    conflict_policy: ConflictPolicy
    preferred_memory_ids: _containers.RepeatedScalarFieldContainer[str]
    drop_superseded: bool
    def __init__(self, user_id: _Optional[str] = ..., query: _Optional[str] = ..., token_budget: _Optional[int] = ..., scope: _Optional[_Union[_common_pb2.Scope, _Mapping]] = ..., conversation_id: _Optional[str] = ..., consistency_token: _Optional[str] = ..., as_of_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., section_budgets: _Optional[_Iterable[_Union[ContextSectionBudget, _Mapping]]] = ..., order: _Optional[_Union[ContextOrder, str]] = ..., task_type: _Optional[_Union[TaskType, str]] = ..., scoring: _Optional[_Union[Scoring, _Mapping]] = ..., conflict_policy: _Optional[_Union[ConflictPolicy, str]] = ..., preferred_memory_ids: _Optional[_Iterable[str]] = ..., drop_superseded: _Optional[bool] = ...) -> None: ...

class BuildContextResponse(_message.Message):
    __slots__ = ("text", "token_count", "sections", "tiers", "degraded", "section_reports")
    TEXT_FIELD_NUMBER: _ClassVar[int]
    TOKEN_COUNT_FIELD_NUMBER: _ClassVar[int]
    SECTIONS_FIELD_NUMBER: _ClassVar[int]
    TIERS_FIELD_NUMBER: _ClassVar[int]
    DEGRADED_FIELD_NUMBER: _ClassVar[int]
    SECTION_REPORTS_FIELD_NUMBER: _ClassVar[int]
    text: str
    token_count: int
    sections: _containers.RepeatedCompositeFieldContainer[ContextSection]
    tiers: _containers.RepeatedCompositeFieldContainer[TierReport]
    degraded: bool
    section_reports: _containers.RepeatedCompositeFieldContainer[ContextSectionReport]
    def __init__(self, text: _Optional[str] = ..., token_count: _Optional[int] = ..., sections: _Optional[_Iterable[_Union[ContextSection, _Mapping]]] = ..., tiers: _Optional[_Iterable[_Union[TierReport, _Mapping]]] = ..., degraded: _Optional[bool] = ..., section_reports: _Optional[_Iterable[_Union[ContextSectionReport, _Mapping]]] = ...) -> None: ...

class ContextSectionBudget(_message.Message):
    __slots__ = ("kind", "token_budget")
    KIND_FIELD_NUMBER: _ClassVar[int]
    TOKEN_BUDGET_FIELD_NUMBER: _ClassVar[int]
    kind: ContextSectionKind
    token_budget: int
    def __init__(self, kind: _Optional[_Union[ContextSectionKind, str]] = ..., token_budget: _Optional[int] = ...) -> None: ...

class ContextSectionReport(_message.Message):
    __slots__ = ("kind", "state", "token_budget", "token_count", "candidate_count", "told_count", "duplicate_count", "pruned_count")
    KIND_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    TOKEN_BUDGET_FIELD_NUMBER: _ClassVar[int]
    TOKEN_COUNT_FIELD_NUMBER: _ClassVar[int]
    CANDIDATE_COUNT_FIELD_NUMBER: _ClassVar[int]
    TOLD_COUNT_FIELD_NUMBER: _ClassVar[int]
    DUPLICATE_COUNT_FIELD_NUMBER: _ClassVar[int]
    PRUNED_COUNT_FIELD_NUMBER: _ClassVar[int]
    kind: ContextSectionKind
    state: ContextSectionState
    token_budget: int
    token_count: int
    candidate_count: int
    told_count: int
    duplicate_count: int
    pruned_count: int
    def __init__(self, kind: _Optional[_Union[ContextSectionKind, str]] = ..., state: _Optional[_Union[ContextSectionState, str]] = ..., token_budget: _Optional[int] = ..., token_count: _Optional[int] = ..., candidate_count: _Optional[int] = ..., told_count: _Optional[int] = ..., duplicate_count: _Optional[int] = ..., pruned_count: _Optional[int] = ...) -> None: ...

class ContextSection(_message.Message):
    __slots__ = ("kind", "items", "token_count", "token_budget", "passages")
    KIND_FIELD_NUMBER: _ClassVar[int]
    ITEMS_FIELD_NUMBER: _ClassVar[int]
    TOKEN_COUNT_FIELD_NUMBER: _ClassVar[int]
    TOKEN_BUDGET_FIELD_NUMBER: _ClassVar[int]
    PASSAGES_FIELD_NUMBER: _ClassVar[int]
    kind: ContextSectionKind
    items: _containers.RepeatedCompositeFieldContainer[ContextItem]
    token_count: int
    token_budget: int
    passages: _containers.RepeatedCompositeFieldContainer[ContextPassage]
    def __init__(self, kind: _Optional[_Union[ContextSectionKind, str]] = ..., items: _Optional[_Iterable[_Union[ContextItem, _Mapping]]] = ..., token_count: _Optional[int] = ..., token_budget: _Optional[int] = ..., passages: _Optional[_Iterable[_Union[ContextPassage, _Mapping]]] = ...) -> None: ...

class ContextPassage(_message.Message):
    __slots__ = ("text", "conversation_id", "speakers", "start_time", "end_time", "turns", "rank")
    TEXT_FIELD_NUMBER: _ClassVar[int]
    CONVERSATION_ID_FIELD_NUMBER: _ClassVar[int]
    SPEAKERS_FIELD_NUMBER: _ClassVar[int]
    START_TIME_FIELD_NUMBER: _ClassVar[int]
    END_TIME_FIELD_NUMBER: _ClassVar[int]
    TURNS_FIELD_NUMBER: _ClassVar[int]
    RANK_FIELD_NUMBER: _ClassVar[int]
    text: str
    conversation_id: str
    speakers: _containers.RepeatedScalarFieldContainer[str]
    start_time: _timestamp_pb2.Timestamp
    end_time: _timestamp_pb2.Timestamp
    turns: _containers.RepeatedCompositeFieldContainer[ContextTurn]
    rank: int
    def __init__(self, text: _Optional[str] = ..., conversation_id: _Optional[str] = ..., speakers: _Optional[_Iterable[str]] = ..., start_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., end_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., turns: _Optional[_Iterable[_Union[ContextTurn, _Mapping]]] = ..., rank: _Optional[int] = ...) -> None: ...

class ContextTurn(_message.Message):
    __slots__ = ("memory_id", "speaker", "role", "time", "position", "text", "is_pruned", "duplicate_memory_ids")
    MEMORY_ID_FIELD_NUMBER: _ClassVar[int]
    SPEAKER_FIELD_NUMBER: _ClassVar[int]
    ROLE_FIELD_NUMBER: _ClassVar[int]
    TIME_FIELD_NUMBER: _ClassVar[int]
    POSITION_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    IS_PRUNED_FIELD_NUMBER: _ClassVar[int]
    DUPLICATE_MEMORY_IDS_FIELD_NUMBER: _ClassVar[int]
    memory_id: str
    speaker: str
    role: _common_pb2.MessageRole
    time: _timestamp_pb2.Timestamp
    position: int
    text: str
    is_pruned: bool
    duplicate_memory_ids: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, memory_id: _Optional[str] = ..., speaker: _Optional[str] = ..., role: _Optional[_Union[_common_pb2.MessageRole, str]] = ..., time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., position: _Optional[int] = ..., text: _Optional[str] = ..., is_pruned: _Optional[bool] = ..., duplicate_memory_ids: _Optional[_Iterable[str]] = ...) -> None: ...

class ContextItem(_message.Message):
    __slots__ = ("text", "memory_id", "interaction_ids", "is_pruned", "duplicate_memory_ids")
    TEXT_FIELD_NUMBER: _ClassVar[int]
    MEMORY_ID_FIELD_NUMBER: _ClassVar[int]
    INTERACTION_IDS_FIELD_NUMBER: _ClassVar[int]
    IS_PRUNED_FIELD_NUMBER: _ClassVar[int]
    DUPLICATE_MEMORY_IDS_FIELD_NUMBER: _ClassVar[int]
    text: str
    memory_id: str
    interaction_ids: _containers.RepeatedScalarFieldContainer[str]
    is_pruned: bool
    duplicate_memory_ids: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, text: _Optional[str] = ..., memory_id: _Optional[str] = ..., interaction_ids: _Optional[_Iterable[str]] = ..., is_pruned: _Optional[bool] = ..., duplicate_memory_ids: _Optional[_Iterable[str]] = ...) -> None: ...

class FeedbackRequest(_message.Message):
    __slots__ = ("request_id", "user_id", "memory_ids", "feedback")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    MEMORY_IDS_FIELD_NUMBER: _ClassVar[int]
    FEEDBACK_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    user_id: str
    memory_ids: _containers.RepeatedScalarFieldContainer[str]
    feedback: int
    def __init__(self, request_id: _Optional[str] = ..., user_id: _Optional[str] = ..., memory_ids: _Optional[_Iterable[str]] = ..., feedback: _Optional[int] = ...) -> None: ...

class FeedbackResponse(_message.Message):
    __slots__ = ("replayed", "consistency_token")
    REPLAYED_FIELD_NUMBER: _ClassVar[int]
    CONSISTENCY_TOKEN_FIELD_NUMBER: _ClassVar[int]
    replayed: bool
    consistency_token: str
    def __init__(self, replayed: _Optional[bool] = ..., consistency_token: _Optional[str] = ...) -> None: ...

class GetProfileRequest(_message.Message):
    __slots__ = ("user_id",)
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    user_id: str
    def __init__(self, user_id: _Optional[str] = ...) -> None: ...

class GetProfileResponse(_message.Message):
    __slots__ = ("profile",)
    PROFILE_FIELD_NUMBER: _ClassVar[int]
    profile: _profile_pb2.Profile
    def __init__(self, profile: _Optional[_Union[_profile_pb2.Profile, _Mapping]] = ...) -> None: ...

class Conversation(_message.Message):
    __slots__ = ("conversation_id", "user_id", "interaction_count", "create_time", "update_time")
    CONVERSATION_ID_FIELD_NUMBER: _ClassVar[int]
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    INTERACTION_COUNT_FIELD_NUMBER: _ClassVar[int]
    CREATE_TIME_FIELD_NUMBER: _ClassVar[int]
    UPDATE_TIME_FIELD_NUMBER: _ClassVar[int]
    conversation_id: str
    user_id: str
    interaction_count: int
    create_time: _timestamp_pb2.Timestamp
    update_time: _timestamp_pb2.Timestamp
    def __init__(self, conversation_id: _Optional[str] = ..., user_id: _Optional[str] = ..., interaction_count: _Optional[int] = ..., create_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., update_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class ListConversationsRequest(_message.Message):
    __slots__ = ("user_id", "page_size", "page_token")
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    user_id: str
    page_size: int
    page_token: str
    def __init__(self, user_id: _Optional[str] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListConversationsResponse(_message.Message):
    __slots__ = ("conversations", "next_page_token")
    CONVERSATIONS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    conversations: _containers.RepeatedCompositeFieldContainer[Conversation]
    next_page_token: str
    def __init__(self, conversations: _Optional[_Iterable[_Union[Conversation, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class Interaction(_message.Message):
    __slots__ = ("interaction_id", "conversation_id", "position", "turn", "scope", "create_time")
    INTERACTION_ID_FIELD_NUMBER: _ClassVar[int]
    CONVERSATION_ID_FIELD_NUMBER: _ClassVar[int]
    POSITION_FIELD_NUMBER: _ClassVar[int]
    TURN_FIELD_NUMBER: _ClassVar[int]
    SCOPE_FIELD_NUMBER: _ClassVar[int]
    CREATE_TIME_FIELD_NUMBER: _ClassVar[int]
    interaction_id: str
    conversation_id: str
    position: int
    turn: _common_pb2.Turn
    scope: _common_pb2.Scope
    create_time: _timestamp_pb2.Timestamp
    def __init__(self, interaction_id: _Optional[str] = ..., conversation_id: _Optional[str] = ..., position: _Optional[int] = ..., turn: _Optional[_Union[_common_pb2.Turn, _Mapping]] = ..., scope: _Optional[_Union[_common_pb2.Scope, _Mapping]] = ..., create_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class ListInteractionsRequest(_message.Message):
    __slots__ = ("user_id", "conversation_id", "page_size", "page_token")
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    CONVERSATION_ID_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    user_id: str
    conversation_id: str
    page_size: int
    page_token: str
    def __init__(self, user_id: _Optional[str] = ..., conversation_id: _Optional[str] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListInteractionsResponse(_message.Message):
    __slots__ = ("interactions", "next_page_token")
    INTERACTIONS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    interactions: _containers.RepeatedCompositeFieldContainer[Interaction]
    next_page_token: str
    def __init__(self, interactions: _Optional[_Iterable[_Union[Interaction, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class GetSessionRequest(_message.Message):
    __slots__ = ("user_id", "conversation_id")
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    CONVERSATION_ID_FIELD_NUMBER: _ClassVar[int]
    user_id: str
    conversation_id: str
    def __init__(self, user_id: _Optional[str] = ..., conversation_id: _Optional[str] = ...) -> None: ...

class GetSessionResponse(_message.Message):
    __slots__ = ("session", "rebuilt", "degraded")
    SESSION_FIELD_NUMBER: _ClassVar[int]
    REBUILT_FIELD_NUMBER: _ClassVar[int]
    DEGRADED_FIELD_NUMBER: _ClassVar[int]
    session: _session_pb2.Session
    rebuilt: bool
    degraded: bool
    def __init__(self, session: _Optional[_Union[_session_pb2.Session, _Mapping]] = ..., rebuilt: _Optional[bool] = ..., degraded: _Optional[bool] = ...) -> None: ...

class EndSessionRequest(_message.Message):
    __slots__ = ("request_id", "user_id", "conversation_id", "discard")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    CONVERSATION_ID_FIELD_NUMBER: _ClassVar[int]
    DISCARD_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    user_id: str
    conversation_id: str
    discard: bool
    def __init__(self, request_id: _Optional[str] = ..., user_id: _Optional[str] = ..., conversation_id: _Optional[str] = ..., discard: _Optional[bool] = ...) -> None: ...

class EndSessionResponse(_message.Message):
    __slots__ = ("archived_turn_count",)
    ARCHIVED_TURN_COUNT_FIELD_NUMBER: _ClassVar[int]
    archived_turn_count: int
    def __init__(self, archived_turn_count: _Optional[int] = ...) -> None: ...

class Grant(_message.Message):
    __slots__ = ("grant_id", "user_id", "from_scope", "to_scope", "kinds", "create_time", "expire_time", "principal_id")
    GRANT_ID_FIELD_NUMBER: _ClassVar[int]
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    FROM_SCOPE_FIELD_NUMBER: _ClassVar[int]
    TO_SCOPE_FIELD_NUMBER: _ClassVar[int]
    KINDS_FIELD_NUMBER: _ClassVar[int]
    CREATE_TIME_FIELD_NUMBER: _ClassVar[int]
    EXPIRE_TIME_FIELD_NUMBER: _ClassVar[int]
    PRINCIPAL_ID_FIELD_NUMBER: _ClassVar[int]
    grant_id: str
    user_id: str
    from_scope: _common_pb2.Scope
    to_scope: _common_pb2.Scope
    kinds: _containers.RepeatedScalarFieldContainer[MemoryKind]
    create_time: _timestamp_pb2.Timestamp
    expire_time: _timestamp_pb2.Timestamp
    principal_id: str
    def __init__(self, grant_id: _Optional[str] = ..., user_id: _Optional[str] = ..., from_scope: _Optional[_Union[_common_pb2.Scope, _Mapping]] = ..., to_scope: _Optional[_Union[_common_pb2.Scope, _Mapping]] = ..., kinds: _Optional[_Iterable[_Union[MemoryKind, str]]] = ..., create_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., expire_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., principal_id: _Optional[str] = ...) -> None: ...

class CreateGrantRequest(_message.Message):
    __slots__ = ("request_id", "user_id", "from_scope", "to_scope", "kinds", "expire_time")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    FROM_SCOPE_FIELD_NUMBER: _ClassVar[int]
    TO_SCOPE_FIELD_NUMBER: _ClassVar[int]
    KINDS_FIELD_NUMBER: _ClassVar[int]
    EXPIRE_TIME_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    user_id: str
    from_scope: _common_pb2.Scope
    to_scope: _common_pb2.Scope
    kinds: _containers.RepeatedScalarFieldContainer[MemoryKind]
    expire_time: _timestamp_pb2.Timestamp
    def __init__(self, request_id: _Optional[str] = ..., user_id: _Optional[str] = ..., from_scope: _Optional[_Union[_common_pb2.Scope, _Mapping]] = ..., to_scope: _Optional[_Union[_common_pb2.Scope, _Mapping]] = ..., kinds: _Optional[_Iterable[_Union[MemoryKind, str]]] = ..., expire_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class CreateGrantResponse(_message.Message):
    __slots__ = ("grant", "replayed")
    GRANT_FIELD_NUMBER: _ClassVar[int]
    REPLAYED_FIELD_NUMBER: _ClassVar[int]
    grant: Grant
    replayed: bool
    def __init__(self, grant: _Optional[_Union[Grant, _Mapping]] = ..., replayed: _Optional[bool] = ...) -> None: ...

class ListGrantsRequest(_message.Message):
    __slots__ = ("user_id", "page_size", "page_token")
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    user_id: str
    page_size: int
    page_token: str
    def __init__(self, user_id: _Optional[str] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListGrantsResponse(_message.Message):
    __slots__ = ("grants", "next_page_token")
    GRANTS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    grants: _containers.RepeatedCompositeFieldContainer[Grant]
    next_page_token: str
    def __init__(self, grants: _Optional[_Iterable[_Union[Grant, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class RevokeGrantRequest(_message.Message):
    __slots__ = ("request_id", "user_id", "grant_id")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    GRANT_ID_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    user_id: str
    grant_id: str
    def __init__(self, request_id: _Optional[str] = ..., user_id: _Optional[str] = ..., grant_id: _Optional[str] = ...) -> None: ...

class RevokeGrantResponse(_message.Message):
    __slots__ = ("replayed",)
    REPLAYED_FIELD_NUMBER: _ClassVar[int]
    replayed: bool
    def __init__(self, replayed: _Optional[bool] = ...) -> None: ...

class GetBacklogRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class GetBacklogResponse(_message.Message):
    __slots__ = ("tiers",)
    TIERS_FIELD_NUMBER: _ClassVar[int]
    tiers: _containers.RepeatedCompositeFieldContainer[TierBacklog]
    def __init__(self, tiers: _Optional[_Iterable[_Union[TierBacklog, _Mapping]]] = ...) -> None: ...

class TierBacklog(_message.Message):
    __slots__ = ("tier", "pending_count", "dead_count", "oldest_age")
    TIER_FIELD_NUMBER: _ClassVar[int]
    PENDING_COUNT_FIELD_NUMBER: _ClassVar[int]
    DEAD_COUNT_FIELD_NUMBER: _ClassVar[int]
    OLDEST_AGE_FIELD_NUMBER: _ClassVar[int]
    tier: Tier
    pending_count: int
    dead_count: int
    oldest_age: _duration_pb2.Duration
    def __init__(self, tier: _Optional[_Union[Tier, str]] = ..., pending_count: _Optional[int] = ..., dead_count: _Optional[int] = ..., oldest_age: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ...) -> None: ...

class ListDeadLettersRequest(_message.Message):
    __slots__ = ("tier", "page_size", "page_token")
    TIER_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    tier: Tier
    page_size: int
    page_token: str
    def __init__(self, tier: _Optional[_Union[Tier, str]] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListDeadLettersResponse(_message.Message):
    __slots__ = ("dead_letters", "next_page_token")
    DEAD_LETTERS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    dead_letters: _containers.RepeatedCompositeFieldContainer[DeadLetter]
    next_page_token: str
    def __init__(self, dead_letters: _Optional[_Iterable[_Union[DeadLetter, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class DeadLetter(_message.Message):
    __slots__ = ("delivery_id", "tier", "subject_id", "user_id", "attempt_count", "last_error_reason", "give_up_time")
    DELIVERY_ID_FIELD_NUMBER: _ClassVar[int]
    TIER_FIELD_NUMBER: _ClassVar[int]
    SUBJECT_ID_FIELD_NUMBER: _ClassVar[int]
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    ATTEMPT_COUNT_FIELD_NUMBER: _ClassVar[int]
    LAST_ERROR_REASON_FIELD_NUMBER: _ClassVar[int]
    GIVE_UP_TIME_FIELD_NUMBER: _ClassVar[int]
    delivery_id: int
    tier: Tier
    subject_id: str
    user_id: str
    attempt_count: int
    last_error_reason: str
    give_up_time: _timestamp_pb2.Timestamp
    def __init__(self, delivery_id: _Optional[int] = ..., tier: _Optional[_Union[Tier, str]] = ..., subject_id: _Optional[str] = ..., user_id: _Optional[str] = ..., attempt_count: _Optional[int] = ..., last_error_reason: _Optional[str] = ..., give_up_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class RetryDeadLettersRequest(_message.Message):
    __slots__ = ("request_id", "delivery_ids")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    DELIVERY_IDS_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    delivery_ids: _containers.RepeatedScalarFieldContainer[int]
    def __init__(self, request_id: _Optional[str] = ..., delivery_ids: _Optional[_Iterable[int]] = ...) -> None: ...

class RetryDeadLettersResponse(_message.Message):
    __slots__ = ("retried_count",)
    RETRIED_COUNT_FIELD_NUMBER: _ClassVar[int]
    retried_count: int
    def __init__(self, retried_count: _Optional[int] = ...) -> None: ...
