"""The activity log through the gateway: what an agent records, what it asks, and what an erasure leaves of it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import Any

import grpc
import pytest
import pytest_asyncio

from mneme.common.v1 import common_pb2
from mneme.episodic.v1 import activity_pb2 as pb
from mneme.episodic.v1 import activity_pb2_grpc
from mneme_client import Client
from services.common.convert import timestamp
from tests.support.stack import RunningStack, refusal

pytestmark = pytest.mark.asyncio(loop_scope="session")

START = (datetime.now(UTC) - timedelta(hours=2)).replace(second=0, microsecond=0)
PROJECT = common_pb2.Scope(level=common_pb2.SCOPE_LEVEL_PROJECT, project_id="shop")


@pytest_asyncio.fixture(loop_scope="session")
async def activity(stack: RunningStack) -> AsyncIterator[activity_pb2_grpc.ActivityServiceStub]:
    async with grpc.aio.insecure_channel(stack.target) as channel:
        yield activity_pb2_grpc.ActivityServiceStub(channel)


def record(record_id: str, minutes: float = 0.0, *, task_id: str = "", **content: Any) -> pb.ActivityRecord:
    fields = {"conversation_id": "c1", **content}
    return pb.ActivityRecord(
        record_id=record_id, time=timestamp(START + timedelta(minutes=minutes)), task_id=task_id, **fields
    )


def edit(record_id: str, path: str, minutes: float, task_id: str, **fields: Any) -> pb.ActivityRecord:
    operation = fields.pop("operation", pb.FILE_OPERATION_EDIT)
    interaction = pb.FileInteraction(path=path, operation=operation, success=True, **fields)
    return record(record_id, minutes, task_id=task_id, file_interaction=interaction)


def task(task_id: str, description: str, status: int, minutes: float = 0.0, outcome: str = "") -> pb.ActivityRecord:
    state = pb.TaskState(description=description, status=pb.TaskStatus.Name(status), outcome=outcome)
    return record(f"state {task_id} {minutes}", minutes, task_id=task_id, task=state)


def run(record_id: str, tool: str, minutes: float, task_id: str, error: str = "") -> pb.ActivityRecord:
    execution = pb.ToolExecution(tool_name=tool, success=not error, error_message=error)
    execution.duration.FromMilliseconds(40)
    return record(record_id, minutes, task_id=task_id, tool_execution=execution)


def day() -> list[pb.ActivityRecord]:
    """Three tasks that each mend an import after a rename, and one that waits."""
    found = [task("wait", "Write the release notes", pb.TASK_STATUS_PAUSED)]
    for number in range(3):
        name, start = f"t{number}", number * 20.0
        found += [
            task(name, f"Fix the login of tenant {number}", pb.TASK_STATUS_COMPLETED, start, "Token was stale."),
            edit(f"{name} move", f"src/auth/new{number}.py", start, name, operation=pb.FILE_OPERATION_RENAME),
            run(f"{name} fail", "pytest", start + 1, name, f"ImportError: line {number}"),
            edit(f"{name} a", "src/auth/login.py", start + 2, name, reason="the session token"),
            edit(f"{name} b", "src/app.py", start + 3, name),
            run(f"{name} pass", "pytest", start + 4, name),
        ]
    return found


async def test_spec_2_10_an_agent_asks_what_it_did(
    activity: activity_pb2_grpc.ActivityServiceStub, user_id: str
) -> None:
    stored = await activity.RecordActivity(
        pb.RecordActivityRequest(request_id=f"{user_id} 1", user_id=user_id, records=day())
    )
    assert (stored.stored_count, stored.known_count) == (19, 0)
    history = await activity.GetFileHistory(pb.GetFileHistoryRequest(user_id=user_id, path="src/app.py"))
    assert (history.interaction_count, list(history.task_ids)) == (3, ["t2", "t1", "t0"])
    unseen = await activity.GetFileHistory(pb.GetFileHistoryRequest(user_id=user_id, path="other.py"))
    assert unseen.interaction_count == 0
    [pair] = (await activity.ListEditedTogether(pb.ListEditedTogetherRequest(user_id=user_id))).pairs
    assert (pair.path, pair.other_path, pair.count, pair.task_count) == ("src/app.py", "src/auth/login.py", 3, 3)
    request = pb.ListEditedTogetherRequest(user_id=user_id, count_min=4)
    assert not (await activity.ListEditedTogether(request)).pairs
    request = pb.ListEditedTogetherRequest(user_id=user_id)
    request.within.FromSeconds(30)
    assert not (await activity.ListEditedTogether(request)).pairs
    [tool] = (await activity.ListToolStatistics(pb.ListToolStatisticsRequest(user_id=user_id))).tools
    assert (tool.tool_name, tool.execution_count, tool.success_rate) == ("pytest", 6, 0.5)
    assert tool.mean_duration.ToMilliseconds() == 40
    unfinished = pb.ListTasksRequest(user_id=user_id, statuses=["TASK_STATUS_ACTIVE", "TASK_STATUS_PAUSED"])
    assert [one.task_id for one in (await activity.ListTasks(unfinished)).tasks] == ["wait"]
    found = (await activity.GetTask(pb.GetTaskRequest(user_id=user_id, task_id="t1"))).task
    assert set(found.files_touched) == {"src/app.py", "src/auth/login.py", "src/auth/new1.py"}
    assert [(use.tool_name, use.count) for use in found.tools_used] == [("pytest", 2)]


async def test_spec_2_10_the_last_thing_done_is_found_by_path_words_and_meaning(
    activity: activity_pb2_grpc.ActivityServiceStub, user_id: str
) -> None:
    await activity.RecordActivity(pb.RecordActivityRequest(request_id=f"{user_id} 1", user_id=user_id, records=day()))

    async def found(query: str, limit: int = 3) -> list[tuple[str, int]]:
        request = pb.SearchActivityRequest(user_id=user_id, query=query, limit=limit)
        return [(hit.record.record_id, hit.match) for hit in (await activity.SearchActivity(request)).hits]

    assert await found("src/auth/login.py", 1) == [("t2 a", pb.ACTIVITY_MATCH_PATH)]
    assert await found("What did I last do with the auth code?", 1) == [("t2 a", pb.ACTIVITY_MATCH_PATH)]
    assert await found("session token", 1) == [("t2 a", pb.ACTIVITY_MATCH_WORDS)]
    request = pb.SearchTasksRequest(user_id=user_id, query="Fix the login of tenant 2", limit=2, except_task_id="t2")
    similar = (await activity.SearchTasks(request)).tasks
    assert {one.task.task_id for one in similar} == {"t0", "t1"}
    assert similar[0].task.outcome == "Token was stale."


async def test_spec_2_10_patterns_are_learned_and_offered_with_their_confidence(
    activity: activity_pb2_grpc.ActivityServiceStub, client: Client, user_id: str
) -> None:
    await activity.RecordActivity(pb.RecordActivityRequest(request_id=f"{user_id} 1", user_id=user_id, records=day()))
    await client.run_job(user_id, "episodic.learn_patterns")
    patterns = (await activity.ListPatterns(pb.ListPatternsRequest(user_id=user_id))).patterns
    kinds = {(one.kind, tuple(one.paths), one.folder): one for one in patterns}
    pair = kinds[pb.ACTIVITY_PATTERN_KIND_CO_EDIT, ("src/app.py", "src/auth/login.py"), ""]
    assert (pair.observed_count, pair.contrary_count, pair.confidence) == (3, 0, 0.8)
    fix = kinds[pb.ACTIVITY_PATTERN_KIND_ERROR_FIX, ("src/app.py",), ""]
    assert (fix.tool_name, fix.error) == ("pytest", "ImportError: line #")
    assert (pb.ACTIVITY_PATTERN_KIND_REFACTOR, ("src/app.py",), "src/auth") in kinds
    page = await activity.ListPatterns(pb.ListPatternsRequest(user_id=user_id, page_size=1))
    assert page.next_page_token
    await client.erase_conversation(user_id, "c1")
    assert not (await activity.ListPatterns(pb.ListPatternsRequest(user_id=user_id))).patterns


async def test_spec_2_10_a_stream_is_stored_and_may_be_repeated(
    activity: activity_pb2_grpc.ActivityServiceStub, user_id: str
) -> None:
    async def messages() -> AsyncIterator[pb.RecordActivityStreamRequest]:
        for number in range(300):
            yield pb.RecordActivityStreamRequest(user_id=user_id, records=[run(f"r{number}", "bash", 0, "")])

    first = await activity.RecordActivityStream(messages())
    assert (first.stored_count, first.known_count) == (300, 0)
    again = await activity.RecordActivityStream(messages())
    assert (again.stored_count, again.known_count) == (0, 300)

    async def wrong() -> AsyncIterator[pb.RecordActivityStreamRequest]:
        yield pb.RecordActivityStreamRequest(user_id=user_id, records=[record("x")])

    refused = await refusal(activity.RecordActivityStream(wrong()))
    assert (refused.code, refused.paths) == (grpc.StatusCode.INVALID_ARGUMENT, ("records[0].content",))


async def test_spec_2_10_wrong_fields_are_named(activity: activity_pb2_grpc.ActivityServiceStub, user_id: str) -> None:
    old = record("1", tool_execution=pb.ToolExecution(tool_name="bash"))
    old.time.FromJsonString("2001-01-01T00:00:00Z")
    records = [old, edit("2", "", 0, ""), record("3", learning=pb.Learning(text="x")), task("", "d", 0)]
    request = pb.RecordActivityRequest(request_id=f"{user_id} 1", user_id=user_id, records=records)
    refused = await refusal(activity.RecordActivity(request))
    assert refused.paths == (
        "records[0].time",
        "records[1].file_interaction.path",
        "records[2].learning.kind",
        "records[3].task_id",
        "records[3].task.status",
    )


async def test_spec_6_6_an_erasure_reaches_the_log(
    activity: activity_pb2_grpc.ActivityServiceStub, client: Client, user_id: str
) -> None:
    records = [run("1", "bash", 0, ""), run("2", "bash", 1, ""), run("3", "bash", 2, "")]
    records[1].conversation_id = "c2"
    records[2].scope.CopyFrom(PROJECT)
    await activity.RecordActivity(pb.RecordActivityRequest(request_id=f"{user_id} 1", user_id=user_id, records=records))

    async def left() -> list[str]:
        request = pb.ListToolExecutionsRequest(user_id=user_id, reader_scope=PROJECT)
        return [one.record_id for one in (await activity.ListToolExecutions(request)).records]

    assert await left() == ["3", "2", "1"]
    at_global = await activity.ListToolExecutions(pb.ListToolExecutionsRequest(user_id=user_id))
    assert [one.record_id for one in at_global.records] == ["2", "1"]
    erasure = await client.erase_conversation(user_id, "c2")
    assert any(store.counts.get("activity_records") == 1 for store in erasure.stores)
    assert await left() == ["3", "1"]
    await client.erase_user(user_id)
    assert await left() == []
