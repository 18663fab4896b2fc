import datetime

from google.protobuf import timestamp_pb2 as _timestamp_pb2
from google.rpc import status_pb2 as _status_pb2
from mneme.common.v1 import common_pb2 as _common_pb2
from mneme.gateway.v1 import context_pb2 as _context_pb2
from mneme.gateway.v1 import gate_pb2 as _gate_pb2
from mneme.gateway.v1 import prepare_pb2 as _prepare_pb2
from mneme.gateway.v1 import recall_pb2 as _recall_pb2
from mneme.gateway.v1 import tiers_pb2 as _tiers_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class FeedbackValue(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    FEEDBACK_VALUE_UNSPECIFIED: _ClassVar[FeedbackValue]
    FEEDBACK_VALUE_GOOD: _ClassVar[FeedbackValue]
    FEEDBACK_VALUE_BAD: _ClassVar[FeedbackValue]
    FEEDBACK_VALUE_NONE: _ClassVar[FeedbackValue]
FEEDBACK_VALUE_UNSPECIFIED: FeedbackValue
FEEDBACK_VALUE_GOOD: FeedbackValue
FEEDBACK_VALUE_BAD: FeedbackValue
FEEDBACK_VALUE_NONE: FeedbackValue

class RememberRequest(_message.Message):
    __slots__ = ("request_id", "user_id", "conversation_id", "turns", "scope")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    CONVERSATION_ID_FIELD_NUMBER: _ClassVar[int]
    TURNS_FIELD_NUMBER: _ClassVar[int]
    SCOPE_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    user_id: str
    conversation_id: str
    turns: _containers.RepeatedCompositeFieldContainer[_common_pb2.Turn]
    scope: _common_pb2.Scope
    def __init__(self, request_id: _Optional[str] = ..., user_id: _Optional[str] = ..., conversation_id: _Optional[str] = ..., turns: _Optional[_Iterable[_Union[_common_pb2.Turn, _Mapping]]] = ..., scope: _Optional[_Union[_common_pb2.Scope, _Mapping]] = ...) -> None: ...

class RememberResponse(_message.Message):
    __slots__ = ("interactions", "consistency_token", "replayed")
    INTERACTIONS_FIELD_NUMBER: _ClassVar[int]
    CONSISTENCY_TOKEN_FIELD_NUMBER: _ClassVar[int]
    REPLAYED_FIELD_NUMBER: _ClassVar[int]
    interactions: _containers.RepeatedCompositeFieldContainer[InteractionReference]
    consistency_token: str
    replayed: bool
    def __init__(self, interactions: _Optional[_Iterable[_Union[InteractionReference, _Mapping]]] = ..., consistency_token: _Optional[str] = ..., replayed: _Optional[bool] = ...) -> None: ...

class InteractionReference(_message.Message):
    __slots__ = ("interaction_id", "position", "verdict")
    INTERACTION_ID_FIELD_NUMBER: _ClassVar[int]
    POSITION_FIELD_NUMBER: _ClassVar[int]
    VERDICT_FIELD_NUMBER: _ClassVar[int]
    interaction_id: str
    position: int
    verdict: _gate_pb2.GateVerdict
    def __init__(self, interaction_id: _Optional[str] = ..., position: _Optional[int] = ..., verdict: _Optional[_Union[_gate_pb2.GateVerdict, _Mapping]] = ...) -> None: ...

class RememberBatchRequest(_message.Message):
    __slots__ = ("items",)
    ITEMS_FIELD_NUMBER: _ClassVar[int]
    items: _containers.RepeatedCompositeFieldContainer[RememberRequest]
    def __init__(self, items: _Optional[_Iterable[_Union[RememberRequest, _Mapping]]] = ...) -> None: ...

class RememberBatchResponse(_message.Message):
    __slots__ = ("results",)
    RESULTS_FIELD_NUMBER: _ClassVar[int]
    results: _containers.RepeatedCompositeFieldContainer[RememberBatchResult]
    def __init__(self, results: _Optional[_Iterable[_Union[RememberBatchResult, _Mapping]]] = ...) -> None: ...

class RememberBatchResult(_message.Message):
    __slots__ = ("response", "error")
    RESPONSE_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    response: RememberResponse
    error: _status_pb2.Status
    def __init__(self, response: _Optional[_Union[RememberResponse, _Mapping]] = ..., error: _Optional[_Union[_status_pb2.Status, _Mapping]] = ...) -> None: ...

class RememberStreamRequest(_message.Message):
    __slots__ = ("item",)
    ITEM_FIELD_NUMBER: _ClassVar[int]
    item: RememberRequest
    def __init__(self, item: _Optional[_Union[RememberRequest, _Mapping]] = ...) -> None: ...

class RememberStreamResponse(_message.Message):
    __slots__ = ("index", "response", "error")
    INDEX_FIELD_NUMBER: _ClassVar[int]
    RESPONSE_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    index: int
    response: RememberResponse
    error: _status_pb2.Status
    def __init__(self, index: _Optional[int] = ..., response: _Optional[_Union[RememberResponse, _Mapping]] = ..., error: _Optional[_Union[_status_pb2.Status, _Mapping]] = ...) -> None: ...

class MemoryReference(_message.Message):
    __slots__ = ("kind", "memory_id")
    KIND_FIELD_NUMBER: _ClassVar[int]
    MEMORY_ID_FIELD_NUMBER: _ClassVar[int]
    kind: _tiers_pb2.MemoryKind
    memory_id: str
    def __init__(self, kind: _Optional[_Union[_tiers_pb2.MemoryKind, str]] = ..., memory_id: _Optional[str] = ...) -> None: ...

class FeedbackRequest(_message.Message):
    __slots__ = ("request_id", "user_id", "value", "memories", "recall_id")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    VALUE_FIELD_NUMBER: _ClassVar[int]
    MEMORIES_FIELD_NUMBER: _ClassVar[int]
    RECALL_ID_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    user_id: str
    value: FeedbackValue
    memories: _containers.RepeatedCompositeFieldContainer[MemoryReference]
    recall_id: str
    def __init__(self, request_id: _Optional[str] = ..., user_id: _Optional[str] = ..., value: _Optional[_Union[FeedbackValue, str]] = ..., memories: _Optional[_Iterable[_Union[MemoryReference, _Mapping]]] = ..., recall_id: _Optional[str] = ...) -> None: ...

class FeedbackResponse(_message.Message):
    __slots__ = ("consistency_token", "memory_count", "replayed")
    CONSISTENCY_TOKEN_FIELD_NUMBER: _ClassVar[int]
    MEMORY_COUNT_FIELD_NUMBER: _ClassVar[int]
    REPLAYED_FIELD_NUMBER: _ClassVar[int]
    consistency_token: str
    memory_count: int
    replayed: bool
    def __init__(self, consistency_token: _Optional[str] = ..., memory_count: _Optional[int] = ..., replayed: _Optional[bool] = ...) -> None: ...

class ListJudgedRecallsRequest(_message.Message):
    __slots__ = ("user_id", "page_size", "page_token")
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    user_id: str
    page_size: int
    page_token: str
    def __init__(self, user_id: _Optional[str] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class JudgedRecall(_message.Message):
    __slots__ = ("recall_id", "query", "good_memories", "create_time")
    RECALL_ID_FIELD_NUMBER: _ClassVar[int]
    QUERY_FIELD_NUMBER: _ClassVar[int]
    GOOD_MEMORIES_FIELD_NUMBER: _ClassVar[int]
    CREATE_TIME_FIELD_NUMBER: _ClassVar[int]
    recall_id: str
    query: str
    good_memories: _containers.RepeatedCompositeFieldContainer[MemoryReference]
    create_time: _timestamp_pb2.Timestamp
    def __init__(self, recall_id: _Optional[str] = ..., query: _Optional[str] = ..., good_memories: _Optional[_Iterable[_Union[MemoryReference, _Mapping]]] = ..., create_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class ListJudgedRecallsResponse(_message.Message):
    __slots__ = ("recalls", "next_page_token")
    RECALLS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    recalls: _containers.RepeatedCompositeFieldContainer[JudgedRecall]
    next_page_token: str
    def __init__(self, recalls: _Optional[_Iterable[_Union[JudgedRecall, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...
