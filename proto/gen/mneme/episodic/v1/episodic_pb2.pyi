import datetime

from google.protobuf import timestamp_pb2 as _timestamp_pb2
from mneme.common.v1 import common_pb2 as _common_pb2
from mneme.semantic.v1 import supersessions_pb2 as _supersessions_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class EpisodeStatus(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    EPISODE_STATUS_UNSPECIFIED: _ClassVar[EpisodeStatus]
    EPISODE_STATUS_PENDING_EMBEDDING: _ClassVar[EpisodeStatus]
    EPISODE_STATUS_ACTIVE: _ClassVar[EpisodeStatus]
    EPISODE_STATUS_ARCHIVED: _ClassVar[EpisodeStatus]
EPISODE_STATUS_UNSPECIFIED: EpisodeStatus
EPISODE_STATUS_PENDING_EMBEDDING: EpisodeStatus
EPISODE_STATUS_ACTIVE: EpisodeStatus
EPISODE_STATUS_ARCHIVED: EpisodeStatus

class Episode(_message.Message):
    __slots__ = ("episode_id", "user_id", "conversation_id", "position", "role", "speaker", "query", "response", "attachments", "sources", "confidence", "feedback", "importance", "decay_factor", "access_count", "last_access_time", "time", "create_time", "scope", "status", "metadata", "summary", "superseded_by", "superseded_statements", "marks_missing")
    class MetadataEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    EPISODE_ID_FIELD_NUMBER: _ClassVar[int]
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    CONVERSATION_ID_FIELD_NUMBER: _ClassVar[int]
    POSITION_FIELD_NUMBER: _ClassVar[int]
    ROLE_FIELD_NUMBER: _ClassVar[int]
    SPEAKER_FIELD_NUMBER: _ClassVar[int]
    QUERY_FIELD_NUMBER: _ClassVar[int]
    RESPONSE_FIELD_NUMBER: _ClassVar[int]
    ATTACHMENTS_FIELD_NUMBER: _ClassVar[int]
    SOURCES_FIELD_NUMBER: _ClassVar[int]
    CONFIDENCE_FIELD_NUMBER: _ClassVar[int]
    FEEDBACK_FIELD_NUMBER: _ClassVar[int]
    IMPORTANCE_FIELD_NUMBER: _ClassVar[int]
    DECAY_FACTOR_FIELD_NUMBER: _ClassVar[int]
    ACCESS_COUNT_FIELD_NUMBER: _ClassVar[int]
    LAST_ACCESS_TIME_FIELD_NUMBER: _ClassVar[int]
    TIME_FIELD_NUMBER: _ClassVar[int]
    CREATE_TIME_FIELD_NUMBER: _ClassVar[int]
    SCOPE_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    METADATA_FIELD_NUMBER: _ClassVar[int]
    SUMMARY_FIELD_NUMBER: _ClassVar[int]
    SUPERSEDED_BY_FIELD_NUMBER: _ClassVar[int]
    SUPERSEDED_STATEMENTS_FIELD_NUMBER: _ClassVar[int]
    MARKS_MISSING_FIELD_NUMBER: _ClassVar[int]
    episode_id: str
    user_id: str
    conversation_id: str
    position: int
    role: _common_pb2.MessageRole
    speaker: str
    query: str
    response: str
    attachments: _containers.RepeatedCompositeFieldContainer[_common_pb2.Attachment]
    sources: _containers.RepeatedScalarFieldContainer[str]
    confidence: float
    feedback: int
    importance: float
    decay_factor: float
    access_count: int
    last_access_time: _timestamp_pb2.Timestamp
    time: _timestamp_pb2.Timestamp
    create_time: _timestamp_pb2.Timestamp
    scope: _common_pb2.Scope
    status: EpisodeStatus
    metadata: _containers.ScalarMap[str, str]
    summary: str
    superseded_by: str
    superseded_statements: _containers.RepeatedCompositeFieldContainer[_supersessions_pb2.Supersession]
    marks_missing: bool
    def __init__(self, episode_id: _Optional[str] = ..., user_id: _Optional[str] = ..., conversation_id: _Optional[str] = ..., position: _Optional[int] = ..., role: _Optional[_Union[_common_pb2.MessageRole, str]] = ..., speaker: _Optional[str] = ..., query: _Optional[str] = ..., response: _Optional[str] = ..., attachments: _Optional[_Iterable[_Union[_common_pb2.Attachment, _Mapping]]] = ..., sources: _Optional[_Iterable[str]] = ..., confidence: _Optional[float] = ..., feedback: _Optional[int] = ..., importance: _Optional[float] = ..., decay_factor: _Optional[float] = ..., access_count: _Optional[int] = ..., last_access_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., create_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., scope: _Optional[_Union[_common_pb2.Scope, _Mapping]] = ..., status: _Optional[_Union[EpisodeStatus, str]] = ..., metadata: _Optional[_Mapping[str, str]] = ..., summary: _Optional[str] = ..., superseded_by: _Optional[str] = ..., superseded_statements: _Optional[_Iterable[_Union[_supersessions_pb2.Supersession, _Mapping]]] = ..., marks_missing: _Optional[bool] = ...) -> None: ...

class GetEpisodeRequest(_message.Message):
    __slots__ = ("user_id", "episode_id", "reader_scope")
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    EPISODE_ID_FIELD_NUMBER: _ClassVar[int]
    READER_SCOPE_FIELD_NUMBER: _ClassVar[int]
    user_id: str
    episode_id: str
    reader_scope: _common_pb2.Scope
    def __init__(self, user_id: _Optional[str] = ..., episode_id: _Optional[str] = ..., reader_scope: _Optional[_Union[_common_pb2.Scope, _Mapping]] = ...) -> None: ...

class GetEpisodeResponse(_message.Message):
    __slots__ = ("episode",)
    EPISODE_FIELD_NUMBER: _ClassVar[int]
    episode: Episode
    def __init__(self, episode: _Optional[_Union[Episode, _Mapping]] = ...) -> None: ...

class BatchGetEpisodesRequest(_message.Message):
    __slots__ = ("user_id", "episode_ids", "reader_scope")
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    EPISODE_IDS_FIELD_NUMBER: _ClassVar[int]
    READER_SCOPE_FIELD_NUMBER: _ClassVar[int]
    user_id: str
    episode_ids: _containers.RepeatedScalarFieldContainer[str]
    reader_scope: _common_pb2.Scope
    def __init__(self, user_id: _Optional[str] = ..., episode_ids: _Optional[_Iterable[str]] = ..., reader_scope: _Optional[_Union[_common_pb2.Scope, _Mapping]] = ...) -> None: ...

class BatchGetEpisodesResponse(_message.Message):
    __slots__ = ("episodes", "omitted_episode_ids")
    EPISODES_FIELD_NUMBER: _ClassVar[int]
    OMITTED_EPISODE_IDS_FIELD_NUMBER: _ClassVar[int]
    episodes: _containers.RepeatedCompositeFieldContainer[Episode]
    omitted_episode_ids: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, episodes: _Optional[_Iterable[_Union[Episode, _Mapping]]] = ..., omitted_episode_ids: _Optional[_Iterable[str]] = ...) -> None: ...

