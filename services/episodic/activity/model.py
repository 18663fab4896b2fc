"""What a coding agent did, as frozen values, and the pure functions over them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import IntEnum
from typing import TypeAlias

from services.common.errors import FieldViolation, InvalidArgument


class FileOperation(IntEnum):
    """What was done with a file; the numbers are those of the wire format."""

    READ = 1
    WRITE = 2
    EDIT = 3
    SEARCH = 4
    ANALYZE = 5
    RENAME = 6
    DELETE = 7


EDITING = frozenset({FileOperation.WRITE, FileOperation.EDIT})
"""Operations that change what is in a file."""

MOVING = frozenset({FileOperation.RENAME, FileOperation.DELETE})
"""Operations after which a path is gone."""


class TaskIntent(IntEnum):
    """What a task is for; the numbers are those of the wire format."""

    UNKNOWN = 0
    CODE_READING = 1
    CODE_WRITING = 2
    PROJECT_FIXING = 3
    PROJECT_EXPLORATION = 4


class TaskStatus(IntEnum):
    """Where a task stands; the numbers are those of the wire format."""

    ACTIVE = 1
    COMPLETED = 2
    FAILED = 3
    PAUSED = 4


FINISHED = frozenset({TaskStatus.COMPLETED, TaskStatus.FAILED})
"""Statuses in which nothing is left to do."""


class LearningKind(IntEnum):
    """What a learning is about; the numbers are those of the wire format."""

    FILE_PURPOSE = 1
    COMMON_ERROR = 2
    WORKFLOW = 3


class PatternKind(IntEnum):
    """What a pattern says; the numbers are those of the wire format."""

    CO_EDIT = 1
    ERROR_FIX = 2
    REFACTOR = 3


class Match(IntEnum):
    """Why a search found a record; the numbers are those of the wire format."""

    PATH = 1
    WORDS = 2
    TASK = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolExecution:
    """One call of a tool."""

    tool_name: str
    success: bool
    parameters: str = ""  # as the caller writes them
    result: str = ""
    error_message: str = ""
    duration_microseconds: int | None = None  # >= 0; None: not known
    context_tokens: int | None = None  # >= 0; None: not known


@dataclass(frozen=True, slots=True, kw_only=True)
class FileInteraction:
    """One use of a file."""

    path: str
    operation: FileOperation
    success: bool
    start_line: int = 0  # from 1; 0: the whole file
    end_line: int = 0  # included
    reason: str = ""
    changes_summary: str = ""
    previous_path: str = ""  # of a rename


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskState:
    """A task as it stands at the time of its record. Empty fields keep what is known."""

    status: TaskStatus
    description: str = ""
    intent: TaskIntent = TaskIntent.UNKNOWN
    outcome: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SnapshotItem:
    """One item of a context window."""

    item_id: str
    kind: str
    token_count: int
    relevance: float
    is_pruned: bool
    score: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextSnapshot:
    """A context window at one time."""

    items: tuple[SnapshotItem, ...]
    total_tokens: int
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Learning:
    """Something to know in later sessions."""

    kind: LearningKind
    text: str
    path: str = ""
    confidence: float = 0.5  # in [0, 1]


Content: TypeAlias = ToolExecution | FileInteraction | TaskState | ContextSnapshot | Learning


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """One entry of the log."""

    record_id: str
    conversation_id: str
    task_id: str  # empty: of no task
    time: datetime  # aware, UTC
    scope_key: str
    content: Content


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """A task as its states tell it."""

    task_id: str
    conversation_id: str
    scope_key: str
    description: str
    intent: TaskIntent
    status: TaskStatus
    outcome: str
    start_time: datetime
    update_time: datetime
    end_time: datetime | None = None
    files_touched: tuple[str, ...] = ()  # the most used first
    tools_used: tuple[tuple[str, int], ...] = ()  # with their numbers, the most used first


@dataclass(frozen=True, slots=True)
class Stored:
    """What a write did."""

    stored_count: int
    known_count: int


@dataclass(frozen=True, slots=True)
class OperationCount:
    """How often something was done with a file, and when last."""

    operation: FileOperation
    count: int
    last_time: datetime


@dataclass(frozen=True, slots=True)
class FileHistory:
    """What is known of a file; without operations it was never seen."""

    operations: tuple[OperationCount, ...] = ()
    first_time: datetime | None = None
    task_ids: tuple[str, ...] = ()  # the latest first
    recent: tuple[Record, ...] = ()  # the latest first

    @property
    def count(self) -> int:
        """How often it was used."""
        return sum(one.count for one in self.operations)

    @property
    def last_time(self) -> datetime | None:
        """When it was last used."""
        return max((one.last_time for one in self.operations), default=None)


@dataclass(frozen=True, slots=True)
class Edit:
    """One edit of a file within a task."""

    task_id: str
    path: str
    time: datetime


@dataclass(frozen=True, slots=True)
class EditedTogether:
    """A pair of files that are edited together."""

    path: str
    other_path: str
    count: int
    task_count: int
    last_time: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolStatistics:
    """How a tool fares. Durations are in microseconds; None where none is known."""

    tool_name: str
    execution_count: int
    success_count: int
    mean_microseconds: float | None
    median_microseconds: float | None
    p95_microseconds: float | None
    last_time: datetime


@dataclass(frozen=True, slots=True)
class Hit:
    """A record that a search found."""

    record: Record
    match: Match
    score: float  # in [0, 1]


@dataclass(frozen=True, slots=True)
class SimilarTask:
    """A task and its cosine similarity to a query."""

    task: Task
    similarity: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Pattern:
    """Something that records show again and again."""

    pattern_id: str
    kind: PatternKind
    scope_key: str
    paths: tuple[str, ...]
    observed_count: int  # tasks
    contrary_count: int  # tasks
    first_time: datetime
    last_time: datetime
    tool_name: str = ""
    error: str = ""
    folder: str = ""

    @property
    def confidence(self) -> float:
        """Laplace's rule of succession: the chance that the next task shows it as well."""
        return (self.observed_count + 1) / (self.observed_count + self.contrary_count + 2)


