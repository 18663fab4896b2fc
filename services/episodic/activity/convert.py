"""From messages of the activity log to records, and back. Pure functions."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any, Final

from google.protobuf.duration_pb2 import Duration

from mneme.episodic.v1 import activity_pb2 as pb
from services.common.convert import moment, scope_to_proto, timestamp
from services.common.scope import Scope
from services.episodic.activity.model import (
    Content,
    ContextSnapshot,
    EditedTogether,
    FileHistory,
    FileInteraction,
    FileOperation,
    Learning,
    LearningKind,
    Pattern,
    Record,
    SnapshotItem,
    Task,
    TaskIntent,
    TaskState,
    TaskStatus,
    ToolExecution,
    ToolStatistics,
)

_CONFIDENCE: Final = 0.5
_MICROSECONDS: Final = 1_000_000


def record_from_proto(message: pb.ActivityRecord, scope_key: str) -> Record:
    """A record whose fields were checked."""
    return Record(
        record_id=message.record_id,
        conversation_id=message.conversation_id,
        task_id=message.task_id,
        time=moment(message.time, field_path="time"),
        scope_key=scope_key,
        content=_content(message),
    )


def record_to_proto(record: Record) -> pb.ActivityRecord:
    """The message of a record."""
    message = pb.ActivityRecord(
        record_id=record.record_id,
        conversation_id=record.conversation_id,
        task_id=record.task_id,
        time=timestamp(record.time),
        scope=scope_to_proto(Scope.from_key(record.scope_key)),
    )
    content = record.content
    if isinstance(content, ToolExecution):
        message.tool_execution.CopyFrom(_tool(content))
    elif isinstance(content, FileInteraction):
        fields = {name: getattr(content, name) for name in FileInteraction.__dataclass_fields__}
        message.file_interaction.CopyFrom(pb.FileInteraction(**{**fields, "operation": int(content.operation)}))
    elif isinstance(content, ContextSnapshot):
        items = [
            pb.ContextSnapshotItem(**{name: getattr(item, name) for name in SnapshotItem.__dataclass_fields__})
            for item in content.items
        ]
        snapshot = pb.ContextSnapshot(items=items, total_tokens=content.total_tokens, reason=content.reason)
        message.context_snapshot.CopyFrom(snapshot)
    elif isinstance(content, Learning):
        kind = pb.LearningKind.Name(int(content.kind))
        learning = pb.Learning(kind=kind, text=content.text, path=content.path, confidence=content.confidence)
        message.learning.CopyFrom(learning)
    else:
        message.task.CopyFrom(
            pb.TaskState(
                description=content.description,
                intent=pb.TaskIntent.Name(int(content.intent)),
                status=pb.TaskStatus.Name(int(content.status)),
                outcome=content.outcome,
            )
        )
    return message


def task_to_proto(task: Task) -> pb.Task:
    """The message of a task."""
    return pb.Task(
        task_id=task.task_id,
        conversation_id=task.conversation_id,
        description=task.description,
        intent=pb.TaskIntent.Name(int(task.intent)),
        status=pb.TaskStatus.Name(int(task.status)),
        outcome=task.outcome,
        start_time=timestamp(task.start_time),
        update_time=timestamp(task.update_time),
        end_time=_optional(task.end_time),
        scope=scope_to_proto(Scope.from_key(task.scope_key)),
        files_touched=task.files_touched,
        tools_used=[pb.ToolUse(tool_name=name, count=count) for name, count in task.tools_used],
    )


def history_to_proto(history: FileHistory) -> pb.GetFileHistoryResponse:
    """The message of a file's history."""
    return pb.GetFileHistoryResponse(
        interaction_count=history.count,
        operations=[
            pb.FileOperationCount(
                operation=pb.FileOperation.Name(int(one.operation)),
                count=one.count,
                last_time=timestamp(one.last_time),
            )
            for one in history.operations
        ],
        first_time=_optional(history.first_time),
        last_time=_optional(history.last_time),
        task_ids=history.task_ids,
        recent=[record_to_proto(one) for one in history.recent],
    )


