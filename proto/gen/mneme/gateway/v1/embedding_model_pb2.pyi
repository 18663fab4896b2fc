import datetime

from google.protobuf import timestamp_pb2 as _timestamp_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class GetEmbeddingModelRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class GetEmbeddingModelResponse(_message.Message):
    __slots__ = ("state",)
    STATE_FIELD_NUMBER: _ClassVar[int]
    state: EmbeddingModelState
    def __init__(self, state: _Optional[_Union[EmbeddingModelState, _Mapping]] = ...) -> None: ...

class CutOverEmbeddingModelRequest(_message.Message):
    __slots__ = ("request_id", "model", "allow_gaps")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    MODEL_FIELD_NUMBER: _ClassVar[int]
    ALLOW_GAPS_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    model: str
    allow_gaps: bool
    def __init__(self, request_id: _Optional[str] = ..., model: _Optional[str] = ..., allow_gaps: _Optional[bool] = ...) -> None: ...

class CutOverEmbeddingModelResponse(_message.Message):
    __slots__ = ("state",)
    STATE_FIELD_NUMBER: _ClassVar[int]
    state: EmbeddingModelState
    def __init__(self, state: _Optional[_Union[EmbeddingModelState, _Mapping]] = ...) -> None: ...

class EmbeddingModelState(_message.Message):
    __slots__ = ("serving_model", "former_model", "change_time", "held_models", "processes")
    SERVING_MODEL_FIELD_NUMBER: _ClassVar[int]
    FORMER_MODEL_FIELD_NUMBER: _ClassVar[int]
    CHANGE_TIME_FIELD_NUMBER: _ClassVar[int]
    HELD_MODELS_FIELD_NUMBER: _ClassVar[int]
    PROCESSES_FIELD_NUMBER: _ClassVar[int]
    serving_model: str
    former_model: str
    change_time: _timestamp_pb2.Timestamp
    held_models: _containers.RepeatedScalarFieldContainer[str]
    processes: _containers.RepeatedCompositeFieldContainer[EmbeddingModelProcess]
    def __init__(self, serving_model: _Optional[str] = ..., former_model: _Optional[str] = ..., change_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., held_models: _Optional[_Iterable[str]] = ..., processes: _Optional[_Iterable[_Union[EmbeddingModelProcess, _Mapping]]] = ...) -> None: ...

class EmbeddingModelProcess(_message.Message):
    __slots__ = ("process_id", "service", "held_models", "serving_model")
    PROCESS_ID_FIELD_NUMBER: _ClassVar[int]
    SERVICE_FIELD_NUMBER: _ClassVar[int]
    HELD_MODELS_FIELD_NUMBER: _ClassVar[int]
    SERVING_MODEL_FIELD_NUMBER: _ClassVar[int]
    process_id: str
    service: str
    held_models: _containers.RepeatedScalarFieldContainer[str]
    serving_model: str
    def __init__(self, process_id: _Optional[str] = ..., service: _Optional[str] = ..., held_models: _Optional[_Iterable[str]] = ..., serving_model: _Optional[str] = ...) -> None: ...