@dataclass(frozen=True, slots=True)
class TaskChanges:
    """What states make of a task."""

    task: Task
    is_new: bool
    is_changed: bool
    known_count: int = field(default=0)  # states that are not newer than what is stored


def advanced(present: Task | None, states: Sequence[tuple[int, Record]]) -> TaskChanges:
    """A task after further states of it, whatever order they come in.

    Args:
        present: The task as it is stored; None for a new one.
        states: Records with a `TaskState`, all of one task, with their places in the request.

    Raises:
        InvalidArgument: The first state of a task has no description.
    """
    task, known = present, 0
    for place, record in sorted(states, key=lambda pair: pair[1].time):
        state = record.content
        if not isinstance(state, TaskState):
            raise TypeError("a task is made of states of tasks")
        if task is None:
            if not state.description:
                violation = FieldViolation(f"records[{place}].task.description", "is required in a task's first state")
                raise InvalidArgument("the request is not valid", violations=[violation])
            task = Task(
                task_id=record.task_id,
                conversation_id=record.conversation_id,
                scope_key=record.scope_key,
                description=state.description,
                intent=state.intent,
                status=state.status,
                outcome=state.outcome,
                start_time=record.time,
                update_time=record.time,
            )
        elif record.time <= task.update_time:
            known += 1
            continue
        task = replace(
            task,
            conversation_id=record.conversation_id,
            scope_key=record.scope_key,
            description=state.description or task.description,
            intent=state.intent or task.intent,
            status=state.status,
            outcome=state.outcome or task.outcome,
            update_time=record.time,
            end_time=record.time if state.status in FINISHED else None,
        )
    if task is None:
        raise ValueError("a task needs a state")
    return TaskChanges(task, is_new=present is None, is_changed=known < len(states), known_count=known)
