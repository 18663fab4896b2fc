import datetime

from google.protobuf import duration_pb2 as _duration_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from mneme.common.v1 import common_pb2 as _common_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class FileOperation(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    FILE_OPERATION_UNSPECIFIED: _ClassVar[FileOperation]
    FILE_OPERATION_READ: _ClassVar[FileOperation]
    FILE_OPERATION_WRITE: _ClassVar[FileOperation]
    FILE_OPERATION_EDIT: _ClassVar[FileOperation]
    FILE_OPERATION_SEARCH: _ClassVar[FileOperation]
    FILE_OPERATION_ANALYZE: _ClassVar[FileOperation]
    FILE_OPERATION_RENAME: _ClassVar[FileOperation]
    FILE_OPERATION_DELETE: _ClassVar[FileOperation]

class TaskIntent(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    TASK_INTENT_UNSPECIFIED: _ClassVar[TaskIntent]
    TASK_INTENT_CODE_READING: _ClassVar[TaskIntent]
    TASK_INTENT_CODE_WRITING: _ClassVar[TaskIntent]
    TASK_INTENT_PROJECT_FIXING: _ClassVar[TaskIntent]
    TASK_INTENT_PROJECT_EXPLORATION: _ClassVar[TaskIntent]

class TaskStatus(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    TASK_STATUS_UNSPECIFIED: _ClassVar[TaskStatus]
    TASK_STATUS_ACTIVE: _ClassVar[TaskStatus]
    TASK_STATUS_COMPLETED: _ClassVar[TaskStatus]
    TASK_STATUS_FAILED: _ClassVar[TaskStatus]
    TASK_STATUS_PAUSED: _ClassVar[TaskStatus]

class LearningKind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    LEARNING_KIND_UNSPECIFIED: _ClassVar[LearningKind]
    LEARNING_KIND_FILE_PURPOSE: _ClassVar[LearningKind]
    LEARNING_KIND_COMMON_ERROR: _ClassVar[LearningKind]
    LEARNING_KIND_WORKFLOW: _ClassVar[LearningKind]

class ActivityPatternKind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    ACTIVITY_PATTERN_KIND_UNSPECIFIED: _ClassVar[ActivityPatternKind]
    ACTIVITY_PATTERN_KIND_CO_EDIT: _ClassVar[ActivityPatternKind]
    ACTIVITY_PATTERN_KIND_ERROR_FIX: _ClassVar[ActivityPatternKind]
    ACTIVITY_PATTERN_KIND_REFACTOR: _ClassVar[ActivityPatternKind]

class ActivityMatch(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    ACTIVITY_MATCH_UNSPECIFIED: _ClassVar[ActivityMatch]
    ACTIVITY_MATCH_PATH: _ClassVar[ActivityMatch]
    ACTIVITY_MATCH_WORDS: _ClassVar[ActivityMatch]
    ACTIVITY_MATCH_TASK: _ClassVar[ActivityMatch]
FILE_OPERATION_UNSPECIFIED: FileOperation
FILE_OPERATION_READ: FileOperation
FILE_OPERATION_WRITE: FileOperation
FILE_OPERATION_EDIT: FileOperation
FILE_OPERATION_SEARCH: FileOperation
FILE_OPERATION_ANALYZE: FileOperation
FILE_OPERATION_RENAME: FileOperation
FILE_OPERATION_DELETE: FileOperation
TASK_INTENT_UNSPECIFIED: TaskIntent
TASK_INTENT_CODE_READING: TaskIntent
TASK_INTENT_CODE_WRITING: TaskIntent
TASK_INTENT_PROJECT_FIXING: TaskIntent
TASK_INTENT_PROJECT_EXPLORATION: TaskIntent
TASK_STATUS_UNSPECIFIED: TaskStatus
TASK_STATUS_ACTIVE: TaskStatus
TASK_STATUS_COMPLETED: TaskStatus
TASK_STATUS_FAILED: TaskStatus
TASK_STATUS_PAUSED: TaskStatus
LEARNING_KIND_UNSPECIFIED: LearningKind
LEARNING_KIND_FILE_PURPOSE: LearningKind
LEARNING_KIND_COMMON_ERROR: LearningKind
LEARNING_KIND_WORKFLOW: LearningKind
ACTIVITY_PATTERN_KIND_UNSPECIFIED: ActivityPatternKind
ACTIVITY_PATTERN_KIND_CO_EDIT: ActivityPatternKind
ACTIVITY_PATTERN_KIND_ERROR_FIX: ActivityPatternKind
ACTIVITY_PATTERN_KIND_REFACTOR: ActivityPatternKind
ACTIVITY_MATCH_UNSPECIFIED: ActivityMatch
ACTIVITY_MATCH_PATH: ActivityMatch
ACTIVITY_MATCH_WORDS: ActivityMatch
ACTIVITY_MATCH_TASK: ActivityMatch

class ToolExecution(_message.Message):
    __slots__ = ("tool_name", "parameters", "result", "success", "error_message", "duration", "context_tokens")
    TOOL_NAME_FIELD_NUMBER: _ClassVar[int]
    PARAMETERS_FIELD_NUMBER: _ClassVar[int]
    RESULT_FIELD_NUMBER: _ClassVar[int]
    SUCCESS_FIELD_NUMBER: _ClassVar[int]
    ERROR_MESSAGE_FIELD_NUMBER: _ClassVar[int]
    DURATION_FIELD_NUMBER: _ClassVar[int]
    CONTEXT_TOKENS_FIELD_NUMBER: _ClassVar[int]
    tool_name: str
    parameters: str
    result: str
    success: bool
    error_message: str
    duration: _duration_pb2.Duration
    context_tokens: int
    def __init__(self, tool_name: _Optional[str] = ..., parameters: _Optional[str] = ..., result: _Optional[str] = ..., success: _Optional[bool] = ..., error_message: _Optional[str] = ..., duration: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., context_tokens: _Optional[int] = ...) -> None: ...

class FileInteraction(_message.Message):
    __slots__ = ("path", "operation", "start_line", "end_line", "success", "reason", "changes_summary", "previous_path")
    PATH_FIELD_NUMBER: _ClassVar[int]
    OPERATION_FIELD_NUMBER: _ClassVar[int]
    START_LINE_FIELD_NUMBER: _ClassVar[int]
    END_LINE_FIELD_NUMBER: _ClassVar[int]
    SUCCESS_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    CHANGES_SUMMARY_FIELD_NUMBER: _ClassVar[int]
    PREVIOUS_PATH_FIELD_NUMBER: _ClassVar[int]
    path: str
    operation: FileOperation
    start_line: int
    end_line: int
    success: bool
    reason: str
    changes_summary: str
    previous_path: str
    def __init__(self, path: _Optional[str] = ..., operation: _Optional[_Union[FileOperation, str]] = ..., start_line: _Optional[int] = ..., end_line: _Optional[int] = ..., success: _Optional[bool] = ..., reason: _Optional[str] = ..., changes_summary: _Optional[str] = ..., previous_path: _Optional[str] = ...) -> None: ...

class TaskState(_message.Message):
    __slots__ = ("description", "intent", "status", "outcome")
    DESCRIPTION_FIELD_NUMBER: _ClassVar[int]
    INTENT_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    OUTCOME_FIELD_NUMBER: _ClassVar[int]
    description: str
    intent: TaskIntent
    status: TaskStatus
    outcome: str
    def __init__(self, description: _Optional[str] = ..., intent: _Optional[_Union[TaskIntent, str]] = ..., status: _Optional[_Union[TaskStatus, str]] = ..., outcome: _Optional[str] = ...) -> None: ...

class ContextSnapshotItem(_message.Message):
    __slots__ = ("item_id", "kind", "token_count", "relevance", "is_pruned", "score")
    ITEM_ID_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    TOKEN_COUNT_FIELD_NUMBER: _ClassVar[int]
    RELEVANCE_FIELD_NUMBER: _ClassVar[int]
    IS_PRUNED_FIELD_NUMBER: _ClassVar[int]
    SCORE_FIELD_NUMBER: _ClassVar[int]
    item_id: str
    kind: str
    token_count: int
    relevance: float
    is_pruned: bool
    score: float
    def __init__(self, item_id: _Optional[str] = ..., kind: _Optional[str] = ..., token_count: _Optional[int] = ..., relevance: _Optional[float] = ..., is_pruned: _Optional[bool] = ..., score: _Optional[float] = ...) -> None: ...

class ContextSnapshot(_message.Message):
    __slots__ = ("items", "total_tokens", "reason")
    ITEMS_FIELD_NUMBER: _ClassVar[int]
    TOTAL_TOKENS_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    items: _containers.RepeatedCompositeFieldContainer[ContextSnapshotItem]
    total_tokens: int
    reason: str
    def __init__(self, items: _Optional[_Iterable[_Union[ContextSnapshotItem, _Mapping]]] = ..., total_tokens: _Optional[int] = ..., reason: _Optional[str] = ...) -> None: ...

class Learning(_message.Message):
    __slots__ = ("kind", "text", "path", "confidence")
    KIND_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    PATH_FIELD_NUMBER: _ClassVar[int]
    CONFIDENCE_FIELD_NUMBER: _ClassVar[int]
    kind: LearningKind
    text: str
    path: str
    confidence: float
    def __init__(self, kind: _Optional[_Union[LearningKind, str]] = ..., text: _Optional[str] = ..., path: _Optional[str] = ..., confidence: _Optional[float] = ...) -> None: ...

class ActivityRecord(_message.Message):
    __slots__ = ("record_id", "conversation_id", "task_id", "time", "scope", "tool_execution", "file_interaction", "task", "context_snapshot", "learning")
    RECORD_ID_FIELD_NUMBER: _ClassVar[int]
    CONVERSATION_ID_FIELD_NUMBER: _ClassVar[int]
    TASK_ID_FIELD_NUMBER: _ClassVar[int]
    TIME_FIELD_NUMBER: _ClassVar[int]
    SCOPE_FIELD_NUMBER: _ClassVar[int]
    TOOL_EXECUTION_FIELD_NUMBER: _ClassVar[int]
    FILE_INTERACTION_FIELD_NUMBER: _ClassVar[int]
    TASK_FIELD_NUMBER: _ClassVar[int]
    CONTEXT_SNAPSHOT_FIELD_NUMBER: _ClassVar[int]
    LEARNING_FIELD_NUMBER: _ClassVar[int]
    record_id: str
    conversation_id: str
    task_id: str
    time: _timestamp_pb2.Timestamp
    scope: _common_pb2.Scope
    tool_execution: ToolExecution
    file_interaction: FileInteraction
    task: TaskState
    context_snapshot: ContextSnapshot
    learning: Learning
    def __init__(self, record_id: _Optional[str] = ..., conversation_id: _Optional[str] = ..., task_id: _Optional[str] = ..., time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., scope: _Optional[_Union[_common_pb2.Scope, _Mapping]] = ..., tool_execution: _Optional[_Union[ToolExecution, _Mapping]] = ..., file_interaction: _Optional[_Union[FileInteraction, _Mapping]] = ..., task: _Optional[_Union[TaskState, _Mapping]] = ..., context_snapshot: _Optional[_Union[ContextSnapshot, _Mapping]] = ..., learning: _Optional[_Union[Learning, _Mapping]] = ...) -> None: ...

class ToolUse(_message.Message):
    __slots__ = ("tool_name", "count")
    TOOL_NAME_FIELD_NUMBER: _ClassVar[int]
    COUNT_FIELD_NUMBER: _ClassVar[int]
    tool_name: str
    count: int
    def __init__(self, tool_name: _Optional[str] = ..., count: _Optional[int] = ...) -> None: ...

class Task(_message.Message):
    __slots__ = ("task_id", "conversation_id", "description", "intent", "status", "outcome", "start_time", "update_time", "end_time", "scope", "files_touched", "tools_used")
    TASK_ID_FIELD_NUMBER: _ClassVar[int]
    CONVERSATION_ID_FIELD_NUMBER: _ClassVar[int]
    DESCRIPTION_FIELD_NUMBER: _ClassVar[int]
    INTENT_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    OUTCOME_FIELD_NUMBER: _ClassVar[int]
    START_TIME_FIELD_NUMBER: _ClassVar[int]
    UPDATE_TIME_FIELD_NUMBER: _ClassVar[int]
    END_TIME_FIELD_NUMBER: _ClassVar[int]
    SCOPE_FIELD_NUMBER: _ClassVar[int]
    FILES_TOUCHED_FIELD_NUMBER: _ClassVar[int]
    TOOLS_USED_FIELD_NUMBER: _ClassVar[int]
    task_id: str
    conversation_id: str
    description: str
    intent: TaskIntent
    status: TaskStatus
    outcome: str
    start_time: _timestamp_pb2.Timestamp
    update_time: _timestamp_pb2.Timestamp
    end_time: _timestamp_pb2.Timestamp
    scope: _common_pb2.Scope
    files_touched: _containers.RepeatedScalarFieldContainer[str]
    tools_used: _containers.RepeatedCompositeFieldContainer[ToolUse]
    def __init__(self, task_id: _Optional[str] = ..., conversation_id: _Optional[str] = ..., description: _Optional[str] = ..., intent: _Optional[_Union[TaskIntent, str]] = ..., status: _Optional[_Union[TaskStatus, str]] = ..., outcome: _Optional[str] = ..., start_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., update_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., end_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., scope: _Optional[_Union[_common_pb2.Scope, _Mapping]] = ..., files_touched: _Optional[_Iterable[str]] = ..., tools_used: _Optional[_Iterable[_Union[ToolUse, _Mapping]]] = ...) -> None: ...

class RecordActivityRequest(_message.Message):
    __slots__ = ("request_id", "user_id", "records")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    RECORDS_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    user_id: str
    records: _containers.RepeatedCompositeFieldContainer[ActivityRecord]
    def __init__(self, request_id: _Optional[str] = ..., user_id: _Optional[str] = ..., records: _Optional[_Iterable[_Union[ActivityRecord, _Mapping]]] = ...) -> None: ...

class RecordActivityResponse(_message.Message):
    __slots__ = ("stored_count", "known_count")
    STORED_COUNT_FIELD_NUMBER: _ClassVar[int]
    KNOWN_COUNT_FIELD_NUMBER: _ClassVar[int]
    stored_count: int
    known_count: int
    def __init__(self, stored_count: _Optional[int] = ..., known_count: _Optional[int] = ...) -> None: ...

class RecordActivityStreamRequest(_message.Message):
    __slots__ = ("user_id", "records")
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    RECORDS_FIELD_NUMBER: _ClassVar[int]
    user_id: str
    records: _containers.RepeatedCompositeFieldContainer[ActivityRecord]
    def __init__(self, user_id: _Optional[str] = ..., records: _Optional[_Iterable[_Union[ActivityRecord, _Mapping]]] = ...) -> None: ...

class RecordActivityStreamResponse(_message.Message):
    __slots__ = ("stored_count", "known_count")
    STORED_COUNT_FIELD_NUMBER: _ClassVar[int]
    KNOWN_COUNT_FIELD_NUMBER: _ClassVar[int]
    stored_count: int
    known_count: int
    def __init__(self, stored_count: _Optional[int] = ..., known_count: _Optional[int] = ...) -> None: ...

class GetFileHistoryRequest(_message.Message):
    __slots__ = ("user_id", "path", "reader_scope")
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    PATH_FIELD_NUMBER: _ClassVar[int]
    READER_SCOPE_FIELD_NUMBER: _ClassVar[int]
    user_id: str
    path: str
    reader_scope: _common_pb2.Scope
    def __init__(self, user_id: _Optional[str] = ..., path: _Optional[str] = ..., reader_scope: _Optional[_Union[_common_pb2.Scope, _Mapping]] = ...) -> None: ...

class FileOperationCount(_message.Message):
    __slots__ = ("operation", "count", "last_time")
    OPERATION_FIELD_NUMBER: _ClassVar[int]
    COUNT_FIELD_NUMBER: _ClassVar[int]
    LAST_TIME_FIELD_NUMBER: _ClassVar[int]
    operation: FileOperation
    count: int
    last_time: _timestamp_pb2.Timestamp
    def __init__(self, operation: _Optional[_Union[FileOperation, str]] = ..., count: _Optional[int] = ..., last_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class GetFileHistoryResponse(_message.Message):
    __slots__ = ("interaction_count", "operations", "first_time", "last_time", "task_ids", "recent")
    INTERACTION_COUNT_FIELD_NUMBER: _ClassVar[int]
    OPERATIONS_FIELD_NUMBER: _ClassVar[int]
    FIRST_TIME_FIELD_NUMBER: _ClassVar[int]
    LAST_TIME_FIELD_NUMBER: _ClassVar[int]
    TASK_IDS_FIELD_NUMBER: _ClassVar[int]
    RECENT_FIELD_NUMBER: _ClassVar[int]
    interaction_count: int
    operations: _containers.RepeatedCompositeFieldContainer[FileOperationCount]
    first_time: _timestamp_pb2.Timestamp
    last_time: _timestamp_pb2.Timestamp
    task_ids: _containers.RepeatedScalarFieldContainer[str]
    recent: _containers.RepeatedCompositeFieldContainer[ActivityRecord]
    def __init__(self, interaction_count: _Optional[int] = ..., operations: _Optional[_Iterable[_Union[FileOperationCount, _Mapping]]] = ..., first_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., last_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., task_ids: _Optional[_Iterable[str]] = ..., recent: _Optional[_Iterable[_Union[ActivityRecord, _Mapping]]] = ...) -> None: ...

class ListFileInteractionsRequest(_message.Message):
    __slots__ = ("user_id", "path", "path_prefix", "conversation_id", "task_id", "operation", "reader_scope", "page_size", "page_token")
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    PATH_FIELD_NUMBER: _ClassVar[int]
    PATH_PREFIX_FIELD_NUMBER: _ClassVar[int]
    CONVERSATION_ID_FIELD_NUMBER: _ClassVar[int]
    TASK_ID_FIELD_NUMBER: _ClassVar[int]
    OPERATION_FIELD_NUMBER: _ClassVar[int]
    READER_SCOPE_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    user_id: str
    path: str
    path_prefix: str
    conversation_id: str
    task_id: str
    operation: FileOperation
    reader_scope: _common_pb2.Scope
    page_size: int
    page_token: str
    def __init__(self, user_id: _Optional[str] = ..., path: _Optional[str] = ..., path_prefix: _Optional[str] = ..., conversation_id: _Optional[str] = ..., task_id: _Optional[str] = ..., operation: _Optional[_Union[FileOperation, str]] = ..., reader_scope: _Optional[_Union[_common_pb2.Scope, _Mapping]] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListFileInteractionsResponse(_message.Message):
    __slots__ = ("records", "next_page_token")
    RECORDS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    records: _containers.RepeatedCompositeFieldContainer[ActivityRecord]
    next_page_token: str
    def __init__(self, records: _Optional[_Iterable[_Union[ActivityRecord, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class ListEditedTogetherRequest(_message.Message):
    __slots__ = ("user_id", "path", "count_min", "within", "since", "reader_scope", "page_size", "page_token")
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    PATH_FIELD_NUMBER: _ClassVar[int]
    COUNT_MIN_FIELD_NUMBER: _ClassVar[int]
    WITHIN_FIELD_NUMBER: _ClassVar[int]
    SINCE_FIELD_NUMBER: _ClassVar[int]
    READER_SCOPE_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    user_id: str
    path: str
    count_min: int
    within: _duration_pb2.Duration
    since: _timestamp_pb2.Timestamp
    reader_scope: _common_pb2.Scope
    page_size: int
    page_token: str
    def __init__(self, user_id: _Optional[str] = ..., path: _Optional[str] = ..., count_min: _Optional[int] = ..., within: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., since: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., reader_scope: _Optional[_Union[_common_pb2.Scope, _Mapping]] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class EditedTogether(_message.Message):
    __slots__ = ("path", "other_path", "count", "task_count", "last_time")
    PATH_FIELD_NUMBER: _ClassVar[int]
    OTHER_PATH_FIELD_NUMBER: _ClassVar[int]
    COUNT_FIELD_NUMBER: _ClassVar[int]
    TASK_COUNT_FIELD_NUMBER: _ClassVar[int]
    LAST_TIME_FIELD_NUMBER: _ClassVar[int]
    path: str
    other_path: str
    count: int
    task_count: int
    last_time: _timestamp_pb2.Timestamp
    def __init__(self, path: _Optional[str] = ..., other_path: _Optional[str] = ..., count: _Optional[int] = ..., task_count: _Optional[int] = ..., last_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class ListEditedTogetherResponse(_message.Message):
    __slots__ = ("pairs", "next_page_token")
    PAIRS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    pairs: _containers.RepeatedCompositeFieldContainer[EditedTogether]
    next_page_token: str
    def __init__(self, pairs: _Optional[_Iterable[_Union[EditedTogether, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class SearchActivityRequest(_message.Message):
    __slots__ = ("user_id", "query", "reader_scope", "limit")
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    QUERY_FIELD_NUMBER: _ClassVar[int]
    READER_SCOPE_FIELD_NUMBER: _ClassVar[int]
    LIMIT_FIELD_NUMBER: _ClassVar[int]
    user_id: str
    query: str
    reader_scope: _common_pb2.Scope
    limit: int
    def __init__(self, user_id: _Optional[str] = ..., query: _Optional[str] = ..., reader_scope: _Optional[_Union[_common_pb2.Scope, _Mapping]] = ..., limit: _Optional[int] = ...) -> None: ...

class ActivityHit(_message.Message):
    __slots__ = ("record", "match", "score")
    RECORD_FIELD_NUMBER: _ClassVar[int]
    MATCH_FIELD_NUMBER: _ClassVar[int]
    SCORE_FIELD_NUMBER: _ClassVar[int]
    record: ActivityRecord
    match: ActivityMatch
    score: float
    def __init__(self, record: _Optional[_Union[ActivityRecord, _Mapping]] = ..., match: _Optional[_Union[ActivityMatch, str]] = ..., score: _Optional[float] = ...) -> None: ...

class SearchActivityResponse(_message.Message):
    __slots__ = ("hits",)
    HITS_FIELD_NUMBER: _ClassVar[int]
    hits: _containers.RepeatedCompositeFieldContainer[ActivityHit]
    def __init__(self, hits: _Optional[_Iterable[_Union[ActivityHit, _Mapping]]] = ...) -> None: ...

class ListToolExecutionsRequest(_message.Message):
    __slots__ = ("user_id", "tool_name", "conversation_id", "task_id", "success", "reader_scope", "page_size", "page_token")
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    TOOL_NAME_FIELD_NUMBER: _ClassVar[int]
    CONVERSATION_ID_FIELD_NUMBER: _ClassVar[int]
    TASK_ID_FIELD_NUMBER: _ClassVar[int]
    SUCCESS_FIELD_NUMBER: _ClassVar[int]
    READER_SCOPE_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    user_id: str
    tool_name: str
    conversation_id: str
    task_id: str
    success: bool
    reader_scope: _common_pb2.Scope
    page_size: int
    page_token: str
    def __init__(self, user_id: _Optional[str] = ..., tool_name: _Optional[str] = ..., conversation_id: _Optional[str] = ..., task_id: _Optional[str] = ..., success: _Optional[bool] = ..., reader_scope: _Optional[_Union[_common_pb2.Scope, _Mapping]] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListToolExecutionsResponse(_message.Message):
    __slots__ = ("records", "next_page_token")
    RECORDS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    records: _containers.RepeatedCompositeFieldContainer[ActivityRecord]
    next_page_token: str
    def __init__(self, records: _Optional[_Iterable[_Union[ActivityRecord, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class ListToolStatisticsRequest(_message.Message):
    __slots__ = ("user_id", "since", "reader_scope", "page_size", "page_token")
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    SINCE_FIELD_NUMBER: _ClassVar[int]
    READER_SCOPE_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    user_id: str
    since: _timestamp_pb2.Timestamp
    reader_scope: _common_pb2.Scope
    page_size: int
    page_token: str
    def __init__(self, user_id: _Optional[str] = ..., since: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., reader_scope: _Optional[_Union[_common_pb2.Scope, _Mapping]] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ToolStatistics(_message.Message):
    __slots__ = ("tool_name", "execution_count", "success_count", "success_rate", "mean_duration", "median_duration", "p95_duration", "last_time")
    TOOL_NAME_FIELD_NUMBER: _ClassVar[int]
    EXECUTION_COUNT_FIELD_NUMBER: _ClassVar[int]
    SUCCESS_COUNT_FIELD_NUMBER: _ClassVar[int]
    SUCCESS_RATE_FIELD_NUMBER: _ClassVar[int]
    MEAN_DURATION_FIELD_NUMBER: _ClassVar[int]
    MEDIAN_DURATION_FIELD_NUMBER: _ClassVar[int]
    P95_DURATION_FIELD_NUMBER: _ClassVar[int]
    LAST_TIME_FIELD_NUMBER: _ClassVar[int]
    tool_name: str
    execution_count: int
    success_count: int
    success_rate: float
    mean_duration: _duration_pb2.Duration
    median_duration: _duration_pb2.Duration
    p95_duration: _duration_pb2.Duration
    last_time: _timestamp_pb2.Timestamp
    def __init__(self, tool_name: _Optional[str] = ..., execution_count: _Optional[int] = ..., success_count: _Optional[int] = ..., success_rate: _Optional[float] = ..., mean_duration: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., median_duration: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., p95_duration: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., last_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class ListToolStatisticsResponse(_message.Message):
    __slots__ = ("tools", "next_page_token")
    TOOLS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    tools: _containers.RepeatedCompositeFieldContainer[ToolStatistics]
    next_page_token: str
    def __init__(self, tools: _Optional[_Iterable[_Union[ToolStatistics, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class GetTaskRequest(_message.Message):
    __slots__ = ("user_id", "task_id", "reader_scope")
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    TASK_ID_FIELD_NUMBER: _ClassVar[int]
    READER_SCOPE_FIELD_NUMBER: _ClassVar[int]
    user_id: str
    task_id: str
    reader_scope: _common_pb2.Scope
    def __init__(self, user_id: _Optional[str] = ..., task_id: _Optional[str] = ..., reader_scope: _Optional[_Union[_common_pb2.Scope, _Mapping]] = ...) -> None: ...

class GetTaskResponse(_message.Message):
    __slots__ = ("task",)
    TASK_FIELD_NUMBER: _ClassVar[int]
    task: Task
    def __init__(self, task: _Optional[_Union[Task, _Mapping]] = ...) -> None: ...

class ListTasksRequest(_message.Message):
    __slots__ = ("user_id", "statuses", "conversation_id", "reader_scope", "page_size", "page_token")
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    STATUSES_FIELD_NUMBER: _ClassVar[int]
    CONVERSATION_ID_FIELD_NUMBER: _ClassVar[int]
    READER_SCOPE_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    user_id: str
    statuses: _containers.RepeatedScalarFieldContainer[TaskStatus]
    conversation_id: str
    reader_scope: _common_pb2.Scope
    page_size: int
    page_token: str
    def __init__(self, user_id: _Optional[str] = ..., statuses: _Optional[_Iterable[_Union[TaskStatus, str]]] = ..., conversation_id: _Optional[str] = ..., reader_scope: _Optional[_Union[_common_pb2.Scope, _Mapping]] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListTasksResponse(_message.Message):
    __slots__ = ("tasks", "next_page_token")
    TASKS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    tasks: _containers.RepeatedCompositeFieldContainer[Task]
    next_page_token: str
    def __init__(self, tasks: _Optional[_Iterable[_Union[Task, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class SearchTasksRequest(_message.Message):
    __slots__ = ("user_id", "query", "statuses", "except_task_id", "reader_scope", "limit")
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    QUERY_FIELD_NUMBER: _ClassVar[int]
    STATUSES_FIELD_NUMBER: _ClassVar[int]
    EXCEPT_TASK_ID_FIELD_NUMBER: _ClassVar[int]
    READER_SCOPE_FIELD_NUMBER: _ClassVar[int]
    LIMIT_FIELD_NUMBER: _ClassVar[int]
    user_id: str
    query: str
    statuses: _containers.RepeatedScalarFieldContainer[TaskStatus]
    except_task_id: str
    reader_scope: _common_pb2.Scope
    limit: int
    def __init__(self, user_id: _Optional[str] = ..., query: _Optional[str] = ..., statuses: _Optional[_Iterable[_Union[TaskStatus, str]]] = ..., except_task_id: _Optional[str] = ..., reader_scope: _Optional[_Union[_common_pb2.Scope, _Mapping]] = ..., limit: _Optional[int] = ...) -> None: ...

class SimilarTask(_message.Message):
    __slots__ = ("task", "similarity")
    TASK_FIELD_NUMBER: _ClassVar[int]
    SIMILARITY_FIELD_NUMBER: _ClassVar[int]
    task: Task
    similarity: float
    def __init__(self, task: _Optional[_Union[Task, _Mapping]] = ..., similarity: _Optional[float] = ...) -> None: ...

class SearchTasksResponse(_message.Message):
    __slots__ = ("tasks",)
    TASKS_FIELD_NUMBER: _ClassVar[int]
    tasks: _containers.RepeatedCompositeFieldContainer[SimilarTask]
    def __init__(self, tasks: _Optional[_Iterable[_Union[SimilarTask, _Mapping]]] = ...) -> None: ...

class ListContextSnapshotsRequest(_message.Message):
    __slots__ = ("user_id", "conversation_id", "task_id", "reader_scope", "page_size", "page_token")
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    CONVERSATION_ID_FIELD_NUMBER: _ClassVar[int]
    TASK_ID_FIELD_NUMBER: _ClassVar[int]
    READER_SCOPE_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    user_id: str
    conversation_id: str
    task_id: str
    reader_scope: _common_pb2.Scope
    page_size: int
    page_token: str
    def __init__(self, user_id: _Optional[str] = ..., conversation_id: _Optional[str] = ..., task_id: _Optional[str] = ..., reader_scope: _Optional[_Union[_common_pb2.Scope, _Mapping]] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListContextSnapshotsResponse(_message.Message):
    __slots__ = ("records", "next_page_token")
    RECORDS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    records: _containers.RepeatedCompositeFieldContainer[ActivityRecord]
    next_page_token: str
    def __init__(self, records: _Optional[_Iterable[_Union[ActivityRecord, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class ListLearningsRequest(_message.Message):
    __slots__ = ("user_id", "kind", "path", "confidence_min", "reader_scope", "page_size", "page_token")
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    PATH_FIELD_NUMBER: _ClassVar[int]
    CONFIDENCE_MIN_FIELD_NUMBER: _ClassVar[int]
    READER_SCOPE_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    user_id: str
    kind: LearningKind
    path: str
    confidence_min: float
    reader_scope: _common_pb2.Scope
    page_size: int
    page_token: str
    def __init__(self, user_id: _Optional[str] = ..., kind: _Optional[_Union[LearningKind, str]] = ..., path: _Optional[str] = ..., confidence_min: _Optional[float] = ..., reader_scope: _Optional[_Union[_common_pb2.Scope, _Mapping]] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListLearningsResponse(_message.Message):
    __slots__ = ("records", "next_page_token")
    RECORDS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    records: _containers.RepeatedCompositeFieldContainer[ActivityRecord]
    next_page_token: str
    def __init__(self, records: _Optional[_Iterable[_Union[ActivityRecord, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class ListPatternsRequest(_message.Message):
    __slots__ = ("user_id", "kind", "path", "confidence_min", "reader_scope", "page_size", "page_token")
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    PATH_FIELD_NUMBER: _ClassVar[int]
    CONFIDENCE_MIN_FIELD_NUMBER: _ClassVar[int]
    READER_SCOPE_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    user_id: str
    kind: ActivityPatternKind
    path: str
    confidence_min: float
    reader_scope: _common_pb2.Scope
    page_size: int
    page_token: str
    def __init__(self, user_id: _Optional[str] = ..., kind: _Optional[_Union[ActivityPatternKind, str]] = ..., path: _Optional[str] = ..., confidence_min: _Optional[float] = ..., reader_scope: _Optional[_Union[_common_pb2.Scope, _Mapping]] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ActivityPattern(_message.Message):
    __slots__ = ("pattern_id", "kind", "paths", "tool_name", "error", "folder", "confidence", "observed_count", "contrary_count", "first_time", "last_time", "scope")
    PATTERN_ID_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    PATHS_FIELD_NUMBER: _ClassVar[int]
    TOOL_NAME_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    FOLDER_FIELD_NUMBER: _ClassVar[int]
    CONFIDENCE_FIELD_NUMBER: _ClassVar[int]
    OBSERVED_COUNT_FIELD_NUMBER: _ClassVar[int]
    CONTRARY_COUNT_FIELD_NUMBER: _ClassVar[int]
    FIRST_TIME_FIELD_NUMBER: _ClassVar[int]
    LAST_TIME_FIELD_NUMBER: _ClassVar[int]
    SCOPE_FIELD_NUMBER: _ClassVar[int]
    pattern_id: str
    kind: ActivityPatternKind
    paths: _containers.RepeatedScalarFieldContainer[str]
    tool_name: str
    error: str
    folder: str
    confidence: float
    observed_count: int
    contrary_count: int
    first_time: _timestamp_pb2.Timestamp
    last_time: _timestamp_pb2.Timestamp
    scope: _common_pb2.Scope
    def __init__(self, pattern_id: _Optional[str] = ..., kind: _Optional[_Union[ActivityPatternKind, str]] = ..., paths: _Optional[_Iterable[str]] = ..., tool_name: _Optional[str] = ..., error: _Optional[str] = ..., folder: _Optional[str] = ..., confidence: _Optional[float] = ..., observed_count: _Optional[int] = ..., contrary_count: _Optional[int] = ..., first_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., last_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., scope: _Optional[_Union[_common_pb2.Scope, _Mapping]] = ...) -> None: ...

class ListPatternsResponse(_message.Message):
    __slots__ = ("patterns", "next_page_token")
    PATTERNS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    patterns: _containers.RepeatedCompositeFieldContainer[ActivityPattern]
    next_page_token: str
    def __init__(self, patterns: _Optional[_Iterable[_Union[ActivityPattern, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...
