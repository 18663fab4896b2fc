from mneme.common.v1 import common_pb2 as _common_pb2
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class SourceInteraction(_message.Message):
    __slots__ = ("interaction_id", "user_id", "conversation_id", "position", "turn", "scope")
    INTERACTION_ID_FIELD_NUMBER: _ClassVar[int]
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    CONVERSATION_ID_FIELD_NUMBER: _ClassVar[int]
    POSITION_FIELD_NUMBER: _ClassVar[int]
    TURN_FIELD_NUMBER: _ClassVar[int]
    SCOPE_FIELD_NUMBER: _ClassVar[int]
    interaction_id: str
    user_id: str
    conversation_id: str
    position: int
    turn: _common_pb2.Turn
    scope: _common_pb2.Scope
    def __init__(self, interaction_id: _Optional[str] = ..., user_id: _Optional[str] = ..., conversation_id: _Optional[str] = ..., position: _Optional[int] = ..., turn: _Optional[_Union[_common_pb2.Turn, _Mapping]] = ..., scope: _Optional[_Union[_common_pb2.Scope, _Mapping]] = ...) -> None: ...
