"""Rows of the activity log as records, and back."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from services.common.encryption.cipher import Cipher
from services.common.encryption.rows import SealedTable
from services.episodic.activity.model import (
    ContextSnapshot,
    FileInteraction,
    FileOperation,
    Learning,
    LearningKind,
    Pattern,
    PatternKind,
    Record,
    SnapshotItem,
    Task,
    TaskIntent,
    TaskStatus,
    ToolExecution,
)
from services.episodic.activity.stores.postgres_sealing import FILES, LEARNINGS, SNAPSHOTS, TASKS, TOOLS


def columns(records: Sequence[Record]) -> list[list[Any]]:
    """The columns that all kinds have, one list each."""
    return [
        [record.record_id for record in records],
        [record.time for record in records],
        [record.conversation_id for record in records],
        [record.task_id for record in records],
        [record.scope_key for record in records],
    ]


def tool_columns(ids: Sequence[str], contents: Sequence[ToolExecution], cipher: Cipher) -> list[list[Any]]:
    """The columns of tool executions."""
    sealed = _sealed(
        TOOLS,
        cipher,
        ids,
        parameters=[one.parameters for one in contents],
        result=[one.result for one in contents],
        error_message=[one.error_message for one in contents],
    )
    return [
        [one.tool_name for one in contents],
        sealed["parameters"],
        sealed["result"],
        [one.success for one in contents],
        sealed["error_message"],
        [one.duration_microseconds for one in contents],
        [one.context_tokens for one in contents],
    ]


def file_columns(ids: Sequence[str], contents: Sequence[FileInteraction], cipher: Cipher) -> list[list[Any]]:
    """The columns of file interactions."""
    sealed = _sealed(
        FILES,
        cipher,
        ids,
        reason=[one.reason for one in contents],
        changes_summary=[one.changes_summary for one in contents],
    )
    return [
        [one.path for one in contents],
        [int(one.operation) for one in contents],
        [one.start_line for one in contents],
        [one.end_line for one in contents],
        [one.success for one in contents],
        sealed["reason"],
        sealed["changes_summary"],
        [one.previous_path for one in contents],
    ]


def snapshot_columns(ids: Sequence[str], contents: Sequence[ContextSnapshot], cipher: Cipher) -> list[list[Any]]:
    """The columns of context snapshots."""
    sealed = _sealed(SNAPSHOTS, cipher, ids, reason=[one.reason for one in contents])
    return [
        [json.dumps([_item_row(item) for item in one.items]) for one in contents],
        [one.total_tokens for one in contents],
        sealed["reason"],
    ]


def learning_columns(ids: Sequence[str], contents: Sequence[Learning], cipher: Cipher) -> list[list[Any]]:
    """The columns of learnings."""
    return [
        [int(one.kind) for one in contents],
        _sealed(LEARNINGS, cipher, ids, learned=[one.text for one in contents])["learned"],
        [one.path for one in contents],
        [one.confidence for one in contents],
    ]


def tool_record(row: Any) -> Record:
    """A tool execution."""
    return _record(
        row,
        ToolExecution(
            tool_name=row["tool_name"],
            success=row["success"],
            parameters=row["parameters"],
            result=row["result"],
            error_message=row["error_message"],
            duration_microseconds=row["duration"],
            context_tokens=row["context_tokens"],
        ),
    )


def file_record(row: Any) -> Record:
    """A file interaction."""
    return _record(
        row,
        FileInteraction(
            path=row["path"],
            operation=FileOperation(row["operation"]),
            success=row["success"],
            start_line=row["start_line"],
            end_line=row["end_line"],
            reason=row["reason"],
            changes_summary=row["changes_summary"],
            previous_path=row["previous_path"],
        ),
    )


def _item_row(item: SnapshotItem) -> list[Any]:
    """An item as it is stored; the score is the last field, and only there where there is one."""
    score = [] if item.score is None else [item.score]
    return [item.item_id, item.kind, item.token_count, item.relevance, item.is_pruned, *score]


def snapshot_record(row: Any) -> Record:
    """A context snapshot."""
    items = tuple(
        SnapshotItem(
            item_id=item_id,
            kind=kind,
            token_count=count,
            relevance=relevance,
            is_pruned=is_pruned,
            score=score[0] if score else None,
        )
        for item_id, kind, count, relevance, is_pruned, *score in row["items"]
    )
    return _record(row, ContextSnapshot(items=items, total_tokens=row["total_tokens"], reason=row["reason"]))


def learning_record(row: Any) -> Record:
    """A learning."""
    kind = LearningKind(row["kind"])
    return _record(row, Learning(kind=kind, text=row["learned"], path=row["path"], confidence=row["confidence"]))


def task(row: Any) -> Task:
    """A task, without files and tools."""
    return Task(
        task_id=row["task_id"],
        conversation_id=row["conversation_id"],
        scope_key=row["scope_key"],
        description=row["description"],
        intent=TaskIntent(row["intent"]),
        status=TaskStatus(row["status"]),
        outcome=row["outcome"],
        start_time=row["time"],
        update_time=row["update_time"],
        end_time=row["end_time"],
    )


def task_columns(tasks: Sequence[Task], cipher: Cipher) -> list[list[Any]]:
    """The columns of tasks."""
    outcomes = [TASKS.seal(cipher, {"task_id": one.task_id, "outcome": one.outcome})["outcome"] for one in tasks]
    return [
        [one.task_id for one in tasks],
        [one.start_time for one in tasks],
        [one.conversation_id for one in tasks],
        [one.scope_key for one in tasks],
        descriptions(tasks, cipher),
        [int(one.intent) for one in tasks],
        [int(one.status) for one in tasks],
        outcomes,
        [one.update_time for one in tasks],
        [one.end_time for one in tasks],
    ]


def descriptions(tasks: Sequence[Task], cipher: Cipher) -> list[str]:
    """Descriptions as they are stored: equal ones alike."""
    return [
        TASKS.seal(cipher, {"task_id": one.task_id, "description": one.description})["description"] for one in tasks
    ]


def pattern(row: Any) -> Pattern:
    """A pattern."""
    return Pattern(
        pattern_id=str(row["pattern_id"]),
        kind=PatternKind(row["kind"]),
        scope_key=row["scope_key"],
        paths=tuple(row["paths"]),
        observed_count=row["observed_count"],
        contrary_count=row["contrary_count"],
        first_time=row["first_time"],
        last_time=row["last_time"],
        tool_name=row["tool_name"],
        error=row["error"],
        folder=row["folder"],
    )


def _sealed(table: SealedTable, cipher: Cipher, ids: Sequence[str], **columns: list[str]) -> dict[str, list[str]]:
    """Columns of records of these ids, encrypted."""
    rows = [
        table.seal(cipher, {"record_id": record_id, **{name: column[place] for name, column in columns.items()}})
        for place, record_id in enumerate(ids)
    ]
    return {name: [row[name] for row in rows] for name in columns}


def _record(row: Any, content: ToolExecution | FileInteraction | ContextSnapshot | Learning) -> Record:
    return Record(
        record_id=row["record_id"],
        conversation_id=row["conversation_id"],
        task_id=row["task_id"],
        time=row["time"],
        scope_key=row["scope_key"],
        content=content,
    )
