import datetime

from google.protobuf import timestamp_pb2 as _timestamp_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class MessageRole(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    MESSAGE_ROLE_UNSPECIFIED: _ClassVar[MessageRole]
    MESSAGE_ROLE_USER: _ClassVar[MessageRole]
    MESSAGE_ROLE_ASSISTANT: _ClassVar[MessageRole]
    MESSAGE_ROLE_SYSTEM: _ClassVar[MessageRole]
    MESSAGE_ROLE_TOOL: _ClassVar[MessageRole]

class ScopeLevel(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    SCOPE_LEVEL_UNSPECIFIED: _ClassVar[ScopeLevel]
    SCOPE_LEVEL_GLOBAL: _ClassVar[ScopeLevel]
    SCOPE_LEVEL_PROJECT: _ClassVar[ScopeLevel]
    SCOPE_LEVEL_SESSION: _ClassVar[ScopeLevel]
    SCOPE_LEVEL_TASK: _ClassVar[ScopeLevel]
MESSAGE_ROLE_UNSPECIFIED: MessageRole
MESSAGE_ROLE_USER: MessageRole
MESSAGE_ROLE_ASSISTANT: MessageRole
MESSAGE_ROLE_SYSTEM: MessageRole
MESSAGE_ROLE_TOOL: MessageRole
SCOPE_LEVEL_UNSPECIFIED: ScopeLevel
SCOPE_LEVEL_GLOBAL: ScopeLevel
SCOPE_LEVEL_PROJECT: ScopeLevel
SCOPE_LEVEL_SESSION: ScopeLevel
SCOPE_LEVEL_TASK: ScopeLevel

class Scope(_message.Message):
    __slots__ = ("level", "project_id", "session_id", "task_id", "context_id")
    LEVEL_FIELD_NUMBER: _ClassVar[int]
    PROJECT_ID_FIELD_NUMBER: _ClassVar[int]
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    TASK_ID_FIELD_NUMBER: _ClassVar[int]
    CONTEXT_ID_FIELD_NUMBER: _ClassVar[int]
    level: ScopeLevel
    project_id: str
    session_id: str
    task_id: str
    context_id: str
    def __init__(self, level: _Optional[_Union[ScopeLevel, str]] = ..., project_id: _Optional[str] = ..., session_id: _Optional[str] = ..., task_id: _Optional[str] = ..., context_id: _Optional[str] = ...) -> None: ...

class Vector(_message.Message):
    __slots__ = ("model", "values")
    MODEL_FIELD_NUMBER: _ClassVar[int]
    VALUES_FIELD_NUMBER: _ClassVar[int]
    model: str
    values: _containers.RepeatedScalarFieldContainer[float]
    def __init__(self, model: _Optional[str] = ..., values: _Optional[_Iterable[float]] = ...) -> None: ...

class TokenVectors(_message.Message):
    __slots__ = ("model", "dimension", "token_ids", "vectors")
    MODEL_FIELD_NUMBER: _ClassVar[int]
    DIMENSION_FIELD_NUMBER: _ClassVar[int]
    TOKEN_IDS_FIELD_NUMBER: _ClassVar[int]
    VECTORS_FIELD_NUMBER: _ClassVar[int]
    model: str
    dimension: int
    token_ids: bytes
    vectors: bytes
    def __init__(self, model: _Optional[str] = ..., dimension: _Optional[int] = ..., token_ids: _Optional[bytes] = ..., vectors: _Optional[bytes] = ...) -> None: ...

class Attachment(_message.Message):
    __slots__ = ("uri", "mime_type", "caption")
    URI_FIELD_NUMBER: _ClassVar[int]
    MIME_TYPE_FIELD_NUMBER: _ClassVar[int]
    CAPTION_FIELD_NUMBER: _ClassVar[int]
    uri: str
    mime_type: str
    caption: str
    def __init__(self, uri: _Optional[str] = ..., mime_type: _Optional[str] = ..., caption: _Optional[str] = ...) -> None: ...

class Turn(_message.Message):
    __slots__ = ("role", "speaker", "content", "time", "attachments", "confidence", "sources", "metadata", "importance")
    class MetadataEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    ROLE_FIELD_NUMBER: _ClassVar[int]
    SPEAKER_FIELD_NUMBER: _ClassVar[int]
    CONTENT_FIELD_NUMBER: _ClassVar[int]
    TIME_FIELD_NUMBER: _ClassVar[int]
    ATTACHMENTS_FIELD_NUMBER: _ClassVar[int]
    CONFIDENCE_FIELD_NUMBER: _ClassVar[int]
    SOURCES_FIELD_NUMBER: _ClassVar[int]
    METADATA_FIELD_NUMBER: _ClassVar[int]
    IMPORTANCE_FIELD_NUMBER: _ClassVar[int]
    role: MessageRole
    speaker: str
    content: str
    time: _timestamp_pb2.Timestamp
    attachments: _containers.RepeatedCompositeFieldContainer[Attachment]
    confidence: float
    sources: _containers.RepeatedScalarFieldContainer[str]
    metadata: _containers.ScalarMap[str, str]
    importance: float
    def __init__(self, role: _Optional[_Union[MessageRole, str]] = ..., speaker: _Optional[str] = ..., content: _Optional[str] = ..., time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., attachments: _Optional[_Iterable[_Union[Attachment, _Mapping]]] = ..., confidence: _Optional[float] = ..., sources: _Optional[_Iterable[str]] = ..., metadata: _Optional[_Mapping[str, str]] = ..., importance: _Optional[float] = ...) -> None: ...
