import datetime

from google.protobuf import duration_pb2 as _duration_pb2
from google.protobuf import field_mask_pb2 as _field_mask_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from mneme.common.v1 import common_pb2 as _common_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Preferences(_message.Message):
    __slots__ = ("response_format", "detail_level", "citation_style", "language", "preferred_sources", "excluded_sources", "other")
    class OtherEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    RESPONSE_FORMAT_FIELD_NUMBER: _ClassVar[int]
    DETAIL_LEVEL_FIELD_NUMBER: _ClassVar[int]
    CITATION_STYLE_FIELD_NUMBER: _ClassVar[int]
    LANGUAGE_FIELD_NUMBER: _ClassVar[int]
    PREFERRED_SOURCES_FIELD_NUMBER: _ClassVar[int]
    EXCLUDED_SOURCES_FIELD_NUMBER: _ClassVar[int]
    OTHER_FIELD_NUMBER: _ClassVar[int]
    response_format: str
    detail_level: str
    citation_style: str
    language: str
    preferred_sources: _containers.RepeatedScalarFieldContainer[str]
    excluded_sources: _containers.RepeatedScalarFieldContainer[str]
    other: _containers.ScalarMap[str, str]
    def __init__(self, response_format: _Optional[str] = ..., detail_level: _Optional[str] = ..., citation_style: _Optional[str] = ..., language: _Optional[str] = ..., preferred_sources: _Optional[_Iterable[str]] = ..., excluded_sources: _Optional[_Iterable[str]] = ..., other: _Optional[_Mapping[str, str]] = ...) -> None: ...

class ProfileStatistics(_message.Message):
    __slots__ = ("user_turn_count", "assistant_turn_count", "conversation_count", "question_count", "mean_confidence", "peak_hours", "first_interaction_time", "last_interaction_time", "good_feedback_count", "bad_feedback_count", "mean_session_turns", "mean_session_length", "topics", "query_types")
    USER_TURN_COUNT_FIELD_NUMBER: _ClassVar[int]
    ASSISTANT_TURN_COUNT_FIELD_NUMBER: _ClassVar[int]
    CONVERSATION_COUNT_FIELD_NUMBER: _ClassVar[int]
    QUESTION_COUNT_FIELD_NUMBER: _ClassVar[int]
    MEAN_CONFIDENCE_FIELD_NUMBER: _ClassVar[int]
    PEAK_HOURS_FIELD_NUMBER: _ClassVar[int]
    FIRST_INTERACTION_TIME_FIELD_NUMBER: _ClassVar[int]
    LAST_INTERACTION_TIME_FIELD_NUMBER: _ClassVar[int]
    GOOD_FEEDBACK_COUNT_FIELD_NUMBER: _ClassVar[int]
    BAD_FEEDBACK_COUNT_FIELD_NUMBER: _ClassVar[int]
    MEAN_SESSION_TURNS_FIELD_NUMBER: _ClassVar[int]
    MEAN_SESSION_LENGTH_FIELD_NUMBER: _ClassVar[int]
    TOPICS_FIELD_NUMBER: _ClassVar[int]
    QUERY_TYPES_FIELD_NUMBER: _ClassVar[int]
    user_turn_count: int
    assistant_turn_count: int
    conversation_count: int
    question_count: int
    mean_confidence: float
    peak_hours: _containers.RepeatedScalarFieldContainer[int]
    first_interaction_time: _timestamp_pb2.Timestamp
    last_interaction_time: _timestamp_pb2.Timestamp
    good_feedback_count: int
    bad_feedback_count: int
    mean_session_turns: float
    mean_session_length: _duration_pb2.Duration
    topics: _containers.RepeatedCompositeFieldContainer[ProfileCount]
    query_types: _containers.RepeatedCompositeFieldContainer[ProfileCount]
    def __init__(self, user_turn_count: _Optional[int] = ..., assistant_turn_count: _Optional[int] = ..., conversation_count: _Optional[int] = ..., question_count: _Optional[int] = ..., mean_confidence: _Optional[float] = ..., peak_hours: _Optional[_Iterable[int]] = ..., first_interaction_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., last_interaction_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., good_feedback_count: _Optional[int] = ..., bad_feedback_count: _Optional[int] = ..., mean_session_turns: _Optional[float] = ..., mean_session_length: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., topics: _Optional[_Iterable[_Union[ProfileCount, _Mapping]]] = ..., query_types: _Optional[_Iterable[_Union[ProfileCount, _Mapping]]] = ...) -> None: ...

