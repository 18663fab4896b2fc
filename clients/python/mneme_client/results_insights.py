"""What notes say as a whole: suggestions, answers to questions, reflection, health."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from mneme_client.enums import NoteKind, QuestionIntent, SuggestionKind
from mneme_client.resources import Note


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A topic that is linked to what was asked, a gap, or a contradiction."""

    kind: SuggestionKind
    topic: str  # of a gap the query
    note_ids: tuple[str, ...]
    score: float  # in [0, 1]


@dataclass(frozen=True, slots=True)
class TopicCount:
    """A topic with its notes."""

    topic: str
    note_count: int


@dataclass(frozen=True, slots=True)
class ParsedQuestion:
    """How a question was read."""

    intent: QuestionIntent
    topic: str  # empty: anything
    kind: NoteKind | None
    start_time: datetime | None
    end_time: datetime | None  # exclusive
    by_topic: bool


@dataclass(frozen=True, slots=True)
class QuestionResult:
    """What was found for a question."""

    parsed: ParsedQuestion
    refusal: str  # why nothing was looked for; empty where something was
    notes: tuple[Note, ...]
    note_count: int  # that fit, listed or not
    topics: tuple[TopicCount, ...]


@dataclass(frozen=True, slots=True)
class Reflection:
    """A period: what was learned, what contradicts, what is unused."""

    start_time: datetime | None
    end_time: datetime | None
    learned_count: int
    learned: tuple[Note, ...]  # the most important
    topics: tuple[TopicCount, ...]
    contradictions: tuple[tuple[Note, Note], ...]
    unused_count: int
    unused: tuple[Note, ...]  # the oldest
    markdown: str  # it says what is superseded, too
    contradiction_count: int = 0


@dataclass(frozen=True, slots=True)
class NoteHealth:
    """Measures of a user's active notes; shares in [0, 1]."""

    note_count: int
    link_count: int
    orphan_count: int  # without a link
    duplicate_count: int  # say the same as an older one
    never_read_share: float
    junk_share: float  # faded
    made_count: int  # concepts and summaries that maintenance made
