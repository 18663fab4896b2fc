"""Denials and new quantities in long turns, what questions take for granted, and changes told in other words."""

from __future__ import annotations

import pytest

from services.common.values.denial.denials import denies
from services.common.values.denial.topics import requantifies
from services.common.values.holding import Said, supersedes
from services.common.values.lives.everyday import abstains
from services.common.values.model import Relation
from services.common.values.sentences import presupposed_part, stated_part

CHANGED = {Relation.UPDATE, Relation.CONTRADICT}


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        (
            "I've never written any integration tests for this service, and my lead asked about it",
            "I have written integration tests for the login routes of this service, so how do I run them in parallel",
        ),
        (
            "I have not renewed the parking permit for the van.",
            "I renewed the parking permit for the van this morning.",
        ),
        ("I've never been to Norway.", "I've been to Norway twice by now."),
    ],
)
def test_spec_3_5_one_case_ends_a_never(earlier: str, later: str) -> None:
    assert supersedes(Said(earlier, "Ana"), Said(later, "Ana")) in CHANGED


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("I've never written any tests for the billing module.", "I have written tests for the upload module."),
        ("I have not submitted the report for May.", "I submitted the report for April."),
        ("I've never written any unit tests for this project.", "I want to write unit tests for this project."),
        ("I've never written any unit tests for this project.", "I'll write unit tests for this project."),
        ("I've never been to Norway.", "I am reading about Norway."),
        ("I've never written any unit tests.", "I still have not written unit tests."),
    ],
)
def test_spec_3_5_a_never_stands_where_its_limits_or_the_deed_differ(earlier: str, later: str) -> None:
    assert supersedes(Said(earlier, "Ana"), Said(later, "Ana")) not in CHANGED


@pytest.mark.parametrize(
    ("earlier", "later", "is_denied"),
    [
        ("I'm laying out my shop using Tailwind 3.4 and I like it", "I've never used any Tailwind components.", True),
        ("I had to skip the choir rehearsal on May 3", "I've never skipped any choir rehearsals or concerts.", True),
        ("I have 3 choir rehearsals next week", "I've never skipped any choir rehearsals or concerts.", False),
        ("I'm polishing the cover letter for the museum", "I've never submitted my cover letter to Oskar.", False),
        ("I'm drawing circles to prove chord theorems", "I've never taken any exams involving chord theorems.", False),
        ("I think I'll start with chess puzzles next", "I've never solved any chess puzzles.", False),
        (
            "I'm improving my portal's search optimisation course notes",
            "I've never bought any optimized course notes.",
            True,
        ),
    ],
)
def test_spec_3_5_a_denial_needs_the_thing_or_the_deed(earlier: str, later: str, *, is_denied: bool) -> None:
    assert (supersedes(Said(earlier, "u"), Said(later, "u")) is Relation.CONTRADICT) is is_denied


