import datetime

from google.protobuf import duration_pb2 as _duration_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from mneme.common.v1 import common_pb2 as _common_pb2
from mneme.session.v1 import session_pb2 as _session_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class IngestTurnsRequest(_message.Message):
    __slots__ = ("user_id", "conversation_id", "turns", "window_turns", "ttl", "create_time", "earlier_turn_count")
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    CONVERSATION_ID_FIELD_NUMBER: _ClassVar[int]
    TURNS_FIELD_NUMBER: _ClassVar[int]
    WINDOW_TURNS_FIELD_NUMBER: _ClassVar[int]
    TTL_FIELD_NUMBER: _ClassVar[int]
    CREATE_TIME_FIELD_NUMBER: _ClassVar[int]
    EARLIER_TURN_COUNT_FIELD_NUMBER: _ClassVar[int]
    user_id: str
    conversation_id: str
    turns: _containers.RepeatedCompositeFieldContainer[_session_pb2.SessionTurn]
    window_turns: int
    ttl: _duration_pb2.Duration
    create_time: _timestamp_pb2.Timestamp
    earlier_turn_count: int
    def __init__(self, user_id: _Optional[str] = ..., conversation_id: _Optional[str] = ..., turns: _Optional[_Iterable[_Union[_session_pb2.SessionTurn, _Mapping]]] = ..., window_turns: _Optional[int] = ..., ttl: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., create_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., earlier_turn_count: _Optional[int] = ...) -> None: ...

class IngestTurnsResponse(_message.Message):
    __slots__ = ("session", "appended_count", "created", "degraded")
    SESSION_FIELD_NUMBER: _ClassVar[int]
    APPENDED_COUNT_FIELD_NUMBER: _ClassVar[int]
    CREATED_FIELD_NUMBER: _ClassVar[int]
    DEGRADED_FIELD_NUMBER: _ClassVar[int]
    session: _session_pb2.Session
    appended_count: int
    created: bool
    degraded: bool
    def __init__(self, session: _Optional[_Union[_session_pb2.Session, _Mapping]] = ..., appended_count: _Optional[int] = ..., created: _Optional[bool] = ..., degraded: _Optional[bool] = ...) -> None: ...

class SessionSettings(_message.Message):
    __slots__ = ("window_turns", "ttl", "set_time", "session_create_time")
    WINDOW_TURNS_FIELD_NUMBER: _ClassVar[int]
    TTL_FIELD_NUMBER: _ClassVar[int]
    SET_TIME_FIELD_NUMBER: _ClassVar[int]
    SESSION_CREATE_TIME_FIELD_NUMBER: _ClassVar[int]
    window_turns: int
    ttl: _duration_pb2.Duration
    set_time: _timestamp_pb2.Timestamp
    session_create_time: _timestamp_pb2.Timestamp
    def __init__(self, window_turns: _Optional[int] = ..., ttl: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., set_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., session_create_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class SessionDeletion(_message.Message):
    __slots__ = ("session_create_time",)
    SESSION_CREATE_TIME_FIELD_NUMBER: _ClassVar[int]
    session_create_time: _timestamp_pb2.Timestamp
    def __init__(self, session_create_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class LogEvent(_message.Message):
    __slots__ = ("event_id", "tenant_id", "user_id", "conversation_id", "turn", "settings", "deletion")
    EVENT_ID_FIELD_NUMBER: _ClassVar[int]
    TENANT_ID_FIELD_NUMBER: _ClassVar[int]
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    CONVERSATION_ID_FIELD_NUMBER: _ClassVar[int]
    TURN_FIELD_NUMBER: _ClassVar[int]
    SETTINGS_FIELD_NUMBER: _ClassVar[int]
    DELETION_FIELD_NUMBER: _ClassVar[int]
    event_id: str
    tenant_id: str
    user_id: str
    conversation_id: str
    turn: _session_pb2.SessionTurn
    settings: SessionSettings
    deletion: SessionDeletion
    def __init__(self, event_id: _Optional[str] = ..., tenant_id: _Optional[str] = ..., user_id: _Optional[str] = ..., conversation_id: _Optional[str] = ..., turn: _Optional[_Union[_session_pb2.SessionTurn, _Mapping]] = ..., settings: _Optional[_Union[SessionSettings, _Mapping]] = ..., deletion: _Optional[_Union[SessionDeletion, _Mapping]] = ...) -> None: ...

class ListLogEventsRequest(_message.Message):
    __slots__ = ("limit", "user_id")
    LIMIT_FIELD_NUMBER: _ClassVar[int]
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    limit: int
    user_id: str
    def __init__(self, limit: _Optional[int] = ..., user_id: _Optional[str] = ...) -> None: ...

class ListLogEventsResponse(_message.Message):
    __slots__ = ("events", "defaults")
    EVENTS_FIELD_NUMBER: _ClassVar[int]
    DEFAULTS_FIELD_NUMBER: _ClassVar[int]
    events: _containers.RepeatedCompositeFieldContainer[LogEvent]
    defaults: SessionSettings
    def __init__(self, events: _Optional[_Iterable[_Union[LogEvent, _Mapping]]] = ..., defaults: _Optional[_Union[SessionSettings, _Mapping]] = ...) -> None: ...

class AcknowledgeLogEventsRequest(_message.Message):
    __slots__ = ("user_id", "event_ids")
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    EVENT_IDS_FIELD_NUMBER: _ClassVar[int]
    user_id: str
    event_ids: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, user_id: _Optional[str] = ..., event_ids: _Optional[_Iterable[str]] = ...) -> None: ...

class AcknowledgeLogEventsResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class RemoveSessionsRequest(_message.Message):
    __slots__ = ("user_id", "conversation_id", "whole_tenant", "scope", "with_nested")
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    CONVERSATION_ID_FIELD_NUMBER: _ClassVar[int]
    WHOLE_TENANT_FIELD_NUMBER: _ClassVar[int]
    SCOPE_FIELD_NUMBER: _ClassVar[int]
    WITH_NESTED_FIELD_NUMBER: _ClassVar[int]
    user_id: str
    conversation_id: str
    whole_tenant: bool
    scope: _common_pb2.Scope
    with_nested: bool
    def __init__(self, user_id: _Optional[str] = ..., conversation_id: _Optional[str] = ..., whole_tenant: _Optional[bool] = ..., scope: _Optional[_Union[_common_pb2.Scope, _Mapping]] = ..., with_nested: _Optional[bool] = ...) -> None: ...

class RemoveSessionsResponse(_message.Message):
    __slots__ = ("removed_sessions", "removed_context_items")
    REMOVED_SESSIONS_FIELD_NUMBER: _ClassVar[int]
    REMOVED_CONTEXT_ITEMS_FIELD_NUMBER: _ClassVar[int]
    removed_sessions: int
    removed_context_items: int
    def __init__(self, removed_sessions: _Optional[int] = ..., removed_context_items: _Optional[int] = ...) -> None: ...
