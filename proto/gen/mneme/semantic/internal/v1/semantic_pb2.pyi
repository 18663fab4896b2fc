import datetime

from google.protobuf import timestamp_pb2 as _timestamp_pb2
from google.rpc import status_pb2 as _status_pb2
from mneme.common.internal.v1 import interactions_pb2 as _interactions_pb2
from mneme.common.v1 import common_pb2 as _common_pb2
from mneme.semantic.v1 import facts_pb2 as _facts_pb2
from mneme.semantic.v1 import procedures_pb2 as _procedures_pb2
from mneme.semantic.v1 import supersessions_pb2 as _supersessions_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class ExtractFactsRequest(_message.Message):
    __slots__ = ("interactions",)
    INTERACTIONS_FIELD_NUMBER: _ClassVar[int]
    interactions: _containers.RepeatedCompositeFieldContainer[_interactions_pb2.SourceInteraction]
    def __init__(self, interactions: _Optional[_Iterable[_Union[_interactions_pb2.SourceInteraction, _Mapping]]] = ...) -> None: ...

class ExtractFactsResult(_message.Message):
    __slots__ = ("response", "error")
    RESPONSE_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    response: ExtractedFacts
    error: _status_pb2.Status
    def __init__(self, response: _Optional[_Union[ExtractedFacts, _Mapping]] = ..., error: _Optional[_Union[_status_pb2.Status, _Mapping]] = ...) -> None: ...

class ExtractedFacts(_message.Message):
    __slots__ = ("interaction_id", "fact_ids")
    INTERACTION_ID_FIELD_NUMBER: _ClassVar[int]
    FACT_IDS_FIELD_NUMBER: _ClassVar[int]
    interaction_id: str
    fact_ids: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, interaction_id: _Optional[str] = ..., fact_ids: _Optional[_Iterable[str]] = ...) -> None: ...

class ExtractFactsResponse(_message.Message):
    __slots__ = ("results",)
    RESULTS_FIELD_NUMBER: _ClassVar[int]
    results: _containers.RepeatedCompositeFieldContainer[ExtractFactsResult]
    def __init__(self, results: _Optional[_Iterable[_Union[ExtractFactsResult, _Mapping]]] = ...) -> None: ...

class SearchCandidatesRequest(_message.Message):
    __slots__ = ("search", "cached_revision", "incremental")
    SEARCH_FIELD_NUMBER: _ClassVar[int]
    CACHED_REVISION_FIELD_NUMBER: _ClassVar[int]
    INCREMENTAL_FIELD_NUMBER: _ClassVar[int]
    search: _facts_pb2.SearchFactsRequest
    cached_revision: int
    incremental: bool
    def __init__(self, search: _Optional[_Union[_facts_pb2.SearchFactsRequest, _Mapping]] = ..., cached_revision: _Optional[int] = ..., incremental: _Optional[bool] = ...) -> None: ...

class SearchCandidatesResponse(_message.Message):
    __slots__ = ("facts", "revision", "superseded", "degraded", "reduced", "incremental")
    FACTS_FIELD_NUMBER: _ClassVar[int]
    REVISION_FIELD_NUMBER: _ClassVar[int]
    SUPERSEDED_FIELD_NUMBER: _ClassVar[int]
    DEGRADED_FIELD_NUMBER: _ClassVar[int]
    REDUCED_FIELD_NUMBER: _ClassVar[int]
    INCREMENTAL_FIELD_NUMBER: _ClassVar[int]
    facts: _facts_pb2.SearchFactsResponse
    revision: int
    superseded: _containers.RepeatedCompositeFieldContainer[_supersessions_pb2.Supersession]
    degraded: bool
    reduced: _containers.RepeatedCompositeFieldContainer[_supersessions_pb2.Supersession]
    incremental: bool
    def __init__(self, facts: _Optional[_Union[_facts_pb2.SearchFactsResponse, _Mapping]] = ..., revision: _Optional[int] = ..., superseded: _Optional[_Iterable[_Union[_supersessions_pb2.Supersession, _Mapping]]] = ..., degraded: _Optional[bool] = ..., reduced: _Optional[_Iterable[_Union[_supersessions_pb2.Supersession, _Mapping]]] = ..., incremental: _Optional[bool] = ...) -> None: ...

