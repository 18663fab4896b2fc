from mneme.common.v1 import common_pb2 as _common_pb2
from mneme.episodic.v1 import activity_pb2 as _activity_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class AppendActivityRequest(_message.Message):
    __slots__ = ("user_id", "records")
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    RECORDS_FIELD_NUMBER: _ClassVar[int]
    user_id: str
    records: _containers.RepeatedCompositeFieldContainer[_activity_pb2.ActivityRecord]
    def __init__(self, user_id: _Optional[str] = ..., records: _Optional[_Iterable[_Union[_activity_pb2.ActivityRecord, _Mapping]]] = ...) -> None: ...

class AppendActivityResponse(_message.Message):
    __slots__ = ("stored_count", "known_count")
    STORED_COUNT_FIELD_NUMBER: _ClassVar[int]
    KNOWN_COUNT_FIELD_NUMBER: _ClassVar[int]
    stored_count: int
    known_count: int
    def __init__(self, stored_count: _Optional[int] = ..., known_count: _Optional[int] = ...) -> None: ...

class RemoveActivityRequest(_message.Message):
    __slots__ = ("user_id", "conversation_id", "scope", "with_nested", "all_of_user", "all_of_tenant")
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    CONVERSATION_ID_FIELD_NUMBER: _ClassVar[int]
    SCOPE_FIELD_NUMBER: _ClassVar[int]
    WITH_NESTED_FIELD_NUMBER: _ClassVar[int]
    ALL_OF_USER_FIELD_NUMBER: _ClassVar[int]
    ALL_OF_TENANT_FIELD_NUMBER: _ClassVar[int]
    user_id: str
    conversation_id: str
    scope: _common_pb2.Scope
    with_nested: bool
    all_of_user: bool
    all_of_tenant: bool
    def __init__(self, user_id: _Optional[str] = ..., conversation_id: _Optional[str] = ..., scope: _Optional[_Union[_common_pb2.Scope, _Mapping]] = ..., with_nested: _Optional[bool] = ..., all_of_user: _Optional[bool] = ..., all_of_tenant: _Optional[bool] = ...) -> None: ...

class RemoveActivityResponse(_message.Message):
    __slots__ = ("removed_count",)
    REMOVED_COUNT_FIELD_NUMBER: _ClassVar[int]
    removed_count: int
    def __init__(self, removed_count: _Optional[int] = ...) -> None: ...

class ListOwnerPatternsRequest(_message.Message):
    __slots__ = ("user_id",)
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    user_id: str
    def __init__(self, user_id: _Optional[str] = ...) -> None: ...

class ListOwnerPatternsResponse(_message.Message):
    __slots__ = ("patterns",)
    PATTERNS_FIELD_NUMBER: _ClassVar[int]
    patterns: _containers.RepeatedCompositeFieldContainer[_activity_pb2.ActivityPattern]
    def __init__(self, patterns: _Optional[_Iterable[_Union[_activity_pb2.ActivityPattern, _Mapping]]] = ...) -> None: ...
