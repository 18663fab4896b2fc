"""What the erasure of a scope takes beside turns, facts and notes, and what its receipt says of bytes in files."""

from __future__ import annotations

import uuid
from datetime import timedelta

import asyncpg
import pytest

from mneme.common.v1 import common_pb2
from mneme.gateway.v1 import erasure_pb2
from mneme.semantic.v1 import procedures_pb2, procedures_pb2_grpc
from mneme.session.v1 import context_window_pb2, context_window_pb2_grpc
from mneme_client import Client, FeedbackValue, Scope, ScopeLevel
from tests.servicer.cli.test_resources import run_command
from tests.servicer.gateway.test_erasure import counts, erase
from tests.support.encryption import occurrences
from tests.support.stack import RunningStack, Stubs, until

pytestmark = pytest.mark.asyncio(loop_scope="session")

PROJECT = common_pb2.Scope(level=common_pb2.SCOPE_LEVEL_PROJECT, project_id="p1")
_SCHEMAS = ("gateway", "semantic", "episodic", "agentic")
TASK = common_pb2.Scope(level=common_pb2.SCOPE_LEVEL_TASK, project_id="p1", task_id="t1")


async def create_procedure(gateway: Stubs, user_id: str, trigger: str, scope: common_pb2.Scope | None) -> None:
    request = procedures_pb2.CreateProcedureRequest(
        request_id=uuid.uuid4().hex,
        user_id=user_id,
        kind=procedures_pb2.PROCEDURE_KIND_QUERY_REWRITING,
        trigger=trigger,
        action="something else",
        scope=scope,
    )
    await procedures_pb2_grpc.ProcedureServiceStub(gateway.channel).CreateProcedure(request)


async def triggers(gateway: Stubs, user_id: str) -> set[str]:
    request = procedures_pb2.ListProceduresRequest(user_id=user_id)
    found = await procedures_pb2_grpc.ProcedureServiceStub(gateway.channel).ListProcedures(request)
    return {procedure.trigger for procedure in found.procedures}


async def test_spec_6_6_procedures_of_a_scope_go_with_it_and_are_counted(gateway: Stubs, user_id: str) -> None:
    for trigger, scope in (("AB", PROJECT), ("CD", TASK), ("EF", None)):
        await create_procedure(gateway, user_id, trigger, scope)
    erasure = await erase(gateway, user_id=user_id, scope=erasure_pb2.ScopeTarget(scope=PROJECT))
    assert counts(erasure, "SEMANTIC") == {"procedures": 1}
    assert await triggers(gateway, user_id) == {"CD", "EF"}
    nested = erasure_pb2.ScopeTarget(scope=PROJECT, with_nested=True)
    erasure = await erase(gateway, request_id=f"{user_id} 2", user_id=user_id, scope=nested)
    assert counts(erasure, "SEMANTIC")["procedures"] == 1
    assert await triggers(gateway, user_id) == {"EF"}


async def test_spec_6_6_procedures_of_erased_turns_and_users_are_counted(
    client: Client, gateway: Stubs, user_id: str
) -> None:
    await create_procedure(gateway, user_id, "AB", None)
    erasure = await erase(gateway, user_id=user_id, all_of_user=True)
    assert counts(erasure, "SEMANTIC")["procedures"] == 1
    assert await triggers(gateway, user_id) == set()
    assert [one async for one in client.list_facts(user_id)] == []


async def test_spec_6_6_queries_of_recalls_in_an_erased_scope_are_forgotten(
    stack: RunningStack, client: Client, gateway: Stubs, user_id: str
) -> None:
    places = {"project": Scope(ScopeLevel.PROJECT, "p1"), "task": Scope(ScopeLevel.TASK, "p1", task_id="t1")}
    for name, scope in places.items():
        found = await client.recall(user_id, f"What about {user_id} {name}?", scope=scope)
        await client.feedback(user_id, FeedbackValue.BAD, recall_id=found.recall_id)
    superuser = stack.services.postgres_dsn.replace("mneme_app", "postgres", 1)
    tables = ("gateway.recalls", "semantic.judged_recalls")

    async def stored() -> dict[str, set[str]]:
        return {name: set(await occurrences(superuser, f"{user_id} {name}", schemas=list(_SCHEMAS))) for name in places}

    async def are_all_stored() -> bool:
        return all({table.rstrip("_01234567") for table in found} == set(tables) for found in (await stored()).values())

    await until(are_all_stored)
    erasure = await erase(gateway, user_id=user_id, scope=erasure_pb2.ScopeTarget(scope=PROJECT))
    assert (counts(erasure, "JOURNAL"), counts(erasure, "SEMANTIC")) == ({"queries": 1}, {"queries": 1})
    left = await stored()
    assert left["project"] == set()
    assert {table.rstrip("_01234567") for table in left["task"]} == set(tables)


