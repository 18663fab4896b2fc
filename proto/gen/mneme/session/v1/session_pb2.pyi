import datetime

from google.protobuf import duration_pb2 as _duration_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from mneme.common.v1 import common_pb2 as _common_pb2
from mneme.semantic.v1 import supersessions_pb2 as _supersessions_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class SessionTurn(_message.Message):
    __slots__ = ("interaction_id", "position", "turn", "token_count", "scope", "superseded_by", "superseded_statements", "marks_missing")
    INTERACTION_ID_FIELD_NUMBER: _ClassVar[int]
    POSITION_FIELD_NUMBER: _ClassVar[int]
    TURN_FIELD_NUMBER: _ClassVar[int]
    TOKEN_COUNT_FIELD_NUMBER: _ClassVar[int]
    SCOPE_FIELD_NUMBER: _ClassVar[int]
    SUPERSEDED_BY_FIELD_NUMBER: _ClassVar[int]
    SUPERSEDED_STATEMENTS_FIELD_NUMBER: _ClassVar[int]
    MARKS_MISSING_FIELD_NUMBER: _ClassVar[int]
    interaction_id: str
    position: int
    turn: _common_pb2.Turn
    token_count: int
    scope: _common_pb2.Scope
    superseded_by: str
    superseded_statements: _containers.RepeatedCompositeFieldContainer[_supersessions_pb2.Supersession]
    marks_missing: bool
    def __init__(self, interaction_id: _Optional[str] = ..., position: _Optional[int] = ..., turn: _Optional[_Union[_common_pb2.Turn, _Mapping]] = ..., token_count: _Optional[int] = ..., scope: _Optional[_Union[_common_pb2.Scope, _Mapping]] = ..., superseded_by: _Optional[str] = ..., superseded_statements: _Optional[_Iterable[_Union[_supersessions_pb2.Supersession, _Mapping]]] = ..., marks_missing: _Optional[bool] = ...) -> None: ...

class Session(_message.Message):
    __slots__ = ("conversation_id", "user_id", "turns", "window_turns", "ttl", "create_time", "last_active_time", "expire_time", "turn_count")
    CONVERSATION_ID_FIELD_NUMBER: _ClassVar[int]
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    TURNS_FIELD_NUMBER: _ClassVar[int]
    WINDOW_TURNS_FIELD_NUMBER: _ClassVar[int]
    TTL_FIELD_NUMBER: _ClassVar[int]
    CREATE_TIME_FIELD_NUMBER: _ClassVar[int]
    LAST_ACTIVE_TIME_FIELD_NUMBER: _ClassVar[int]
    EXPIRE_TIME_FIELD_NUMBER: _ClassVar[int]
    TURN_COUNT_FIELD_NUMBER: _ClassVar[int]
    conversation_id: str
    user_id: str
    turns: _containers.RepeatedCompositeFieldContainer[SessionTurn]
    window_turns: int
    ttl: _duration_pb2.Duration
    create_time: _timestamp_pb2.Timestamp
    last_active_time: _timestamp_pb2.Timestamp
    expire_time: _timestamp_pb2.Timestamp
    turn_count: int
    def __init__(self, conversation_id: _Optional[str] = ..., user_id: _Optional[str] = ..., turns: _Optional[_Iterable[_Union[SessionTurn, _Mapping]]] = ..., window_turns: _Optional[int] = ..., ttl: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., create_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., last_active_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., expire_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., turn_count: _Optional[int] = ...) -> None: ...

class CreateSessionRequest(_message.Message):
    __slots__ = ("request_id", "user_id", "conversation_id", "window_turns", "ttl")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    CONVERSATION_ID_FIELD_NUMBER: _ClassVar[int]
    WINDOW_TURNS_FIELD_NUMBER: _ClassVar[int]
    TTL_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    user_id: str
    conversation_id: str
    window_turns: int
    ttl: _duration_pb2.Duration
    def __init__(self, request_id: _Optional[str] = ..., user_id: _Optional[str] = ..., conversation_id: _Optional[str] = ..., window_turns: _Optional[int] = ..., ttl: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ...) -> None: ...

class CreateSessionResponse(_message.Message):
    __slots__ = ("session", "degraded")
    SESSION_FIELD_NUMBER: _ClassVar[int]
    DEGRADED_FIELD_NUMBER: _ClassVar[int]
    session: Session
    degraded: bool
    def __init__(self, session: _Optional[_Union[Session, _Mapping]] = ..., degraded: _Optional[bool] = ...) -> None: ...

class GetSessionRequest(_message.Message):
    __slots__ = ("user_id", "conversation_id")
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    CONVERSATION_ID_FIELD_NUMBER: _ClassVar[int]
    user_id: str
    conversation_id: str
    def __init__(self, user_id: _Optional[str] = ..., conversation_id: _Optional[str] = ...) -> None: ...

