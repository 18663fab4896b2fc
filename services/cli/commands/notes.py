"""`mneme notes`: a user's notes."""

from __future__ import annotations

from typing import Annotated

import typer

from mneme_client import Client, Note, Scope
from services.cli import options
from services.cli.listing import Listing
from services.cli.rendering import MARKS_MISSING, as_json, mark_of, plain, when
from services.cli.state import CliState, state_of


def notes(
    context: typer.Context,
    user: options.User,
    note_id: Annotated[str, typer.Argument(help="Show this note, with its links, as JSON.")] = "",
    query: Annotated[
        str, typer.Option("--query", "-q", help="Only notes similar to this, or linked to such notes, best first.")
    ] = "",
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, max=200, help="At most this many, with --query.")] = 10,
    project: options.ReaderProject = "",
    json: options.Json = False,
) -> None:
    """List a user's notes, search them, or show one."""
    state = state_of(context)
    scope = options.reader_scope(project)
    state.run(_notes(state, user, scope, note_id=note_id, query=query, limit=limit, json=json))


async def _notes(
    state: CliState, user: str, scope: Scope | None, *, note_id: str, query: str, limit: int, json: bool
) -> None:
    async with state.connect() as client:
        if note_id:
            state.out.print(
                as_json(await client.get_note(user, note_id, scope=scope)),
                markup=False,
                highlight=False,
                soft_wrap=True,
            )
            return
        found = await _found(state, client, user, scope, query, limit)
    if json:
        state.out.print(as_json(found), markup=False, highlight=False, soft_wrap=True)
    else:
        state.out.print(_table(found) if found else "No notes.")
    if any(note.marks_missing for note in found):
        state.err.print(MARKS_MISSING)


async def _found(state: CliState, client: Client, user: str, scope: Scope | None, query: str, limit: int) -> list[Note]:
    if query:
        hits = await client.search_notes(user, query, scope=scope, limit=limit)
        if hits.degraded:
            state.err.print("Some notes of a former embedding model cannot be found until they are embedded anew.")
        return [hit.note for hit in hits]
    return [note async for note in client.list_notes(user, scope=scope)]


def _table(found: list[Note]) -> Listing:
    table = Listing("id", "time", "kind", "importance", texts=["content"], right=["importance"])
    for note in found:
        kind = note.kind.name.lower()
        table.add_row(
            note.note_id, when(note.time), kind, f"{note.importance:.2f}", plain(note.content + mark_of(note))
        )
    return table
