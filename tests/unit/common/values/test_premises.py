"""What rests on a statement that holds no more."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from services.common.values.holding import Said
from services.common.values.premises import rests_on

CASES = [json.loads(line) for line in (Path(__file__).parent / "premises.jsonl").read_text("utf-8").splitlines()]
PREMISE = Said("My office is on the third floor.", "Ada")
LATER = Said("My office is on the first floor now.", "Ada")


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case['statement']} / {case['premise']}")
def test_spec_3_5_what_repeats_an_ended_value_of_the_same_thing_rests_on_it(case: dict[str, Any]) -> None:
    said = [Said(case[name], "Ada") for name in ("statement", "premise", "later")]
    assert rests_on(*said) is case["rests"]


@pytest.mark.parametrize(
    "statement",
    [
        "If my office is on the third floor, I take the stairs.",
        "Maybe my office stays on the third floor.",
        "My colleague's office is on the third floor.",
        "I carried boxes to my office on the third floor in May.",
        "I still have a key to my office on the third floor.",
    ],
)
def test_what_is_supposed_over_or_said_of_others_rests_on_nothing(statement: str) -> None:
    assert not rests_on(Said(statement, "Ada"), PREMISE, LATER)


def test_what_somebody_else_says_does_not_rest_on_it() -> None:
    statement = "I take the stairs to my office on the third floor."
    assert rests_on(Said(statement, "Ada"), PREMISE, LATER)
    assert not rests_on(Said(statement, "Ben"), PREMISE, LATER)


@pytest.mark.parametrize(
    ("statement", "premise", "later"),
    [
        (
            "I want to make sure I'm handling these errors correctly.",
            "I want to make sure the pages load in 300 ms.",
            "I want to make sure the pages load in 200 ms now.",
        ),
        (
            "I'm trying to design an API for transactions, and I want to make sure I'm doing it correctly.",
            "I'm trying to optimize the API, which was at 800 ms, and I want to be sure that it stays in budget.",
            "I'm trying to optimize the API, which is at 250 ms now, and I want to use the latest versions.",
        ),
    ],
)
def test_aims_and_long_sentences_are_no_premises(statement: str, premise: str, later: str) -> None:
    assert not rests_on(*(Said(text, "Ada") for text in (statement, premise, later)))


@pytest.mark.parametrize(
    ("statement", "premise", "later"),
    [
        ("We have 14 vans at the depot.", "We are 14 people at the depot.", "We are 17 people at the depot."),
        ("The manager of the B team is Edda too.", "Our manager is Edda.", "Our manager is Wim."),
        ("Q4 cloud budget is 48k euros", "Q3 cloud budget is 48k euros", "Q3 cloud budget is 41k euros"),
    ],
)  # fmt: skip
def test_spec_3_5_the_same_value_of_something_else_rests_on_nothing(statement: str, premise: str, later: str) -> None:
    assert not rests_on(*(Said(text, "Ada", day=date(2025, 3, 4)) for text in (statement, premise, later)))
