"""Contexts for prompts: never longer than their budget, whatever was remembered."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from mneme_client import (
    Client,
    ContextOrder,
    ContextSectionKind,
    ContextSectionState,
    MnemeClientError,
    Role,
    Tier,
    Turn,
)
from services.common.tokens import token_counter
from tests.support.stack import RunningStack

pytestmark = pytest.mark.asyncio(loop_scope="session")

USER = "context-reader"
LONG = " ".join(f"Sentence number {n} says that the trip to Lisbon was long and sunny." for n in range(40))


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def talk(stack: RunningStack) -> AsyncIterator[None]:
    """A user with long and short turns, some of them not English, in a running conversation."""
    async with stack.client() as client:
        turns = [
            Turn("I moved to Lyon in 2021 and I love pétanque.", speaker="Ada"),
            Turn(LONG, speaker="Ada"),
            Turn("Ich fahre gern mit dem Nachtzug. 私は東京に住んでいます。", speaker="Ada"),
            Turn("supercalifragilistic" * 20, speaker="Ada"),
            *(Turn(f"Note to myself number {n}: buy bread, milk & eggs!", speaker="Ada") for n in range(30)),
        ]
        written = await client.remember(USER, "c1", turns)
        await client.wait_until_visible(USER, written.consistency_token)
    yield


@pytest.mark.parametrize("budget", [64, 65, 80, 100, 128, 150, 200, 333, 500, 1_000, 2_000, 20_000])
@pytest.mark.usefixtures("talk")
async def test_spec_5_9_a_context_keeps_to_its_budget(client: Client, budget: int) -> None:
    for query in ("Tell me about the trip to Lisbon.", "What should I buy?"):
        context = await client.build_context(USER, query, token_budget=budget, conversation_id="c1")
        assert context.token_count == token_counter().count_tokens(context.text)
        assert 0 < context.token_count <= budget
        lines_between = max(0, len(context.sections) - 1)  # an empty line, of a token or two
        assert sum(section.token_count for section in context.sections) + 2 * lines_between >= context.token_count
        for section in context.sections:
            assert section.token_count <= section.token_budget
            assert all(item.text in context.text for item in section.items)


@pytest.mark.usefixtures("talk")
async def test_spec_5_9_the_window_ends_a_context_and_is_not_told_twice(client: Client) -> None:
    context = await client.build_context(USER, "What should I buy?", token_budget=2_000, conversation_id="c1")
    sections = {section.kind: section for section in context.sections}
    assert list(sections)[-1] is ContextSectionKind.RECENT_TURNS
    recent = [item.memory_id for item in sections[ContextSectionKind.RECENT_TURNS].items]
    assert len(recent) == 10
    assert sections[ContextSectionKind.RECENT_TURNS].items[-1].text.endswith("number 29: buy bread, milk & eggs!")
    assert not set(recent) & {item.memory_id for item in sections[ContextSectionKind.MEMORIES].items}


@pytest.mark.usefixtures("talk")
async def test_spec_5_8_a_long_turn_is_cut_after_a_sentence(client: Client) -> None:
    context = await client.build_context(USER, "Tell me about the trip to Lisbon.", token_budget=300)
    memories = next(s for s in context.sections if s.kind is ContextSectionKind.MEMORIES)
    (cut,) = [item.text for item in memories.items if "Lisbon" in item.text]
    assert cut.endswith("long and sunny. …")
    assert cut.count("Sentence number") < 40


@pytest.mark.usefixtures("talk")
async def test_spec_5_9_a_context_comes_in_structured_parts_that_are_in_the_text(client: Client) -> None:
    context = await client.build_context(USER, "Where did I move?", token_budget=600, conversation_id="c1")
    sections = {section.kind: section for section in context.sections}
    passages = sections[ContextSectionKind.MEMORIES].passages
    moved = next(turn for passage in passages for turn in passage.turns if "Lyon" in turn.text)
    assert (moved.speaker, moved.role, moved.position, moved.pruned) == ("Ada", Role.USER, 0, False)
    assert passages[0].rank == 1
    for section in context.sections:
        turns = [turn for passage in section.passages for turn in passage.turns]
        assert not section.passages or [t.memory_id for t in turns] == [item.memory_id for item in section.items]
        for passage in section.passages:
            assert passage.text in context.text
            assert (passage.start_time, passage.end_time) == (passage.turns[0].time, passage.turns[-1].time)
    recent = sections[ContextSectionKind.RECENT_TURNS].passages
    assert [(passage.conversation_id, passage.rank) for passage in recent] == [("", 0)]


@pytest.mark.usefixtures("talk")
async def test_spec_5_9_sections_may_have_budgets_of_their_own_and_all_are_reported(client: Client) -> None:
    budgets = {ContextSectionKind.MEMORIES: 100, ContextSectionKind.FACTS: 0, ContextSectionKind.NOTES: 0}
    context = await client.build_context(USER, "Buy bread", token_budget=150, section_budgets=budgets)
    assert [section.kind for section in context.sections] == [ContextSectionKind.MEMORIES]
    states = {report.kind: report.state for report in context.section_reports}
    assert states == {
        ContextSectionKind.MEMORIES: ContextSectionState.INCLUDED,
        ContextSectionKind.FACTS: ContextSectionState.EXCLUDED,
        ContextSectionKind.NOTES: ContextSectionState.EXCLUDED,
        ContextSectionKind.PROCEDURES: ContextSectionState.EMPTY,
        ContextSectionKind.RECENT_TURNS: ContextSectionState.EMPTY,
    }
    with pytest.raises(MnemeClientError) as caught:
        await client.build_context(USER, "Buy bread", token_budget=100, section_budgets={ContextSectionKind.FACTS: 101})
    assert [violation.field_path for violation in caught.value.violations] == [
        "section_budgets[0].token_budget",
        "section_budgets",
    ]


@pytest.mark.usefixtures("talk")
async def test_spec_5_9_memories_stand_in_the_order_of_time_where_it_is_asked_for(client: Client) -> None:
    context = await client.build_context(USER, "What should I buy?", token_budget=400, order=ContextOrder.CHRONOLOGICAL)
    memories = next(s for s in context.sections if s.kind is ContextSectionKind.MEMORIES)
    positions = [turn.position for passage in memories.passages for turn in passage.turns]
    assert positions == sorted(positions)
    assert len(positions) > 3


@pytest.mark.usefixtures("talk")
async def test_spec_5_8_what_was_said_twice_is_told_once_and_cited(client: Client, user_id: str) -> None:
    said = ["The spare key is under the blue flower pot.", "the spare key is under the blue flower pot"]
    written = await client.remember(user_id, "c9", [Turn(text, speaker="ada") for text in said])
    context = await client.build_context(
        user_id, "Where is the spare key?", consistency_token=written.consistency_token
    )
    memories = next(s for s in context.sections if s.kind is ContextSectionKind.MEMORIES)
    (item,) = memories.items
    assert {item.memory_id, *item.duplicate_memory_ids} == {i.interaction_id for i in written.interactions}
    assert {i.interaction_id for i in written.interactions} == set(item.interaction_ids)


@pytest.mark.usefixtures("talk")
async def test_spec_5_9_a_larger_budget_tells_more(client: Client) -> None:
    counts = [
        (await client.build_context(USER, "What should I buy?", token_budget=budget)).token_count
        for budget in (100, 400, 1_600)
    ]
    assert counts == sorted(counts)
    assert counts[0] < counts[-1]


async def test_a_context_of_a_user_who_said_nothing_is_empty(client: Client, user_id: str) -> None:
    context = await client.build_context(user_id, "Who am I?")
    assert (context.text, context.token_count, context.sections) == ("", 0, ())
    assert not context.degraded
    assert {report.tier for report in context.tiers} == {Tier.SESSION, Tier.EPISODIC, Tier.SEMANTIC, Tier.AGENTIC}


async def test_spec_5_11_a_context_waits_for_a_write(client: Client, user_id: str) -> None:
    written = await client.remember(user_id, "c1", "My bike is green.")
    context = await client.build_context(
        user_id, "What colour is my bike?", consistency_token=written.consistency_token
    )
    assert "My bike is green." in context.text
