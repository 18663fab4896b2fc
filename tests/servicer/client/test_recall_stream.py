"""Recalls in pieces, through both clients."""

from __future__ import annotations

import asyncio
import contextlib

import grpc
import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from mneme.gateway.v1 import recall_pb2, tiers_pb2
from mneme_client import Client, MnemeClientError, RecallPart, SyncClient, Tier, TierState
from tests.servicer.client.conftest import QUICK, Running
from tests.servicer.client.fake_gateway import FakeGateway, invalid, unavailable


@pytest.fixture(autouse=True)
def answers(gateway: FakeGateway) -> None:
    """The session and the episodic tier answer, the semantic one fails; then the whole answer comes."""
    session = recall_pb2.TierResult(
        tier=tiers_pb2.TierReport(tier=tiers_pb2.TIER_SESSION, state=tiers_pb2.TIER_STATE_RESPONDED)
    )
    session.recent_turns.add(interaction_id="t1").turn.content = "hello"
    episodic = recall_pb2.TierResult(
        tier=tiers_pb2.TierReport(tier=tiers_pb2.TIER_EPISODIC, state=tiers_pb2.TIER_STATE_RESPONDED)
    )
    episodic.memories.add(memory_id="m1", score=0.5).turn.content = "the sea"
    failed = tiers_pb2.TierReport(
        tier=tiers_pb2.TIER_SEMANTIC, state=tiers_pb2.TIER_STATE_FAILED, reason="STORE_UNAVAILABLE"
    )
    agentic = recall_pb2.TierResult(
        tier=tiers_pb2.TierReport(tier=tiers_pb2.TIER_AGENTIC, state=tiers_pb2.TIER_STATE_RESPONDED)
    )
    agentic.notes.add(score=0.4).note.content = "sea"
    gateway.tier_answers = [session, episodic, recall_pb2.TierResult(tier=failed), agentic]
    gateway.recall_response.memories.add(memory_id="m1", score=0.7)
    gateway.recall_response.stages.add(stage="fetch", reason="too slow")


def check(parts: list[RecallPart]) -> None:
    tiers = [part.tier.tier if part.tier else None for part in parts]
    assert tiers == [Tier.SESSION, Tier.EPISODIC, Tier.SEMANTIC, Tier.AGENTIC, None]
    assert parts[0].recent_turns[0].turn.content == "hello"
    assert parts[1].memories[0].text == "the sea"
    assert parts[2].tier
    assert (parts[2].tier.state, parts[2].tier.reason) == (TierState.FAILED, "STORE_UNAVAILABLE")
    assert parts[3].notes[0].note.content == "sea"
    assert [part.result for part in parts[:-1]] == [None] * 4
    last = parts[-1]
    assert last.result
    assert last.memories == last.result.memories
    assert (last.result.recall_id, last.result.memories[0].score) == ("recall-1", 0.7)
    assert last.result.stages[0].reason == "too slow"


async def test_spec_5_12_parts_come_as_tiers_answer_and_the_whole_answer_last(
    client: Client, gateway: FakeGateway
) -> None:
    check([part async for part in client.recall_stream("u", "what?", limit=3, tiers=[Tier.EPISODIC])])
    request = gateway.requests[0].recall
    assert (request.user_id, request.query, request.limit, list(request.tiers)) == ("u", "what?", 3, [2])


async def test_spec_5_12_parts_come_without_an_event_loop(running: Running) -> None:
    def use() -> list[RecallPart]:
        with SyncClient(running.target, retry=QUICK) as client:
            return list(client.recall_stream("u", "what?"))

    check(await asyncio.to_thread(use))


async def test_spec_5_12_a_part_is_there_before_the_whole_answer_is(client: Client, gateway: FakeGateway) -> None:
    gateway.stream_gate = asyncio.Event()
    parts = client.recall_stream("u", "what?")
    first = await anext(parts)
    assert first.tier
    gateway.stream_gate.set()
    assert [part async for part in parts][-1].result


async def test_a_stream_is_begun_again_when_it_fails_at_once(client: Client, gateway: FakeGateway) -> None:
    gateway.failures = [unavailable(), unavailable()]
    check([part async for part in client.recall_stream("u", "what?")])
    assert len([r for r in gateway.requests if isinstance(r, recall_pb2.RecallStreamRequest)]) == 3


@pytest.mark.parametrize("sync", [False, True])
async def test_a_stream_that_is_lost_on_the_way_is_not_begun_again(
    client: Client, running: Running, gateway: FakeGateway, *, sync: bool
) -> None:
    gateway.breaks_streams = True
    seen: list[RecallPart] = []

    def use() -> None:
        with SyncClient(running.target, retry=QUICK) as blocking:
            seen.extend(blocking.recall_stream("u", "what?"))

    with pytest.raises(MnemeClientError) as caught:
        if sync:
            await asyncio.to_thread(use)
        else:
            async for part in client.recall_stream("u", "what?"):
                seen.append(part)  # noqa: PERF401 - a comprehension would lose them when it fails
    assert caught.value.code is grpc.StatusCode.UNAVAILABLE
    assert caught.value.method == "mneme.gateway.v1.MemoryService/RecallStream"
    assert (len(seen), len(gateway.requests)) == (4, 1)


@pytest.mark.parametrize("sync", [False, True])
async def test_errors_of_a_stream_keep_their_facts(running: Running, gateway: FakeGateway, *, sync: bool) -> None:
    gateway.failures = [invalid()]

    def use() -> None:
        with SyncClient(running.target, retry=QUICK) as blocking:
            next(blocking.recall_stream("u", ""))

    with pytest.raises(MnemeClientError) as caught:
        if sync:
            await asyncio.to_thread(use)
        else:
            async with Client(running.target, retry=QUICK) as client:
                await anext(client.recall_stream("u", ""))
    assert caught.value.code is grpc.StatusCode.INVALID_ARGUMENT
    assert caught.value.violations


async def test_spec_5_12_a_reader_that_goes_away_ends_the_call(client: Client, gateway: FakeGateway) -> None:
    gateway.stream_gate = asyncio.Event()  # nobody opens it
    async with contextlib.aclosing(client.recall_stream("u", "what?")) as parts:
        assert (await anext(parts)).tier
    await asyncio.wait_for(gateway.ended_streams.wait(), timeout=60.0)


async def test_a_stream_ends_at_its_deadline(client: Client, gateway: FakeGateway) -> None:
    gateway.stream_gate = asyncio.Event()
    with pytest.raises(MnemeClientError) as caught:
        async for part in client.recall_stream("u", "what?", timeout_seconds=0.2):
            assert part.tier
    assert caught.value.code is grpc.StatusCode.DEADLINE_EXCEEDED


@pytest.mark.parametrize("fails", [False, True])
async def test_a_stream_is_one_span_and_not_that_of_its_reader(running: Running, *, fails: bool) -> None:
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    running.gateway.breaks_streams = fails
    async with Client(running.target, retry=QUICK, tracer=provider.get_tracer("test")) as client:
        with contextlib.suppress(MnemeClientError):
            async for _ in client.recall_stream("u", "what?"):
                assert not trace.get_current_span().get_span_context().is_valid
    (span,) = exporter.get_finished_spans()
    assert span.name == "search_memory"
    assert span.attributes is not None
    assert span.attributes["rpc.grpc.status_code"] == (grpc.StatusCode.UNAVAILABLE.value[0] if fails else 0)
    assert span.status.is_ok is not fails
    assert span.context is not None
    assert running.gateway.metadata[0]["traceparent"].split("-")[1] == f"{span.context.trace_id:032x}"
