import datetime

from google.protobuf import field_mask_pb2 as _field_mask_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from mneme.common.v1 import common_pb2 as _common_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class ProcedureKind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    PROCEDURE_KIND_UNSPECIFIED: _ClassVar[ProcedureKind]
    PROCEDURE_KIND_QUERY_REWRITING: _ClassVar[ProcedureKind]
    PROCEDURE_KIND_RETRIEVAL_STRATEGY: _ClassVar[ProcedureKind]
    PROCEDURE_KIND_RESPONSE_FORMATTING: _ClassVar[ProcedureKind]
    PROCEDURE_KIND_SOURCE_SELECTION: _ClassVar[ProcedureKind]
    PROCEDURE_KIND_CO_EDIT: _ClassVar[ProcedureKind]
    PROCEDURE_KIND_ERROR_FIX: _ClassVar[ProcedureKind]
    PROCEDURE_KIND_REFACTOR: _ClassVar[ProcedureKind]

class ProcedureOrigin(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    PROCEDURE_ORIGIN_UNSPECIFIED: _ClassVar[ProcedureOrigin]
    PROCEDURE_ORIGIN_STATED: _ClassVar[ProcedureOrigin]
    PROCEDURE_ORIGIN_REPHRASED: _ClassVar[ProcedureOrigin]
    PROCEDURE_ORIGIN_DEFINED: _ClassVar[ProcedureOrigin]
    PROCEDURE_ORIGIN_OBSERVED: _ClassVar[ProcedureOrigin]
PROCEDURE_KIND_UNSPECIFIED: ProcedureKind
PROCEDURE_KIND_QUERY_REWRITING: ProcedureKind
PROCEDURE_KIND_RETRIEVAL_STRATEGY: ProcedureKind
PROCEDURE_KIND_RESPONSE_FORMATTING: ProcedureKind
PROCEDURE_KIND_SOURCE_SELECTION: ProcedureKind
PROCEDURE_KIND_CO_EDIT: ProcedureKind
PROCEDURE_KIND_ERROR_FIX: ProcedureKind
PROCEDURE_KIND_REFACTOR: ProcedureKind
PROCEDURE_ORIGIN_UNSPECIFIED: ProcedureOrigin
PROCEDURE_ORIGIN_STATED: ProcedureOrigin
PROCEDURE_ORIGIN_REPHRASED: ProcedureOrigin
PROCEDURE_ORIGIN_DEFINED: ProcedureOrigin
PROCEDURE_ORIGIN_OBSERVED: ProcedureOrigin

class Procedure(_message.Message):
    __slots__ = ("procedure_id", "user_id", "kind", "trigger", "action", "expands", "confidence", "initial_confidence", "success_count", "failure_count", "origin", "derived_from", "scope", "create_time", "update_time", "etag", "observed_count", "contrary_count")
    PROCEDURE_ID_FIELD_NUMBER: _ClassVar[int]
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    TRIGGER_FIELD_NUMBER: _ClassVar[int]
    ACTION_FIELD_NUMBER: _ClassVar[int]
    EXPANDS_FIELD_NUMBER: _ClassVar[int]
    CONFIDENCE_FIELD_NUMBER: _ClassVar[int]
    INITIAL_CONFIDENCE_FIELD_NUMBER: _ClassVar[int]
    SUCCESS_COUNT_FIELD_NUMBER: _ClassVar[int]
    FAILURE_COUNT_FIELD_NUMBER: _ClassVar[int]
    ORIGIN_FIELD_NUMBER: _ClassVar[int]
    DERIVED_FROM_FIELD_NUMBER: _ClassVar[int]
    SCOPE_FIELD_NUMBER: _ClassVar[int]
    CREATE_TIME_FIELD_NUMBER: _ClassVar[int]
    UPDATE_TIME_FIELD_NUMBER: _ClassVar[int]
    ETAG_FIELD_NUMBER: _ClassVar[int]
    OBSERVED_COUNT_FIELD_NUMBER: _ClassVar[int]
    CONTRARY_COUNT_FIELD_NUMBER: _ClassVar[int]
    procedure_id: str
    user_id: str
    kind: ProcedureKind
    trigger: str
    action: str
    expands: bool
    confidence: float
    initial_confidence: float
    success_count: int
    failure_count: int
    origin: ProcedureOrigin
    derived_from: _containers.RepeatedScalarFieldContainer[str]
    scope: _common_pb2.Scope
    create_time: _timestamp_pb2.Timestamp
    update_time: _timestamp_pb2.Timestamp
    etag: str
    observed_count: int
    contrary_count: int
    def __init__(self, procedure_id: _Optional[str] = ..., user_id: _Optional[str] = ..., kind: _Optional[_Union[ProcedureKind, str]] = ..., trigger: _Optional[str] = ..., action: _Optional[str] = ..., expands: _Optional[bool] = ..., confidence: _Optional[float] = ..., initial_confidence: _Optional[float] = ..., success_count: _Optional[int] = ..., failure_count: _Optional[int] = ..., origin: _Optional[_Union[ProcedureOrigin, str]] = ..., derived_from: _Optional[_Iterable[str]] = ..., scope: _Optional[_Union[_common_pb2.Scope, _Mapping]] = ..., create_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., update_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., etag: _Optional[str] = ..., observed_count: _Optional[int] = ..., contrary_count: _Optional[int] = ...) -> None: ...

class CreateProcedureRequest(_message.Message):
    __slots__ = ("request_id", "user_id", "kind", "trigger", "action", "expands", "initial_confidence", "derived_from", "scope")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    TRIGGER_FIELD_NUMBER: _ClassVar[int]
    ACTION_FIELD_NUMBER: _ClassVar[int]
    EXPANDS_FIELD_NUMBER: _ClassVar[int]
    INITIAL_CONFIDENCE_FIELD_NUMBER: _ClassVar[int]
    DERIVED_FROM_FIELD_NUMBER: _ClassVar[int]
    SCOPE_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    user_id: str
    kind: ProcedureKind
    trigger: str
    action: str
    expands: bool
    initial_confidence: float
    derived_from: _containers.RepeatedScalarFieldContainer[str]
    scope: _common_pb2.Scope
    def __init__(self, request_id: _Optional[str] = ..., user_id: _Optional[str] = ..., kind: _Optional[_Union[ProcedureKind, str]] = ..., trigger: _Optional[str] = ..., action: _Optional[str] = ..., expands: _Optional[bool] = ..., initial_confidence: _Optional[float] = ..., derived_from: _Optional[_Iterable[str]] = ..., scope: _Optional[_Union[_common_pb2.Scope, _Mapping]] = ...) -> None: ...

class CreateProcedureResponse(_message.Message):
    __slots__ = ("procedure",)
    PROCEDURE_FIELD_NUMBER: _ClassVar[int]
    procedure: Procedure
    def __init__(self, procedure: _Optional[_Union[Procedure, _Mapping]] = ...) -> None: ...

class GetProcedureRequest(_message.Message):
    __slots__ = ("user_id", "procedure_id", "reader_scope")
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    PROCEDURE_ID_FIELD_NUMBER: _ClassVar[int]
    READER_SCOPE_FIELD_NUMBER: _ClassVar[int]
    user_id: str
    procedure_id: str
    reader_scope: _common_pb2.Scope
    def __init__(self, user_id: _Optional[str] = ..., procedure_id: _Optional[str] = ..., reader_scope: _Optional[_Union[_common_pb2.Scope, _Mapping]] = ...) -> None: ...

class GetProcedureResponse(_message.Message):
    __slots__ = ("procedure",)
    PROCEDURE_FIELD_NUMBER: _ClassVar[int]
    procedure: Procedure
    def __init__(self, procedure: _Optional[_Union[Procedure, _Mapping]] = ...) -> None: ...

class ListProceduresRequest(_message.Message):
    __slots__ = ("user_id", "kind", "page_size", "page_token", "reader_scope")
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    READER_SCOPE_FIELD_NUMBER: _ClassVar[int]
    user_id: str
    kind: ProcedureKind
    page_size: int
    page_token: str
    reader_scope: _common_pb2.Scope
    def __init__(self, user_id: _Optional[str] = ..., kind: _Optional[_Union[ProcedureKind, str]] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ..., reader_scope: _Optional[_Union[_common_pb2.Scope, _Mapping]] = ...) -> None: ...

class ListProceduresResponse(_message.Message):
    __slots__ = ("procedures", "next_page_token")
    PROCEDURES_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    procedures: _containers.RepeatedCompositeFieldContainer[Procedure]
    next_page_token: str
    def __init__(self, procedures: _Optional[_Iterable[_Union[Procedure, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class UpdateProcedureRequest(_message.Message):
    __slots__ = ("request_id", "user_id", "procedure_id", "trigger", "action", "expands", "initial_confidence", "update_mask", "etag")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    PROCEDURE_ID_FIELD_NUMBER: _ClassVar[int]
    TRIGGER_FIELD_NUMBER: _ClassVar[int]
    ACTION_FIELD_NUMBER: _ClassVar[int]
    EXPANDS_FIELD_NUMBER: _ClassVar[int]
    INITIAL_CONFIDENCE_FIELD_NUMBER: _ClassVar[int]
    UPDATE_MASK_FIELD_NUMBER: _ClassVar[int]
    ETAG_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    user_id: str
    procedure_id: str
    trigger: str
    action: str
    expands: bool
    initial_confidence: float
    update_mask: _field_mask_pb2.FieldMask
    etag: str
    def __init__(self, request_id: _Optional[str] = ..., user_id: _Optional[str] = ..., procedure_id: _Optional[str] = ..., trigger: _Optional[str] = ..., action: _Optional[str] = ..., expands: _Optional[bool] = ..., initial_confidence: _Optional[float] = ..., update_mask: _Optional[_Union[_field_mask_pb2.FieldMask, _Mapping]] = ..., etag: _Optional[str] = ...) -> None: ...

class UpdateProcedureResponse(_message.Message):
    __slots__ = ("procedure",)
    PROCEDURE_FIELD_NUMBER: _ClassVar[int]
    procedure: Procedure
    def __init__(self, procedure: _Optional[_Union[Procedure, _Mapping]] = ...) -> None: ...

class DeleteProcedureRequest(_message.Message):
    __slots__ = ("request_id", "user_id", "procedure_id", "etag")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    PROCEDURE_ID_FIELD_NUMBER: _ClassVar[int]
    ETAG_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    user_id: str
    procedure_id: str
    etag: str
    def __init__(self, request_id: _Optional[str] = ..., user_id: _Optional[str] = ..., procedure_id: _Optional[str] = ..., etag: _Optional[str] = ...) -> None: ...

class DeleteProcedureResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...
