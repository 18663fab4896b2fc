"""What a session has that its store lost and the gateway rebuilt."""

from __future__ import annotations

from datetime import timedelta

import grpc
import pytest

from mneme.session.internal.v1 import session_internal_pb2, session_internal_pb2_grpc
from mneme_client import Client
from tests.servicer.gateway.test_sessions import lose, texts
from tests.support.stack import RunningStack

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_spec_1_1_a_rebuilt_session_counts_its_turns_and_was_created_when_it_was(
    client: Client, user_id: str, stack: RunningStack
) -> None:
    await client.create_session(user_id, "c1", window_turns=5)
    for number in range(15):
        await client.remember(user_id, "c1", [f"turn {number}"], request_id=f"{user_id} {number}")
    before = await client.get_session(user_id, "c1")
    await lose(stack, user_id)
    rebuilt = await client.get_session(user_id, "c1")
    assert rebuilt.rebuilt
    assert (rebuilt.turn_count, rebuilt.create_time) == (15, before.create_time)
    assert texts(rebuilt) == texts(before)
    await client.remember(user_id, "c1", ["one more"], request_id=f"{user_id} more")
    assert (await client.get_session(user_id, "c1")).turn_count == 16


async def test_spec_1_5_a_large_window_is_rebuilt_whole(client: Client, user_id: str, stack: RunningStack) -> None:
    await client.create_session(user_id, "c1", window_turns=400)
    for part in range(2):
        await client.remember(user_id, "c1", ["Ok."] * 200, request_id=f"{user_id} {part}")
    assert len((await client.get_session(user_id, "c1")).turns) == 400
    await lose(stack, user_id)
    assert len((await client.get_session(user_id, "c1")).turns) == 400


async def restart(stack: RunningStack, user_id: str) -> None:
    """Loses all that the session tier has of a user, as a process without Redis does that ends."""
    request = session_internal_pb2.RemoveSessionsRequest(user_id=user_id)
    async with grpc.aio.insecure_channel(stack.services.tier_targets.session) as channel:
        stub = session_internal_pb2_grpc.SessionInternalServiceStub(channel)
        await stub.RemoveSessions(request, metadata=stack.identity())


async def test_spec_6_3_a_deletion_that_is_repeated_after_a_restart_does_not_end_the_next_session(
    client: Client, user_id: str, stack: RunningStack
) -> None:
    await client.remember(user_id, "c1", ["one", "two"])
    await client.delete_session(user_id, "c1", request_id=f"{user_id}-end")
    await client.remember(user_id, "c1", "three")
    await restart(stack, user_id)
    await client.delete_session(user_id, "c1", request_id=f"{user_id}-end")
    assert texts(await client.get_session(user_id, "c1")) == ["three"]


async def test_spec_6_3_sessions_that_are_created_and_extended_once_more_after_a_restart_stay_as_they_are(
    client: Client, user_id: str, stack: RunningStack
) -> None:
    made = await client.create_session(user_id, "c1", request_id=f"{user_id}-made")
    named_by_the_tier = await client.create_session(user_id, request_id=f"{user_id}-named")
    first = await client.extend_session(user_id, "c1", ttl=timedelta(hours=2), request_id=f"{user_id}-first")
    await client.extend_session(user_id, "c1", ttl=timedelta(hours=3), request_id=f"{user_id}-second")
    await restart(stack, user_id)
    assert await client.create_session(user_id, "c1", request_id=f"{user_id}-made") == made
    assert await client.create_session(user_id, request_id=f"{user_id}-named") == named_by_the_tier
    assert await client.extend_session(user_id, "c1", ttl=timedelta(hours=2), request_id=f"{user_id}-first") == first
    assert (await client.get_session(user_id, "c1")).ttl == timedelta(hours=3)
