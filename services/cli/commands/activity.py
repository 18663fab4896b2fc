"""`mneme activity`: record what a coding agent does, and ask about it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer
from google.protobuf.json_format import Parse, ParseError
from rich.table import Table

from mneme.episodic.v1 import activity_pb2
from mneme_client import wire_activity
from mneme_client.activity import ActivityHit, ActivityRecord, AgentTask, FileInteraction, ToolExecution
from mneme_client.enums import ScopeLevel
from mneme_client.types import Scope
from mneme_client.types_activity import TaskStatus
from services.cli import options
from services.cli.rendering import as_json, plain
from services.cli.state import CliState, state_of

activity = typer.Typer(help="Record what a coding agent does, and ask about it.", no_args_is_help=True)

Project = Annotated[str, typer.Option("--project", "-p", help="Id of a project: its records and those of no project.")]
HitLimit = Annotated[int, typer.Option("--limit", "-n", min=1, max=200, help="At most this many.")]
T = TypeVar("T")


@activity.command()
def record(
    context: typer.Context,
    user: options.User,
    file: Annotated[Path, typer.Argument(exists=True, dir_okay=False, help="Records, one JSON object a line.")],
) -> None:
    """Store the records of a file: ActivityRecord messages as JSON, one a line. Known ids are skipped."""
    state = state_of(context)

    async def work() -> None:
        records = await asyncio.to_thread(lambda: list(_read(file)))
        async with state.connect() as client:
            stored = await client.record_activity_stream(user, records)
        state.out.print(f"stored {stored.stored_count}, known already {stored.known_count}")

    state.run(work())


@activity.command()
def seen(
    context: typer.Context,
    user: options.User,
    path: Annotated[str, typer.Argument(help="Path of the file, as it was recorded.")],
    project: Project = "",
    json: options.Json = False,
) -> None:
    """Show whether a file was used before, and how."""
    state = state_of(context)

    async def work() -> None:
        async with state.connect() as client:
            found = await client.get_file_history(user, path, reader_scope=_scope(project))
        rows = [(one.name.lower(), str(count)) for one, count in found.operations.items()]
        table = _table(("operation", "times"), rows)
        if not json:
            when = f", last at {found.last_time:%Y-%m-%d %H:%M}" if found.last_time else ""
            state.out.print(plain(f"{path}: seen {found.count} times{when}"))
        _show(state, found, table, json=json)

    state.run(work())


@activity.command()
def together(
    context: typer.Context,
    user: options.User,
    path: Annotated[str, typer.Argument(help="Only pairs with this file.")] = "",
    count_min: Annotated[int, typer.Option("--min", min=1, help="At least this often.")] = 3,
    project: Project = "",
    limit: HitLimit = 20,
    json: options.Json = False,
) -> None:
    """List files that are edited together."""
    state = state_of(context)

    async def work() -> None:
        async with state.connect() as client:
            pairs = client.list_edited_together(user, path=path, count_min=count_min, reader_scope=_scope(project))
            found = await _first(pairs, limit)
        rows = [(one.path, one.other_path, str(one.count), str(one.task_count)) for one in found]
        _show(state, found, _table(("file", "with", "times", "tasks"), rows), json=json)

    state.run(work())


@activity.command()
def last(
    context: typer.Context,
    user: options.User,
    query: Annotated[str, typer.Argument(help="A path, words, or a subject in plain words.")],
    project: Project = "",
    limit: HitLimit = 10,
    json: options.Json = False,
) -> None:
    """Find the last records about a path, words, or a subject."""
    state = state_of(context)

    async def work() -> None:
        async with state.connect() as client:
            found = await client.search_activity(user, query, limit=limit, reader_scope=_scope(project))
        _show(state, found, _table(("when", "what", "task", "found by"), map(_hit_row, found)), json=json)

    state.run(work())


@activity.command()
def tools(context: typer.Context, user: options.User, project: Project = "", json: options.Json = False) -> None:
    """Show success rate and duration of each tool in the last 7 days."""
    state = state_of(context)

    async def work() -> None:
        async with state.connect() as client:
            found = await _first(client.list_tool_statistics(user, reader_scope=_scope(project)), 200)
        rows = [
            (
                one.tool_name,
                str(one.execution_count),
                f"{one.success_rate:.0%}",
                *(_milliseconds(value) for value in (one.mean_duration, one.p95_duration)),
            )
            for one in found
        ]
        _show(state, found, _table(("tool", "calls", "success", "mean", "95 %"), rows), json=json)

    state.run(work())


@activity.command()
def tasks(
    context: typer.Context,
    user: options.User,
    similar_to: Annotated[str, typer.Option("--similar", help="Only tasks similar in meaning to this text.")] = "",
    everything: Annotated[bool, typer.Option("--all", help="Finished ones as well.")] = False,
    project: Project = "",
    limit: HitLimit = 20,
    json: options.Json = False,
) -> None:
    """List tasks that are not finished, or that are similar to a text."""
    state = state_of(context)

    async def work() -> None:
        scope = _scope(project)
        statuses = () if everything or similar_to else (TaskStatus.ACTIVE, TaskStatus.PAUSED)
        found: list[Any]
        async with state.connect() as client:
            if similar_to:
                found = list(await client.search_tasks(user, similar_to, limit=limit, reader_scope=scope))
                rows = [(f"{one.similarity:.2f}", *_task_row(one.task)) for one in found]
                table = _table(("similarity", "task", "status", "description", "outcome"), rows)
            else:
                found = await _first(client.list_tasks(user, statuses=statuses, reader_scope=scope), limit)
                table = _table(("task", "status", "description", "outcome"), map(_task_row, found))
        _show(state, found, table, json=json)

    state.run(work())


@activity.command()
def patterns(
    context: typer.Context,
    user: options.User,
    path: Annotated[str, typer.Argument(help="Only patterns that name this file.")] = "",
    project: Project = "",
    limit: HitLimit = 20,
    json: options.Json = False,
) -> None:
    """List patterns learned from the records, with their confidence."""
    state = state_of(context)

    async def work() -> None:
        async with state.connect() as client:
            found = await _first(client.list_patterns(user, path=path, reader_scope=_scope(project)), limit)
        rows = [
            (one.kind.name.lower(), " ".join(one.paths), one.error or one.folder, f"{one.confidence:.2f}")
            for one in found
        ]
        _show(state, found, _table(("kind", "files", "after", "confidence"), rows), json=json)

    state.run(work())


def _read(file: Path) -> Iterator[ActivityRecord]:
    with file.open(encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            try:
                yield wire_activity.record(Parse(line, activity_pb2.ActivityRecord()))
            except (ParseError, ValueError) as error:
                raise typer.BadParameter(f"line {number} is no record: {error}") from error


async def _first(items: AsyncIterator[T], limit: int) -> list[T]:
    found: list[T] = []
    async for item in items:
        found.append(item)
        if len(found) >= limit:
            break
    return found


def _scope(project: str) -> Scope | None:
    return Scope(ScopeLevel.PROJECT, project_id=project) if project else None


def _hit_row(hit: ActivityHit) -> tuple[str, ...]:
    content, what = hit.record.content, ""
    if isinstance(content, FileInteraction):
        what = f"{content.operation.name.lower()} {content.path} {content.changes_summary or content.reason}"
    elif isinstance(content, ToolExecution):
        what = f"{content.tool_name} {content.parameters[:80]} {content.error_message[:80]}"
    return f"{hit.record.time:%Y-%m-%d %H:%M}", what.strip(), hit.record.task_id, hit.match.name.lower()


def _task_row(task: AgentTask) -> tuple[str, ...]:
    return task.task_id, task.status.name.lower(), task.description[:120], task.outcome[:120]


def _milliseconds(value: Any) -> str:
    return f"{value.total_seconds() * 1000:.0f} ms" if value is not None else ""


def _table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in headings:
        table.add_column(heading, overflow="fold")
    for row in rows:
        table.add_row(*(plain(cell) for cell in row))
    return table


def _show(state: CliState, found: object, table: Table, *, json: bool) -> None:
    if json:
        state.out.print(as_json(found), markup=False, highlight=False, soft_wrap=True)
    else:
        state.out.print(table if table.row_count else "Nothing.")
