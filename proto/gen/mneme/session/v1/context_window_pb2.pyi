import datetime

from google.protobuf import duration_pb2 as _duration_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from mneme.common.v1 import common_pb2 as _common_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class ContextItemKind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    CONTEXT_ITEM_KIND_UNSPECIFIED: _ClassVar[ContextItemKind]
    CONTEXT_ITEM_KIND_SYSTEM_PROMPT: _ClassVar[ContextItemKind]
    CONTEXT_ITEM_KIND_USER_MESSAGE: _ClassVar[ContextItemKind]
    CONTEXT_ITEM_KIND_ASSISTANT_RESPONSE: _ClassVar[ContextItemKind]
    CONTEXT_ITEM_KIND_TOOL_RESULT: _ClassVar[ContextItemKind]
    CONTEXT_ITEM_KIND_CODE_SNIPPET: _ClassVar[ContextItemKind]
    CONTEXT_ITEM_KIND_TASK_STATE: _ClassVar[ContextItemKind]
    CONTEXT_ITEM_KIND_GRAPH_QUERY: _ClassVar[ContextItemKind]
CONTEXT_ITEM_KIND_UNSPECIFIED: ContextItemKind
CONTEXT_ITEM_KIND_SYSTEM_PROMPT: ContextItemKind
CONTEXT_ITEM_KIND_USER_MESSAGE: ContextItemKind
CONTEXT_ITEM_KIND_ASSISTANT_RESPONSE: ContextItemKind
CONTEXT_ITEM_KIND_TOOL_RESULT: ContextItemKind
CONTEXT_ITEM_KIND_CODE_SNIPPET: ContextItemKind
CONTEXT_ITEM_KIND_TASK_STATE: ContextItemKind
CONTEXT_ITEM_KIND_GRAPH_QUERY: ContextItemKind

class ToolCall(_message.Message):
    __slots__ = ("id", "name", "arguments")
    ID_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    ARGUMENTS_FIELD_NUMBER: _ClassVar[int]
    id: str
    name: str
    arguments: str
    def __init__(self, id: _Optional[str] = ..., name: _Optional[str] = ..., arguments: _Optional[str] = ...) -> None: ...

class ContextItem(_message.Message):
    __slots__ = ("item_id", "kind", "content", "token_count", "relevance", "task_id", "dependency_ids", "sticky", "create_time", "scope", "tool_calls", "tool_call_id", "tool_name", "file_path", "start_line", "end_line", "query", "position")
    ITEM_ID_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    CONTENT_FIELD_NUMBER: _ClassVar[int]
    TOKEN_COUNT_FIELD_NUMBER: _ClassVar[int]
    RELEVANCE_FIELD_NUMBER: _ClassVar[int]
    TASK_ID_FIELD_NUMBER: _ClassVar[int]
    DEPENDENCY_IDS_FIELD_NUMBER: _ClassVar[int]
    STICKY_FIELD_NUMBER: _ClassVar[int]
    CREATE_TIME_FIELD_NUMBER: _ClassVar[int]
    SCOPE_FIELD_NUMBER: _ClassVar[int]
    TOOL_CALLS_FIELD_NUMBER: _ClassVar[int]
    TOOL_CALL_ID_FIELD_NUMBER: _ClassVar[int]
    TOOL_NAME_FIELD_NUMBER: _ClassVar[int]
    FILE_PATH_FIELD_NUMBER: _ClassVar[int]
    START_LINE_FIELD_NUMBER: _ClassVar[int]
    END_LINE_FIELD_NUMBER: _ClassVar[int]
    QUERY_FIELD_NUMBER: _ClassVar[int]
    POSITION_FIELD_NUMBER: _ClassVar[int]
    item_id: str
    kind: ContextItemKind
    content: str
    token_count: int
    relevance: float
    task_id: str
    dependency_ids: _containers.RepeatedScalarFieldContainer[str]
    sticky: bool
    create_time: _timestamp_pb2.Timestamp
    scope: _common_pb2.Scope
    tool_calls: _containers.RepeatedCompositeFieldContainer[ToolCall]
    tool_call_id: str
    tool_name: str
    file_path: str
    start_line: int
    end_line: int
    query: str
    position: int
    def __init__(self, item_id: _Optional[str] = ..., kind: _Optional[_Union[ContextItemKind, str]] = ..., content: _Optional[str] = ..., token_count: _Optional[int] = ..., relevance: _Optional[float] = ..., task_id: _Optional[str] = ..., dependency_ids: _Optional[_Iterable[str]] = ..., sticky: _Optional[bool] = ..., create_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., scope: _Optional[_Union[_common_pb2.Scope, _Mapping]] = ..., tool_calls: _Optional[_Iterable[_Union[ToolCall, _Mapping]]] = ..., tool_call_id: _Optional[str] = ..., tool_name: _Optional[str] = ..., file_path: _Optional[str] = ..., start_line: _Optional[int] = ..., end_line: _Optional[int] = ..., query: _Optional[str] = ..., position: _Optional[int] = ...) -> None: ...

