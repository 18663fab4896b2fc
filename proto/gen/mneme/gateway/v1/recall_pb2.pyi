import datetime

from google.protobuf import duration_pb2 as _duration_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from mneme.agentic.v1 import notes_pb2 as _notes_pb2
from mneme.common.v1 import common_pb2 as _common_pb2
from mneme.gateway.v1 import tiers_pb2 as _tiers_pb2
from mneme.semantic.v1 import facts_pb2 as _facts_pb2
from mneme.semantic.v1 import procedures_pb2 as _procedures_pb2
from mneme.semantic.v1 import supersessions_pb2 as _supersessions_pb2
from mneme.session.v1 import session_pb2 as _session_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

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
    CONFLICT_POLICY_REDUCE: _ClassVar[ConflictPolicy]

class ConflictKind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    CONFLICT_KIND_UNSPECIFIED: _ClassVar[ConflictKind]
    CONFLICT_KIND_NEGATION: _ClassVar[ConflictKind]
    CONFLICT_KIND_VALUE: _ClassVar[ConflictKind]

class ConflictReason(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    CONFLICT_REASON_UNSPECIFIED: _ClassVar[ConflictReason]
    CONFLICT_REASON_LATER: _ClassVar[ConflictReason]
    CONFLICT_REASON_CONFIDENCE: _ClassVar[ConflictReason]
    CONFLICT_REASON_IMPORTANCE: _ClassVar[ConflictReason]
    CONFLICT_REASON_USER_CHOICE: _ClassVar[ConflictReason]
    CONFLICT_REASON_STILL_VALID: _ClassVar[ConflictReason]
    CONFLICT_REASON_RANK: _ClassVar[ConflictReason]
    CONFLICT_REASON_NEITHER: _ClassVar[ConflictReason]

class SourceTrust(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    SOURCE_TRUST_UNSPECIFIED: _ClassVar[SourceTrust]
    SOURCE_TRUST_CALLER: _ClassVar[SourceTrust]
    SOURCE_TRUST_USER: _ClassVar[SourceTrust]
    SOURCE_TRUST_APPLICATION: _ClassVar[SourceTrust]
    SOURCE_TRUST_NAMED_SPEAKER: _ClassVar[SourceTrust]
    SOURCE_TRUST_ASSISTANT: _ClassVar[SourceTrust]
    SOURCE_TRUST_TOOL: _ClassVar[SourceTrust]
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
CONFLICT_POLICY_REDUCE: ConflictPolicy
CONFLICT_KIND_UNSPECIFIED: ConflictKind
CONFLICT_KIND_NEGATION: ConflictKind
CONFLICT_KIND_VALUE: ConflictKind
CONFLICT_REASON_UNSPECIFIED: ConflictReason
CONFLICT_REASON_LATER: ConflictReason
CONFLICT_REASON_CONFIDENCE: ConflictReason
CONFLICT_REASON_IMPORTANCE: ConflictReason
CONFLICT_REASON_USER_CHOICE: ConflictReason
CONFLICT_REASON_STILL_VALID: ConflictReason
CONFLICT_REASON_RANK: ConflictReason
CONFLICT_REASON_NEITHER: ConflictReason
SOURCE_TRUST_UNSPECIFIED: SourceTrust
SOURCE_TRUST_CALLER: SourceTrust
SOURCE_TRUST_USER: SourceTrust
SOURCE_TRUST_APPLICATION: SourceTrust
SOURCE_TRUST_NAMED_SPEAKER: SourceTrust
SOURCE_TRUST_ASSISTANT: SourceTrust
SOURCE_TRUST_TOOL: SourceTrust

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

class RecallRequest(_message.Message):
    __slots__ = ("user_id", "query", "limit", "scope", "conversation_id", "consistency_token", "as_of_time", "tiers", "task_type", "scoring", "conflict_policy", "preferred_memory_ids", "drop_superseded", "include_tentative_facts", "with_features", "known_at_time")
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
    INCLUDE_TENTATIVE_FACTS_FIELD_NUMBER: _ClassVar[int]
    WITH_FEATURES_FIELD_NUMBER: _ClassVar[int]
    KNOWN_AT_TIME_FIELD_NUMBER: _ClassVar[int]
    user_id: str
    query: str
    limit: int
    scope: _common_pb2.Scope
    conversation_id: str
    consistency_token: str
    as_of_time: _timestamp_pb2.Timestamp
    tiers: _containers.RepeatedScalarFieldContainer[_tiers_pb2.Tier]
    task_type: TaskType
    scoring: Scoring
    conflict_policy: ConflictPolicy
    preferred_memory_ids: _containers.RepeatedScalarFieldContainer[str]
    drop_superseded: bool
    include_tentative_facts: bool
    with_features: bool
    known_at_time: _timestamp_pb2.Timestamp
    def __init__(self, user_id: _Optional[str] = ..., query: _Optional[str] = ..., limit: _Optional[int] = ..., scope: _Optional[_Union[_common_pb2.Scope, _Mapping]] = ..., conversation_id: _Optional[str] = ..., consistency_token: _Optional[str] = ..., as_of_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., tiers: _Optional[_Iterable[_Union[_tiers_pb2.Tier, str]]] = ..., task_type: _Optional[_Union[TaskType, str]] = ..., scoring: _Optional[_Union[Scoring, _Mapping]] = ..., conflict_policy: _Optional[_Union[ConflictPolicy, str]] = ..., preferred_memory_ids: _Optional[_Iterable[str]] = ..., drop_superseded: _Optional[bool] = ..., include_tentative_facts: _Optional[bool] = ..., with_features: _Optional[bool] = ..., known_at_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

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
    tiers: _containers.RepeatedCompositeFieldContainer[_tiers_pb2.TierReport]
    degraded: bool
    reading: QueryReading
    stages: _containers.RepeatedCompositeFieldContainer[StageTiming]
    recall_id: str
    consistent: bool
    conflicts: _containers.RepeatedCompositeFieldContainer[Conflict]
    feature_names: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, memories: _Optional[_Iterable[_Union[Memory, _Mapping]]] = ..., facts: _Optional[_Iterable[_Union[RecalledFact, _Mapping]]] = ..., notes: _Optional[_Iterable[_Union[RecalledNote, _Mapping]]] = ..., recent_turns: _Optional[_Iterable[_Union[_session_pb2.SessionTurn, _Mapping]]] = ..., tiers: _Optional[_Iterable[_Union[_tiers_pb2.TierReport, _Mapping]]] = ..., degraded: _Optional[bool] = ..., reading: _Optional[_Union[QueryReading, _Mapping]] = ..., stages: _Optional[_Iterable[_Union[StageTiming, _Mapping]]] = ..., recall_id: _Optional[str] = ..., consistent: _Optional[bool] = ..., conflicts: _Optional[_Iterable[_Union[Conflict, _Mapping]]] = ..., feature_names: _Optional[_Iterable[str]] = ...) -> None: ...

class Memory(_message.Message):
    __slots__ = ("memory_id", "kind", "turn", "conversation_id", "position", "score", "explanation", "fact_ids", "note_ids", "scope", "superseded_by", "features", "superseded_statements", "source_trust")
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
    SUPERSEDED_STATEMENTS_FIELD_NUMBER: _ClassVar[int]
    SOURCE_TRUST_FIELD_NUMBER: _ClassVar[int]
    memory_id: str
    kind: _tiers_pb2.MemoryKind
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
    superseded_statements: _containers.RepeatedCompositeFieldContainer[_supersessions_pb2.Supersession]
    source_trust: SourceTrust
    def __init__(self, memory_id: _Optional[str] = ..., kind: _Optional[_Union[_tiers_pb2.MemoryKind, str]] = ..., turn: _Optional[_Union[_common_pb2.Turn, _Mapping]] = ..., conversation_id: _Optional[str] = ..., position: _Optional[int] = ..., score: _Optional[float] = ..., explanation: _Optional[_Union[Explanation, _Mapping]] = ..., fact_ids: _Optional[_Iterable[str]] = ..., note_ids: _Optional[_Iterable[str]] = ..., scope: _Optional[_Union[_common_pb2.Scope, _Mapping]] = ..., superseded_by: _Optional[str] = ..., features: _Optional[_Iterable[float]] = ..., superseded_statements: _Optional[_Iterable[_Union[_supersessions_pb2.Supersession, _Mapping]]] = ..., source_trust: _Optional[_Union[SourceTrust, str]] = ...) -> None: ...

class RecalledFact(_message.Message):
    __slots__ = ("fact", "score", "similarity", "explanation", "superseded_by", "source_trust")
    FACT_FIELD_NUMBER: _ClassVar[int]
    SCORE_FIELD_NUMBER: _ClassVar[int]
    SIMILARITY_FIELD_NUMBER: _ClassVar[int]
    EXPLANATION_FIELD_NUMBER: _ClassVar[int]
    SUPERSEDED_BY_FIELD_NUMBER: _ClassVar[int]
    SOURCE_TRUST_FIELD_NUMBER: _ClassVar[int]
    fact: _facts_pb2.Fact
    score: float
    similarity: float
    explanation: Explanation
    superseded_by: str
    source_trust: SourceTrust
    def __init__(self, fact: _Optional[_Union[_facts_pb2.Fact, _Mapping]] = ..., score: _Optional[float] = ..., similarity: _Optional[float] = ..., explanation: _Optional[_Union[Explanation, _Mapping]] = ..., superseded_by: _Optional[str] = ..., source_trust: _Optional[_Union[SourceTrust, str]] = ...) -> None: ...

class RecalledNote(_message.Message):
    __slots__ = ("note", "score", "similarity", "hops", "explanation", "superseded_by", "source_trust", "matched_attachment")
    NOTE_FIELD_NUMBER: _ClassVar[int]
    SCORE_FIELD_NUMBER: _ClassVar[int]
    SIMILARITY_FIELD_NUMBER: _ClassVar[int]
    HOPS_FIELD_NUMBER: _ClassVar[int]
    EXPLANATION_FIELD_NUMBER: _ClassVar[int]
    SUPERSEDED_BY_FIELD_NUMBER: _ClassVar[int]
    SOURCE_TRUST_FIELD_NUMBER: _ClassVar[int]
    MATCHED_ATTACHMENT_FIELD_NUMBER: _ClassVar[int]
    note: _notes_pb2.Note
    score: float
    similarity: float
    hops: int
    explanation: Explanation
    superseded_by: str
    source_trust: SourceTrust
    matched_attachment: int
    def __init__(self, note: _Optional[_Union[_notes_pb2.Note, _Mapping]] = ..., score: _Optional[float] = ..., similarity: _Optional[float] = ..., hops: _Optional[int] = ..., explanation: _Optional[_Union[Explanation, _Mapping]] = ..., superseded_by: _Optional[str] = ..., source_trust: _Optional[_Union[SourceTrust, str]] = ..., matched_attachment: _Optional[int] = ...) -> None: ...

class Explanation(_message.Message):
    __slots__ = ("retrievers", "parts")
    RETRIEVERS_FIELD_NUMBER: _ClassVar[int]
    PARTS_FIELD_NUMBER: _ClassVar[int]
    retrievers: _containers.RepeatedCompositeFieldContainer[RetrieverRank]
    parts: _containers.RepeatedCompositeFieldContainer[ScorePart]
    def __init__(self, retrievers: _Optional[_Iterable[_Union[RetrieverRank, _Mapping]]] = ..., parts: _Optional[_Iterable[_Union[ScorePart, _Mapping]]] = ...) -> None: ...

class RetrieverRank(_message.Message):
    __slots__ = ("retriever", "rank", "score")
    RETRIEVER_FIELD_NUMBER: _ClassVar[int]
    RANK_FIELD_NUMBER: _ClassVar[int]
    SCORE_FIELD_NUMBER: _ClassVar[int]
    retriever: str
    rank: int
    score: float
    def __init__(self, retriever: _Optional[str] = ..., rank: _Optional[int] = ..., score: _Optional[float] = ...) -> None: ...

class ScorePart(_message.Message):
    __slots__ = ("name", "value")
    NAME_FIELD_NUMBER: _ClassVar[int]
    VALUE_FIELD_NUMBER: _ClassVar[int]
    name: str
    value: float
    def __init__(self, name: _Optional[str] = ..., value: _Optional[float] = ...) -> None: ...

class Conflict(_message.Message):
    __slots__ = ("kind", "subject", "winner_id", "winner_kind", "loser_ids", "loser_kind", "policy", "reason", "detail", "contradicting_ids")
    KIND_FIELD_NUMBER: _ClassVar[int]
    SUBJECT_FIELD_NUMBER: _ClassVar[int]
    WINNER_ID_FIELD_NUMBER: _ClassVar[int]
    WINNER_KIND_FIELD_NUMBER: _ClassVar[int]
    LOSER_IDS_FIELD_NUMBER: _ClassVar[int]
    LOSER_KIND_FIELD_NUMBER: _ClassVar[int]
    POLICY_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    DETAIL_FIELD_NUMBER: _ClassVar[int]
    CONTRADICTING_IDS_FIELD_NUMBER: _ClassVar[int]
    kind: ConflictKind
    subject: str
    winner_id: str
    winner_kind: _tiers_pb2.MemoryKind
    loser_ids: _containers.RepeatedScalarFieldContainer[str]
    loser_kind: _tiers_pb2.MemoryKind
    policy: ConflictPolicy
    reason: ConflictReason
    detail: str
    contradicting_ids: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, kind: _Optional[_Union[ConflictKind, str]] = ..., subject: _Optional[str] = ..., winner_id: _Optional[str] = ..., winner_kind: _Optional[_Union[_tiers_pb2.MemoryKind, str]] = ..., loser_ids: _Optional[_Iterable[str]] = ..., loser_kind: _Optional[_Union[_tiers_pb2.MemoryKind, str]] = ..., policy: _Optional[_Union[ConflictPolicy, str]] = ..., reason: _Optional[_Union[ConflictReason, str]] = ..., detail: _Optional[str] = ..., contradicting_ids: _Optional[_Iterable[str]] = ...) -> None: ...

class QueryReading(_message.Message):
    __slots__ = ("embedded_query", "speakers", "time_ranges", "task_type", "task_type_confidence", "task_type_given", "rewritten_query", "applied_patterns", "applied_profile")
    EMBEDDED_QUERY_FIELD_NUMBER: _ClassVar[int]
    SPEAKERS_FIELD_NUMBER: _ClassVar[int]
    TIME_RANGES_FIELD_NUMBER: _ClassVar[int]
    TASK_TYPE_FIELD_NUMBER: _ClassVar[int]
    TASK_TYPE_CONFIDENCE_FIELD_NUMBER: _ClassVar[int]
    TASK_TYPE_GIVEN_FIELD_NUMBER: _ClassVar[int]
    REWRITTEN_QUERY_FIELD_NUMBER: _ClassVar[int]
    APPLIED_PATTERNS_FIELD_NUMBER: _ClassVar[int]
    APPLIED_PROFILE_FIELD_NUMBER: _ClassVar[int]
    embedded_query: str
    speakers: _containers.RepeatedScalarFieldContainer[str]
    time_ranges: _containers.RepeatedCompositeFieldContainer[TimeRange]
    task_type: TaskType
    task_type_confidence: float
    task_type_given: bool
    rewritten_query: str
    applied_patterns: _containers.RepeatedCompositeFieldContainer[AppliedPattern]
    applied_profile: AppliedProfile
    def __init__(self, embedded_query: _Optional[str] = ..., speakers: _Optional[_Iterable[str]] = ..., time_ranges: _Optional[_Iterable[_Union[TimeRange, _Mapping]]] = ..., task_type: _Optional[_Union[TaskType, str]] = ..., task_type_confidence: _Optional[float] = ..., task_type_given: _Optional[bool] = ..., rewritten_query: _Optional[str] = ..., applied_patterns: _Optional[_Iterable[_Union[AppliedPattern, _Mapping]]] = ..., applied_profile: _Optional[_Union[AppliedProfile, _Mapping]] = ...) -> None: ...

class AppliedProfile(_message.Message):
    __slots__ = ("preferred_sources", "excluded_sources", "fact_confidence_min")
    PREFERRED_SOURCES_FIELD_NUMBER: _ClassVar[int]
    EXCLUDED_SOURCES_FIELD_NUMBER: _ClassVar[int]
    FACT_CONFIDENCE_MIN_FIELD_NUMBER: _ClassVar[int]
    preferred_sources: _containers.RepeatedScalarFieldContainer[str]
    excluded_sources: _containers.RepeatedScalarFieldContainer[str]
    fact_confidence_min: float
    def __init__(self, preferred_sources: _Optional[_Iterable[str]] = ..., excluded_sources: _Optional[_Iterable[str]] = ..., fact_confidence_min: _Optional[float] = ...) -> None: ...

class AppliedPattern(_message.Message):
    __slots__ = ("pattern", "replacement", "confidence", "procedure_id", "kind")
    PATTERN_FIELD_NUMBER: _ClassVar[int]
    REPLACEMENT_FIELD_NUMBER: _ClassVar[int]
    CONFIDENCE_FIELD_NUMBER: _ClassVar[int]
    PROCEDURE_ID_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    pattern: str
    replacement: str
    confidence: float
    procedure_id: str
    kind: _procedures_pb2.ProcedureKind
    def __init__(self, pattern: _Optional[str] = ..., replacement: _Optional[str] = ..., confidence: _Optional[float] = ..., procedure_id: _Optional[str] = ..., kind: _Optional[_Union[_procedures_pb2.ProcedureKind, str]] = ...) -> None: ...

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

class RecallStreamRequest(_message.Message):
    __slots__ = ("recall",)
    RECALL_FIELD_NUMBER: _ClassVar[int]
    recall: RecallRequest
    def __init__(self, recall: _Optional[_Union[RecallRequest, _Mapping]] = ...) -> None: ...

class RecallStreamResponse(_message.Message):
    __slots__ = ("tier_result", "response")
    TIER_RESULT_FIELD_NUMBER: _ClassVar[int]
    RESPONSE_FIELD_NUMBER: _ClassVar[int]
    tier_result: TierResult
    response: RecallResponse
    def __init__(self, tier_result: _Optional[_Union[TierResult, _Mapping]] = ..., response: _Optional[_Union[RecallResponse, _Mapping]] = ...) -> None: ...

class TierResult(_message.Message):
    __slots__ = ("tier", "memories", "facts", "notes", "recent_turns")
    TIER_FIELD_NUMBER: _ClassVar[int]
    MEMORIES_FIELD_NUMBER: _ClassVar[int]
    FACTS_FIELD_NUMBER: _ClassVar[int]
    NOTES_FIELD_NUMBER: _ClassVar[int]
    RECENT_TURNS_FIELD_NUMBER: _ClassVar[int]
    tier: _tiers_pb2.TierReport
    memories: _containers.RepeatedCompositeFieldContainer[Memory]
    facts: _containers.RepeatedCompositeFieldContainer[RecalledFact]
    notes: _containers.RepeatedCompositeFieldContainer[RecalledNote]
    recent_turns: _containers.RepeatedCompositeFieldContainer[_session_pb2.SessionTurn]
    def __init__(self, tier: _Optional[_Union[_tiers_pb2.TierReport, _Mapping]] = ..., memories: _Optional[_Iterable[_Union[Memory, _Mapping]]] = ..., facts: _Optional[_Iterable[_Union[RecalledFact, _Mapping]]] = ..., notes: _Optional[_Iterable[_Union[RecalledNote, _Mapping]]] = ..., recent_turns: _Optional[_Iterable[_Union[_session_pb2.SessionTurn, _Mapping]]] = ...) -> None: ...
