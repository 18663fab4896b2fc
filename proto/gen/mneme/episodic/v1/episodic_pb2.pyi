import datetime

from google.protobuf import timestamp_pb2 as _timestamp_pb2
from google.rpc import status_pb2 as _status_pb2
from mneme.common.v1 import common_pb2 as _common_pb2
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
    __slots__ = ("episode_id", "user_id", "session_id", "position", "role", "speaker", "query", "response", "attachments", "sources", "confidence", "feedback", "importance", "decay_factor", "access_count", "last_access_time", "time", "create_time", "scope", "status", "metadata")
    class MetadataEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    EPISODE_ID_FIELD_NUMBER: _ClassVar[int]
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
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
    episode_id: str
    user_id: str
    session_id: str
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
    def __init__(self, episode_id: _Optional[str] = ..., user_id: _Optional[str] = ..., session_id: _Optional[str] = ..., position: _Optional[int] = ..., role: _Optional[_Union[_common_pb2.MessageRole, str]] = ..., speaker: _Optional[str] = ..., query: _Optional[str] = ..., response: _Optional[str] = ..., attachments: _Optional[_Iterable[_Union[_common_pb2.Attachment, _Mapping]]] = ..., sources: _Optional[_Iterable[str]] = ..., confidence: _Optional[float] = ..., feedback: _Optional[int] = ..., importance: _Optional[float] = ..., decay_factor: _Optional[float] = ..., access_count: _Optional[int] = ..., last_access_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., create_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., scope: _Optional[_Union[_common_pb2.Scope, _Mapping]] = ..., status: _Optional[_Union[EpisodeStatus, str]] = ..., metadata: _Optional[_Mapping[str, str]] = ...) -> None: ...

class NewEpisode(_message.Message):
    __slots__ = ("episode_id", "user_id", "session_id", "position", "role", "speaker", "query", "response", "attachments", "sources", "confidence", "importance", "time", "scope", "metadata", "piece_vectors", "piece_tokens")
    class MetadataEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    EPISODE_ID_FIELD_NUMBER: _ClassVar[int]
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    POSITION_FIELD_NUMBER: _ClassVar[int]
    ROLE_FIELD_NUMBER: _ClassVar[int]
    SPEAKER_FIELD_NUMBER: _ClassVar[int]
    QUERY_FIELD_NUMBER: _ClassVar[int]
    RESPONSE_FIELD_NUMBER: _ClassVar[int]
    ATTACHMENTS_FIELD_NUMBER: _ClassVar[int]
    SOURCES_FIELD_NUMBER: _ClassVar[int]
    CONFIDENCE_FIELD_NUMBER: _ClassVar[int]
    IMPORTANCE_FIELD_NUMBER: _ClassVar[int]
    TIME_FIELD_NUMBER: _ClassVar[int]
    SCOPE_FIELD_NUMBER: _ClassVar[int]
    METADATA_FIELD_NUMBER: _ClassVar[int]
    PIECE_VECTORS_FIELD_NUMBER: _ClassVar[int]
    PIECE_TOKENS_FIELD_NUMBER: _ClassVar[int]
    episode_id: str
    user_id: str
    session_id: str
    position: int
    role: _common_pb2.MessageRole
    speaker: str
    query: str
    response: str
    attachments: _containers.RepeatedCompositeFieldContainer[_common_pb2.Attachment]
    sources: _containers.RepeatedScalarFieldContainer[str]
    confidence: float
    importance: float
    time: _timestamp_pb2.Timestamp
    scope: _common_pb2.Scope
    metadata: _containers.ScalarMap[str, str]
    piece_vectors: _containers.RepeatedCompositeFieldContainer[_common_pb2.Vector]
    piece_tokens: _containers.RepeatedCompositeFieldContainer[_common_pb2.TokenVectors]
    def __init__(self, episode_id: _Optional[str] = ..., user_id: _Optional[str] = ..., session_id: _Optional[str] = ..., position: _Optional[int] = ..., role: _Optional[_Union[_common_pb2.MessageRole, str]] = ..., speaker: _Optional[str] = ..., query: _Optional[str] = ..., response: _Optional[str] = ..., attachments: _Optional[_Iterable[_Union[_common_pb2.Attachment, _Mapping]]] = ..., sources: _Optional[_Iterable[str]] = ..., confidence: _Optional[float] = ..., importance: _Optional[float] = ..., time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., scope: _Optional[_Union[_common_pb2.Scope, _Mapping]] = ..., metadata: _Optional[_Mapping[str, str]] = ..., piece_vectors: _Optional[_Iterable[_Union[_common_pb2.Vector, _Mapping]]] = ..., piece_tokens: _Optional[_Iterable[_Union[_common_pb2.TokenVectors, _Mapping]]] = ...) -> None: ...

