from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterator, Iterator
from datetime import UTC, datetime, timedelta

import grpc
import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import NonRecordingSpan, SpanContext, TraceFlags

from mneme.gateway.v1 import deliveries_pb2, memory_pb2, tiers_pb2
from mneme_client import (
    Attachment,
    Client,
    ContextSectionKind,
    ContextSectionState,
    FeedbackValue,
    ItemError,
    MemoryKind,
    MnemeClientError,
    RememberItem,
    RememberResult,
    RetryPolicy,
    Role,
    Scope,
    ScopeLevel,
    Tier,
    Turn,
)
from tests.servicer.client.conftest import QUICK, Running
from tests.servicer.client.fake_gateway import FakeGateway, invalid, status, unavailable

NOON = datetime(2026, 5, 1, 12, 0, tzinfo=UTC)


async def test_remember_sends_everything_that_a_turn_holds(client: Client, gateway: FakeGateway) -> None:
    turn = Turn(
        "Look at this",
        role=Role.ASSISTANT,
        speaker="Ana",
        time=NOON,
        attachments=(Attachment(uri="file:a.jpg", mime_type="image/jpeg", caption="a cat"),),
        confidence=0.5,
        sources=("diary",),
        metadata={"source_id": "D1:1"},
    )
    scope = Scope(ScopeLevel.PROJECT, project_id="p")
    result = await client.remember("u", "c", [turn, "plain"], scope=scope)

    assert [i.position for i in result.interactions] == [0, 1]
    assert not result.replayed
    request = gateway.requests[0]
    assert uuid.UUID(request.request_id).version == 4
    assert request.scope.level == 2
    assert request.scope.project_id == "p"
    stored = [i.turn async for i in client.list_interactions("u", "c")]
    assert stored == [turn, Turn("plain", role=Role.USER)]


async def test_the_credential_travels_with_every_call(client: Client, gateway: FakeGateway) -> None:
    await client.get_backlog()
    assert gateway.metadata[0]["authorization"] == "Bearer secret"


async def test_a_lost_answer_is_repeated_with_the_same_request_id(client: Client, gateway: FakeGateway) -> None:
    gateway.lose_answers = 2
    result = await client.remember("u", "c", "once")

    assert len({r.request_id for r in gateway.requests}) == 1
    assert len(gateway.requests) == 3
    assert result.replayed
    assert len(gateway.log[("u", "c")]) == 1


async def test_attempts_are_bounded(client: Client, gateway: FakeGateway) -> None:
    gateway.failures = [unavailable() for _ in range(20)]
    with pytest.raises(MnemeClientError) as caught:
        await client.remember("u", "c", "never")
    assert caught.value.code is grpc.StatusCode.UNAVAILABLE
    assert caught.value.retryable
    assert len(gateway.requests) == QUICK.attempts_max


async def test_no_wait_beyond_the_deadline_is_begun(client: Client, gateway: FakeGateway) -> None:
    gateway.failures = [unavailable(retry_seconds=60)]
    with pytest.raises(MnemeClientError) as caught:
        await client.recall("u", "q", timeout_seconds=5)
    assert caught.value.retry_after_seconds == 60
    assert len(gateway.requests) == 1


async def test_other_errors_are_not_repeated_and_keep_their_facts(client: Client, gateway: FakeGateway) -> None:
    gateway.failures = [invalid()]
    with pytest.raises(MnemeClientError) as caught:
        await client.remember("u", "c", "x")
    error = caught.value
    assert (error.code, error.reason) == (grpc.StatusCode.INVALID_ARGUMENT, "INVALID_FIELD")
    assert error.metadata == {"limit": "5"}
    assert error.violations[0].field_path == "turns[3].content"
    assert error.method == "mneme.gateway.v1.MemoryService/Remember"
    assert not error.retryable
    assert str(error) == ("INVALID_ARGUMENT/INVALID_FIELD: the turn is not valid (turns[3].content: is required)")
    assert len(gateway.requests) == 1


async def test_an_address_where_nothing_listens_is_unavailable(unused_tcp_port: int) -> None:
    async with Client(f"127.0.0.1:{unused_tcp_port}", retry=RetryPolicy(attempts_max=2)) as client:
        with pytest.raises(MnemeClientError) as caught:
            await client.recall("u", "q", timeout_seconds=2)
    assert caught.value.retryable


