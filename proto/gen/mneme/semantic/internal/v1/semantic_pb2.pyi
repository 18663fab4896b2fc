import datetime

from google.protobuf import timestamp_pb2 as _timestamp_pb2
from google.rpc import status_pb2 as _status_pb2
from mneme.common.internal.v1 import interactions_pb2 as _interactions_pb2
from mneme.common.v1 import common_pb2 as _common_pb2
from mneme.semantic.v1 import facts_pb2 as _facts_pb2
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
    __slots__ = ("search", "cached_revision")
    SEARCH_FIELD_NUMBER: _ClassVar[int]
    CACHED_REVISION_FIELD_NUMBER: _ClassVar[int]
    search: _facts_pb2.SearchFactsRequest
    cached_revision: int
    def __init__(self, search: _Optional[_Union[_facts_pb2.SearchFactsRequest, _Mapping]] = ..., cached_revision: _Optional[int] = ...) -> None: ...

class SearchCandidatesResponse(_message.Message):
    __slots__ = ("facts", "revision", "superseded")
    FACTS_FIELD_NUMBER: _ClassVar[int]
    REVISION_FIELD_NUMBER: _ClassVar[int]
    SUPERSEDED_FIELD_NUMBER: _ClassVar[int]
    facts: _facts_pb2.SearchFactsResponse
    revision: int
    superseded: _containers.RepeatedCompositeFieldContainer[_supersessions_pb2.Supersession]
    def __init__(self, facts: _Optional[_Union[_facts_pb2.SearchFactsResponse, _Mapping]] = ..., revision: _Optional[int] = ..., superseded: _Optional[_Iterable[_Union[_supersessions_pb2.Supersession, _Mapping]]] = ...) -> None: ...

class SupersededStatement(_message.Message):
    __slots__ = ("interaction_id", "statement")
    INTERACTION_ID_FIELD_NUMBER: _ClassVar[int]
    STATEMENT_FIELD_NUMBER: _ClassVar[int]
    interaction_id: str
    statement: str
    def __init__(self, interaction_id: _Optional[str] = ..., statement: _Optional[str] = ...) -> None: ...

class MarkSupersededRequest(_message.Message):
    __slots__ = ("user_id", "statements", "standing_interaction_id", "end_time")
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    STATEMENTS_FIELD_NUMBER: _ClassVar[int]
    STANDING_INTERACTION_ID_FIELD_NUMBER: _ClassVar[int]
    END_TIME_FIELD_NUMBER: _ClassVar[int]
    user_id: str
    statements: _containers.RepeatedCompositeFieldContainer[SupersededStatement]
    standing_interaction_id: str
    end_time: _timestamp_pb2.Timestamp
    def __init__(self, user_id: _Optional[str] = ..., statements: _Optional[_Iterable[_Union[SupersededStatement, _Mapping]]] = ..., standing_interaction_id: _Optional[str] = ..., end_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

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

class GetReadingProfileRequest(_message.Message):
    __slots__ = ("user_id", "reader_scope")
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    READER_SCOPE_FIELD_NUMBER: _ClassVar[int]
    user_id: str
    reader_scope: _common_pb2.Scope
    def __init__(self, user_id: _Optional[str] = ..., reader_scope: _Optional[_Union[_common_pb2.Scope, _Mapping]] = ...) -> None: ...

class GetReadingProfileResponse(_message.Message):
    __slots__ = ("preferred_sources", "excluded_sources", "fact_confidence_min")
    PREFERRED_SOURCES_FIELD_NUMBER: _ClassVar[int]
    EXCLUDED_SOURCES_FIELD_NUMBER: _ClassVar[int]
    FACT_CONFIDENCE_MIN_FIELD_NUMBER: _ClassVar[int]
    preferred_sources: _containers.RepeatedScalarFieldContainer[str]
    excluded_sources: _containers.RepeatedScalarFieldContainer[str]
    fact_confidence_min: float
    def __init__(self, preferred_sources: _Optional[_Iterable[str]] = ..., excluded_sources: _Optional[_Iterable[str]] = ..., fact_confidence_min: _Optional[float] = ...) -> None: ...

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
    __slots__ = ("removed_facts", "reduced_facts")
    REMOVED_FACTS_FIELD_NUMBER: _ClassVar[int]
    REDUCED_FACTS_FIELD_NUMBER: _ClassVar[int]
    removed_facts: int
    reduced_facts: int
    def __init__(self, removed_facts: _Optional[int] = ..., reduced_facts: _Optional[int] = ...) -> None: ...

class RemoveOwnerRequest(_message.Message):
    __slots__ = ("user_id",)
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    user_id: str
    def __init__(self, user_id: _Optional[str] = ...) -> None: ...

class RemoveOwnerResponse(_message.Message):
    __slots__ = ("removed_facts", "removed_profile")
    REMOVED_FACTS_FIELD_NUMBER: _ClassVar[int]
    REMOVED_PROFILE_FIELD_NUMBER: _ClassVar[int]
    removed_facts: int
    removed_profile: bool
    def __init__(self, removed_facts: _Optional[int] = ..., removed_profile: _Optional[bool] = ...) -> None: ...