class ContextWindow(_message.Message):
    __slots__ = ("conversation_id", "user_id", "max_tokens", "token_count", "item_count", "current_task_id", "pruned_count", "revision", "tokenizer", "ttl", "create_time", "last_active_time", "expire_time")
    CONVERSATION_ID_FIELD_NUMBER: _ClassVar[int]
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    MAX_TOKENS_FIELD_NUMBER: _ClassVar[int]
    TOKEN_COUNT_FIELD_NUMBER: _ClassVar[int]
    ITEM_COUNT_FIELD_NUMBER: _ClassVar[int]
    CURRENT_TASK_ID_FIELD_NUMBER: _ClassVar[int]
    PRUNED_COUNT_FIELD_NUMBER: _ClassVar[int]
    REVISION_FIELD_NUMBER: _ClassVar[int]
    TOKENIZER_FIELD_NUMBER: _ClassVar[int]
    TTL_FIELD_NUMBER: _ClassVar[int]
    CREATE_TIME_FIELD_NUMBER: _ClassVar[int]
    LAST_ACTIVE_TIME_FIELD_NUMBER: _ClassVar[int]
    EXPIRE_TIME_FIELD_NUMBER: _ClassVar[int]
    conversation_id: str
    user_id: str
    max_tokens: int
    token_count: int
    item_count: int
    current_task_id: str
    pruned_count: int
    revision: int
    tokenizer: str
    ttl: _duration_pb2.Duration
    create_time: _timestamp_pb2.Timestamp
    last_active_time: _timestamp_pb2.Timestamp
    expire_time: _timestamp_pb2.Timestamp
    def __init__(self, conversation_id: _Optional[str] = ..., user_id: _Optional[str] = ..., max_tokens: _Optional[int] = ..., token_count: _Optional[int] = ..., item_count: _Optional[int] = ..., current_task_id: _Optional[str] = ..., pruned_count: _Optional[int] = ..., revision: _Optional[int] = ..., tokenizer: _Optional[str] = ..., ttl: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., create_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., last_active_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., expire_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class ScoredContextItem(_message.Message):
    __slots__ = ("item", "score")
    ITEM_FIELD_NUMBER: _ClassVar[int]
    SCORE_FIELD_NUMBER: _ClassVar[int]
    item: ContextItem
    score: float
    def __init__(self, item: _Optional[_Union[ContextItem, _Mapping]] = ..., score: _Optional[float] = ...) -> None: ...

class SnapshotItem(_message.Message):
    __slots__ = ("item_id", "kind", "token_count", "score", "episode_id", "relevance")
    ITEM_ID_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    TOKEN_COUNT_FIELD_NUMBER: _ClassVar[int]
    SCORE_FIELD_NUMBER: _ClassVar[int]
    EPISODE_ID_FIELD_NUMBER: _ClassVar[int]
    RELEVANCE_FIELD_NUMBER: _ClassVar[int]
    item_id: str
    kind: ContextItemKind
    token_count: int
    score: float
    episode_id: str
    relevance: float
    def __init__(self, item_id: _Optional[str] = ..., kind: _Optional[_Union[ContextItemKind, str]] = ..., token_count: _Optional[int] = ..., score: _Optional[float] = ..., episode_id: _Optional[str] = ..., relevance: _Optional[float] = ...) -> None: ...

class ContextSnapshot(_message.Message):
    __slots__ = ("snapshot_id", "create_time", "reason", "token_count_before", "token_count_after", "stayed", "removed")
    SNAPSHOT_ID_FIELD_NUMBER: _ClassVar[int]
    CREATE_TIME_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    TOKEN_COUNT_BEFORE_FIELD_NUMBER: _ClassVar[int]
    TOKEN_COUNT_AFTER_FIELD_NUMBER: _ClassVar[int]
    STAYED_FIELD_NUMBER: _ClassVar[int]
    REMOVED_FIELD_NUMBER: _ClassVar[int]
    snapshot_id: str
    create_time: _timestamp_pb2.Timestamp
    reason: str
    token_count_before: int
    token_count_after: int
    stayed: _containers.RepeatedCompositeFieldContainer[SnapshotItem]
    removed: _containers.RepeatedCompositeFieldContainer[SnapshotItem]
    def __init__(self, snapshot_id: _Optional[str] = ..., create_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., reason: _Optional[str] = ..., token_count_before: _Optional[int] = ..., token_count_after: _Optional[int] = ..., stayed: _Optional[_Iterable[_Union[SnapshotItem, _Mapping]]] = ..., removed: _Optional[_Iterable[_Union[SnapshotItem, _Mapping]]] = ...) -> None: ...

class UpdateContextWindowRequest(_message.Message):
    __slots__ = ("request_id", "user_id", "conversation_id", "max_tokens", "current_task_id", "ttl")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    CONVERSATION_ID_FIELD_NUMBER: _ClassVar[int]
    MAX_TOKENS_FIELD_NUMBER: _ClassVar[int]
    CURRENT_TASK_ID_FIELD_NUMBER: _ClassVar[int]
    TTL_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    user_id: str
    conversation_id: str
    max_tokens: int
    current_task_id: str
    ttl: _duration_pb2.Duration
    def __init__(self, request_id: _Optional[str] = ..., user_id: _Optional[str] = ..., conversation_id: _Optional[str] = ..., max_tokens: _Optional[int] = ..., current_task_id: _Optional[str] = ..., ttl: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ...) -> None: ...

class UpdateContextWindowResponse(_message.Message):
    __slots__ = ("window", "degraded")
    WINDOW_FIELD_NUMBER: _ClassVar[int]
    DEGRADED_FIELD_NUMBER: _ClassVar[int]
    window: ContextWindow
    degraded: bool
    def __init__(self, window: _Optional[_Union[ContextWindow, _Mapping]] = ..., degraded: _Optional[bool] = ...) -> None: ...

class GetContextWindowRequest(_message.Message):
    __slots__ = ("user_id", "conversation_id")
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    CONVERSATION_ID_FIELD_NUMBER: _ClassVar[int]
    user_id: str
    conversation_id: str
    def __init__(self, user_id: _Optional[str] = ..., conversation_id: _Optional[str] = ...) -> None: ...

class GetContextWindowResponse(_message.Message):
    __slots__ = ("window", "degraded")
    WINDOW_FIELD_NUMBER: _ClassVar[int]
    DEGRADED_FIELD_NUMBER: _ClassVar[int]
    window: ContextWindow
    degraded: bool
    def __init__(self, window: _Optional[_Union[ContextWindow, _Mapping]] = ..., degraded: _Optional[bool] = ...) -> None: ...

class AddContextItemsRequest(_message.Message):
    __slots__ = ("request_id", "user_id", "conversation_id", "items", "create_if_missing")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    CONVERSATION_ID_FIELD_NUMBER: _ClassVar[int]
    ITEMS_FIELD_NUMBER: _ClassVar[int]
    CREATE_IF_MISSING_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    user_id: str
    conversation_id: str
    items: _containers.RepeatedCompositeFieldContainer[ContextItem]
    create_if_missing: bool
    def __init__(self, request_id: _Optional[str] = ..., user_id: _Optional[str] = ..., conversation_id: _Optional[str] = ..., items: _Optional[_Iterable[_Union[ContextItem, _Mapping]]] = ..., create_if_missing: _Optional[bool] = ...) -> None: ...

class AddContextItemsResponse(_message.Message):
    __slots__ = ("window", "item_ids", "added_count", "degraded")
    WINDOW_FIELD_NUMBER: _ClassVar[int]
    ITEM_IDS_FIELD_NUMBER: _ClassVar[int]
    ADDED_COUNT_FIELD_NUMBER: _ClassVar[int]
    DEGRADED_FIELD_NUMBER: _ClassVar[int]
    window: ContextWindow
    item_ids: _containers.RepeatedScalarFieldContainer[str]
    added_count: int
    degraded: bool
    def __init__(self, window: _Optional[_Union[ContextWindow, _Mapping]] = ..., item_ids: _Optional[_Iterable[str]] = ..., added_count: _Optional[int] = ..., degraded: _Optional[bool] = ...) -> None: ...

class ListContextItemsRequest(_message.Message):
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

class ListContextItemsResponse(_message.Message):
    __slots__ = ("items", "next_page_token", "degraded")
    ITEMS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    DEGRADED_FIELD_NUMBER: _ClassVar[int]
    items: _containers.RepeatedCompositeFieldContainer[ScoredContextItem]
    next_page_token: str
    degraded: bool
    def __init__(self, items: _Optional[_Iterable[_Union[ScoredContextItem, _Mapping]]] = ..., next_page_token: _Optional[str] = ..., degraded: _Optional[bool] = ...) -> None: ...

class PruneContextWindowRequest(_message.Message):
    __slots__ = ("request_id", "user_id", "conversation_id", "force", "dry_run")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    CONVERSATION_ID_FIELD_NUMBER: _ClassVar[int]
    FORCE_FIELD_NUMBER: _ClassVar[int]
    DRY_RUN_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    user_id: str
    conversation_id: str
    force: bool
    dry_run: bool
    def __init__(self, request_id: _Optional[str] = ..., user_id: _Optional[str] = ..., conversation_id: _Optional[str] = ..., force: _Optional[bool] = ..., dry_run: _Optional[bool] = ...) -> None: ...

class PruneContextWindowResponse(_message.Message):
    __slots__ = ("snapshot", "window", "degraded")
    SNAPSHOT_FIELD_NUMBER: _ClassVar[int]
    WINDOW_FIELD_NUMBER: _ClassVar[int]
    DEGRADED_FIELD_NUMBER: _ClassVar[int]
    snapshot: ContextSnapshot
    window: ContextWindow
    degraded: bool
    def __init__(self, snapshot: _Optional[_Union[ContextSnapshot, _Mapping]] = ..., window: _Optional[_Union[ContextWindow, _Mapping]] = ..., degraded: _Optional[bool] = ...) -> None: ...

class RestoreContextItemsRequest(_message.Message):
    __slots__ = ("request_id", "user_id", "conversation_id", "item_ids")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    CONVERSATION_ID_FIELD_NUMBER: _ClassVar[int]
    ITEM_IDS_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    user_id: str
    conversation_id: str
    item_ids: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, request_id: _Optional[str] = ..., user_id: _Optional[str] = ..., conversation_id: _Optional[str] = ..., item_ids: _Optional[_Iterable[str]] = ...) -> None: ...

