from mneme.session.v1 import context_window_pb2 as _context_window_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class PlanContextRequest(_message.Message):
    __slots__ = ("request_id", "digest", "user_id", "conversation_id", "incoming_tokens", "force", "create_if_missing", "no_pruning")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    DIGEST_FIELD_NUMBER: _ClassVar[int]
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    CONVERSATION_ID_FIELD_NUMBER: _ClassVar[int]
    INCOMING_TOKENS_FIELD_NUMBER: _ClassVar[int]
    FORCE_FIELD_NUMBER: _ClassVar[int]
    CREATE_IF_MISSING_FIELD_NUMBER: _ClassVar[int]
    NO_PRUNING_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    digest: str
    user_id: str
    conversation_id: str
    incoming_tokens: int
    force: bool
    create_if_missing: bool
    no_pruning: bool
    def __init__(self, request_id: _Optional[str] = ..., digest: _Optional[str] = ..., user_id: _Optional[str] = ..., conversation_id: _Optional[str] = ..., incoming_tokens: _Optional[int] = ..., force: _Optional[bool] = ..., create_if_missing: _Optional[bool] = ..., no_pruning: _Optional[bool] = ...) -> None: ...

class CommittedContext(_message.Message):
    __slots__ = ("window", "added_count", "removed_count", "snapshot", "note")
    WINDOW_FIELD_NUMBER: _ClassVar[int]
    ADDED_COUNT_FIELD_NUMBER: _ClassVar[int]
    REMOVED_COUNT_FIELD_NUMBER: _ClassVar[int]
    SNAPSHOT_FIELD_NUMBER: _ClassVar[int]
    NOTE_FIELD_NUMBER: _ClassVar[int]
    window: _context_window_pb2.ContextWindow
    added_count: int
    removed_count: int
    snapshot: _context_window_pb2.ContextSnapshot
    note: str
    def __init__(self, window: _Optional[_Union[_context_window_pb2.ContextWindow, _Mapping]] = ..., added_count: _Optional[int] = ..., removed_count: _Optional[int] = ..., snapshot: _Optional[_Union[_context_window_pb2.ContextSnapshot, _Mapping]] = ..., note: _Optional[str] = ...) -> None: ...

class PlanContextResponse(_message.Message):
    __slots__ = ("first", "window", "removed", "reason", "snapshot", "degraded")
    FIRST_FIELD_NUMBER: _ClassVar[int]
    WINDOW_FIELD_NUMBER: _ClassVar[int]
    REMOVED_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    SNAPSHOT_FIELD_NUMBER: _ClassVar[int]
    DEGRADED_FIELD_NUMBER: _ClassVar[int]
    first: CommittedContext
    window: _context_window_pb2.ContextWindow
    removed: _containers.RepeatedCompositeFieldContainer[_context_window_pb2.ScoredContextItem]
    reason: str
    snapshot: _context_window_pb2.ContextSnapshot
    degraded: bool
    def __init__(self, first: _Optional[_Union[CommittedContext, _Mapping]] = ..., window: _Optional[_Union[_context_window_pb2.ContextWindow, _Mapping]] = ..., removed: _Optional[_Iterable[_Union[_context_window_pb2.ScoredContextItem, _Mapping]]] = ..., reason: _Optional[str] = ..., snapshot: _Optional[_Union[_context_window_pb2.ContextSnapshot, _Mapping]] = ..., degraded: _Optional[bool] = ...) -> None: ...

class CommitContextRequest(_message.Message):
    __slots__ = ("request_id", "digest", "user_id", "conversation_id", "revision", "create_if_missing", "removed", "reason", "added", "current_task_id", "token_budget", "overhead_tokens", "with_items", "note")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    DIGEST_FIELD_NUMBER: _ClassVar[int]
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    CONVERSATION_ID_FIELD_NUMBER: _ClassVar[int]
    REVISION_FIELD_NUMBER: _ClassVar[int]
    CREATE_IF_MISSING_FIELD_NUMBER: _ClassVar[int]
    REMOVED_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    ADDED_FIELD_NUMBER: _ClassVar[int]
    CURRENT_TASK_ID_FIELD_NUMBER: _ClassVar[int]
    TOKEN_BUDGET_FIELD_NUMBER: _ClassVar[int]
    OVERHEAD_TOKENS_FIELD_NUMBER: _ClassVar[int]
    WITH_ITEMS_FIELD_NUMBER: _ClassVar[int]
    NOTE_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    digest: str
    user_id: str
    conversation_id: str
    revision: int
    create_if_missing: bool
    removed: _containers.RepeatedCompositeFieldContainer[_context_window_pb2.SnapshotItem]
    reason: str
    added: _containers.RepeatedCompositeFieldContainer[_context_window_pb2.ContextItem]
    current_task_id: str
    token_budget: int
    overhead_tokens: int
    with_items: bool
    note: str
    def __init__(self, request_id: _Optional[str] = ..., digest: _Optional[str] = ..., user_id: _Optional[str] = ..., conversation_id: _Optional[str] = ..., revision: _Optional[int] = ..., create_if_missing: _Optional[bool] = ..., removed: _Optional[_Iterable[_Union[_context_window_pb2.SnapshotItem, _Mapping]]] = ..., reason: _Optional[str] = ..., added: _Optional[_Iterable[_Union[_context_window_pb2.ContextItem, _Mapping]]] = ..., current_task_id: _Optional[str] = ..., token_budget: _Optional[int] = ..., overhead_tokens: _Optional[int] = ..., with_items: _Optional[bool] = ..., note: _Optional[str] = ...) -> None: ...

class CommitContextResponse(_message.Message):
    __slots__ = ("committed", "items", "omitted_item_ids", "degraded")
    COMMITTED_FIELD_NUMBER: _ClassVar[int]
    ITEMS_FIELD_NUMBER: _ClassVar[int]
    OMITTED_ITEM_IDS_FIELD_NUMBER: _ClassVar[int]
    DEGRADED_FIELD_NUMBER: _ClassVar[int]
    committed: CommittedContext
    items: _containers.RepeatedCompositeFieldContainer[_context_window_pb2.ContextItem]
    omitted_item_ids: _containers.RepeatedScalarFieldContainer[str]
    degraded: bool
    def __init__(self, committed: _Optional[_Union[CommittedContext, _Mapping]] = ..., items: _Optional[_Iterable[_Union[_context_window_pb2.ContextItem, _Mapping]]] = ..., omitted_item_ids: _Optional[_Iterable[str]] = ..., degraded: _Optional[bool] = ...) -> None: ...
