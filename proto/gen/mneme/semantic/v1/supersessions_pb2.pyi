import datetime

from google.protobuf import timestamp_pb2 as _timestamp_pb2
from mneme.common.v1 import common_pb2 as _common_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class SupersessionReason(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    SUPERSESSION_REASON_UNSPECIFIED: _ClassVar[SupersessionReason]
    SUPERSESSION_REASON_UPDATED: _ClassVar[SupersessionReason]
    SUPERSESSION_REASON_CONTRADICTED: _ClassVar[SupersessionReason]
    SUPERSESSION_REASON_CORRECTED: _ClassVar[SupersessionReason]
    SUPERSESSION_REASON_PREMISE_ENDED: _ClassVar[SupersessionReason]

class SupersessionState(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    SUPERSESSION_STATE_UNSPECIFIED: _ClassVar[SupersessionState]
    SUPERSESSION_STATE_APPLIED: _ClassVar[SupersessionState]
    SUPERSESSION_STATE_PENDING: _ClassVar[SupersessionState]
    SUPERSESSION_STATE_REJECTED: _ClassVar[SupersessionState]
    SUPERSESSION_STATE_REDUCED: _ClassVar[SupersessionState]

class SupersessionDecision(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    SUPERSESSION_DECISION_UNSPECIFIED: _ClassVar[SupersessionDecision]
    SUPERSESSION_DECISION_LATER_STANDS: _ClassVar[SupersessionDecision]
    SUPERSESSION_DECISION_EARLIER_STANDS: _ClassVar[SupersessionDecision]
    SUPERSESSION_DECISION_BOTH_STAND: _ClassVar[SupersessionDecision]
    SUPERSESSION_DECISION_BOTH_REDUCED: _ClassVar[SupersessionDecision]

class SupersessionDecider(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    SUPERSESSION_DECIDER_UNSPECIFIED: _ClassVar[SupersessionDecider]
    SUPERSESSION_DECIDER_USER: _ClassVar[SupersessionDecider]
    SUPERSESSION_DECIDER_POLICY: _ClassVar[SupersessionDecider]
    SUPERSESSION_DECIDER_LANGUAGE_MODEL: _ClassVar[SupersessionDecider]
SUPERSESSION_REASON_UNSPECIFIED: SupersessionReason
SUPERSESSION_REASON_UPDATED: SupersessionReason
SUPERSESSION_REASON_CONTRADICTED: SupersessionReason
SUPERSESSION_REASON_CORRECTED: SupersessionReason
SUPERSESSION_REASON_PREMISE_ENDED: SupersessionReason
SUPERSESSION_STATE_UNSPECIFIED: SupersessionState
SUPERSESSION_STATE_APPLIED: SupersessionState
SUPERSESSION_STATE_PENDING: SupersessionState
SUPERSESSION_STATE_REJECTED: SupersessionState
SUPERSESSION_STATE_REDUCED: SupersessionState
SUPERSESSION_DECISION_UNSPECIFIED: SupersessionDecision
SUPERSESSION_DECISION_LATER_STANDS: SupersessionDecision
SUPERSESSION_DECISION_EARLIER_STANDS: SupersessionDecision
SUPERSESSION_DECISION_BOTH_STAND: SupersessionDecision
SUPERSESSION_DECISION_BOTH_REDUCED: SupersessionDecision
SUPERSESSION_DECIDER_UNSPECIFIED: SupersessionDecider
SUPERSESSION_DECIDER_USER: SupersessionDecider
SUPERSESSION_DECIDER_POLICY: SupersessionDecider
SUPERSESSION_DECIDER_LANGUAGE_MODEL: SupersessionDecider

class Supersession(_message.Message):
    __slots__ = ("supersession_id", "memory_id", "statement", "whole_turn", "superseded_by", "standing_statement", "reason", "state", "end_time", "create_time", "premise", "decided_by", "decision_reason")
    SUPERSESSION_ID_FIELD_NUMBER: _ClassVar[int]
    MEMORY_ID_FIELD_NUMBER: _ClassVar[int]
    STATEMENT_FIELD_NUMBER: _ClassVar[int]
    WHOLE_TURN_FIELD_NUMBER: _ClassVar[int]
    SUPERSEDED_BY_FIELD_NUMBER: _ClassVar[int]
    STANDING_STATEMENT_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    END_TIME_FIELD_NUMBER: _ClassVar[int]
    CREATE_TIME_FIELD_NUMBER: _ClassVar[int]
    PREMISE_FIELD_NUMBER: _ClassVar[int]
    DECIDED_BY_FIELD_NUMBER: _ClassVar[int]
    DECISION_REASON_FIELD_NUMBER: _ClassVar[int]
    supersession_id: str
    memory_id: str
    statement: str
    whole_turn: bool
    superseded_by: str
    standing_statement: str
    reason: SupersessionReason
    state: SupersessionState
    end_time: _timestamp_pb2.Timestamp
    create_time: _timestamp_pb2.Timestamp
    premise: str
    decided_by: SupersessionDecider
    decision_reason: str
    def __init__(self, supersession_id: _Optional[str] = ..., memory_id: _Optional[str] = ..., statement: _Optional[str] = ..., whole_turn: _Optional[bool] = ..., superseded_by: _Optional[str] = ..., standing_statement: _Optional[str] = ..., reason: _Optional[_Union[SupersessionReason, str]] = ..., state: _Optional[_Union[SupersessionState, str]] = ..., end_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., create_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., premise: _Optional[str] = ..., decided_by: _Optional[_Union[SupersessionDecider, str]] = ..., decision_reason: _Optional[str] = ...) -> None: ...

class ListSupersessionsRequest(_message.Message):
    __slots__ = ("user_id", "state", "page_size", "page_token", "reader_scope")
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    READER_SCOPE_FIELD_NUMBER: _ClassVar[int]
    user_id: str
    state: SupersessionState
    page_size: int
    page_token: str
    reader_scope: _common_pb2.Scope
    def __init__(self, user_id: _Optional[str] = ..., state: _Optional[_Union[SupersessionState, str]] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ..., reader_scope: _Optional[_Union[_common_pb2.Scope, _Mapping]] = ...) -> None: ...

class ListSupersessionsResponse(_message.Message):
    __slots__ = ("supersessions", "next_page_token")
    SUPERSESSIONS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    supersessions: _containers.RepeatedCompositeFieldContainer[Supersession]
    next_page_token: str
    def __init__(self, supersessions: _Optional[_Iterable[_Union[Supersession, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class ResolveSupersessionRequest(_message.Message):
    __slots__ = ("request_id", "user_id", "supersession_id", "decision")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    SUPERSESSION_ID_FIELD_NUMBER: _ClassVar[int]
    DECISION_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    user_id: str
    supersession_id: str
    decision: SupersessionDecision
    def __init__(self, request_id: _Optional[str] = ..., user_id: _Optional[str] = ..., supersession_id: _Optional[str] = ..., decision: _Optional[_Union[SupersessionDecision, str]] = ...) -> None: ...

class ResolveSupersessionResponse(_message.Message):
    __slots__ = ("supersession",)
    SUPERSESSION_FIELD_NUMBER: _ClassVar[int]
    supersession: Supersession
    def __init__(self, supersession: _Optional[_Union[Supersession, _Mapping]] = ...) -> None: ...