class StoreEpisodesRequest(_message.Message):
    __slots__ = ("episodes", "wait_until_active")
    EPISODES_FIELD_NUMBER: _ClassVar[int]
    WAIT_UNTIL_ACTIVE_FIELD_NUMBER: _ClassVar[int]
    episodes: _containers.RepeatedCompositeFieldContainer[NewEpisode]
    wait_until_active: bool
    def __init__(self, episodes: _Optional[_Iterable[_Union[NewEpisode, _Mapping]]] = ..., wait_until_active: _Optional[bool] = ...) -> None: ...

class StoreEpisodeResult(_message.Message):
    __slots__ = ("response", "error")
    RESPONSE_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    response: StoredEpisode
    error: _status_pb2.Status
    def __init__(self, response: _Optional[_Union[StoredEpisode, _Mapping]] = ..., error: _Optional[_Union[_status_pb2.Status, _Mapping]] = ...) -> None: ...

class StoredEpisode(_message.Message):
    __slots__ = ("episode_id", "created", "status")
    EPISODE_ID_FIELD_NUMBER: _ClassVar[int]
    CREATED_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    episode_id: str
    created: bool
    status: EpisodeStatus
    def __init__(self, episode_id: _Optional[str] = ..., created: _Optional[bool] = ..., status: _Optional[_Union[EpisodeStatus, str]] = ...) -> None: ...

class StoreEpisodesResponse(_message.Message):
    __slots__ = ("results",)
    RESULTS_FIELD_NUMBER: _ClassVar[int]
    results: _containers.RepeatedCompositeFieldContainer[StoreEpisodeResult]
    def __init__(self, results: _Optional[_Iterable[_Union[StoreEpisodeResult, _Mapping]]] = ...) -> None: ...

class GetEpisodeRequest(_message.Message):
    __slots__ = ("user_id", "episode_id")
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    EPISODE_ID_FIELD_NUMBER: _ClassVar[int]
    user_id: str
    episode_id: str
    def __init__(self, user_id: _Optional[str] = ..., episode_id: _Optional[str] = ...) -> None: ...

class GetEpisodeResponse(_message.Message):
    __slots__ = ("episode",)
    EPISODE_FIELD_NUMBER: _ClassVar[int]
    episode: Episode
    def __init__(self, episode: _Optional[_Union[Episode, _Mapping]] = ...) -> None: ...

class BatchGetEpisodesRequest(_message.Message):
    __slots__ = ("user_id", "episode_ids")
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    EPISODE_IDS_FIELD_NUMBER: _ClassVar[int]
    user_id: str
    episode_ids: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, user_id: _Optional[str] = ..., episode_ids: _Optional[_Iterable[str]] = ...) -> None: ...

class BatchGetEpisodesResponse(_message.Message):
    __slots__ = ("episodes", "left_out_episode_ids")
    EPISODES_FIELD_NUMBER: _ClassVar[int]
    LEFT_OUT_EPISODE_IDS_FIELD_NUMBER: _ClassVar[int]
    episodes: _containers.RepeatedCompositeFieldContainer[Episode]
    left_out_episode_ids: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, episodes: _Optional[_Iterable[_Union[Episode, _Mapping]]] = ..., left_out_episode_ids: _Optional[_Iterable[str]] = ...) -> None: ...

