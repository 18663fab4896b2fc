"""Running conversations through the gateway."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING

import grpc
import pytest
import pytest_asyncio

from mneme.common.v1 import common_pb2
from mneme.session.internal.v1 import session_internal_pb2, session_internal_pb2_grpc
from mneme.session.v1 import session_pb2, session_pb2_grpc
from mneme_client import Client, MnemeClientError, Scope, ScopeLevel
from mneme_client.results import SessionWindow
from services.common.auth import Principal, Role
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


async def lose(stack: RunningStack, user_id: str, metadata: Sequence[tuple[str, str]] | None = None) -> None:
    """Loses the session as its store would."""
    request = session_internal_pb2.RemoveSessionsRequest(user_id=user_id, conversation_id="c1")
    async with grpc.aio.insecure_channel(stack.services.tier_targets.session) as channel:
        stub = session_internal_pb2_grpc.SessionInternalServiceStub(channel)
        assert (await stub.RemoveSessions(request, metadata=metadata or stack.identity())).removed_sessions == 1


ACME = Principal("acme", "test", Role.WRITER)


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
    assert [turn.interaction_id for turn in window.turns] == logged[14:]
    assert not window.rebuilt


async def test_a_recall_returns_the_window_of_the_running_conversation(client: Client, user_id: str) -> None:
    await client.remember(user_id, "c1", [f"turn {n}" for n in range(12)])
    found = await client.recall(user_id, "anything", conversation_id="c1")
    assert [turn.turn.content for turn in found.recent_turns] == [f"turn {n}" for n in range(2, 12)]
    assert (await client.recall(user_id, "anything", conversation_id="elsewhere")).recent_turns == ()


async def test_spec_5_3_turns_of_a_task_are_not_shown_to_who_only_names_the_conversation(
    client: Client, user_id: str, stack: RunningStack
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
        await lose(stack, user_id)


async def test_spec_1_5_a_session_that_its_store_lost_is_rebuilt_from_the_log(
    client: Client, user_id: str, stack: RunningStack
) -> None:
    await client.remember(user_id, "c1", [f"turn {n}" for n in range(12)])
    before = await client.get_session(user_id, "c1")
    await lose(stack, user_id)
    rebuilt = await client.get_session(user_id, "c1")
    assert rebuilt.rebuilt
    assert [t.interaction_id for t in rebuilt.turns] == [t.interaction_id for t in before.turns]
    assert not (await client.get_session(user_id, "c1")).rebuilt


async def test_spec_1_5_a_lost_session_has_its_past_when_the_next_turn_comes(
    client: Client, user_id: str, stack: RunningStack
) -> None:
    await client.remember(user_id, "c1", [f"turn {n}" for n in range(4)])
    await lose(stack, user_id)
    await client.remember(user_id, "c1", "turn 4")
    assert texts(await client.get_session(user_id, "c1")) == [f"turn {n}" for n in range(5)]


async def test_spec_1_5_a_lost_session_is_not_created_anew_over_its_past(
    client: Client, user_id: str, stack: RunningStack
) -> None:
    await client.remember(user_id, "c1", ["one", "two"])
    await lose(stack, user_id)
    with pytest.raises(MnemeClientError) as refused:
        await client.create_session(user_id, "c1")
    assert refused.value.reason == "ALREADY_EXISTS"
    assert texts(await client.get_session(user_id, "c1")) == ["one", "two"]


async def test_a_session_that_never_was_is_not_found(client: Client, user_id: str) -> None:
    assert await gone(client, user_id)
    with pytest.raises(MnemeClientError) as caught:
        await client.delete_session(user_id, "c1")
    assert (caught.value.code, caught.value.reason) == (grpc.StatusCode.NOT_FOUND, "NOT_FOUND")


async def test_spec_1_5_an_ended_session_stays_in_the_log_and_is_not_rebuilt(client: Client, user_id: str) -> None:
    await client.remember(user_id, "c1", ["one", "two"])
    await client.delete_session(user_id, "c1")
    assert await gone(client, user_id)
    assert [i.turn.content async for i in client.list_interactions(user_id, "c1")] == ["one", "two"]


async def test_a_conversation_that_goes_on_after_its_end_has_a_new_window(client: Client, user_id: str) -> None:
    await client.remember(user_id, "c1", ["one", "two"])
    await client.delete_session(user_id, "c1")
    await client.remember(user_id, "c1", "three")
    assert texts(await client.get_session(user_id, "c1")) == ["three"]


async def test_spec_1_1_sessions_are_created_listed_fed_extended_and_deleted(client: Client, user_id: str) -> None:
    created = await client.create_session(user_id, "c1", window_turns=2, ttl=timedelta(minutes=5))
    assert (created.window_turns, created.ttl, created.turns) == (2, timedelta(minutes=5), ())
    with pytest.raises(MnemeClientError) as caught:
        await client.create_session(user_id, "c1")
    assert caught.value.code is grpc.StatusCode.ALREADY_EXISTS
    appended = await client.append_turns(user_id, "c1", ["one", "two", "three"])
    assert (appended.appended_count, appended.created, appended.session.turn_count) == (3, False, 3)
    assert texts(await client.get_session(user_id, "c1")) == ["two", "three"]
    other = await client.append_turns(user_id, "c2", "hello", create_if_missing=True)
    assert (other.created, other.session.window_turns) == (True, 10)
    extended = await client.extend_session(user_id, "c1", ttl=timedelta(hours=2))
    assert (extended.ttl, extended.turns) == (timedelta(hours=2), ())
    listed = [session async for session in client.list_sessions(user_id, page_size=1)]
    assert [(session.conversation_id, session.turn_count, session.turns) for session in listed] == [
        ("c1", 3, ()),
        ("c2", 1, ()),
    ]
    assert [i.turn.content async for i in client.list_interactions(user_id, "c1")] == ["one", "two", "three"]
    await client.delete_session(user_id, "c1")
    assert await gone(client, user_id)
    with pytest.raises(MnemeClientError) as caught:
        await client.append_turns(user_id, "c1", "late")
    assert caught.value.code is grpc.StatusCode.NOT_FOUND


async def put_past_the_gateway(
    stack: RunningStack, sessions: session_pb2_grpc.SessionServiceStub, user_id: str, *said: str
) -> None:
    turns = [
        session_pb2.SessionTurn(turn=common_pb2.Turn(role=common_pb2.MESSAGE_ROLE_USER, content=text)) for text in said
    ]
    request = session_pb2.AppendTurnsRequest(user_id=user_id, conversation_id="c1", turns=turns, create_if_missing=True)
    await sessions.AppendTurns(request, metadata=stack.identity())


async def test_spec_1_5_turns_that_are_not_in_the_log_are_archived_at_the_end(
    client: Client, user_id: str, stack: RunningStack, sessions: session_pb2_grpc.SessionServiceStub
) -> None:
    await client.remember(user_id, "c1", "in the log")
    await put_past_the_gateway(stack, sessions, user_id, "My sister is called Zoe.", "She lives in Oslo.")
    await client.delete_session(user_id, "c1")
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
        await client.delete_session(user_id, "c1")

        async def is_delivered() -> bool:
            return all(not tier.pending_count for tier in await client.get_backlog())

        await until(is_delivered)
        assert await gone(client, user_id)


async def test_spec_1_5_what_is_discarded_is_not_archived(
    client: Client, user_id: str, stack: RunningStack, sessions: session_pb2_grpc.SessionServiceStub
) -> None:
    logged = []
    for user in (
        f"{user_id}-{n}" for n in range(3)
    ):  # the log may have taken a turn in the moment before it is discarded
        await put_past_the_gateway(stack, sessions, user, "forget this")
        await client.delete_session(user, "c1", discard=True)
        logged.append([i.turn.content async for i in client.list_interactions(user, "c1")])
        assert await gone(client, user)
    assert [] in logged


async def test_spec_6_3_a_repeated_end_leaves_the_next_session_alone(
    client: Client, user_id: str, stack: RunningStack, sessions: session_pb2_grpc.SessionServiceStub
) -> None:
    await client.remember(user_id, "c1", ["one", "two"])
    await client.delete_session(user_id, "c1", request_id=f"{user_id}-end")
    await client.remember(user_id, "c1", "three")
    await put_past_the_gateway(stack, sessions, user_id, "four")
    await client.delete_session(user_id, "c1", request_id=f"{user_id}-end")
    assert texts(await client.get_session(user_id, "c1")) == ["three", "four"]
    await client.remember(user_id, "c2", "another")
    with pytest.raises(MnemeClientError) as caught:
        await client.delete_session(user_id, "c2", request_id=f"{user_id}-end")
    assert caught.value.reason == "REQUEST_ID_REUSED"


async def test_spec_7_1_a_reader_sees_a_session_that_its_store_lost(secured_stack: RunningStack, user_id: str) -> None:
    async with secured_stack.client("writer") as writer, secured_stack.client("reader") as reader:
        await writer.remember(user_id, "c1", ["one", "two"])
        for _ in range(2):
            await lose(secured_stack, user_id, secured_stack.identity(ACME))
            found = await reader.recall(user_id, "anything", conversation_id="c1")
            assert [turn.turn.content for turn in found.recent_turns] == ["one", "two"]
            assert not found.degraded
        await lose(secured_stack, user_id, secured_stack.identity(ACME))
        assert (await reader.get_session(user_id, "c1")).rebuilt


async def test_spec_6_3_an_end_that_is_repeated_returns_the_first_answer(
    client: Client, user_id: str, stack: RunningStack, sessions: session_pb2_grpc.SessionServiceStub
) -> None:
    await put_past_the_gateway(stack, sessions, user_id, "one", "two")
    await client.delete_session(user_id, "c1", request_id=f"{user_id}-end")
    await client.delete_session(user_id, "c1", request_id=f"{user_id}-end")
    assert [i.turn.content async for i in client.list_interactions(user_id, "c1")] == ["one", "two"]


async def logged(client: Client, user_id: str) -> list[str]:
    return [i.turn.content async for i in client.list_interactions(user_id, "c1")]


async def test_spec_1_5_turns_put_in_past_the_gateway_reach_the_log_without_an_end(
    client: Client, user_id: str, stack: RunningStack, sessions: session_pb2_grpc.SessionServiceStub
) -> None:
    said = [f"turn {n}" for n in range(15)]  # five leave the window
    await put_past_the_gateway(stack, sessions, user_id, *said)

    async def is_logged() -> bool:
        return len(await logged(client, user_id)) == len(said)

    await until(is_logged)
    assert await logged(client, user_id) == said
    window = await client.get_session(user_id, "c1")
    assert texts(window) == said[5:]
    await lose(stack, user_id)
    rebuilt = await client.get_session(user_id, "c1")
    assert [turn.interaction_id for turn in rebuilt.turns] == [turn.interaction_id for turn in window.turns]
    assert await logged(client, user_id) == said


async def test_spec_1_5_a_rebuilt_session_has_its_own_window_and_time_to_live(
    client: Client, user_id: str, stack: RunningStack
) -> None:
    async with grpc.aio.insecure_channel(stack.target) as channel:
        door = session_pb2_grpc.SessionServiceStub(channel)
        create = session_pb2.CreateSessionRequest(
            request_id=f"{user_id}-create", user_id=user_id, conversation_id="c1", window_turns=3
        )
        create.ttl.FromSeconds(7_200)
        await door.CreateSession(create)
        await lose(stack, user_id)
        assert (await client.get_session(user_id, "c1")).rebuilt  # empty as it was
        extend = session_pb2.ExtendSessionRequest(request_id=f"{user_id}-extend", user_id=user_id, conversation_id="c1")
        extend.ttl.FromSeconds(9_000)
        await door.ExtendSession(extend)
        await client.remember(user_id, "c1", [f"turn {n}" for n in range(5)])
        for _ in ("read", "written"):
            await lose(stack, user_id)
            window = await client.get_session(user_id, "c1")
            assert (window.window_turns, window.ttl, window.rebuilt) == (3, timedelta(seconds=9_000), True)
            assert len(window.turns) == 3
            await lose(stack, user_id)
            await client.remember(user_id, "c1", "the next")
            window = await client.get_session(user_id, "c1")
            # Rebuilt by the append, for which the read waits where it goes on behind the acknowledgement.
            assert (window.window_turns, window.ttl, window.rebuilt) == (3, timedelta(seconds=9_000), False)
            assert texts(window)[-1] == "the next"


async def test_spec_1_5_a_session_deleted_past_the_gateway_stays_deleted(
    client: Client, user_id: str, stack: RunningStack, sessions: session_pb2_grpc.SessionServiceStub
) -> None:
    await client.remember(user_id, "c1", "in the log")
    await put_past_the_gateway(stack, sessions, user_id, "past the gateway")
    request = session_pb2.DeleteSessionRequest(user_id=user_id, conversation_id="c1")
    await sessions.DeleteSession(request, metadata=stack.identity())
    assert await gone(client, user_id)
    assert await logged(client, user_id) == ["in the log", "past the gateway"]
    await client.remember(user_id, "c1", "a new session")
    assert texts(await client.get_session(user_id, "c1")) == ["a new session"]


async def test_spec_6_11_turns_appended_through_the_door_are_in_the_log(
    client: Client, user_id: str, stack: RunningStack
) -> None:
    async with grpc.aio.insecure_channel(stack.target) as channel:
        door = session_pb2_grpc.SessionServiceStub(channel)
        turns = [
            session_pb2.SessionTurn(turn=common_pb2.Turn(role=common_pb2.MESSAGE_ROLE_USER, content=text))
            for text in ("one", "two")
        ]
        turns[1].scope.level = common_pb2.SCOPE_LEVEL_PROJECT
        turns[1].scope.project_id = "p1"
        request = session_pb2.AppendTurnsRequest(
            request_id=f"{user_id}-append", user_id=user_id, conversation_id="c1", turns=turns
        )
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await door.AppendTurns(request)
        assert caught.value.code() is grpc.StatusCode.NOT_FOUND
        request.create_if_missing = True
        first = await door.AppendTurns(request)
        assert (first.appended_count, first.created) == (2, True)
        await client.append_turns(user_id, "c1", "three")
        assert await door.AppendTurns(request) == first, "a repeat returns the first response"
        assert not first.session.turns
        interactions = [i async for i in client.list_interactions(user_id, "c1")]
        assert [(i.turn.content, i.scope.project_id) for i in interactions] == [
            ("one", ""),
            ("two", "p1"),
            ("three", ""),
        ]
        window = await client.get_session(user_id, "c1")
        assert [turn.interaction_id for turn in window.turns] == [i.interaction_id for i in interactions]
        await client.delete_session(user_id, "c1")
        assert await door.AppendTurns(request) == first
        request.turns[0].interaction_id = interactions[0].interaction_id
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await door.AppendTurns(request)
        assert caught.value.code() is grpc.StatusCode.INVALID_ARGUMENT
