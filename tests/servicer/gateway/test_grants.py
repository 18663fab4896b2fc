"""Grants and isolated contexts on the whole stack: who sees what, and who does not whatever they try."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import grpc
import pytest
import pytest_asyncio

from mneme.agentic.internal.v1 import notes_pb2, notes_pb2_grpc
from mneme.common.v1 import common_pb2
from mneme.episodic.v1 import episodic_pb2, episodic_pb2_grpc
from mneme.gateway.v1 import grants_pb2
from mneme.semantic.v1 import facts_pb2, facts_pb2_grpc
from mneme_client import Client, MemoryKind, MnemeClientError, Scope, ScopeLevel, Turn
from mneme_client.results import RecallResult
from services.common import scope as scopes
from services.common.auth import IDENTITY_METADATA_KEY, IdentitySigner, Principal, Role
from tests.support.stack import RunningStack, refusal, stubs

if TYPE_CHECKING:
    from services.common.embedding.embedder import OnnxEmbedder

pytestmark = pytest.mark.asyncio(loop_scope="session")

PROJECT = Scope(ScopeLevel.PROJECT, "p1")
OTHER_PROJECT = Scope(ScopeLevel.PROJECT, "p2")
SESSION = Scope(ScopeLevel.SESSION, "p1", "s1")
SIBLING = Scope(ScopeLevel.SESSION, "p1", "s2")
TASK = Scope(ScopeLevel.TASK, "p1", "s1", "t1")
AGENT = Scope(ScopeLevel.SESSION, "p1", "s1", context_id="agent-a")
OTHER_AGENT = Scope(ScopeLevel.SESSION, "p1", "s1", context_id="agent-b")
PLACES = {
    "global": None,
    "project": PROJECT,
    "other project": OTHER_PROJECT,
    "session": SESSION,
    "sibling": SIBLING,
    "task": TASK,
    "agent": AGENT,
    "other agent": OTHER_AGENT,
}
CITIES = dict(zip(PLACES, ("Lyon", "Porto", "Ghent", "Turin", "Malmo", "Graz", "Leeds", "Bergen"), strict=True))
QUESTION = "Which city does Ada like best?"


async def fill(client: Client, user_id: str) -> str:
    """Something at every place, of which turns, facts and notes are made. Returns a token for all of it."""
    token = ""
    for name, place in PLACES.items():
        said = [Turn(f"My favourite city is {CITIES[name]}.", speaker="Ada")]
        conversation = f"{user_id}-{name}"
        token = (await client.remember(user_id, conversation, said, scope=place)).consistency_token
        await client.wait_until_visible(user_id, token)
    return token


def seen(found: RecallResult) -> dict[MemoryKind, set[str]]:
    """The places whose memories are in an answer, by kind."""
    texts = {
        MemoryKind.EPISODE: [memory.text for memory in found.memories],
        MemoryKind.FACT: [hit.fact.text for hit in found.facts],
        MemoryKind.NOTE: [hit.note.content for hit in found.notes],
    }
    return {
        kind: {name for name, city in CITIES.items() if any(city in text for text in said)}
        for kind, said in texts.items()
    }


async def sees(client: Client, user_id: str, reader: Scope | None) -> dict[MemoryKind, set[str]]:
    return seen(await client.recall(user_id, QUESTION, scope=reader, limit=50))


def everything(*places: str) -> dict[MemoryKind, set[str]]:
    return {kind: set(places) for kind in (MemoryKind.EPISODE, MemoryKind.FACT, MemoryKind.NOTE)}


async def test_spec_5_3_without_grants_each_reader_sees_its_path_alone(client: Client, user_id: str) -> None:
    await fill(client, user_id)
    assert await sees(client, user_id, None) == everything("global")
    assert await sees(client, user_id, SESSION) == everything("global", "project", "session")
    assert await sees(client, user_id, TASK) == everything("global", "project", "session", "task")
    # An isolated context sees what was written in it, and nobody else sees that.
    assert await sees(client, user_id, AGENT) == everything("agent")
    assert await sees(client, user_id, Scope(context_id="agent-a")) == everything()


async def test_spec_5_3_a_grant_opens_one_place_to_one_place(client: Client, user_id: str) -> None:
    await fill(client, user_id)
    granted = await client.create_grant(user_id, from_scope=SIBLING, to_scope=SESSION)
    assert await sees(client, user_id, SESSION) == everything("global", "project", "session", "sibling")
    assert "sibling" in (await sees(client, user_id, TASK))[MemoryKind.FACT]  # below the reader's place
    assert await sees(client, user_id, PROJECT) == everything("global", "project")  # above it
    assert await sees(client, user_id, SIBLING) == everything("global", "project", "sibling")  # not the other way
    assert [grant async for grant in client.list_grants(user_id)] == [granted]

    await client.revoke_grant(user_id, granted.grant_id)
    assert await sees(client, user_id, SESSION) == everything("global", "project", "session")
    assert [grant async for grant in client.list_grants(user_id)] == []


async def test_spec_5_3_a_grant_of_a_parent_does_not_open_its_children(client: Client, user_id: str) -> None:
    await fill(client, user_id)
    await client.create_grant(user_id, from_scope=PROJECT, to_scope=OTHER_PROJECT)
    assert await sees(client, user_id, OTHER_PROJECT) == everything("global", "other project", "project")


async def test_spec_5_3_a_grant_of_one_kind_opens_no_other(client: Client, user_id: str) -> None:
    await fill(client, user_id)
    for kind in (MemoryKind.EPISODE, MemoryKind.FACT, MemoryKind.NOTE):
        await client.create_grant(user_id, from_scope=TASK, to_scope=OTHER_PROJECT, kinds=[kind])
        own = {"global", "other project"}
        wanted = {other: own | {"task"} if other is kind else own for other in everything()}
        assert await sees(client, user_id, OTHER_PROJECT) == wanted


async def test_spec_5_3_isolated_contexts_are_opened_by_grants_both_ways(client: Client, user_id: str) -> None:
    await fill(client, user_id)
    await client.create_grant(user_id, from_scope=PROJECT, to_scope=AGENT)
    assert await sees(client, user_id, AGENT) == everything("agent", "project")
    await client.create_grant(user_id, from_scope=OTHER_AGENT, to_scope=AGENT)
    assert await sees(client, user_id, AGENT) == everything("agent", "project", "other agent")
    assert await sees(client, user_id, OTHER_AGENT) == everything("other agent")
    # What an agent found is made known to all who work on the project.
    await client.create_grant(user_id, from_scope=AGENT, to_scope=PROJECT)
    assert await sees(client, user_id, PROJECT) == everything("global", "project", "agent")
    assert await sees(client, user_id, None) == everything("global")


async def test_spec_5_3_the_running_conversation_is_seen_by_whom_it_is_granted(client: Client, user_id: str) -> None:
    await client.remember(user_id, "talk", ["Only in the session."], scope=SESSION)
    found = await client.recall(user_id, "session", scope=OTHER_PROJECT, conversation_id="talk")
    assert found.recent_turns == ()
    await client.create_grant(user_id, from_scope=SESSION, to_scope=OTHER_PROJECT, kinds=[MemoryKind.EPISODE])
    found = await client.recall(user_id, "session", scope=OTHER_PROJECT, conversation_id="talk")
    assert [turn.turn.content for turn in found.recent_turns] == ["Only in the session."]
    context = await client.build_context(user_id, "session", scope=OTHER_PROJECT, conversation_id="talk")
    assert "Only in the session." in context.text


async def test_spec_5_3_grants_of_another_user_open_nothing(client: Client, user_id: str) -> None:
    await fill(client, user_id)
    await client.create_grant(f"{user_id}-else", from_scope=SIBLING, to_scope=SESSION)
    assert await sees(client, user_id, SESSION) == everything("global", "project", "session")


async def test_spec_6_3_a_repeated_request_for_a_grant_makes_one(client: Client, user_id: str) -> None:
    first = await client.create_grant(user_id, from_scope=PROJECT, to_scope=Scope(), request_id="r1")
    assert await client.create_grant(user_id, from_scope=PROJECT, to_scope=Scope(), request_id="r1") == first
    await client.revoke_grant(user_id, first.grant_id, request_id="r2")
    await client.revoke_grant(user_id, first.grant_id, request_id="r2")
    with pytest.raises(MnemeClientError) as caught:
        await client.revoke_grant(user_id, first.grant_id, request_id="r3")
    assert caught.value.reason == "NOT_FOUND"


async def test_what_is_wrong_with_a_grant_is_named(client: Client, user_id: str) -> None:
    past = datetime.now(UTC) - timedelta(seconds=1)
    for to_scope, path in ((PROJECT, "to_scope"), (Scope(), "expire_time")):
        with pytest.raises(MnemeClientError) as caught:
            await client.create_grant(user_id, from_scope=PROJECT, to_scope=to_scope, expire_time=past)
        assert [violation.field_path for violation in caught.value.violations] == [path]


@pytest_asyncio.fixture(loop_scope="session")
async def writers(secured_stack: RunningStack) -> AsyncIterator[tuple[Client, Client]]:
    """Clients of two tenants."""
    async with secured_stack.client("writer") as acme, secured_stack.client("other writer") as globex:
        yield acme, globex


async def test_spec_7_1_grants_of_another_tenant_open_nothing(writers: tuple[Client, Client], user_id: str) -> None:
    acme, globex = writers
    await fill(acme, user_id)
    theirs = await globex.create_grant(user_id, from_scope=SIBLING, to_scope=SESSION)
    assert await sees(acme, user_id, SESSION) == everything("global", "project", "session")
    assert await sees(globex, user_id, SESSION) == everything()
    with pytest.raises(MnemeClientError) as caught:
        await acme.revoke_grant(user_id, theirs.grant_id)
    assert caught.value.reason == "NOT_FOUND"
    assert [grant async for grant in acme.list_grants(user_id)] == []


async def test_spec_5_3_no_tier_believes_a_grant_that_the_gateway_did_not_sign(
    secured_stack: RunningStack, writers: tuple[Client, Client], user_id: str, embedder: OnnxEmbedder
) -> None:
    await fill(writers[0], user_id)
    place = scopes.Scope(scopes.ScopeLevel.PROJECT, "p1")
    key = secured_stack.with_key("admin")
    targets = secured_stack.services.tier_targets
    async with (
        grpc.aio.insecure_channel(targets.episodic) as episodic,
        grpc.aio.insecure_channel(targets.semantic) as semantic,
        grpc.aio.insecure_channel(targets.agentic) as agentic,
    ):
        episodes = episodic_pb2_grpc.EpisodicServiceStub(episodic).SearchEpisodes
        facts = facts_pb2_grpc.FactServiceStub(semantic).SearchFacts
        notes = notes_pb2_grpc.NoteInternalServiceStub(agentic).SearchNotes
        episode_search = episodic_pb2.SearchEpisodesRequest(user_id=user_id, query="city")
        fact_search = facts_pb2.SearchFactsRequest(
            user_id=user_id, query="city", use=facts_pb2.FACT_USE_EXPLICIT_SEARCH
        )
        vector = common_pb2.Vector(model=embedder.fingerprint, values=(await embedder.embed_query("city")).tolist())
        note_search = notes_pb2.SearchNotesRequest(user_id=user_id, query_vector=vector)
        reader = Principal("acme", "agent", Role.READER, granted_scopes=(place.key,))
        forged = [(IDENTITY_METADATA_KEY, IdentitySigner(b"another secret of thirty-two bytes").sign(reader))]
        for call in (
            episodes(episode_search, metadata=forged),
            facts(fact_search, metadata=forged),
            notes(note_search, metadata=forged),
        ):
            assert (await refusal(call)).code is grpc.StatusCode.UNAUTHENTICATED
        # A key is nobody's grant, and internal services take no key, whatever its role.
        assert len((await episodes(episode_search, metadata=key)).hits) == 1
        assert len((await facts(fact_search, metadata=key)).hits) == 1
        assert (await refusal(notes(note_search, metadata=key))).code is grpc.StatusCode.PERMISSION_DENIED
        # What a service has signed is believed.
        signed = secured_stack.identity(reader)
        assert len((await episodes(episode_search, metadata=signed)).hits) == 2
        assert {CITIES["global"], CITIES["project"]} == {
            hit.fact.object for hit in (await facts(fact_search, metadata=signed)).hits
        }
        assert len((await notes(note_search, metadata=signed)).hits) == 2


async def test_spec_7_1_a_page_of_grants_is_good_for_its_user_alone(
    client: Client, user_id: str, stack: RunningStack
) -> None:
    for number in range(3):
        place = Scope(ScopeLevel.PROJECT, f"p{number}")
        await client.create_grant(user_id, from_scope=place, to_scope=Scope())
    async with stubs(stack.target) as opened:
        first = await opened.grants.ListGrants(grants_pb2.ListGrantsRequest(user_id=user_id, page_size=2))
        rest = grants_pb2.ListGrantsRequest(user_id=user_id, page_size=2, page_token=first.next_page_token)
        second = await opened.grants.ListGrants(rest)
        found = [grant.from_scope.project_id for grant in (*first.grants, *second.grants)]
        assert found == ["p0", "p1", "p2"]
        assert second.next_page_token == ""
        forged = grants_pb2.ListGrantsRequest(user_id=f"{user_id}-else", page_token=first.next_page_token)
        refused = await refusal(opened.grants.ListGrants(forged))
        assert refused.reason == "INVALID_PAGE_TOKEN"