class GetMarksRequest(_message.Message):
    __slots__ = ("user_id", "cached_revision", "incremental")
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    CACHED_REVISION_FIELD_NUMBER: _ClassVar[int]
    INCREMENTAL_FIELD_NUMBER: _ClassVar[int]
    user_id: str
    cached_revision: int
    incremental: bool
    def __init__(self, user_id: _Optional[str] = ..., cached_revision: _Optional[int] = ..., incremental: _Optional[bool] = ...) -> None: ...

class GetMarksResponse(_message.Message):
    __slots__ = ("revision", "superseded", "reduced", "incremental")
    REVISION_FIELD_NUMBER: _ClassVar[int]
    SUPERSEDED_FIELD_NUMBER: _ClassVar[int]
    REDUCED_FIELD_NUMBER: _ClassVar[int]
    INCREMENTAL_FIELD_NUMBER: _ClassVar[int]
    revision: int
    superseded: _containers.RepeatedCompositeFieldContainer[_supersessions_pb2.Supersession]
    reduced: _containers.RepeatedCompositeFieldContainer[_supersessions_pb2.Supersession]
    incremental: bool
    def __init__(self, revision: _Optional[int] = ..., superseded: _Optional[_Iterable[_Union[_supersessions_pb2.Supersession, _Mapping]]] = ..., reduced: _Optional[_Iterable[_Union[_supersessions_pb2.Supersession, _Mapping]]] = ..., incremental: _Optional[bool] = ...) -> None: ...

class SupersededStatement(_message.Message):
    __slots__ = ("interaction_id", "statement")
    INTERACTION_ID_FIELD_NUMBER: _ClassVar[int]
    STATEMENT_FIELD_NUMBER: _ClassVar[int]
    interaction_id: str
    statement: str
    def __init__(self, interaction_id: _Optional[str] = ..., statement: _Optional[str] = ...) -> None: ...

class MarkSupersededRequest(_message.Message):
    __slots__ = ("user_id", "statements", "standing_interaction_id", "end_time", "about", "about_called_wrong")
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    STATEMENTS_FIELD_NUMBER: _ClassVar[int]
    STANDING_INTERACTION_ID_FIELD_NUMBER: _ClassVar[int]
    END_TIME_FIELD_NUMBER: _ClassVar[int]
    ABOUT_FIELD_NUMBER: _ClassVar[int]
    ABOUT_CALLED_WRONG_FIELD_NUMBER: _ClassVar[int]
    user_id: str
    statements: _containers.RepeatedCompositeFieldContainer[SupersededStatement]
    standing_interaction_id: str
    end_time: _timestamp_pb2.Timestamp
    about: str
    about_called_wrong: bool
    def __init__(self, user_id: _Optional[str] = ..., statements: _Optional[_Iterable[_Union[SupersededStatement, _Mapping]]] = ..., standing_interaction_id: _Optional[str] = ..., end_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., about: _Optional[str] = ..., about_called_wrong: _Optional[bool] = ...) -> None: ...

class MarkSupersededResponse(_message.Message):
    __slots__ = ("marked",)
    MARKED_FIELD_NUMBER: _ClassVar[int]
    marked: int
    def __init__(self, marked: _Optional[int] = ...) -> None: ...

class ObserveInteractionsRequest(_message.Message):
    __slots__ = ("interactions",)
    INTERACTIONS_FIELD_NUMBER: _ClassVar[int]
    interactions: _containers.RepeatedCompositeFieldContainer[_interactions_pb2.SourceInteraction]
    def __init__(self, interactions: _Optional[_Iterable[_Union[_interactions_pb2.SourceInteraction, _Mapping]]] = ...) -> None: ...