class RestoreContextItemsResponse(_message.Message):
    __slots__ = ("window", "restored_count", "degraded")
    WINDOW_FIELD_NUMBER: _ClassVar[int]
    RESTORED_COUNT_FIELD_NUMBER: _ClassVar[int]
    DEGRADED_FIELD_NUMBER: _ClassVar[int]
    window: ContextWindow
    restored_count: int
    degraded: bool
    def __init__(self, window: _Optional[_Union[ContextWindow, _Mapping]] = ..., restored_count: _Optional[int] = ..., degraded: _Optional[bool] = ...) -> None: ...

class ListContextSnapshotsRequest(_message.Message):
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

class ListContextSnapshotsResponse(_message.Message):
    __slots__ = ("snapshots", "next_page_token", "degraded")
    SNAPSHOTS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    DEGRADED_FIELD_NUMBER: _ClassVar[int]
    snapshots: _containers.RepeatedCompositeFieldContainer[ContextSnapshot]
    next_page_token: str
    degraded: bool
    def __init__(self, snapshots: _Optional[_Iterable[_Union[ContextSnapshot, _Mapping]]] = ..., next_page_token: _Optional[str] = ..., degraded: _Optional[bool] = ...) -> None: ...

class DeleteContextWindowRequest(_message.Message):
    __slots__ = ("request_id", "user_id", "conversation_id")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    CONVERSATION_ID_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    user_id: str
    conversation_id: str
    def __init__(self, request_id: _Optional[str] = ..., user_id: _Optional[str] = ..., conversation_id: _Optional[str] = ...) -> None: ...

class DeleteContextWindowResponse(_message.Message):
    __slots__ = ("window", "degraded")
    WINDOW_FIELD_NUMBER: _ClassVar[int]
    DEGRADED_FIELD_NUMBER: _ClassVar[int]
    window: ContextWindow
    degraded: bool
    def __init__(self, window: _Optional[_Union[ContextWindow, _Mapping]] = ..., degraded: _Optional[bool] = ...) -> None: ...
