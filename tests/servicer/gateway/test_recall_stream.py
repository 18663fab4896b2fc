"""Recalls in pieces through the gateway: what comes, in which order, and what happens when somebody goes away."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import grpc
import pytest

from mneme.gateway.v1 import recall_pb2
from mneme.semantic.v1 import profile_pb2
from mneme_client import Client, RecallPart, Scope, ScopeLevel, SourceTrust, Tier, TierState, Turn
from mneme_client.results import RecallResult
from services.common.postgres.server import EmbeddedPostgres
from tests.support.stack import Refusal, RunningStack, Stubs, gated_gateway, refusal, stubs

if TYPE_CHECKING:
    from services.common.embedding.embedder import OnnxEmbedder

pytestmark = pytest.mark.asyncio(loop_scope="session")

TALK = [
    Turn("I moved to Lyon last spring.", speaker="Ada"),
    Turn("Nice! How do you like it there?", speaker="Bob"),
    Turn("My cat Momo hates the trams.", speaker="Ada"),
    Turn("I am learning to play the cello.", speaker="Bob"),
]
QUESTION = "What pet does Ada have?"
TIERS = {Tier.SESSION, Tier.EPISODIC, Tier.SEMANTIC, Tier.AGENTIC}


async def remembered(client: Client, user_id: str) -> str:
    return (await client.remember(user_id, "c1", TALK)).consistency_token


def by_tier(parts: Sequence[RecallPart]) -> dict[Tier, RecallPart]:
    return {part.tier.tier: part for part in parts if part.tier is not None}


def comparable(result: RecallResult | None) -> RecallResult:
    """Without what no two recalls have in common: their own identities and times, and the accesses that they count."""
    assert result is not None
    return replace(
        result,
        recall_id="",
        notes=tuple(
            replace(found, note=replace(found.note, access_count=0, last_access_time=None)) for found in result.notes
        ),
        tiers=tuple(replace(tier, duration=timedelta()) for tier in result.tiers),
        stages=tuple(replace(stage, duration=timedelta()) for stage in result.stages),
    )


@pytest.mark.parametrize("limit", [1, 3, 10])
async def test_spec_5_12_the_last_message_is_what_recall_answers(client: Client, user_id: str, limit: int) -> None:
    await client.wait_until_visible(user_id, await remembered(client, user_id))
    asked: dict[str, Any] = {"conversation_id": "c1", "limit": limit}
    parts = [part async for part in client.recall_stream(user_id, QUESTION, **asked)]
    found = await client.recall(user_id, QUESTION, **asked)
    assert comparable(parts[-1].result) == comparable(found)
    assert [part.result for part in parts[:-1]] == [None] * 4


async def test_spec_5_12_every_tier_has_a_message_with_what_it_gave(client: Client, user_id: str) -> None:
    token = await remembered(client, user_id)
    parts = [
        part async for part in client.recall_stream(user_id, QUESTION, conversation_id="c1", consistency_token=token)
    ]
    told, found = by_tier(parts), parts[-1].result
    assert found is not None
    assert found.consistent
    assert told.keys() == TIERS
    assert told[Tier.SESSION].recent_turns == found.recent_turns
    # Whose words facts and notes rest on is looked up while the turns are read: the whole response says it.
    unknown = SourceTrust.UNSPECIFIED
    assert told[Tier.SEMANTIC].facts == tuple(replace(fact, source_trust=unknown) for fact in found.facts)
    assert told[Tier.AGENTIC].notes == tuple(replace(note, source_trust=unknown) for note in found.notes)
    assert {fact.source_trust for fact in found.facts} == {SourceTrust.NAMED_SPEAKER}
    assert {note.source_trust for note in found.notes} == {SourceTrust.NAMED_SPEAKER}
    assert {memory.memory_id for memory in told[Tier.EPISODIC].memories} == {m.memory_id for m in found.memories}
    assert told[Tier.EPISODIC].memories[0].text == "My cat Momo hates the trams."
    assert [part.tier for part in told.values()] == [
        next(report for report in found.tiers if report.tier is tier) for tier in told
    ]


async def test_spec_5_12_a_tier_that_is_not_asked_has_no_message(client: Client, user_id: str) -> None:
    await client.wait_until_visible(user_id, await remembered(client, user_id))
    parts = [part async for part in client.recall_stream(user_id, QUESTION, tiers=[Tier.AGENTIC])]
    assert by_tier(parts).keys() == {Tier.AGENTIC}
    assert len(parts) == 2


async def test_spec_5_3_no_message_holds_what_the_reader_must_not_see(client: Client, user_id: str) -> None:
    secret = Scope(ScopeLevel.PROJECT, project_id="secret")
    written = [
        await client.remember(user_id, "c1", "My cat is called Momo.", scope=secret),
        await client.remember(user_id, "c1", "My dog is called Rex."),
    ]
    await client.wait_until_visible(user_id, *(answer.consistency_token for answer in written))
    texts = []
    async for part in client.recall_stream(user_id, QUESTION, conversation_id="c1"):
        texts += [memory.text for memory in part.memories]
        texts += [hit.fact.text for hit in part.facts]
        texts += [hit.note.content for hit in part.notes]
        texts += [turn.turn.content for turn in part.recent_turns]
    assert any("Rex" in text for text in texts)
    assert not any("Momo" in text for text in texts)


async def test_a_bad_request_is_refused_by_its_fields(gateway: Stubs) -> None:
    recall = recall_pb2.RecallRequest(query="q", limit=-1, tiers=[9])  # type: ignore[list-item]

    async def stream(request: recall_pb2.RecallStreamRequest) -> Any:
        return [answer async for answer in gateway.memory.RecallStream(request)]

    refused = await refusal(stream(recall_pb2.RecallStreamRequest(recall=recall)))
    assert refused.code is grpc.StatusCode.INVALID_ARGUMENT
    assert refused.paths == ("recall.user_id", "recall.limit", "recall.tiers[0]")
    unknown = recall_pb2.RecallRequest(user_id="u", query="q", tiers=[9])  # type: ignore[list-item]
    assert await refusal(stream(recall_pb2.RecallStreamRequest(recall=unknown))) == Refusal(
        grpc.StatusCode.INVALID_ARGUMENT, "UNKNOWN_ENUM_VALUE", ("recall.tiers[0]",), {}
    )


@pytest.mark.parametrize("preferred", [(), ("https://diary.example",)])
async def test_spec_5_12_a_slow_tier_does_not_hold_up_what_the_others_gave(
    stack: RunningStack,
    embedder: OnnxEmbedder,
    postgres_server: EmbeddedPostgres,
    user_id: str,
    preferred: Sequence[str],
) -> None:
    async with (
        gated_gateway(stack, embedder, postgres_server) as gated,
        Client(gated.target) as client,
        stubs(gated.target) as gateway,
    ):
        preferences = profile_pb2.Preferences(preferred_sources=preferred)
        await gateway.profiles.UpdateProfile(
            profile_pb2.UpdateProfileRequest(request_id=user_id, user_id=user_id, preferences=preferences)
        )
        await client.wait_until_visible(user_id, await remembered(client, user_id))
        gated.gates["semantic"].hold()
        async with aclosing(client.recall_stream(user_id, QUESTION, conversation_id="c1")) as parts:
            early = by_tier([await anext(parts) for _ in range(3)])
            assert early.keys() == TIERS - {Tier.SEMANTIC}
            assert early[Tier.EPISODIC].memories[0].text == "My cat Momo hates the trams."
            gated.gates["semantic"].release()
            late = await anext(parts)
            assert late.tier
            assert late.tier.tier is Tier.SEMANTIC
            assert late.facts
            last = await anext(parts)
        assert last.result
        assert not last.result.degraded


async def test_spec_5_12_a_tier_that_is_away_has_a_message_that_says_so(
    stack: RunningStack, embedder: OnnxEmbedder, postgres_server: EmbeddedPostgres, user_id: str
) -> None:
    async with (
        gated_gateway(stack, embedder, postgres_server, shut=["episodic"]) as gated,
        Client(gated.target) as client,
    ):
        parts = [part async for part in client.recall_stream(user_id, QUESTION, timeout_seconds=1.5)]
        report = by_tier(parts)[Tier.EPISODIC].tier
        assert report
        assert report.state is TierState.FAILED
        assert report.reason
        assert parts[-1].result
        assert parts[-1].result.degraded


async def test_spec_5_12_after_a_reader_that_went_away_the_gateway_goes_on(
    stack: RunningStack, embedder: OnnxEmbedder, postgres_server: EmbeddedPostgres, user_id: str
) -> None:
    async with gated_gateway(stack, embedder, postgres_server) as gated, Client(gated.target) as client:
        await client.wait_until_visible(user_id, await remembered(client, user_id))
        gated.gates["agentic"].hold()
        for _ in range(20):
            async with aclosing(client.recall_stream(user_id, QUESTION)) as parts:
                assert (await anext(parts)).tier
        gated.gates["agentic"].release()
        found = await client.recall(user_id, QUESTION)
        assert found.memories
        assert not found.degraded