class ObserveInteractionsResponse(_message.Message):
    __slots__ = ("counted",)
    COUNTED_FIELD_NUMBER: _ClassVar[int]
    counted: int
    def __init__(self, counted: _Optional[int] = ...) -> None: ...

class JudgeInteractionsRequest(_message.Message):
    __slots__ = ("user_id", "interaction_ids", "feedback")
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    INTERACTION_IDS_FIELD_NUMBER: _ClassVar[int]
    FEEDBACK_FIELD_NUMBER: _ClassVar[int]
    user_id: str
    interaction_ids: _containers.RepeatedScalarFieldContainer[str]
    feedback: int
    def __init__(self, user_id: _Optional[str] = ..., interaction_ids: _Optional[_Iterable[str]] = ..., feedback: _Optional[int] = ...) -> None: ...

class JudgeInteractionsResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class JudgeRecallRequest(_message.Message):
    __slots__ = ("user_id", "recall_id", "judgement_id", "feedback", "query", "procedure_ids", "reader_scope", "recall_time")
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    RECALL_ID_FIELD_NUMBER: _ClassVar[int]
    JUDGEMENT_ID_FIELD_NUMBER: _ClassVar[int]
    FEEDBACK_FIELD_NUMBER: _ClassVar[int]
    QUERY_FIELD_NUMBER: _ClassVar[int]
    PROCEDURE_IDS_FIELD_NUMBER: _ClassVar[int]
    READER_SCOPE_FIELD_NUMBER: _ClassVar[int]
    RECALL_TIME_FIELD_NUMBER: _ClassVar[int]
    user_id: str
    recall_id: str
    judgement_id: str
    feedback: int
    query: str
    procedure_ids: _containers.RepeatedScalarFieldContainer[str]
    reader_scope: _common_pb2.Scope
    recall_time: _timestamp_pb2.Timestamp
    def __init__(self, user_id: _Optional[str] = ..., recall_id: _Optional[str] = ..., judgement_id: _Optional[str] = ..., feedback: _Optional[int] = ..., query: _Optional[str] = ..., procedure_ids: _Optional[_Iterable[str]] = ..., reader_scope: _Optional[_Union[_common_pb2.Scope, _Mapping]] = ..., recall_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class JudgeRecallResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class RecordFeedbackRequest(_message.Message):
    __slots__ = ("request_id", "user_id", "fact_ids", "feedback")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    FACT_IDS_FIELD_NUMBER: _ClassVar[int]
    FEEDBACK_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    user_id: str
    fact_ids: _containers.RepeatedScalarFieldContainer[str]
    feedback: int
    def __init__(self, request_id: _Optional[str] = ..., user_id: _Optional[str] = ..., fact_ids: _Optional[_Iterable[str]] = ..., feedback: _Optional[int] = ...) -> None: ...

class RecordFeedbackResponse(_message.Message):
    __slots__ = ("fact_ids",)
    FACT_IDS_FIELD_NUMBER: _ClassVar[int]
    fact_ids: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, fact_ids: _Optional[_Iterable[str]] = ...) -> None: ...

class ObservedProcedure(_message.Message):
    __slots__ = ("kind", "trigger", "action", "scope", "observed_count", "contrary_count")
    KIND_FIELD_NUMBER: _ClassVar[int]
    TRIGGER_FIELD_NUMBER: _ClassVar[int]
    ACTION_FIELD_NUMBER: _ClassVar[int]
    SCOPE_FIELD_NUMBER: _ClassVar[int]
    OBSERVED_COUNT_FIELD_NUMBER: _ClassVar[int]
    CONTRARY_COUNT_FIELD_NUMBER: _ClassVar[int]
    kind: _procedures_pb2.ProcedureKind
    trigger: str
    action: str
    scope: _common_pb2.Scope
    observed_count: int
    contrary_count: int
    def __init__(self, kind: _Optional[_Union[_procedures_pb2.ProcedureKind, str]] = ..., trigger: _Optional[str] = ..., action: _Optional[str] = ..., scope: _Optional[_Union[_common_pb2.Scope, _Mapping]] = ..., observed_count: _Optional[int] = ..., contrary_count: _Optional[int] = ...) -> None: ...

