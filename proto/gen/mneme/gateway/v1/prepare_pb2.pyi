from mneme.common.v1 import common_pb2 as _common_pb2
from mneme.session.v1 import context_window_pb2 as _context_window_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class ContextSourceState(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    CONTEXT_SOURCE_STATE_UNSPECIFIED: _ClassVar[ContextSourceState]
    CONTEXT_SOURCE_STATE_FOUND: _ClassVar[ContextSourceState]
    CONTEXT_SOURCE_STATE_EMPTY: _ClassVar[ContextSourceState]
    CONTEXT_SOURCE_STATE_NOT_ASKED: _ClassVar[ContextSourceState]
    CONTEXT_SOURCE_STATE_FAILED: _ClassVar[ContextSourceState]
CONTEXT_SOURCE_STATE_UNSPECIFIED: ContextSourceState
CONTEXT_SOURCE_STATE_FOUND: ContextSourceState
CONTEXT_SOURCE_STATE_EMPTY: ContextSourceState
CONTEXT_SOURCE_STATE_NOT_ASKED: ContextSourceState
CONTEXT_SOURCE_STATE_FAILED: ContextSourceState

class PrepareContextRequest(_message.Message):
    __slots__ = ("request_id", "user_id", "conversation_id", "message", "task_id", "repository_id", "code_limit", "task_limit", "token_budget", "scope")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    CONVERSATION_ID_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    TASK_ID_FIELD_NUMBER: _ClassVar[int]
    REPOSITORY_ID_FIELD_NUMBER: _ClassVar[int]
    CODE_LIMIT_FIELD_NUMBER: _ClassVar[int]
    TASK_LIMIT_FIELD_NUMBER: _ClassVar[int]
    TOKEN_BUDGET_FIELD_NUMBER: _ClassVar[int]
    SCOPE_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    user_id: str
    conversation_id: str
    message: str
    task_id: str
    repository_id: str
    code_limit: int
    task_limit: int
    token_budget: int
    scope: _common_pb2.Scope
    def __init__(self, request_id: _Optional[str] = ..., user_id: _Optional[str] = ..., conversation_id: _Optional[str] = ..., message: _Optional[str] = ..., task_id: _Optional[str] = ..., repository_id: _Optional[str] = ..., code_limit: _Optional[int] = ..., task_limit: _Optional[int] = ..., token_budget: _Optional[int] = ..., scope: _Optional[_Union[_common_pb2.Scope, _Mapping]] = ...) -> None: ...

class PromptMessage(_message.Message):
    __slots__ = ("role", "content", "tool_calls", "tool_call_id", "name", "item_id", "token_count")
    ROLE_FIELD_NUMBER: _ClassVar[int]
    CONTENT_FIELD_NUMBER: _ClassVar[int]
    TOOL_CALLS_FIELD_NUMBER: _ClassVar[int]
    TOOL_CALL_ID_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    ITEM_ID_FIELD_NUMBER: _ClassVar[int]
    TOKEN_COUNT_FIELD_NUMBER: _ClassVar[int]
    role: str
    content: str
    tool_calls: _containers.RepeatedCompositeFieldContainer[_context_window_pb2.ToolCall]
    tool_call_id: str
    name: str
    item_id: str
    token_count: int
    def __init__(self, role: _Optional[str] = ..., content: _Optional[str] = ..., tool_calls: _Optional[_Iterable[_Union[_context_window_pb2.ToolCall, _Mapping]]] = ..., tool_call_id: _Optional[str] = ..., name: _Optional[str] = ..., item_id: _Optional[str] = ..., token_count: _Optional[int] = ...) -> None: ...

class PrepareContextResponse(_message.Message):
    __slots__ = ("messages", "token_count", "token_budget", "tokenizer", "window", "pruned", "omitted_item_ids", "code_state", "task_state", "degraded", "replayed")
    MESSAGES_FIELD_NUMBER: _ClassVar[int]
    TOKEN_COUNT_FIELD_NUMBER: _ClassVar[int]
    TOKEN_BUDGET_FIELD_NUMBER: _ClassVar[int]
    TOKENIZER_FIELD_NUMBER: _ClassVar[int]
    WINDOW_FIELD_NUMBER: _ClassVar[int]
    PRUNED_FIELD_NUMBER: _ClassVar[int]
    OMITTED_ITEM_IDS_FIELD_NUMBER: _ClassVar[int]
    CODE_STATE_FIELD_NUMBER: _ClassVar[int]
    TASK_STATE_FIELD_NUMBER: _ClassVar[int]
    DEGRADED_FIELD_NUMBER: _ClassVar[int]
    REPLAYED_FIELD_NUMBER: _ClassVar[int]
    messages: _containers.RepeatedCompositeFieldContainer[PromptMessage]
    token_count: int
    token_budget: int
    tokenizer: str
    window: _context_window_pb2.ContextWindow
    pruned: _context_window_pb2.ContextSnapshot
    omitted_item_ids: _containers.RepeatedScalarFieldContainer[str]
    code_state: ContextSourceState
    task_state: ContextSourceState
    degraded: bool
    replayed: bool
    def __init__(self, messages: _Optional[_Iterable[_Union[PromptMessage, _Mapping]]] = ..., token_count: _Optional[int] = ..., token_budget: _Optional[int] = ..., tokenizer: _Optional[str] = ..., window: _Optional[_Union[_context_window_pb2.ContextWindow, _Mapping]] = ..., pruned: _Optional[_Union[_context_window_pb2.ContextSnapshot, _Mapping]] = ..., omitted_item_ids: _Optional[_Iterable[str]] = ..., code_state: _Optional[_Union[ContextSourceState, str]] = ..., task_state: _Optional[_Union[ContextSourceState, str]] = ..., degraded: _Optional[bool] = ..., replayed: _Optional[bool] = ...) -> None: ...
