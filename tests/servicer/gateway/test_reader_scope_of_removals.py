"""Forget and Correct from a place: they reach what belongs to it and to places above it, and nothing else."""

from __future__ import annotations

import pytest
from grpc import StatusCode
from mcp import Client as McpClient

from mneme.common.v1 import common_pb2
from mneme.gateway.v1 import erasure_pb2, grants_pb2, grants_pb2_grpc
from mneme_client import Client, MemoryKind, MnemeClientError, Scope, ScopeLevel
from services.cli.mcp.server import McpSettings, create_server
from tests.servicer.gateway.test_erasure import everything, visible
from tests.servicer.gateway.test_forget import forget
from tests.support.stack import Stubs, refusal

pytestmark = pytest.mark.asyncio(loop_scope="session")

HERE = Scope(ScopeLevel.PROJECT, project_id="here")
THERE = Scope(ScopeLevel.PROJECT, project_id="there")
EVERYWHERE = "Leo, who comes to dinner, likes fish."
IN_HERE = "Leo reviews the parser on Mondays."
IN_THERE = "Leo pays for the servers in Oslo."


def place(scope: Scope) -> common_pb2.Scope:
    return common_pb2.Scope(level=common_pb2.SCOPE_LEVEL_PROJECT, project_id=scope.project_id)


async def said_in_three_places(client: Client, user_id: str) -> dict[str, str]:
    """Says one thing of Leo in each place; returns the ids by text."""
    ids = {}
    for number, (text, scope) in enumerate(((EVERYWHERE, None), (IN_HERE, HERE), (IN_THERE, THERE))):
        written = await client.remember(user_id, f"c{number}", text, scope=scope)
        await visible(client, user_id, written.consistency_token)
        ids[text] = written.interactions[0].interaction_id
    return ids


async def all_of(client: Client, user_id: str) -> str:
    """All that is found anywhere."""
    found = [await everything(client, user_id, "What does Leo do?")]
    for scope in (HERE, THERE):
        found += [memory.text for memory in (await client.recall(user_id, "Leo", scope=scope)).memories]
    return "\n".join(found)


async def test_spec_3_13_forget_from_a_place_leaves_what_is_not_seen_there(
    client: Client, gateway: Stubs, user_id: str
) -> None:
    await said_in_three_places(client, user_id)
    dry = await forget(gateway, user_id, "everything about Leo", dry_run=True, reader_scope=place(HERE))
    shown = "\n".join(planned.preview for planned in dry.plan.memories)
    assert (EVERYWHERE in shown, IN_HERE in shown, "Oslo" in shown) == (True, True, False)
    wider = erasure_pb2.ForgetRequest(request_id=f"{user_id} w", user_id=user_id, plan_token=dry.plan_token)
    assert (await refusal(gateway.erasures.Forget(wider))).paths == ("plan_token",)
    await forget(gateway, user_id, plan_token=dry.plan_token, reader_scope=place(HERE))
    left = await all_of(client, user_id)
    assert (EVERYWHERE in left, IN_HERE in left, IN_THERE in left) == (False, False, True)


async def test_spec_3_13_forget_without_a_place_means_all_of_the_user(
    client: Client, gateway: Stubs, user_id: str
) -> None:
    await said_in_three_places(client, user_id)
    await forget(gateway, user_id, "everything about Leo")
    assert "Leo" not in await all_of(client, user_id)


async def test_spec_5_3_what_was_granted_is_for_reading_and_stays(client: Client, gateway: Stubs, user_id: str) -> None:
    await said_in_three_places(client, user_id)
    grant = grants_pb2.CreateGrantRequest(
        request_id=f"{user_id} g", user_id=user_id, from_scope=place(THERE), to_scope=place(HERE)
    )
    await grants_pb2_grpc.GrantServiceStub(gateway.channel).CreateGrant(grant)
    assert IN_THERE in {memory.text for memory in (await client.recall(user_id, "Leo", scope=HERE)).memories}
    await forget(gateway, user_id, "everything about Leo", reader_scope=place(HERE))
    assert IN_THERE in await all_of(client, user_id)
    with pytest.raises(MnemeClientError) as refused:
        await client.correct(
            user_id, "Leo pays in Bergen.", query="Leo pays for the servers in Oslo", reader_scope=HERE
        )
    assert refused.value.code is StatusCode.NOT_FOUND


async def test_spec_3_12_correct_from_a_place_marks_what_is_seen_there_alone(client: Client, user_id: str) -> None:
    ids = await said_in_three_places(client, user_id)
    right = "Leo pays for the servers in Bergen."
    with pytest.raises(MnemeClientError) as by_query:
        await client.correct(user_id, right, query=IN_THERE, reader_scope=HERE)
    with pytest.raises(MnemeClientError) as by_id:
        await client.correct(user_id, right, memory_id=ids[IN_THERE], reader_scope=HERE)
    [note] = [note async for note in client.list_notes(user_id) if IN_THERE in note.content]
    with pytest.raises(MnemeClientError) as by_note:
        await client.correct(user_id, right, memory_id=note.note_id, kind=MemoryKind.NOTE, reader_scope=HERE)
    assert {refused.value.code for refused in (by_query, by_id, by_note)} == {StatusCode.NOT_FOUND}
    corrected = await client.correct(user_id, "Leo reviews the parser on Fridays.", query=IN_HERE, reader_scope=HERE)
    assert [statement.interaction_id for statement in corrected.statements] == [ids[IN_HERE]]
    await visible(client, user_id, corrected.consistency_token)
    found = await client.recall(user_id, "When does Leo review the parser?", scope=HERE)
    assert found.memories[0].text == "Leo reviews the parser on Fridays."


async def test_spec_9_3_a_project_of_the_mcp_server_corrects_and_forgets_within_it(
    client: Client, user_id: str
) -> None:
    await said_in_three_places(client, user_id)
    settings = McpSettings(user_id, "mcp-1", HERE)
    async with McpClient(create_server(client, settings)) as server:
        shown = await server.call_tool("forget", {"query": "everything about Leo"})
        plan = "".join(part.text for part in shown.content if part.type == "text")
        assert (IN_HERE in plan, IN_THERE in plan) == (True, False)
        await server.call_tool("forget", {"plan_token": plan.split()[-1]})
        wrong = await server.call_tool("correct", {"wrong": IN_THERE, "right": "Leo pays in Bergen."})
        assert wrong.is_error
    assert IN_THERE in await all_of(client, user_id)


async def test_spec_3_13_a_place_must_be_a_whole_one(client: Client, user_id: str) -> None:
    with pytest.raises(MnemeClientError) as refused:
        await client.forget(user_id, "Leo", reader_scope=Scope(ScopeLevel.PROJECT), dry_run=True)
    assert refused.value.violations[0].field_path.startswith("reader_scope")
