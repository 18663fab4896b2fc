"""What items of a context window are worth, and which go: worked examples of SPEC 1.8, and what holds for all."""

from __future__ import annotations

import math
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.session.context_window.config import PruningSettings
from services.session.context_window.model import ContextItem, ItemKind, ToolCall
from services.session.context_window.pruning import Moment, need, plan, score, scored, select

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
SETTINGS = PruningSettings()
MOMENT = Moment(NOW, "t1")
BYTES_MAX = 3_000_000


def item(
    item_id: str = "a",
    kind: ItemKind = ItemKind.USER_MESSAGE,
    *,
    minutes: float = 0.0,
    tokens: int = 100,
    position: int = 0,
    **fields: object,
) -> ContextItem:
    made = ContextItem(
        item_id=item_id,
        kind=kind,
        content="x",
        create_time=NOW - timedelta(minutes=minutes),
        token_count=tokens,
        position=position,
    )
    return replace(made, **fields)  # type: ignore[arg-type]


CALLS = (ToolCall("c1", "grep"),)


@pytest.mark.parametrize(
    ("scored_item", "dependents", "expected"),
    [
        (item(kind=ItemKind.SYSTEM_PROMPT), 0, 100.0),
        (item(kind=ItemKind.SYSTEM_PROMPT, task_id="t1"), 0, 100.0),  # 200, clamped
        (item(kind=ItemKind.TASK_STATE), 0, 2.0),
        (item(kind=ItemKind.USER_MESSAGE), 0, 1.5),
        (item(kind=ItemKind.ASSISTANT_RESPONSE, tool_calls=CALLS), 0, 1.2),
        (item(kind=ItemKind.ASSISTANT_RESPONSE), 0, 0.9),
        (item(kind=ItemKind.TOOL_RESULT), 0, 0.8),
        (item(kind=ItemKind.CODE_SNIPPET), 0, 0.7),
        (item(kind=ItemKind.GRAPH_QUERY), 0, 0.6),
        (item(minutes=60), 0, 1.5 * math.exp(-1)),
        (item(minutes=-60), 0, 1.5),  # from a clock ahead: new
        (item(task_id="t1"), 0, 3.0),
        (item(task_id="t2"), 0, 1.5),
        (item(), 3, 1.5 * 1.6),
        (item(relevance=0.5), 0, 0.75),
        (item(relevance=0.0), 0, 0.0),
        (
            item(kind=ItemKind.TOOL_RESULT, minutes=30, task_id="t1", relevance=0.9),
            2,
            0.8 * 2 * 1.4 * 0.9 * math.exp(-0.5),
        ),
    ],
)
def test_spec_1_8_scores_are_those_of_the_formula(scored_item: ContextItem, dependents: int, expected: float) -> None:
    assert score(scored_item, dependents, MOMENT, SETTINGS) == pytest.approx(expected)


def test_spec_1_8_no_current_task_favours_none() -> None:
    assert score(item(), 0, Moment(NOW), SETTINGS) == 1.5


def test_spec_1_8_dependents_are_items_of_the_window() -> None:
    items = [item("a"), item("b", dependency_ids=("a", "a", "gone")), item("c", dependency_ids=("a",))]
    assert [one.score for one in scored(items, MOMENT, SETTINGS)] == pytest.approx([1.5 * 1.4, 1.5, 1.5])


@pytest.mark.parametrize(
    ("tokens", "incoming", "force", "expected"),
    [
        (800, 0, False, None),  # 80 % is not past it
        (801, 0, False, (241, "threshold")),
        (700, 200, False, (210, "incoming")),
        (700, 600, False, (300, "incoming")),  # as much more as makes room
        (100, 5_000, False, (100, "incoming")),
        (500, 0, True, (150, "forced")),
        (0, 5_000, True, None),
    ],
)
def test_spec_1_8_a_window_is_pruned_past_its_threshold(
    tokens: int, incoming: int, force: bool, expected: tuple[int, str] | None
) -> None:
    found = need(tokens, incoming, 1_000, force=force, settings=SETTINGS)
    assert (None if found is None else (found.token_count, found.reason)) == expected


def test_spec_1_8_the_lowest_scores_go_until_so_many_tokens_are_gone() -> None:
    items = [
        item("system", ItemKind.SYSTEM_PROMPT, is_sticky=True),
        item("old", minutes=120, position=1),
        item("snippet", ItemKind.CODE_SNIPPET, minutes=10, position=2),
        item("older", minutes=240, position=3),
        item("new", position=4),
    ]
    assert [one.item.item_id for one in plan(items, 150, MOMENT, SETTINGS)] == ["older", "old"]
    assert [one.item.item_id for one in plan(items, 10_000, MOMENT, SETTINGS)] == ["older", "old", "snippet", "new"]


def test_spec_1_8_ties_go_by_age() -> None:
    items = [item("b", position=1), item("a", position=0)]
    assert [one.item.item_id for one in plan(items, 1, MOMENT, SETTINGS)] == ["a"]


def test_spec_1_8_a_tool_result_goes_with_its_call() -> None:
    call = item("call", ItemKind.ASSISTANT_RESPONSE, position=0, tool_calls=(*CALLS, ToolCall("c2", "cat")))
    results = [
        item("one", ItemKind.TOOL_RESULT, minutes=500, position=1, tool_call_id="c1"),
        item("two", ItemKind.TOOL_RESULT, minutes=500, position=2, tool_call_id="c2"),
    ]
    other = item("other", minutes=60, position=3)
    items = [call, *results, other]
    assert [one.item.item_id for one in plan(items, 1, MOMENT, SETTINGS)] == ["other"]
    assert {one.item.item_id for one in plan(items, 101, MOMENT, SETTINGS)} == {"other", "call", "one", "two"}
    sticky = [call, replace(results[0], is_sticky=True), results[1], other]
    assert [one.item.item_id for one in plan(sticky, 10_000, MOMENT, SETTINGS)] == ["other"]


