"""`mneme demo --coding`: a recorded day of a coding agent on a real repository, and how the next day begins."""

from __future__ import annotations

import asyncio
import time
import uuid
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

from mneme_client import Client
from mneme_client.activity import ActivityContent, ActivityRecord, FileInteraction, Learning, TaskState, ToolExecution
from mneme_client.code import CodeMatch
from mneme_client.context_window import PreparedContext, ToolCall, WindowItem
from mneme_client.enums import ContextItemKind
from mneme_client.types_activity import FileOperation, LearningKind, TaskIntent, TaskStatus
from services.cli.coding_session import CodingSession, CodingStep, coding_session
from services.cli.commands.code import index_tree
from services.cli.rendering import plain
from services.cli.source_tree import SourceTree
from services.cli.state import CliState
from services.common.tokens import token_counter
from services.gateway.context_window.settings import ContextWindowSettings

CODING_USER = "demo-coding"
"""Whose memory the demo writes to."""

_PREPARED = ContextWindowSettings()
_RESULT_CHARS_MAX = 20_000
_RESTORED_MAX = 1


@dataclass(slots=True)
class _Day:
    """One run of the demo, and what it has spent."""

    client: Client
    tree: SourceTree
    repository: str
    name: str = field(default_factory=lambda: uuid.uuid4().hex[:8])
    count: int = 0
    put_tokens: int = 0  # of everything that went into the window
    whole_tokens: int = 0  # of the files that prompts named, as a whole
    shown_tokens: int = 0  # of the lines of them that the prompts held
    prompt_tokens_max: int = 0
    read: list[str] = field(default_factory=list)

    @property
    def conversation(self) -> str:
        return f"coding-{self.name}"

    @property
    def task(self) -> str:
        return f"task-{self.name}"

    def next_id(self, what: str) -> str:
        self.count += 1
        return f"{self.name}-{what}-{self.count}"


def default_root() -> Path:
    """The repository that Mneme runs from; its own package where it is installed without one."""
    package = Path(__file__).resolve().parents[2]
    return package.parent if (package.parent / "pyproject.toml").exists() else package


async def run_coding_demo(state: CliState, client: Client, root: Path) -> None:
    """Indexes a repository, works through the recorded day, and takes the work up again."""
    begun, session = time.monotonic(), coding_session()
    tree = SourceTree(root)
    day = _Day(client, tree, root.name)
    with state.out.status(f"Indexing {root}"):
        summary = await index_tree(client, CODING_USER, day.repository, tree)
    stored = [one async for one in client.list_repositories(CODING_USER) if one.repository_id == day.repository]
    counts = f"{stored[0].file_count} files, {stored[0].line_count:,} lines" if stored else "no files"
    elapsed = time.monotonic() - begun
    _say(state, f"Indexed {root}: {counts}, {summary.indexed} files anew, in {elapsed:.1f} s.")
    await _first_day(state, day, session)
    await _next_day(state, day, session)
    _print_savings(state, day)
    _say(state, f"All of this took {time.monotonic() - begun:.1f} s.")


async def _first_day(state: CliState, day: _Day, session: CodingSession) -> None:
    _heading(state, f"Day 1: {session.task}")
    await day.client.update_context_window(
        CODING_USER, day.conversation, max_tokens=session.max_tokens, current_task_id=day.task
    )
    prompt = WindowItem(kind=ContextItemKind.SYSTEM_PROMPT, content=session.system_prompt)
    goal = WindowItem(kind=ContextItemKind.TASK_STATE, content=session.task, task_id=day.task)
    await _add(day, [prompt, goal])
    state_of_task = TaskState(TaskStatus.ACTIVE, session.task, TaskIntent.PROJECT_FIXING)
    await _record(day, [state_of_task])
    for number, step in enumerate(session.steps, start=1):
        await _work(state, day, step, number)
    paused = TaskState(TaskStatus.PAUSED, outcome=session.steps[-1].test_output)
    path = day.read[0] if day.read else ""
    await _record(day, [Learning(LearningKind.WORKFLOW, session.learning, path), paused])


async def _work(state: CliState, day: _Day, step: CodingStep, number: int) -> None:
    made = await _prepare(day, day.conversation, step.user)
    found = await day.client.search_code(CODING_USER, day.repository, step.user, limit=max(step.reads, 1))
    items: list[WindowItem] = []
    done: list[ActivityContent] = []
    contents = await asyncio.to_thread(day.tree.contents, [match.file.path for match in found])
    for match in found[: step.reads]:
        path = match.file.path
        text = contents.get(path, b"").decode("utf-8", "replace")[:_RESULT_CHARS_MAX]
        items += _tool_items(day, step.thought, "read_file", path, text or "(empty)")
        done.append(FileInteraction(path, FileOperation.READ, reason=step.user))
        day.read.append(path)
    if step.edits and found:
        done.append(_edit(found[0], step.thought))
    items += _tool_items(day, step.thought, "run_tests", "", step.test_output)
    error = "" if step.test_success else step.test_output
    done.append(ToolExecution("run_tests", step.test_success, result=step.test_output, error_message=error))
    await _add(day, items)
    await _record(day, done)
    window = await day.client.get_context_window(CODING_USER, day.conversation)
    pruned = f", {len(made.pruned.removed)} items removed before it" if made.pruned else ""
    named = ", ".join(match.file.path for match in found)
    _say(state, f"  {number}. {step.user}")
    _say(state, f"     prompt of {made.token_count} tokens{pruned}; read {named or 'nothing'}", style="dim")
    tokens = f"{window.token_count} of {window.max_tokens} tokens"
    _say(state, f"     window: {tokens} in {window.item_count} items", style="dim")


