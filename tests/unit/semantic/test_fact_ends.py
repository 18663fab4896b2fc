"""When a fact holds no more whose sentences are superseded."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from services.common.owners import InteractionId, UserId
from services.semantic.facts.ends import MarkedStatement, SentenceMark, as_marked
from services.semantic.facts.model import Fact, FactCategory, FactId

START = datetime(2026, 3, 1, tzinfo=UTC)


def day(number: int) -> datetime:
    return START + timedelta(days=number)


def fact(text: str = "Ada owns a boat", **changes: object) -> Fact:
    made = Fact(
        FactId("f"), UserId("ada"), text, "Ada", "owns", "a boat", FactCategory.CONTEXT, 0.9, 0.5, day(0), day(0)
    )
    return replace(made, **changes)  # type: ignore[arg-type]


def mark(end: int, by: str = "w", said: str = "I sold my boat.", **changes: object) -> SentenceMark:
    made = SentenceMark(InteractionId(by), day(end), day(end), said)
    return replace(made, **changes)  # type: ignore[arg-type]


def said(time: int, *marks: SentenceMark, **changes: object) -> MarkedStatement:
    return replace(MarkedStatement(f"s{time}", day(time), marks=marks), **changes)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("statements", "end", "by"),
    [
        ([], None, None),
        ([said(0)], None, None),
        ([said(0, mark(5))], 5, "w"),
        ([said(0, mark(9, "x"), mark(5))], 5, "w"),
        ([said(0, mark(5)), said(7)], None, None),  # said again since
        ([said(0, mark(5)), said(5)], None, None),  # said again at that time
        ([said(0, mark(5)), said(3)], 5, "w"),  # said again before
        ([said(0, mark(5)), said(7, mark(9, "x"))], 9, "x"),  # said again, and superseded again
        ([said(0, mark(5)), said(3, mark(5))], 5, "w"),
        ([said(0, mark(0))], 0, "w"),  # of two statements of one time the other one stands
        ([said(0, mark(0)), replace(said(0), statement_id="t")], None, None),
        ([said(0, mark(0)), replace(said(0, mark(0)), statement_id="t")], 0, "w"),
        ([said(0, mark(5)), said(3, is_correction=True)], None, None),  # it says something else now
        ([said(0), said(3, mark(5), is_correction=True)], 5, "w"),
    ],
)
def test_spec_3_5_a_fact_ends_with_its_sentences_unless_it_was_said_again(
    statements: list[MarkedStatement], end: int | None, by: str | None
) -> None:
    for order in (statements, statements[::-1]):
        found = as_marked(fact(), order)
        assert found.valid_to_time == (None if end is None else day(end))
        assert found.superseded_by == by
        assert replace(found, valid_to_time=None, superseded_by=None) == fact(), "all else is as it was"


def test_spec_3_5_the_earlier_end_counts() -> None:
    assert as_marked(fact(valid_to_time=day(3)), [said(0, mark(5))]).valid_to_time == day(3)
    assert as_marked(fact(valid_to_time=day(8)), [said(0, mark(5))]).valid_to_time == day(5)


def test_spec_3_5_of_a_sentence_with_several_facts_those_end_that_the_successor_names() -> None:
    shared = [said(0, mark(5, said="I live in York now."), shares_sentence=True)]
    assert as_marked(fact("Ada lives in Leeds with her dog Rex"), shared).valid_to_time == day(5)
    assert as_marked(fact("Ada has a dog named Rex"), shared).valid_to_time is None
    by_premise = [said(0, mark(5, said="The office moved.", premise="I walk the dog to work."), shares_sentence=True)]
    assert as_marked(fact("Ada has a dog named Rex"), by_premise).valid_to_time == day(5)
    assert as_marked(fact(), [said(0, mark(5, said=""), shares_sentence=True)]).valid_to_time == day(5), (
        "all of the turn"
    )
    assert (
        as_marked(fact("Ada owns Ada"), [said(0, mark(5, said="Ada is here."), shares_sentence=True)]).superseded_by
        is None
    )


@pytest.mark.parametrize(
    ("about", "is_ended"),
    [
        ("", True),  # all of the sentence is wrong
        ("I live in York.", False),
        ("My dog is called Max.", True),
        ("Ada has the flu.", False),  # the person alone is named there, too
    ],
)
def test_spec_3_12_of_a_sentence_with_several_facts_those_end_that_its_correction_is_about(
    about: str, is_ended: bool
) -> None:
    one = mark(0, said="", premise=about, is_correction=True)
    shared = as_marked(fact("Ada has a dog named Rex"), [said(0, one, shares_sentence=True)])
    assert (shared.superseded_by == "w") is is_ended
    alone = as_marked(fact("Ada has a dog named Rex"), [said(0, one)])
    assert (alone.valid_to_time, alone.superseded_by) == (day(0), "w"), "the one fact of its sentence"


@pytest.mark.parametrize(
    ("changes", "is_ended"),
    [
        ({}, False),
        ({"is_correction": True, "is_called_wrong": True}, False),
        ({"is_correction": True}, True),  # nobody knows which words were wrong
    ],
)
def test_spec_3_12_the_one_fact_of_a_sentence_stands_beside_the_words_that_changed(
    changes: dict[str, Any], is_ended: bool
) -> None:
    sentence = "I own a boat, and the builder comes on Monday."
    builder = mark(5, said="", premise="the builder comes", sentence=sentence, **changes)
    assert (as_marked(fact(), [said(0, builder)]).valid_to_time is not None) == is_ended


@pytest.mark.parametrize("time", [0, 2, 7])
def test_spec_3_12_a_fact_of_a_corrected_sentence_stays_where_another_turn_says_it(time: int) -> None:
    one, other = said(2, mark(2, is_correction=True)), replace(said(time), statement_id="t")
    assert as_marked(fact(), [one, other]) == fact()
    both = as_marked(fact(), [one, replace(other, marks=(mark(time, "x", is_correction=True),))])
    assert (both.valid_to_time, both.superseded_by) == (day(max(2, time)), "x" if time > 2 else "w")


def test_spec_3_7_what_was_marked_later_was_not_known() -> None:
    statements = [said(0, mark(5, recorded_time=day(8)))]
    assert as_marked(fact(), statements, known_at=day(7)).valid_to_time is None
    assert as_marked(fact(), statements, known_at=day(8)).valid_to_time == day(5)


@pytest.mark.parametrize(
    ("statements", "confidence"),
    [
        ([said(0, doubted_times=(day(1),))], 0.45),
        ([said(0, doubted_times=(day(1), day(2)))], 0.45),  # once
        ([said(0, doubted_times=(day(1),)), said(2)], 0.9),  # said again since
        ([said(0), said(2, doubted_times=(day(3),))], 0.45),
        ([said(0, doubted_times=(day(1),)), said(2, doubted_times=(day(3),))], 0.45),
        ([said(0, doubted_times=(day(1),)), said(2, is_correction=True)], 0.9),
    ],
)
def test_spec_3_5_what_is_reduced_is_believed_half_as_much_until_it_is_said_again(
    statements: list[MarkedStatement], confidence: float
) -> None:
    found = as_marked(fact(), statements)
    assert found == replace(fact(), confidence=confidence)


def test_spec_3_7_what_was_reduced_later_was_not_known() -> None:
    statements = [said(0, doubted_times=(day(4),))]
    assert [as_marked(fact(), statements, known_at=day(n)).confidence for n in (3, 4)] == [0.9, 0.45]