async def test_a_call_ends_at_its_deadline(running: Running) -> None:
    running.gateway.gate = asyncio.Event()
    async with Client(running.target, default_timeout_seconds=0.05, retry=QUICK) as client:
        with pytest.raises(MnemeClientError) as caught:
            await client.recall("u", "q")
    running.gateway.gate.set()
    assert caught.value.code is grpc.StatusCode.DEADLINE_EXCEEDED


async def test_a_batch_has_an_outcome_for_each_item(client: Client) -> None:
    good, bad = await client.remember_batch([RememberItem("u", "a", "hi"), RememberItem("u", "b", "")])
    assert isinstance(good, RememberResult)
    assert bad == ItemError(grpc.StatusCode.INVALID_ARGUMENT, "INVALID_FIELD", "is required", "turns[0].content")


async def test_a_stream_counts_and_names_the_refused(client: Client, gateway: FakeGateway) -> None:
    async def items() -> AsyncIterator[RememberItem]:
        for text in ("one", "", "three"):
            yield RememberItem("u", "c", text)

    result = await client.remember_stream(items())
    assert (result.accepted_count, result.turn_count, len(result.refused)) == (2, 2, 1)
    assert result.refused[0].index == 1
    assert result.refused[0].error.field_path == "turns[0].content"
    assert [t.content for t in gateway.log[("u", "c")]] == ["one", "three"]


async def test_a_stream_from_a_list_is_sent_again_with_the_same_request_ids(
    client: Client, gateway: FakeGateway
) -> None:
    gateway.lose_answers = 1
    result = await client.remember_stream([RememberItem("u", "c", "one"), RememberItem("u", "c", "two")])
    assert result.accepted_count == 2
    assert len(gateway.requests) == 2
    assert len(gateway.log[("u", "c")]) == 2


async def test_a_stream_from_a_list_resumes_after_the_last_acknowledged_item(
    client: Client, gateway: FakeGateway
) -> None:
    gateway.lose_answers, gateway.answers_before_loss = 1, 2
    seen: list[int] = []
    items = [RememberItem("u", "c", text) for text in ("one", "two", "three", "four")]
    result = await client.remember_stream(items, on_outcome=lambda index, _: seen.append(index))
    assert seen == [0, 1, 2, 3]
    assert result.accepted_count == 4
    assert [len(sent) for sent in gateway.requests] == [3, 2]  # what was acknowledged is not sent again
    assert [t.content for t in gateway.log[("u", "c")]] == ["one", "two", "three", "four"]


async def test_spec_6_1_items_of_a_stream_are_acknowledged_while_it_is_open(client: Client) -> None:
    acknowledged = asyncio.Event()

    async def items() -> AsyncIterator[RememberItem]:
        yield RememberItem("u", "c", "one")
        await acknowledged.wait()
        yield RememberItem("u", "c", "two")

    async with asyncio.timeout(60):
        result = await client.remember_stream(items(), on_outcome=lambda *_: acknowledged.set())
    assert result.accepted_count == 2


async def test_a_stream_from_an_iterator_is_not_sent_again(client: Client, gateway: FakeGateway) -> None:
    gateway.lose_answers = 1
    with pytest.raises(MnemeClientError):
        await client.remember_stream(iter([RememberItem("u", "c", "one")]))
    assert len(gateway.requests) == 1


async def test_spec_9_2_what_a_source_raises_reaches_the_caller(client: Client, gateway: FakeGateway) -> None:
    def items() -> Iterator[RememberItem]:
        yield RememberItem("u", "c", "one")
        raise OSError("the file is gone")

    def parts() -> Iterator[bytes]:
        yield from (item.conversation_id.encode() for item in [*items()])

    async def items_to_await() -> AsyncIterator[RememberItem]:
        for item in items():
            yield item

    for source in (items(), items_to_await()):
        with pytest.raises(OSError, match="the file is gone"):
            await client.remember_stream(source)
    naive = RememberItem("u", "c", Turn("x", time=datetime(2026, 1, 1)))  # noqa: DTZ001 - the point of it
    with pytest.raises(ValueError, match="no time zone"):
        await client.remember_stream(iter([naive]))
    with pytest.raises(OSError, match="the file is gone"):
        await client.import_user(parts())
    assert len(gateway.requests) <= 3  # no stream was sent again


