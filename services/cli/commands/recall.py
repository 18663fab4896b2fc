"""`mneme recall`: a question."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

import typer

from services.cli import options
from services.cli.rendering import as_json, print_recall
from services.cli.state import CliState, state_of


def recall(
    context: typer.Context,
    query: Annotated[str, typer.Argument(help="The question or message.")],
    user: options.User,
    limit: options.Limit = 10,
    conversation: options.ConversationOption = "",
    as_of: options.AsOf = None,
    token: Annotated[str, typer.Option(help="Wait for the write that gave this consistency token.")] = "",
    explain: Annotated[bool, typer.Option("--explain", "-e", help="Show why each memory was found.")] = False,
    json: options.Json = False,
    embedded: options.Embedded = False,
    trace_console: options.TraceConsole = False,
) -> None:
    """Find memories for a question, with the reasons."""
    state = state_of(context)
    state.run(
        _recall(
            state,
            user,
            query,
            limit=limit,
            conversation=conversation,
            as_of=as_of,
            token=token,
            explain=explain,
            json=json,
            embedded=embedded,
            trace=trace_console,
        )
    )


async def _recall(
    state: CliState,
    user: str,
    query: str,
    *,
    limit: int,
    conversation: str,
    as_of: datetime | None,
    token: str,
    explain: bool,
    json: bool,
    embedded: bool,
    trace: bool,
) -> None:
    async with state.connect(embedded=embedded, trace=trace) as client:
        found = await client.recall(
            user,
            query,
            limit=limit,
            conversation_id=conversation,
            as_of_time=as_of,
            consistency_token=token,
        )
        if json:
            state.out.print(as_json(found), markup=False, highlight=False, soft_wrap=True)
        else:
            print_recall(state.out, found, explain=explain)
