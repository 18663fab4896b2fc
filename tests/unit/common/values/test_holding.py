"""Whether a later statement of a conversation ends an earlier one."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from services.common.text import split_sentences
from services.common.values.holding import Said, supersedes
from services.common.values.model import Relation
from services.common.values.sentences import announces, is_statement, stated_part

CHANGES = [json.loads(line) for line in (Path(__file__).parent / "changes.jsonl").read_text("utf-8").splitlines()]
ENDS = (Relation.UPDATE, Relation.CONTRADICT)
PAIRS = [json.loads(line) for line in (Path(__file__).parent / "pairs.jsonl").read_text("utf-8").splitlines()]


def ends(earlier: str, later: str, *, speakers: tuple[str, str] = ("Ada", "Ada")) -> bool:
    return (
        supersedes(Said(earlier, speakers[0], announces(earlier)), Said(later, speakers[1], announces(later))) in ENDS
    )


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("I work at Quillon Press as a proofreader.", "I work at Tarrant Books now."),
        ("My landlord is Otis Varga, he lives downstairs.", "After the sale my landlord is Ines Kolb."),
        ("The parrot eats sunflower seeds, a cup a day", "the vet says the parrot eats pumpkin seeds from now on"),
        ("I don't eat mushrooms.", "The course changed me: I eat mushrooms now, every Friday."),
        ("I have night shifts every weekend.", "The new boss did it, I no longer have night shifts."),
        ("Tilda is 7 and Bo is 3.", "Party yesterday, Tilda is 8!"),
        ("The permit costs 40 dollars a year.", "Mistake on my side, the permit costs 40 euros a year."),
        ("I prefer the square layout.", "My wrists hurt, I prefer the round layout now."),
        ("On ferries I want a lower cabin.", "On ferries I want an upper cabin after all."),
        ("This winter I take pottery, Greek and fencing.", "Dropped Greek, too early in the day."),
        ("My vitamins are iron, zinc and biotin.", "The doctor has struck off the zinc."),
        ("The mailer runs on host osprey.", "Host osprey was switched off last night."),
        ("I walk Pablo at noon every day", "we had to let Pablo go on Sunday"),
        ("I have three hens and a goat.", "Only the three hens now."),
        ("Please hold all parcels.", "You may forward the parcels."),
        ("I use Android on my tablet.", "Wiped it yesterday and put Linux on it."),
        ("I've submitted my thesis draft to Nora on May 2.", "I've never submitted any thesis draft to Nora."),
        ("My wiki has 45 articles on birds.", "The wiki on birds has now grown to 61 articles."),
    ],
)
def test_a_change_ends_what_was_said(earlier: str, later: str) -> None:
    assert ends(earlier, later)


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("I work at Quillon Press.", "My sister works at Tarrant Books now."),
        ("I work at Quillon Press.", "I might work at Tarrant Books by autumn."),
        ("I live in Lugano.", "If I moved to Oslo I would live by the fjord."),
        ("I don't eat mushrooms.", "I eat onions now."),
        ("Tilda is 7.", "Bo is 8!"),
        ("I prefer the square layout.", "For posters I prefer the round layout."),
        ("I want to learn Greek.", "I want to update the shelves."),
        ("I like tea.", "I like cocoa too."),
        ("My brother is Finn.", "My brother is Oskar."),
        ("I ran 5 km in the park.", "I ran 8 km in the park."),
        ("The cabin's heating works.", "The heating in the flat is broken."),
        ("When Pia was small she woke up at five.", "Now she wakes up at seven."),
        ("I visited Rome.", "I visited Paris now."),
        ("The wiki runs on host merlin.", "Host osprey was switched off last night."),
        ("The fee is 10 euros.", "Unless you pay now, the fee is 20 euros."),
        # No list of two things that is said again with another one.
        ("My eye test is on Thursday and I feel sick.", "My eye test is on Thursday, same doctor, wish me luck."),
    ],
)
def test_what_is_merely_similar_ends_nothing(earlier: str, later: str) -> None:
    assert not ends(earlier, later)


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair["a"])
def test_spec_3_5_the_stress_set_retires_nothing_wrongly(pair: dict[str, str]) -> None:
    if pair["relation"] not in {"update", "contradict"}:
        assert not ends(pair["a"], pair["b"])


def test_nine_of_ten_true_changes_of_the_stress_set_supersede() -> None:
    changes = [pair for pair in PAIRS if pair["relation"] in {"update", "contradict"}]
    assert sum(ends(pair["a"], pair["b"]) for pair in changes) >= 0.9 * len(changes)


def test_another_speaker_takes_back_nothing_that_one_says_of_oneself() -> None:
    assert not ends("I work at Quillon Press.", "I work at Tarrant Books now.", speakers=("Ada", "Ben"))


@pytest.mark.parametrize(("day", "is_ended"), [(date(2025, 3, 5), True), (date(2025, 3, 9), False)])
def test_a_day_that_is_named_again_before_it_has_passed_is_a_new_one(day: date, *, is_ended: bool) -> None:
    text = "The survey is tomorrow."
    found = supersedes(Said(text, "Ada", day=date(2025, 3, 4)), Said(text, "Ada", day=day))
    assert (found in ENDS) is is_ended


@pytest.mark.parametrize(
    ("sentence", "stated"),
    [
        ("I have 45 sources, how can I sort them?", "I have 45 sources"),
        ("It rains.", "It rains."),
        ("Where are you?", "Where are you?"),
    ],
)
def test_the_question_behind_a_statement_is_cut_off(sentence: str, stated: str) -> None:
    assert stated_part(sentence) == stated


@pytest.mark.parametrize("sentence", ["Where are you?", "x = foo(1)", "Hi there!", "...", "return total;"])
def test_questions_greetings_and_code_state_nothing(sentence: str) -> None:
    assert not is_statement(sentence)


@pytest.mark.parametrize("pair", CHANGES, ids=lambda pair: f"{pair['earlier']} / {pair['later']}")
def test_spec_3_5_a_later_turn_ends_what_it_changes_and_nothing_else(pair: dict[str, Any]) -> None:
    sentences = split_sentences(pair["later"])
    found = [
        supersedes(Said(pair["earlier"], "Ada"), Said(sentence, "Ada", announces(pair["later"]))) in ENDS
        for sentence in sentences
    ]
    assert any(found) is pair["ends"]


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("Yeah, I agree.", "I couldn't agree more."),
        ("I felt hopeful after reading it.", "I could stop by there after my season."),
        ("I wanted to help out with a food drive.", "We got canned food and clothes to help out."),
        ("Lately I've been looking into counselling.", "Since our last chat, I've been looking into counselling more."),
        ("Take care, Sam!", "Take care, bye!"),
        ("This script works.", "I'm having trouble getting it to work as expected."),
    ],
)
def test_phrases_of_talk_end_nothing(earlier: str, later: str) -> None:
    assert not ends(earlier, later)


def test_spec_3_5_a_name_with_underscores_makes_no_code_of_a_sentence() -> None:
    assert is_statement("The flag instant_refund is on in production.")
    assert not is_statement("instant_refund = on")
    assert not is_statement("my_flag is_set")


def test_spec_3_5_a_bullet_is_no_part_of_a_statement() -> None:
    assert stated_part("- Q3 cloud budget is 48k euros") == "Q3 cloud budget is 48k euros"
    assert stated_part("2) the tank holds 60 litres") == "the tank holds 60 litres"
    assert stated_part("-5 degrees is cold") == "-5 degrees is cold"