class ListEpisodesRequest(_message.Message):
    __slots__ = ("user_id", "session_id", "status", "page_size", "page_token")
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    user_id: str
    session_id: str
    status: EpisodeStatus
    page_size: int
    page_token: str
    def __init__(self, user_id: _Optional[str] = ..., session_id: _Optional[str] = ..., status: _Optional[_Union[EpisodeStatus, str]] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListEpisodesResponse(_message.Message):
    __slots__ = ("episodes", "next_page_token")
    EPISODES_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    episodes: _containers.RepeatedCompositeFieldContainer[Episode]
    next_page_token: str
    def __init__(self, episodes: _Optional[_Iterable[_Union[Episode, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class SearchEpisodesRequest(_message.Message):
    __slots__ = ("user_id", "query", "query_vector", "reader_scope", "top_k")
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    QUERY_FIELD_NUMBER: _ClassVar[int]
    QUERY_VECTOR_FIELD_NUMBER: _ClassVar[int]
    READER_SCOPE_FIELD_NUMBER: _ClassVar[int]
    TOP_K_FIELD_NUMBER: _ClassVar[int]
    user_id: str
    query: str
    query_vector: _common_pb2.Vector
    reader_scope: _common_pb2.Scope
    top_k: int
    def __init__(self, user_id: _Optional[str] = ..., query: _Optional[str] = ..., query_vector: _Optional[_Union[_common_pb2.Vector, _Mapping]] = ..., reader_scope: _Optional[_Union[_common_pb2.Scope, _Mapping]] = ..., top_k: _Optional[int] = ...) -> None: ...

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
    __slots__ = ("hits", "left_out_count")
    HITS_FIELD_NUMBER: _ClassVar[int]
    LEFT_OUT_COUNT_FIELD_NUMBER: _ClassVar[int]
    hits: _containers.RepeatedCompositeFieldContainer[ScoredEpisode]
    left_out_count: int
    def __init__(self, hits: _Optional[_Iterable[_Union[ScoredEpisode, _Mapping]]] = ..., left_out_count: _Optional[int] = ...) -> None: ...

class SearchCandidatesRequest(_message.Message):
    __slots__ = ("user_id", "query", "query_vector", "reader_scope", "lane_limit", "neighbour_seeds", "neighbour_radius", "include_episode_ids", "query_tokens", "with_statistics")
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    QUERY_FIELD_NUMBER: _ClassVar[int]
    QUERY_VECTOR_FIELD_NUMBER: _ClassVar[int]
    READER_SCOPE_FIELD_NUMBER: _ClassVar[int]
    LANE_LIMIT_FIELD_NUMBER: _ClassVar[int]
    NEIGHBOUR_SEEDS_FIELD_NUMBER: _ClassVar[int]
    NEIGHBOUR_RADIUS_FIELD_NUMBER: _ClassVar[int]
    INCLUDE_EPISODE_IDS_FIELD_NUMBER: _ClassVar[int]
    QUERY_TOKENS_FIELD_NUMBER: _ClassVar[int]
    WITH_STATISTICS_FIELD_NUMBER: _ClassVar[int]
    user_id: str
    query: str
    query_vector: _common_pb2.Vector
    reader_scope: _common_pb2.Scope
    lane_limit: int
    neighbour_seeds: int
    neighbour_radius: int
    include_episode_ids: _containers.RepeatedScalarFieldContainer[str]
    query_tokens: _common_pb2.TokenVectors
    with_statistics: bool
    def __init__(self, user_id: _Optional[str] = ..., query: _Optional[str] = ..., query_vector: _Optional[_Union[_common_pb2.Vector, _Mapping]] = ..., reader_scope: _Optional[_Union[_common_pb2.Scope, _Mapping]] = ..., lane_limit: _Optional[int] = ..., neighbour_seeds: _Optional[int] = ..., neighbour_radius: _Optional[int] = ..., include_episode_ids: _Optional[_Iterable[str]] = ..., query_tokens: _Optional[_Union[_common_pb2.TokenVectors, _Mapping]] = ..., with_statistics: _Optional[bool] = ...) -> None: ...

class SearchCandidatesResponse(_message.Message):
    __slots__ = ("episode_ids", "dense_scores", "lexical_scores", "dense_ranks", "lexical_ranks", "sessions", "positions", "speaker_indexes", "times", "lengths", "traits", "feedbacks", "importances", "session_ids", "speakers", "degraded", "token_scores", "token_present", "token_frequencies", "reverse_scores", "active_count", "sentence_scores", "access_counts", "last_access_times", "confidences", "decay_factors")
    EPISODE_IDS_FIELD_NUMBER: _ClassVar[int]
    DENSE_SCORES_FIELD_NUMBER: _ClassVar[int]
    LEXICAL_SCORES_FIELD_NUMBER: _ClassVar[int]
    DENSE_RANKS_FIELD_NUMBER: _ClassVar[int]
    LEXICAL_RANKS_FIELD_NUMBER: _ClassVar[int]
    SESSIONS_FIELD_NUMBER: _ClassVar[int]
    POSITIONS_FIELD_NUMBER: _ClassVar[int]
    SPEAKER_INDEXES_FIELD_NUMBER: _ClassVar[int]
    TIMES_FIELD_NUMBER: _ClassVar[int]
    LENGTHS_FIELD_NUMBER: _ClassVar[int]
    TRAITS_FIELD_NUMBER: _ClassVar[int]
    FEEDBACKS_FIELD_NUMBER: _ClassVar[int]
    IMPORTANCES_FIELD_NUMBER: _ClassVar[int]
    SESSION_IDS_FIELD_NUMBER: _ClassVar[int]
    SPEAKERS_FIELD_NUMBER: _ClassVar[int]
    DEGRADED_FIELD_NUMBER: _ClassVar[int]
    TOKEN_SCORES_FIELD_NUMBER: _ClassVar[int]
    TOKEN_PRESENT_FIELD_NUMBER: _ClassVar[int]
    TOKEN_FREQUENCIES_FIELD_NUMBER: _ClassVar[int]
    REVERSE_SCORES_FIELD_NUMBER: _ClassVar[int]
    ACTIVE_COUNT_FIELD_NUMBER: _ClassVar[int]
    SENTENCE_SCORES_FIELD_NUMBER: _ClassVar[int]
    ACCESS_COUNTS_FIELD_NUMBER: _ClassVar[int]
    LAST_ACCESS_TIMES_FIELD_NUMBER: _ClassVar[int]
    CONFIDENCES_FIELD_NUMBER: _ClassVar[int]
    DECAY_FACTORS_FIELD_NUMBER: _ClassVar[int]
    episode_ids: bytes
    dense_scores: _containers.RepeatedScalarFieldContainer[float]
    lexical_scores: _containers.RepeatedScalarFieldContainer[float]
    dense_ranks: _containers.RepeatedScalarFieldContainer[int]
    lexical_ranks: _containers.RepeatedScalarFieldContainer[int]
    sessions: _containers.RepeatedScalarFieldContainer[int]
    positions: _containers.RepeatedScalarFieldContainer[int]
    speaker_indexes: _containers.RepeatedScalarFieldContainer[int]
    times: _containers.RepeatedScalarFieldContainer[float]
    lengths: _containers.RepeatedScalarFieldContainer[int]
    traits: _containers.RepeatedScalarFieldContainer[int]
    feedbacks: _containers.RepeatedScalarFieldContainer[int]
    importances: _containers.RepeatedScalarFieldContainer[float]
    session_ids: _containers.RepeatedScalarFieldContainer[str]
    speakers: _containers.RepeatedScalarFieldContainer[str]
    degraded: bool
    token_scores: bytes
    token_present: _containers.RepeatedScalarFieldContainer[bool]
    token_frequencies: _containers.RepeatedScalarFieldContainer[int]
    reverse_scores: _containers.RepeatedScalarFieldContainer[float]
    active_count: int
    sentence_scores: bytes
    access_counts: _containers.RepeatedScalarFieldContainer[int]
    last_access_times: _containers.RepeatedScalarFieldContainer[float]
    confidences: _containers.RepeatedScalarFieldContainer[float]
    decay_factors: _containers.RepeatedScalarFieldContainer[float]
    def __init__(self, episode_ids: _Optional[bytes] = ..., dense_scores: _Optional[_Iterable[float]] = ..., lexical_scores: _Optional[_Iterable[float]] = ..., dense_ranks: _Optional[_Iterable[int]] = ..., lexical_ranks: _Optional[_Iterable[int]] = ..., sessions: _Optional[_Iterable[int]] = ..., positions: _Optional[_Iterable[int]] = ..., speaker_indexes: _Optional[_Iterable[int]] = ..., times: _Optional[_Iterable[float]] = ..., lengths: _Optional[_Iterable[int]] = ..., traits: _Optional[_Iterable[int]] = ..., feedbacks: _Optional[_Iterable[int]] = ..., importances: _Optional[_Iterable[float]] = ..., session_ids: _Optional[_Iterable[str]] = ..., speakers: _Optional[_Iterable[str]] = ..., degraded: _Optional[bool] = ..., token_scores: _Optional[bytes] = ..., token_present: _Optional[_Iterable[bool]] = ..., token_frequencies: _Optional[_Iterable[int]] = ..., reverse_scores: _Optional[_Iterable[float]] = ..., active_count: _Optional[int] = ..., sentence_scores: _Optional[bytes] = ..., access_counts: _Optional[_Iterable[int]] = ..., last_access_times: _Optional[_Iterable[float]] = ..., confidences: _Optional[_Iterable[float]] = ..., decay_factors: _Optional[_Iterable[float]] = ...) -> None: ...

class RecordFeedbackRequest(_message.Message):
    __slots__ = ("request_id", "user_id", "episode_ids", "feedback")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    EPISODE_IDS_FIELD_NUMBER: _ClassVar[int]
    FEEDBACK_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    user_id: str
    episode_ids: _containers.RepeatedScalarFieldContainer[str]
    feedback: int
    def __init__(self, request_id: _Optional[str] = ..., user_id: _Optional[str] = ..., episode_ids: _Optional[_Iterable[str]] = ..., feedback: _Optional[int] = ...) -> None: ...

class RecordFeedbackResponse(_message.Message):
    __slots__ = ("episode_ids",)
    EPISODE_IDS_FIELD_NUMBER: _ClassVar[int]
    episode_ids: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, episode_ids: _Optional[_Iterable[str]] = ...) -> None: ...

class RecordAccessRequest(_message.Message):
    __slots__ = ("user_id", "episode_ids")
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    EPISODE_IDS_FIELD_NUMBER: _ClassVar[int]
    user_id: str
    episode_ids: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, user_id: _Optional[str] = ..., episode_ids: _Optional[_Iterable[str]] = ...) -> None: ...

class RecordAccessResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...
