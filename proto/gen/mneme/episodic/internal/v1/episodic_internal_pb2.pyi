import datetime

from google.protobuf import timestamp_pb2 as _timestamp_pb2
from google.rpc import status_pb2 as _status_pb2
from mneme.common.v1 import common_pb2 as _common_pb2
from mneme.episodic.v1 import episodic_pb2 as _episodic_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class TurnTrait(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    TURN_TRAIT_UNSPECIFIED: _ClassVar[TurnTrait]
    TURN_TRAIT_QUESTION: _ClassVar[TurnTrait]
    TURN_TRAIT_ASSISTANT: _ClassVar[TurnTrait]
    TURN_TRAIT_REACTION: _ClassVar[TurnTrait]
    TURN_TRAIT_FIRST_PERSON: _ClassVar[TurnTrait]
    TURN_TRAIT_CAPTION: _ClassVar[TurnTrait]
    TURN_TRAIT_PAST: _ClassVar[TurnTrait]
    TURN_TRAIT_TIME_EXPRESSION: _ClassVar[TurnTrait]
    TURN_TRAIT_NUMBER: _ClassVar[TurnTrait]
    TURN_TRAIT_QUOTE: _ClassVar[TurnTrait]
    TURN_TRAIT_NAMES: _ClassVar[TurnTrait]
    TURN_TRAIT_INSTRUCTION: _ClassVar[TurnTrait]
    TURN_TRAIT_LIST: _ClassVar[TurnTrait]
    TURN_TRAIT_ENDS_ASKING: _ClassVar[TurnTrait]
    TURN_TRAIT_MOSTLY_ASKING: _ClassVar[TurnTrait]
    TURN_TRAIT_PREFERENCE: _ClassVar[TurnTrait]
TURN_TRAIT_UNSPECIFIED: TurnTrait
TURN_TRAIT_QUESTION: TurnTrait
TURN_TRAIT_ASSISTANT: TurnTrait
TURN_TRAIT_REACTION: TurnTrait
TURN_TRAIT_FIRST_PERSON: TurnTrait
TURN_TRAIT_CAPTION: TurnTrait
TURN_TRAIT_PAST: TurnTrait
TURN_TRAIT_TIME_EXPRESSION: TurnTrait
TURN_TRAIT_NUMBER: TurnTrait
TURN_TRAIT_QUOTE: TurnTrait
TURN_TRAIT_NAMES: TurnTrait
TURN_TRAIT_INSTRUCTION: TurnTrait
TURN_TRAIT_LIST: TurnTrait
TURN_TRAIT_ENDS_ASKING: TurnTrait
TURN_TRAIT_MOSTLY_ASKING: TurnTrait
TURN_TRAIT_PREFERENCE: TurnTrait

class NewEpisode(_message.Message):
    __slots__ = ("episode_id", "user_id", "conversation_id", "position", "role", "speaker", "query", "response", "attachments", "sources", "confidence", "importance", "time", "scope", "metadata", "piece_vectors", "piece_tokens")
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
    IMPORTANCE_FIELD_NUMBER: _ClassVar[int]
    TIME_FIELD_NUMBER: _ClassVar[int]
    SCOPE_FIELD_NUMBER: _ClassVar[int]
    METADATA_FIELD_NUMBER: _ClassVar[int]
    PIECE_VECTORS_FIELD_NUMBER: _ClassVar[int]
    PIECE_TOKENS_FIELD_NUMBER: _ClassVar[int]
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
    importance: float
    time: _timestamp_pb2.Timestamp
    scope: _common_pb2.Scope
    metadata: _containers.ScalarMap[str, str]
    piece_vectors: _containers.RepeatedCompositeFieldContainer[_common_pb2.Vector]
    piece_tokens: _containers.RepeatedCompositeFieldContainer[_common_pb2.TokenVectors]
    def __init__(self, episode_id: _Optional[str] = ..., user_id: _Optional[str] = ..., conversation_id: _Optional[str] = ..., position: _Optional[int] = ..., role: _Optional[_Union[_common_pb2.MessageRole, str]] = ..., speaker: _Optional[str] = ..., query: _Optional[str] = ..., response: _Optional[str] = ..., attachments: _Optional[_Iterable[_Union[_common_pb2.Attachment, _Mapping]]] = ..., sources: _Optional[_Iterable[str]] = ..., confidence: _Optional[float] = ..., importance: _Optional[float] = ..., time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., scope: _Optional[_Union[_common_pb2.Scope, _Mapping]] = ..., metadata: _Optional[_Mapping[str, str]] = ..., piece_vectors: _Optional[_Iterable[_Union[_common_pb2.Vector, _Mapping]]] = ..., piece_tokens: _Optional[_Iterable[_Union[_common_pb2.TokenVectors, _Mapping]]] = ...) -> None: ...

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
    __slots__ = ("episode_id", "created", "deleted", "status")
    EPISODE_ID_FIELD_NUMBER: _ClassVar[int]
    CREATED_FIELD_NUMBER: _ClassVar[int]
    DELETED_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    episode_id: str
    created: bool
    deleted: bool
    status: _episodic_pb2.EpisodeStatus
    def __init__(self, episode_id: _Optional[str] = ..., created: _Optional[bool] = ..., deleted: _Optional[bool] = ..., status: _Optional[_Union[_episodic_pb2.EpisodeStatus, str]] = ...) -> None: ...

class StoreEpisodesResponse(_message.Message):
    __slots__ = ("results",)
    RESULTS_FIELD_NUMBER: _ClassVar[int]
    results: _containers.RepeatedCompositeFieldContainer[StoreEpisodeResult]
    def __init__(self, results: _Optional[_Iterable[_Union[StoreEpisodeResult, _Mapping]]] = ...) -> None: ...

class SearchCandidatesRequest(_message.Message):
    __slots__ = ("user_id", "query", "query_vector", "reader_scope", "retriever_limit", "neighbour_seeds", "neighbour_radius", "include_episode_ids", "query_tokens", "with_statistics", "archived_after_time", "times")
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    QUERY_FIELD_NUMBER: _ClassVar[int]
    QUERY_VECTOR_FIELD_NUMBER: _ClassVar[int]
    READER_SCOPE_FIELD_NUMBER: _ClassVar[int]
    RETRIEVER_LIMIT_FIELD_NUMBER: _ClassVar[int]
    NEIGHBOUR_SEEDS_FIELD_NUMBER: _ClassVar[int]
    NEIGHBOUR_RADIUS_FIELD_NUMBER: _ClassVar[int]
    INCLUDE_EPISODE_IDS_FIELD_NUMBER: _ClassVar[int]
    QUERY_TOKENS_FIELD_NUMBER: _ClassVar[int]
    WITH_STATISTICS_FIELD_NUMBER: _ClassVar[int]
    ARCHIVED_AFTER_TIME_FIELD_NUMBER: _ClassVar[int]
    TIMES_FIELD_NUMBER: _ClassVar[int]
    user_id: str
    query: str
    query_vector: _common_pb2.Vector
    reader_scope: _common_pb2.Scope
    retriever_limit: int
    neighbour_seeds: int
    neighbour_radius: int
    include_episode_ids: _containers.RepeatedScalarFieldContainer[str]
    query_tokens: _common_pb2.TokenVectors
    with_statistics: bool
    archived_after_time: _timestamp_pb2.Timestamp
    times: _containers.RepeatedCompositeFieldContainer[NamedTime]
    def __init__(self, user_id: _Optional[str] = ..., query: _Optional[str] = ..., query_vector: _Optional[_Union[_common_pb2.Vector, _Mapping]] = ..., reader_scope: _Optional[_Union[_common_pb2.Scope, _Mapping]] = ..., retriever_limit: _Optional[int] = ..., neighbour_seeds: _Optional[int] = ..., neighbour_radius: _Optional[int] = ..., include_episode_ids: _Optional[_Iterable[str]] = ..., query_tokens: _Optional[_Union[_common_pb2.TokenVectors, _Mapping]] = ..., with_statistics: _Optional[bool] = ..., archived_after_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., times: _Optional[_Iterable[_Union[NamedTime, _Mapping]]] = ...) -> None: ...

class NamedTime(_message.Message):
    __slots__ = ("start_time", "end_time")
    START_TIME_FIELD_NUMBER: _ClassVar[int]
    END_TIME_FIELD_NUMBER: _ClassVar[int]
    start_time: _timestamp_pb2.Timestamp
    end_time: _timestamp_pb2.Timestamp
    def __init__(self, start_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., end_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class SearchCandidatesResponse(_message.Message):
    __slots__ = ("episode_ids", "dense_scores", "lexical_scores", "dense_ranks", "lexical_ranks", "conversation_indexes", "positions", "speaker_indexes", "times", "lengths", "traits", "feedbacks", "importances", "conversation_ids", "speakers", "degraded", "active_count", "token_scores", "token_present", "token_frequencies", "reverse_scores", "sentence_scores", "access_counts", "last_access_times", "confidences", "decay_factors")
    EPISODE_IDS_FIELD_NUMBER: _ClassVar[int]
    DENSE_SCORES_FIELD_NUMBER: _ClassVar[int]
    LEXICAL_SCORES_FIELD_NUMBER: _ClassVar[int]
    DENSE_RANKS_FIELD_NUMBER: _ClassVar[int]
    LEXICAL_RANKS_FIELD_NUMBER: _ClassVar[int]
    CONVERSATION_INDEXES_FIELD_NUMBER: _ClassVar[int]
    POSITIONS_FIELD_NUMBER: _ClassVar[int]
    SPEAKER_INDEXES_FIELD_NUMBER: _ClassVar[int]
    TIMES_FIELD_NUMBER: _ClassVar[int]
    LENGTHS_FIELD_NUMBER: _ClassVar[int]
    TRAITS_FIELD_NUMBER: _ClassVar[int]
    FEEDBACKS_FIELD_NUMBER: _ClassVar[int]
    IMPORTANCES_FIELD_NUMBER: _ClassVar[int]
    CONVERSATION_IDS_FIELD_NUMBER: _ClassVar[int]
    SPEAKERS_FIELD_NUMBER: _ClassVar[int]
    DEGRADED_FIELD_NUMBER: _ClassVar[int]
    ACTIVE_COUNT_FIELD_NUMBER: _ClassVar[int]
    TOKEN_SCORES_FIELD_NUMBER: _ClassVar[int]
    TOKEN_PRESENT_FIELD_NUMBER: _ClassVar[int]
    TOKEN_FREQUENCIES_FIELD_NUMBER: _ClassVar[int]
    REVERSE_SCORES_FIELD_NUMBER: _ClassVar[int]
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
    conversation_indexes: _containers.RepeatedScalarFieldContainer[int]
    positions: _containers.RepeatedScalarFieldContainer[int]
    speaker_indexes: _containers.RepeatedScalarFieldContainer[int]
    times: _containers.RepeatedScalarFieldContainer[float]
    lengths: _containers.RepeatedScalarFieldContainer[int]
    traits: _containers.RepeatedScalarFieldContainer[int]
    feedbacks: _containers.RepeatedScalarFieldContainer[int]
    importances: _containers.RepeatedScalarFieldContainer[float]
    conversation_ids: _containers.RepeatedScalarFieldContainer[str]
    speakers: _containers.RepeatedScalarFieldContainer[str]
    degraded: bool
    active_count: int
    token_scores: bytes
    token_present: _containers.RepeatedScalarFieldContainer[bool]
    token_frequencies: _containers.RepeatedScalarFieldContainer[int]
    reverse_scores: _containers.RepeatedScalarFieldContainer[float]
    sentence_scores: bytes
    access_counts: _containers.RepeatedScalarFieldContainer[int]
    last_access_times: _containers.RepeatedScalarFieldContainer[float]
    confidences: _containers.RepeatedScalarFieldContainer[float]
    decay_factors: _containers.RepeatedScalarFieldContainer[float]
    def __init__(self, episode_ids: _Optional[bytes] = ..., dense_scores: _Optional[_Iterable[float]] = ..., lexical_scores: _Optional[_Iterable[float]] = ..., dense_ranks: _Optional[_Iterable[int]] = ..., lexical_ranks: _Optional[_Iterable[int]] = ..., conversation_indexes: _Optional[_Iterable[int]] = ..., positions: _Optional[_Iterable[int]] = ..., speaker_indexes: _Optional[_Iterable[int]] = ..., times: _Optional[_Iterable[float]] = ..., lengths: _Optional[_Iterable[int]] = ..., traits: _Optional[_Iterable[int]] = ..., feedbacks: _Optional[_Iterable[int]] = ..., importances: _Optional[_Iterable[float]] = ..., conversation_ids: _Optional[_Iterable[str]] = ..., speakers: _Optional[_Iterable[str]] = ..., degraded: _Optional[bool] = ..., active_count: _Optional[int] = ..., token_scores: _Optional[bytes] = ..., token_present: _Optional[_Iterable[bool]] = ..., token_frequencies: _Optional[_Iterable[int]] = ..., reverse_scores: _Optional[_Iterable[float]] = ..., sentence_scores: _Optional[bytes] = ..., access_counts: _Optional[_Iterable[int]] = ..., last_access_times: _Optional[_Iterable[float]] = ..., confidences: _Optional[_Iterable[float]] = ..., decay_factors: _Optional[_Iterable[float]] = ...) -> None: ...

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

class DeleteEpisodesRequest(_message.Message):
    __slots__ = ("request_id", "user_id", "episode_ids", "conversation_id", "all_of_user", "all_of_tenant")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    EPISODE_IDS_FIELD_NUMBER: _ClassVar[int]
    CONVERSATION_ID_FIELD_NUMBER: _ClassVar[int]
    ALL_OF_USER_FIELD_NUMBER: _ClassVar[int]
    ALL_OF_TENANT_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    user_id: str
    episode_ids: _containers.RepeatedScalarFieldContainer[str]
    conversation_id: str
    all_of_user: bool
    all_of_tenant: bool
    def __init__(self, request_id: _Optional[str] = ..., user_id: _Optional[str] = ..., episode_ids: _Optional[_Iterable[str]] = ..., conversation_id: _Optional[str] = ..., all_of_user: _Optional[bool] = ..., all_of_tenant: _Optional[bool] = ...) -> None: ...

class DeleteEpisodesResponse(_message.Message):
    __slots__ = ("deleted_count", "destroyed_data_keys")
    DELETED_COUNT_FIELD_NUMBER: _ClassVar[int]
    DESTROYED_DATA_KEYS_FIELD_NUMBER: _ClassVar[int]
    deleted_count: int
    destroyed_data_keys: int
    def __init__(self, deleted_count: _Optional[int] = ..., destroyed_data_keys: _Optional[int] = ...) -> None: ...

class CheckModelIndexRequest(_message.Message):
    __slots__ = ("model",)
    MODEL_FIELD_NUMBER: _ClassVar[int]
    model: str
    def __init__(self, model: _Optional[str] = ...) -> None: ...

class CheckModelIndexResponse(_message.Message):
    __slots__ = ("lacking_user_count",)
    LACKING_USER_COUNT_FIELD_NUMBER: _ClassVar[int]
    lacking_user_count: int
    def __init__(self, lacking_user_count: _Optional[int] = ...) -> None: ...
