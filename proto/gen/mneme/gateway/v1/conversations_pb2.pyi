import datetime

from google.protobuf import timestamp_pb2 as _timestamp_pb2
from mneme.common.v1 import common_pb2 as _common_pb2
from mneme.gateway.v1 import gate_pb2 as _gate_pb2
from mneme.semantic.v1 import supersessions_pb2 as _supersessions_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Conversation(_message.Message):
    __slots__ = ("conversation_id", "user_id", "interaction_count", "create_time", "update_time")
    CONVERSATION_ID_FIELD_NUMBER: _ClassVar[int]
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    INTERACTION_COUNT_FIELD_NUMBER: _ClassVar[int]
    CREATE_TIME_FIELD_NUMBER: _ClassVar[int]
    UPDATE_TIME_FIELD_NUMBER: _ClassVar[int]
    conversation_id: str
    user_id: str
    interaction_count: int
    create_time: _timestamp_pb2.Timestamp
    update_time: _timestamp_pb2.Timestamp
    def __init__(self, conversation_id: _Optional[str] = ..., user_id: _Optional[str] = ..., interaction_count: _Optional[int] = ..., create_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., update_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class ListConversationsRequest(_message.Message):
    __slots__ = ("user_id", "page_size", "page_token")
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    user_id: str
    page_size: int
    page_token: str
    def __init__(self, user_id: _Optional[str] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListConversationsResponse(_message.Message):
    __slots__ = ("conversations", "next_page_token")
    CONVERSATIONS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    conversations: _containers.RepeatedCompositeFieldContainer[Conversation]
    next_page_token: str
    def __init__(self, conversations: _Optional[_Iterable[_Union[Conversation, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class Interaction(_message.Message):
    __slots__ = ("interaction_id", "conversation_id", "position", "turn", "scope", "create_time", "verdict", "superseded_by", "superseded_statements", "marks_missing")
    INTERACTION_ID_FIELD_NUMBER: _ClassVar[int]
    CONVERSATION_ID_FIELD_NUMBER: _ClassVar[int]
    POSITION_FIELD_NUMBER: _ClassVar[int]
    TURN_FIELD_NUMBER: _ClassVar[int]
    SCOPE_FIELD_NUMBER: _ClassVar[int]
    CREATE_TIME_FIELD_NUMBER: _ClassVar[int]
    VERDICT_FIELD_NUMBER: _ClassVar[int]
    SUPERSEDED_BY_FIELD_NUMBER: _ClassVar[int]
    SUPERSEDED_STATEMENTS_FIELD_NUMBER: _ClassVar[int]
    MARKS_MISSING_FIELD_NUMBER: _ClassVar[int]
    interaction_id: str
    conversation_id: str
    position: int
    turn: _common_pb2.Turn
    scope: _common_pb2.Scope
    create_time: _timestamp_pb2.Timestamp
    verdict: _gate_pb2.GateVerdict
    superseded_by: str
    superseded_statements: _containers.RepeatedCompositeFieldContainer[_supersessions_pb2.Supersession]
    marks_missing: bool
    def __init__(self, interaction_id: _Optional[str] = ..., conversation_id: _Optional[str] = ..., position: _Optional[int] = ..., turn: _Optional[_Union[_common_pb2.Turn, _Mapping]] = ..., scope: _Optional[_Union[_common_pb2.Scope, _Mapping]] = ..., create_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., verdict: _Optional[_Union[_gate_pb2.GateVerdict, _Mapping]] = ..., superseded_by: _Optional[str] = ..., superseded_statements: _Optional[_Iterable[_Union[_supersessions_pb2.Supersession, _Mapping]]] = ..., marks_missing: _Optional[bool] = ...) -> None: ...

class ListInteractionsRequest(_message.Message):
    __slots__ = ("user_id", "conversation_id", "page_size", "page_token")
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    CONVERSATION_ID_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    user_id: str
    conversation_id: str
    page_size: int
    page_token: str
    def __init__(self, user_id: _Optional[str] = ..., conversation_id: _Optional[str] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListInteractionsResponse(_message.Message):
    __slots__ = ("interactions", "next_page_token")
    INTERACTIONS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    interactions: _containers.RepeatedCompositeFieldContainer[Interaction]
    next_page_token: str
    def __init__(self, interactions: _Optional[_Iterable[_Union[Interaction, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...