async def test_spec_6_6_items_of_a_scope_go_from_context_windows_without_turns_of_it(
    gateway: Stubs, user_id: str
) -> None:
    windows = context_window_pb2_grpc.ContextWindowServiceStub(gateway.channel)
    for conversation_id in ("w1", "w2"):
        items = [
            context_window_pb2.ContextItem(
                item_id=name,
                kind=context_window_pb2.CONTEXT_ITEM_KIND_USER_MESSAGE,
                content=f"said {name}",
                scope=scope,
            )
            for name, scope in (("project", PROJECT), ("task", TASK), ("everywhere", None))
        ]
        request = context_window_pb2.AddContextItemsRequest(
            request_id=uuid.uuid4().hex,
            user_id=user_id,
            conversation_id=conversation_id,
            items=items,
            create_if_missing=True,
        )
        await windows.AddContextItems(request)

    erasure = await erase(gateway, user_id=user_id, scope=erasure_pb2.ScopeTarget(scope=PROJECT))

    assert counts(erasure, "SESSION") == {"context_items": 2}
    for conversation_id in ("w1", "w2"):
        listing = context_window_pb2.ListContextItemsRequest(user_id=user_id, conversation_id=conversation_id)
        found = (await windows.ListContextItems(listing)).items
        assert [one.item.item_id for one in found] == ["task", "everywhere"]


async def test_spec_6_6_a_receipt_says_that_bytes_wait_for_a_purge(
    stack: RunningStack, client: Client, gateway: Stubs, user_id: str
) -> None:
    nothing = await erase(gateway, user_id=user_id, scope=erasure_pb2.ScopeTarget(scope=PROJECT))
    assert not nothing.purge_note
    assert not any(receipt.bytes_may_remain for receipt in nothing.stores)

    await client.remember(user_id, "c1", "said for a while")
    shown = await run_command(stack, "erase", "--all", "-u", user_id, "--yes")
    assert "mneme purge" in shown
    erasure = await erase(gateway, request_id=f"{user_id} 2", user_id=user_id, all_of_user=True)
    assert [receipt.bytes_may_remain for receipt in erasure.stores] == [bool(r.counts) for r in erasure.stores]

    await client.remember(user_id, "c2", "said again")
    receipt = await client.erase_conversation(user_id, "c2")
    while receipt.complete_time is None:
        receipt = await client.get_erasure(receipt.erasure_id)
    assert receipt.stores[0].bytes_may_remain
    assert "mneme purge" in receipt.purge_note


async def test_spec_6_6_a_receipt_says_when_the_first_purge_after_the_erasure_was_done(
    stack: RunningStack, client: Client, user_id: str
) -> None:
    await client.remember(user_id, "c1", "said for a while")
    receipt = await client.erase_conversation(user_id, "c1")
    while receipt.complete_time is None:
        receipt = await client.get_erasure(receipt.erasure_id)
    connection = await asyncpg.connect(stack.services.postgres_dsn.replace("mneme_app@", "postgres@", 1))
    try:
        begun = receipt.complete_time
        record = "INSERT INTO maintenance.purges VALUES ($1, $2, $3, $4)"
        earlier, later = begun - timedelta(seconds=1), begun + timedelta(seconds=60)
        await connection.execute(record, uuid.uuid4(), earlier, later, later)
        await connection.execute(record, uuid.uuid4(), begun, later, None)  # the indexes wait
        assert "done at" not in (await client.get_erasure(receipt.erasure_id)).purge_note
        await connection.execute(record, uuid.uuid4(), begun, begun, later)
        expected = f"done at {later.isoformat(timespec='seconds')}"
        assert expected in (await client.get_erasure(receipt.erasure_id)).purge_note
        assert [expected in erasure.purge_note async for erasure in client.list_erasures(user_id)] == [True]
    finally:
        await connection.execute("DELETE FROM maintenance.purges")
        await connection.close()
