"""`mneme remember`: one turn."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Annotated

import typer

from mneme_client import Role, Turn
from services.cli import options
from services.cli.state import CliState, state_of


class RoleName(StrEnum):
    """Who speaks."""

    USER = "user"
    ASSISTANT = "assistant"
    SYSTEM = "system"
    TOOL = "tool"


def remember(
    context: typer.Context,
    text: Annotated[str, typer.Argument(help="What was said.")],
    user: options.User,
    conversation: Annotated[str, typer.Option("--conversation", "-c", help="In which conversation.")] = "cli",
    speaker: Annotated[str, typer.Option(help="The speaker's name.")] = "",
    role: Annotated[RoleName, typer.Option(help="Who speaks.")] = RoleName.USER,
    time: Annotated[
        datetime | None,
        typer.Option(parser=options.parse_time, metavar="TIME", help="When it was said; now if not given."),
    ] = None,
    wait: Annotated[bool, typer.Option("--wait", help="Return when the turn can be found.")] = False,
    embedded: options.Embedded = False,
    trace_console: options.TraceConsole = False,
) -> None:
    """Remember one turn of a conversation."""
    state = state_of(context)
    turn = Turn(text, role=Role[role.name], speaker=speaker, time=time)
    state.run(_remember(state, user, conversation, turn, wait=wait, embedded=embedded, trace=trace_console))


async def _remember(
    state: CliState, user: str, conversation: str, turn: Turn, *, wait: bool, embedded: bool, trace: bool
) -> None:
    async with state.connect(embedded=embedded, trace=trace) as client:
        result = await client.remember(user, conversation, turn)
        if wait:
            await client.wait_until_visible(user, result.consistency_token)
        (reference,) = result.interactions
        state.out.print(
            f"Remembered as turn {reference.position} of {conversation}: {reference.interaction_id}",
            markup=False,
            highlight=False,
        )
        state.out.print(f"consistency token {result.consistency_token}", style="dim", markup=False, highlight=False)
