import datetime

from google.protobuf import timestamp_pb2 as _timestamp_pb2
from google.rpc import status_pb2 as _status_pb2
from mneme.agentic.v1 import notes_pb2 as _notes_pb2
from mneme.common.internal.v1 import interactions_pb2 as _interactions_pb2
from mneme.common.v1 import common_pb2 as _common_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class GenerateNotesRequest(_message.Message):
    __slots__ = ("interactions",)
    INTERACTIONS_FIELD_NUMBER: _ClassVar[int]
    interactions: _containers.RepeatedCompositeFieldContainer[_interactions_pb2.SourceInteraction]
    def __init__(self, interactions: _Optional[_Iterable[_Union[_interactions_pb2.SourceInteraction, _Mapping]]] = ...) -> None: ...

class GenerateNotesResult(_message.Message):
    __slots__ = ("response", "error")
    RESPONSE_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    response: GeneratedNotes
    error: _status_pb2.Status
    def __init__(self, response: _Optional[_Union[GeneratedNotes, _Mapping]] = ..., error: _Optional[_Union[_status_pb2.Status, _Mapping]] = ...) -> None: ...

class GeneratedNotes(_message.Message):
    __slots__ = ("interaction_id", "note_ids")
    INTERACTION_ID_FIELD_NUMBER: _ClassVar[int]
    NOTE_IDS_FIELD_NUMBER: _ClassVar[int]
    interaction_id: str
    note_ids: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, interaction_id: _Optional[str] = ..., note_ids: _Optional[_Iterable[str]] = ...) -> None: ...

class GenerateNotesResponse(_message.Message):
    __slots__ = ("results",)
    RESULTS_FIELD_NUMBER: _ClassVar[int]
    results: _containers.RepeatedCompositeFieldContainer[GenerateNotesResult]
    def __init__(self, results: _Optional[_Iterable[_Union[GenerateNotesResult, _Mapping]]] = ...) -> None: ...

