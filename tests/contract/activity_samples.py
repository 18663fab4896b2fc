"""Records for tests of the activity log."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Final

from services.common.owners import Owner, TenantId, UserId
from services.episodic.activity.model import (
    Content,
    FileInteraction,
    FileOperation,
    Record,
    TaskIntent,
    TaskState,
    TaskStatus,
    ToolExecution,
)

ADA: Final = Owner(TenantId("acme"), UserId("ada"))
BEN: Final = Owner(TenantId("acme"), UserId("ben"))
OTHER: Final = Owner(TenantId("other"), UserId("ada"))
NOON: Final = datetime(2026, 5, 8, 12, tzinfo=UTC)
GLOBAL: Final = "1"
PROJECT: Final = "2\x1fshop"


def at(minutes: float) -> datetime:
    """Minutes after noon."""
    return NOON + timedelta(minutes=minutes)


def record(
    record_id: str,
    content: Content,
    *,
    minutes: float = 0.0,
    task_id: str = "",
    conversation_id: str = "c1",
    scope_key: str = GLOBAL,
) -> Record:
    """A record."""
    return Record(
        record_id=record_id,
        conversation_id=conversation_id,
        task_id=task_id,
        time=at(minutes),
        scope_key=scope_key,
        content=content,
    )


def touched(path: str, operation: FileOperation = FileOperation.EDIT, **fields: str | bool) -> FileInteraction:
    """A use of a file."""
    return FileInteraction(path=path, operation=operation, success=bool(fields.pop("success", True)), **fields)  # type: ignore[arg-type]


def ran(tool_name: str, *, success: bool = True, microseconds: int | None = None, error: str = "") -> ToolExecution:
    """A call of a tool."""
    return ToolExecution(tool_name=tool_name, success=success, duration_microseconds=microseconds, error_message=error)


def state(status: TaskStatus = TaskStatus.ACTIVE, description: str = "", outcome: str = "") -> TaskState:
    """A state of a task."""
    return TaskState(status=status, description=description, outcome=outcome, intent=TaskIntent.UNKNOWN)
