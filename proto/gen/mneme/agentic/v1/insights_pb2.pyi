import datetime

from google.protobuf import timestamp_pb2 as _timestamp_pb2
from mneme.agentic.v1 import notes_pb2 as _notes_pb2
from mneme.common.v1 import common_pb2 as _common_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class SuggestionKind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    SUGGESTION_KIND_UNSPECIFIED: _ClassVar[SuggestionKind]
    SUGGESTION_KIND_RELATED_TOPIC: _ClassVar[SuggestionKind]
    SUGGESTION_KIND_GAP: _ClassVar[SuggestionKind]
    SUGGESTION_KIND_CONTRADICTION: _ClassVar[SuggestionKind]

class QuestionIntent(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    QUESTION_INTENT_UNSPECIFIED: _ClassVar[QuestionIntent]
    QUESTION_INTENT_RETRIEVE: _ClassVar[QuestionIntent]
    QUESTION_INTENT_FILTER: _ClassVar[QuestionIntent]
    QUESTION_INTENT_AGGREGATE: _ClassVar[QuestionIntent]
SUGGESTION_KIND_UNSPECIFIED: SuggestionKind
SUGGESTION_KIND_RELATED_TOPIC: SuggestionKind
SUGGESTION_KIND_GAP: SuggestionKind
SUGGESTION_KIND_CONTRADICTION: SuggestionKind
QUESTION_INTENT_UNSPECIFIED: QuestionIntent
QUESTION_INTENT_RETRIEVE: QuestionIntent
QUESTION_INTENT_FILTER: QuestionIntent
QUESTION_INTENT_AGGREGATE: QuestionIntent

class GetSuggestionsRequest(_message.Message):
    __slots__ = ("user_id", "recent_queries", "reader_scope", "limit")
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    RECENT_QUERIES_FIELD_NUMBER: _ClassVar[int]
    READER_SCOPE_FIELD_NUMBER: _ClassVar[int]
    LIMIT_FIELD_NUMBER: _ClassVar[int]
    user_id: str
    recent_queries: _containers.RepeatedScalarFieldContainer[str]
    reader_scope: _common_pb2.Scope
    limit: int
    def __init__(self, user_id: _Optional[str] = ..., recent_queries: _Optional[_Iterable[str]] = ..., reader_scope: _Optional[_Union[_common_pb2.Scope, _Mapping]] = ..., limit: _Optional[int] = ...) -> None: ...

class Suggestion(_message.Message):
    __slots__ = ("kind", "topic", "note_ids", "score")
    KIND_FIELD_NUMBER: _ClassVar[int]
    TOPIC_FIELD_NUMBER: _ClassVar[int]
    NOTE_IDS_FIELD_NUMBER: _ClassVar[int]
    SCORE_FIELD_NUMBER: _ClassVar[int]
    kind: SuggestionKind
    topic: str
    note_ids: _containers.RepeatedScalarFieldContainer[str]
    score: float
    def __init__(self, kind: _Optional[_Union[SuggestionKind, str]] = ..., topic: _Optional[str] = ..., note_ids: _Optional[_Iterable[str]] = ..., score: _Optional[float] = ...) -> None: ...

class GetSuggestionsResponse(_message.Message):
    __slots__ = ("suggestions",)
    SUGGESTIONS_FIELD_NUMBER: _ClassVar[int]
    suggestions: _containers.RepeatedCompositeFieldContainer[Suggestion]
    def __init__(self, suggestions: _Optional[_Iterable[_Union[Suggestion, _Mapping]]] = ...) -> None: ...

class SearchByQuestionRequest(_message.Message):
    __slots__ = ("user_id", "question", "reader_scope", "limit")
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    QUESTION_FIELD_NUMBER: _ClassVar[int]
    READER_SCOPE_FIELD_NUMBER: _ClassVar[int]
    LIMIT_FIELD_NUMBER: _ClassVar[int]
    user_id: str
    question: str
    reader_scope: _common_pb2.Scope
    limit: int
    def __init__(self, user_id: _Optional[str] = ..., question: _Optional[str] = ..., reader_scope: _Optional[_Union[_common_pb2.Scope, _Mapping]] = ..., limit: _Optional[int] = ...) -> None: ...

class ParsedQuestion(_message.Message):
    __slots__ = ("intent", "topic", "kind", "start_time", "end_time", "by_topic")
    INTENT_FIELD_NUMBER: _ClassVar[int]
    TOPIC_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    START_TIME_FIELD_NUMBER: _ClassVar[int]
    END_TIME_FIELD_NUMBER: _ClassVar[int]
    BY_TOPIC_FIELD_NUMBER: _ClassVar[int]
    intent: QuestionIntent
    topic: str
    kind: _notes_pb2.NoteKind
    start_time: _timestamp_pb2.Timestamp
    end_time: _timestamp_pb2.Timestamp
    by_topic: bool
    def __init__(self, intent: _Optional[_Union[QuestionIntent, str]] = ..., topic: _Optional[str] = ..., kind: _Optional[_Union[_notes_pb2.NoteKind, str]] = ..., start_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., end_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., by_topic: _Optional[bool] = ...) -> None: ...

class TopicCount(_message.Message):
    __slots__ = ("topic", "note_count")
    TOPIC_FIELD_NUMBER: _ClassVar[int]
    NOTE_COUNT_FIELD_NUMBER: _ClassVar[int]
    topic: str
    note_count: int
    def __init__(self, topic: _Optional[str] = ..., note_count: _Optional[int] = ...) -> None: ...

class SearchByQuestionResponse(_message.Message):
    __slots__ = ("parsed", "refusal", "notes", "note_count", "topics")
    PARSED_FIELD_NUMBER: _ClassVar[int]
    REFUSAL_FIELD_NUMBER: _ClassVar[int]
    NOTES_FIELD_NUMBER: _ClassVar[int]
    NOTE_COUNT_FIELD_NUMBER: _ClassVar[int]
    TOPICS_FIELD_NUMBER: _ClassVar[int]
    parsed: ParsedQuestion
    refusal: str
    notes: _containers.RepeatedCompositeFieldContainer[_notes_pb2.Note]
    note_count: int
    topics: _containers.RepeatedCompositeFieldContainer[TopicCount]
    def __init__(self, parsed: _Optional[_Union[ParsedQuestion, _Mapping]] = ..., refusal: _Optional[str] = ..., notes: _Optional[_Iterable[_Union[_notes_pb2.Note, _Mapping]]] = ..., note_count: _Optional[int] = ..., topics: _Optional[_Iterable[_Union[TopicCount, _Mapping]]] = ...) -> None: ...

class GetReflectionRequest(_message.Message):
    __slots__ = ("user_id", "start_time", "end_time", "reader_scope")
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    START_TIME_FIELD_NUMBER: _ClassVar[int]
    END_TIME_FIELD_NUMBER: _ClassVar[int]
    READER_SCOPE_FIELD_NUMBER: _ClassVar[int]
    user_id: str
    start_time: _timestamp_pb2.Timestamp
    end_time: _timestamp_pb2.Timestamp
    reader_scope: _common_pb2.Scope
    def __init__(self, user_id: _Optional[str] = ..., start_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., end_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., reader_scope: _Optional[_Union[_common_pb2.Scope, _Mapping]] = ...) -> None: ...

class Contradiction(_message.Message):
    __slots__ = ("first", "second")
    FIRST_FIELD_NUMBER: _ClassVar[int]
    SECOND_FIELD_NUMBER: _ClassVar[int]
    first: _notes_pb2.Note
    second: _notes_pb2.Note
    def __init__(self, first: _Optional[_Union[_notes_pb2.Note, _Mapping]] = ..., second: _Optional[_Union[_notes_pb2.Note, _Mapping]] = ...) -> None: ...

class GetReflectionResponse(_message.Message):
    __slots__ = ("start_time", "end_time", "learned_count", "learned", "topics", "contradictions", "unused_count", "unused", "markdown", "contradiction_count")
    START_TIME_FIELD_NUMBER: _ClassVar[int]
    END_TIME_FIELD_NUMBER: _ClassVar[int]
    LEARNED_COUNT_FIELD_NUMBER: _ClassVar[int]
    LEARNED_FIELD_NUMBER: _ClassVar[int]
    TOPICS_FIELD_NUMBER: _ClassVar[int]
    CONTRADICTIONS_FIELD_NUMBER: _ClassVar[int]
    UNUSED_COUNT_FIELD_NUMBER: _ClassVar[int]
    UNUSED_FIELD_NUMBER: _ClassVar[int]
    MARKDOWN_FIELD_NUMBER: _ClassVar[int]
    CONTRADICTION_COUNT_FIELD_NUMBER: _ClassVar[int]
    start_time: _timestamp_pb2.Timestamp
    end_time: _timestamp_pb2.Timestamp
    learned_count: int
    learned: _containers.RepeatedCompositeFieldContainer[_notes_pb2.Note]
    topics: _containers.RepeatedCompositeFieldContainer[TopicCount]
    contradictions: _containers.RepeatedCompositeFieldContainer[Contradiction]
    unused_count: int
    unused: _containers.RepeatedCompositeFieldContainer[_notes_pb2.Note]
    markdown: str
    contradiction_count: int
    def __init__(self, start_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., end_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., learned_count: _Optional[int] = ..., learned: _Optional[_Iterable[_Union[_notes_pb2.Note, _Mapping]]] = ..., topics: _Optional[_Iterable[_Union[TopicCount, _Mapping]]] = ..., contradictions: _Optional[_Iterable[_Union[Contradiction, _Mapping]]] = ..., unused_count: _Optional[int] = ..., unused: _Optional[_Iterable[_Union[_notes_pb2.Note, _Mapping]]] = ..., markdown: _Optional[str] = ..., contradiction_count: _Optional[int] = ...) -> None: ...

class GetHealthRequest(_message.Message):
    __slots__ = ("user_id",)
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    user_id: str
    def __init__(self, user_id: _Optional[str] = ...) -> None: ...

class GetHealthResponse(_message.Message):
    __slots__ = ("note_count", "link_count", "orphan_count", "duplicate_count", "never_read_share", "junk_share", "made_count")
    NOTE_COUNT_FIELD_NUMBER: _ClassVar[int]
    LINK_COUNT_FIELD_NUMBER: _ClassVar[int]
    ORPHAN_COUNT_FIELD_NUMBER: _ClassVar[int]
    DUPLICATE_COUNT_FIELD_NUMBER: _ClassVar[int]
    NEVER_READ_SHARE_FIELD_NUMBER: _ClassVar[int]
    JUNK_SHARE_FIELD_NUMBER: _ClassVar[int]
    MADE_COUNT_FIELD_NUMBER: _ClassVar[int]
    note_count: int
    link_count: int
    orphan_count: int
    duplicate_count: int
    never_read_share: float
    junk_share: float
    made_count: int
    def __init__(self, note_count: _Optional[int] = ..., link_count: _Optional[int] = ..., orphan_count: _Optional[int] = ..., duplicate_count: _Optional[int] = ..., never_read_share: _Optional[float] = ..., junk_share: _Optional[float] = ..., made_count: _Optional[int] = ...) -> None: ...
