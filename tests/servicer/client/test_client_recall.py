"""What the Python client sends and reads of recalls and contexts."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from mneme.gateway.v1 import context_pb2, recall_pb2, tiers_pb2
from mneme_client import (
    Client,
    Conflict,
    ConflictChoice,
    ConflictKind,
    ConflictPolicy,
    ConflictReason,
    ContextOrder,
    ContextSectionKind,
    MemoryKind,
    Scope,
    Scoring,
    TaskType,
    Tier,
    TierState,
)
from tests.servicer.client.fake_gateway import FakeGateway

NOON = datetime(2026, 5, 1, 12, 0, tzinfo=UTC)


async def test_recall_is_read_completely(client: Client, gateway: FakeGateway) -> None:
    answer = gateway.recall_response
    memory = answer.memories.add(memory_id="m1", kind=tiers_pb2.MEMORY_KIND_EPISODE, conversation_id="c", score=0.7)
    memory.turn.content = "the sea"
    memory.turn.time.FromDatetime(NOON)
    memory.explanation.retrievers.add(retriever="dense", rank=2, score=0.5)
    memory.explanation.parts.add(name="dense", value=0.7)
    memory.fact_ids.append("f1")
    fact = answer.facts.add(similarity=0.6)
    fact.fact.fact_id = "f1"
    fact.fact.text = "likes the sea"
    note = answer.notes.add(score=0.4, hops=1)
    note.note.content = "sea"
    answer.recent_turns.add(interaction_id="t", token_count=3)
    answer.tiers.add(tier=tiers_pb2.TIER_AGENTIC, state=tiers_pb2.TIER_STATE_FAILED, reason="DEADLINE_EXCEEDED")
    answer.reading.speakers.append("Ana")
    answer.reading.MergeFrom(
        recall_pb2.QueryReading(
            task_type=recall_pb2.TASK_TYPE_FACTUAL,
            task_type_confidence=0.9,
            task_type_given=True,
            rewritten_query="who?",
        )
    )
    answer.reading.time_ranges.add().start_time.FromDatetime(NOON)
    answer.stages.add(stage="embed").duration.FromMilliseconds(2)
    answer.degraded = True

    found = await client.recall("u", "what?", limit=3, conversation_id="c", as_of_time=NOON, tiers=[Tier.EPISODIC])
    request = gateway.requests[0]
    assert (request.limit, request.conversation_id, list(request.tiers)) == (3, "c", [2])
    assert request.as_of_time.ToDatetime(tzinfo=UTC) == NOON
    first = found.memories[0]
    assert (first.text, first.turn.time, first.kind) == ("the sea", NOON, MemoryKind.EPISODE)
    assert (first.explanation.retrievers[0].rank, first.explanation.parts[0].value) == (2, 0.7)
    assert first.scope == Scope()
    assert found.facts[0].fact.valid_to_time is None
    assert found.notes[0].hops == 1
    assert found.recent_turns[0].position is None
    assert (found.tiers[0].tier, found.tiers[0].state) == (Tier.AGENTIC, TierState.FAILED)
    assert found.reading.time_ranges[0].end_time is None
    assert (found.reading.task_type, found.reading.task_type_confidence) == (TaskType.FACTUAL, 0.9)
    assert (found.reading.task_type_given, found.reading.rewritten_query) == (True, "who?")
    assert found.stages[0].duration == timedelta(milliseconds=2)
    assert found.degraded
    assert found.consistent is None


async def test_spec_5_6_task_type_and_scoring_are_sent_with_both_ways_of_reading(
    client: Client, gateway: FakeGateway
) -> None:
    scoring = Scoring("assistant", {"recency": 0.5})
    await client.recall("u", "what?", task_type=TaskType.DEBUGGING, scoring=scoring)
    await client.build_context("u", "what?", task_type=TaskType.DEBUGGING, scoring=scoring)
    await client.recall("u", "what?")
    for request in gateway.requests[:2]:
        assert request.task_type == recall_pb2.TASK_TYPE_DEBUGGING
        assert (request.scoring.profile, dict(request.scoring.weights)) == ("assistant", {"recency": 0.5})
    assert not gateway.requests[2].HasField("scoring")
    assert gateway.requests[2].task_type == recall_pb2.TASK_TYPE_UNSPECIFIED


async def test_spec_5_7_what_becomes_of_conflicts_is_sent_and_read(client: Client, gateway: FakeGateway) -> None:
    conflict = recall_pb2.Conflict(
        kind=recall_pb2.CONFLICT_KIND_VALUE,
        subject="Ada lives in",
        winner_id="m2",
        loser_ids=["m1"],
        winner_kind=tiers_pb2.MEMORY_KIND_FACT,
        loser_kind=tiers_pb2.MEMORY_KIND_EPISODE,
        policy=recall_pb2.CONFLICT_POLICY_USER_OVERRIDE,
        reason=recall_pb2.CONFLICT_REASON_USER_CHOICE,
        detail="chosen by the user",
    )
    lost = recall_pb2.Memory(memory_id="m1", superseded_by="m2")
    gateway.recall_response.CopyFrom(recall_pb2.RecallResponse(memories=[lost], conflicts=[conflict]))
    choice = ConflictChoice(ConflictPolicy.USER_OVERRIDE, ["m2"], drop_superseded=True)
    found = await client.recall("u", "what?", conflicts=choice)
    await client.build_context("u", "what?", conflicts=choice)
    for request in gateway.requests:
        assert request.conflict_policy == recall_pb2.CONFLICT_POLICY_USER_OVERRIDE
        assert request.preferred_memory_ids == ["m2"]
    assert gateway.requests[0].drop_superseded
    assert found.memories[0].superseded_by == "m2"
    wanted = Conflict(
        ConflictKind.VALUE,
        "Ada lives in",
        "m2",
        MemoryKind.FACT,
        ("m1",),
        MemoryKind.EPISODE,
        ConflictPolicy.USER_OVERRIDE,
        ConflictReason.USER_CHOICE,
        "chosen by the user",
    )
    assert found.conflicts == (wanted,)


async def test_spec_5_9_budgets_of_sections_and_the_order_are_sent(client: Client, gateway: FakeGateway) -> None:
    budgets = {ContextSectionKind.FACTS: 100, ContextSectionKind.NOTES: 0}
    await client.build_context("u", "q", section_budgets=budgets, order=ContextOrder.CHRONOLOGICAL)
    await client.build_context("u", "q")
    chosen, plain = gateway.requests
    assert [(b.kind, b.token_budget) for b in chosen.section_budgets] == [
        (context_pb2.CONTEXT_SECTION_KIND_FACTS, 100),
        (context_pb2.CONTEXT_SECTION_KIND_NOTES, 0),
    ]
    assert chosen.order == context_pb2.CONTEXT_ORDER_CHRONOLOGICAL
    assert (len(plain.section_budgets), plain.order) == (0, context_pb2.CONTEXT_ORDER_UNSPECIFIED)
