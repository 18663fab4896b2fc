import datetime

from google.protobuf import timestamp_pb2 as _timestamp_pb2
from mneme.common.v1 import common_pb2 as _common_pb2
from mneme.gateway.v1 import memory_pb2 as _memory_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class ErasureState(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    ERASURE_STATE_UNSPECIFIED: _ClassVar[ErasureState]
    ERASURE_STATE_PENDING: _ClassVar[ErasureState]
    ERASURE_STATE_DONE: _ClassVar[ErasureState]

class ErasureStore(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    ERASURE_STORE_UNSPECIFIED: _ClassVar[ErasureStore]
    ERASURE_STORE_JOURNAL: _ClassVar[ErasureStore]
    ERASURE_STORE_SESSION: _ClassVar[ErasureStore]
    ERASURE_STORE_EPISODIC: _ClassVar[ErasureStore]
    ERASURE_STORE_SEMANTIC: _ClassVar[ErasureStore]
    ERASURE_STORE_AGENTIC: _ClassVar[ErasureStore]

class PlannedReason(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    PLANNED_REASON_UNSPECIFIED: _ClassVar[PlannedReason]
    PLANNED_REASON_NAME: _ClassVar[PlannedReason]
    PLANNED_REASON_WORDS: _ClassVar[PlannedReason]
    PLANNED_REASON_MATTER: _ClassVar[PlannedReason]
    PLANNED_REASON_SIMILARITY: _ClassVar[PlannedReason]
    PLANNED_REASON_FOLLOW_UP: _ClassVar[PlannedReason]
    PLANNED_REASON_CONVERSATION: _ClassVar[PlannedReason]
    PLANNED_REASON_OWN_SUBJECT: _ClassVar[PlannedReason]
    PLANNED_REASON_ANOTHER: _ClassVar[PlannedReason]
    PLANNED_REASON_UNSURE: _ClassVar[PlannedReason]
    PLANNED_REASON_EXCEPTED: _ClassVar[PlannedReason]
ERASURE_STATE_UNSPECIFIED: ErasureState
ERASURE_STATE_PENDING: ErasureState
ERASURE_STATE_DONE: ErasureState
ERASURE_STORE_UNSPECIFIED: ErasureStore
ERASURE_STORE_JOURNAL: ErasureStore
ERASURE_STORE_SESSION: ErasureStore
ERASURE_STORE_EPISODIC: ErasureStore
ERASURE_STORE_SEMANTIC: ErasureStore
ERASURE_STORE_AGENTIC: ErasureStore
PLANNED_REASON_UNSPECIFIED: PlannedReason
PLANNED_REASON_NAME: PlannedReason
PLANNED_REASON_WORDS: PlannedReason
PLANNED_REASON_MATTER: PlannedReason
PLANNED_REASON_SIMILARITY: PlannedReason
PLANNED_REASON_FOLLOW_UP: PlannedReason
PLANNED_REASON_CONVERSATION: PlannedReason
PLANNED_REASON_OWN_SUBJECT: PlannedReason
PLANNED_REASON_ANOTHER: PlannedReason
PLANNED_REASON_UNSURE: PlannedReason
PLANNED_REASON_EXCEPTED: PlannedReason

class StoreReceipt(_message.Message):
    __slots__ = ("store", "done", "counts", "bytes_may_remain")
    class CountsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: int
        def __init__(self, key: _Optional[str] = ..., value: _Optional[int] = ...) -> None: ...
    STORE_FIELD_NUMBER: _ClassVar[int]
    DONE_FIELD_NUMBER: _ClassVar[int]
    COUNTS_FIELD_NUMBER: _ClassVar[int]
    BYTES_MAY_REMAIN_FIELD_NUMBER: _ClassVar[int]
    store: ErasureStore
    done: bool
    counts: _containers.ScalarMap[str, int]
    bytes_may_remain: bool
    def __init__(self, store: _Optional[_Union[ErasureStore, str]] = ..., done: _Optional[bool] = ..., counts: _Optional[_Mapping[str, int]] = ..., bytes_may_remain: _Optional[bool] = ...) -> None: ...

class Erasure(_message.Message):
    __slots__ = ("erasure_id", "user_id", "state", "stores", "create_time", "complete_time", "backup_expire_time", "purge_note", "purge_time", "purge_due_time")
    ERASURE_ID_FIELD_NUMBER: _ClassVar[int]
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    STORES_FIELD_NUMBER: _ClassVar[int]
    CREATE_TIME_FIELD_NUMBER: _ClassVar[int]
    COMPLETE_TIME_FIELD_NUMBER: _ClassVar[int]
    BACKUP_EXPIRE_TIME_FIELD_NUMBER: _ClassVar[int]
    PURGE_NOTE_FIELD_NUMBER: _ClassVar[int]
    PURGE_TIME_FIELD_NUMBER: _ClassVar[int]
    PURGE_DUE_TIME_FIELD_NUMBER: _ClassVar[int]
    erasure_id: str
    user_id: str
    state: ErasureState
    stores: _containers.RepeatedCompositeFieldContainer[StoreReceipt]
    create_time: _timestamp_pb2.Timestamp
    complete_time: _timestamp_pb2.Timestamp
    backup_expire_time: _timestamp_pb2.Timestamp
    purge_note: str
    purge_time: _timestamp_pb2.Timestamp
    purge_due_time: _timestamp_pb2.Timestamp
    def __init__(self, erasure_id: _Optional[str] = ..., user_id: _Optional[str] = ..., state: _Optional[_Union[ErasureState, str]] = ..., stores: _Optional[_Iterable[_Union[StoreReceipt, _Mapping]]] = ..., create_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., complete_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., backup_expire_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., purge_note: _Optional[str] = ..., purge_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., purge_due_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class PlannedMemory(_message.Message):
    __slots__ = ("memory", "preview", "time", "reason")
    MEMORY_FIELD_NUMBER: _ClassVar[int]
    PREVIEW_FIELD_NUMBER: _ClassVar[int]
    TIME_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    memory: _memory_pb2.MemoryReference
    preview: str
    time: _timestamp_pb2.Timestamp
    reason: PlannedReason
    def __init__(self, memory: _Optional[_Union[_memory_pb2.MemoryReference, _Mapping]] = ..., preview: _Optional[str] = ..., time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., reason: _Optional[_Union[PlannedReason, str]] = ...) -> None: ...

class ErasurePlan(_message.Message):
    __slots__ = ("episodes", "facts", "notes", "memories", "near", "degraded")
    EPISODES_FIELD_NUMBER: _ClassVar[int]
    FACTS_FIELD_NUMBER: _ClassVar[int]
    NOTES_FIELD_NUMBER: _ClassVar[int]
    MEMORIES_FIELD_NUMBER: _ClassVar[int]
    NEAR_FIELD_NUMBER: _ClassVar[int]
    DEGRADED_FIELD_NUMBER: _ClassVar[int]
    episodes: int
    facts: int
    notes: int
    memories: _containers.RepeatedCompositeFieldContainer[PlannedMemory]
    near: _containers.RepeatedCompositeFieldContainer[PlannedMemory]
    degraded: bool
    def __init__(self, episodes: _Optional[int] = ..., facts: _Optional[int] = ..., notes: _Optional[int] = ..., memories: _Optional[_Iterable[_Union[PlannedMemory, _Mapping]]] = ..., near: _Optional[_Iterable[_Union[PlannedMemory, _Mapping]]] = ..., degraded: _Optional[bool] = ...) -> None: ...

class MemoryReferences(_message.Message):
    __slots__ = ("memories",)
    MEMORIES_FIELD_NUMBER: _ClassVar[int]
    memories: _containers.RepeatedCompositeFieldContainer[_memory_pb2.MemoryReference]
    def __init__(self, memories: _Optional[_Iterable[_Union[_memory_pb2.MemoryReference, _Mapping]]] = ...) -> None: ...

class ScopeTarget(_message.Message):
    __slots__ = ("scope", "with_nested")
    SCOPE_FIELD_NUMBER: _ClassVar[int]
    WITH_NESTED_FIELD_NUMBER: _ClassVar[int]
    scope: _common_pb2.Scope
    with_nested: bool
    def __init__(self, scope: _Optional[_Union[_common_pb2.Scope, _Mapping]] = ..., with_nested: _Optional[bool] = ...) -> None: ...

class EraseRequest(_message.Message):
    __slots__ = ("request_id", "user_id", "memories", "conversation_id", "scope", "all_of_user", "all_of_tenant", "dry_run")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    MEMORIES_FIELD_NUMBER: _ClassVar[int]
    CONVERSATION_ID_FIELD_NUMBER: _ClassVar[int]
    SCOPE_FIELD_NUMBER: _ClassVar[int]
    ALL_OF_USER_FIELD_NUMBER: _ClassVar[int]
    ALL_OF_TENANT_FIELD_NUMBER: _ClassVar[int]
    DRY_RUN_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    user_id: str
    memories: MemoryReferences
    conversation_id: str
    scope: ScopeTarget
    all_of_user: bool
    all_of_tenant: bool
    dry_run: bool
    def __init__(self, request_id: _Optional[str] = ..., user_id: _Optional[str] = ..., memories: _Optional[_Union[MemoryReferences, _Mapping]] = ..., conversation_id: _Optional[str] = ..., scope: _Optional[_Union[ScopeTarget, _Mapping]] = ..., all_of_user: _Optional[bool] = ..., all_of_tenant: _Optional[bool] = ..., dry_run: _Optional[bool] = ...) -> None: ...

class EraseResponse(_message.Message):
    __slots__ = ("erasure", "plan", "replayed")
    ERASURE_FIELD_NUMBER: _ClassVar[int]
    PLAN_FIELD_NUMBER: _ClassVar[int]
    REPLAYED_FIELD_NUMBER: _ClassVar[int]
    erasure: Erasure
    plan: ErasurePlan
    replayed: bool
    def __init__(self, erasure: _Optional[_Union[Erasure, _Mapping]] = ..., plan: _Optional[_Union[ErasurePlan, _Mapping]] = ..., replayed: _Optional[bool] = ...) -> None: ...

class GetErasureRequest(_message.Message):
    __slots__ = ("erasure_id",)
    ERASURE_ID_FIELD_NUMBER: _ClassVar[int]
    erasure_id: str
    def __init__(self, erasure_id: _Optional[str] = ...) -> None: ...

class GetErasureResponse(_message.Message):
    __slots__ = ("erasure",)
    ERASURE_FIELD_NUMBER: _ClassVar[int]
    erasure: Erasure
    def __init__(self, erasure: _Optional[_Union[Erasure, _Mapping]] = ...) -> None: ...

class ListErasuresRequest(_message.Message):
    __slots__ = ("user_id", "page_size", "page_token")
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    user_id: str
    page_size: int
    page_token: str
    def __init__(self, user_id: _Optional[str] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListErasuresResponse(_message.Message):
    __slots__ = ("erasures", "next_page_token")
    ERASURES_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    erasures: _containers.RepeatedCompositeFieldContainer[Erasure]
    next_page_token: str
    def __init__(self, erasures: _Optional[_Iterable[_Union[Erasure, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class ForgetRequest(_message.Message):
    __slots__ = ("request_id", "user_id", "query", "dry_run", "plan_token", "reader_scope")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    QUERY_FIELD_NUMBER: _ClassVar[int]
    DRY_RUN_FIELD_NUMBER: _ClassVar[int]
    PLAN_TOKEN_FIELD_NUMBER: _ClassVar[int]
    READER_SCOPE_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    user_id: str
    query: str
    dry_run: bool
    plan_token: str
    reader_scope: _common_pb2.Scope
    def __init__(self, request_id: _Optional[str] = ..., user_id: _Optional[str] = ..., query: _Optional[str] = ..., dry_run: _Optional[bool] = ..., plan_token: _Optional[str] = ..., reader_scope: _Optional[_Union[_common_pb2.Scope, _Mapping]] = ...) -> None: ...

class ForgetResponse(_message.Message):
    __slots__ = ("erasure", "plan", "plan_token", "replayed")
    ERASURE_FIELD_NUMBER: _ClassVar[int]
    PLAN_FIELD_NUMBER: _ClassVar[int]
    PLAN_TOKEN_FIELD_NUMBER: _ClassVar[int]
    REPLAYED_FIELD_NUMBER: _ClassVar[int]
    erasure: Erasure
    plan: ErasurePlan
    plan_token: str
    replayed: bool
    def __init__(self, erasure: _Optional[_Union[Erasure, _Mapping]] = ..., plan: _Optional[_Union[ErasurePlan, _Mapping]] = ..., plan_token: _Optional[str] = ..., replayed: _Optional[bool] = ...) -> None: ...

class CorrectRequest(_message.Message):
    __slots__ = ("request_id", "user_id", "memory", "query", "text", "time", "dry_run", "whole_turn", "reader_scope")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    MEMORY_FIELD_NUMBER: _ClassVar[int]
    QUERY_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    TIME_FIELD_NUMBER: _ClassVar[int]
    DRY_RUN_FIELD_NUMBER: _ClassVar[int]
    WHOLE_TURN_FIELD_NUMBER: _ClassVar[int]
    READER_SCOPE_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    user_id: str
    memory: _memory_pb2.MemoryReference
    query: str
    text: str
    time: _timestamp_pb2.Timestamp
    dry_run: bool
    whole_turn: bool
    reader_scope: _common_pb2.Scope
    def __init__(self, request_id: _Optional[str] = ..., user_id: _Optional[str] = ..., memory: _Optional[_Union[_memory_pb2.MemoryReference, _Mapping]] = ..., query: _Optional[str] = ..., text: _Optional[str] = ..., time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., dry_run: _Optional[bool] = ..., whole_turn: _Optional[bool] = ..., reader_scope: _Optional[_Union[_common_pb2.Scope, _Mapping]] = ...) -> None: ...

class CorrectedStatement(_message.Message):
    __slots__ = ("interaction_id", "preview", "whole_turn")
    INTERACTION_ID_FIELD_NUMBER: _ClassVar[int]
    PREVIEW_FIELD_NUMBER: _ClassVar[int]
    WHOLE_TURN_FIELD_NUMBER: _ClassVar[int]
    interaction_id: str
    preview: str
    whole_turn: bool
    def __init__(self, interaction_id: _Optional[str] = ..., preview: _Optional[str] = ..., whole_turn: _Optional[bool] = ...) -> None: ...

class CorrectResponse(_message.Message):
    __slots__ = ("interaction_id", "consistency_token", "statements", "replayed")
    INTERACTION_ID_FIELD_NUMBER: _ClassVar[int]
    CONSISTENCY_TOKEN_FIELD_NUMBER: _ClassVar[int]
    STATEMENTS_FIELD_NUMBER: _ClassVar[int]
    REPLAYED_FIELD_NUMBER: _ClassVar[int]
    interaction_id: str
    consistency_token: str
    statements: _containers.RepeatedCompositeFieldContainer[CorrectedStatement]
    replayed: bool
    def __init__(self, interaction_id: _Optional[str] = ..., consistency_token: _Optional[str] = ..., statements: _Optional[_Iterable[_Union[CorrectedStatement, _Mapping]]] = ..., replayed: _Optional[bool] = ...) -> None: ...
