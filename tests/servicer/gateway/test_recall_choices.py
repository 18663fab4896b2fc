"""Recalling for a task and with a chosen ranking, through the gateway."""

from __future__ import annotations

import grpc
import pytest

from mneme.gateway.v1 import context_pb2, recall_pb2
from mneme_client import Client, FeedbackValue, Scoring, TaskType, Tier, TierState, Turn
from tests.support.stack import Stubs, refusal, until

pytestmark = pytest.mark.asyncio(loop_scope="session")

TALK = [
    Turn("My cat Momo hates the trams.", speaker="Ada", confidence=0.2),
    Turn("My cat Momo loves the trams.", speaker="Ada", confidence=0.9),
    Turn("I am learning to play the cello.", speaker="Ada"),
]
QUESTION = "What about the trams and the cat?"


async def remembered(client: Client, user_id: str) -> str:
    return (await client.remember(user_id, "c1", TALK)).consistency_token


async def test_spec_5_2_a_given_type_skips_tiers_and_says_why(client: Client, user_id: str) -> None:
    token = await remembered(client, user_id)
    found = await client.recall(user_id, QUESTION, consistency_token=token, task_type=TaskType.FACTUAL)
    skipped = {tier.tier: tier.reason for tier in found.tiers if tier.state is TierState.SKIPPED}
    assert skipped[Tier.EPISODIC] == skipped[Tier.AGENTIC] == "not needed for the task type factual"
    assert found.memories == ()
    assert not found.degraded
    assert (found.reading.task_type, found.reading.task_type_given) == (TaskType.FACTUAL, True)

    named = await client.recall(user_id, QUESTION, task_type=TaskType.FACTUAL, tiers=[Tier.EPISODIC])
    assert named.memories
    context = await client.build_context(user_id, QUESTION, task_type=TaskType.FACTUAL)
    assert {t.tier for t in context.tiers if t.state is TierState.SKIPPED} >= {Tier.EPISODIC, Tier.AGENTIC}


async def test_spec_5_2_a_classified_type_is_told_and_skips_nothing(client: Client, user_id: str) -> None:
    token = await remembered(client, user_id)

    async def classified() -> bool:  # the examples are embedded behind the start
        found = await client.recall(user_id, "Why does the build server crash with a timeout?", consistency_token=token)
        assert all(tier.state is TierState.RESPONDED for tier in found.tiers if tier.tier is not Tier.SESSION)
        assert not found.reading.task_type_given
        return found.reading.task_type is TaskType.DEBUGGING and found.reading.task_type_confidence > 0.7

    await until(classified)


@pytest.mark.parametrize("profile", ["evidence", "light", "balanced", "assistant", "narrative", "interaction"])
async def test_spec_5_6_every_profile_ranks_and_explains(client: Client, user_id: str, profile: str) -> None:
    token = await remembered(client, user_id)
    found = await client.recall(user_id, QUESTION, consistency_token=token, scoring=Scoring(profile))
    assert found.memories
    assert "Momo" in found.memories[0].text
    for memory in found.memories:
        assert memory.score == pytest.approx(sum(part.value for part in memory.explanation.parts), abs=1e-4)
    assert (await client.build_context(user_id, QUESTION, scoring=Scoring(profile))).text


async def test_spec_5_6_balanced_trusts_by_confidence(client: Client, user_id: str) -> None:
    token = await remembered(client, user_id)
    found = await client.recall(user_id, QUESTION, consistency_token=token, scoring=Scoring("balanced"))
    texts = [memory.text for memory in found.memories]
    assert texts.index("My cat Momo loves the trams.") < texts.index("My cat Momo hates the trams.")


async def test_spec_5_6_use_counts_with_the_profiles_that_know_it(client: Client, user_id: str) -> None:
    token = await remembered(client, user_id)
    only_use = Scoring("assistant", {"similarity": 0.0, "recency": 0.0, "importance": 0.0})

    async def counted() -> bool:
        found = await client.recall(user_id, QUESTION, limit=1, consistency_token=token, scoring=only_use)
        return found.memories[0].score == pytest.approx(0.2)

    await until(counted)


async def test_spec_5_6_feedback_counts_in_interaction(client: Client, user_id: str) -> None:
    token = await remembered(client, user_id)
    scoring = Scoring("interaction")
    before = await client.recall(user_id, QUESTION, consistency_token=token, scoring=scoring)
    # One that contradicts nothing: a statement that was taken back stands beside the later one, whatever its own score.
    cello = next(memory for memory in before.memories if "cello" in memory.text)
    judged = await client.feedback(user_id, FeedbackValue.BAD, memory_ids=[cello.memory_id])
    after = await client.recall(user_id, QUESTION, consistency_token=judged.consistency_token, scoring=scoring)
    score = next(memory.score for memory in after.memories if memory.memory_id == cello.memory_id)
    assert score == pytest.approx(0.5 * cello.score, rel=1e-3)


@pytest.mark.parametrize(
    ("scoring", "path"),
    [
        (recall_pb2.Scoring(profile="nonsense"), "scoring.profile"),
        (recall_pb2.Scoring(weights={"nonsense": 1.0}), "scoring.weights"),
        (recall_pb2.Scoring(weights={"dense": -1.0}), "scoring.weights[dense]"),
        (recall_pb2.Scoring(weights={"dense": float("nan")}), "scoring.weights[dense]"),
    ],
    ids=["profile", "name", "negative", "nan"],
)
async def test_spec_5_6_a_faulty_choice_is_refused_by_its_path(
    gateway: Stubs, user_id: str, scoring: recall_pb2.Scoring, path: str
) -> None:
    for call in (
        gateway.memory.Recall(recall_pb2.RecallRequest(user_id=user_id, query="q", scoring=scoring)),
        gateway.memory.BuildContext(context_pb2.BuildContextRequest(user_id=user_id, query="q", scoring=scoring)),
    ):
        refused = await refusal(call)
        assert refused.code is grpc.StatusCode.INVALID_ARGUMENT
        assert refused.paths == (path,)
