"""Remembering through the gateway: one item, a batch, a stream; repeats; the log that it leaves."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import grpc
import pytest

from mneme.common.v1 import common_pb2
from mneme.gateway.v1 import conversations_pb2, memory_pb2
from mneme_client import Client, MnemeClientError, RememberItem, Turn
from mneme_client.results import ItemError, RememberResult
from tests.support.stack import Refusal, Stubs, refusal

pytestmark = pytest.mark.asyncio(loop_scope="session")

INVALID = grpc.StatusCode.INVALID_ARGUMENT


def turn(text: str) -> common_pb2.Turn:
    return common_pb2.Turn(role=common_pb2.MESSAGE_ROLE_USER, content=text)


def item(user_id: str, *texts: str, conversation: str = "c1", request_id: str = "") -> memory_pb2.RememberRequest:
    return memory_pb2.RememberRequest(
        user_id=user_id, conversation_id=conversation, turns=map(turn, texts), request_id=request_id
    )


async def transcript(client: Client, user_id: str, conversation: str = "c1") -> list[str]:
    return [i.turn.content async for i in client.list_interactions(user_id, conversation)]


async def test_spec_6_1_turns_get_ids_and_gapless_positions(client: Client, user_id: str) -> None:
    first = await client.remember(user_id, "c1", ["one", "two"])
    second = await client.remember(user_id, "c1", "three")
    elsewhere = await client.remember(user_id, "c2", "four")
    references = [*first.interactions, *second.interactions]
    assert [reference.position for reference in references] == [0, 1, 2]
    assert [reference.position for reference in elsewhere.interactions] == [0]
    assert len({r.interaction_id for r in [*references, *elsewhere.interactions]}) == 4
    assert not first.replayed


async def test_spec_6_2_the_log_is_there_with_the_acknowledgement(client: Client, user_id: str) -> None:
    said = Turn("Look!", speaker="Ada", confidence=0.5, importance=0.0, sources=("doc",), metadata={"k": "v"})
    written = await client.remember(user_id, "c1", [said, "Nice."])
    (first, second) = [i async for i in client.list_interactions(user_id, "c1")]
    assert first.interaction_id == written.interactions[0].interaction_id
    assert (first.turn.content, first.turn.speaker, first.turn.confidence) == ("Look!", "Ada", 0.5)
    assert (first.turn.importance, second.turn.importance) == (0.0, None)
    assert (first.turn.sources, dict(first.turn.metadata)) == (("doc",), {"k": "v"})
    assert (second.position, second.turn.content) == (1, "Nice.")


async def test_spec_6_1_items_of_a_batch_succeed_or_fail_by_themselves(client: Client, user_id: str) -> None:
    results = await client.remember_batch(
        [
            RememberItem(user_id, "a", ["one", "two"]),
            RememberItem(user_id, "b", Turn("x" * 40_000)),
            RememberItem(user_id, "", "no conversation"),
            RememberItem(user_id, "a", "three"),
        ]
    )
    good, too_long, nowhere, more = results
    assert isinstance(good, RememberResult)
    assert isinstance(more, RememberResult)
    assert [r.position for r in [*good.interactions, *more.interactions]] == [0, 1, 2]
    assert isinstance(too_long, ItemError)
    assert (too_long.reason, too_long.field_path) == ("TEXT_TOO_LONG", "items[1].turns[0].content")
    assert isinstance(nowhere, ItemError)
    assert (nowhere.reason, nowhere.field_path) == ("INVALID_FIELD", "items[2].conversation_id")
    assert await transcript(client, user_id, "a") == ["one", "two", "three"]
    assert await transcript(client, user_id, "b") == []


async def test_spec_7_2_a_batch_beyond_its_limit_is_refused(gateway: Stubs, user_id: str) -> None:
    request = memory_pb2.RememberBatchRequest(items=[item(user_id, "x")] * 101)
    assert await refusal(gateway.memory.RememberBatch(request)) == Refusal(
        INVALID, "TOO_MANY_ITEMS", ("items",), {"limit": "100", "actual": "101"}
    )


async def test_spec_6_1_a_stream_names_what_it_refused_by_index(client: Client, user_id: str) -> None:
    items = [RememberItem(user_id, f"c{index % 3}", f"turn {index}") for index in range(30)]
    items[7] = RememberItem(user_id, "", "no conversation")
    items[19] = RememberItem("", "c1", "no user")

    async def source() -> AsyncIterator[RememberItem]:
        for each in items:
            yield each

    summary = await client.remember_stream(source())
    assert (summary.accepted_count, summary.turn_count, len(summary.refused)) == (28, 28, 2)
    assert [(refused.index, refused.error.field_path) for refused in summary.refused] == [
        (7, "item.conversation_id"),
        (19, "item.user_id"),
    ]
    assert await transcript(client, user_id, "c0") == [f"turn {n}" for n in range(0, 30, 3)]
    found = await client.recall(user_id, "turn 29", consistency_token=summary.consistency_token)
    assert found.consistent


async def test_an_empty_stream_wrote_nothing(gateway: Stubs) -> None:
    async def nothing() -> AsyncIterator[memory_pb2.RememberStreamRequest]:
        for request in list[memory_pb2.RememberStreamRequest]():
            yield request

    assert [response async for response in gateway.memory.RememberStream(nothing())] == []


async def test_spec_6_1_items_of_a_stream_are_acknowledged_as_their_group_commits(gateway: Stubs, user_id: str) -> None:
    turn = common_pb2.Turn(role=common_pb2.MESSAGE_ROLE_USER, content="hello")
    call = gateway.memory.RememberStream()
    for index in range(3):
        item = memory_pb2.RememberRequest(user_id=user_id, conversation_id="c1", turns=[turn])
        await call.write(memory_pb2.RememberStreamRequest(item=item))
        response = await call.read()
        assert isinstance(response, memory_pb2.RememberStreamResponse)
        assert (response.index, response.response.interactions[0].position) == (index, index)
    await call.write(memory_pb2.RememberStreamRequest())
    refused = await call.read()
    assert isinstance(refused, memory_pb2.RememberStreamResponse)
    assert refused.error.code == grpc.StatusCode.INVALID_ARGUMENT.value[0]
    await call.done_writing()
    assert await call.read() is grpc.aio.EOF


async def test_spec_6_3_a_repeat_returns_the_first_answer(client: Client, user_id: str) -> None:
    first = await client.remember(user_id, "c1", ["one", "two"], request_id=f"{user_id}-r1")
    again = await client.remember(user_id, "c1", ["one", "two"], request_id=f"{user_id}-r1")
    assert again.replayed
    assert again.interactions == first.interactions
    assert again.consistency_token == first.consistency_token
    assert await transcript(client, user_id) == ["one", "two"]


async def test_spec_6_3_a_request_id_is_good_for_one_request(client: Client, user_id: str) -> None:
    await client.remember(user_id, "c1", "one", request_id=f"{user_id}-r1")
    with pytest.raises(MnemeClientError) as caught:
        await client.remember(user_id, "c1", "another", request_id=f"{user_id}-r1")
    assert (caught.value.code, caught.value.reason) == (INVALID, "REQUEST_ID_REUSED")
    assert [violation.field_path for violation in caught.value.violations] == ["request_id"]
    assert await transcript(client, user_id) == ["one"]


async def test_spec_6_3_of_repeats_at_the_same_time_one_writes(client: Client, user_id: str) -> None:
    repeats = [client.remember(user_id, "c1", "one", request_id=f"{user_id}-r1") for _ in range(8)]
    results = await asyncio.gather(*repeats)
    assert sorted(result.replayed for result in results) == [False] + [True] * 7
    assert len({result.interactions for result in results}) == 1
    assert await transcript(client, user_id) == ["one"]


async def test_spec_6_3_items_of_a_batch_are_recognised_one_by_one(client: Client, user_id: str) -> None:
    known = RememberItem(user_id, "c1", "one", request_id=f"{user_id}-r1")
    await client.remember_batch([known])
    other = RememberItem(user_id, "c1", "changed", request_id=f"{user_id}-r1")
    new = RememberItem(user_id, "c1", "two", request_id=f"{user_id}-r2")
    repeat, reused, written = await client.remember_batch([known, other, new])
    assert isinstance(repeat, RememberResult)
    assert repeat.replayed
    assert isinstance(reused, ItemError)
    assert reused.reason == "REQUEST_ID_REUSED"
    assert isinstance(written, RememberResult)
    assert not written.replayed
    assert await transcript(client, user_id) == ["one", "two"]


async def test_spec_6_3_a_stream_sent_again_writes_nothing_twice(client: Client, user_id: str) -> None:
    items = [RememberItem(user_id, "c1", f"turn {n}", request_id=f"{user_id}-{n}") for n in range(20)]
    await client.remember_stream(items)
    again = await client.remember_stream(items)
    assert again.accepted_count == 20
    assert len(await transcript(client, user_id)) == 20


async def test_spec_6_2_a_transcript_comes_in_pages(gateway: Stubs, user_id: str) -> None:
    await gateway.memory.Remember(item(user_id, *(f"turn {n}" for n in range(5))))
    request = conversations_pb2.ListInteractionsRequest(user_id=user_id, conversation_id="c1", page_size=2)
    pages: list[list[str]] = []
    while True:
        page = await gateway.conversations.ListInteractions(request)
        pages.append([i.turn.content for i in page.interactions])
        request.page_token = page.next_page_token
        if not page.next_page_token:
            break
    assert pages == [["turn 0", "turn 1"], ["turn 2", "turn 3"], ["turn 4"]]


async def test_spec_6_2_a_page_of_long_turns_ends_before_it_is_too_large_for_an_answer(
    gateway: Stubs, user_id: str
) -> None:
    contents = [f"{n}" + "\u9577" * 32_000 for n in range(40)]  # 96 kB each
    await gateway.memory.Remember(item(user_id, *contents))
    request = conversations_pb2.ListInteractionsRequest(user_id=user_id, conversation_id="c1", page_size=200)
    first = await gateway.conversations.ListInteractions(request)
    request.page_token = first.next_page_token
    second = await gateway.conversations.ListInteractions(request)
    assert first.ByteSize() < 4 * 1024 * 1024
    assert [i.turn.content for page in (first, second) for i in page.interactions] == contents
    assert len(second.interactions) > 0
    assert not second.next_page_token


async def test_spec_6_2_a_page_goes_on_where_the_one_before_ended_whatever_is_written(
    gateway: Stubs, user_id: str
) -> None:
    await gateway.memory.Remember(item(user_id, "a", "b", "c"))
    request = conversations_pb2.ListInteractionsRequest(user_id=user_id, conversation_id="c1", page_size=2)
    page = await gateway.conversations.ListInteractions(request)
    await gateway.memory.Remember(item(user_id, "d"))
    request.page_token = page.next_page_token
    page = await gateway.conversations.ListInteractions(request)
    assert [i.turn.content for i in page.interactions] == ["c", "d"]


async def test_spec_7_1_a_page_token_is_good_for_its_query_alone(gateway: Stubs, user_id: str) -> None:
    for conversation in ("c1", "c2"):
        await gateway.memory.Remember(item(user_id, "a", "b", conversation=conversation))
    first = conversations_pb2.ListInteractionsRequest(user_id=user_id, conversation_id="c1", page_size=1)
    token = (await gateway.conversations.ListInteractions(first)).next_page_token
    list_all = conversations_pb2.ListConversationsRequest(user_id=user_id, page_size=1)
    other_method = (await gateway.conversations.ListConversations(list_all)).next_page_token
    wrong = [
        conversations_pb2.ListInteractionsRequest(user_id=user_id, conversation_id="c2", page_token=token),
        conversations_pb2.ListInteractionsRequest(user_id=f"{user_id}x", conversation_id="c1", page_token=token),
        conversations_pb2.ListInteractionsRequest(user_id=user_id, conversation_id="c1", page_token=other_method),
        conversations_pb2.ListInteractionsRequest(user_id=user_id, conversation_id="c1", page_token="garbage"),
        conversations_pb2.ListInteractionsRequest(user_id=user_id, conversation_id="c1", page_token=token[:-2]),
    ]
    for request in wrong:
        assert await refusal(gateway.conversations.ListInteractions(request)) == Refusal(
            INVALID, "INVALID_PAGE_TOKEN", ("page_token",), {}
        )


async def test_spec_6_2_conversations_are_listed_the_last_written_first(client: Client, user_id: str) -> None:
    for conversation in ("a", "b", "c", "a"):
        await client.remember(user_id, conversation, "hello")
    listed = [c async for c in client.list_conversations(user_id, page_size=2)]
    assert [(c.conversation_id, c.interaction_count) for c in listed] == [("a", 2), ("c", 1), ("b", 1)]
    assert all(c.user_id == user_id and c.create_time and c.update_time for c in listed)


async def test_nothing_is_known_of_a_user_who_said_nothing(client: Client, user_id: str) -> None:
    assert [c async for c in client.list_conversations(user_id)] == []
    assert await transcript(client, user_id) == []


async def test_spec_6_5_everything_is_delivered_behind_the_answer(client: Client, user_id: str) -> None:
    written = await client.remember(user_id, "c1", "I live in Lyon.")
    await client.wait_until_visible(user_id, written.consistency_token)
    found = await client.recall(user_id, "Where do I live?", conversation_id="c1")
    assert found.memories
    assert found.facts
    assert found.notes
    assert found.recent_turns
    dead = [letter async for letter in client.list_dead_letters()]
    assert dead == []
