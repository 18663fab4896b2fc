"""The activity log by the Python client and `mneme activity`, and in a user's export."""

from __future__ import annotations

import asyncio
import json
import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from google.protobuf.json_format import MessageToJson
from typer.testing import CliRunner

from mneme_client import Client, wire_activity
from mneme_client import activity as a
from mneme_client.enums import ScopeLevel
from mneme_client.types import Scope
from mneme_client.types_activity import (
    ActivityMatch,
    ActivityPatternKind,
    FileOperation,
    LearningKind,
    TaskIntent,
    TaskStatus,
)
from services.cli.main import app
from tests.support.stack import RunningStack

pytestmark = pytest.mark.asyncio(loop_scope="session")

NOW = datetime.now(UTC).replace(microsecond=0) - timedelta(hours=1)
_LOGGED = re.compile(r"^[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9:]{8} \[.*\n", re.MULTILINE)
"""What the server of the tests' own process logs meanwhile."""

SHOP = Scope(ScopeLevel.PROJECT, project_id="shop")
GLOBAL = Scope()


def record(record_id: str, content: a.ActivityContent, *, minutes: int = 0, task_id: str = "t") -> a.ActivityRecord:
    return a.ActivityRecord(record_id, "c1", NOW + timedelta(minutes=minutes), content, task_id, GLOBAL)


EDIT = a.FileInteraction("src/app.py", FileOperation.EDIT, True, 3, 9, "a reason", "a change", "")
RUN = a.ToolExecution("bash", False, "{}", "out", "Error 1", timedelta(milliseconds=40), 7)
WINDOW = a.ContextSnapshot((a.SnapshotItem("i", "tool_result", 5, 0.5, True, 12.5),), 100, "pruning")
KNOWN = a.Learning(LearningKind.WORKFLOW, "Run make check.", "Makefile", 0.75)
BEGAN = a.TaskState(TaskStatus.PAUSED, "Fix the login", TaskIntent.PROJECT_FIXING, "")
RECORDS = [record("1", EDIT), record("2", RUN), record("3", WINDOW), record("4", KNOWN), record("5", BEGAN)]


async def test_spec_2_10_the_client_reads_what_it_wrote(client: Client, user_id: str) -> None:
    stored = await client.record_activity(user_id, RECORDS, request_id=f"{user_id} 1")
    assert stored == a.StoredActivity(5, 0)
    assert await client.record_activity_stream(user_id, RECORDS) == a.StoredActivity(0, 5)
    assert [one async for one in client.list_file_interactions(user_id, operation=FileOperation.EDIT)] == RECORDS[:1]
    assert [one async for one in client.list_tool_executions(user_id, success=False)] == RECORDS[1:2]
    assert [one async for one in client.list_tool_executions(user_id, success=True)] == []
    assert [one async for one in client.list_context_snapshots(user_id, conversation_id="c1")] == RECORDS[2:3]
    assert [one async for one in client.list_learnings(user_id, kind=LearningKind.WORKFLOW)] == RECORDS[3:4]
    task = await client.get_task(user_id, "t")
    assert (task.status, task.intent, task.files_touched) == (
        TaskStatus.PAUSED,
        TaskIntent.PROJECT_FIXING,
        ("src/app.py",),
    )
    history = await client.get_file_history(user_id, "src/app.py")
    assert (history.count, history.operations, history.recent) == (1, {FileOperation.EDIT: 1}, (RECORDS[0],))
    [tool] = [one async for one in client.list_tool_statistics(user_id)]
    assert (tool.success_rate, tool.mean_duration) == (0.0, timedelta(milliseconds=40))
    [hit] = await client.search_activity(user_id, "app.py")
    assert (hit.record, hit.match, hit.score) == (RECORDS[0], ActivityMatch.PATH, 1.0)


async def test_a_project_is_seen_by_its_readers_alone(client: Client, user_id: str) -> None:
    inside = replace(RECORDS[0], scope=SHOP)
    await client.record_activity(user_id, [inside])
    assert [one async for one in client.list_file_interactions(user_id)] == []
    assert [one async for one in client.list_file_interactions(user_id, reader_scope=SHOP)] == [inside]


async def test_spec_2_10_the_command_line_records_and_asks(
    stack: RunningStack, client: Client, user_id: str, tmp_path: Path
) -> None:
    days = [
        record(f"{number} {path}", replace(EDIT, path=path), minutes=number * 9, task_id=f"t{number}")
        for number in range(3)
        for path in ("a.py", "b.py")
    ]
    lines = [MessageToJson(wire_activity.record_message(one), indent=None) for one in (*RECORDS, *days)]
    file = tmp_path / "records.jsonl"
    file.write_text("\n".join(lines))

    async def mneme(*arguments: str) -> str:
        command = ["--target", stack.target, "activity", arguments[0], "--user", user_id, *arguments[1:]]
        result = await asyncio.to_thread(CliRunner().invoke, app, command)
        assert result.exit_code == 0, result.output
        return _LOGGED.sub("", result.stdout)

    assert "stored 11, known already 0" in await mneme("record", str(file))
    assert json.loads(await mneme("seen", "a.py", "--json"))["count"] == 3
    assert "seen 0 times" in await mneme("seen", "other.py")
    assert [pair["other_path"] for pair in json.loads(await mneme("together", "b.py", "--json"))] == ["a.py"]
    assert "edit src/app.py" in await mneme("last", "app.py")
    assert "bash" in await mneme("tools")
    assert "Fix the login" in await mneme("tasks")
    similar = json.loads(await mneme("tasks", "--similar", "Fix the login", "--json"))
    assert [one["task"]["task_id"] for one in similar] == ["t"]
    await client.run_job(user_id, "episodic.learn_patterns")
    [pattern] = [one async for one in client.list_patterns(user_id, kind=ActivityPatternKind.CO_EDIT)]
    assert pattern.paths == ("a.py", "b.py")
    assert "co_edit" in await mneme("patterns", "a.py")


async def test_spec_2_10_an_export_holds_the_log(client: Client, user_id: str) -> None:
    await client.record_activity(user_id, RECORDS)
    await client.search_tasks(user_id, "Fix the login")  # a vector is made
    exported = [part async for part in client.export_user(user_id)]
    assert b"embedding" not in b"".join(exported)
    await client.erase_user(user_id)
    assert [one async for one in client.list_file_interactions(user_id)] == []
    await client.import_user(exported)
    assert [one async for one in client.list_file_interactions(user_id)] == RECORDS[:1]
    assert [one async for one in client.list_context_snapshots(user_id)] == RECORDS[2:3]
    [similar] = await client.search_tasks(user_id, "Fix the login")
    assert similar.task.description == "Fix the login"
