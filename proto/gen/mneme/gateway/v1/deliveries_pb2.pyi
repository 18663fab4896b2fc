import datetime

from google.protobuf import duration_pb2 as _duration_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from mneme.errors.v1 import error_reason_pb2 as _error_reason_pb2
from mneme.gateway.v1 import tiers_pb2 as _tiers_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class GetBacklogRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class GetBacklogResponse(_message.Message):
    __slots__ = ("tiers",)
    TIERS_FIELD_NUMBER: _ClassVar[int]
    tiers: _containers.RepeatedCompositeFieldContainer[TierBacklog]
    def __init__(self, tiers: _Optional[_Iterable[_Union[TierBacklog, _Mapping]]] = ...) -> None: ...

class TierBacklog(_message.Message):
    __slots__ = ("tier", "pending_count", "dead_count", "oldest_age")
    TIER_FIELD_NUMBER: _ClassVar[int]
    PENDING_COUNT_FIELD_NUMBER: _ClassVar[int]
    DEAD_COUNT_FIELD_NUMBER: _ClassVar[int]
    OLDEST_AGE_FIELD_NUMBER: _ClassVar[int]
    tier: _tiers_pb2.Tier
    pending_count: int
    dead_count: int
    oldest_age: _duration_pb2.Duration
    def __init__(self, tier: _Optional[_Union[_tiers_pb2.Tier, str]] = ..., pending_count: _Optional[int] = ..., dead_count: _Optional[int] = ..., oldest_age: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ...) -> None: ...

class ListDeadLettersRequest(_message.Message):
    __slots__ = ("tier", "page_size", "page_token")
    TIER_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    tier: _tiers_pb2.Tier
    page_size: int
    page_token: str
    def __init__(self, tier: _Optional[_Union[_tiers_pb2.Tier, str]] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListDeadLettersResponse(_message.Message):
    __slots__ = ("dead_letters", "next_page_token")
    DEAD_LETTERS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    dead_letters: _containers.RepeatedCompositeFieldContainer[DeadLetter]
    next_page_token: str
    def __init__(self, dead_letters: _Optional[_Iterable[_Union[DeadLetter, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class DeadLetter(_message.Message):
    __slots__ = ("delivery_id", "tier", "subject_id", "user_id", "attempt_count", "reason", "detail", "give_up_time")
    DELIVERY_ID_FIELD_NUMBER: _ClassVar[int]
    TIER_FIELD_NUMBER: _ClassVar[int]
    SUBJECT_ID_FIELD_NUMBER: _ClassVar[int]
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    ATTEMPT_COUNT_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    DETAIL_FIELD_NUMBER: _ClassVar[int]
    GIVE_UP_TIME_FIELD_NUMBER: _ClassVar[int]
    delivery_id: str
    tier: _tiers_pb2.Tier
    subject_id: str
    user_id: str
    attempt_count: int
    reason: _error_reason_pb2.ErrorReason
    detail: str
    give_up_time: _timestamp_pb2.Timestamp
    def __init__(self, delivery_id: _Optional[str] = ..., tier: _Optional[_Union[_tiers_pb2.Tier, str]] = ..., subject_id: _Optional[str] = ..., user_id: _Optional[str] = ..., attempt_count: _Optional[int] = ..., reason: _Optional[_Union[_error_reason_pb2.ErrorReason, str]] = ..., detail: _Optional[str] = ..., give_up_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class RetryDeadLettersRequest(_message.Message):
    __slots__ = ("request_id", "delivery_ids")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    DELIVERY_IDS_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    delivery_ids: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, request_id: _Optional[str] = ..., delivery_ids: _Optional[_Iterable[str]] = ...) -> None: ...

class RetryDeadLettersResponse(_message.Message):
    __slots__ = ("retried_count",)
    RETRIED_COUNT_FIELD_NUMBER: _ClassVar[int]
    retried_count: int
    def __init__(self, retried_count: _Optional[int] = ...) -> None: ...
