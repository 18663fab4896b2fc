"""Procedures by the Python client, blocking and not, and by `mneme procedures`."""

from __future__ import annotations

import asyncio
import json

import grpc
import pytest

from mneme_client import (
    Client,
    FeedbackValue,
    MnemeClientError,
    Procedure,
    ProcedureKind,
    ProcedureOrigin,
    Scope,
    ScopeLevel,
    SyncClient,
)
from tests.servicer.cli.test_resources import run_command
from tests.support.stack import PATIENCE_SECONDS, RunningStack, until

pytestmark = pytest.mark.asyncio(loop_scope="session")

PROJECT = Scope(ScopeLevel.PROJECT, project_id="p1")


async def test_spec_3_9_the_client_creates_reads_changes_and_deletes(client: Client, user_id: str) -> None:
    made = await client.create_procedure(
        user_id, ProcedureKind.QUERY_REWRITING, "machine learning", trigger="ML", scope=PROJECT, expands=True
    )
    assert (made.trigger, made.action, made.expands, made.scope) == ("ML", "machine learning", True, PROJECT)
    assert (made.confidence, made.origin, made.success_count) == (0.7, ProcedureOrigin.STATED, 0)
    assert await client.get_procedure(user_id, made.procedure_id) == made
    listed = await client.create_procedure(user_id, ProcedureKind.RESPONSE_FORMATTING, "Use tables.")
    assert [one async for one in client.list_procedures(user_id, page_size=1)] == [listed, made]
    kind = ProcedureKind.RESPONSE_FORMATTING
    assert [one async for one in client.list_procedures(user_id, kind=kind)] == [listed]

    changed = await client.update_procedure(
        user_id, made.procedure_id, action="millilitres", initial_confidence=0.0, clear=["expands"], etag=made.etag
    )
    assert (changed.action, changed.trigger, changed.expands, changed.confidence) == ("millilitres", "ML", False, 0.0)
    with pytest.raises(MnemeClientError) as stale:
        await client.update_procedure(user_id, made.procedure_id, action="mills", etag=made.etag)
    assert stale.value.code is grpc.StatusCode.ABORTED
    await client.delete_procedure(user_id, made.procedure_id)
    with pytest.raises(MnemeClientError) as gone:
        await client.get_procedure(user_id, made.procedure_id)
    assert gone.value.code is grpc.StatusCode.NOT_FOUND


async def test_spec_3_9_feedback_on_a_recall_is_seen_as_an_outcome(client: Client, user_id: str) -> None:
    made = await client.create_procedure(
        user_id, ProcedureKind.QUERY_REWRITING, "machine learning", trigger="ML", initial_confidence=0.9
    )
    recalled = await client.recall(user_id, "ML papers")
    await client.feedback(user_id, FeedbackValue.GOOD, recall_id=recalled.recall_id)

    async def is_counted() -> bool:
        return (await client.get_procedure(user_id, made.procedure_id)).success_count == 1

    await until(is_counted)
    assert (await client.get_procedure(user_id, made.procedure_id)).confidence == pytest.approx(0.91)


async def test_spec_3_9_the_blocking_client_does_the_same(stack: RunningStack, user_id: str) -> None:
    def work() -> list[Procedure]:
        with SyncClient(stack.target, default_timeout_seconds=PATIENCE_SECONDS) as client:
            client.create_procedure(user_id, ProcedureKind.SOURCE_SELECTION, "wikipedia", trigger="history")
            return list(client.list_procedures(user_id))

    [found] = await asyncio.to_thread(work)
    assert (found.kind, found.action) == (ProcedureKind.SOURCE_SELECTION, "wikipedia")


@pytest.mark.ci("many commands, each in a process of its own")
async def test_spec_3_9_procedures_are_stated_listed_changed_and_deleted_by_command(
    stack: RunningStack, user_id: str
) -> None:
    assert "No procedures" in await run_command(stack, "procedures", "list", "-u", user_id)
    words = ("query-rewriting", "machine learning", "--for", "ML")
    procedure_id = (await run_command(stack, "procedures", "add", *words, "-u", user_id)).split()[-1]
    listed = await run_command(stack, "procedures", "list", "-u", user_id)
    assert procedure_id in listed
    assert "query-rewriting" in listed
    shown = json.loads(await run_command(stack, "procedures", "show", procedure_id, "-u", user_id))
    assert (shown["action"], shown["confidence"]) == ("machine learning", 0.7)
    await run_command(stack, "procedures", "update", procedure_id, "--confidence", "0", "-u", user_id)
    found = json.loads(await run_command(stack, "procedures", "list", "--json", "-u", user_id))
    assert [one["confidence"] for one in found] == [0.0]
    none = json.loads(await run_command(stack, "procedures", "list", "-k", "refactor", "--json", "-u", user_id))
    assert none == []
    await run_command(stack, "procedures", "delete", procedure_id, "-u", user_id)
    assert "No procedures" in await run_command(stack, "procedures", "list", "-u", user_id)