class ListEpisodesRequest(_message.Message):
    __slots__ = ("user_id", "conversation_id", "status", "start_time", "end_time", "page_size", "page_token", "reader_scope")
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    CONVERSATION_ID_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    START_TIME_FIELD_NUMBER: _ClassVar[int]
    END_TIME_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    READER_SCOPE_FIELD_NUMBER: _ClassVar[int]
    user_id: str
    conversation_id: str
    status: EpisodeStatus
    start_time: _timestamp_pb2.Timestamp
    end_time: _timestamp_pb2.Timestamp
    page_size: int
    page_token: str
    reader_scope: _common_pb2.Scope
    def __init__(self, user_id: _Optional[str] = ..., conversation_id: _Optional[str] = ..., status: _Optional[_Union[EpisodeStatus, str]] = ..., start_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., end_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ..., reader_scope: _Optional[_Union[_common_pb2.Scope, _Mapping]] = ...) -> None: ...

class ListEpisodesResponse(_message.Message):
    __slots__ = ("episodes", "next_page_token")
    EPISODES_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    episodes: _containers.RepeatedCompositeFieldContainer[Episode]
    next_page_token: str
    def __init__(self, episodes: _Optional[_Iterable[_Union[Episode, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class SearchEpisodesRequest(_message.Message):
    __slots__ = ("user_id", "query", "query_vector", "reader_scope", "limit", "as_of_time", "known_at_time")
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    QUERY_FIELD_NUMBER: _ClassVar[int]
    QUERY_VECTOR_FIELD_NUMBER: _ClassVar[int]
    READER_SCOPE_FIELD_NUMBER: _ClassVar[int]
    LIMIT_FIELD_NUMBER: _ClassVar[int]
    AS_OF_TIME_FIELD_NUMBER: _ClassVar[int]
    KNOWN_AT_TIME_FIELD_NUMBER: _ClassVar[int]
    user_id: str
    query: str
    query_vector: _common_pb2.Vector
    reader_scope: _common_pb2.Scope
    limit: int
    as_of_time: _timestamp_pb2.Timestamp
    known_at_time: _timestamp_pb2.Timestamp
    def __init__(self, user_id: _Optional[str] = ..., query: _Optional[str] = ..., query_vector: _Optional[_Union[_common_pb2.Vector, _Mapping]] = ..., reader_scope: _Optional[_Union[_common_pb2.Scope, _Mapping]] = ..., limit: _Optional[int] = ..., as_of_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., known_at_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class ScoredEpisode(_message.Message):
    __slots__ = ("episode", "score", "similarity")
    EPISODE_FIELD_NUMBER: _ClassVar[int]
    SCORE_FIELD_NUMBER: _ClassVar[int]
    SIMILARITY_FIELD_NUMBER: _ClassVar[int]
    episode: Episode
    score: float
    similarity: float
    def __init__(self, episode: _Optional[_Union[Episode, _Mapping]] = ..., score: _Optional[float] = ..., similarity: _Optional[float] = ...) -> None: ...

class SearchEpisodesResponse(_message.Message):
    __slots__ = ("hits", "omitted_count")
    HITS_FIELD_NUMBER: _ClassVar[int]
    OMITTED_COUNT_FIELD_NUMBER: _ClassVar[int]
    hits: _containers.RepeatedCompositeFieldContainer[ScoredEpisode]
    omitted_count: int
    def __init__(self, hits: _Optional[_Iterable[_Union[ScoredEpisode, _Mapping]]] = ..., omitted_count: _Optional[int] = ...) -> None: ...

class ArchiveEpisodesRequest(_message.Message):
    __slots__ = ("request_id", "user_id", "episode_ids", "conversation_id")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    EPISODE_IDS_FIELD_NUMBER: _ClassVar[int]
    CONVERSATION_ID_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    user_id: str
    episode_ids: _containers.RepeatedScalarFieldContainer[str]
    conversation_id: str
    def __init__(self, request_id: _Optional[str] = ..., user_id: _Optional[str] = ..., episode_ids: _Optional[_Iterable[str]] = ..., conversation_id: _Optional[str] = ...) -> None: ...

class ArchiveEpisodesResponse(_message.Message):
    __slots__ = ("archived_count",)
    ARCHIVED_COUNT_FIELD_NUMBER: _ClassVar[int]
    archived_count: int
    def __init__(self, archived_count: _Optional[int] = ...) -> None: ...

class RestoreEpisodesRequest(_message.Message):
    __slots__ = ("request_id", "user_id", "episode_ids", "conversation_id")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    EPISODE_IDS_FIELD_NUMBER: _ClassVar[int]
    CONVERSATION_ID_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    user_id: str
    episode_ids: _containers.RepeatedScalarFieldContainer[str]
    conversation_id: str
    def __init__(self, request_id: _Optional[str] = ..., user_id: _Optional[str] = ..., episode_ids: _Optional[_Iterable[str]] = ..., conversation_id: _Optional[str] = ...) -> None: ...

class RestoreEpisodesResponse(_message.Message):
    __slots__ = ("restored_count",)
    RESTORED_COUNT_FIELD_NUMBER: _ClassVar[int]
    restored_count: int
    def __init__(self, restored_count: _Optional[int] = ...) -> None: ...

class ModelQuestion(_message.Message):
    __slots__ = ("query", "relevant_episode_ids")
    QUERY_FIELD_NUMBER: _ClassVar[int]
    RELEVANT_EPISODE_IDS_FIELD_NUMBER: _ClassVar[int]
    query: str
    relevant_episode_ids: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, query: _Optional[str] = ..., relevant_episode_ids: _Optional[_Iterable[str]] = ...) -> None: ...

class GetModelComparisonRequest(_message.Message):
    __slots__ = ("user_id", "questions", "reader_scope")
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    QUESTIONS_FIELD_NUMBER: _ClassVar[int]
    READER_SCOPE_FIELD_NUMBER: _ClassVar[int]
    user_id: str
    questions: _containers.RepeatedCompositeFieldContainer[ModelQuestion]
    reader_scope: _common_pb2.Scope
    def __init__(self, user_id: _Optional[str] = ..., questions: _Optional[_Iterable[_Union[ModelQuestion, _Mapping]]] = ..., reader_scope: _Optional[_Union[_common_pb2.Scope, _Mapping]] = ...) -> None: ...

class ModelQuestionComparison(_message.Message):
    __slots__ = ("overlap", "first_recall", "second_recall")
    OVERLAP_FIELD_NUMBER: _ClassVar[int]
    FIRST_RECALL_FIELD_NUMBER: _ClassVar[int]
    SECOND_RECALL_FIELD_NUMBER: _ClassVar[int]
    overlap: float
    first_recall: float
    second_recall: float
    def __init__(self, overlap: _Optional[float] = ..., first_recall: _Optional[float] = ..., second_recall: _Optional[float] = ...) -> None: ...

class GetModelComparisonResponse(_message.Message):
    __slots__ = ("questions", "first_model", "second_model", "first_piece_count", "second_piece_count")
    QUESTIONS_FIELD_NUMBER: _ClassVar[int]
    FIRST_MODEL_FIELD_NUMBER: _ClassVar[int]
    SECOND_MODEL_FIELD_NUMBER: _ClassVar[int]
    FIRST_PIECE_COUNT_FIELD_NUMBER: _ClassVar[int]
    SECOND_PIECE_COUNT_FIELD_NUMBER: _ClassVar[int]
    questions: _containers.RepeatedCompositeFieldContainer[ModelQuestionComparison]
    first_model: str
    second_model: str
    first_piece_count: int
    second_piece_count: int
    def __init__(self, questions: _Optional[_Iterable[_Union[ModelQuestionComparison, _Mapping]]] = ..., first_model: _Optional[str] = ..., second_model: _Optional[str] = ..., first_piece_count: _Optional[int] = ..., second_piece_count: _Optional[int] = ...) -> None: ...
