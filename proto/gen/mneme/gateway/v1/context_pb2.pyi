import datetime

from google.protobuf import timestamp_pb2 as _timestamp_pb2
from mneme.common.v1 import common_pb2 as _common_pb2
from mneme.gateway.v1 import recall_pb2 as _recall_pb2
from mneme.gateway.v1 import tiers_pb2 as _tiers_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class ContextOrder(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    CONTEXT_ORDER_UNSPECIFIED: _ClassVar[ContextOrder]
    CONTEXT_ORDER_BEST_FIRST: _ClassVar[ContextOrder]
    CONTEXT_ORDER_CHRONOLOGICAL: _ClassVar[ContextOrder]

class ContextSectionKind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    CONTEXT_SECTION_KIND_UNSPECIFIED: _ClassVar[ContextSectionKind]
    CONTEXT_SECTION_KIND_RECENT_TURNS: _ClassVar[ContextSectionKind]
    CONTEXT_SECTION_KIND_FACTS: _ClassVar[ContextSectionKind]
    CONTEXT_SECTION_KIND_MEMORIES: _ClassVar[ContextSectionKind]
    CONTEXT_SECTION_KIND_NOTES: _ClassVar[ContextSectionKind]
    CONTEXT_SECTION_KIND_PROCEDURES: _ClassVar[ContextSectionKind]

class ContextSectionState(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    CONTEXT_SECTION_STATE_UNSPECIFIED: _ClassVar[ContextSectionState]
    CONTEXT_SECTION_STATE_INCLUDED: _ClassVar[ContextSectionState]
    CONTEXT_SECTION_STATE_EMPTY: _ClassVar[ContextSectionState]
    CONTEXT_SECTION_STATE_BUDGET_TOO_SMALL: _ClassVar[ContextSectionState]
    CONTEXT_SECTION_STATE_EXCLUDED: _ClassVar[ContextSectionState]
    CONTEXT_SECTION_STATE_FAILED: _ClassVar[ContextSectionState]
CONTEXT_ORDER_UNSPECIFIED: ContextOrder
CONTEXT_ORDER_BEST_FIRST: ContextOrder
CONTEXT_ORDER_CHRONOLOGICAL: ContextOrder
CONTEXT_SECTION_KIND_UNSPECIFIED: ContextSectionKind
CONTEXT_SECTION_KIND_RECENT_TURNS: ContextSectionKind
CONTEXT_SECTION_KIND_FACTS: ContextSectionKind
CONTEXT_SECTION_KIND_MEMORIES: ContextSectionKind
CONTEXT_SECTION_KIND_NOTES: ContextSectionKind
CONTEXT_SECTION_KIND_PROCEDURES: ContextSectionKind
CONTEXT_SECTION_STATE_UNSPECIFIED: ContextSectionState
CONTEXT_SECTION_STATE_INCLUDED: ContextSectionState
CONTEXT_SECTION_STATE_EMPTY: ContextSectionState
CONTEXT_SECTION_STATE_BUDGET_TOO_SMALL: ContextSectionState
CONTEXT_SECTION_STATE_EXCLUDED: ContextSectionState
CONTEXT_SECTION_STATE_FAILED: ContextSectionState

class BuildContextRequest(_message.Message):
    __slots__ = ("user_id", "query", "token_budget", "scope", "conversation_id", "consistency_token", "as_of_time", "section_budgets", "order", "task_type", "scoring", "conflict_policy", "preferred_memory_ids", "drop_superseded", "known_at_time")
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
    KNOWN_AT_TIME_FIELD_NUMBER: _ClassVar[int]
    user_id: str
    query: str
    token_budget: int
    scope: _common_pb2.Scope
    conversation_id: str
    consistency_token: str
    as_of_time: _timestamp_pb2.Timestamp
    section_budgets: _containers.RepeatedCompositeFieldContainer[ContextSectionBudget]
    order: ContextOrder
    task_type: _recall_pb2.TaskType
    scoring: _recall_pb2.Scoring
    conflict_policy: _recall_pb2.ConflictPolicy
    preferred_memory_ids: _containers.RepeatedScalarFieldContainer[str]
    drop_superseded: bool
    known_at_time: _timestamp_pb2.Timestamp
    def __init__(self, user_id: _Optional[str] = ..., query: _Optional[str] = ..., token_budget: _Optional[int] = ..., scope: _Optional[_Union[_common_pb2.Scope, _Mapping]] = ..., conversation_id: _Optional[str] = ..., consistency_token: _Optional[str] = ..., as_of_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., section_budgets: _Optional[_Iterable[_Union[ContextSectionBudget, _Mapping]]] = ..., order: _Optional[_Union[ContextOrder, str]] = ..., task_type: _Optional[_Union[_recall_pb2.TaskType, str]] = ..., scoring: _Optional[_Union[_recall_pb2.Scoring, _Mapping]] = ..., conflict_policy: _Optional[_Union[_recall_pb2.ConflictPolicy, str]] = ..., preferred_memory_ids: _Optional[_Iterable[str]] = ..., drop_superseded: _Optional[bool] = ..., known_at_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class ContextSectionBudget(_message.Message):
    __slots__ = ("kind", "token_budget")
    KIND_FIELD_NUMBER: _ClassVar[int]
    TOKEN_BUDGET_FIELD_NUMBER: _ClassVar[int]
    kind: ContextSectionKind
    token_budget: int
    def __init__(self, kind: _Optional[_Union[ContextSectionKind, str]] = ..., token_budget: _Optional[int] = ...) -> None: ...

class BuildContextResponse(_message.Message):
    __slots__ = ("text", "token_count", "tokenizer", "sections", "section_reports", "reasons", "conflicts", "tiers", "degraded", "consistent", "reading", "recall_id")
    TEXT_FIELD_NUMBER: _ClassVar[int]
    TOKEN_COUNT_FIELD_NUMBER: _ClassVar[int]
    TOKENIZER_FIELD_NUMBER: _ClassVar[int]
    SECTIONS_FIELD_NUMBER: _ClassVar[int]
    SECTION_REPORTS_FIELD_NUMBER: _ClassVar[int]
    REASONS_FIELD_NUMBER: _ClassVar[int]
    CONFLICTS_FIELD_NUMBER: _ClassVar[int]
    TIERS_FIELD_NUMBER: _ClassVar[int]
    DEGRADED_FIELD_NUMBER: _ClassVar[int]
    CONSISTENT_FIELD_NUMBER: _ClassVar[int]
    READING_FIELD_NUMBER: _ClassVar[int]
    RECALL_ID_FIELD_NUMBER: _ClassVar[int]
    text: str
    token_count: int
    tokenizer: str
    sections: _containers.RepeatedCompositeFieldContainer[ContextSection]
    section_reports: _containers.RepeatedCompositeFieldContainer[ContextSectionReport]
    reasons: _containers.RepeatedCompositeFieldContainer[ContextReason]
    conflicts: _containers.RepeatedCompositeFieldContainer[_recall_pb2.Conflict]
    tiers: _containers.RepeatedCompositeFieldContainer[_tiers_pb2.TierReport]
    degraded: bool
    consistent: bool
    reading: _recall_pb2.QueryReading
    recall_id: str
    def __init__(self, text: _Optional[str] = ..., token_count: _Optional[int] = ..., tokenizer: _Optional[str] = ..., sections: _Optional[_Iterable[_Union[ContextSection, _Mapping]]] = ..., section_reports: _Optional[_Iterable[_Union[ContextSectionReport, _Mapping]]] = ..., reasons: _Optional[_Iterable[_Union[ContextReason, _Mapping]]] = ..., conflicts: _Optional[_Iterable[_Union[_recall_pb2.Conflict, _Mapping]]] = ..., tiers: _Optional[_Iterable[_Union[_tiers_pb2.TierReport, _Mapping]]] = ..., degraded: _Optional[bool] = ..., consistent: _Optional[bool] = ..., reading: _Optional[_Union[_recall_pb2.QueryReading, _Mapping]] = ..., recall_id: _Optional[str] = ...) -> None: ...

class ContextReason(_message.Message):
    __slots__ = ("memory_id", "kind", "score", "explanation", "superseded_by", "source_trust")
    MEMORY_ID_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    SCORE_FIELD_NUMBER: _ClassVar[int]
    EXPLANATION_FIELD_NUMBER: _ClassVar[int]
    SUPERSEDED_BY_FIELD_NUMBER: _ClassVar[int]
    SOURCE_TRUST_FIELD_NUMBER: _ClassVar[int]
    memory_id: str
    kind: _tiers_pb2.MemoryKind
    score: float
    explanation: _recall_pb2.Explanation
    superseded_by: str
    source_trust: _recall_pb2.SourceTrust
    def __init__(self, memory_id: _Optional[str] = ..., kind: _Optional[_Union[_tiers_pb2.MemoryKind, str]] = ..., score: _Optional[float] = ..., explanation: _Optional[_Union[_recall_pb2.Explanation, _Mapping]] = ..., superseded_by: _Optional[str] = ..., source_trust: _Optional[_Union[_recall_pb2.SourceTrust, str]] = ...) -> None: ...

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
    __slots__ = ("memory_id", "speaker", "role", "time", "position", "text", "pruned", "duplicate_memory_ids")
    MEMORY_ID_FIELD_NUMBER: _ClassVar[int]
    SPEAKER_FIELD_NUMBER: _ClassVar[int]
    ROLE_FIELD_NUMBER: _ClassVar[int]
    TIME_FIELD_NUMBER: _ClassVar[int]
    POSITION_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    PRUNED_FIELD_NUMBER: _ClassVar[int]
    DUPLICATE_MEMORY_IDS_FIELD_NUMBER: _ClassVar[int]
    memory_id: str
    speaker: str
    role: _common_pb2.MessageRole
    time: _timestamp_pb2.Timestamp
    position: int
    text: str
    pruned: bool
    duplicate_memory_ids: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, memory_id: _Optional[str] = ..., speaker: _Optional[str] = ..., role: _Optional[_Union[_common_pb2.MessageRole, str]] = ..., time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., position: _Optional[int] = ..., text: _Optional[str] = ..., pruned: _Optional[bool] = ..., duplicate_memory_ids: _Optional[_Iterable[str]] = ...) -> None: ...

class ContextItem(_message.Message):
    __slots__ = ("text", "memory_id", "interaction_ids", "pruned", "duplicate_memory_ids")
    TEXT_FIELD_NUMBER: _ClassVar[int]
    MEMORY_ID_FIELD_NUMBER: _ClassVar[int]
    INTERACTION_IDS_FIELD_NUMBER: _ClassVar[int]
    PRUNED_FIELD_NUMBER: _ClassVar[int]
    DUPLICATE_MEMORY_IDS_FIELD_NUMBER: _ClassVar[int]
    text: str
    memory_id: str
    interaction_ids: _containers.RepeatedScalarFieldContainer[str]
    pruned: bool
    duplicate_memory_ids: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, text: _Optional[str] = ..., memory_id: _Optional[str] = ..., interaction_ids: _Optional[_Iterable[str]] = ..., pruned: _Optional[bool] = ..., duplicate_memory_ids: _Optional[_Iterable[str]] = ...) -> None: ...

class ContextSectionReport(_message.Message):
    __slots__ = ("kind", "state", "token_budget", "token_count", "candidate_count", "included_count", "duplicate_count", "pruned_count")
    KIND_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    TOKEN_BUDGET_FIELD_NUMBER: _ClassVar[int]
    TOKEN_COUNT_FIELD_NUMBER: _ClassVar[int]
    CANDIDATE_COUNT_FIELD_NUMBER: _ClassVar[int]
    INCLUDED_COUNT_FIELD_NUMBER: _ClassVar[int]
    DUPLICATE_COUNT_FIELD_NUMBER: _ClassVar[int]
    PRUNED_COUNT_FIELD_NUMBER: _ClassVar[int]
    kind: ContextSectionKind
    state: ContextSectionState
    token_budget: int
    token_count: int
    candidate_count: int
    included_count: int
    duplicate_count: int
    pruned_count: int
    def __init__(self, kind: _Optional[_Union[ContextSectionKind, str]] = ..., state: _Optional[_Union[ContextSectionState, str]] = ..., token_budget: _Optional[int] = ..., token_count: _Optional[int] = ..., candidate_count: _Optional[int] = ..., included_count: _Optional[int] = ..., duplicate_count: _Optional[int] = ..., pruned_count: _Optional[int] = ...) -> None: ...
