"""`mneme conversations`, `mneme transcript` and `mneme sessions`: the conversation log and its live windows."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from services.cli import options
from services.cli.rendering import MARKS_MISSING, mark_of, plain, turn_text, when, who
from services.cli.state import CliState, state_of


def conversations(context: typer.Context, user: options.User) -> None:
    """List a user's conversations, the last written first."""
    state = state_of(context)
    state.run(_conversations(state, user))


def transcript(
    context: typer.Context,
    conversation: Annotated[str, typer.Argument(help="The conversation's id.")],
    user: options.User,
) -> None:
    """Print what was said in a conversation, oldest first."""
    state = state_of(context)
    state.run(_transcript(state, user, conversation))


def sessions(context: typer.Context, user: options.User) -> None:
    """List a user's running sessions, the last active first."""
    state = state_of(context)
    state.run(_sessions(state, user))


async def _conversations(state: CliState, user: str) -> None:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("conversation", "turns", "first written", "last written"):
        table.add_column(heading, justify="right" if heading == "turns" else "left")
    async with state.connect() as client:
        async for found in client.list_conversations(user):
            table.add_row(
                plain(found.conversation_id),
                str(found.interaction_count),
                when(found.create_time),
                when(found.update_time),
            )
    state.out.print(table if table.row_count else "No conversations.")


async def _sessions(state: CliState, user: str) -> None:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("conversation", "turns", "window", "last active", "expires"):
        table.add_column(heading, justify="right" if heading in {"turns", "window"} else "left")
    async with state.connect() as client:
        async for found in client.list_sessions(user):
            table.add_row(
                plain(found.conversation_id),
                str(found.turn_count),
                str(found.window_turns),
                when(found.last_active_time),
                when(found.expire_time),
            )
    state.out.print(table if table.row_count else "No running sessions.")


async def _transcript(state: CliState, user: str, conversation: str) -> None:
    count, is_missing = 0, False
    async with state.connect() as client:
        # Printed as it comes, since a transcript may be long.
        async for interaction in client.list_interactions(user, conversation):
            count += 1
            line = Text(f"{when(interaction.turn.time)} ", style="cyan")
            line.append_text(Text.assemble((who(interaction.turn).plain, "green"), ": "))
            line.append_text(
                Text.assemble((turn_text(interaction.turn).plain, "default"), (mark_of(interaction), "dim"))
            )
            state.out.print(line)
            is_missing |= interaction.marks_missing
    if not count:
        state.out.print("Nothing was said there.")
    if is_missing:
        state.err.print(MARKS_MISSING)