async def test_spec_9_2_a_cancelled_stream_is_cancelled_whatever_its_source_does(client: Client) -> None:
    reading = asyncio.Event()

    async def items() -> AsyncIterator[RememberItem]:
        reading.set()
        try:
            await asyncio.Event().wait()
        finally:
            raise OSError("the file is gone")
        yield RememberItem("u", "c", "one")  # type: ignore[unreachable]

    call = asyncio.create_task(client.remember_stream(items()))
    await reading.wait()
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call


async def test_spec_9_2_a_credential_may_be_a_function_that_renews_it(running: Running) -> None:
    tokens = iter(["first", "second"])
    async with Client(running.target, api_key=lambda: next(tokens), retry=QUICK) as client:
        await client.get_backlog()
        await client.get_backlog()
    assert [metadata["authorization"] for metadata in running.gateway.metadata] == ["Bearer first", "Bearer second"]


async def test_spec_5_3_grants_are_created_listed_and_revoked(client: Client, gateway: FakeGateway) -> None:
    agent = Scope(ScopeLevel.SESSION, "p", "s", context_id="agent")
    ends = datetime(2027, 1, 1, tzinfo=UTC)
    made = [
        await client.create_grant("u", from_scope=agent, to_scope=Scope(), kinds=[MemoryKind.FACT], expire_time=ends),
        await client.create_grant("u", from_scope=Scope(), to_scope=agent),
        await client.create_grant("u", from_scope=agent, to_scope=Scope(ScopeLevel.PROJECT, "q")),
    ]
    assert (made[0].from_scope, made[0].kinds, made[0].expire_time) == (agent, (MemoryKind.FACT,), ends)
    assert (made[1].from_scope, made[1].expire_time) == (Scope(), None)
    assert len({request.request_id for request in gateway.requests} - {""}) == 3
    assert [grant async for grant in client.list_grants("u", page_size=2)] == made
    await client.revoke_grant("u", made[1].grant_id)
    assert [grant async for grant in client.list_grants("u")] == [made[0], made[2]]


async def test_waiting_repeats_until_the_write_is_visible(client: Client, gateway: FakeGateway) -> None:
    gateway.visible_after_recalls = 2
    await client.wait_until_visible("u", "token", timeout_seconds=30)
    assert len(gateway.requests) == 3
    assert {r.consistency_token for r in gateway.requests} == {"token"}


async def test_waiting_ends(client: Client, gateway: FakeGateway) -> None:
    gateway.visible_after_recalls = 1_000_000
    with pytest.raises(TimeoutError):
        await client.wait_until_visible("u", "token", timeout_seconds=0.05)


async def test_spec_9_2_a_wait_that_ends_says_what_failed(client: Client, gateway: FakeGateway) -> None:
    gateway.failures = [unavailable() for _ in range(10_000)]  # the end may come within a call
    with pytest.raises(TimeoutError, match=r"UNAVAILABLE|DEADLINE_EXCEEDED") as caught:
        await client.wait_until_visible("u", "token", timeout_seconds=0.05)
    assert isinstance(caught.value.__cause__, MnemeClientError)


async def test_waiting_does_not_hide_a_refusal(client: Client, gateway: FakeGateway) -> None:
    gateway.failures = [status(grpc.StatusCode.INVALID_ARGUMENT, "no", "INVALID_CONSISTENCY_TOKEN")]
    with pytest.raises(MnemeClientError):
        await client.wait_until_visible("u", "token")


async def test_lists_fetch_all_pages(client: Client, gateway: FakeGateway) -> None:
    for number in range(5):
        await client.remember("u", f"c{number}", ["x"] * 5)
    gateway.requests.clear()
    conversations = [c.conversation_id async for c in client.list_conversations("u", page_size=2)]
    assert conversations == ["c0", "c1", "c2", "c3", "c4"]
    assert [r.page_token for r in gateway.requests] == ["", "2", "4"]
    assert len([i async for i in client.list_interactions("u", "c0", page_size=2)]) == 5
    assert [c async for c in client.list_conversations("nobody")] == []


