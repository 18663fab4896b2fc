"""`mneme erase`, `mneme forget` and `mneme correct`: what takes memories away, and says what is right."""

from __future__ import annotations

import asyncio
from typing import Annotated

import typer
from rich.table import Table

from mneme_client import Client, Erasure, ErasurePlan, ErasureState, MemoryKind, PlannedMemory, Scope
from services.cli import options
from services.cli.rendering import as_json, counted, counts_in_words, plain
from services.cli.state import CliState, state_of

Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Only show what would be erased.")]
_POLL_SECONDS = 0.2


def erase(
    context: typer.Context,
    user: options.User,
    memory_ids: Annotated[
        list[str] | None, typer.Argument(help="Turns, by id, with what was derived from them.")
    ] = None,
    conversation: Annotated[str, typer.Option("--conversation", "-c", help="This conversation.")] = "",
    all_of_user: Annotated[bool, typer.Option("--all", help="Everything of the user.")] = False,
    dry_run: DryRun = False,
    yes: Yes = False,
    json: options.Json = False,
) -> None:
    """Erase memories in every tier, with a receipt."""
    if sum((bool(memory_ids), bool(conversation), all_of_user)) != 1:
        raise typer.BadParameter("name either memories, --conversation or --all")
    state = state_of(context)
    state.run(_erase(state, user, memory_ids or [], conversation, dry_run=dry_run, yes=yes, json=json))


def forget(
    context: typer.Context,
    query: Annotated[str, typer.Argument(help="A name, a topic, or plain words.")],
    user: options.User,
    project: options.ReaderProject = "",
    dry_run: DryRun = False,
    yes: Yes = False,
    json: options.Json = False,
) -> None:
    """Erase what a query in plain words means, after showing it."""
    state = state_of(context)
    state.run(_forget(state, user, query, options.reader_scope(project), dry_run=dry_run, yes=yes, json=json))


def correct(
    context: typer.Context,
    text: Annotated[str, typer.Argument(help='What is right, such as "The van is from 2016".')],
    user: options.User,
    wrong: Annotated[str, typer.Option("--wrong", "-w", help="What is wrong, in words.")] = "",
    memory: Annotated[str, typer.Option("--memory", "-m", help="The wrong turn, fact or note, by id.")] = "",
    kind: Annotated[str, typer.Option(help="What --memory is: episode, fact or note.")] = "episode",
    project: options.ReaderProject = "",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show what would be marked.")] = False,
    json: options.Json = False,
) -> None:
    """Replace something wrong: store the right text, and mark what said otherwise as superseded."""
    if bool(wrong) is bool(memory):
        raise typer.BadParameter("say what is wrong either by --wrong or by --memory")
    if kind.upper() not in {"EPISODE", "FACT", "NOTE"}:
        raise typer.BadParameter("must be episode, fact or note", param_hint="--kind")
    state = state_of(context)
    scope = options.reader_scope(project)
    state.run(_correct(state, user, text, wrong, memory, MemoryKind[kind.upper()], scope, dry_run=dry_run, json=json))


async def _erase(
    state: CliState, user: str, memory_ids: list[str], conversation: str, *, dry_run: bool, yes: bool, json: bool
) -> None:
    async with state.connect() as client:
        if dry_run or not yes:
            plan = await client.plan_erasure(user, memory_ids=memory_ids, conversation_id=conversation)
            if not _confirmed(state, plan, dry_run=dry_run, yes=yes, json=json):
                return
        if memory_ids:
            erasure = await client.erase_memories(user, memory_ids)
        elif conversation:
            erasure = await client.erase_conversation(user, conversation)
        else:
            erasure = await client.erase_user(user)
        await _show(state, client, erasure, json=json)


async def _forget(
    state: CliState, user: str, query: str, scope: Scope | None, *, dry_run: bool, yes: bool, json: bool
) -> None:
    async with state.connect() as client:
        found = await client.forget(user, query, reader_scope=scope, dry_run=True)
        if found.plan is None or not found.plan_token:
            state.out.print("Nothing fits: nothing was erased.")
            return
        if not _confirmed(state, found.plan, dry_run=dry_run, yes=yes, json=json):
            return
        erased = await client.forget(user, plan_token=found.plan_token, reader_scope=scope)
        if erased.erasure is not None:
            await _show(state, client, erased.erasure, json=json)


async def _correct(
    state: CliState,
    user: str,
    text: str,
    wrong: str,
    memory: str,
    kind: MemoryKind,
    scope: Scope | None,
    *,
    dry_run: bool,
    json: bool,
) -> None:
    async with state.connect() as client:
        result = await client.correct(
            user, text, query=wrong, memory_id=memory, kind=kind, reader_scope=scope, dry_run=dry_run
        )
    if json:
        _print_json(state, result)
        return
    for statement in result.statements:
        part = "superseded" if statement.whole_turn else "superseded in part"
        state.out.print(f"{part}: {statement.preview}", markup=False, highlight=False)
    if result.interaction_id:
        state.out.print(f"remembered as {result.interaction_id}", highlight=False)


def _why(memory: PlannedMemory) -> str:
    """Why a query means a memory, or why it stays; nothing where ids do."""
    return memory.reason.name.lower().replace("_", " ") if memory.reason else ""


def _confirmed(state: CliState, plan: ErasurePlan, *, dry_run: bool, yes: bool, json: bool) -> bool:
    """Shows what would go, and asks; False for a dry run."""
    if json and dry_run:
        _print_json(state, plan)
        return False
    if not json:
        table = Table(box=None, pad_edge=False, header_style="bold")
        table.add_column("kind", no_wrap=True)
        table.add_column("why", no_wrap=True)
        table.add_column("text", ratio=1, overflow="fold")
        for memory in plan.memories:
            table.add_row(memory.kind.name.lower(), _why(memory), plain(memory.preview))
        for memory in plan.near:
            table.add_row("stays", _why(memory), plain(memory.preview))
        state.out.print(table)
        counts = ((plan.episodes, "turn"), (plan.facts, "fact"), (plan.notes, "note"))
        state.out.print(", ".join(counted(count, noun) for count, noun in counts), highlight=False)
        if plan.degraded:
            state.out.print("A service did not respond in time, so some may be missing here. Try again later.")
    if dry_run:
        return False
    return yes or typer.confirm("Erase them for good?", default=False, err=True)


async def _show(state: CliState, client: Client, erasure: Erasure, *, json: bool) -> None:
    """Waits until the erasure is done, says what it waits for, and prints its receipt."""
    said = ""
    while erasure.state is not ErasureState.DONE:
        waiting = ", ".join(receipt.store.name.lower() for receipt in erasure.stores if not receipt.done)
        if waiting != said:
            state.err.print(
                f"erasing ({erasure.erasure_id}), goes on by itself; not done yet: {waiting}", highlight=False
            )
            said = waiting
        await asyncio.sleep(_POLL_SECONDS)
        erasure = await client.get_erasure(erasure.erasure_id)
    if json:
        _print_json(state, erasure)
        return
    state.out.print(f"Erased ({erasure.erasure_id}).", highlight=False)
    for receipt in erasure.stores:
        counts = counts_in_words(receipt.counts) or "nothing"
        state.out.print(f"  {receipt.store.name.lower()}: {counts}", highlight=False)
    if erasure.purge_note:
        state.out.print(erasure.purge_note, markup=False, highlight=False)


def _print_json(state: CliState, value: object) -> None:
    state.out.print(as_json(value), markup=False, highlight=False, soft_wrap=True)