async def _next_day(state: CliState, day: _Day, session: CodingSession) -> None:
    _heading(state, "Day 2, in a new conversation")
    client = day.client
    waiting = [one async for one in client.list_tasks(CODING_USER, statuses=[TaskStatus.PAUSED])]
    task = next((one for one in waiting if one.task_id == day.task), None)
    if task is not None:
        _say(state, f"  unfinished: {task.description} ({len(task.files_touched)} files touched)")
    if day.read:
        history = await client.get_file_history(CODING_USER, day.read[0])
        _say(state, f"  seen before: {day.read[0]}, {history.count} times")
    hits = await client.search_activity(CODING_USER, session.task, limit=3)
    for hit in hits:
        _say(state, f"  done with it: {_in_words(hit.record.content)}")
    async for one in client.list_learnings(CODING_USER):
        if isinstance(one.content, Learning) and one.record_id.startswith(day.name):
            _say(state, f"  learned: {one.content.text}")
    made = await _prepare(day, f"{day.conversation}-2", session.next_day)
    _say(state, f"  {session.next_day}")
    _say(state, f"     prompt of {made.token_count} tokens, code {made.code_state.name.lower()}", style="dim")
    snapshots = [one async for one in client.list_context_window_snapshots(CODING_USER, day.conversation)]
    removed = [one.item_id for snapshot in snapshots for one in snapshot.removed][:_RESTORED_MAX]
    if removed:
        restored = await client.restore_context_items(CODING_USER, day.conversation, removed)
        total = sum(len(one.removed) for one in snapshots)
        _say(state, f"  {total} items were removed on day 1; {restored.restored_count} brought back, word for word")


async def _prepare(day: _Day, conversation: str, message: str) -> PreparedContext:
    made = await day.client.prepare_context(
        CODING_USER, conversation, message, repository_id=day.repository, task_id=day.task
    )
    found = await day.client.search_code(  # as PrepareContext does by default
        CODING_USER,
        day.repository,
        message,
        limit=_PREPARED.code_limit,
        lines_max=_PREPARED.code_lines,
        lines_min=_PREPARED.code_lines_min,
    )
    contents = await asyncio.to_thread(day.tree.contents, [match.file.path for match in found])
    count = token_counter().count_tokens
    day.prompt_tokens_max = max(day.prompt_tokens_max, made.token_count)
    day.put_tokens += count(message)
    for match in found:
        shown = sum(count(part.text) for part in match.excerpts)
        day.shown_tokens += shown
        day.put_tokens += shown
        day.whole_tokens += count(contents.get(match.file.path, b"").decode("utf-8", "replace"))
    return made


async def _add(day: _Day, items: list[WindowItem]) -> None:
    added = await day.client.add_context_items(CODING_USER, day.conversation, items)
    assert added.added_count == len(items)
    day.put_tokens += sum(token_counter().count_tokens(item.content) for item in items)


async def _record(day: _Day, contents: list[ActivityContent]) -> None:
    yesterday = datetime.now(UTC) - timedelta(days=1)
    records = [
        ActivityRecord(day.next_id("record"), day.conversation, yesterday, content, day.task) for content in contents
    ]
    await day.client.record_activity(CODING_USER, records)


def _tool_items(day: _Day, thought: str, tool: str, path: str, result: str) -> list[WindowItem]:
    call = ToolCall(day.next_id("call"), tool, path)
    asked = WindowItem(kind=ContextItemKind.ASSISTANT_RESPONSE, content=thought, tool_calls=(call,), task_id=day.task)
    answer = WindowItem(
        kind=ContextItemKind.TOOL_RESULT,
        content=result,
        tool_call_id=call.id,
        tool_name=tool,
        file_path=path,
        task_id=day.task,
    )
    return [asked, answer]


def _edit(match: CodeMatch, thought: str) -> FileInteraction:
    return FileInteraction(
        match.file.path, FileOperation.EDIT, True, match.start_line, match.end_line, changes_summary=thought
    )


def _print_savings(state: CliState, day: _Day) -> None:
    _heading(state, "What the memory saved")
    if day.whole_tokens:
        share = f"{day.shown_tokens:,} tokens of lines instead of {day.whole_tokens:,} of whole files"
        _say(state, f"  the files that the prompts named came as {share}")
    _say(state, f"  {day.put_tokens:,} tokens were put into windows; no prompt had more than {day.prompt_tokens_max:,}")


def _in_words(content: ActivityContent) -> str:
    match content:
        case FileInteraction():
            return f"{content.operation.name.lower()} {content.path}"
        case ToolExecution():
            return f"{content.tool_name}: {'success' if content.success else 'failure'}"
        case TaskState():
            return content.description
        case Learning():
            return content.text
        case _:
            return "context snapshot"


def _heading(state: CliState, text: str) -> None:
    state.out.print()
    state.out.print(plain(text), style="bold")


def _say(state: CliState, text: str, *, style: str | None = None) -> None:
    state.out.print(plain(text), style=style, highlight=False, soft_wrap=True)
