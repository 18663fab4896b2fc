"""`mneme conflicts`: statements that contradict each other, and the decisions about them."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from mneme_client import Scope, Supersession, SupersessionDecider, SupersessionDecision, SupersessionState
from services.cli import options
from services.cli.listing import Listing
from services.cli.rendering import as_json, plain, when
from services.cli.state import CliState, state_of


class Stands(StrEnum):
    """What stands after a decision."""

    LATER = "later"
    EARLIER = "earlier"
    BOTH = "both"
    DOUBTFUL = "doubtful"


_DECISIONS = {
    Stands.LATER: SupersessionDecision.LATER_STANDS,
    Stands.EARLIER: SupersessionDecision.EARLIER_STANDS,
    Stands.BOTH: SupersessionDecision.BOTH_STAND,
    Stands.DOUBTFUL: SupersessionDecision.BOTH_REDUCED,
}


def conflicts(
    context: typer.Context,
    user: options.User,
    conflict_id: Annotated[str, typer.Argument(help="Decide about this conflict, by --stands.")] = "",
    stands: Annotated[
        Stands | None,
        typer.Option("--stands", help="Which statement stands; doubtful: both, with half the confidence."),
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="Also those that are decided.")] = False,
    project: options.ReaderProject = "",
    json: options.Json = False,
) -> None:
    """List statements of a user that contradict each other and wait for a decision, or decide."""
    if bool(conflict_id) != (stands is not None):
        raise typer.BadParameter("a conflict and --stands go together")
    state = state_of(context)
    if stands is not None:
        state.run(_decide(state, user, conflict_id, _DECISIONS[stands]))
    else:
        state.run(_list(state, user, options.reader_scope(project), everything=everything, json=json))


async def _decide(state: CliState, user: str, conflict_id: str, decision: SupersessionDecision) -> None:
    async with state.connect() as client:
        decided = await client.resolve_supersession(user, conflict_id, decision)
    state.out.print(as_json(decided), markup=False, highlight=False, soft_wrap=True)


async def _list(state: CliState, user: str, scope: Scope | None, *, everything: bool, json: bool) -> None:
    wanted = SupersessionState.UNSPECIFIED if everything else SupersessionState.PENDING
    async with state.connect() as client:
        found = [one async for one in client.list_supersessions(user, state=wanted, scope=scope)]
    if json:
        state.out.print(as_json(found), markup=False, highlight=False, soft_wrap=True)
    else:
        state.out.print(_table(found) if found else "No conflicts.")


def _table(found: list[Supersession]) -> Listing:
    table = Listing("id", "recorded", "state", texts=["decided by", "says", "against"])
    for one in found:
        stated = plain(one.statement or "(all of the turn)")
        decider = "" if one.decided_by is SupersessionDecider.UNSPECIFIED else one.decided_by.name.lower()
        if one.decision_reason:
            decider += f": {plain(one.decision_reason)}"
        state, standing = one.state.name.lower(), plain(one.standing_statement)
        table.add_row(one.supersession_id, when(one.create_time), state, decider, stated, standing)
    return table
