"""Between the messages of ActivityService and plain data. Pure functions."""

from __future__ import annotations

from datetime import UTC, timedelta
from typing import Any

from mneme.episodic.v1 import activity_pb2 as pb
from mneme_client import activity as r
from mneme_client import from_wire, to_wire
from mneme_client.types_activity import (
    ActivityMatch,
    ActivityPatternKind,
    FileOperation,
    LearningKind,
    TaskIntent,
    TaskStatus,
)


def record_message(record: r.ActivityRecord) -> pb.ActivityRecord:
    """The message of a record."""
    message = pb.ActivityRecord(
        record_id=record.record_id,
        conversation_id=record.conversation_id,
        task_id=record.task_id,
        time=to_wire.timestamp(record.time),
        scope=to_wire.scope(record.scope),
    )
    content = record.content
    fields = {name: getattr(content, name) for name in content.__dataclass_fields__}
    if isinstance(content, r.ToolExecution):
        fields["duration"] = to_wire.optional_duration(content.duration)
        message.tool_execution.CopyFrom(pb.ToolExecution(**fields))
    elif isinstance(content, r.FileInteraction):
        fields["operation"] = to_wire.enum_number(content.operation)
        message.file_interaction.CopyFrom(pb.FileInteraction(**fields))
    elif isinstance(content, r.TaskState):
        fields |= {
            "status": to_wire.enum_number(content.status),
            "intent": to_wire.optional_enum_number(content.intent or None),
        }
        message.task.CopyFrom(pb.TaskState(**fields))
    elif isinstance(content, r.ContextSnapshot):
        fields["items"] = [
            pb.ContextSnapshotItem(**{name: getattr(item, name) for name in item.__dataclass_fields__})
            for item in content.items
        ]
        message.context_snapshot.CopyFrom(pb.ContextSnapshot(**fields))
    else:
        fields["kind"] = to_wire.enum_number(content.kind)
        message.learning.CopyFrom(pb.Learning(**fields))
    return message


def record(message: pb.ActivityRecord) -> r.ActivityRecord:
    """A record."""
    return r.ActivityRecord(
        record_id=message.record_id,
        conversation_id=message.conversation_id,
        time=message.time.ToDatetime(tzinfo=UTC),
        content=_content(message),
        task_id=message.task_id,
        scope=from_wire.scope(message.scope) if message.HasField("scope") else None,
    )


def stored(message: pb.RecordActivityResponse | pb.RecordActivityStreamResponse) -> r.StoredActivity:
    """What a write did."""
    return r.StoredActivity(message.stored_count, message.known_count)


def history(message: pb.GetFileHistoryResponse) -> r.FileHistory:
    """What is known of a file."""
    return r.FileHistory(
        count=message.interaction_count,
        operations={FileOperation(one.operation): one.count for one in message.operations},
        first_time=from_wire.moment(message, "first_time"),
        last_time=from_wire.moment(message, "last_time"),
        task_ids=tuple(message.task_ids),
        recent=tuple(record(one) for one in message.recent),
    )


def pair(message: pb.EditedTogether) -> r.EditedTogether:
    """Two files that are edited together."""
    last_time = from_wire.moment(message, "last_time")
    return r.EditedTogether(message.path, message.other_path, message.count, message.task_count, last_time)


def hit(message: pb.ActivityHit) -> r.ActivityHit:
    """A record that was found."""
    return r.ActivityHit(record(message.record), ActivityMatch(message.match), message.score)


def statistics(message: pb.ToolStatistics) -> r.ToolStatistics:
    """How a tool fares."""
    return r.ToolStatistics(
        tool_name=message.tool_name,
        execution_count=message.execution_count,
        success_count=message.success_count,
        success_rate=message.success_rate,
        mean_duration=_duration(message, "mean_duration"),
        median_duration=_duration(message, "median_duration"),
        p95_duration=_duration(message, "p95_duration"),
        last_time=from_wire.moment(message, "last_time"),
    )


def task(message: pb.Task) -> r.AgentTask:
    """A task."""
    return r.AgentTask(
        task_id=message.task_id,
        conversation_id=message.conversation_id,
        description=message.description,
        intent=TaskIntent(message.intent),
        status=TaskStatus(message.status),
        outcome=message.outcome,
        start_time=from_wire.moment(message, "start_time"),
        update_time=from_wire.moment(message, "update_time"),
        end_time=from_wire.moment(message, "end_time"),
        scope=from_wire.scope(message.scope),
        files_touched=tuple(message.files_touched),
        tools_used={use.tool_name: use.count for use in message.tools_used},
    )


def similar(message: pb.SimilarTask) -> r.SimilarTask:
    """A task that was found."""
    return r.SimilarTask(task(message.task), message.similarity)


def pattern(message: pb.ActivityPattern) -> r.ActivityPattern:
    """A pattern."""
    return r.ActivityPattern(
        pattern_id=message.pattern_id,
        kind=ActivityPatternKind(message.kind),
        paths=tuple(message.paths),
        tool_name=message.tool_name,
        error=message.error,
        folder=message.folder,
        confidence=message.confidence,
        observed_count=message.observed_count,
        contrary_count=message.contrary_count,
        first_time=from_wire.moment(message, "first_time"),
        last_time=from_wire.moment(message, "last_time"),
        scope=from_wire.scope(message.scope),
    )


def _content(message: pb.ActivityRecord) -> r.ActivityContent:
    kind = message.WhichOneof("content")
    one: Any = getattr(message, kind or "task")
    if kind == "tool_execution":
        return r.ToolExecution(
            tool_name=one.tool_name,
            success=one.success,
            parameters=one.parameters,
            result=one.result,
            error_message=one.error_message,
            duration=_duration(one, "duration"),
            context_tokens=one.context_tokens if one.HasField("context_tokens") else None,
        )
    if kind == "file_interaction":
        fields = {name: getattr(one, name) for name in r.FileInteraction.__dataclass_fields__}
        return r.FileInteraction(**{**fields, "operation": FileOperation(one.operation)})
    if kind == "context_snapshot":
        items = tuple(
            r.SnapshotItem(
                item.item_id,
                item.kind,
                item.token_count,
                item.relevance,
                item.is_pruned,
                item.score if item.HasField("score") else None,
            )
            for item in one.items
        )
        return r.ContextSnapshot(items, one.total_tokens, one.reason)
    if kind == "learning":
        confidence = one.confidence if one.HasField("confidence") else 0.5
        return r.Learning(LearningKind(one.kind), one.text, one.path, confidence)
    return r.TaskState(TaskStatus(one.status), one.description, TaskIntent(one.intent), one.outcome)


def _duration(message: Any, field: str) -> timedelta | None:
    return from_wire.duration(getattr(message, field)) if message.HasField(field) else None