def pair_to_proto(pair: EditedTogether) -> pb.EditedTogether:
    """The message of two files that are edited together."""
    return pb.EditedTogether(
        path=pair.path,
        other_path=pair.other_path,
        count=pair.count,
        task_count=pair.task_count,
        last_time=timestamp(pair.last_time),
    )


def statistics_to_proto(one: ToolStatistics) -> pb.ToolStatistics:
    """The message of a tool's statistics."""
    return pb.ToolStatistics(
        tool_name=one.tool_name,
        execution_count=one.execution_count,
        success_count=one.success_count,
        success_rate=one.success_count / one.execution_count,
        mean_duration=_duration(one.mean_microseconds),
        median_duration=_duration(one.median_microseconds),
        p95_duration=_duration(one.p95_microseconds),
        last_time=timestamp(one.last_time),
    )


def pattern_to_proto(pattern: Pattern) -> pb.ActivityPattern:
    """The message of a pattern."""
    return pb.ActivityPattern(
        pattern_id=pattern.pattern_id,
        kind=pb.ActivityPatternKind.Name(int(pattern.kind)),
        paths=pattern.paths,
        tool_name=pattern.tool_name,
        error=pattern.error,
        folder=pattern.folder,
        confidence=pattern.confidence,
        observed_count=pattern.observed_count,
        contrary_count=pattern.contrary_count,
        first_time=timestamp(pattern.first_time),
        last_time=timestamp(pattern.last_time),
        scope=scope_to_proto(Scope.from_key(pattern.scope_key)),
    )


def _content(message: pb.ActivityRecord) -> Content:
    kind = message.WhichOneof("content")
    one: Any = getattr(message, kind or "task")
    if kind == "tool_execution":
        return ToolExecution(
            tool_name=one.tool_name,
            success=one.success,
            parameters=one.parameters,
            result=one.result,
            error_message=one.error_message,
            duration_microseconds=one.duration.ToMicroseconds() if one.HasField("duration") else None,
            context_tokens=one.context_tokens if one.HasField("context_tokens") else None,
        )
    if kind == "file_interaction":
        return FileInteraction(
            path=one.path,
            operation=FileOperation(one.operation),
            success=one.success,
            start_line=one.start_line,
            end_line=one.end_line,
            reason=one.reason,
            changes_summary=one.changes_summary,
            previous_path=one.previous_path,
        )
    if kind == "context_snapshot":
        items = tuple(
            SnapshotItem(
                item_id=item.item_id,
                kind=item.kind,
                token_count=item.token_count,
                relevance=item.relevance,
                is_pruned=item.is_pruned,
                score=item.score if item.HasField("score") else None,
            )
            for item in one.items
        )
        return ContextSnapshot(items=items, total_tokens=one.total_tokens, reason=one.reason)
    if kind == "learning":
        confidence = one.confidence if one.HasField("confidence") else _CONFIDENCE
        return Learning(kind=LearningKind(one.kind), text=one.text, path=one.path, confidence=confidence)
    return TaskState(
        status=TaskStatus(one.status),
        description=one.description,
        intent=TaskIntent(one.intent),
        outcome=one.outcome,
    )


def _tool(content: ToolExecution) -> pb.ToolExecution:
    return pb.ToolExecution(
        tool_name=content.tool_name,
        parameters=content.parameters,
        result=content.result,
        success=content.success,
        error_message=content.error_message,
        duration=_duration(content.duration_microseconds),
        context_tokens=content.context_tokens,
    )


def _duration(microseconds: float | None) -> Duration | None:
    if microseconds is None:
        return None
    message = Duration()
    message.FromTimedelta(timedelta(microseconds=round(microseconds)))
    return message


def _optional(time: datetime | None) -> Any:
    return None if time is None else timestamp(time)