class ObserveProceduresRequest(_message.Message):
    __slots__ = ("user_id", "procedures")
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    PROCEDURES_FIELD_NUMBER: _ClassVar[int]
    user_id: str
    procedures: _containers.RepeatedCompositeFieldContainer[ObservedProcedure]
    def __init__(self, user_id: _Optional[str] = ..., procedures: _Optional[_Iterable[_Union[ObservedProcedure, _Mapping]]] = ...) -> None: ...

class ObserveProceduresResponse(_message.Message):
    __slots__ = ("changed_count", "deleted_count")
    CHANGED_COUNT_FIELD_NUMBER: _ClassVar[int]
    DELETED_COUNT_FIELD_NUMBER: _ClassVar[int]
    changed_count: int
    deleted_count: int
    def __init__(self, changed_count: _Optional[int] = ..., deleted_count: _Optional[int] = ...) -> None: ...

class GetReadingProfileRequest(_message.Message):
    __slots__ = ("user_id", "reader_scope", "cached_procedures_revision")
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    READER_SCOPE_FIELD_NUMBER: _ClassVar[int]
    CACHED_PROCEDURES_REVISION_FIELD_NUMBER: _ClassVar[int]
    user_id: str
    reader_scope: _common_pb2.Scope
    cached_procedures_revision: int
    def __init__(self, user_id: _Optional[str] = ..., reader_scope: _Optional[_Union[_common_pb2.Scope, _Mapping]] = ..., cached_procedures_revision: _Optional[int] = ...) -> None: ...

class GetReadingProfileResponse(_message.Message):
    __slots__ = ("preferred_sources", "excluded_sources", "fact_confidence_min", "procedures_revision", "procedures")
    PREFERRED_SOURCES_FIELD_NUMBER: _ClassVar[int]
    EXCLUDED_SOURCES_FIELD_NUMBER: _ClassVar[int]
    FACT_CONFIDENCE_MIN_FIELD_NUMBER: _ClassVar[int]
    PROCEDURES_REVISION_FIELD_NUMBER: _ClassVar[int]
    PROCEDURES_FIELD_NUMBER: _ClassVar[int]
    preferred_sources: _containers.RepeatedScalarFieldContainer[str]
    excluded_sources: _containers.RepeatedScalarFieldContainer[str]
    fact_confidence_min: float
    procedures_revision: int
    procedures: _containers.RepeatedCompositeFieldContainer[_procedures_pb2.Procedure]
    def __init__(self, preferred_sources: _Optional[_Iterable[str]] = ..., excluded_sources: _Optional[_Iterable[str]] = ..., fact_confidence_min: _Optional[float] = ..., procedures_revision: _Optional[int] = ..., procedures: _Optional[_Iterable[_Union[_procedures_pb2.Procedure, _Mapping]]] = ...) -> None: ...

class ArchiveFactsRequest(_message.Message):
    __slots__ = ("user_id", "fact_ids")
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    FACT_IDS_FIELD_NUMBER: _ClassVar[int]
    user_id: str
    fact_ids: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, user_id: _Optional[str] = ..., fact_ids: _Optional[_Iterable[str]] = ...) -> None: ...

class ArchiveFactsResponse(_message.Message):
    __slots__ = ("archived",)
    ARCHIVED_FIELD_NUMBER: _ClassVar[int]
    archived: int
    def __init__(self, archived: _Optional[int] = ...) -> None: ...

class RestoreFactsRequest(_message.Message):
    __slots__ = ("user_id", "fact_ids")
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    FACT_IDS_FIELD_NUMBER: _ClassVar[int]
    user_id: str
    fact_ids: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, user_id: _Optional[str] = ..., fact_ids: _Optional[_Iterable[str]] = ...) -> None: ...

