"""Recalls that were judged, as questions with right answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import grpc
import pytest

from mneme.gateway.v1 import memory_pb2
from mneme_client import Client, FeedbackValue, JudgedRecall
from services.common.postgres.server import EmbeddedPostgres
from services.gateway.config import GatewaySettings
from services.gateway.requests import RequestLimits
from tests.support.stack import RunningStack, Stubs, gated_gateway, refusal, stubs, until

if TYPE_CHECKING:
    from services.common.embedding.embedder import OnnxEmbedder

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_spec_8_4_a_recall_that_feedback_judged_good_is_listed_with_what_it_returned(
    client: Client, user_id: str
) -> None:
    written = await client.remember(user_id, "c1", ["The boat is blue."], request_id=f"{user_id} 1")
    token = written.consistency_token
    recalled = await client.recall(user_id, "Which colour has the boat?", consistency_token=token)
    await client.recall(user_id, "What is the weather like?")
    assert recalled.memories

    async def listed() -> list[JudgedRecall]:
        return [one async for one in client.list_judged_recalls(user_id, page_size=1)]

    assert await listed() == []
    await client.feedback(user_id, FeedbackValue.GOOD, recall_id=recalled.recall_id)

    async def is_listed() -> bool:
        return bool(await listed())

    await until(is_listed)
    [found] = await listed()
    assert (found.recall_id, found.query) == (recalled.recall_id, "Which colour has the boat?")
    assert found.memory_ids == tuple(memory.memory_id for memory in recalled.memories)
    assert found.fact_ids == tuple(one.fact.fact_id for one in recalled.facts)
    assert found.note_ids == tuple(one.note.note_id for one in recalled.notes)
    await client.feedback(user_id, FeedbackValue.BAD, memory_ids=[found.memory_ids[0]])
    assert [one.memory_ids for one in await listed() if one.memory_ids] in ([], [found.memory_ids[1:]])
    await client.feedback(user_id, FeedbackValue.NONE, recall_id=recalled.recall_id)
    assert await listed() == []


async def test_spec_7_2_pages_of_judged_recalls_are_those_of_a_user(gateway: Stubs) -> None:
    for request in (
        memory_pb2.ListJudgedRecallsRequest(),
        memory_pb2.ListJudgedRecallsRequest(user_id="u", page_size=-1),
        memory_pb2.ListJudgedRecallsRequest(user_id="u", page_token="another"),
    ):
        assert (await refusal(gateway.memory.ListJudgedRecalls(request))).code is grpc.StatusCode.INVALID_ARGUMENT


async def test_spec_7_1_judged_recalls_of_another_tenant_are_not_listed(secured_stack: RunningStack) -> None:
    async with secured_stack.client("writer") as client:
        written = await client.remember("judging", "c1", ["The boat is blue."], request_id="judging 1")
        recalled = await client.recall("judging", "Which boat?", consistency_token=written.consistency_token)

        async def is_judged() -> bool:
            await client.feedback("judging", FeedbackValue.GOOD, recall_id=recalled.recall_id)
            return bool([one async for one in client.list_judged_recalls("judging")])

        await until(is_judged)
    async with stubs(secured_stack.target) as gateway:
        request = memory_pb2.ListJudgedRecallsRequest(user_id="judging")
        for key, count in (("reader", 1), ("other writer", 0)):
            metadata = secured_stack.with_key(key)
            response = await gateway.memory.ListJudgedRecalls(request, metadata=metadata)
            assert len(response.recalls) == count


async def test_spec_7_2_a_page_of_judged_recalls_ends_before_it_is_too_large_for_an_answer(
    stack: RunningStack, embedder: OnnxEmbedder, postgres_server: EmbeddedPostgres, user_id: str
) -> None:
    limits = RequestLimits(page_bytes_max=100)
    small = GatewaySettings(tells_other_gateways=False, limits=limits)
    async with (
        gated_gateway(stack, embedder, postgres_server, settings=small) as gateway,
        Client(gateway.target) as client,
    ):
        written = await client.remember(user_id, "c1", ["The boat is blue."], request_id=f"{user_id} 1")
        asked = [f"Which colour has the boat, of these {number}?" for number in range(3)]
        for query in asked:
            found = await client.recall(user_id, query, consistency_token=written.consistency_token)
            await client.feedback(user_id, FeedbackValue.GOOD, recall_id=found.recall_id)

        async def are_listed() -> bool:
            return len([one async for one in client.list_judged_recalls(user_id)]) == len(asked)

        await until(are_listed)
        assert [one.query async for one in client.list_judged_recalls(user_id)] == asked[::-1]
        async with stubs(gateway.target) as calls:
            request = memory_pb2.ListJudgedRecallsRequest(user_id=user_id)
            page = await calls.memory.ListJudgedRecalls(request)
        assert [one.query for one in page.recalls] == asked[2:]
        assert page.next_page_token
