"""`mneme facts` and `mneme notes` against all services."""

from __future__ import annotations

import asyncio
import json
import os
import sys

import pytest

from mneme_client import Client, FactCategory, NoteKind, ProcedureKind, Scope, ScopeLevel
from tests.support.stack import RunningStack

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def run_command(stack: RunningStack, *arguments: str, answer: str = "") -> str:
    # A process of its own: the services of this one log to what the command would print to.
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "services.cli.main", *arguments),
        env={**os.environ, "MNEME_TARGET": stack.target, "COLUMNS": "200"},
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    stdout, stderr = await process.communicate(answer.encode())
    assert process.returncode == 0, stderr.decode()
    return stdout.decode()


async def test_facts_are_listed_searched_and_shown(stack: RunningStack, client: Client, user_id: str) -> None:
    assert (await run_command(stack, "facts", "-u", user_id)) == "No facts.\n"
    lisbon = await client.create_fact(user_id, "Ana lives in Lisbon.", FactCategory.PERSONAL_INFO)
    await client.create_fact(user_id, "Ben drinks \x1b[31mtea.", FactCategory.PREFERENCE)

    listed = await run_command(stack, "facts", "-u", user_id)
    assert lisbon.fact_id in listed
    assert "personal info" in listed
    assert "Ben drinks \N{REPLACEMENT CHARACTER}[31mtea." in listed
    found = json.loads(await run_command(stack, "facts", "-u", user_id, "-q", "Where is home?", "-n", "1", "--json"))
    assert [fact["fact_id"] for fact in found] == [lisbon.fact_id]
    shown = json.loads(await run_command(stack, "facts", lisbon.fact_id, "-u", user_id))
    assert (shown["text"], shown["versions"]) == ("Ana lives in Lisbon.", [])


async def test_notes_are_listed_searched_and_shown(stack: RunningStack, client: Client, user_id: str) -> None:
    assert (await run_command(stack, "notes", "-u", user_id)) == "No notes.\n"
    tea = await client.create_note(user_id, "Tea is best in the afternoon.", NoteKind.PREFERENCE)

    listed = await run_command(stack, "notes", "-u", user_id)
    assert tea.note.note_id in listed
    assert "Tea is best" in listed
    found = json.loads(await run_command(stack, "notes", "-u", user_id, "-q", "drinks", "--json"))
    assert [note["note_id"] for note in found] == [tea.note.note_id]
    shown = json.loads(await run_command(stack, "notes", tea.note.note_id, "-u", user_id))
    assert (shown["note"]["kind"], shown["links"]) == ("PREFERENCE", [])


async def test_spec_5_3_commands_show_what_a_project_sees(stack: RunningStack, client: Client, user_id: str) -> None:
    here, elsewhere = (Scope(ScopeLevel.PROJECT, project_id=name) for name in ("p1", "p2"))
    fact = await client.create_fact(user_id, "The build needs Java.", FactCategory.CONTEXT, scope=elsewhere)
    note = await client.create_note(user_id, "The build needs Java.", NoteKind.FACT, scope=elsewhere)
    made = await client.create_procedure(
        user_id, ProcedureKind.QUERY_REWRITING, trigger="kb", action="knowledge base", scope=elsewhere
    )
    await client.create_fact(user_id, "The tests need Rust.", FactCategory.CONTEXT, scope=here)
    for command, wanted in (
        (["facts"], fact.fact_id),
        (["notes"], note.note.note_id),
        (["procedures", "list"], made.procedure_id),
    ):
        assert wanted in await run_command(stack, *command, "-u", user_id)
        assert wanted in await run_command(stack, *command, "-u", user_id, "--project", "p2")
        assert wanted not in await run_command(stack, *command, "-u", user_id, "--project", "p1")
    for name in ("clusters", "merges", "conflicts"):
        assert "No " in await run_command(stack, name, "-u", user_id, "--project", "p1")
    nothing = await run_command(stack, "forget", "the build", "-u", user_id, "--project", "p1", "--yes")
    assert "Nothing fits" in nothing
    assert (await client.get_fact(user_id, fact.fact_id)).scope == elsewhere
