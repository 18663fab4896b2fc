"""`mneme procedures`: learned patterns of how to search and how to respond."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from mneme_client import Procedure, ProcedureKind, Scope
from services.cli import options
from services.cli.listing import Listing
from services.cli.rendering import as_json, plain, when
from services.cli.state import CliState, state_of

procedures = typer.Typer(
    name="procedures",
    help="Learned patterns: how queries are rewritten and ranked, how responses are written. `mneme feedback` on a "
    "recall is an outcome of those that it applied.",
    no_args_is_help=True,
)


class Kind(StrEnum):
    """What a procedure changes."""

    QUERY_REWRITING = "query-rewriting"
    RETRIEVAL_STRATEGY = "retrieval-strategy"
    RESPONSE_FORMATTING = "response-formatting"
    SOURCE_SELECTION = "source-selection"
    CO_EDIT = "co-edit"
    ERROR_FIX = "error-fix"
    REFACTOR = "refactor"


_Id = Annotated[str, typer.Argument(help="The procedure's id.")]
_KindOption = Annotated[Kind | None, typer.Option("--kind", "-k", help="Only this kind.")]
_Confidence = Annotated[
    float | None, typer.Option("--confidence", min=0.0, max=1.0, help="Before the first outcome; applied above 0.6.")
]


@procedures.command("list")
def list_(
    context: typer.Context,
    user: options.User,
    kind: _KindOption = None,
    project: options.ReaderProject = "",
    json: options.Json = False,
) -> None:
    """List a user's procedures, newest first."""
    state = state_of(context)
    wanted = None if kind is None else ProcedureKind[kind.name]
    state.run(_list(state, user, wanted, options.reader_scope(project), json=json))


@procedures.command()
def show(context: typer.Context, user: options.User, procedure_id: _Id) -> None:
    """Show a procedure as JSON."""
    state = state_of(context)
    state.run(_show(state, user, procedure_id))


@procedures.command()
def add(
    context: typer.Context,
    user: options.User,
    kind: Annotated[Kind, typer.Argument(help="What it changes.")],
    action: Annotated[str, typer.Argument(help="Its effect; for a rewriting, the words that replace the trigger.")],
    trigger: Annotated[
        str, typer.Option("--for", help="The words of a query that trigger it; none: every query.")
    ] = "",
    expands: Annotated[bool, typer.Option("--expand", help="A rewriting appends the action to the trigger.")] = False,
    confidence: _Confidence = None,
) -> None:
    """Create a procedure, and print its id."""
    state = state_of(context)
    state.run(_add(state, user, ProcedureKind[kind.name], action, trigger, confidence, expands=expands))


@procedures.command()
def update(
    context: typer.Context,
    user: options.User,
    procedure_id: _Id,
    action: Annotated[str | None, typer.Option("--action", help="What it does.")] = None,
    trigger: Annotated[str | None, typer.Option("--for", help="The words of a query that trigger it.")] = None,
    confidence: _Confidence = None,
) -> None:
    """Change a procedure; its outcomes stay. Without outcomes, --confidence 0 switches it off."""
    state = state_of(context)
    state.run(_update(state, user, procedure_id, action, trigger, confidence))


@procedures.command()
def delete(context: typer.Context, user: options.User, procedure_id: _Id) -> None:
    """Delete a procedure; it may be learned again."""
    state = state_of(context)
    state.run(_delete(state, user, procedure_id))


async def _list(state: CliState, user: str, kind: ProcedureKind | None, scope: Scope | None, *, json: bool) -> None:
    async with state.connect() as client:
        found = [one async for one in client.list_procedures(user, kind=kind, scope=scope)]
    if json:
        _print_json(state, found)
    else:
        state.out.print(_table(found) if found else "No procedures.")


async def _show(state: CliState, user: str, procedure_id: str) -> None:
    async with state.connect() as client:
        _print_json(state, await client.get_procedure(user, procedure_id))


async def _add(
    state: CliState,
    user: str,
    kind: ProcedureKind,
    action: str,
    trigger: str,
    confidence: float | None,
    *,
    expands: bool,
) -> None:
    async with state.connect() as client:
        made = await client.create_procedure(
            user, kind, action, trigger=trigger, expands=expands, initial_confidence=confidence
        )
    state.out.print(made.procedure_id, highlight=False)


async def _update(
    state: CliState, user: str, procedure_id: str, action: str | None, trigger: str | None, confidence: float | None
) -> None:
    async with state.connect() as client:
        changed = await client.update_procedure(
            user, procedure_id, action=action, trigger=trigger, initial_confidence=confidence
        )
    _print_json(state, changed)


async def _delete(state: CliState, user: str, procedure_id: str) -> None:
    async with state.connect() as client:
        await client.delete_procedure(user, procedure_id)
    state.out.print(f"deleted {procedure_id}", highlight=False)


def _table(found: list[Procedure]) -> Listing:
    numbers = ("confidence", "good", "bad")
    table = Listing("id", "changed", "kind", *numbers, texts=["for", "does"], right=numbers)
    for one in found:
        table.add_row(
            one.procedure_id,
            when(one.update_time),
            one.kind.name.lower().replace("_", "-"),
            f"{one.confidence:.2f}",
            str(one.success_count),
            str(one.failure_count),
            plain(one.trigger or "(every query)"),
            plain(one.action),
        )
    return table


def _print_json(state: CliState, value: object) -> None:
    state.out.print(as_json(value), markup=False, highlight=False, soft_wrap=True)
