import datetime

from google.protobuf import field_mask_pb2 as _field_mask_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from google.rpc import status_pb2 as _status_pb2
from mneme.common.v1 import common_pb2 as _common_pb2
from mneme.common.v1 import model_comparison_pb2 as _model_comparison_pb2
from mneme.semantic.v1 import supersessions_pb2 as _supersessions_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class NoteKind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    NOTE_KIND_UNSPECIFIED: _ClassVar[NoteKind]
    NOTE_KIND_FACT: _ClassVar[NoteKind]
    NOTE_KIND_CONCEPT: _ClassVar[NoteKind]
    NOTE_KIND_PROCEDURE: _ClassVar[NoteKind]
    NOTE_KIND_OBSERVATION: _ClassVar[NoteKind]
    NOTE_KIND_PREFERENCE: _ClassVar[NoteKind]

class NoteStatus(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    NOTE_STATUS_UNSPECIFIED: _ClassVar[NoteStatus]
    NOTE_STATUS_ACTIVE: _ClassVar[NoteStatus]
    NOTE_STATUS_ARCHIVED: _ClassVar[NoteStatus]

class LinkType(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    LINK_TYPE_UNSPECIFIED: _ClassVar[LinkType]
    LINK_TYPE_RELATED_TO: _ClassVar[LinkType]
    LINK_TYPE_SUPPORTS: _ClassVar[LinkType]
    LINK_TYPE_CONTRADICTS: _ClassVar[LinkType]
    LINK_TYPE_DERIVED_FROM: _ClassVar[LinkType]
    LINK_TYPE_PART_OF: _ClassVar[LinkType]

class LinkOrigin(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    LINK_ORIGIN_UNSPECIFIED: _ClassVar[LinkOrigin]
    LINK_ORIGIN_SIMILARITY: _ClassVar[LinkOrigin]
    LINK_ORIGIN_CONVERSATION: _ClassVar[LinkOrigin]
    LINK_ORIGIN_CALLER: _ClassVar[LinkOrigin]
    LINK_ORIGIN_USE: _ClassVar[LinkOrigin]
    LINK_ORIGIN_CONSOLIDATION: _ClassVar[LinkOrigin]
NOTE_KIND_UNSPECIFIED: NoteKind
NOTE_KIND_FACT: NoteKind
NOTE_KIND_CONCEPT: NoteKind
NOTE_KIND_PROCEDURE: NoteKind
NOTE_KIND_OBSERVATION: NoteKind
NOTE_KIND_PREFERENCE: NoteKind
NOTE_STATUS_UNSPECIFIED: NoteStatus
NOTE_STATUS_ACTIVE: NoteStatus
NOTE_STATUS_ARCHIVED: NoteStatus
LINK_TYPE_UNSPECIFIED: LinkType
LINK_TYPE_RELATED_TO: LinkType
LINK_TYPE_SUPPORTS: LinkType
LINK_TYPE_CONTRADICTS: LinkType
LINK_TYPE_DERIVED_FROM: LinkType
LINK_TYPE_PART_OF: LinkType
LINK_ORIGIN_UNSPECIFIED: LinkOrigin
LINK_ORIGIN_SIMILARITY: LinkOrigin
LINK_ORIGIN_CONVERSATION: LinkOrigin
LINK_ORIGIN_CALLER: LinkOrigin
LINK_ORIGIN_USE: LinkOrigin
LINK_ORIGIN_CONSOLIDATION: LinkOrigin

class Note(_message.Message):
    __slots__ = ("note_id", "user_id", "content", "kind", "importance", "keywords", "tags", "attachments", "metadata", "derived_from", "time", "scope", "status", "access_count", "last_access_time", "create_time", "update_time", "etag", "feedback", "source_note_ids", "successor_id", "decay", "superseded_by", "superseded_statements", "marks_missing")
    class MetadataEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    NOTE_ID_FIELD_NUMBER: _ClassVar[int]
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    CONTENT_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    IMPORTANCE_FIELD_NUMBER: _ClassVar[int]
    KEYWORDS_FIELD_NUMBER: _ClassVar[int]
    TAGS_FIELD_NUMBER: _ClassVar[int]
    ATTACHMENTS_FIELD_NUMBER: _ClassVar[int]
    METADATA_FIELD_NUMBER: _ClassVar[int]
    DERIVED_FROM_FIELD_NUMBER: _ClassVar[int]
    TIME_FIELD_NUMBER: _ClassVar[int]
    SCOPE_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    ACCESS_COUNT_FIELD_NUMBER: _ClassVar[int]
    LAST_ACCESS_TIME_FIELD_NUMBER: _ClassVar[int]
    CREATE_TIME_FIELD_NUMBER: _ClassVar[int]
    UPDATE_TIME_FIELD_NUMBER: _ClassVar[int]
    ETAG_FIELD_NUMBER: _ClassVar[int]
    FEEDBACK_FIELD_NUMBER: _ClassVar[int]
    SOURCE_NOTE_IDS_FIELD_NUMBER: _ClassVar[int]
    SUCCESSOR_ID_FIELD_NUMBER: _ClassVar[int]
    DECAY_FIELD_NUMBER: _ClassVar[int]
    SUPERSEDED_BY_FIELD_NUMBER: _ClassVar[int]
    SUPERSEDED_STATEMENTS_FIELD_NUMBER: _ClassVar[int]
    MARKS_MISSING_FIELD_NUMBER: _ClassVar[int]
    note_id: str
    user_id: str
    content: str
    kind: NoteKind
    importance: float
    keywords: _containers.RepeatedScalarFieldContainer[str]
    tags: _containers.RepeatedScalarFieldContainer[str]
    attachments: _containers.RepeatedCompositeFieldContainer[_common_pb2.Attachment]
    metadata: _containers.ScalarMap[str, str]
    derived_from: _containers.RepeatedScalarFieldContainer[str]
    time: _timestamp_pb2.Timestamp
    scope: _common_pb2.Scope
    status: NoteStatus
    access_count: int
    last_access_time: _timestamp_pb2.Timestamp
    create_time: _timestamp_pb2.Timestamp
    update_time: _timestamp_pb2.Timestamp
    etag: str
    feedback: int
    source_note_ids: _containers.RepeatedScalarFieldContainer[str]
    successor_id: str
    decay: float
    superseded_by: str
    superseded_statements: _containers.RepeatedCompositeFieldContainer[_supersessions_pb2.Supersession]
    marks_missing: bool
    def __init__(self, note_id: _Optional[str] = ..., user_id: _Optional[str] = ..., content: _Optional[str] = ..., kind: _Optional[_Union[NoteKind, str]] = ..., importance: _Optional[float] = ..., keywords: _Optional[_Iterable[str]] = ..., tags: _Optional[_Iterable[str]] = ..., attachments: _Optional[_Iterable[_Union[_common_pb2.Attachment, _Mapping]]] = ..., metadata: _Optional[_Mapping[str, str]] = ..., derived_from: _Optional[_Iterable[str]] = ..., time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., scope: _Optional[_Union[_common_pb2.Scope, _Mapping]] = ..., status: _Optional[_Union[NoteStatus, str]] = ..., access_count: _Optional[int] = ..., last_access_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., create_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., update_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., etag: _Optional[str] = ..., feedback: _Optional[int] = ..., source_note_ids: _Optional[_Iterable[str]] = ..., successor_id: _Optional[str] = ..., decay: _Optional[float] = ..., superseded_by: _Optional[str] = ..., superseded_statements: _Optional[_Iterable[_Union[_supersessions_pb2.Supersession, _Mapping]]] = ..., marks_missing: _Optional[bool] = ...) -> None: ...

class Link(_message.Message):
    __slots__ = ("from_note_id", "to_note_id", "type", "strength", "origin", "create_time", "update_time", "etag", "feedback")
    FROM_NOTE_ID_FIELD_NUMBER: _ClassVar[int]
    TO_NOTE_ID_FIELD_NUMBER: _ClassVar[int]
    TYPE_FIELD_NUMBER: _ClassVar[int]
    STRENGTH_FIELD_NUMBER: _ClassVar[int]
    ORIGIN_FIELD_NUMBER: _ClassVar[int]
    CREATE_TIME_FIELD_NUMBER: _ClassVar[int]
    UPDATE_TIME_FIELD_NUMBER: _ClassVar[int]
    ETAG_FIELD_NUMBER: _ClassVar[int]
    FEEDBACK_FIELD_NUMBER: _ClassVar[int]
    from_note_id: str
    to_note_id: str
    type: LinkType
    strength: float
    origin: LinkOrigin
    create_time: _timestamp_pb2.Timestamp
    update_time: _timestamp_pb2.Timestamp
    etag: str
    feedback: int
    def __init__(self, from_note_id: _Optional[str] = ..., to_note_id: _Optional[str] = ..., type: _Optional[_Union[LinkType, str]] = ..., strength: _Optional[float] = ..., origin: _Optional[_Union[LinkOrigin, str]] = ..., create_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., update_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., etag: _Optional[str] = ..., feedback: _Optional[int] = ...) -> None: ...

class CreateNoteRequest(_message.Message):
    __slots__ = ("request_id", "user_id", "content", "kind", "importance", "tags", "attachments", "metadata", "derived_from", "time", "scope")
    class MetadataEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    CONTENT_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    IMPORTANCE_FIELD_NUMBER: _ClassVar[int]
    TAGS_FIELD_NUMBER: _ClassVar[int]
    ATTACHMENTS_FIELD_NUMBER: _ClassVar[int]
    METADATA_FIELD_NUMBER: _ClassVar[int]
    DERIVED_FROM_FIELD_NUMBER: _ClassVar[int]
    TIME_FIELD_NUMBER: _ClassVar[int]
    SCOPE_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    user_id: str
    content: str
    kind: NoteKind
    importance: float
    tags: _containers.RepeatedScalarFieldContainer[str]
    attachments: _containers.RepeatedCompositeFieldContainer[_common_pb2.Attachment]
    metadata: _containers.ScalarMap[str, str]
    derived_from: _containers.RepeatedScalarFieldContainer[str]
    time: _timestamp_pb2.Timestamp
    scope: _common_pb2.Scope
    def __init__(self, request_id: _Optional[str] = ..., user_id: _Optional[str] = ..., content: _Optional[str] = ..., kind: _Optional[_Union[NoteKind, str]] = ..., importance: _Optional[float] = ..., tags: _Optional[_Iterable[str]] = ..., attachments: _Optional[_Iterable[_Union[_common_pb2.Attachment, _Mapping]]] = ..., metadata: _Optional[_Mapping[str, str]] = ..., derived_from: _Optional[_Iterable[str]] = ..., time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., scope: _Optional[_Union[_common_pb2.Scope, _Mapping]] = ...) -> None: ...

class CreateNoteResponse(_message.Message):
    __slots__ = ("note", "links")
    NOTE_FIELD_NUMBER: _ClassVar[int]
    LINKS_FIELD_NUMBER: _ClassVar[int]
    note: Note
    links: _containers.RepeatedCompositeFieldContainer[Link]
    def __init__(self, note: _Optional[_Union[Note, _Mapping]] = ..., links: _Optional[_Iterable[_Union[Link, _Mapping]]] = ...) -> None: ...

class GetNoteRequest(_message.Message):
    __slots__ = ("user_id", "note_id", "reader_scope")
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    NOTE_ID_FIELD_NUMBER: _ClassVar[int]
    READER_SCOPE_FIELD_NUMBER: _ClassVar[int]
    user_id: str
    note_id: str
    reader_scope: _common_pb2.Scope
    def __init__(self, user_id: _Optional[str] = ..., note_id: _Optional[str] = ..., reader_scope: _Optional[_Union[_common_pb2.Scope, _Mapping]] = ...) -> None: ...

class GetNoteResponse(_message.Message):
    __slots__ = ("note", "links")
    NOTE_FIELD_NUMBER: _ClassVar[int]
    LINKS_FIELD_NUMBER: _ClassVar[int]
    note: Note
    links: _containers.RepeatedCompositeFieldContainer[Link]
    def __init__(self, note: _Optional[_Union[Note, _Mapping]] = ..., links: _Optional[_Iterable[_Union[Link, _Mapping]]] = ...) -> None: ...

class ListNotesRequest(_message.Message):
    __slots__ = ("user_id", "kind", "tag", "status", "start_time", "end_time", "page_size", "page_token", "reader_scope")
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    TAG_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    START_TIME_FIELD_NUMBER: _ClassVar[int]
    END_TIME_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    READER_SCOPE_FIELD_NUMBER: _ClassVar[int]
    user_id: str
    kind: NoteKind
    tag: str
    status: NoteStatus
    start_time: _timestamp_pb2.Timestamp
    end_time: _timestamp_pb2.Timestamp
    page_size: int
    page_token: str
    reader_scope: _common_pb2.Scope
    def __init__(self, user_id: _Optional[str] = ..., kind: _Optional[_Union[NoteKind, str]] = ..., tag: _Optional[str] = ..., status: _Optional[_Union[NoteStatus, str]] = ..., start_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., end_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ..., reader_scope: _Optional[_Union[_common_pb2.Scope, _Mapping]] = ...) -> None: ...

class ListNotesResponse(_message.Message):
    __slots__ = ("notes", "next_page_token")
    NOTES_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    notes: _containers.RepeatedCompositeFieldContainer[Note]
    next_page_token: str
    def __init__(self, notes: _Optional[_Iterable[_Union[Note, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class UpdateNoteRequest(_message.Message):
    __slots__ = ("request_id", "user_id", "note_id", "content", "kind", "importance", "tags", "attachments", "metadata", "time", "update_mask", "etag", "correction")
    class MetadataEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    NOTE_ID_FIELD_NUMBER: _ClassVar[int]
    CONTENT_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    IMPORTANCE_FIELD_NUMBER: _ClassVar[int]
    TAGS_FIELD_NUMBER: _ClassVar[int]
    ATTACHMENTS_FIELD_NUMBER: _ClassVar[int]
    METADATA_FIELD_NUMBER: _ClassVar[int]
    TIME_FIELD_NUMBER: _ClassVar[int]
    UPDATE_MASK_FIELD_NUMBER: _ClassVar[int]
    ETAG_FIELD_NUMBER: _ClassVar[int]
    CORRECTION_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    user_id: str
    note_id: str
    content: str
    kind: NoteKind
    importance: float
    tags: _containers.RepeatedScalarFieldContainer[str]
    attachments: _containers.RepeatedCompositeFieldContainer[_common_pb2.Attachment]
    metadata: _containers.ScalarMap[str, str]
    time: _timestamp_pb2.Timestamp
    update_mask: _field_mask_pb2.FieldMask
    etag: str
    correction: bool
    def __init__(self, request_id: _Optional[str] = ..., user_id: _Optional[str] = ..., note_id: _Optional[str] = ..., content: _Optional[str] = ..., kind: _Optional[_Union[NoteKind, str]] = ..., importance: _Optional[float] = ..., tags: _Optional[_Iterable[str]] = ..., attachments: _Optional[_Iterable[_Union[_common_pb2.Attachment, _Mapping]]] = ..., metadata: _Optional[_Mapping[str, str]] = ..., time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., update_mask: _Optional[_Union[_field_mask_pb2.FieldMask, _Mapping]] = ..., etag: _Optional[str] = ..., correction: _Optional[bool] = ...) -> None: ...

class UpdateNoteResponse(_message.Message):
    __slots__ = ("note", "links")
    NOTE_FIELD_NUMBER: _ClassVar[int]
    LINKS_FIELD_NUMBER: _ClassVar[int]
    note: Note
    links: _containers.RepeatedCompositeFieldContainer[Link]
    def __init__(self, note: _Optional[_Union[Note, _Mapping]] = ..., links: _Optional[_Iterable[_Union[Link, _Mapping]]] = ...) -> None: ...

class DeleteNoteRequest(_message.Message):
    __slots__ = ("request_id", "user_id", "note_id", "etag")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    NOTE_ID_FIELD_NUMBER: _ClassVar[int]
    ETAG_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    user_id: str
    note_id: str
    etag: str
    def __init__(self, request_id: _Optional[str] = ..., user_id: _Optional[str] = ..., note_id: _Optional[str] = ..., etag: _Optional[str] = ...) -> None: ...

class DeleteNoteResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class ArchiveNotesRequest(_message.Message):
    __slots__ = ("request_id", "user_id", "note_ids")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    NOTE_IDS_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    user_id: str
    note_ids: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, request_id: _Optional[str] = ..., user_id: _Optional[str] = ..., note_ids: _Optional[_Iterable[str]] = ...) -> None: ...

class ArchiveNotesResponse(_message.Message):
    __slots__ = ("results",)
    RESULTS_FIELD_NUMBER: _ClassVar[int]
    results: _containers.RepeatedCompositeFieldContainer[NoteStatusResult]
    def __init__(self, results: _Optional[_Iterable[_Union[NoteStatusResult, _Mapping]]] = ...) -> None: ...

class RestoreNotesRequest(_message.Message):
    __slots__ = ("request_id", "user_id", "note_ids")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    NOTE_IDS_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    user_id: str
    note_ids: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, request_id: _Optional[str] = ..., user_id: _Optional[str] = ..., note_ids: _Optional[_Iterable[str]] = ...) -> None: ...

class RestoreNotesResponse(_message.Message):
    __slots__ = ("results",)
    RESULTS_FIELD_NUMBER: _ClassVar[int]
    results: _containers.RepeatedCompositeFieldContainer[NoteStatusResult]
    def __init__(self, results: _Optional[_Iterable[_Union[NoteStatusResult, _Mapping]]] = ...) -> None: ...

class NoteStatusResult(_message.Message):
    __slots__ = ("response", "error")
    RESPONSE_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    response: NoteState
    error: _status_pb2.Status
    def __init__(self, response: _Optional[_Union[NoteState, _Mapping]] = ..., error: _Optional[_Union[_status_pb2.Status, _Mapping]] = ...) -> None: ...

class NoteState(_message.Message):
    __slots__ = ("note_id", "status", "etag")
    NOTE_ID_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    ETAG_FIELD_NUMBER: _ClassVar[int]
    note_id: str
    status: NoteStatus
    etag: str
    def __init__(self, note_id: _Optional[str] = ..., status: _Optional[_Union[NoteStatus, str]] = ..., etag: _Optional[str] = ...) -> None: ...

class SearchNotesRequest(_message.Message):
    __slots__ = ("user_id", "query", "query_vector", "reader_scope", "limit", "hops", "known_at_time", "as_of_time")
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    QUERY_FIELD_NUMBER: _ClassVar[int]
    QUERY_VECTOR_FIELD_NUMBER: _ClassVar[int]
    READER_SCOPE_FIELD_NUMBER: _ClassVar[int]
    LIMIT_FIELD_NUMBER: _ClassVar[int]
    HOPS_FIELD_NUMBER: _ClassVar[int]
    KNOWN_AT_TIME_FIELD_NUMBER: _ClassVar[int]
    AS_OF_TIME_FIELD_NUMBER: _ClassVar[int]
    user_id: str
    query: str
    query_vector: _common_pb2.Vector
    reader_scope: _common_pb2.Scope
    limit: int
    hops: int
    known_at_time: _timestamp_pb2.Timestamp
    as_of_time: _timestamp_pb2.Timestamp
    def __init__(self, user_id: _Optional[str] = ..., query: _Optional[str] = ..., query_vector: _Optional[_Union[_common_pb2.Vector, _Mapping]] = ..., reader_scope: _Optional[_Union[_common_pb2.Scope, _Mapping]] = ..., limit: _Optional[int] = ..., hops: _Optional[int] = ..., known_at_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., as_of_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class ScoredNote(_message.Message):
    __slots__ = ("note", "score", "similarity", "path", "matched_attachment")
    NOTE_FIELD_NUMBER: _ClassVar[int]
    SCORE_FIELD_NUMBER: _ClassVar[int]
    SIMILARITY_FIELD_NUMBER: _ClassVar[int]
    PATH_FIELD_NUMBER: _ClassVar[int]
    MATCHED_ATTACHMENT_FIELD_NUMBER: _ClassVar[int]
    note: Note
    score: float
    similarity: float
    path: _containers.RepeatedCompositeFieldContainer[WalkedLink]
    matched_attachment: int
    def __init__(self, note: _Optional[_Union[Note, _Mapping]] = ..., score: _Optional[float] = ..., similarity: _Optional[float] = ..., path: _Optional[_Iterable[_Union[WalkedLink, _Mapping]]] = ..., matched_attachment: _Optional[int] = ...) -> None: ...

class WalkedLink(_message.Message):
    __slots__ = ("note_id", "strength")
    NOTE_ID_FIELD_NUMBER: _ClassVar[int]
    STRENGTH_FIELD_NUMBER: _ClassVar[int]
    note_id: str
    strength: float
    def __init__(self, note_id: _Optional[str] = ..., strength: _Optional[float] = ...) -> None: ...

class SearchNotesResponse(_message.Message):
    __slots__ = ("hits", "omitted_count", "degraded")
    HITS_FIELD_NUMBER: _ClassVar[int]
    OMITTED_COUNT_FIELD_NUMBER: _ClassVar[int]
    DEGRADED_FIELD_NUMBER: _ClassVar[int]
    hits: _containers.RepeatedCompositeFieldContainer[ScoredNote]
    omitted_count: int
    degraded: bool
    def __init__(self, hits: _Optional[_Iterable[_Union[ScoredNote, _Mapping]]] = ..., omitted_count: _Optional[int] = ..., degraded: _Optional[bool] = ...) -> None: ...

class GetNoteModelComparisonRequest(_message.Message):
    __slots__ = ("user_id", "questions", "reader_scope")
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    QUESTIONS_FIELD_NUMBER: _ClassVar[int]
    READER_SCOPE_FIELD_NUMBER: _ClassVar[int]
    user_id: str
    questions: _containers.RepeatedCompositeFieldContainer[_model_comparison_pb2.ComparedQuestion]
    reader_scope: _common_pb2.Scope
    def __init__(self, user_id: _Optional[str] = ..., questions: _Optional[_Iterable[_Union[_model_comparison_pb2.ComparedQuestion, _Mapping]]] = ..., reader_scope: _Optional[_Union[_common_pb2.Scope, _Mapping]] = ...) -> None: ...

class GetNoteModelComparisonResponse(_message.Message):
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

class CreateLinkRequest(_message.Message):
    __slots__ = ("request_id", "user_id", "from_note_id", "to_note_id", "type", "strength")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    FROM_NOTE_ID_FIELD_NUMBER: _ClassVar[int]
    TO_NOTE_ID_FIELD_NUMBER: _ClassVar[int]
    TYPE_FIELD_NUMBER: _ClassVar[int]
    STRENGTH_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    user_id: str
    from_note_id: str
    to_note_id: str
    type: LinkType
    strength: float
    def __init__(self, request_id: _Optional[str] = ..., user_id: _Optional[str] = ..., from_note_id: _Optional[str] = ..., to_note_id: _Optional[str] = ..., type: _Optional[_Union[LinkType, str]] = ..., strength: _Optional[float] = ...) -> None: ...

class CreateLinkResponse(_message.Message):
    __slots__ = ("link",)
    LINK_FIELD_NUMBER: _ClassVar[int]
    link: Link
    def __init__(self, link: _Optional[_Union[Link, _Mapping]] = ...) -> None: ...

class ListLinksRequest(_message.Message):
    __slots__ = ("user_id", "note_id", "type", "page_size", "page_token", "reader_scope")
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    NOTE_ID_FIELD_NUMBER: _ClassVar[int]
    TYPE_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    READER_SCOPE_FIELD_NUMBER: _ClassVar[int]
    user_id: str
    note_id: str
    type: LinkType
    page_size: int
    page_token: str
    reader_scope: _common_pb2.Scope
    def __init__(self, user_id: _Optional[str] = ..., note_id: _Optional[str] = ..., type: _Optional[_Union[LinkType, str]] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ..., reader_scope: _Optional[_Union[_common_pb2.Scope, _Mapping]] = ...) -> None: ...

class ListLinksResponse(_message.Message):
    __slots__ = ("links", "next_page_token")
    LINKS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    links: _containers.RepeatedCompositeFieldContainer[Link]
    next_page_token: str
    def __init__(self, links: _Optional[_Iterable[_Union[Link, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class UpdateLinkRequest(_message.Message):
    __slots__ = ("request_id", "user_id", "from_note_id", "to_note_id", "type", "strength", "update_mask", "etag")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    FROM_NOTE_ID_FIELD_NUMBER: _ClassVar[int]
    TO_NOTE_ID_FIELD_NUMBER: _ClassVar[int]
    TYPE_FIELD_NUMBER: _ClassVar[int]
    STRENGTH_FIELD_NUMBER: _ClassVar[int]
    UPDATE_MASK_FIELD_NUMBER: _ClassVar[int]
    ETAG_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    user_id: str
    from_note_id: str
    to_note_id: str
    type: LinkType
    strength: float
    update_mask: _field_mask_pb2.FieldMask
    etag: str
    def __init__(self, request_id: _Optional[str] = ..., user_id: _Optional[str] = ..., from_note_id: _Optional[str] = ..., to_note_id: _Optional[str] = ..., type: _Optional[_Union[LinkType, str]] = ..., strength: _Optional[float] = ..., update_mask: _Optional[_Union[_field_mask_pb2.FieldMask, _Mapping]] = ..., etag: _Optional[str] = ...) -> None: ...

class UpdateLinkResponse(_message.Message):
    __slots__ = ("link",)
    LINK_FIELD_NUMBER: _ClassVar[int]
    link: Link
    def __init__(self, link: _Optional[_Union[Link, _Mapping]] = ...) -> None: ...

class DeleteLinkRequest(_message.Message):
    __slots__ = ("request_id", "user_id", "from_note_id", "to_note_id", "type")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    FROM_NOTE_ID_FIELD_NUMBER: _ClassVar[int]
    TO_NOTE_ID_FIELD_NUMBER: _ClassVar[int]
    TYPE_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    user_id: str
    from_note_id: str
    to_note_id: str
    type: LinkType
    def __init__(self, request_id: _Optional[str] = ..., user_id: _Optional[str] = ..., from_note_id: _Optional[str] = ..., to_note_id: _Optional[str] = ..., type: _Optional[_Union[LinkType, str]] = ...) -> None: ...

class DeleteLinkResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...
