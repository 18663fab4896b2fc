"""`mneme window`: what an agent has in its prompt, and prompts that are made of it."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from pathlib import Path
from typing import Annotated

import typer
from google.protobuf.json_format import Parse, ParseError
from rich.table import Table

from mneme.session.v1 import context_window_pb2
from mneme_client import wire_context_window
from mneme_client.context_window import (
    ContextWindow,
    PreparedContext,
    Pruning,
    ScoredWindowItem,
    WindowItem,
    WindowSnapshot,
)
from services.cli import options
from services.cli.rendering import as_json, counted, plain
from services.cli.state import CliState, state_of

window = typer.Typer(help="Context windows of agents, and the prompts made from them.", no_args_is_help=True)

Conversation = Annotated[str, typer.Option("--conversation", "-c", help="The conversation whose window it is.")]
_BATCH = 256


@window.command()
def prepare(
    context: typer.Context,
    user: options.User,
    conversation: Conversation,
    message: Annotated[str, typer.Argument(help="What the user says; - reads it from the input.")],
    repository: Annotated[str, typer.Option("--repository", "-r", help="Repository to find relevant code in.")] = "",
    task: Annotated[str | None, typer.Option("--task", help="The current task from now on.")] = None,
    budget: Annotated[
        int, typer.Option("--budget", min=0, help="Maximum number of tokens; 0: the budget of the window.")
    ] = 0,
    json: options.Json = False,
) -> None:
    """Add a user's message, with relevant code and similar past tasks, and print the messages for a model."""
    state = state_of(context)
    text = typer.get_text_stream("stdin").read() if message == "-" else message

    async def work() -> None:
        async with state.connect() as client:
            made = await client.prepare_context(
                user, conversation, text, task_id=task, repository_id=repository, token_budget=budget
            )
        if json:
            _print_json(state, made)
        else:
            _print_prompt(state, made)

    state.run(work())


@window.command()
def show(context: typer.Context, user: options.User, conversation: Conversation, json: options.Json = False) -> None:
    """List the items of a window with their scores."""
    state = state_of(context)

    async def work() -> None:
        async with state.connect() as client:
            found = await client.get_context_window(user, conversation)
            items = [one async for one in client.list_context_items(user, conversation)]
        if json:
            _print_json(state, {"window": found, "items": items})
        else:
            state.out.print(_in_words(found), markup=False, highlight=False)
            state.out.print(_item_table(items))

    state.run(work())


@window.command("set")
def set_(
    context: typer.Context,
    user: options.User,
    conversation: Conversation,
    max_tokens: Annotated[int | None, typer.Option("--max-tokens", help="Token budget.")] = None,
    task: Annotated[str | None, typer.Option("--task", help="The current task; empty: none.")] = None,
    ttl_hours: Annotated[
        float | None, typer.Option("--ttl-hours", help="Hours from the last read or write until it expires.")
    ] = None,
) -> None:
    """Set the budget, the current task or the time to live of a window; create a missing one."""
    state = state_of(context)
    ttl = None if ttl_hours is None else timedelta(hours=ttl_hours)

    async def work() -> None:
        async with state.connect() as client:
            found = await client.update_context_window(
                user, conversation, max_tokens=max_tokens, current_task_id=task, ttl=ttl
            )
        state.out.print(_in_words(found), markup=False, highlight=False)

    state.run(work())


@window.command()
def add(
    context: typer.Context,
    user: options.User,
    conversation: Conversation,
    file: Annotated[Path, typer.Argument(exists=True, dir_okay=False, help="Items, one JSON object a line.")],
) -> None:
    """Add the items of a file: ContextItem messages as JSON, one a line. Known ids are skipped."""
    state = state_of(context)

    async def work() -> None:
        items = await asyncio.to_thread(_read, file)
        added = 0
        async with state.connect() as client:
            for begin in range(0, len(items), _BATCH):
                result = await client.add_context_items(user, conversation, items[begin : begin + _BATCH])
                added += result.added_count
        state.out.print(f"added {added}, known already {len(items) - added}")

    state.run(work())


@window.command()
def prune(
    context: typer.Context,
    user: options.User,
    conversation: Conversation,
    force: Annotated[bool, typer.Option("--force", help="Prune below the threshold too.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show what would be removed.")] = False,
    json: options.Json = False,
) -> None:
    """Remove the items with the lowest scores from a window above its threshold."""
    state = state_of(context)

    async def work() -> None:
        async with state.connect() as client:
            done = await client.prune_context_window(user, conversation, force=force, dry_run=dry_run)
        if json:
            _print_json(state, done)
        else:
            _print_pruning(state, done, dry_run=dry_run)

    state.run(work())