class ProfileCount(_message.Message):
    __slots__ = ("name", "count")
    NAME_FIELD_NUMBER: _ClassVar[int]
    COUNT_FIELD_NUMBER: _ClassVar[int]
    name: str
    count: int
    def __init__(self, name: _Optional[str] = ..., count: _Optional[int] = ...) -> None: ...

class Profile(_message.Message):
    __slots__ = ("user_id", "preferences", "statistics", "etag", "update_time", "learned_preferences", "fact_confidence_min")
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    PREFERENCES_FIELD_NUMBER: _ClassVar[int]
    STATISTICS_FIELD_NUMBER: _ClassVar[int]
    ETAG_FIELD_NUMBER: _ClassVar[int]
    UPDATE_TIME_FIELD_NUMBER: _ClassVar[int]
    LEARNED_PREFERENCES_FIELD_NUMBER: _ClassVar[int]
    FACT_CONFIDENCE_MIN_FIELD_NUMBER: _ClassVar[int]
    user_id: str
    preferences: Preferences
    statistics: ProfileStatistics
    etag: str
    update_time: _timestamp_pb2.Timestamp
    learned_preferences: Preferences
    fact_confidence_min: float
    def __init__(self, user_id: _Optional[str] = ..., preferences: _Optional[_Union[Preferences, _Mapping]] = ..., statistics: _Optional[_Union[ProfileStatistics, _Mapping]] = ..., etag: _Optional[str] = ..., update_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., learned_preferences: _Optional[_Union[Preferences, _Mapping]] = ..., fact_confidence_min: _Optional[float] = ...) -> None: ...

class GetProfileRequest(_message.Message):
    __slots__ = ("user_id", "reader_scope")
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    READER_SCOPE_FIELD_NUMBER: _ClassVar[int]
    user_id: str
    reader_scope: _common_pb2.Scope
    def __init__(self, user_id: _Optional[str] = ..., reader_scope: _Optional[_Union[_common_pb2.Scope, _Mapping]] = ...) -> None: ...

class GetProfileResponse(_message.Message):
    __slots__ = ("profile",)
    PROFILE_FIELD_NUMBER: _ClassVar[int]
    profile: Profile
    def __init__(self, profile: _Optional[_Union[Profile, _Mapping]] = ...) -> None: ...

class UpdateProfileRequest(_message.Message):
    __slots__ = ("request_id", "user_id", "preferences", "update_mask", "etag")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    PREFERENCES_FIELD_NUMBER: _ClassVar[int]
    UPDATE_MASK_FIELD_NUMBER: _ClassVar[int]
    ETAG_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    user_id: str
    preferences: Preferences
    update_mask: _field_mask_pb2.FieldMask
    etag: str
    def __init__(self, request_id: _Optional[str] = ..., user_id: _Optional[str] = ..., preferences: _Optional[_Union[Preferences, _Mapping]] = ..., update_mask: _Optional[_Union[_field_mask_pb2.FieldMask, _Mapping]] = ..., etag: _Optional[str] = ...) -> None: ...

class UpdateProfileResponse(_message.Message):
    __slots__ = ("profile",)
    PROFILE_FIELD_NUMBER: _ClassVar[int]
    profile: Profile
    def __init__(self, profile: _Optional[_Union[Profile, _Mapping]] = ...) -> None: ...

class DeleteProfileRequest(_message.Message):
    __slots__ = ("request_id", "user_id", "etag")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    ETAG_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    user_id: str
    etag: str
    def __init__(self, request_id: _Optional[str] = ..., user_id: _Optional[str] = ..., etag: _Optional[str] = ...) -> None: ...

class DeleteProfileResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...
