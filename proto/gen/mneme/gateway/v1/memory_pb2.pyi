from google.rpc import status_pb2 as _status_pb2
from mneme.common.v1 import common_pb2 as _common_pb2
from mneme.gateway.v1 import context_pb2 as _context_pb2
from mneme.gateway.v1 import recall_pb2 as _recall_pb2
from mneme.semantic.v1 import profile_pb2 as _profile_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

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
    __slots__ = ("interaction_id", "position")
    INTERACTION_ID_FIELD_NUMBER: _ClassVar[int]
    POSITION_FIELD_NUMBER: _ClassVar[int]
    interaction_id: str
    position: int
    def __init__(self, interaction_id: _Optional[str] = ..., position: _Optional[int] = ...) -> None: ...

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
    __slots__ = ("accepted_count", "turn_count", "refused_count", "refused", "consistency_token")
    ACCEPTED_COUNT_FIELD_NUMBER: _ClassVar[int]
    TURN_COUNT_FIELD_NUMBER: _ClassVar[int]
    REFUSED_COUNT_FIELD_NUMBER: _ClassVar[int]
    REFUSED_FIELD_NUMBER: _ClassVar[int]
    CONSISTENCY_TOKEN_FIELD_NUMBER: _ClassVar[int]
    accepted_count: int
    turn_count: int
    refused_count: int
    refused: _containers.RepeatedCompositeFieldContainer[RefusedItem]
    consistency_token: str
    def __init__(self, accepted_count: _Optional[int] = ..., turn_count: _Optional[int] = ..., refused_count: _Optional[int] = ..., refused: _Optional[_Iterable[_Union[RefusedItem, _Mapping]]] = ..., consistency_token: _Optional[str] = ...) -> None: ...

class RefusedItem(_message.Message):
    __slots__ = ("index", "error")
    INDEX_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    index: int
    error: _status_pb2.Status
    def __init__(self, index: _Optional[int] = ..., error: _Optional[_Union[_status_pb2.Status, _Mapping]] = ...) -> None: ...

class FeedbackRequest(_message.Message):
    __slots__ = ("request_id", "user_id", "memory_ids", "feedback")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    MEMORY_IDS_FIELD_NUMBER: _ClassVar[int]
    FEEDBACK_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    user_id: str
    memory_ids: _containers.RepeatedScalarFieldContainer[str]
    feedback: int
    def __init__(self, request_id: _Optional[str] = ..., user_id: _Optional[str] = ..., memory_ids: _Optional[_Iterable[str]] = ..., feedback: _Optional[int] = ...) -> None: ...

class FeedbackResponse(_message.Message):
    __slots__ = ("replayed", "consistency_token")
    REPLAYED_FIELD_NUMBER: _ClassVar[int]
    CONSISTENCY_TOKEN_FIELD_NUMBER: _ClassVar[int]
    replayed: bool
    consistency_token: str
    def __init__(self, replayed: _Optional[bool] = ..., consistency_token: _Optional[str] = ...) -> None: ...

class GetProfileRequest(_message.Message):
    __slots__ = ("user_id",)
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    user_id: str
    def __init__(self, user_id: _Optional[str] = ...) -> None: ...

class GetProfileResponse(_message.Message):
    __slots__ = ("profile",)
    PROFILE_FIELD_NUMBER: _ClassVar[int]
    profile: _profile_pb2.Profile
    def __init__(self, profile: _Optional[_Union[_profile_pb2.Profile, _Mapping]] = ...) -> None: ...