class SearchNotesRequest(_message.Message):
    __slots__ = ("user_id", "query_vector", "reader_scope", "limit", "hops", "known_at_time", "as_of_time")
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    QUERY_VECTOR_FIELD_NUMBER: _ClassVar[int]
    READER_SCOPE_FIELD_NUMBER: _ClassVar[int]
    LIMIT_FIELD_NUMBER: _ClassVar[int]
    HOPS_FIELD_NUMBER: _ClassVar[int]
    KNOWN_AT_TIME_FIELD_NUMBER: _ClassVar[int]
    AS_OF_TIME_FIELD_NUMBER: _ClassVar[int]
    user_id: str
    query_vector: _common_pb2.Vector
    reader_scope: _common_pb2.Scope
    limit: int
    hops: int
    known_at_time: _timestamp_pb2.Timestamp
    as_of_time: _timestamp_pb2.Timestamp
    def __init__(self, user_id: _Optional[str] = ..., query_vector: _Optional[_Union[_common_pb2.Vector, _Mapping]] = ..., reader_scope: _Optional[_Union[_common_pb2.Scope, _Mapping]] = ..., limit: _Optional[int] = ..., hops: _Optional[int] = ..., known_at_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., as_of_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class SearchNotesResponse(_message.Message):
    __slots__ = ("hits", "omitted_count", "degraded")
    HITS_FIELD_NUMBER: _ClassVar[int]
    OMITTED_COUNT_FIELD_NUMBER: _ClassVar[int]
    DEGRADED_FIELD_NUMBER: _ClassVar[int]
    hits: _containers.RepeatedCompositeFieldContainer[_notes_pb2.ScoredNote]
    omitted_count: int
    degraded: bool
    def __init__(self, hits: _Optional[_Iterable[_Union[_notes_pb2.ScoredNote, _Mapping]]] = ..., omitted_count: _Optional[int] = ..., degraded: _Optional[bool] = ...) -> None: ...

class RecordFeedbackRequest(_message.Message):
    __slots__ = ("request_id", "user_id", "note_ids", "feedback")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    NOTE_IDS_FIELD_NUMBER: _ClassVar[int]
    FEEDBACK_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    user_id: str
    note_ids: _containers.RepeatedScalarFieldContainer[str]
    feedback: int
    def __init__(self, request_id: _Optional[str] = ..., user_id: _Optional[str] = ..., note_ids: _Optional[_Iterable[str]] = ..., feedback: _Optional[int] = ...) -> None: ...

class RecordFeedbackResponse(_message.Message):
    __slots__ = ("note_ids", "judged_links")
    NOTE_IDS_FIELD_NUMBER: _ClassVar[int]
    JUDGED_LINKS_FIELD_NUMBER: _ClassVar[int]
    note_ids: _containers.RepeatedScalarFieldContainer[str]
    judged_links: int
    def __init__(self, note_ids: _Optional[_Iterable[str]] = ..., judged_links: _Optional[int] = ...) -> None: ...

class RecordUseRequest(_message.Message):
    __slots__ = ("user_id", "uses")
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    USES_FIELD_NUMBER: _ClassVar[int]
    user_id: str
    uses: _containers.RepeatedCompositeFieldContainer[NoteUse]
    def __init__(self, user_id: _Optional[str] = ..., uses: _Optional[_Iterable[_Union[NoteUse, _Mapping]]] = ...) -> None: ...

class NoteUse(_message.Message):
    __slots__ = ("use_id", "note_ids", "time")
    USE_ID_FIELD_NUMBER: _ClassVar[int]
    NOTE_IDS_FIELD_NUMBER: _ClassVar[int]
    TIME_FIELD_NUMBER: _ClassVar[int]
    use_id: str
    note_ids: _containers.RepeatedScalarFieldContainer[str]
    time: _timestamp_pb2.Timestamp
    def __init__(self, use_id: _Optional[str] = ..., note_ids: _Optional[_Iterable[str]] = ..., time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class RecordUseResponse(_message.Message):
    __slots__ = ("counted_uses", "strengthened_links", "created_links")
    COUNTED_USES_FIELD_NUMBER: _ClassVar[int]
    STRENGTHENED_LINKS_FIELD_NUMBER: _ClassVar[int]
    CREATED_LINKS_FIELD_NUMBER: _ClassVar[int]
    counted_uses: int
    strengthened_links: int
    created_links: int
    def __init__(self, counted_uses: _Optional[int] = ..., strengthened_links: _Optional[int] = ..., created_links: _Optional[int] = ...) -> None: ...

class RemoveBySourceRequest(_message.Message):
    __slots__ = ("user_id", "interaction_ids")
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    INTERACTION_IDS_FIELD_NUMBER: _ClassVar[int]
    user_id: str
    interaction_ids: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, user_id: _Optional[str] = ..., interaction_ids: _Optional[_Iterable[str]] = ...) -> None: ...

class RemoveBySourceResponse(_message.Message):
    __slots__ = ("removed_notes", "changed_notes", "removed_links")
    REMOVED_NOTES_FIELD_NUMBER: _ClassVar[int]
    CHANGED_NOTES_FIELD_NUMBER: _ClassVar[int]
    REMOVED_LINKS_FIELD_NUMBER: _ClassVar[int]
    removed_notes: int
    changed_notes: int
    removed_links: int
    def __init__(self, removed_notes: _Optional[int] = ..., changed_notes: _Optional[int] = ..., removed_links: _Optional[int] = ...) -> None: ...

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
    __slots__ = ("user_id", "notes_max")
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    NOTES_MAX_FIELD_NUMBER: _ClassVar[int]
    user_id: str
    notes_max: int
    def __init__(self, user_id: _Optional[str] = ..., notes_max: _Optional[int] = ...) -> None: ...

class RemoveOwnerResponse(_message.Message):
    __slots__ = ("removed_notes", "removed_links", "destroyed_data_keys", "has_more")
    REMOVED_NOTES_FIELD_NUMBER: _ClassVar[int]
    REMOVED_LINKS_FIELD_NUMBER: _ClassVar[int]
    DESTROYED_DATA_KEYS_FIELD_NUMBER: _ClassVar[int]
    HAS_MORE_FIELD_NUMBER: _ClassVar[int]
    removed_notes: int
    removed_links: int
    destroyed_data_keys: int
    has_more: bool
    def __init__(self, removed_notes: _Optional[int] = ..., removed_links: _Optional[int] = ..., destroyed_data_keys: _Optional[int] = ..., has_more: _Optional[bool] = ...) -> None: ...

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
