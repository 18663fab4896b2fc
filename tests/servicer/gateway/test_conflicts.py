"""Contradictions in the answers of the whole stack."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from mneme_client import (
    Client,
    ConflictChoice,
    ConflictKind,
    ConflictPolicy,
    ConflictReason,
    MemoryKind,
    MnemeClientError,
    RecallResult,
    SupersessionDecision,
    Turn,
)
from tests.servicer.gateway.test_erasure import visible
from tests.support.stack import patient_client, running_stack, until

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


async def test_spec_3_5_a_turn_takes_back_one_before_it_in_a_request_without_times(
    client: Client, user_id: str
) -> None:
    turns = [
        Turn("My flight to Oslo is at 08:25 on 4 May 2026."),
        Turn("My flight to Oslo is now at 09:25 on 4 May 2026."),
    ]
    written = await client.remember(user_id, "c1", turns)
    found = await client.recall(user_id, "When is my flight?", consistency_token=written.consistency_token)
    by_text = {memory.text: memory for memory in found.memories}
    assert by_text[turns[0].content].superseded_by == by_text[turns[1].content].memory_id
    await client.append_turns(
        user_id, "c2", [Turn("I live in Leeds."), Turn("I live in Lyon now.")], create_if_missing=True
    )

    async def is_ended() -> bool:
        again = await client.recall(user_id, "Where do I live?")
        return any(memory.text == "I live in Leeds." and memory.superseded_by for memory in again.memories)

    await until(is_ended)


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


async def test_spec_3_5_with_reduce_recalls_and_contexts_flag_both_and_move_neither(
    client: Client, user_id: str
) -> None:
    token = await fill(client, user_id)
    choice = ConflictChoice(ConflictPolicy.REDUCE, drop_superseded=True)
    found = await client.recall(user_id, "Where do I live?", consistency_token=token, conflicts=choice)
    by_text = {memory.text: memory for memory in found.memories}
    assert {memory.superseded_by for memory in found.memories} == {""}
    (home,) = [conflict for conflict in found.conflicts if by_text[OLD].memory_id in conflict.contradicting_ids]
    assert set(home.contradicting_ids) == {by_text[OLD].memory_id, by_text[NEW].memory_id}
    assert (home.reason, home.winner_id, home.loser_ids) == (ConflictReason.NEITHER, "", ())
    assert home.loser_kind is MemoryKind.EPISODE
    assert "conflict" not in {part.name for memory in found.memories for part in memory.explanation.parts}
    context = await client.build_context(user_id, "Where do I live?", conflicts=choice)
    lines = [line for line in context.text.splitlines() if OLD in line or NEW in line]
    assert len(lines) == 2
    assert all("Ada (contradicted): " in line for line in lines)
    assert "(superseded)" not in context.text


async def test_spec_3_5_with_the_setting_reduce_both_facts_are_halved_until_the_user_decides(
    tmp_path: Path, model_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MNEME_SEMANTIC__EVIDENCE__CLEAR_POLICY", "reduce")
    async with running_stack(tmp_path / "data", model_folder) as stack, patient_client(stack.gateway_target) as client:
        await visible(client, "ada", await fill(client, "ada"))
        found = await client.recall("ada", "Where do I live?")
        by_text = {memory.text: memory for memory in found.memories}
        assert {by_text[OLD].superseded_by, by_text[NEW].superseded_by} == {""}
        turns = {by_text[OLD].memory_id, by_text[NEW].memory_id}
        assert any(set(conflict.contradicting_ids) == turns for conflict in found.conflicts)
        facts = {fact.object: fact async for fact in client.list_facts("ada") if fact.predicate == "lives_in"}
        assert {place: fact.valid_to_time for place, fact in facts.items()} == {"Leeds": None, "Lyon": None}
        context = await client.build_context("ada", "Where do I live?")
        assert f"Ada (contradicted): {OLD}" in context.text
        assert f"Ada (contradicted): {NEW}" in context.text
        (pair,) = [one async for one in client.list_supersessions("ada") if {one.memory_id, one.superseded_by} == turns]
        await client.resolve_supersession("ada", pair.supersession_id, SupersessionDecision.LATER_STANDS)
        decided = {fact.object: fact async for fact in client.list_facts("ada") if fact.predicate == "lives_in"}
        assert decided["Leeds"].valid_to_time == MARCH + timedelta(days=2)
        assert decided["Lyon"].valid_to_time is None
        assert decided["Lyon"].confidence == pytest.approx(2 * facts["Lyon"].confidence)
        after = await client.build_context("ada", "Where do I live?")
        assert f"Ada (superseded): {OLD}" in after.text


async def test_spec_3_7_a_recall_as_of_a_time_is_not_ruled_by_what_was_said_later(client: Client, user_id: str) -> None:
    await visible(client, user_id, await fill(client, user_id))
    then = await client.recall(user_id, "Where do I live?", as_of_time=MARCH + timedelta(days=1))
    assert {memory.superseded_by for memory in then.memories} == {""}
    facts = {hit.fact.object: hit for hit in then.facts if hit.fact.predicate == "lives_in"}
    assert facts["Leeds"].superseded_by == ""
    assert then.conflicts == ()
    later = await client.recall(user_id, "Where do I live?", as_of_time=MARCH + timedelta(days=2, hours=1))
    by_text = {memory.text: memory for memory in later.memories}
    assert by_text[OLD].superseded_by == by_text[NEW].memory_id
