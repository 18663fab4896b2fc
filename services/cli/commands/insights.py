"""`mneme ask`, `mneme suggest`, `mneme reflect` and `mneme note-health`: what a user's notes say as a whole."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Annotated

import typer
from rich.table import Table

from mneme_client import QuestionResult
from services.cli import options
from services.cli.rendering import as_json, plain, when
from services.cli.state import CliState, state_of


def ask(
    context: typer.Context,
    question: Annotated[str, typer.Argument(help='Such as "how many preferences did I state last week?".')],
    user: options.User,
    limit: Annotated[
        int, typer.Option("--limit", "-n", min=1, max=200, help="At most this many notes or topics.")
    ] = 10,
    json: options.Json = False,
) -> None:
    """Find or count the notes that a question in plain English asks for, and show how it was parsed."""
    state = state_of(context)
    state.run(_ask(state, user, question, limit, json=json))


def suggest(
    context: typer.Context,
    user: options.User,
    queries: Annotated[
        list[str] | None, typer.Argument(help="Recent queries; those of the last recalls by default.")
    ] = None,
    json: options.Json = False,
) -> None:
    """Name topics linked to recent queries, gaps, and contradictions."""
    state = state_of(context)
    state.run(_suggest(state, user, queries or [], json=json))


def reflect(
    context: typer.Context,
    user: options.User,
    days: Annotated[int, typer.Option("--days", min=1, max=3_650, help="Length of the period up to now.")] = 7,
    json: options.Json = False,
) -> None:
    """Report on a period as Markdown: new notes, contradictions, and unused notes."""
    state = state_of(context)
    state.run(_reflect(state, user, days, json=json))


def note_health(context: typer.Context, user: options.User, json: options.Json = False) -> None:
    """Count a user's notes: active, linked, duplicate, never read, faded."""
    state = state_of(context)
    state.run(_note_health(state, user, json=json))


async def _ask(state: CliState, user: str, question: str, limit: int, *, json: bool) -> None:
    async with state.connect() as client:
        result = await client.search_by_question(user, question, limit=limit)
    if json:
        _print_json(state, result)
        return
    state.err.print(f"read as: {reading(result)}", markup=False, highlight=False)
    if result.refusal:
        state.fail(result.refusal)
    state.out.print(f"{result.note_count} notes", highlight=False)
    table = _table()
    for topic in result.topics:
        table.add_row(str(topic.note_count), plain(topic.topic))
    for note in result.notes:
        table.add_row(when(note.time), plain(note.content))
    if table.row_count:
        state.out.print(table)


async def _suggest(state: CliState, user: str, queries: list[str], *, json: bool) -> None:
    async with state.connect() as client:
        found = await client.get_suggestions(user, queries)
    if json:
        _print_json(state, found)
        return
    table = _table()
    for suggestion in found:
        kind = suggestion.kind.name.lower().replace("_", " ")
        table.add_row(kind, f"{suggestion.score:.2f}", plain(suggestion.topic))
    state.out.print(table if found else "No suggestions.")


async def _reflect(state: CliState, user: str, days: int, *, json: bool) -> None:
    end = datetime.now(UTC)
    async with state.connect() as client:
        reflection = await client.get_reflection(user, start_time=end - timedelta(days=days), end_time=end)
    if json:
        _print_json(state, reflection)
    else:
        state.out.print(plain(reflection.markdown), highlight=False, soft_wrap=True)


async def _note_health(state: CliState, user: str, *, json: bool) -> None:
    async with state.connect() as client:
        health = await client.get_health(user)
    if json:
        _print_json(state, health)
        return
    table = _table()
    for label, value in (
        ("notes", str(health.note_count)),
        ("made by maintenance", str(health.made_count)),
        ("links", str(health.link_count)),
        ("without a link", str(health.orphan_count)),
        ("duplicates", str(health.duplicate_count)),
        ("never read", f"{health.never_read_share:.0%}"),
        ("faded", f"{health.junk_share:.0%}"),
    ):
        table.add_row(label, value)
    state.out.print(table)


def reading(result: QuestionResult) -> str:
    """How a question was read, in words."""
    parsed = result.parsed
    parts = [parsed.intent.name]
    if parsed.by_topic:
        parts.append("by topic")
    if parsed.kind is not None:
        parts.append(f"kind {parsed.kind.name.lower()}")
    if parsed.topic:
        parts.append(f'topic "{plain(parsed.topic)}"')
    if parsed.start_time:
        parts.append(f"from {when(parsed.start_time)}")
    if parsed.end_time:
        parts.append(f"before {when(parsed.end_time)}")
    return ", ".join(parts)


def _table() -> Table:
    return Table(box=None, pad_edge=False, show_header=False)


def _print_json(state: CliState, value: object) -> None:
    state.out.print(as_json(value), markup=False, highlight=False, soft_wrap=True)
