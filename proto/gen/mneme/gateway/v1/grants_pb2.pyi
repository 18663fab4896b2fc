import datetime

from google.protobuf import timestamp_pb2 as _timestamp_pb2
from mneme.common.v1 import common_pb2 as _common_pb2
from mneme.gateway.v1 import tiers_pb2 as _tiers_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Grant(_message.Message):
    __slots__ = ("grant_id", "user_id", "from_scope", "to_scope", "kinds", "create_time", "expire_time", "principal_id")
    GRANT_ID_FIELD_NUMBER: _ClassVar[int]
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    FROM_SCOPE_FIELD_NUMBER: _ClassVar[int]
    TO_SCOPE_FIELD_NUMBER: _ClassVar[int]
    KINDS_FIELD_NUMBER: _ClassVar[int]
    CREATE_TIME_FIELD_NUMBER: _ClassVar[int]
    EXPIRE_TIME_FIELD_NUMBER: _ClassVar[int]
    PRINCIPAL_ID_FIELD_NUMBER: _ClassVar[int]
    grant_id: str
    user_id: str
    from_scope: _common_pb2.Scope
    to_scope: _common_pb2.Scope
    kinds: _containers.RepeatedScalarFieldContainer[_tiers_pb2.MemoryKind]
    create_time: _timestamp_pb2.Timestamp
    expire_time: _timestamp_pb2.Timestamp
    principal_id: str
    def __init__(self, grant_id: _Optional[str] = ..., user_id: _Optional[str] = ..., from_scope: _Optional[_Union[_common_pb2.Scope, _Mapping]] = ..., to_scope: _Optional[_Union[_common_pb2.Scope, _Mapping]] = ..., kinds: _Optional[_Iterable[_Union[_tiers_pb2.MemoryKind, str]]] = ..., create_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., expire_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., principal_id: _Optional[str] = ...) -> None: ...

class CreateGrantRequest(_message.Message):
    __slots__ = ("request_id", "user_id", "from_scope", "to_scope", "kinds", "expire_time")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    FROM_SCOPE_FIELD_NUMBER: _ClassVar[int]
    TO_SCOPE_FIELD_NUMBER: _ClassVar[int]
    KINDS_FIELD_NUMBER: _ClassVar[int]
    EXPIRE_TIME_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    user_id: str
    from_scope: _common_pb2.Scope
    to_scope: _common_pb2.Scope
    kinds: _containers.RepeatedScalarFieldContainer[_tiers_pb2.MemoryKind]
    expire_time: _timestamp_pb2.Timestamp
    def __init__(self, request_id: _Optional[str] = ..., user_id: _Optional[str] = ..., from_scope: _Optional[_Union[_common_pb2.Scope, _Mapping]] = ..., to_scope: _Optional[_Union[_common_pb2.Scope, _Mapping]] = ..., kinds: _Optional[_Iterable[_Union[_tiers_pb2.MemoryKind, str]]] = ..., expire_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class CreateGrantResponse(_message.Message):
    __slots__ = ("grant", "replayed")
    GRANT_FIELD_NUMBER: _ClassVar[int]
    REPLAYED_FIELD_NUMBER: _ClassVar[int]
    grant: Grant
    replayed: bool
    def __init__(self, grant: _Optional[_Union[Grant, _Mapping]] = ..., replayed: _Optional[bool] = ...) -> None: ...

class ListGrantsRequest(_message.Message):
    __slots__ = ("user_id", "page_size", "page_token")
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    user_id: str
    page_size: int
    page_token: str
    def __init__(self, user_id: _Optional[str] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListGrantsResponse(_message.Message):
    __slots__ = ("grants", "next_page_token")
    GRANTS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    grants: _containers.RepeatedCompositeFieldContainer[Grant]
    next_page_token: str
    def __init__(self, grants: _Optional[_Iterable[_Union[Grant, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class RevokeGrantRequest(_message.Message):
    __slots__ = ("request_id", "user_id", "grant_id")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    GRANT_ID_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    user_id: str
    grant_id: str
    def __init__(self, request_id: _Optional[str] = ..., user_id: _Optional[str] = ..., grant_id: _Optional[str] = ...) -> None: ...

class RevokeGrantResponse(_message.Message):
    __slots__ = ("replayed",)
    REPLAYED_FIELD_NUMBER: _ClassVar[int]
    replayed: bool
    def __init__(self, replayed: _Optional[bool] = ...) -> None: ...
