from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable
from typing import ClassVar as _ClassVar, Optional as _Optional

DESCRIPTOR: _descriptor.FileDescriptor

class ReadUserRecordsRequest(_message.Message):
    __slots__ = ("user_id", "page_token", "memories_only", "page_size")
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    MEMORIES_ONLY_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    user_id: str
    page_token: str
    memories_only: bool
    page_size: int
    def __init__(self, user_id: _Optional[str] = ..., page_token: _Optional[str] = ..., memories_only: _Optional[bool] = ..., page_size: _Optional[int] = ...) -> None: ...

class ReadUserRecordsResponse(_message.Message):
    __slots__ = ("lines", "next_page_token")
    LINES_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    lines: _containers.RepeatedScalarFieldContainer[str]
    next_page_token: str
    def __init__(self, lines: _Optional[_Iterable[str]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class WriteUserRecordsRequest(_message.Message):
    __slots__ = ("user_id", "lines", "validate_only")
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    LINES_FIELD_NUMBER: _ClassVar[int]
    VALIDATE_ONLY_FIELD_NUMBER: _ClassVar[int]
    user_id: str
    lines: _containers.RepeatedScalarFieldContainer[str]
    validate_only: bool
    def __init__(self, user_id: _Optional[str] = ..., lines: _Optional[_Iterable[str]] = ..., validate_only: _Optional[bool] = ...) -> None: ...

class WriteUserRecordsResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...
