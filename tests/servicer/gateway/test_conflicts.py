"""Contradictions in the answers of the whole stack."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from mneme_client import (
    Client,
    ConflictChoice,
    ConflictKind,
    ConflictPolicy,
    MemoryKind,
    MnemeClientError,
    RecallResult,
    Turn,
)

pytestmark = pytest.mark.asyncio(loop_scope="session")

MARCH = datetime(2026, 3, 1, 12, tzinfo=UTC)
OLD, NEW = "I live in Leeds.", "I live in Lyon now."
TALK = [OLD, "The weather was fine on Sunday.", NEW, "I like coffee.", "I don't like coffee any more."]


async def fill(client: Client, user_id: str) -> str:
    turns = [
        Turn(text, speaker="Ada", time=MARCH + timedelta(days=day), confidence=0.9 - day / 10)
        for day, text in enumerate(TALK)
    ]
    return (await client.remember(user_id, "c1", turns)).consistency_token


def places(found: RecallResult) -> dict[str, int]:
    return {memory.text: place for place, memory in enumerate(found.memories)}


async def test_spec_5_7_an_answer_tells_what_contradicts_what_and_which_stands(client: Client, user_id: str) -> None:
    found = await client.recall(user_id, "Where do I live?", consistency_token=await fill(client, user_id))
    by_text = {memory.text: memory for memory in found.memories}
    assert by_text[OLD].superseded_by == by_text[NEW].memory_id
    assert by_text[NEW].superseded_by == ""
    assert by_text[TALK[1]].superseded_by == ""
    assert places(found)[NEW] < places(found)[OLD]
    told = {conflict.winner_id: conflict for conflict in found.conflicts if conflict.loser_kind is MemoryKind.EPISODE}
    home = told[by_text[NEW].memory_id]
    assert (home.kind, home.loser_ids) == (ConflictKind.VALUE, (by_text[OLD].memory_id,))
    assert home.policy is ConflictPolicy.RECENCY
    coffee = told[by_text[TALK[4]].memory_id]
    assert coffee.kind is ConflictKind.NEGATION
    assert "coffee" in coffee.subject
    for memory in found.memories:
        assert memory.score == pytest.approx(sum(part.value for part in memory.explanation.parts), abs=1e-4)


async def test_spec_5_7_facts_that_hold_no_more_name_the_one_that_does(client: Client, user_id: str) -> None:
    found = await client.recall(user_id, "Where do I live?", consistency_token=await fill(client, user_id))
    facts = {hit.fact.object: hit for hit in found.facts if hit.fact.predicate == "lives_in"}
    assert facts["Leeds"].superseded_by == facts["Lyon"].fact.fact_id
    assert facts["Lyon"].superseded_by == ""
    (conflict,) = [c for c in found.conflicts if facts["Lyon"].fact.fact_id == c.winner_id]
    assert (conflict.loser_kind, conflict.subject) == (MemoryKind.FACT, "Ada lives in")


async def test_spec_5_7_the_caller_chooses_what_stands(client: Client, user_id: str) -> None:
    token = await fill(client, user_id)
    ids = {
        memory.text: memory.memory_id
        for memory in (await client.recall(user_id, "live", consistency_token=token)).memories
    }
    for choice in (
        ConflictChoice(ConflictPolicy.CONFIDENCE),
        ConflictChoice(ConflictPolicy.USER_OVERRIDE, preferred_memory_ids=[ids[OLD]]),
    ):
        found = await client.recall(user_id, "Where do I live?", conflicts=choice)
        by_text = {memory.text: memory for memory in found.memories}
        assert by_text[NEW].superseded_by == ids[OLD], choice
        assert places(found)[OLD] < places(found)[NEW]
    context = await client.build_context(user_id, "Where do I live?", conflicts=choice)
    assert OLD in context.text


async def test_spec_5_7_what_loses_is_dropped_where_that_is_asked_for(client: Client, user_id: str) -> None:
    token = await fill(client, user_id)
    choice = ConflictChoice(drop_superseded=True)
    found = await client.recall(user_id, "Where do I live?", consistency_token=token, conflicts=choice)
    assert OLD not in places(found)
    assert NEW in places(found)
    assert not any(memory.superseded_by for memory in found.memories)
    assert "Leeds" not in {hit.fact.object for hit in found.facts}
    assert {fact_id for memory in found.memories for fact_id in memory.fact_ids} <= {
        h.fact.fact_id for h in found.facts
    }
    assert found.conflicts


async def test_spec_5_7_a_context_marks_what_loses_or_leaves_it_out(client: Client, user_id: str) -> None:
    token = await fill(client, user_id)
    marked = await client.build_context(user_id, "Where do I live?", consistency_token=token)
    assert f"(superseded): {OLD}" in marked.text
    assert f"(superseded): {NEW}" not in marked.text
    choice = ConflictChoice(drop_superseded=True)
    dropped = await client.build_context(user_id, "Where do I live?", conflicts=choice)
    assert OLD not in dropped.text
    assert NEW in dropped.text
    assert "superseded" not in dropped.text


async def test_spec_5_7_a_stream_ends_with_the_same_conflicts(client: Client, user_id: str) -> None:
    token = await fill(client, user_id)
    whole = await client.recall(user_id, "Where do I live?", consistency_token=token)
    parts = [part async for part in client.recall_stream(user_id, "Where do I live?")]
    assert parts[-1].result is not None
    assert parts[-1].result.conflicts == whole.conflicts != ()


async def test_a_preference_without_its_policy_is_refused(client: Client, user_id: str) -> None:
    for policy in (ConflictPolicy.UNSPECIFIED, ConflictPolicy.RECENCY):
        with pytest.raises(MnemeClientError) as caught:
            await client.recall(user_id, "x", conflicts=ConflictChoice(policy, preferred_memory_ids=["a"]))
        assert [violation.field_path for violation in caught.value.violations] == ["preferred_memory_ids"]
