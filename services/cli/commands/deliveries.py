"""`mneme backlog` and `mneme dead-letters`: deliveries that wait, and deliveries that were given up."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer
from rich.table import Table

from mneme_client import Client, Tier
from services.cli import options
from services.cli.listing import Listing
from services.cli.rendering import as_json, plain, seconds, when
from services.cli.state import CliState, state_of

_RETRY_MAX = 1_000  # in one call


class TierName(StrEnum):
    """A tier that takes deliveries."""

    SESSION = "session"
    EPISODIC = "episodic"
    SEMANTIC = "semantic"
    AGENTIC = "agentic"
    PROFILE = "profile"


def backlog(context: typer.Context, json: options.Json = False) -> None:
    """Count the pending deliveries of each tier."""
    state = state_of(context)
    state.run(_backlog(state, json=json))


def dead_letters(
    context: typer.Context,
    tier: Annotated[TierName | None, typer.Option(help="Only those to this tier.")] = None,
    retry: Annotated[list[str] | None, typer.Option(help="Put this one back into the queue; repeatable.")] = None,
    retry_all: Annotated[bool, typer.Option("--retry-all", help="Put all listed ones back.")] = False,
) -> None:
    """List deliveries that were given up, or put them back into the queue. Needs the role admin."""
    state = state_of(context)
    state.run(_dead_letters(state, Tier[tier.name] if tier else None, retry or [], retry_all=retry_all))


async def _backlog(state: CliState, *, json: bool) -> None:
    async with state.connect() as client:
        tiers = await client.get_backlog()
    if json:
        state.out.print(as_json(tiers), markup=False, highlight=False, soft_wrap=True)
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("tier")
    for heading in ("waiting", "given up", "oldest"):
        table.add_column(heading, justify="right")
    for entry in tiers:
        table.add_row(
            entry.tier.name.lower(),
            str(entry.pending_count),
            str(entry.dead_count),
            seconds(entry.oldest_age),
        )
    state.out.print(table)


async def _dead_letters(state: CliState, tier: Tier | None, retry: list[str], *, retry_all: bool) -> None:
    async with state.connect() as client:
        if retry_all:
            retry = [letter.delivery_id async for letter in client.list_dead_letters(tier=tier)]
        if retry or retry_all:
            await _retry(state, client, retry)
            return
        table = Listing("id", "tier", "attempts", "given up", texts=["user", "subject", "reason"], right=["attempts"])
        async for letter in client.list_dead_letters(tier=tier):
            table.add_row(
                letter.delivery_id,
                letter.tier.name.lower(),
                str(letter.attempt_count),
                when(letter.give_up_time),
                plain(letter.user_id),
                letter.subject_id,
                plain(f"{letter.reason} {letter.detail}".strip()),
            )
        state.out.print(table if table.row_count else "No dead letters.")


async def _retry(state: CliState, client: Client, delivery_ids: list[str]) -> None:
    retried = 0
    for start in range(0, len(delivery_ids), _RETRY_MAX):
        retried += await client.retry_dead_letters(delivery_ids[start : start + _RETRY_MAX])
    state.out.print(f"{retried} of {len(delivery_ids)} put back into the queue.", highlight=False)
