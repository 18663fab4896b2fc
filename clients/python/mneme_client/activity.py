"""The activity log of coding agents: records, and what was found in them. Plain frozen data."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TypeAlias

from mneme_client.types import Scope
from mneme_client.types_activity import (
    ActivityMatch,
    ActivityPatternKind,
    FileOperation,
    LearningKind,
    TaskIntent,
    TaskStatus,
)


@dataclass(frozen=True, slots=True)
class ToolExecution:
    """One call of a tool."""

    tool_name: str
    success: bool
    parameters: str = ""  # such as JSON
    result: str = ""  # or a summary of it
    error_message: str = ""
    duration: timedelta | None = None  # None: not known
    context_tokens: int | None = None  # None: not known


@dataclass(frozen=True, slots=True)
class FileInteraction:
    """One use of a file."""

    path: str
    operation: FileOperation
    success: bool = True
    start_line: int = 0  # from 1; 0: the whole file
    end_line: int = 0  # included
    reason: str = ""
    changes_summary: str = ""
    previous_path: str = ""  # of a rename


@dataclass(frozen=True, slots=True)
class TaskState:
    """A task as it stands at the time of its record; empty fields keep what is known."""

    status: TaskStatus
    description: str = ""
    intent: TaskIntent = TaskIntent.UNSPECIFIED
    outcome: str = ""


@dataclass(frozen=True, slots=True)
class SnapshotItem:
    """One item of a context window."""

    item_id: str
    kind: str = ""
    token_count: int = 0
    relevance: float = 0.0
    is_pruned: bool = False  # just removed from the window
    score: float | None = None  # what it was worth to the window; None where nothing was scored


@dataclass(frozen=True, slots=True)
class ContextSnapshot:
    """A context window at one time."""

    items: tuple[SnapshotItem, ...]
    total_tokens: int  # of the items that stayed
    reason: str  # such as "pruning"


@dataclass(frozen=True, slots=True)
class Learning:
    """Something to know in later sessions."""

    kind: LearningKind
    text: str
    path: str = ""
    confidence: float = 0.5  # in [0, 1]


ActivityContent: TypeAlias = ToolExecution | FileInteraction | TaskState | ContextSnapshot | Learning
"""What a record is about."""


@dataclass(frozen=True, slots=True)
class ActivityRecord:
    """One entry of the log."""

    record_id: str  # such as the id of a tool call: a known one changes nothing
    conversation_id: str
    time: datetime
    content: ActivityContent
    task_id: str = ""
    scope: Scope | None = None  # None: GLOBAL


@dataclass(frozen=True, slots=True)
class StoredActivity:
    """What a write did."""

    stored_count: int
    known_count: int  # records that change nothing


@dataclass(frozen=True, slots=True)
class FileHistory:
    """What is known of a file."""

    count: int  # how often it was used; 0: never seen
    operations: dict[FileOperation, int] = field(default_factory=dict)
    first_time: datetime | None = None
    last_time: datetime | None = None
    task_ids: tuple[str, ...] = ()  # the latest first
    recent: tuple[ActivityRecord, ...] = ()  # the latest first


@dataclass(frozen=True, slots=True)
class EditedTogether:
    """A pair of files that are edited together."""

    path: str
    other_path: str
    count: int
    task_count: int
    last_time: datetime | None


@dataclass(frozen=True, slots=True)
class ActivityHit:
    """A record that was found."""

    record: ActivityRecord
    match: ActivityMatch
    score: float  # in [0, 1]


@dataclass(frozen=True, slots=True)
class ToolStatistics:
    """How a tool fares; durations are None where none is known."""

    tool_name: str
    execution_count: int
    success_count: int
    success_rate: float  # in [0, 1]
    mean_duration: timedelta | None
    median_duration: timedelta | None
    p95_duration: timedelta | None
    last_time: datetime | None


@dataclass(frozen=True, slots=True)
class AgentTask:
    """A task with what the log knows of it."""

    task_id: str
    conversation_id: str
    description: str
    intent: TaskIntent
    status: TaskStatus
    outcome: str
    start_time: datetime | None
    update_time: datetime | None
    end_time: datetime | None  # None: not finished
    scope: Scope
    files_touched: tuple[str, ...]  # the most used first
    tools_used: dict[str, int]  # the most used first


@dataclass(frozen=True, slots=True)
class SimilarTask:
    """A task and its cosine similarity to a query."""

    task: AgentTask
    similarity: float


@dataclass(frozen=True, slots=True)
class ActivityPattern:
    """Something that the records show again and again."""

    pattern_id: str
    kind: ActivityPatternKind
    paths: tuple[str, ...]
    tool_name: str
    error: str
    folder: str
    confidence: float  # in [0, 1]
    observed_count: int
    contrary_count: int
    first_time: datetime | None
    last_time: datetime | None
    scope: Scope
