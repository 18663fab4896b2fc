"""The port of the activity log's stores. `tests/contract/activity_store.py` is the suite that every driver passes."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol, TypeAlias
from uuid import UUID

import numpy as np
import numpy.typing as npt

from services.common.idempotency.model import IdempotencyRecords
from services.common.owners import Owner, TenantId
from services.common.scope import Scope
from services.episodic.activity.model import (
    Edit,
    FileHistory,
    FileOperation,
    LearningKind,
    Pattern,
    PatternKind,
    Record,
    Stored,
    Task,
    TaskStatus,
    ToolStatistics,
)

RecordOnce: TypeAlias = Callable[[IdempotencyRecords, Callable[[], Awaitable[Stored]]], Awaitable[Stored]]
"""Runs a write once for a request id."""

Vector: TypeAlias = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Position:
    """The last entry of a page in a list that is newest first: the next page begins behind it."""

    time: datetime
    identity: str  # of the record or task


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordFilter:
    """Which records a list holds. Empty fields mean any; those that a kind does not have must be empty."""

    scope_keys: Sequence[str]  # of the places that the reader sees
    conversation_id: str = ""
    task_id: str = ""
    path: str = ""
    path_prefix: str = ""
    operation: FileOperation | None = None
    tool_name: str = ""
    success: bool | None = None
    learning_kind: LearningKind | None = None
    confidence_min: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Removal:
    """Which records of a user are removed: those of a conversation, of a scope, or all."""

    conversation_id: str = ""
    scope: Scope | None = None
    with_nested: bool = False  # the scopes below it too
    scope_keys: Sequence[str] = ()  # with a scope, those of the log that are removed

    @property
    def is_everything(self) -> bool:
        """Whether nothing of the user stays."""
        return not self.conversation_id and self.scope is None


@dataclass(frozen=True, slots=True)
class ActivityOwner:
    """A user with records."""

    owner: Owner
    revision: int  # raised by every write
    is_changed: bool  # since patterns were learned


@dataclass(frozen=True, slots=True)
class LogState:
    """Which records of a user there are, as jobs compare it."""

    revision: int  # raised by every write
    erasure_id: UUID  # another one after every removal


@dataclass(frozen=True, slots=True)
class ComparedTask:
    """A task with its vector, None where it has none of the model."""

    task: Task
    vector: Vector | None


@dataclass(frozen=True, slots=True)
class ToolOutcome:
    """A tool execution as patterns are learned from it."""

    task_id: str
    scope_key: str
    tool_name: str
    success: bool
    error_message: str
    time: datetime


@dataclass(frozen=True, slots=True)
class FileChange:
    """A changed file as patterns are learned from it."""

    task_id: str
    scope_key: str
    path: str
    operation: FileOperation
    previous_path: str
    time: datetime


@dataclass(frozen=True, slots=True)
class Partition:
    """A month of one table."""

    name: str
    month: datetime  # its first moment, UTC


class ActivityStore(Protocol):
    """Records of users. No operation sees those of another owner, and reads see only the given scopes."""

    async def write(self, owner: Owner, records: Sequence[Record], once: RecordOnce | None = None) -> Stored:
        """Store records, all or none, in one step with the idempotency record of `once`.

        Must leave a record alone whose id is stored for its kind, whatever its time; of equal ids in `records` it must
        store the first. Must make of a task's states what `advanced` makes of them, and serialize writes of an owner.

        Raises:
            InvalidArgument: See `advanced`.
        """
        ...

    async def list_files(
        self, owner: Owner, query: RecordFilter, *, after: Position | None, limit: int
    ) -> Sequence[Record]:
        """File interactions, newest first; the greater id first among equal times."""
        ...

    async def list_tools(
        self, owner: Owner, query: RecordFilter, *, after: Position | None, limit: int
    ) -> Sequence[Record]:
        """Tool executions in the same order."""
        ...

    async def list_snapshots(
        self, owner: Owner, query: RecordFilter, *, after: Position | None, limit: int
    ) -> Sequence[Record]:
        """Context snapshots in the same order."""
        ...

    async def list_learnings(
        self, owner: Owner, query: RecordFilter, *, after: Position | None, limit: int
    ) -> Sequence[Record]:
        """Learnings in the same order."""
        ...

    async def file_history(
        self, owner: Owner, path: str, *, scope_keys: Sequence[str], tasks_max: int, recent_max: int
    ) -> FileHistory:
        """What is known of a file."""
        ...

    async def version(self, owner: Owner) -> str:
        """Another text after each change of a user's log, removals included; empty where there is no log."""
        ...

    async def edits(
        self, owner: Owner, *, scope_keys: Sequence[str], since: datetime, path: str, limit: int
    ) -> Sequence[Edit]:
        """The newest successful edits within tasks; with a path, those in tasks that edited it."""
        ...

    async def search(
        self, owner: Owner, patterns: Sequence[str], *, scope_keys: Sequence[str], searched_max: int, limit: int
    ) -> Sequence[Record]:
        """The newest file interactions and tool executions that hold one of the texts, whatever its case."""
        ...

    async def of_tasks(
        self, owner: Owner, task_ids: Sequence[str], *, scope_keys: Sequence[str], limit: int
    ) -> Sequence[Record]:
        """The newest file interactions and tool executions of some tasks."""
        ...

    async def tool_statistics(
        self, owner: Owner, *, scope_keys: Sequence[str], since: datetime, after: str | None, limit: int
    ) -> Sequence[ToolStatistics]:
        """Statistics by tool, by name, from the one after `after`."""
        ...

    async def list_tasks(
        self,
        owner: Owner,
        *,
        scope_keys: Sequence[str],
        statuses: Sequence[TaskStatus],
        conversation_id: str,
        after: Position | None,
        limit: int,
    ) -> Sequence[Task]:
        """Tasks, those that began last first, without files and tools."""
        ...

    async def get_task(self, owner: Owner, task_id: str, *, scope_keys: Sequence[str]) -> Task | None:
        """A task without files and tools, None where there is none."""
        ...

    async def with_uses(
        self, owner: Owner, tasks: Sequence[Task], *, scope_keys: Sequence[str], items_max: int
    ) -> Sequence[Task]:
        """The same tasks with their files and tools."""
        ...

    async def compared_tasks(
        self, owner: Owner, *, scope_keys: Sequence[str], statuses: Sequence[TaskStatus], model: str, limit: int
    ) -> Sequence[ComparedTask]:
        """The newest tasks with their vectors of a model."""
        ...

    async def put_vectors(self, owner: Owner, vectors: Sequence[tuple[Task, Vector]], *, model: str) -> None:
        """Stores vectors of tasks; of a task that was described otherwise meanwhile it must not."""
        ...

    async def list_patterns(
        self,
        owner: Owner,
        *,
        scope_keys: Sequence[str],
        kind: PatternKind | None,
        path: str,
        confidence_min: float,
        after: tuple[float, str] | None,
        limit: int,
    ) -> Sequence[Pattern]:
        """Patterns, the most confident first, by id among equals; `after` is confidence and id of the last one."""
        ...

    async def remove(self, owner: Owner, removal: Removal, *, now: datetime) -> int:
        """Removes records and tasks, and how many there were. Where there were any, all patterns of the user go too.

        Must remember what was removed: of records that are written later, those of it with a time up to `now`, or up to
        the latest time of what was removed, count as known and must not be stored.
        """
        ...

    async def remove_tenant(self, tenant_id: TenantId) -> int:
        """Removes everything of a tenant; how many records and tasks there were."""
        ...

    async def scope_keys(self, owner: Owner) -> Sequence[str]:
        """Scopes that records of the user have."""
        ...


