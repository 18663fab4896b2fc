"""Running conversations through the gateway."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import timedelta
from typing import TYPE_CHECKING

import grpc
import pytest
import pytest_asyncio

from mneme.common.v1 import common_pb2
from mneme.session.v1 import session_pb2, session_pb2_grpc
from mneme_client import Client, MnemeClientError, Scope, ScopeLevel
from mneme_client.results import SessionWindow
from services.common.postgres.server import EmbeddedPostgres
from services.gateway.config import GatewaySettings
from services.gateway.journal.stores.postgres import PostgresJournalSettings
from tests.support.stack import RunningStack, gated_gateway, until

if TYPE_CHECKING:
    from services.common.embedding.embedder import OnnxEmbedder

pytestmark = pytest.mark.asyncio(loop_scope="session")


@pytest_asyncio.fixture(loop_scope="session")
async def sessions(stack: RunningStack) -> AsyncIterator[session_pb2_grpc.SessionServiceStub]:
    """The session tier itself."""
    async with grpc.aio.insecure_channel(stack.services.tier_targets.session) as channel:
        yield session_pb2_grpc.SessionServiceStub(channel)


def texts(window: SessionWindow) -> list[str]:
    return [turn.turn.content for turn in window.turns]


async def gone(client: Client, user_id: str, conversation: str = "c1") -> bool:
    try:
        await client.get_session(user_id, conversation)
    except MnemeClientError as error:
        return (error.code, error.reason) == (grpc.StatusCode.NOT_FOUND, "NOT_FOUND")
    return False


async def test_spec_1_3_the_window_holds_the_last_ten_turns(client: Client, user_id: str) -> None:
    for first in range(0, 24, 3):
        await client.remember(user_id, "c1", [f"turn {n}" for n in range(first, first + 3)])
    window = await client.get_session(user_id, "c1")
    assert texts(window) == [f"turn {n}" for n in range(14, 24)]
    assert [turn.position for turn in window.turns] == list(range(14, 24))
    logged = [i.interaction_id async for i in client.list_interactions(user_id, "c1")]
    assert [turn.turn_id for turn in window.turns] == logged[14:]
    assert not window.rebuilt


async def test_a_recall_returns_the_window_of_the_running_conversation(client: Client, user_id: str) -> None:
    await client.remember(user_id, "c1", [f"turn {n}" for n in range(12)])
    found = await client.recall(user_id, "anything", conversation_id="c1")
    assert [turn.turn.content for turn in found.recent_turns] == [f"turn {n}" for n in range(2, 12)]
    assert (await client.recall(user_id, "anything", conversation_id="elsewhere")).recent_turns == ()


async def test_spec_5_3_turns_of_a_task_are_not_shown_to_who_only_names_the_conversation(
    client: Client, user_id: str, stack: RunningStack, sessions: session_pb2_grpc.SessionServiceStub
) -> None:
    task = Scope(ScopeLevel.TASK, task_id="payroll")
    await client.remember(user_id, "c1", "for everyone")
    await client.remember(user_id, "c1", "the vault code is 4711", scope=task)

    async def shown(scope: Scope | None = None) -> list[str]:
        found = await client.recall(user_id, "vault code", conversation_id="c1", scope=scope)
        context = await client.build_context(user_id, "vault code", conversation_id="c1", scope=scope, token_budget=500)
        said = [turn.turn.content for turn in found.recent_turns]
        assert ("4711" in context.text) is ("the vault code is 4711" in said)
        return said

    for _ in ("as it was written", "as it is rebuilt"):
        assert await shown() == ["for everyone"]
        assert await shown(task) == ["for everyone", "the vault code is 4711"]
        assert len((await client.get_session(user_id, "c1")).turns) == 2  # the owner's
        lose = session_pb2.DeleteSessionRequest(user_id=user_id, session_id="c1")
        await sessions.DeleteSession(lose, metadata=stack.identity())


async def test_spec_1_5_a_session_that_its_store_lost_is_rebuilt_from_the_log(
    client: Client, user_id: str, stack: RunningStack, sessions: session_pb2_grpc.SessionServiceStub
) -> None:
    await client.remember(user_id, "c1", [f"turn {n}" for n in range(12)])
    before = await client.get_session(user_id, "c1")
    lose = session_pb2.DeleteSessionRequest(user_id=user_id, session_id="c1", request_id=f"{user_id}-lose")
    await sessions.DeleteSession(lose, metadata=stack.identity())
    rebuilt = await client.get_session(user_id, "c1")
    assert rebuilt.rebuilt
    assert [t.turn_id for t in rebuilt.turns] == [t.turn_id for t in before.turns]
    assert not (await client.get_session(user_id, "c1")).rebuilt


async def test_spec_1_5_a_lost_session_has_its_past_when_the_next_turn_comes(
    client: Client, user_id: str, stack: RunningStack, sessions: session_pb2_grpc.SessionServiceStub
) -> None:
    await client.remember(user_id, "c1", [f"turn {n}" for n in range(4)])
    lose = session_pb2.DeleteSessionRequest(user_id=user_id, session_id="c1", request_id=f"{user_id}-lose")
    await sessions.DeleteSession(lose, metadata=stack.identity())
    await client.remember(user_id, "c1", "turn 4")
    assert texts(await client.get_session(user_id, "c1")) == [f"turn {n}" for n in range(5)]


async def test_a_session_that_never_was_is_not_found(client: Client, user_id: str) -> None:
    assert await gone(client, user_id)
    with pytest.raises(MnemeClientError) as caught:
        await client.end_session(user_id, "c1")
    assert (caught.value.code, caught.value.reason) == (grpc.StatusCode.NOT_FOUND, "NOT_FOUND")


async def test_spec_1_5_an_ended_session_stays_in_the_log_and_is_not_rebuilt(client: Client, user_id: str) -> None:
    await client.remember(user_id, "c1", ["one", "two"])
    assert await client.end_session(user_id, "c1") == 0  # everything is in the log already
    assert await gone(client, user_id)
    assert [i.turn.content async for i in client.list_interactions(user_id, "c1")] == ["one", "two"]


async def test_a_conversation_that_goes_on_after_its_end_has_a_new_window(client: Client, user_id: str) -> None:
    await client.remember(user_id, "c1", ["one", "two"])
    await client.end_session(user_id, "c1")
    await client.remember(user_id, "c1", "three")
    assert texts(await client.get_session(user_id, "c1")) == ["three"]


async def put_past_the_gateway(
    stack: RunningStack, sessions: session_pb2_grpc.SessionServiceStub, user_id: str, *said: str
) -> None:
    turns = [
        session_pb2.SessionTurn(turn=common_pb2.Turn(role=common_pb2.MESSAGE_ROLE_USER, content=text)) for text in said
    ]
    request = session_pb2.AppendTurnsRequest(user_id=user_id, session_id="c1", turns=turns, create_if_missing=True)
    await sessions.AppendTurns(request, metadata=stack.identity())


async def test_spec_1_5_turns_that_are_not_in_the_log_are_archived_at_the_end(
    client: Client, user_id: str, stack: RunningStack, sessions: session_pb2_grpc.SessionServiceStub
) -> None:
    await client.remember(user_id, "c1", "in the log")
    await put_past_the_gateway(stack, sessions, user_id, "My sister is called Zoe.", "She lives in Oslo.")
    assert await client.end_session(user_id, "c1") == 2
    logged = [i.turn.content async for i in client.list_interactions(user_id, "c1")]
    assert logged == ["in the log", "My sister is called Zoe.", "She lives in Oslo."]
    assert await gone(client, user_id)


async def test_spec_1_5_archived_turns_do_not_bring_an_ended_session_back(
    stack: RunningStack,
    embedder: OnnxEmbedder,
    postgres_server: EmbeddedPostgres,
    user_id: str,
    sessions: session_pb2_grpc.SessionServiceStub,
) -> None:
    # What is archived is delivered to every tier; the session tier must not take it for a new conversation.
    journal = PostgresJournalSettings(session_delay=timedelta(milliseconds=500))
    settings = GatewaySettings(journal=journal, tells_other_gateways=False)
    async with (
        gated_gateway(stack, embedder, postgres_server, settings=settings) as gated,
        Client(gated.target) as client,
    ):
        await client.remember(user_id, "c1", "in the log")
        await put_past_the_gateway(stack, sessions, user_id, "past the gateway")
        assert await client.end_session(user_id, "c1") == 1

        async def is_delivered() -> bool:
            return all(not tier.pending_count for tier in await client.get_backlog())

        await until(is_delivered)
        assert await gone(client, user_id)


async def test_spec_1_5_what_is_discarded_is_not_archived(
    client: Client, user_id: str, stack: RunningStack, sessions: session_pb2_grpc.SessionServiceStub
) -> None:
    await put_past_the_gateway(stack, sessions, user_id, "forget this")
    assert await client.end_session(user_id, "c1", discard=True) == 0
    assert [i async for i in client.list_interactions(user_id, "c1")] == []
    assert await gone(client, user_id)


async def test_spec_6_3_a_repeated_end_leaves_the_next_session_alone(
    client: Client, user_id: str, stack: RunningStack, sessions: session_pb2_grpc.SessionServiceStub
) -> None:
    await client.remember(user_id, "c1", ["one", "two"])
    assert await client.end_session(user_id, "c1", request_id=f"{user_id}-end") == 0
    await client.remember(user_id, "c1", "three")
    await put_past_the_gateway(stack, sessions, user_id, "four")
    assert await client.end_session(user_id, "c1", request_id=f"{user_id}-end") == 0
    assert texts(await client.get_session(user_id, "c1")) == ["three", "four"]
    with pytest.raises(MnemeClientError) as caught:
        await client.end_session(user_id, "c2", request_id=f"{user_id}-end")
    assert caught.value.reason == "REQUEST_ID_REUSED"


async def test_spec_7_1_a_reader_sees_a_session_that_its_store_lost(secured_stack: RunningStack, user_id: str) -> None:
    async with secured_stack.client("writer") as writer, secured_stack.client("reader") as reader:
        await writer.remember(user_id, "c1", ["one", "two"])
        lose = session_pb2.DeleteSessionRequest(user_id=user_id, session_id="c1")
        async with grpc.aio.insecure_channel(secured_stack.services.tier_targets.session) as channel:
            sessions = session_pb2_grpc.SessionServiceStub(channel)
            for _ in range(2):
                await sessions.DeleteSession(lose, metadata=secured_stack.with_key("writer"))
                found = await reader.recall(user_id, "anything", conversation_id="c1")
                assert [turn.turn.content for turn in found.recent_turns] == ["one", "two"]
                assert not found.degraded
            await sessions.DeleteSession(lose, metadata=secured_stack.with_key("writer"))
        assert (await reader.get_session(user_id, "c1")).rebuilt


async def test_spec_6_3_an_end_that_is_repeated_returns_the_first_answer(
    client: Client, user_id: str, stack: RunningStack, sessions: session_pb2_grpc.SessionServiceStub
) -> None:
    await put_past_the_gateway(stack, sessions, user_id, "one", "two")
    first = await client.end_session(user_id, "c1", request_id=f"{user_id}-end")
    again = await client.end_session(user_id, "c1", request_id=f"{user_id}-end")
    assert first == again == 2
    assert [i.turn.content async for i in client.list_interactions(user_id, "c1")] == ["one", "two"]
