"""`mneme facts`: a user's facts."""

from __future__ import annotations

from typing import Annotated

import typer

from mneme_client import Client, Fact, Scope
from services.cli import options
from services.cli.listing import Listing
from services.cli.rendering import as_json, mark_of, plain, when
from services.cli.state import CliState, state_of


def facts(
    context: typer.Context,
    user: options.User,
    fact_id: Annotated[str, typer.Argument(help="Show this fact, with its evidence and versions, as JSON.")] = "",
    query: Annotated[str, typer.Option("--query", "-q", help="Only the facts most similar to this, best first.")] = "",
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, max=200, help="At most this many, with --query.")] = 10,
    project: options.ReaderProject = "",
    json: options.Json = False,
) -> None:
    """List a user's facts, search them, or show one."""
    state = state_of(context)
    scope = options.reader_scope(project)
    state.run(_facts(state, user, scope, fact_id=fact_id, query=query, limit=limit, json=json))


async def _facts(
    state: CliState, user: str, scope: Scope | None, *, fact_id: str, query: str, limit: int, json: bool
) -> None:
    async with state.connect() as client:
        if fact_id:
            state.out.print(
                as_json(await client.get_fact(user, fact_id, scope=scope)),
                markup=False,
                highlight=False,
                soft_wrap=True,
            )
            return
        found = await _found(state, client, user, scope, query, limit)
    if json:
        state.out.print(as_json(found), markup=False, highlight=False, soft_wrap=True)
    else:
        state.out.print(_table(found) if found else "No facts.")


async def _found(state: CliState, client: Client, user: str, scope: Scope | None, query: str, limit: int) -> list[Fact]:
    if query:
        hits = await client.search_facts(user, query, scope=scope, limit=limit)
        if hits.degraded:
            state.err.print("Some facts of a former embedding model cannot be found until they are embedded anew.")
        return [hit.fact for hit in hits]
    return [fact async for fact in client.list_facts(user, scope=scope)]


def _table(found: list[Fact]) -> Listing:
    table = Listing("id", "confirmed", "category", "sure", texts=["text"], right=["sure"])
    for fact in found:
        category = fact.category.name.lower().replace("_", " ")
        confirmed = when(fact.last_confirmed_time)
        table.add_row(fact.fact_id, confirmed, category, f"{fact.confidence:.2f}", plain(fact.text + mark_of(fact)))
    return table
