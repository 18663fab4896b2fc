"""`mneme facts` and `mneme notes` against all services."""

from __future__ import annotations

import json

import pytest

from mneme_client import Client, FactCategory, NoteKind, ProcedureKind, Scope, ScopeLevel
from tests.support.commands import run_commands
from tests.support.stack import RunningStack

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def run_command(stack: RunningStack, *arguments: str, answer: str = "") -> str:
    (shown,) = await run_commands(stack.target, arguments, answer=answer)
    return shown


async def test_facts_are_listed_searched_and_shown(stack: RunningStack, client: Client, user_id: str) -> None:
    assert (await run_command(stack, "facts", "-u", user_id)) == "No facts.\n"
    lisbon = await client.create_fact(user_id, "Ana lives in Lisbon.", FactCategory.PERSONAL_INFO)
    await client.create_fact(user_id, "Ben drinks \x1b[31mtea.", FactCategory.PREFERENCE)

    listed, found, shown = await run_commands(
        stack.target,
        ("facts", "-u", user_id),
        ("facts", "-u", user_id, "-q", "Where is home?", "-n", "1", "--json"),
        ("facts", lisbon.fact_id, "-u", user_id),
    )
    assert lisbon.fact_id in listed
    assert "personal info" in listed
    assert "Ben drinks \N{REPLACEMENT CHARACTER}[31mtea." in listed
    assert [fact["fact_id"] for fact in json.loads(found)] == [lisbon.fact_id]
    fact = json.loads(shown)
    assert (fact["text"], fact["versions"]) == ("Ana lives in Lisbon.", [])


async def test_notes_are_listed_searched_and_shown(stack: RunningStack, client: Client, user_id: str) -> None:
    assert (await run_command(stack, "notes", "-u", user_id)) == "No notes.\n"
    tea = await client.create_note(user_id, "Tea is best in the afternoon.", NoteKind.PREFERENCE)

    listed, found, shown = await run_commands(
        stack.target,
        ("notes", "-u", user_id),
        ("notes", "-u", user_id, "-q", "drinks", "--json"),
        ("notes", tea.note.note_id, "-u", user_id),
    )
    assert tea.note.note_id in listed
    assert "Tea is best" in listed
    assert [note["note_id"] for note in json.loads(found)] == [tea.note.note_id]
    note = json.loads(shown)
    assert (note["note"]["kind"], note["links"]) == ("PREFERENCE", [])


async def test_spec_5_3_commands_show_what_a_project_sees(stack: RunningStack, client: Client, user_id: str) -> None:
    here, elsewhere = (Scope(ScopeLevel.PROJECT, project_id=name) for name in ("p1", "p2"))
    fact = await client.create_fact(user_id, "The build needs Java.", FactCategory.CONTEXT, scope=elsewhere)
    note = await client.create_note(user_id, "The build needs Java.", NoteKind.FACT, scope=elsewhere)
    made = await client.create_procedure(
        user_id, ProcedureKind.QUERY_REWRITING, trigger="kb", action="knowledge base", scope=elsewhere
    )
    await client.create_fact(user_id, "The tests need Rust.", FactCategory.CONTEXT, scope=here)
    wanted = {("facts",): fact.fact_id, ("notes",): note.note.note_id, ("procedures", "list"): made.procedure_id}
    everywhere, there, here_alone, empty = (
        [(*command, "-u", user_id, *project) for command in commands]
        for commands, project in (
            (wanted, ()),
            (wanted, ("--project", "p2")),
            (wanted, ("--project", "p1")),
            ((("clusters",), ("merges",), ("conflicts",)), ("--project", "p1")),
        )
    )
    forget = ("forget", "the build", "-u", user_id, "--project", "p1", "--yes")
    shown = await run_commands(stack.target, *everywhere, *there, *here_alone, *empty, forget)
    for number, name in enumerate(wanted.values()):
        assert name in shown[number]
        assert name in shown[3 + number]
        assert name not in shown[6 + number]
    assert all("No " in each for each in shown[9:12])
    assert "Nothing fits" in shown[12]
    assert (await client.get_fact(user_id, fact.fact_id)).scope == elsewhere
