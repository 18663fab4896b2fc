import datetime

from google.protobuf import duration_pb2 as _duration_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class DocumentComparison(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    DOCUMENT_COMPARISON_UNSPECIFIED: _ClassVar[DocumentComparison]
    DOCUMENT_COMPARISON_EQUAL: _ClassVar[DocumentComparison]
    DOCUMENT_COMPARISON_NOT_EQUAL: _ClassVar[DocumentComparison]
    DOCUMENT_COMPARISON_GREATER: _ClassVar[DocumentComparison]
    DOCUMENT_COMPARISON_GREATER_OR_EQUAL: _ClassVar[DocumentComparison]
    DOCUMENT_COMPARISON_LESS: _ClassVar[DocumentComparison]
    DOCUMENT_COMPARISON_LESS_OR_EQUAL: _ClassVar[DocumentComparison]
DOCUMENT_COMPARISON_UNSPECIFIED: DocumentComparison
DOCUMENT_COMPARISON_EQUAL: DocumentComparison
DOCUMENT_COMPARISON_NOT_EQUAL: DocumentComparison
DOCUMENT_COMPARISON_GREATER: DocumentComparison
DOCUMENT_COMPARISON_GREATER_OR_EQUAL: DocumentComparison
DOCUMENT_COMPARISON_LESS: DocumentComparison
DOCUMENT_COMPARISON_LESS_OR_EQUAL: DocumentComparison

class DocumentName(_message.Message):
    __slots__ = ("namespace", "key")
    NAMESPACE_FIELD_NUMBER: _ClassVar[int]
    KEY_FIELD_NUMBER: _ClassVar[int]
    namespace: _containers.RepeatedScalarFieldContainer[str]
    key: str
    def __init__(self, namespace: _Optional[_Iterable[str]] = ..., key: _Optional[str] = ...) -> None: ...

class Document(_message.Message):
    __slots__ = ("name", "value", "search_texts", "etag", "create_time", "update_time", "ttl", "expire_time")
    NAME_FIELD_NUMBER: _ClassVar[int]
    VALUE_FIELD_NUMBER: _ClassVar[int]
    SEARCH_TEXTS_FIELD_NUMBER: _ClassVar[int]
    ETAG_FIELD_NUMBER: _ClassVar[int]
    CREATE_TIME_FIELD_NUMBER: _ClassVar[int]
    UPDATE_TIME_FIELD_NUMBER: _ClassVar[int]
    TTL_FIELD_NUMBER: _ClassVar[int]
    EXPIRE_TIME_FIELD_NUMBER: _ClassVar[int]
    name: DocumentName
    value: str
    search_texts: _containers.RepeatedScalarFieldContainer[str]
    etag: str
    create_time: _timestamp_pb2.Timestamp
    update_time: _timestamp_pb2.Timestamp
    ttl: _duration_pb2.Duration
    expire_time: _timestamp_pb2.Timestamp
    def __init__(self, name: _Optional[_Union[DocumentName, _Mapping]] = ..., value: _Optional[str] = ..., search_texts: _Optional[_Iterable[str]] = ..., etag: _Optional[str] = ..., create_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., update_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., ttl: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., expire_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class DocumentWrite(_message.Message):
    __slots__ = ("name", "put", "delete", "etag")
    NAME_FIELD_NUMBER: _ClassVar[int]
    PUT_FIELD_NUMBER: _ClassVar[int]
    DELETE_FIELD_NUMBER: _ClassVar[int]
    ETAG_FIELD_NUMBER: _ClassVar[int]
    name: DocumentName
    put: PutDocument
    delete: DeleteDocument
    etag: str
    def __init__(self, name: _Optional[_Union[DocumentName, _Mapping]] = ..., put: _Optional[_Union[PutDocument, _Mapping]] = ..., delete: _Optional[_Union[DeleteDocument, _Mapping]] = ..., etag: _Optional[str] = ...) -> None: ...

class PutDocument(_message.Message):
    __slots__ = ("value", "search_texts", "ttl", "must_be_new")
    VALUE_FIELD_NUMBER: _ClassVar[int]
    SEARCH_TEXTS_FIELD_NUMBER: _ClassVar[int]
    TTL_FIELD_NUMBER: _ClassVar[int]
    MUST_BE_NEW_FIELD_NUMBER: _ClassVar[int]
    value: str
    search_texts: _containers.RepeatedScalarFieldContainer[str]
    ttl: _duration_pb2.Duration
    must_be_new: bool
    def __init__(self, value: _Optional[str] = ..., search_texts: _Optional[_Iterable[str]] = ..., ttl: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., must_be_new: _Optional[bool] = ...) -> None: ...

class DeleteDocument(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class WriteDocumentsRequest(_message.Message):
    __slots__ = ("request_id", "user_id", "writes")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    WRITES_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    user_id: str
    writes: _containers.RepeatedCompositeFieldContainer[DocumentWrite]
    def __init__(self, request_id: _Optional[str] = ..., user_id: _Optional[str] = ..., writes: _Optional[_Iterable[_Union[DocumentWrite, _Mapping]]] = ...) -> None: ...

class DocumentWriteResult(_message.Message):
    __slots__ = ("existed", "etag", "create_time", "update_time")
    EXISTED_FIELD_NUMBER: _ClassVar[int]
    ETAG_FIELD_NUMBER: _ClassVar[int]
    CREATE_TIME_FIELD_NUMBER: _ClassVar[int]
    UPDATE_TIME_FIELD_NUMBER: _ClassVar[int]
    existed: bool
    etag: str
    create_time: _timestamp_pb2.Timestamp
    update_time: _timestamp_pb2.Timestamp
    def __init__(self, existed: _Optional[bool] = ..., etag: _Optional[str] = ..., create_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., update_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class WriteDocumentsResponse(_message.Message):
    __slots__ = ("results", "replayed")
    RESULTS_FIELD_NUMBER: _ClassVar[int]
    REPLAYED_FIELD_NUMBER: _ClassVar[int]
    results: _containers.RepeatedCompositeFieldContainer[DocumentWriteResult]
    replayed: bool
    def __init__(self, results: _Optional[_Iterable[_Union[DocumentWriteResult, _Mapping]]] = ..., replayed: _Optional[bool] = ...) -> None: ...

class BatchGetDocumentsRequest(_message.Message):
    __slots__ = ("user_id", "names", "extend_ttl")
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    NAMES_FIELD_NUMBER: _ClassVar[int]
    EXTEND_TTL_FIELD_NUMBER: _ClassVar[int]
    user_id: str
    names: _containers.RepeatedCompositeFieldContainer[DocumentName]
    extend_ttl: bool
    def __init__(self, user_id: _Optional[str] = ..., names: _Optional[_Iterable[_Union[DocumentName, _Mapping]]] = ..., extend_ttl: _Optional[bool] = ...) -> None: ...

class BatchGetDocumentsResponse(_message.Message):
    __slots__ = ("documents", "unread")
    DOCUMENTS_FIELD_NUMBER: _ClassVar[int]
    UNREAD_FIELD_NUMBER: _ClassVar[int]
    documents: _containers.RepeatedCompositeFieldContainer[Document]
    unread: _containers.RepeatedCompositeFieldContainer[DocumentName]
    def __init__(self, documents: _Optional[_Iterable[_Union[Document, _Mapping]]] = ..., unread: _Optional[_Iterable[_Union[DocumentName, _Mapping]]] = ...) -> None: ...

class DocumentFilter(_message.Message):
    __slots__ = ("path", "comparison", "value")
    PATH_FIELD_NUMBER: _ClassVar[int]
    COMPARISON_FIELD_NUMBER: _ClassVar[int]
    VALUE_FIELD_NUMBER: _ClassVar[int]
    path: _containers.RepeatedScalarFieldContainer[str]
    comparison: DocumentComparison
    value: str
    def __init__(self, path: _Optional[_Iterable[str]] = ..., comparison: _Optional[_Union[DocumentComparison, str]] = ..., value: _Optional[str] = ...) -> None: ...

class ListDocumentsRequest(_message.Message):
    __slots__ = ("user_id", "namespace_prefix", "key_prefix", "filters", "page_size", "page_token", "extend_ttl", "latest_first")
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    NAMESPACE_PREFIX_FIELD_NUMBER: _ClassVar[int]
    KEY_PREFIX_FIELD_NUMBER: _ClassVar[int]
    FILTERS_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    EXTEND_TTL_FIELD_NUMBER: _ClassVar[int]
    LATEST_FIRST_FIELD_NUMBER: _ClassVar[int]
    user_id: str
    namespace_prefix: _containers.RepeatedScalarFieldContainer[str]
    key_prefix: str
    filters: _containers.RepeatedCompositeFieldContainer[DocumentFilter]
    page_size: int
    page_token: str
    extend_ttl: bool
    latest_first: bool
    def __init__(self, user_id: _Optional[str] = ..., namespace_prefix: _Optional[_Iterable[str]] = ..., key_prefix: _Optional[str] = ..., filters: _Optional[_Iterable[_Union[DocumentFilter, _Mapping]]] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ..., extend_ttl: _Optional[bool] = ..., latest_first: _Optional[bool] = ...) -> None: ...

class ListDocumentsResponse(_message.Message):
    __slots__ = ("documents", "next_page_token")
    DOCUMENTS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    documents: _containers.RepeatedCompositeFieldContainer[Document]
    next_page_token: str
    def __init__(self, documents: _Optional[_Iterable[_Union[Document, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class SearchDocumentsRequest(_message.Message):
    __slots__ = ("user_id", "query", "namespace_prefix", "filters", "limit", "extend_ttl")
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    QUERY_FIELD_NUMBER: _ClassVar[int]
    NAMESPACE_PREFIX_FIELD_NUMBER: _ClassVar[int]
    FILTERS_FIELD_NUMBER: _ClassVar[int]
    LIMIT_FIELD_NUMBER: _ClassVar[int]
    EXTEND_TTL_FIELD_NUMBER: _ClassVar[int]
    user_id: str
    query: str
    namespace_prefix: _containers.RepeatedScalarFieldContainer[str]
    filters: _containers.RepeatedCompositeFieldContainer[DocumentFilter]
    limit: int
    extend_ttl: bool
    def __init__(self, user_id: _Optional[str] = ..., query: _Optional[str] = ..., namespace_prefix: _Optional[_Iterable[str]] = ..., filters: _Optional[_Iterable[_Union[DocumentFilter, _Mapping]]] = ..., limit: _Optional[int] = ..., extend_ttl: _Optional[bool] = ...) -> None: ...

class FoundDocument(_message.Message):
    __slots__ = ("document", "score")
    DOCUMENT_FIELD_NUMBER: _ClassVar[int]
    SCORE_FIELD_NUMBER: _ClassVar[int]
    document: Document
    score: float
    def __init__(self, document: _Optional[_Union[Document, _Mapping]] = ..., score: _Optional[float] = ...) -> None: ...

class SearchDocumentsResponse(_message.Message):
    __slots__ = ("documents", "unsearched_count")
    DOCUMENTS_FIELD_NUMBER: _ClassVar[int]
    UNSEARCHED_COUNT_FIELD_NUMBER: _ClassVar[int]
    documents: _containers.RepeatedCompositeFieldContainer[FoundDocument]
    unsearched_count: int
    def __init__(self, documents: _Optional[_Iterable[_Union[FoundDocument, _Mapping]]] = ..., unsearched_count: _Optional[int] = ...) -> None: ...

class ListDocumentNamespacesRequest(_message.Message):
    __slots__ = ("user_id", "prefix", "suffix", "max_depth", "page_size", "page_token")
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    PREFIX_FIELD_NUMBER: _ClassVar[int]
    SUFFIX_FIELD_NUMBER: _ClassVar[int]
    MAX_DEPTH_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    user_id: str
    prefix: _containers.RepeatedScalarFieldContainer[str]
    suffix: _containers.RepeatedScalarFieldContainer[str]
    max_depth: int
    page_size: int
    page_token: str
    def __init__(self, user_id: _Optional[str] = ..., prefix: _Optional[_Iterable[str]] = ..., suffix: _Optional[_Iterable[str]] = ..., max_depth: _Optional[int] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class DocumentNamespace(_message.Message):
    __slots__ = ("labels",)
    LABELS_FIELD_NUMBER: _ClassVar[int]
    labels: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, labels: _Optional[_Iterable[str]] = ...) -> None: ...

class ListDocumentNamespacesResponse(_message.Message):
    __slots__ = ("namespaces", "next_page_token")
    NAMESPACES_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    namespaces: _containers.RepeatedCompositeFieldContainer[DocumentNamespace]
    next_page_token: str
    def __init__(self, namespaces: _Optional[_Iterable[_Union[DocumentNamespace, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...
