import datetime

from google.protobuf import timestamp_pb2 as _timestamp_pb2
from google.rpc import status_pb2 as _status_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class CodeFileStatus(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    CODE_FILE_STATUS_UNSPECIFIED: _ClassVar[CodeFileStatus]
    CODE_FILE_STATUS_PARSED: _ClassVar[CodeFileStatus]
    CODE_FILE_STATUS_PARTLY_PARSED: _ClassVar[CodeFileStatus]
    CODE_FILE_STATUS_TEXT_ONLY: _ClassVar[CodeFileStatus]

class SymbolKind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    SYMBOL_KIND_UNSPECIFIED: _ClassVar[SymbolKind]
    SYMBOL_KIND_FUNCTION: _ClassVar[SymbolKind]
    SYMBOL_KIND_CLASS: _ClassVar[SymbolKind]
    SYMBOL_KIND_METHOD: _ClassVar[SymbolKind]
    SYMBOL_KIND_VARIABLE: _ClassVar[SymbolKind]

class RelationKind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    RELATION_KIND_UNSPECIFIED: _ClassVar[RelationKind]
    RELATION_KIND_CALLS: _ClassVar[RelationKind]
    RELATION_KIND_USES: _ClassVar[RelationKind]
    RELATION_KIND_INHERITS: _ClassVar[RelationKind]
    RELATION_KIND_REFERENCES: _ClassVar[RelationKind]
    RELATION_KIND_IMPORTS: _ClassVar[RelationKind]
    RELATION_KIND_CONTAINS: _ClassVar[RelationKind]

class RelationDirection(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    RELATION_DIRECTION_UNSPECIFIED: _ClassVar[RelationDirection]
    RELATION_DIRECTION_INCOMING: _ClassVar[RelationDirection]
    RELATION_DIRECTION_OUTGOING: _ClassVar[RelationDirection]
CODE_FILE_STATUS_UNSPECIFIED: CodeFileStatus
CODE_FILE_STATUS_PARSED: CodeFileStatus
CODE_FILE_STATUS_PARTLY_PARSED: CodeFileStatus
CODE_FILE_STATUS_TEXT_ONLY: CodeFileStatus
SYMBOL_KIND_UNSPECIFIED: SymbolKind
SYMBOL_KIND_FUNCTION: SymbolKind
SYMBOL_KIND_CLASS: SymbolKind
SYMBOL_KIND_METHOD: SymbolKind
SYMBOL_KIND_VARIABLE: SymbolKind
RELATION_KIND_UNSPECIFIED: RelationKind
RELATION_KIND_CALLS: RelationKind
RELATION_KIND_USES: RelationKind
RELATION_KIND_INHERITS: RelationKind
RELATION_KIND_REFERENCES: RelationKind
RELATION_KIND_IMPORTS: RelationKind
RELATION_KIND_CONTAINS: RelationKind
RELATION_DIRECTION_UNSPECIFIED: RelationDirection
RELATION_DIRECTION_INCOMING: RelationDirection
RELATION_DIRECTION_OUTGOING: RelationDirection

class CodeRepository(_message.Message):
    __slots__ = ("repository_id", "file_count", "line_count", "revision", "create_time", "update_time")
    REPOSITORY_ID_FIELD_NUMBER: _ClassVar[int]
    FILE_COUNT_FIELD_NUMBER: _ClassVar[int]
    LINE_COUNT_FIELD_NUMBER: _ClassVar[int]
    REVISION_FIELD_NUMBER: _ClassVar[int]
    CREATE_TIME_FIELD_NUMBER: _ClassVar[int]
    UPDATE_TIME_FIELD_NUMBER: _ClassVar[int]
    repository_id: str
    file_count: int
    line_count: int
    revision: int
    create_time: _timestamp_pb2.Timestamp
    update_time: _timestamp_pb2.Timestamp
    def __init__(self, repository_id: _Optional[str] = ..., file_count: _Optional[int] = ..., line_count: _Optional[int] = ..., revision: _Optional[int] = ..., create_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., update_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class CodeFile(_message.Message):
    __slots__ = ("path", "digest", "language", "status", "line_count")
    PATH_FIELD_NUMBER: _ClassVar[int]
    DIGEST_FIELD_NUMBER: _ClassVar[int]
    LANGUAGE_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    LINE_COUNT_FIELD_NUMBER: _ClassVar[int]
    path: str
    digest: str
    language: str
    status: CodeFileStatus
    line_count: int
    def __init__(self, path: _Optional[str] = ..., digest: _Optional[str] = ..., language: _Optional[str] = ..., status: _Optional[_Union[CodeFileStatus, str]] = ..., line_count: _Optional[int] = ...) -> None: ...

class CodeSymbol(_message.Message):
    __slots__ = ("symbol_id", "path", "name", "qualified_name", "kind", "start_line", "end_line", "signature")
    SYMBOL_ID_FIELD_NUMBER: _ClassVar[int]
    PATH_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    QUALIFIED_NAME_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    START_LINE_FIELD_NUMBER: _ClassVar[int]
    END_LINE_FIELD_NUMBER: _ClassVar[int]
    SIGNATURE_FIELD_NUMBER: _ClassVar[int]
    symbol_id: str
    path: str
    name: str
    qualified_name: str
    kind: SymbolKind
    start_line: int
    end_line: int
    signature: str
    def __init__(self, symbol_id: _Optional[str] = ..., path: _Optional[str] = ..., name: _Optional[str] = ..., qualified_name: _Optional[str] = ..., kind: _Optional[_Union[SymbolKind, str]] = ..., start_line: _Optional[int] = ..., end_line: _Optional[int] = ..., signature: _Optional[str] = ...) -> None: ...

class CodeNode(_message.Message):
    __slots__ = ("path", "symbol")
    PATH_FIELD_NUMBER: _ClassVar[int]
    SYMBOL_FIELD_NUMBER: _ClassVar[int]
    path: str
    symbol: CodeSymbol
    def __init__(self, path: _Optional[str] = ..., symbol: _Optional[_Union[CodeSymbol, _Mapping]] = ...) -> None: ...

class CodeRelation(_message.Message):
    __slots__ = ("to", "kind", "line", "confidence")
    FROM_FIELD_NUMBER: _ClassVar[int]
    TO_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    LINE_FIELD_NUMBER: _ClassVar[int]
    CONFIDENCE_FIELD_NUMBER: _ClassVar[int]
    to: CodeNode
    kind: RelationKind
    line: int
    confidence: float
    def __init__(self, to: _Optional[_Union[CodeNode, _Mapping]] = ..., kind: _Optional[_Union[RelationKind, str]] = ..., line: _Optional[int] = ..., confidence: _Optional[float] = ..., **kwargs) -> None: ...

class SourceFile(_message.Message):
    __slots__ = ("path", "content")
    PATH_FIELD_NUMBER: _ClassVar[int]
    CONTENT_FIELD_NUMBER: _ClassVar[int]
    path: str
    content: bytes
    def __init__(self, path: _Optional[str] = ..., content: _Optional[bytes] = ...) -> None: ...

class IndexFilesRequest(_message.Message):
    __slots__ = ("request_id", "user_id", "repository_id", "files", "removed_paths")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    REPOSITORY_ID_FIELD_NUMBER: _ClassVar[int]
    FILES_FIELD_NUMBER: _ClassVar[int]
    REMOVED_PATHS_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    user_id: str
    repository_id: str
    files: _containers.RepeatedCompositeFieldContainer[SourceFile]
    removed_paths: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, request_id: _Optional[str] = ..., user_id: _Optional[str] = ..., repository_id: _Optional[str] = ..., files: _Optional[_Iterable[_Union[SourceFile, _Mapping]]] = ..., removed_paths: _Optional[_Iterable[str]] = ...) -> None: ...

class IndexedFile(_message.Message):
    __slots__ = ("path", "file", "error")
    PATH_FIELD_NUMBER: _ClassVar[int]
    FILE_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    path: str
    file: CodeFile
    error: _status_pb2.Status
    def __init__(self, path: _Optional[str] = ..., file: _Optional[_Union[CodeFile, _Mapping]] = ..., error: _Optional[_Union[_status_pb2.Status, _Mapping]] = ...) -> None: ...

class IndexFilesResponse(_message.Message):
    __slots__ = ("results", "removed", "repository")
    RESULTS_FIELD_NUMBER: _ClassVar[int]
    REMOVED_FIELD_NUMBER: _ClassVar[int]
    REPOSITORY_FIELD_NUMBER: _ClassVar[int]
    results: _containers.RepeatedCompositeFieldContainer[IndexedFile]
    removed: int
    repository: CodeRepository
    def __init__(self, results: _Optional[_Iterable[_Union[IndexedFile, _Mapping]]] = ..., removed: _Optional[int] = ..., repository: _Optional[_Union[CodeRepository, _Mapping]] = ...) -> None: ...

class DeleteRepositoryRequest(_message.Message):
    __slots__ = ("request_id", "user_id", "repository_id")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    REPOSITORY_ID_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    user_id: str
    repository_id: str
    def __init__(self, request_id: _Optional[str] = ..., user_id: _Optional[str] = ..., repository_id: _Optional[str] = ...) -> None: ...

class DeleteRepositoryResponse(_message.Message):
    __slots__ = ("removed_files",)
    REMOVED_FILES_FIELD_NUMBER: _ClassVar[int]
    removed_files: int
    def __init__(self, removed_files: _Optional[int] = ...) -> None: ...

class ListRepositoriesRequest(_message.Message):
    __slots__ = ("user_id", "page_size", "page_token")
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    user_id: str
    page_size: int
    page_token: str
    def __init__(self, user_id: _Optional[str] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListRepositoriesResponse(_message.Message):
    __slots__ = ("repositories", "next_page_token")
    REPOSITORIES_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    repositories: _containers.RepeatedCompositeFieldContainer[CodeRepository]
    next_page_token: str
    def __init__(self, repositories: _Optional[_Iterable[_Union[CodeRepository, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class ListFilesRequest(_message.Message):
    __slots__ = ("user_id", "repository_id", "page_size", "page_token")
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    REPOSITORY_ID_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    user_id: str
    repository_id: str
    page_size: int
    page_token: str
    def __init__(self, user_id: _Optional[str] = ..., repository_id: _Optional[str] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListFilesResponse(_message.Message):
    __slots__ = ("files", "next_page_token")
    FILES_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    files: _containers.RepeatedCompositeFieldContainer[CodeFile]
    next_page_token: str
    def __init__(self, files: _Optional[_Iterable[_Union[CodeFile, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class ListSymbolsRequest(_message.Message):
    __slots__ = ("user_id", "repository_id", "path", "page_size", "page_token")
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    REPOSITORY_ID_FIELD_NUMBER: _ClassVar[int]
    PATH_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    user_id: str
    repository_id: str
    path: str
    page_size: int
    page_token: str
    def __init__(self, user_id: _Optional[str] = ..., repository_id: _Optional[str] = ..., path: _Optional[str] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListSymbolsResponse(_message.Message):
    __slots__ = ("symbols", "next_page_token")
    SYMBOLS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    symbols: _containers.RepeatedCompositeFieldContainer[CodeSymbol]
    next_page_token: str
    def __init__(self, symbols: _Optional[_Iterable[_Union[CodeSymbol, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class CodeImport(_message.Message):
    __slots__ = ("module", "name", "alias", "line", "paths")
    MODULE_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    ALIAS_FIELD_NUMBER: _ClassVar[int]
    LINE_FIELD_NUMBER: _ClassVar[int]
    PATHS_FIELD_NUMBER: _ClassVar[int]
    module: str
    name: str
    alias: str
    line: int
    paths: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, module: _Optional[str] = ..., name: _Optional[str] = ..., alias: _Optional[str] = ..., line: _Optional[int] = ..., paths: _Optional[_Iterable[str]] = ...) -> None: ...

class ListImportsRequest(_message.Message):
    __slots__ = ("user_id", "repository_id", "path", "page_size", "page_token")
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    REPOSITORY_ID_FIELD_NUMBER: _ClassVar[int]
    PATH_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    user_id: str
    repository_id: str
    path: str
    page_size: int
    page_token: str
    def __init__(self, user_id: _Optional[str] = ..., repository_id: _Optional[str] = ..., path: _Optional[str] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListImportsResponse(_message.Message):
    __slots__ = ("imports", "next_page_token")
    IMPORTS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    imports: _containers.RepeatedCompositeFieldContainer[CodeImport]
    next_page_token: str
    def __init__(self, imports: _Optional[_Iterable[_Union[CodeImport, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class SearchSymbolsRequest(_message.Message):
    __slots__ = ("user_id", "repository_id", "query", "kind", "limit")
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    REPOSITORY_ID_FIELD_NUMBER: _ClassVar[int]
    QUERY_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    LIMIT_FIELD_NUMBER: _ClassVar[int]
    user_id: str
    repository_id: str
    query: str
    kind: SymbolKind
    limit: int
    def __init__(self, user_id: _Optional[str] = ..., repository_id: _Optional[str] = ..., query: _Optional[str] = ..., kind: _Optional[_Union[SymbolKind, str]] = ..., limit: _Optional[int] = ...) -> None: ...

class SymbolMatch(_message.Message):
    __slots__ = ("symbol", "score")
    SYMBOL_FIELD_NUMBER: _ClassVar[int]
    SCORE_FIELD_NUMBER: _ClassVar[int]
    symbol: CodeSymbol
    score: float
    def __init__(self, symbol: _Optional[_Union[CodeSymbol, _Mapping]] = ..., score: _Optional[float] = ...) -> None: ...

class SearchSymbolsResponse(_message.Message):
    __slots__ = ("matches",)
    MATCHES_FIELD_NUMBER: _ClassVar[int]
    matches: _containers.RepeatedCompositeFieldContainer[SymbolMatch]
    def __init__(self, matches: _Optional[_Iterable[_Union[SymbolMatch, _Mapping]]] = ...) -> None: ...

class ListRelationsRequest(_message.Message):
    __slots__ = ("user_id", "repository_id", "node", "direction", "kinds", "page_size", "page_token")
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    REPOSITORY_ID_FIELD_NUMBER: _ClassVar[int]
    NODE_FIELD_NUMBER: _ClassVar[int]
    DIRECTION_FIELD_NUMBER: _ClassVar[int]
    KINDS_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    user_id: str
    repository_id: str
    node: str
    direction: RelationDirection
    kinds: _containers.RepeatedScalarFieldContainer[RelationKind]
    page_size: int
    page_token: str
    def __init__(self, user_id: _Optional[str] = ..., repository_id: _Optional[str] = ..., node: _Optional[str] = ..., direction: _Optional[_Union[RelationDirection, str]] = ..., kinds: _Optional[_Iterable[_Union[RelationKind, str]]] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListRelationsResponse(_message.Message):
    __slots__ = ("relations", "next_page_token")
    RELATIONS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    relations: _containers.RepeatedCompositeFieldContainer[CodeRelation]
    next_page_token: str
    def __init__(self, relations: _Optional[_Iterable[_Union[CodeRelation, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class GetCodePathRequest(_message.Message):
    __slots__ = ("user_id", "repository_id", "from_node", "to_node", "hops_max")
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    REPOSITORY_ID_FIELD_NUMBER: _ClassVar[int]
    FROM_NODE_FIELD_NUMBER: _ClassVar[int]
    TO_NODE_FIELD_NUMBER: _ClassVar[int]
    HOPS_MAX_FIELD_NUMBER: _ClassVar[int]
    user_id: str
    repository_id: str
    from_node: str
    to_node: str
    hops_max: int
    def __init__(self, user_id: _Optional[str] = ..., repository_id: _Optional[str] = ..., from_node: _Optional[str] = ..., to_node: _Optional[str] = ..., hops_max: _Optional[int] = ...) -> None: ...

class GetCodePathResponse(_message.Message):
    __slots__ = ("relations",)
    RELATIONS_FIELD_NUMBER: _ClassVar[int]
    relations: _containers.RepeatedCompositeFieldContainer[CodeRelation]
    def __init__(self, relations: _Optional[_Iterable[_Union[CodeRelation, _Mapping]]] = ...) -> None: ...

class SearchCodeRequest(_message.Message):
    __slots__ = ("user_id", "repository_id", "query", "limit", "folder", "related_paths", "lines_max", "lines_min")
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    REPOSITORY_ID_FIELD_NUMBER: _ClassVar[int]
    QUERY_FIELD_NUMBER: _ClassVar[int]
    LIMIT_FIELD_NUMBER: _ClassVar[int]
    FOLDER_FIELD_NUMBER: _ClassVar[int]
    RELATED_PATHS_FIELD_NUMBER: _ClassVar[int]
    LINES_MAX_FIELD_NUMBER: _ClassVar[int]
    LINES_MIN_FIELD_NUMBER: _ClassVar[int]
    user_id: str
    repository_id: str
    query: str
    limit: int
    folder: str
    related_paths: _containers.RepeatedScalarFieldContainer[str]
    lines_max: int
    lines_min: int
    def __init__(self, user_id: _Optional[str] = ..., repository_id: _Optional[str] = ..., query: _Optional[str] = ..., limit: _Optional[int] = ..., folder: _Optional[str] = ..., related_paths: _Optional[_Iterable[str]] = ..., lines_max: _Optional[int] = ..., lines_min: _Optional[int] = ...) -> None: ...

class CodeScore(_message.Message):
    __slots__ = ("body", "names", "definitions", "paths", "graph", "factor")
    BODY_FIELD_NUMBER: _ClassVar[int]
    NAMES_FIELD_NUMBER: _ClassVar[int]
    DEFINITIONS_FIELD_NUMBER: _ClassVar[int]
    PATHS_FIELD_NUMBER: _ClassVar[int]
    GRAPH_FIELD_NUMBER: _ClassVar[int]
    FACTOR_FIELD_NUMBER: _ClassVar[int]
    body: float
    names: float
    definitions: float
    paths: float
    graph: float
    factor: float
    def __init__(self, body: _Optional[float] = ..., names: _Optional[float] = ..., definitions: _Optional[float] = ..., paths: _Optional[float] = ..., graph: _Optional[float] = ..., factor: _Optional[float] = ...) -> None: ...

class CodeMatch(_message.Message):
    __slots__ = ("file", "score", "parts", "start_line", "end_line", "symbols", "terms", "excerpts")
    FILE_FIELD_NUMBER: _ClassVar[int]
    SCORE_FIELD_NUMBER: _ClassVar[int]
    PARTS_FIELD_NUMBER: _ClassVar[int]
    START_LINE_FIELD_NUMBER: _ClassVar[int]
    END_LINE_FIELD_NUMBER: _ClassVar[int]
    SYMBOLS_FIELD_NUMBER: _ClassVar[int]
    TERMS_FIELD_NUMBER: _ClassVar[int]
    EXCERPTS_FIELD_NUMBER: _ClassVar[int]
    file: CodeFile
    score: float
    parts: CodeScore
    start_line: int
    end_line: int
    symbols: _containers.RepeatedCompositeFieldContainer[CodeSymbol]
    terms: _containers.RepeatedScalarFieldContainer[str]
    excerpts: _containers.RepeatedCompositeFieldContainer[CodeExcerpt]
    def __init__(self, file: _Optional[_Union[CodeFile, _Mapping]] = ..., score: _Optional[float] = ..., parts: _Optional[_Union[CodeScore, _Mapping]] = ..., start_line: _Optional[int] = ..., end_line: _Optional[int] = ..., symbols: _Optional[_Iterable[_Union[CodeSymbol, _Mapping]]] = ..., terms: _Optional[_Iterable[str]] = ..., excerpts: _Optional[_Iterable[_Union[CodeExcerpt, _Mapping]]] = ...) -> None: ...

class CodeExcerpt(_message.Message):
    __slots__ = ("start_line", "end_line", "text")
    START_LINE_FIELD_NUMBER: _ClassVar[int]
    END_LINE_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    start_line: int
    end_line: int
    text: str
    def __init__(self, start_line: _Optional[int] = ..., end_line: _Optional[int] = ..., text: _Optional[str] = ...) -> None: ...

class SearchCodeResponse(_message.Message):
    __slots__ = ("matches",)
    MATCHES_FIELD_NUMBER: _ClassVar[int]
    matches: _containers.RepeatedCompositeFieldContainer[CodeMatch]
    def __init__(self, matches: _Optional[_Iterable[_Union[CodeMatch, _Mapping]]] = ...) -> None: ...

class GetOutlineRequest(_message.Message):
    __slots__ = ("user_id", "repository_id", "token_budget", "query")
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    REPOSITORY_ID_FIELD_NUMBER: _ClassVar[int]
    TOKEN_BUDGET_FIELD_NUMBER: _ClassVar[int]
    QUERY_FIELD_NUMBER: _ClassVar[int]
    user_id: str
    repository_id: str
    token_budget: int
    query: str
    def __init__(self, user_id: _Optional[str] = ..., repository_id: _Optional[str] = ..., token_budget: _Optional[int] = ..., query: _Optional[str] = ...) -> None: ...

class GetOutlineResponse(_message.Message):
    __slots__ = ("text", "token_count", "tokenizer", "file_count")
    TEXT_FIELD_NUMBER: _ClassVar[int]
    TOKEN_COUNT_FIELD_NUMBER: _ClassVar[int]
    TOKENIZER_FIELD_NUMBER: _ClassVar[int]
    FILE_COUNT_FIELD_NUMBER: _ClassVar[int]
    text: str
    token_count: int
    tokenizer: str
    file_count: int
    def __init__(self, text: _Optional[str] = ..., token_count: _Optional[int] = ..., tokenizer: _Optional[str] = ..., file_count: _Optional[int] = ...) -> None: ...