class ActivityUpkeepStore(Protocol):
    """What jobs read and write, across tenants."""

    async def owners(self, *, after: Owner | None, limit: int) -> Sequence[ActivityOwner]:
        """Users with records, by their keys, from the one after `after`."""
        ...

    async def outcomes(self, owner: Owner, *, since: datetime, limit: int) -> Sequence[ToolOutcome]:
        """The newest executions of tools within tasks."""
        ...

    async def changes(self, owner: Owner, *, since: datetime, limit: int) -> Sequence[FileChange]:
        """The newest successful writes, edits, renames and deletions of files within tasks."""
        ...

    async def pattern_counts(self, owner: Owner) -> Mapping[str, tuple[int, int]]:
        """The patterns of a user by id: how often each was observed, and how often not."""
        ...

    async def log_state(self, owner: Owner) -> LogState | None:
        """The state of a user's log; None where there is none."""
        ...

    async def put_patterns(
        self, owner: Owner, patterns: Sequence[Pattern], *, removed: Sequence[str], learned: LogState | None
    ) -> bool:
        """Stores patterns and removes others.

        With a state of the log, which was read before the records, these are learned from up to its revision. Where
        records were erased since, or the log is gone, it must change nothing: False then.
        """
        ...

    async def partitions(self) -> Sequence[Partition]:
        """The months that have partitions."""
        ...

    async def make_partitions(self, month: datetime) -> int:
        """Makes those of a month; how many were made."""
        ...

    async def drop_partition(self, name: str) -> bool:
        """Drops a month of one table; False where it is gone."""
        ...

    async def delete_before(self, time: datetime) -> int:
        """Deletes records that have no month, from before a time."""
        ...
