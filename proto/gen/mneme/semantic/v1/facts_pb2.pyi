import datetime

from google.protobuf import field_mask_pb2 as _field_mask_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from mneme.common.v1 import common_pb2 as _common_pb2
from mneme.common.v1 import model_comparison_pb2 as _model_comparison_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class FactCategory(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    FACT_CATEGORY_UNSPECIFIED: _ClassVar[FactCategory]
    FACT_CATEGORY_PREFERENCE: _ClassVar[FactCategory]
    FACT_CATEGORY_COMMITMENT: _ClassVar[FactCategory]
    FACT_CATEGORY_RELATIONSHIP: _ClassVar[FactCategory]
    FACT_CATEGORY_CONSTRAINT: _ClassVar[FactCategory]
    FACT_CATEGORY_INSTRUCTION: _ClassVar[FactCategory]
    FACT_CATEGORY_CONTEXT: _ClassVar[FactCategory]
    FACT_CATEGORY_PERSONAL_INFO: _ClassVar[FactCategory]

class FactStatus(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    FACT_STATUS_UNSPECIFIED: _ClassVar[FactStatus]
    FACT_STATUS_TENTATIVE: _ClassVar[FactStatus]
    FACT_STATUS_STABLE: _ClassVar[FactStatus]
    FACT_STATUS_DEPRECATED: _ClassVar[FactStatus]
    FACT_STATUS_MERGED_INTO: _ClassVar[FactStatus]
    FACT_STATUS_ARCHIVED: _ClassVar[FactStatus]

class FactUse(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    FACT_USE_UNSPECIFIED: _ClassVar[FactUse]
    FACT_USE_EXPLICIT_SEARCH: _ClassVar[FactUse]
    FACT_USE_PASSIVE_CONTEXT: _ClassVar[FactUse]

class FactAdmission(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    FACT_ADMISSION_UNSPECIFIED: _ClassVar[FactAdmission]
    FACT_ADMISSION_CONFIDENT: _ClassVar[FactAdmission]
    FACT_ADMISSION_EXPLICIT: _ClassVar[FactAdmission]

class FactVersionReason(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    FACT_VERSION_REASON_UNSPECIFIED: _ClassVar[FactVersionReason]
    FACT_VERSION_REASON_CONFIRMED: _ClassVar[FactVersionReason]
    FACT_VERSION_REASON_SUPERSEDED: _ClassVar[FactVersionReason]
    FACT_VERSION_REASON_CORRECTED: _ClassVar[FactVersionReason]

class MergeGroupState(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    MERGE_GROUP_STATE_UNSPECIFIED: _ClassVar[MergeGroupState]
    MERGE_GROUP_STATE_WAITING: _ClassVar[MergeGroupState]
    MERGE_GROUP_STATE_UNITED: _ClassVar[MergeGroupState]
    MERGE_GROUP_STATE_KEPT_APART: _ClassVar[MergeGroupState]

class MergeDecision(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    MERGE_DECISION_UNSPECIFIED: _ClassVar[MergeDecision]
    MERGE_DECISION_UNITE: _ClassVar[MergeDecision]
    MERGE_DECISION_KEEP_APART: _ClassVar[MergeDecision]
FACT_CATEGORY_UNSPECIFIED: FactCategory
FACT_CATEGORY_PREFERENCE: FactCategory
FACT_CATEGORY_COMMITMENT: FactCategory
FACT_CATEGORY_RELATIONSHIP: FactCategory
FACT_CATEGORY_CONSTRAINT: FactCategory
FACT_CATEGORY_INSTRUCTION: FactCategory
FACT_CATEGORY_CONTEXT: FactCategory
FACT_CATEGORY_PERSONAL_INFO: FactCategory
FACT_STATUS_UNSPECIFIED: FactStatus
FACT_STATUS_TENTATIVE: FactStatus
FACT_STATUS_STABLE: FactStatus
FACT_STATUS_DEPRECATED: FactStatus
FACT_STATUS_MERGED_INTO: FactStatus
FACT_STATUS_ARCHIVED: FactStatus
FACT_USE_UNSPECIFIED: FactUse
FACT_USE_EXPLICIT_SEARCH: FactUse
FACT_USE_PASSIVE_CONTEXT: FactUse
FACT_ADMISSION_UNSPECIFIED: FactAdmission
FACT_ADMISSION_CONFIDENT: FactAdmission
FACT_ADMISSION_EXPLICIT: FactAdmission
FACT_VERSION_REASON_UNSPECIFIED: FactVersionReason
FACT_VERSION_REASON_CONFIRMED: FactVersionReason
FACT_VERSION_REASON_SUPERSEDED: FactVersionReason
FACT_VERSION_REASON_CORRECTED: FactVersionReason
MERGE_GROUP_STATE_UNSPECIFIED: MergeGroupState
MERGE_GROUP_STATE_WAITING: MergeGroupState
MERGE_GROUP_STATE_UNITED: MergeGroupState
MERGE_GROUP_STATE_KEPT_APART: MergeGroupState
MERGE_DECISION_UNSPECIFIED: MergeDecision
MERGE_DECISION_UNITE: MergeDecision
MERGE_DECISION_KEEP_APART: MergeDecision

class Fact(_message.Message):
    __slots__ = ("fact_id", "user_id", "text", "subject", "predicate", "object", "category", "confidence", "importance", "first_observed_time", "last_confirmed_time", "valid_from_time", "valid_to_time", "derived_from", "evidence_count", "contradictions", "status", "merged_into_fact_id", "versions", "scope", "revision", "etag", "feedback", "superseded_by")
    FACT_ID_FIELD_NUMBER: _ClassVar[int]
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    SUBJECT_FIELD_NUMBER: _ClassVar[int]
    PREDICATE_FIELD_NUMBER: _ClassVar[int]
    OBJECT_FIELD_NUMBER: _ClassVar[int]
    CATEGORY_FIELD_NUMBER: _ClassVar[int]
    CONFIDENCE_FIELD_NUMBER: _ClassVar[int]
    IMPORTANCE_FIELD_NUMBER: _ClassVar[int]
    FIRST_OBSERVED_TIME_FIELD_NUMBER: _ClassVar[int]
    LAST_CONFIRMED_TIME_FIELD_NUMBER: _ClassVar[int]
    VALID_FROM_TIME_FIELD_NUMBER: _ClassVar[int]
    VALID_TO_TIME_FIELD_NUMBER: _ClassVar[int]
    DERIVED_FROM_FIELD_NUMBER: _ClassVar[int]
    EVIDENCE_COUNT_FIELD_NUMBER: _ClassVar[int]
    CONTRADICTIONS_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    MERGED_INTO_FACT_ID_FIELD_NUMBER: _ClassVar[int]
    VERSIONS_FIELD_NUMBER: _ClassVar[int]
    SCOPE_FIELD_NUMBER: _ClassVar[int]
    REVISION_FIELD_NUMBER: _ClassVar[int]
    ETAG_FIELD_NUMBER: _ClassVar[int]
    FEEDBACK_FIELD_NUMBER: _ClassVar[int]
    SUPERSEDED_BY_FIELD_NUMBER: _ClassVar[int]
    fact_id: str
    user_id: str
    text: str
    subject: str
    predicate: str
    object: str
    category: FactCategory
    confidence: float
    importance: float
    first_observed_time: _timestamp_pb2.Timestamp
    last_confirmed_time: _timestamp_pb2.Timestamp
    valid_from_time: _timestamp_pb2.Timestamp
    valid_to_time: _timestamp_pb2.Timestamp
    derived_from: _containers.RepeatedScalarFieldContainer[str]
    evidence_count: int
    contradictions: _containers.RepeatedScalarFieldContainer[str]
    status: FactStatus
    merged_into_fact_id: str
    versions: _containers.RepeatedCompositeFieldContainer[FactVersion]
    scope: _common_pb2.Scope
    revision: int
    etag: str
    feedback: int
    superseded_by: str
    def __init__(self, fact_id: _Optional[str] = ..., user_id: _Optional[str] = ..., text: _Optional[str] = ..., subject: _Optional[str] = ..., predicate: _Optional[str] = ..., object: _Optional[str] = ..., category: _Optional[_Union[FactCategory, str]] = ..., confidence: _Optional[float] = ..., importance: _Optional[float] = ..., first_observed_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., last_confirmed_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., valid_from_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., valid_to_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., derived_from: _Optional[_Iterable[str]] = ..., evidence_count: _Optional[int] = ..., contradictions: _Optional[_Iterable[str]] = ..., status: _Optional[_Union[FactStatus, str]] = ..., merged_into_fact_id: _Optional[str] = ..., versions: _Optional[_Iterable[_Union[FactVersion, _Mapping]]] = ..., scope: _Optional[_Union[_common_pb2.Scope, _Mapping]] = ..., revision: _Optional[int] = ..., etag: _Optional[str] = ..., feedback: _Optional[int] = ..., superseded_by: _Optional[str] = ...) -> None: ...

class FactVersion(_message.Message):
    __slots__ = ("text", "confidence", "replaced_time", "reason")
    TEXT_FIELD_NUMBER: _ClassVar[int]
    CONFIDENCE_FIELD_NUMBER: _ClassVar[int]
    REPLACED_TIME_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    text: str
    confidence: float
    replaced_time: _timestamp_pb2.Timestamp
    reason: FactVersionReason
    def __init__(self, text: _Optional[str] = ..., confidence: _Optional[float] = ..., replaced_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., reason: _Optional[_Union[FactVersionReason, str]] = ...) -> None: ...

class CreateFactRequest(_message.Message):
    __slots__ = ("request_id", "user_id", "text", "subject", "predicate", "object", "category", "confidence", "importance", "valid_from_time", "valid_to_time", "derived_from", "scope")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    SUBJECT_FIELD_NUMBER: _ClassVar[int]
    PREDICATE_FIELD_NUMBER: _ClassVar[int]
    OBJECT_FIELD_NUMBER: _ClassVar[int]
    CATEGORY_FIELD_NUMBER: _ClassVar[int]
    CONFIDENCE_FIELD_NUMBER: _ClassVar[int]
    IMPORTANCE_FIELD_NUMBER: _ClassVar[int]
    VALID_FROM_TIME_FIELD_NUMBER: _ClassVar[int]
    VALID_TO_TIME_FIELD_NUMBER: _ClassVar[int]
    DERIVED_FROM_FIELD_NUMBER: _ClassVar[int]
    SCOPE_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    user_id: str
    text: str
    subject: str
    predicate: str
    object: str
    category: FactCategory
    confidence: float
    importance: float
    valid_from_time: _timestamp_pb2.Timestamp
    valid_to_time: _timestamp_pb2.Timestamp
    derived_from: _containers.RepeatedScalarFieldContainer[str]
    scope: _common_pb2.Scope
    def __init__(self, request_id: _Optional[str] = ..., user_id: _Optional[str] = ..., text: _Optional[str] = ..., subject: _Optional[str] = ..., predicate: _Optional[str] = ..., object: _Optional[str] = ..., category: _Optional[_Union[FactCategory, str]] = ..., confidence: _Optional[float] = ..., importance: _Optional[float] = ..., valid_from_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., valid_to_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., derived_from: _Optional[_Iterable[str]] = ..., scope: _Optional[_Union[_common_pb2.Scope, _Mapping]] = ...) -> None: ...

class CreateFactResponse(_message.Message):
    __slots__ = ("fact",)
    FACT_FIELD_NUMBER: _ClassVar[int]
    fact: Fact
    def __init__(self, fact: _Optional[_Union[Fact, _Mapping]] = ...) -> None: ...

class GetFactRequest(_message.Message):
    __slots__ = ("user_id", "fact_id", "reader_scope")
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    FACT_ID_FIELD_NUMBER: _ClassVar[int]
    READER_SCOPE_FIELD_NUMBER: _ClassVar[int]
    user_id: str
    fact_id: str
    reader_scope: _common_pb2.Scope
    def __init__(self, user_id: _Optional[str] = ..., fact_id: _Optional[str] = ..., reader_scope: _Optional[_Union[_common_pb2.Scope, _Mapping]] = ...) -> None: ...

class GetFactResponse(_message.Message):
    __slots__ = ("fact",)
    FACT_FIELD_NUMBER: _ClassVar[int]
    fact: Fact
    def __init__(self, fact: _Optional[_Union[Fact, _Mapping]] = ...) -> None: ...

class ListFactsRequest(_message.Message):
    __slots__ = ("user_id", "category", "statuses", "subject", "predicate", "include_low_confidence", "page_size", "page_token", "known_at_time", "reader_scope", "as_of_time")
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    CATEGORY_FIELD_NUMBER: _ClassVar[int]
    STATUSES_FIELD_NUMBER: _ClassVar[int]
    SUBJECT_FIELD_NUMBER: _ClassVar[int]
    PREDICATE_FIELD_NUMBER: _ClassVar[int]
    INCLUDE_LOW_CONFIDENCE_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    KNOWN_AT_TIME_FIELD_NUMBER: _ClassVar[int]
    READER_SCOPE_FIELD_NUMBER: _ClassVar[int]
    AS_OF_TIME_FIELD_NUMBER: _ClassVar[int]
    user_id: str
    category: FactCategory
    statuses: _containers.RepeatedScalarFieldContainer[FactStatus]
    subject: str
    predicate: str
    include_low_confidence: bool
    page_size: int
    page_token: str
    known_at_time: _timestamp_pb2.Timestamp
    reader_scope: _common_pb2.Scope
    as_of_time: _timestamp_pb2.Timestamp
    def __init__(self, user_id: _Optional[str] = ..., category: _Optional[_Union[FactCategory, str]] = ..., statuses: _Optional[_Iterable[_Union[FactStatus, str]]] = ..., subject: _Optional[str] = ..., predicate: _Optional[str] = ..., include_low_confidence: _Optional[bool] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ..., known_at_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., reader_scope: _Optional[_Union[_common_pb2.Scope, _Mapping]] = ..., as_of_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class ListFactsResponse(_message.Message):
    __slots__ = ("facts", "next_page_token")
    FACTS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    facts: _containers.RepeatedCompositeFieldContainer[Fact]
    next_page_token: str
    def __init__(self, facts: _Optional[_Iterable[_Union[Fact, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class SearchFactsRequest(_message.Message):
    __slots__ = ("user_id", "query", "query_vector", "use", "reader_scope", "limit", "known_at_time", "as_of_time")
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    QUERY_FIELD_NUMBER: _ClassVar[int]
    QUERY_VECTOR_FIELD_NUMBER: _ClassVar[int]
    USE_FIELD_NUMBER: _ClassVar[int]
    READER_SCOPE_FIELD_NUMBER: _ClassVar[int]
    LIMIT_FIELD_NUMBER: _ClassVar[int]
    KNOWN_AT_TIME_FIELD_NUMBER: _ClassVar[int]
    AS_OF_TIME_FIELD_NUMBER: _ClassVar[int]
    user_id: str
    query: str
    query_vector: _common_pb2.Vector
    use: FactUse
    reader_scope: _common_pb2.Scope
    limit: int
    known_at_time: _timestamp_pb2.Timestamp
    as_of_time: _timestamp_pb2.Timestamp
    def __init__(self, user_id: _Optional[str] = ..., query: _Optional[str] = ..., query_vector: _Optional[_Union[_common_pb2.Vector, _Mapping]] = ..., use: _Optional[_Union[FactUse, str]] = ..., reader_scope: _Optional[_Union[_common_pb2.Scope, _Mapping]] = ..., limit: _Optional[int] = ..., known_at_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., as_of_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class ScoredFact(_message.Message):
    __slots__ = ("fact", "similarity", "admission", "current_confidence")
    FACT_FIELD_NUMBER: _ClassVar[int]
    SIMILARITY_FIELD_NUMBER: _ClassVar[int]
    ADMISSION_FIELD_NUMBER: _ClassVar[int]
    CURRENT_CONFIDENCE_FIELD_NUMBER: _ClassVar[int]
    fact: Fact
    similarity: float
    admission: FactAdmission
    current_confidence: float
    def __init__(self, fact: _Optional[_Union[Fact, _Mapping]] = ..., similarity: _Optional[float] = ..., admission: _Optional[_Union[FactAdmission, str]] = ..., current_confidence: _Optional[float] = ...) -> None: ...

class SearchFactsResponse(_message.Message):
    __slots__ = ("hits", "omitted_count", "degraded")
    HITS_FIELD_NUMBER: _ClassVar[int]
    OMITTED_COUNT_FIELD_NUMBER: _ClassVar[int]
    DEGRADED_FIELD_NUMBER: _ClassVar[int]
    hits: _containers.RepeatedCompositeFieldContainer[ScoredFact]
    omitted_count: int
    degraded: bool
    def __init__(self, hits: _Optional[_Iterable[_Union[ScoredFact, _Mapping]]] = ..., omitted_count: _Optional[int] = ..., degraded: _Optional[bool] = ...) -> None: ...

class GetFactModelComparisonRequest(_message.Message):
    __slots__ = ("user_id", "questions", "reader_scope")
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    QUESTIONS_FIELD_NUMBER: _ClassVar[int]
    READER_SCOPE_FIELD_NUMBER: _ClassVar[int]
    user_id: str
    questions: _containers.RepeatedCompositeFieldContainer[_model_comparison_pb2.ComparedQuestion]
    reader_scope: _common_pb2.Scope
    def __init__(self, user_id: _Optional[str] = ..., questions: _Optional[_Iterable[_Union[_model_comparison_pb2.ComparedQuestion, _Mapping]]] = ..., reader_scope: _Optional[_Union[_common_pb2.Scope, _Mapping]] = ...) -> None: ...

class GetFactModelComparisonResponse(_message.Message):
    __slots__ = ("questions", "first_model", "second_model", "compared_count", "truncated")
    QUESTIONS_FIELD_NUMBER: _ClassVar[int]
    FIRST_MODEL_FIELD_NUMBER: _ClassVar[int]
    SECOND_MODEL_FIELD_NUMBER: _ClassVar[int]
    COMPARED_COUNT_FIELD_NUMBER: _ClassVar[int]
    TRUNCATED_FIELD_NUMBER: _ClassVar[int]
    questions: _containers.RepeatedCompositeFieldContainer[_model_comparison_pb2.QuestionComparison]
    first_model: str
    second_model: str
    compared_count: int
    truncated: bool
    def __init__(self, questions: _Optional[_Iterable[_Union[_model_comparison_pb2.QuestionComparison, _Mapping]]] = ..., first_model: _Optional[str] = ..., second_model: _Optional[str] = ..., compared_count: _Optional[int] = ..., truncated: _Optional[bool] = ...) -> None: ...

class UpdateFactRequest(_message.Message):
    __slots__ = ("request_id", "user_id", "fact_id", "text", "subject", "predicate", "object", "category", "confidence", "importance", "valid_from_time", "valid_to_time", "update_mask", "etag")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    FACT_ID_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    SUBJECT_FIELD_NUMBER: _ClassVar[int]
    PREDICATE_FIELD_NUMBER: _ClassVar[int]
    OBJECT_FIELD_NUMBER: _ClassVar[int]
    CATEGORY_FIELD_NUMBER: _ClassVar[int]
    CONFIDENCE_FIELD_NUMBER: _ClassVar[int]
    IMPORTANCE_FIELD_NUMBER: _ClassVar[int]
    VALID_FROM_TIME_FIELD_NUMBER: _ClassVar[int]
    VALID_TO_TIME_FIELD_NUMBER: _ClassVar[int]
    UPDATE_MASK_FIELD_NUMBER: _ClassVar[int]
    ETAG_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    user_id: str
    fact_id: str
    text: str
    subject: str
    predicate: str
    object: str
    category: FactCategory
    confidence: float
    importance: float
    valid_from_time: _timestamp_pb2.Timestamp
    valid_to_time: _timestamp_pb2.Timestamp
    update_mask: _field_mask_pb2.FieldMask
    etag: str
    def __init__(self, request_id: _Optional[str] = ..., user_id: _Optional[str] = ..., fact_id: _Optional[str] = ..., text: _Optional[str] = ..., subject: _Optional[str] = ..., predicate: _Optional[str] = ..., object: _Optional[str] = ..., category: _Optional[_Union[FactCategory, str]] = ..., confidence: _Optional[float] = ..., importance: _Optional[float] = ..., valid_from_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., valid_to_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., update_mask: _Optional[_Union[_field_mask_pb2.FieldMask, _Mapping]] = ..., etag: _Optional[str] = ...) -> None: ...

class UpdateFactResponse(_message.Message):
    __slots__ = ("fact",)
    FACT_FIELD_NUMBER: _ClassVar[int]
    fact: Fact
    def __init__(self, fact: _Optional[_Union[Fact, _Mapping]] = ...) -> None: ...

class DeleteFactRequest(_message.Message):
    __slots__ = ("request_id", "user_id", "fact_id", "etag")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    FACT_ID_FIELD_NUMBER: _ClassVar[int]
    ETAG_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    user_id: str
    fact_id: str
    etag: str
    def __init__(self, request_id: _Optional[str] = ..., user_id: _Optional[str] = ..., fact_id: _Optional[str] = ..., etag: _Optional[str] = ...) -> None: ...

class DeleteFactResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class MergeGroup(_message.Message):
    __slots__ = ("group_id", "state", "facts", "survivor_fact_id", "create_time", "decide_time", "etag")
    GROUP_ID_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    FACTS_FIELD_NUMBER: _ClassVar[int]
    SURVIVOR_FACT_ID_FIELD_NUMBER: _ClassVar[int]
    CREATE_TIME_FIELD_NUMBER: _ClassVar[int]
    DECIDE_TIME_FIELD_NUMBER: _ClassVar[int]
    ETAG_FIELD_NUMBER: _ClassVar[int]
    group_id: str
    state: MergeGroupState
    facts: _containers.RepeatedCompositeFieldContainer[Fact]
    survivor_fact_id: str
    create_time: _timestamp_pb2.Timestamp
    decide_time: _timestamp_pb2.Timestamp
    etag: str
    def __init__(self, group_id: _Optional[str] = ..., state: _Optional[_Union[MergeGroupState, str]] = ..., facts: _Optional[_Iterable[_Union[Fact, _Mapping]]] = ..., survivor_fact_id: _Optional[str] = ..., create_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., decide_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., etag: _Optional[str] = ...) -> None: ...

class ListMergeGroupsRequest(_message.Message):
    __slots__ = ("user_id", "state", "page_size", "page_token", "reader_scope")
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    READER_SCOPE_FIELD_NUMBER: _ClassVar[int]
    user_id: str
    state: MergeGroupState
    page_size: int
    page_token: str
    reader_scope: _common_pb2.Scope
    def __init__(self, user_id: _Optional[str] = ..., state: _Optional[_Union[MergeGroupState, str]] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ..., reader_scope: _Optional[_Union[_common_pb2.Scope, _Mapping]] = ...) -> None: ...

class ListMergeGroupsResponse(_message.Message):
    __slots__ = ("groups", "next_page_token")
    GROUPS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    groups: _containers.RepeatedCompositeFieldContainer[MergeGroup]
    next_page_token: str
    def __init__(self, groups: _Optional[_Iterable[_Union[MergeGroup, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class ResolveMergeGroupRequest(_message.Message):
    __slots__ = ("request_id", "user_id", "group_id", "decision", "fact_ids", "survivor_fact_id", "etag")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    GROUP_ID_FIELD_NUMBER: _ClassVar[int]
    DECISION_FIELD_NUMBER: _ClassVar[int]
    FACT_IDS_FIELD_NUMBER: _ClassVar[int]
    SURVIVOR_FACT_ID_FIELD_NUMBER: _ClassVar[int]
    ETAG_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    user_id: str
    group_id: str
    decision: MergeDecision
    fact_ids: _containers.RepeatedScalarFieldContainer[str]
    survivor_fact_id: str
    etag: str
    def __init__(self, request_id: _Optional[str] = ..., user_id: _Optional[str] = ..., group_id: _Optional[str] = ..., decision: _Optional[_Union[MergeDecision, str]] = ..., fact_ids: _Optional[_Iterable[str]] = ..., survivor_fact_id: _Optional[str] = ..., etag: _Optional[str] = ...) -> None: ...

class ResolveMergeGroupResponse(_message.Message):
    __slots__ = ("group",)
    GROUP_FIELD_NUMBER: _ClassVar[int]
    group: MergeGroup
    def __init__(self, group: _Optional[_Union[MergeGroup, _Mapping]] = ...) -> None: ...
