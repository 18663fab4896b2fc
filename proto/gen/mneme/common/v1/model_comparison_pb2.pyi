from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable
from typing import ClassVar as _ClassVar, Optional as _Optional

DESCRIPTOR: _descriptor.FileDescriptor

class ComparedQuestion(_message.Message):
    __slots__ = ("query", "relevant_ids")
    QUERY_FIELD_NUMBER: _ClassVar[int]
    RELEVANT_IDS_FIELD_NUMBER: _ClassVar[int]
    query: str
    relevant_ids: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, query: _Optional[str] = ..., relevant_ids: _Optional[_Iterable[str]] = ...) -> None: ...

class QuestionComparison(_message.Message):
    __slots__ = ("overlap", "first_recall", "second_recall")
    OVERLAP_FIELD_NUMBER: _ClassVar[int]
    FIRST_RECALL_FIELD_NUMBER: _ClassVar[int]
    SECOND_RECALL_FIELD_NUMBER: _ClassVar[int]
    overlap: float
    first_recall: float
    second_recall: float
    def __init__(self, overlap: _Optional[float] = ..., first_recall: _Optional[float] = ..., second_recall: _Optional[float] = ...) -> None: ...