async def test_dead_letters_are_listed_and_put_back(client: Client, gateway: FakeGateway) -> None:
    gateway.dead_letters = [
        deliveries_pb2.DeadLetter(delivery_id=str(n), tier=tiers_pb2.TIER_SEMANTIC) for n in range(3)
    ]
    found = [d async for d in client.list_dead_letters(tier=Tier.SEMANTIC, page_size=2)]
    assert [d.delivery_id for d in found] == ["0", "1", "2"]
    assert gateway.requests[0].tier == tiers_pb2.TIER_SEMANTIC
    assert await client.retry_dead_letters([d.delivery_id for d in found]) == 3


async def test_the_other_calls(client: Client, gateway: FakeGateway) -> None:
    await client.remember("u", "c", "hi")
    judged = await client.feedback("u", FeedbackValue.BAD, memory_ids=["m1"])
    assert (judged.consistency_token, judged.memory_count) == ("token-f", 1)
    request = gateway.requests[-1]
    assert request.value == memory_pb2.FEEDBACK_VALUE_BAD
    assert [(m.kind, m.memory_id) for m in request.memories] == [(tiers_pb2.MEMORY_KIND_EPISODE, "m1")]
    await client.feedback("u", FeedbackValue.NONE, recall_id="r1")
    assert (gateway.requests[-1].recall_id, list(gateway.requests[-1].memories)) == ("r1", [])
    await client.feedback("u", FeedbackValue.GOOD, memory_ids=["m1"], fact_ids=["f1"], note_ids=["n1"])
    named = gateway.requests[-1].memories
    assert [(MemoryKind(memory.kind), memory.memory_id) for memory in named] == [
        (MemoryKind.EPISODE, "m1"),
        (MemoryKind.FACT, "f1"),
        (MemoryKind.NOTE, "n1"),
    ]
    assert (await client.get_profile("u")).preferences.language == "en"
    window = await client.get_session("u", "c")
    assert (window.ttl, window.turns[0].turn.content) == (timedelta(hours=1), "hi")
    await client.delete_session("u", "c", discard=True)
    context = await client.build_context("u", "q", token_budget=500)
    assert context.sections[0].items[0].interaction_ids == ("i1",)
    assert context.sections[0].items[0].duplicate_memory_ids == ("m2",)
    (passage,) = context.sections[0].passages
    assert (passage.speakers, passage.rank, passage.start_time) == (("Ada",), 1, None)
    assert passage.end_time == datetime(1970, 1, 1, 0, 1, tzinfo=UTC)
    assert [(turn.role, turn.text, turn.pruned, turn.time) for turn in passage.turns] == [(Role.USER, "…", True, None)]
    assert [(report.kind, report.state) for report in context.section_reports] == [
        (ContextSectionKind.PROCEDURES, ContextSectionState.EMPTY)
    ]
    backlog = await client.get_backlog()
    assert [b.oldest_age for b in backlog] == [timedelta(seconds=2.5), None]
    with pytest.raises(MnemeClientError) as caught:
        await client.get_session("u", "unknown")
    assert caught.value.reason == "NOT_FOUND"


async def test_the_trace_goes_on_in_the_service(client: Client, gateway: FakeGateway) -> None:
    parent = SpanContext(trace_id=0xABC, span_id=0x1, is_remote=False, trace_flags=TraceFlags(1))
    with trace.use_span(NonRecordingSpan(parent)):
        await client.get_backlog()
    assert gateway.metadata[0]["traceparent"].split("-")[1] == f"{0xABC:032x}"


async def test_a_naive_time_is_refused_before_it_is_sent(client: Client, gateway: FakeGateway) -> None:
    with pytest.raises(ValueError, match="no time zone"):
        await client.recall("u", "q", as_of_time=datetime(2026, 1, 1))  # noqa: DTZ001 - the point of it
    assert gateway.requests == []


async def test_a_call_is_one_span_with_its_status(running: Running) -> None:
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    running.gateway.failures = [unavailable(), invalid()]
    async with Client(running.target, retry=QUICK, tracer=provider.get_tracer("test")) as client:
        with pytest.raises(MnemeClientError):
            await client.get_backlog()
    (span,) = exporter.get_finished_spans()
    assert span.name == "mneme.gateway.v1.DeliveryService/GetBacklog"
    assert span.attributes is not None
    assert span.attributes["rpc.grpc.status_code"] == grpc.StatusCode.INVALID_ARGUMENT.value[0]
    assert not span.status.is_ok
    assert span.context is not None
    assert running.gateway.metadata[0]["traceparent"].split("-")[1] == f"{span.context.trace_id:032x}"