class RestoreFactsResponse(_message.Message):
    __slots__ = ("restored",)
    RESTORED_FIELD_NUMBER: _ClassVar[int]
    restored: int
    def __init__(self, restored: _Optional[int] = ...) -> None: ...

class RemoveBySourceRequest(_message.Message):
    __slots__ = ("user_id", "interaction_ids")
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    INTERACTION_IDS_FIELD_NUMBER: _ClassVar[int]
    user_id: str
    interaction_ids: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, user_id: _Optional[str] = ..., interaction_ids: _Optional[_Iterable[str]] = ...) -> None: ...

class RemoveBySourceResponse(_message.Message):
    __slots__ = ("removed_facts", "reduced_facts", "removed_procedures")
    REMOVED_FACTS_FIELD_NUMBER: _ClassVar[int]
    REDUCED_FACTS_FIELD_NUMBER: _ClassVar[int]
    REMOVED_PROCEDURES_FIELD_NUMBER: _ClassVar[int]
    removed_facts: int
    reduced_facts: int
    removed_procedures: int
    def __init__(self, removed_facts: _Optional[int] = ..., reduced_facts: _Optional[int] = ..., removed_procedures: _Optional[int] = ...) -> None: ...

class ListUsersRequest(_message.Message):
    __slots__ = ("page_size", "page_token")
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    page_size: int
    page_token: str
    def __init__(self, page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListUsersResponse(_message.Message):
    __slots__ = ("user_ids", "next_page_token")
    USER_IDS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    user_ids: _containers.RepeatedScalarFieldContainer[str]
    next_page_token: str
    def __init__(self, user_ids: _Optional[_Iterable[str]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class RemoveOwnerRequest(_message.Message):
    __slots__ = ("user_id",)
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    user_id: str
    def __init__(self, user_id: _Optional[str] = ...) -> None: ...

class RemoveOwnerResponse(_message.Message):
    __slots__ = ("removed_facts", "removed_profile", "removed_procedures", "destroyed_data_keys")
    REMOVED_FACTS_FIELD_NUMBER: _ClassVar[int]
    REMOVED_PROFILE_FIELD_NUMBER: _ClassVar[int]
    REMOVED_PROCEDURES_FIELD_NUMBER: _ClassVar[int]
    DESTROYED_DATA_KEYS_FIELD_NUMBER: _ClassVar[int]
    removed_facts: int
    removed_profile: bool
    removed_procedures: int
    destroyed_data_keys: int
    def __init__(self, removed_facts: _Optional[int] = ..., removed_profile: _Optional[bool] = ..., removed_procedures: _Optional[int] = ..., destroyed_data_keys: _Optional[int] = ...) -> None: ...

class ForgetQueriesRequest(_message.Message):
    __slots__ = ("user_id", "scope", "with_nested")
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    SCOPE_FIELD_NUMBER: _ClassVar[int]
    WITH_NESTED_FIELD_NUMBER: _ClassVar[int]
    user_id: str
    scope: _common_pb2.Scope
    with_nested: bool
    def __init__(self, user_id: _Optional[str] = ..., scope: _Optional[_Union[_common_pb2.Scope, _Mapping]] = ..., with_nested: _Optional[bool] = ...) -> None: ...

class ForgetQueriesResponse(_message.Message):
    __slots__ = ("removed_queries",)
    REMOVED_QUERIES_FIELD_NUMBER: _ClassVar[int]
    removed_queries: int
    def __init__(self, removed_queries: _Optional[int] = ...) -> None: ...

class CheckModelVectorsRequest(_message.Message):
    __slots__ = ("model",)
    MODEL_FIELD_NUMBER: _ClassVar[int]
    model: str
    def __init__(self, model: _Optional[str] = ...) -> None: ...

class CheckModelVectorsResponse(_message.Message):
    __slots__ = ("lacking_count",)
    LACKING_COUNT_FIELD_NUMBER: _ClassVar[int]
    lacking_count: int
    def __init__(self, lacking_count: _Optional[int] = ...) -> None: ...
