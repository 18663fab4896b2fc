"""`mneme merges`: facts that may say the same, and the decisions about them."""

from __future__ import annotations

from typing import Annotated

import typer

from mneme_client import MergeDecision, MergeGroup, MergeGroupState, Scope
from services.cli import options
from services.cli.listing import Listing
from services.cli.rendering import as_json, plain, when
from services.cli.state import CliState, state_of


def merges(
    context: typer.Context,
    user: options.User,
    group_id: Annotated[str, typer.Argument(help="Decide about this group, by --unite or --apart.")] = "",
    unite: Annotated[bool, typer.Option("--unite", help="Its facts say the same: they become one.")] = False,
    apart: Annotated[bool, typer.Option("--apart", help="They do not; what was united is taken apart.")] = False,
    fact: Annotated[list[str] | None, typer.Option("--fact", help="Only these facts of it; repeat the option.")] = None,
    survivor: Annotated[str, typer.Option("--survivor", help="The fact that survives, with --unite.")] = "",
    everything: Annotated[bool, typer.Option("--all", help="Also those that are decided.")] = False,
    project: options.ReaderProject = "",
    json: options.Json = False,
) -> None:
    """List groups of a user's facts that may say the same and wait for a decision, or decide."""
    if unite and apart:
        raise typer.BadParameter("--unite and --apart exclude each other")
    if bool(group_id) != (unite or apart):
        raise typer.BadParameter("a group and --unite or --apart go together")
    state = state_of(context)
    if group_id:
        decision = MergeDecision.UNITE if unite else MergeDecision.KEEP_APART
        state.run(_decide(state, user, group_id, decision, fact or [], survivor))
    else:
        state.run(_list(state, user, options.reader_scope(project), everything=everything, json=json))


async def _decide(
    state: CliState, user: str, group_id: str, decision: MergeDecision, fact_ids: list[str], survivor: str
) -> None:
    async with state.connect() as client:
        decided = await client.resolve_merge_group(
            user, group_id, decision, fact_ids=fact_ids, survivor_fact_id=survivor
        )
    state.out.print(as_json(decided), markup=False, highlight=False, soft_wrap=True)


async def _list(state: CliState, user: str, scope: Scope | None, *, everything: bool, json: bool) -> None:
    wanted = MergeGroupState.UNSPECIFIED if everything else MergeGroupState.WAITING
    async with state.connect() as client:
        found = [group async for group in client.list_merge_groups(user, state=wanted, scope=scope)]
    if json:
        state.out.print(as_json(found), markup=False, highlight=False, soft_wrap=True)
    else:
        state.out.print(_table(found) if found else "No groups of similar facts.")


def _table(found: list[MergeGroup]) -> Listing:
    """A row for each group, and behind it one for each of its facts."""
    table = Listing("id", "found", "state", "confidence", texts=["says"], right=["confidence"])
    for group in found:
        state = group.state.name.lower().replace("_", " ")
        table.add_row(group.group_id, when(group.create_time), state, "", "")
        for fact in group.facts:
            table.add_row(f"  {fact.fact_id}", "", "", f"{fact.confidence:.2f}", plain(fact.text))
    return table
