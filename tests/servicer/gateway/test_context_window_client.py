"""Context windows by the Python client and `mneme window`, and the examples of docs/context-windows.md."""

from __future__ import annotations

import asyncio
import json
import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import mneme_client
from mneme_client import Client, MnemeClientError
from mneme_client import context_window as w
from mneme_client.activity import ContextSnapshot
from mneme_client.enums import ContextItemKind, ContextSourceState, ScopeLevel
from mneme_client.types import Scope
from tests.servicer.cli.test_resources import run_command
from tests.support.stack import RunningStack

pytestmark = pytest.mark.asyncio(loop_scope="session")

NOW = datetime.now(UTC).replace(microsecond=0) - timedelta(hours=2)
PAGE = Path(mneme_client.__file__).parents[3] / "docs" / "context-windows.md"
PYTHON = re.findall(r"```python\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
COMMANDS = re.findall(r"^    mneme (window .*?)(?:  +#.*)?$", PAGE.read_text("utf-8"), re.MULTILINE)

SYSTEM = w.WindowItem(kind=ContextItemKind.SYSTEM_PROMPT, content="You fix bugs.", item_id="system")
CALL = w.WindowItem(
    kind=ContextItemKind.ASSISTANT_RESPONSE,
    item_id="call",
    create_time=NOW,
    tool_calls=(w.ToolCall("c1", "grep", '{"pattern": "levy"}'),),
)
RESULT = w.WindowItem(
    kind=ContextItemKind.TOOL_RESULT,
    content="shop/tools.py:1: def levy(amount):",
    item_id="result",
    relevance=0.5,
    task_id="t1",
    dependency_ids=("call",),
    sticky=False,
    create_time=NOW,
    scope=Scope(ScopeLevel.PROJECT, project_id="shop"),
    tool_call_id="c1",
    tool_name="grep",
    file_path="shop/tools.py",
    start_line=1,
    end_line=2,
)
QUERY = w.WindowItem(
    kind=ContextItemKind.GRAPH_QUERY, content="main", item_id="query", create_time=NOW, query="callers of levy"
)


async def test_spec_1_7_the_client_fills_and_reads_a_window(client: Client, user_id: str) -> None:
    added = await client.add_context_items(user_id, "c", [SYSTEM, CALL, RESULT, QUERY])
    assert (added.item_ids, added.added_count) == (("system", "call", "result", "query"), 4)
    again = await client.add_context_items(user_id, "c", [RESULT])
    assert again.added_count == 0
    items = [one async for one in client.list_context_items(user_id, "c", page_size=2)]
    assert [one.item.item_id for one in items] == list(added.item_ids)
    found = items[2].item
    assert (found.tool_call_id, found.scope, found.relevance) == ("c1", RESULT.scope, 0.5)
    assert (found.dependency_ids, found.create_time, found.start_line) == (("call",), NOW, 1)
    assert items[1].item.tool_calls == CALL.tool_calls
    assert (items[3].item.query, items[0].item.sticky) == ("callers of levy", True)
    window = await client.update_context_window(
        user_id, "c", max_tokens=512, current_task_id="t1", ttl=timedelta(hours=1)
    )
    assert (window.max_tokens, window.current_task_id, window.ttl) == (512, "t1", timedelta(hours=1))
    assert window.token_count == sum(one.item.token_count for one in items) > 0
    assert (await client.get_context_window(user_id, "c")).item_count == 4
    with pytest.raises(MnemeClientError, match="context window"):
        await client.add_context_items(user_id, "other", [SYSTEM], create_if_missing=False)


async def test_spec_1_8_the_client_prunes_and_restores(client: Client, user_id: str) -> None:
    await client.add_context_items(user_id, "c", [SYSTEM, CALL, replace(RESULT, scope=None), QUERY])
    planned = await client.prune_context_window(user_id, "c", force=True, dry_run=True)
    assert planned.snapshot is not None
    pruned = await client.prune_context_window(user_id, "c", force=True)
    assert pruned.snapshot is not None
    assert [one.item_id for one in pruned.snapshot.removed] == [one.item_id for one in planned.snapshot.removed]
    assert all(one.episode_id for one in pruned.snapshot.removed)
    assert pruned.window.pruned_count == len(pruned.snapshot.removed)
    [snapshot] = [one async for one in client.list_context_window_snapshots(user_id, "c")]
    assert (snapshot.reason, snapshot.removed) == ("forced", pruned.snapshot.removed)
    [logged] = [one async for one in client.list_context_snapshots(user_id, conversation_id="c")]
    assert isinstance(logged.content, ContextSnapshot)
    assert logged.record_id == snapshot.snapshot_id
    assert {one.item_id for one in logged.content.items if one.is_pruned} == {one.item_id for one in snapshot.removed}
    assert logged.content.reason == "pruning_forced"
    scored = {one.item_id: (one.relevance, one.score) for one in (*snapshot.stayed, *snapshot.removed)}
    assert {one.item_id: (one.relevance, one.score) for one in logged.content.items} == scored
    assert RESULT.relevance in {relevance for relevance, _ in scored.values()}
    restored = await client.restore_context_items(user_id, "c", [one.item_id for one in snapshot.removed])
    assert (restored.restored_count, restored.window.item_count) == (len(snapshot.removed), 4)
    assert (await client.delete_context_window(user_id, "c")).item_count == 4
    with pytest.raises(MnemeClientError):
        await client.get_context_window(user_id, "c")


async def test_spec_1_9_the_client_prepares_a_prompt(client: Client, user_id: str) -> None:
    await client.index_files(user_id, "shop", {"shop/tools.py": b"def levy(amount):\n    return amount * 2\n"})
    made = await client.prepare_context(
        user_id, "c", "Why is levy wrong?", repository_id="shop", task_id="t1", request_id=f"{user_id} 1"
    )
    assert made.messages[-1].content == "Why is levy wrong?"
    assert any("lines 1-2:\ndef levy(amount):\n    return amount * 2" in one.content for one in made.messages[:-1])
    assert (made.code_state, made.task_state) == (ContextSourceState.FOUND, ContextSourceState.EMPTY)
    assert made.token_count == sum(message.token_count for message in made.messages) <= made.token_budget
    assert (made.window.current_task_id, made.pruned, made.omitted_item_ids) == ("t1", None, ())
    again = await client.prepare_context(
        user_id, "c", "Why is levy wrong?", repository_id="shop", task_id="t1", request_id=f"{user_id} 1"
    )
    assert (again.replayed, again.messages) == (True, made.messages)


@pytest.mark.parametrize("number", range(len(PYTHON)))
async def test_the_example_in_python_runs(stack: RunningStack, number: int) -> None:
    code = PYTHON[number].replace("SyncClient()", f'SyncClient("{stack.target}")')
    await asyncio.to_thread(exec, compile(code, PAGE.name, "exec"), {"__name__": "__main__"})


@pytest.mark.ci("many commands, each in a process of its own")
async def test_the_commands_of_the_page_run(stack: RunningStack, user_id: str, tmp_path: Path) -> None:
    file = tmp_path / "items.jsonl"
    lines = [
        {"item_id": "system", "kind": "CONTEXT_ITEM_KIND_SYSTEM_PROMPT", "content": "You fix bugs."},
        {"item_id": "i1", "kind": "CONTEXT_ITEM_KIND_USER_MESSAGE", "content": "Hello.\x1b[31m"},
    ]
    file.write_text("\n".join(map(json.dumps, lines)))
    said = {}
    assert len(COMMANDS) >= 8
    for command in COMMANDS:
        words = [word.strip('"') for word in re.findall(r'"[^"]*"|\S+', command)]
        words = [{"ana": user_id, "items.jsonl": str(file)}.get(word, word) for word in words]
        said[words[1]] = await run_command(stack, *words)
    assert said["add"] == "added 2, known already 0\n"
    assert "\x1b" not in said["show"]
    assert "system_prompt" in said["show"]
    assert "forced" in said["snapshots"]
    assert "restored 1" in said["restore"]
    assert "[user] The login fails since yesterday." in said["prepare"]
    assert said["delete"].startswith("deleted ")