@window.command()
def restore(
    context: typer.Context,
    user: options.User,
    conversation: Conversation,
    item_ids: Annotated[list[str], typer.Argument(help="Ids of items that were removed.")],
) -> None:
    """Restore removed items, at the end of the window."""
    state = state_of(context)

    async def work() -> None:
        async with state.connect() as client:
            done = await client.restore_context_items(user, conversation, item_ids)
        state.out.print(f"restored {done.restored_count}", highlight=False)
        state.out.print(_in_words(done.window), markup=False, highlight=False)

    state.run(work())


@window.command()
def snapshots(
    context: typer.Context, user: options.User, conversation: Conversation, json: options.Json = False
) -> None:
    """List what the last prunings of a window removed."""
    state = state_of(context)

    async def work() -> None:
        async with state.connect() as client:
            found = [one async for one in client.list_context_window_snapshots(user, conversation)]
        if json:
            _print_json(state, found)
            return
        for one in found:
            _print_snapshot(state, one)
        if not found:
            state.out.print("Nothing.")

    state.run(work())


@window.command()
def delete(context: typer.Context, user: options.User, conversation: Conversation) -> None:
    """Delete a window with its items, without archiving them."""
    state = state_of(context)

    async def work() -> None:
        async with state.connect() as client:
            found = await client.delete_context_window(user, conversation)
        state.out.print(f"deleted {counted(found.item_count, 'item')}", highlight=False)

    state.run(work())


def _read(file: Path) -> list[WindowItem]:
    """The items of a file.

    Raises:
        typer.BadParameter: A line is no item.
    """
    items = []
    for number, line in enumerate(file.read_text("utf-8").splitlines(), start=1):
        if not line.strip():
            continue
        try:
            items.append(wire_context_window.item(Parse(line, context_window_pb2.ContextItem())))
        except ParseError as error:
            raise typer.BadParameter(f"line {number}: {error}") from None
    return items


def _print_json(state: CliState, value: object) -> None:
    state.out.print(as_json(value), markup=False, highlight=False, soft_wrap=True)


def _print_prompt(state: CliState, made: PreparedContext) -> None:
    """The messages go to stdout, all else to stderr."""
    for message in made.messages:
        calls = "".join(f"\n{call.name}({call.arguments})" for call in message.tool_calls)
        state.out.print(plain(f"[{message.role}] {message.content}{calls}"), soft_wrap=True)
    if made.pruned is not None:
        _print_snapshot(state, made.pruned, is_error=True)
    sources = f"code {made.code_state.name.lower()}, past tasks {made.task_state.name.lower()}"
    budget = f"{made.token_count} of {made.token_budget} tokens, {counted(len(made.omitted_item_ids), 'item')} left out"
    state.err.print(f"{budget}; {sources}", style="dim", highlight=False)


def _print_pruning(state: CliState, done: Pruning, *, dry_run: bool) -> None:
    if done.snapshot is None:
        state.out.print("Nothing to remove.")
    else:
        _print_snapshot(state, done.snapshot)
    if not dry_run:
        state.out.print(_in_words(done.window), markup=False, highlight=False)


def _print_snapshot(state: CliState, snapshot: WindowSnapshot, *, is_error: bool = False) -> None:
    console = state.err if is_error else state.out
    when = f"{snapshot.create_time:%Y-%m-%d %H:%M} " if snapshot.create_time else ""
    tokens = f"{snapshot.token_count_before} to {snapshot.token_count_after} tokens"
    console.print(
        f"{when}{snapshot.reason}: {tokens}, {counted(len(snapshot.removed), 'item')} removed", highlight=False
    )
    table = _table("score", "kind", "tokens", "item")
    for one in snapshot.removed:
        table.add_row(f"{one.score:.2f}", one.kind.name.lower(), str(one.token_count), plain(one.item_id))
    console.print(table)


def _in_words(found: ContextWindow) -> str:
    task = f", task {found.current_task_id}" if found.current_task_id else ""
    counts = f"{counted(found.item_count, 'item')}, {found.token_count} of {found.max_tokens} tokens"
    degraded = "; degraded: its store cannot be reached" if found.degraded else ""
    return f"{counts}, {found.pruned_count} removed so far{task}{degraded}"


def _item_table(items: list[ScoredWindowItem]) -> Table:
    table = _table("score", "kind", "tokens", "task", "item", "begins with")
    for one in items:
        item = one.item
        begin = item.content or ", ".join(call.name for call in item.tool_calls)
        first = begin.strip().partition("\n")[0][:60]
        kind = item.kind.name.lower()
        row = (f"{one.score:.2f}", kind, str(item.token_count), item.task_id, item.item_id, first)
        table.add_row(*map(plain, row))
    return table


def _table(*headings: str) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in headings:
        table.add_column(heading, overflow="fold")
    return table
