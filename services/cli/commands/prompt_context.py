"""`mneme context`: text for a prompt."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

import typer

from mneme_client import ContextOrder
from services.cli import options
from services.cli.rendering import as_json, plain, print_degraded
from services.cli.state import CliState, state_of


def context(
    context: typer.Context,
    query: Annotated[str, typer.Argument(help="The message to answer.")],
    user: options.User,
    budget: Annotated[int, typer.Option(min=64, max=100_000, help="Maximum number of tokens.")] = 2_000,
    conversation: options.ConversationOption = "",
    as_of: options.AsOf = None,
    chronological: Annotated[
        bool, typer.Option("--chronological", help="Oldest memories first instead of the best.")
    ] = False,
    json: options.Json = False,
) -> None:
    """Print memories as text for a prompt. The text goes to stdout, everything else to stderr."""
    state = state_of(context)
    order = ContextOrder.CHRONOLOGICAL if chronological else ContextOrder.BEST_FIRST
    state.run(
        _context(state, user, query, budget=budget, conversation=conversation, as_of=as_of, order=order, json=json)
    )


async def _context(
    state: CliState,
    user: str,
    query: str,
    *,
    budget: int,
    conversation: str,
    as_of: datetime | None,
    order: ContextOrder,
    json: bool,
) -> None:
    async with state.connect() as client:
        built = await client.build_context(
            user, query, token_budget=budget, conversation_id=conversation, as_of_time=as_of, order=order
        )
    if json:
        state.out.print(as_json(built), markup=False, highlight=False, soft_wrap=True)
        return
    state.out.print(plain(built.text), soft_wrap=True)
    sections = ", ".join(
        f"{s.kind.name.lower().replace('_', ' ')} {s.token_count} of {s.token_budget}" for s in built.sections
    )
    state.err.print(f"{built.token_count} of {budget} tokens: {sections}", style="dim", highlight=False)
    print_degraded(state.err, built.tiers, degraded=built.degraded)