class GetSessionResponse(_message.Message):
    __slots__ = ("session", "degraded", "rebuilt")
    SESSION_FIELD_NUMBER: _ClassVar[int]
    DEGRADED_FIELD_NUMBER: _ClassVar[int]
    REBUILT_FIELD_NUMBER: _ClassVar[int]
    session: Session
    degraded: bool
    rebuilt: bool
    def __init__(self, session: _Optional[_Union[Session, _Mapping]] = ..., degraded: _Optional[bool] = ..., rebuilt: _Optional[bool] = ...) -> None: ...

class ListSessionsRequest(_message.Message):
    __slots__ = ("user_id", "page_size", "page_token")
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    user_id: str
    page_size: int
    page_token: str
    def __init__(self, user_id: _Optional[str] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListSessionsResponse(_message.Message):
    __slots__ = ("sessions", "next_page_token", "degraded")
    SESSIONS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    DEGRADED_FIELD_NUMBER: _ClassVar[int]
    sessions: _containers.RepeatedCompositeFieldContainer[Session]
    next_page_token: str
    degraded: bool
    def __init__(self, sessions: _Optional[_Iterable[_Union[Session, _Mapping]]] = ..., next_page_token: _Optional[str] = ..., degraded: _Optional[bool] = ...) -> None: ...

class AppendTurnsRequest(_message.Message):
    __slots__ = ("request_id", "user_id", "conversation_id", "turns", "create_if_missing")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    CONVERSATION_ID_FIELD_NUMBER: _ClassVar[int]
    TURNS_FIELD_NUMBER: _ClassVar[int]
    CREATE_IF_MISSING_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    user_id: str
    conversation_id: str
    turns: _containers.RepeatedCompositeFieldContainer[SessionTurn]
    create_if_missing: bool
    def __init__(self, request_id: _Optional[str] = ..., user_id: _Optional[str] = ..., conversation_id: _Optional[str] = ..., turns: _Optional[_Iterable[_Union[SessionTurn, _Mapping]]] = ..., create_if_missing: _Optional[bool] = ...) -> None: ...

class AppendTurnsResponse(_message.Message):
    __slots__ = ("session", "appended_count", "created", "degraded")
    SESSION_FIELD_NUMBER: _ClassVar[int]
    APPENDED_COUNT_FIELD_NUMBER: _ClassVar[int]
    CREATED_FIELD_NUMBER: _ClassVar[int]
    DEGRADED_FIELD_NUMBER: _ClassVar[int]
    session: Session
    appended_count: int
    created: bool
    degraded: bool
    def __init__(self, session: _Optional[_Union[Session, _Mapping]] = ..., appended_count: _Optional[int] = ..., created: _Optional[bool] = ..., degraded: _Optional[bool] = ...) -> None: ...

class ExtendSessionRequest(_message.Message):
    __slots__ = ("request_id", "user_id", "conversation_id", "ttl")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    CONVERSATION_ID_FIELD_NUMBER: _ClassVar[int]
    TTL_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    user_id: str
    conversation_id: str
    ttl: _duration_pb2.Duration
    def __init__(self, request_id: _Optional[str] = ..., user_id: _Optional[str] = ..., conversation_id: _Optional[str] = ..., ttl: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ...) -> None: ...

class ExtendSessionResponse(_message.Message):
    __slots__ = ("session", "degraded")
    SESSION_FIELD_NUMBER: _ClassVar[int]
    DEGRADED_FIELD_NUMBER: _ClassVar[int]
    session: Session
    degraded: bool
    def __init__(self, session: _Optional[_Union[Session, _Mapping]] = ..., degraded: _Optional[bool] = ...) -> None: ...

class DeleteSessionRequest(_message.Message):
    __slots__ = ("request_id", "user_id", "conversation_id", "discard")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    CONVERSATION_ID_FIELD_NUMBER: _ClassVar[int]
    DISCARD_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    user_id: str
    conversation_id: str
    discard: bool
    def __init__(self, request_id: _Optional[str] = ..., user_id: _Optional[str] = ..., conversation_id: _Optional[str] = ..., discard: _Optional[bool] = ...) -> None: ...

class DeleteSessionResponse(_message.Message):
    __slots__ = ("session", "degraded")
    SESSION_FIELD_NUMBER: _ClassVar[int]
    DEGRADED_FIELD_NUMBER: _ClassVar[int]
    session: Session
    degraded: bool
    def __init__(self, session: _Optional[_Union[Session, _Mapping]] = ..., degraded: _Optional[bool] = ...) -> None: ...