def test_spec_1_8_call_ids_that_come_again_mean_the_last_call() -> None:
    items = [
        item("call 1", ItemKind.ASSISTANT_RESPONSE, minutes=300, position=0, tool_calls=CALLS),
        item("result 1", ItemKind.TOOL_RESULT, minutes=300, position=1, tool_call_id="c1"),
        item("call 2", ItemKind.ASSISTANT_RESPONSE, position=2, tool_calls=CALLS),
        item("result 2", ItemKind.TOOL_RESULT, position=3, tool_call_id="c1"),
    ]
    assert {one.item.item_id for one in plan(items, 1, MOMENT, SETTINGS)} == {"call 1", "result 1"}


def test_spec_1_9_what_does_not_fit_is_left_out() -> None:
    items = [item("old", minutes=60), item("new", position=1), item("asked", minutes=600, position=2)]

    def omitted(budget: int) -> list[str]:
        found = select(items, budget, MOMENT, SETTINGS, required_ids={"asked"}, overhead_tokens=5, bytes_max=BYTES_MAX)
        return [one.item.item_id for one in found]

    assert (omitted(315), omitted(314), omitted(209), omitted(10)) == ([], ["old"], ["old", "new"], ["old", "new"])


def test_spec_1_8_what_goes_at_once_fits_into_a_message() -> None:
    large = [item(str(number), position=number, content="x" * 9_000) for number in range(5)]
    settings = PruningSettings(pruned_bytes_max=25_000)
    assert [one.item.item_id for one in plan(large, 10_000, MOMENT, settings)] == ["0", "1"]
    assert [one.item.item_id for one in plan(large[2:], 10_000, MOMENT, settings)] == ["2", "3"]
    alone = PruningSettings(pruned_bytes_max=1)
    assert [one.item.item_id for one in plan(large, 10_000, MOMENT, alone)] == ["0"], "each pruning gets on"


def test_spec_1_9_a_prompt_fits_into_a_message() -> None:
    large = [item(str(number), position=number, content="x" * 9_000) for number in range(5)]
    found = select(large, 10_000, MOMENT, SETTINGS, required_ids={"0"}, overhead_tokens=5, bytes_max=25_000)
    assert [one.item.item_id for one in found] == ["1", "2", "3"]


ITEMS = st.lists(
    st.builds(
        item,
        item_id=st.uuids().map(str),
        kind=st.sampled_from(ItemKind),
        minutes=st.floats(-10, 10_000),
        tokens=st.integers(0, 5_000),
        relevance=st.floats(0, 1),
        task_id=st.sampled_from(["", "t1", "t2"]),
        is_sticky=st.booleans(),
        tool_call_id=st.sampled_from(["c1", "c2", "c3"]),
        tool_calls=st.sampled_from([(), CALLS, (ToolCall("c2", "cat"), ToolCall("c3", "ls"))]),
    ),
    max_size=25,
).map(lambda items: [replace(one, position=index) for index, one in enumerate(items)])


@given(items=ITEMS, tokens=st.integers(1, 50_000))
def test_spec_1_8_a_plan_keeps_its_bounds(items: list[ContextItem], tokens: int) -> None:
    removed = plan(items, tokens, MOMENT, SETTINGS)
    gone = {one.item.item_id for one in removed}
    stayed = [one for one in scored(items, MOMENT, SETTINGS) if one.item.item_id not in gone]
    assert len(gone) == len(removed)
    assert all(0.0 <= one.score <= 100.0 for one in (*removed, *stayed))
    assert not any(one.item.is_sticky for one in removed)
    is_enough = sum(one.item.token_count for one in removed) >= tokens
    if not is_enough:  # then nothing that may go is left: what is left is sticky, or one with something sticky
        linked = {ItemKind.TOOL_RESULT, ItemKind.ASSISTANT_RESPONSE}
        assert all(one.item.is_sticky or one.item.kind in linked for one in stayed)
    for one in removed:
        if one.item.kind is ItemKind.TOOL_RESULT:
            before = [
                other
                for other in items
                if other.kind is ItemKind.ASSISTANT_RESPONSE
                and one.item.tool_call_id in {call.call_id for call in other.tool_calls}
            ]
            last = [other for other in before if other.position < one.item.position][-1:] or before[:1]
            assert all(other.item_id in gone for other in last)


@given(items=ITEMS, tokens=st.integers(1, 50_000), more=st.integers(0, 50_000))
def test_spec_1_8_removing_more_never_brings_something_back(items: list[ContextItem], tokens: int, more: int) -> None:
    few = [one.item.item_id for one in plan(items, tokens, MOMENT, SETTINGS)]
    many = [one.item.item_id for one in plan(items, tokens + more, MOMENT, SETTINGS)]
    assert many[: len(few)] == few


@given(minutes=st.floats(0, 5_000), later=st.floats(0, 5_000), relevance=st.floats(0, 1), dependents=st.integers(0, 50))
def test_spec_1_8_scores_fall_with_age_and_rise_with_all_else(
    minutes: float, later: float, relevance: float, dependents: int
) -> None:
    one = item(minutes=minutes, relevance=relevance)
    base = score(one, dependents, MOMENT, SETTINGS)
    assert (
        score(replace(one, create_time=one.create_time - timedelta(minutes=later)), dependents, MOMENT, SETTINGS)
        <= base
    )
    assert score(replace(one, task_id="t1"), dependents, MOMENT, SETTINGS) >= base
    assert score(one, dependents + 1, MOMENT, SETTINGS) >= base
    assert score(replace(one, relevance=1.0), dependents, MOMENT, SETTINGS) >= base
