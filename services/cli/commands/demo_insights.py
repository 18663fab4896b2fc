"""The end of `mneme demo`: what a user's notes say as a whole."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from rich.console import Console
from rich.text import Text

from mneme_client import Client, MnemeClientError
from services.cli.commands.insights import reading
from services.cli.rendering import plain

_QUESTION = "What topics do I talk about?"
_PERIOD_DAYS = 7
_TOPICS_SHOWN = 6
_SUGGESTIONS_SHOWN = 4
_LINES_SHOWN = 8
"""Of the reflection, which is Markdown."""


async def show_insights(out: Console, client: Client, user: str, *, asked: Sequence[str], until: datetime) -> None:
    """Asks in natural language, suggests, reflects on the last week, and measures, a call each.

    Args:
        out: Where to print.
        client: Of the service.
        user: Whose notes.
        asked: Recent queries, for suggestions.
        until: End of the period of the reflection, which is about when notes were made.
    """
    out.print()
    out.print(Text("What the notes say as a whole", "bold"))
    try:
        await _topics(out, client, user)
        await _suggestions(out, client, user, asked)
        await _reflection(out, client, user, until)
        await _health(out, client, user)
    except MnemeClientError as error:
        # The tier of notes may be away; the rest of the demo does not need it.
        out.print(Text(f"   not to be had now: {plain(str(error))}", "yellow"))


async def _topics(out: Console, client: Client, user: str) -> None:
    result = await client.search_by_question(user, _QUESTION, limit=_TOPICS_SHOWN)
    _heading(out, f'ask "{_QUESTION}"', user)
    out.print(Text(f"   read as: {reading(result)}", "dim"))
    topics = ", ".join(f"{plain(topic.topic)} ({topic.note_count})" for topic in result.topics[:_TOPICS_SHOWN])
    out.print(Text(f"   {topics or 'no notes'}"))


async def _suggestions(out: Console, client: Client, user: str, asked: Sequence[str]) -> None:
    found = await client.get_suggestions(user, asked)
    _heading(out, "suggest, after the questions above", user)
    for suggestion in found[:_SUGGESTIONS_SHOWN]:
        kind = suggestion.kind.name.lower().replace("_", " ")
        out.print(Text.assemble(("   " + kind, "magenta"), f"  {suggestion.score:.2f}  {plain(suggestion.topic)}"))
    if not found:
        out.print(Text("   nothing", "dim"))


async def _reflection(out: Console, client: Client, user: str, until: datetime) -> None:
    begin = until - timedelta(days=_PERIOD_DAYS)
    reflection = await client.get_reflection(user, start_time=begin, end_time=until)
    _heading(out, f"reflect, on the notes that were made in the last {_PERIOD_DAYS} days", user)
    lines = [line for line in reflection.markdown.splitlines() if line.strip()]
    for line in lines[:_LINES_SHOWN]:
        out.print(Text(f"   {plain(line)}"), soft_wrap=True)
    if len(lines) > _LINES_SHOWN:
        out.print(Text(f"   ... and {len(lines) - _LINES_SHOWN} more lines", "dim"))


async def _health(out: Console, client: Client, user: str) -> None:
    health = await client.get_health(user)
    _heading(out, "note-health", user)
    out.print(
        Text(
            f"   {health.note_count} notes, {health.link_count} links, {health.orphan_count} without a link, "
            f"{health.duplicate_count} duplicates, {health.never_read_share:.0%} never read, "
            f"{health.junk_share:.0%} faded"
        )
    )


def _heading(out: Console, command: str, user: str) -> None:
    out.print(Text.assemble((f"   mneme {command}", "cyan"), (f"  (--user {user})", "dim")))
