from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class GateReason(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    GATE_REASON_UNSPECIFIED: _ClassVar[GateReason]
    GATE_REASON_STATED_IMPORTANCE: _ClassVar[GateReason]
    GATE_REASON_EXPLICIT_REQUEST: _ClassVar[GateReason]
    GATE_REASON_CORRECTION: _ClassVar[GateReason]
    GATE_REASON_DECISION: _ClassVar[GateReason]
    GATE_REASON_PERSONAL: _ClassVar[GateReason]
    GATE_REASON_DETAIL: _ClassVar[GateReason]
    GATE_REASON_NEW_INFORMATION: _ClassVar[GateReason]
    GATE_REASON_ANSWER: _ClassVar[GateReason]
    GATE_REASON_GREETING: _ClassVar[GateReason]
    GATE_REASON_ACKNOWLEDGEMENT: _ClassVar[GateReason]
    GATE_REASON_NOISE: _ClassVar[GateReason]
GATE_REASON_UNSPECIFIED: GateReason
GATE_REASON_STATED_IMPORTANCE: GateReason
GATE_REASON_EXPLICIT_REQUEST: GateReason
GATE_REASON_CORRECTION: GateReason
GATE_REASON_DECISION: GateReason
GATE_REASON_PERSONAL: GateReason
GATE_REASON_DETAIL: GateReason
GATE_REASON_NEW_INFORMATION: GateReason
GATE_REASON_ANSWER: GateReason
GATE_REASON_GREETING: GateReason
GATE_REASON_ACKNOWLEDGEMENT: GateReason
GATE_REASON_NOISE: GateReason

class GateVerdict(_message.Message):
    __slots__ = ("gated", "reason", "detail")
    GATED_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    DETAIL_FIELD_NUMBER: _ClassVar[int]
    gated: bool
    reason: GateReason
    detail: str
    def __init__(self, gated: _Optional[bool] = ..., reason: _Optional[_Union[GateReason, str]] = ..., detail: _Optional[str] = ...) -> None: ...
