"""Tiers that go away and come back, behind a gateway that goes on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import grpc
import pytest

from mneme.gateway.v1 import context_pb2, recall_pb2
from mneme.semantic.v1 import profile_pb2
from mneme.session.v1 import session_pb2
from mneme_client import Client, MnemeClientError, Tier, TierState
from services.common.postgres.server import EmbeddedPostgres
from tests.support.stack import RunningStack, gated_gateway, refusal, stubs, until

if TYPE_CHECKING:
    from services.common.embedding.embedder import OnnxEmbedder

pytestmark = pytest.mark.asyncio(loop_scope="session")

MEMORY_TIERS = {"episodic": Tier.EPISODIC, "semantic": Tier.SEMANTIC, "agentic": Tier.AGENTIC}


async def is_settled(client: Client) -> bool:
    """Whether every tier has taken every delivery."""
    return all(not tier.pending_count for tier in await client.get_backlog())


@pytest.mark.parametrize("name", MEMORY_TIERS)
async def test_spec_5_10_and_6_1_a_tier_that_is_down_is_named_and_gets_everything_when_it_is_back(
    stack: RunningStack, embedder: OnnxEmbedder, postgres_server: EmbeddedPostgres, user_id: str, name: str
) -> None:
    tier = MEMORY_TIERS[name]
    async with gated_gateway(stack, embedder, postgres_server) as gated, Client(gated.target) as client:
        before = await client.remember(user_id, "c1", "I live in Lyon.")
        await client.wait_until_visible(user_id, before.consistency_token)
        await gated.gates[name].shut()

        written = await client.remember(user_id, "c1", "My cat is called Momo.")
        found = await client.recall(
            user_id, "What pet do I have?", consistency_token=written.consistency_token, timeout_seconds=1.5
        )
        assert found.degraded
        assert found.consistent is False
        reports = {report.tier: report for report in found.tiers}
        assert (reports[tier].state, reports[tier].reason) == (TierState.FAILED, "STORE_UNAVAILABLE")
        others = [other for other in MEMORY_TIERS.values() if other is not tier]
        assert [reports[other].state for other in others] == [TierState.RESPONDED] * 2
        assert bool(found.memories) is (tier is not Tier.EPISODIC)
        assert bool(found.facts) is (tier is not Tier.SEMANTIC)
        assert bool(found.notes) is (tier is not Tier.AGENTIC)
        context = await client.build_context(user_id, "What pet do I have?")
        assert context.degraded
        if tier is Tier.EPISODIC:
            planned = await client.forget(user_id, "my cat Momo", dry_run=True)
            assert planned.plan is not None
            assert planned.plan.degraded
            assert "My cat is called Momo." in {memory.preview for memory in planned.plan.memories}  # the log has it
        else:
            with pytest.raises(MnemeClientError, match="UNAVAILABLE"):  # what was derived cannot be counted
                await client.forget(user_id, "my cat Momo", dry_run=True)
        backlog = {entry.tier: entry for entry in await client.get_backlog()}
        assert backlog[tier].pending_count == 1
        assert backlog[tier].oldest_age is not None
        assert {backlog[other].pending_count for other in others} == {0}

        await gated.gates[name].open()
        await client.wait_until_visible(user_id, written.consistency_token)
        found = await client.recall(user_id, "What pet do I have?", consistency_token=written.consistency_token)
        assert not found.degraded
        assert found.memories[0].turn.content == "My cat is called Momo."
        assert len(found.memories) == len(found.notes) == 2
        assert found.facts
        planned = await client.forget(user_id, "my cat Momo", dry_run=True)
        assert planned.plan is not None
        assert not planned.plan.degraded
        assert [letter async for letter in client.list_dead_letters()] == []


async def test_spec_6_1_without_its_session_tier_a_gateway_still_remembers_and_recalls(
    stack: RunningStack, embedder: OnnxEmbedder, postgres_server: EmbeddedPostgres, user_id: str
) -> None:
    async with (
        gated_gateway(stack, embedder, postgres_server, shut=["session"]) as gated,
        Client(gated.target) as client,
    ):
        written = await client.remember(user_id, "c1", ["I live in Lyon.", "I like trams."])
        found = await client.recall(
            user_id, "Where do I live?", conversation_id="c1", consistency_token=written.consistency_token
        )
        assert found.degraded
        assert found.consistent is True
        assert found.memories[0].turn.content == "I live in Lyon."
        (session,) = [report for report in found.tiers if report.tier is Tier.SESSION]
        assert (session.state, session.reason) == (TierState.FAILED, "STORE_UNAVAILABLE")

        await gated.gates["session"].open()
        await until(lambda: is_settled(client))
        window = await client.get_session(user_id, "c1")
        assert [turn.turn.content for turn in window.turns] == ["I live in Lyon.", "I like trams."]
        assert not window.rebuilt  # the delivery has done it


async def test_spec_6_1_without_any_tier_a_gateway_remembers_and_says_that_it_cannot_recall(
    stack: RunningStack, embedder: OnnxEmbedder, postgres_server: EmbeddedPostgres, user_id: str
) -> None:
    everything = ["session", "episodic", "semantic", "agentic"]
    async with (
        gated_gateway(stack, embedder, postgres_server, shut=everything) as gated,
        Client(gated.target) as client,
        stubs(gated.target) as raw,
    ):
        written = [await client.remember(user_id, "c1", f"My code word number {n} is xyzzy.") for n in range(5)]
        for call in (
            raw.memory.Recall(recall_pb2.RecallRequest(user_id=user_id, query="code word")),
            raw.memory.BuildContext(context_pb2.BuildContextRequest(user_id=user_id, query="code word")),
            raw.profiles.GetProfile(profile_pb2.GetProfileRequest(user_id=user_id)),
            raw.sessions.GetSession(session_pb2.GetSessionRequest(user_id=user_id, conversation_id="c1")),
        ):
            refused = await refusal(call)
            assert (refused.code, refused.reason) == (grpc.StatusCode.UNAVAILABLE, "STORE_UNAVAILABLE")
        assert len([i async for i in client.list_interactions(user_id, "c1")]) == 5

        for gate in gated.gates.values():
            await gate.open()
        await until(lambda: is_settled(client))
        for each in written:
            await client.wait_until_visible(user_id, each.consistency_token)
        found = await client.recall(user_id, "code word")
        assert not found.degraded
        assert len(found.memories) == 5
        assert [letter async for letter in client.list_dead_letters()] == []