@pytest.mark.parametrize(
    ("earlier", "later", "is_other"),
    [
        (
            "The repository of the editor plugin has 80 commits and 3 branches",
            "I'm writing docs for the plugin, and the commits of the editor have now reached 95, so help me",
            True,
        ),
        (
            "I booked 3 viewings for studio flats between June 2 and June 9",
            "Between June 2 and June 9 I booked 6 viewings for studio flats",
            True,
        ),
        (
            "I've merged 48 pull requests into the main branch",
            "I've merged 63 pull requests into the main branch",
            True,
        ),
        ("I booked 3 viewings of studio flats on June 2", "I booked 6 viewings of studio flats on June 20", False),
        (
            "I'm following how my quiz score rose from 60% to 75% with the cards, and I like the triangle lessons",
            "I'm glad that the accuracy in fractions improved to 90%, and I like the triangle lessons with the cards",
            False,
        ),
    ],
)
def test_spec_3_5_a_new_quantity_must_be_said_of_the_same(earlier: str, later: str, *, is_other: bool) -> None:
    assert (supersedes(Said(earlier, "u"), Said(later, "u")) in CHANGED) is is_other


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("My kiln fires at 1,200 degrees for 9 hours.", "With the new elements my kiln fires at 1,240 degrees."),
        ("I row on Mondays and Wednesdays.", "New plan: I row on Tuesdays and Fridays."),
        ("We stay at the Hotel Miramar.", "The Miramar was closed, we stay at the Pension Rosa."),
        ("My shell is zsh now, for the plugins.", "My shell is bash again."),
        ("Our cat Minka sleeps on the piano.", "We had Minka put down on Friday."),
        ("My wrist is in a splint.", "The splint came off this morning!"),
        ("I smoke ten a day.", "Five weeks without a cigarette today."),
        ("I rent a studio near the port.", "The cottage on Mill Lane is ours, we slept there for the first time."),
    ],
)
def test_spec_3_5_a_change_in_other_words_ends_what_was_said(earlier: str, later: str) -> None:
    assert supersedes(Said(earlier, "Ana"), Said(later, "Ana")) in CHANGED


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("My kiln fires at 1,200 degrees.", "My oven bakes at 250 degrees."),
        ("All the hard work is worth it.", "I got promoted at work!"),
        ("I work for the port authority.", "Sorry to hear about your new job."),
        ("I work for the port authority.", "I won't quit."),
        ("My sister smokes a pipe.", "Five weeks without a cigarette today."),
        ("No way, John!", "Way to go, John!"),
        ("I'm using a single-user setup", "I want each part properly separated now"),
        ("I'll keep you posted on how it goes!", "I'm looking forward to how it goes!"),
    ],
)
def test_spec_3_5_similar_words_about_something_else_end_nothing(earlier: str, later: str) -> None:
    assert supersedes(Said(earlier, "Ana"), Said(later, "Ana")) not in CHANGED


@pytest.mark.parametrize(
    ("question", "granted"),
    [
        (
            "How can I stay below the limit of 1000 calls/day for my weather key?",
            "the limit of 1000 calls/day for my weather key",
        ),
        (
            "How do I plan, can you add my deposit of 900 euros for our flat, or not?",
            "my deposit of 900 euros for our flat",
        ),
        ("What if the rent of my flat were 900 euros?", ""),
        ("How would you spend the 900 euros of my deposit?", ""),
        ("Is the rent of my flat 900 euros?", ""),
        ("How do I plan my trip?", ""),
        ("How " * 400 + "the 5 of my?", ""),
    ],
)
def test_spec_3_5_a_question_takes_for_granted_what_it_names_with_a_number(question: str, granted: str) -> None:
    assert presupposed_part(question) == granted


def test_what_others_did_is_no_habit_of_the_speaker() -> None:
    assert abstains("I drink wine every evening.", "A year without a drop.")
    assert not abstains("I don't smoke.", "A year without a cigarette.")
    assert not abstains("I eat meat.", "Two weeks without a phone.")


def test_what_is_not_sure_is_not_denied() -> None:
    told = "I enrolled in a pottery class at the Kiln studio, but I'm not sure about the schedule."
    assert denies(told, "I've never enrolled in any pottery class at the Kiln studio.")
    assert not denies(told, "I've never enrolled in any swimming course or diving club.")


def test_a_moved_date_supersedes_only_dates() -> None:
    meeting = "I have a meeting with Doctor Hallam on May 4 at 3 PM."
    assert requantifies(meeting, "The meeting with Doctor Hallam is rescheduled to May 4 at 5 PM.")
    assert not requantifies(meeting, "The meeting with Doctor Hallam improved my mood by May 9.")


def test_what_a_question_takes_for_granted_is_stated() -> None:
    asked = "Can you remind me that it's moved to Friday at noon?"
    assert stated_part(f"I keep forgetting the review, {asked}") == (
        "I keep forgetting the review, it's moved to Friday at noon"
    )
    assert stated_part("I have 45 sources, how can I sort them?") == "I have 45 sources"
