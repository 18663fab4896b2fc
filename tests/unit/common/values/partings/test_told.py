"""What people tell of somebody who goes, something that is over, and a list that is shorter; and look-alikes."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from services.common.values.holding import Said, supersedes
from services.common.values.keys import statement_keys
from services.common.values.model import Relation
from services.common.values.partings.members import is_out
from services.common.values.reading.openers import without_opener
from services.common.values.replacement.periods import is_left_out_once
from services.common.values.sentences import announces
from services.common.values.words.nouns import attributes_in, meal_in

_LINES = (Path(__file__).parent / "told.jsonl").read_text("utf-8").splitlines()
_PAIRS: list[dict[str, Any]] = [json.loads(line) for line in _LINES]


@pytest.mark.parametrize("pair", _PAIRS, ids=lambda pair: f"{pair['earlier']} / {pair['later']}")
def test_spec_3_5_what_is_told_to_be_over_ends_what_was_said_of_it_and_nothing_else(pair: dict[str, Any]) -> None:
    earlier = Said(pair["earlier"], "Ada", day=date(2025, 1, 1))
    later = Said(pair["later"], "Ada", announces(pair["later"]), date(2025, 6, 2))
    assert (supersedes(earlier, later) in {Relation.UPDATE, Relation.CONTRADICT}) is pair["ends"]


@pytest.mark.parametrize(
    "pair", [pair for pair in _PAIRS if pair["ends"]], ids=lambda pair: f"{pair['earlier']} / {pair['later']}"
)
def test_spec_3_5_what_is_over_is_found_by_a_common_key(pair: dict[str, Any]) -> None:
    assert statement_keys(pair["earlier"]) & statement_keys(pair["later"])


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        ("sad news the choir has folded", "the choir has folded"),
        ("We regret to announce that Hydra has been switched off.", "Hydra has been switched off."),
        ("I'm sorry to say the trip is off.", "the trip is off."),
        ("Unfortunately our van has died.", "our van has died."),
        ("I have to tell you that we closed the shop.", "we closed the shop."),
        ("I'm afraid of the dog next door.", "I'm afraid of the dog next door."),
        ("I have to let the dog out.", "I have to let the dog out."),
        ("I have to tell the boss about it.", "I have to tell the boss about it."),
        ("I would regret to tell you that the trip is off.", "I would regret to tell you that the trip is off."),
    ],
)
def test_spec_3_5_openers_of_bad_news_are_set_aside(text: str, rest: str) -> None:
    assert without_opener(text).text == rest


@pytest.mark.parametrize(
    ("earlier", "later", "out"),
    [
        ("Sat lunch: milo, jorge and pris", "pris bailed", True),
        ("Our trip is Ana, Bo and me.", "Bo has dropped out of the trip.", True),
        ("The walk is Ana, Bo and me.", "Bo has dropped out of the trip.", False),
        ("Dinner on Friday: Ana, Bo.", "Bo may be out for dinner.", False),
        ("I pay for Mubi and Max.", "We cancelled Max.", True),
        ("I have Mubi and Max on the telly.", "We cancelled Max.", False),
        ("I pay for Mubi and Max.", "Max cancelled his holiday.", False),
        ("Bo is coming.", "Bo bailed.", False),  # no list
    ],
)
def test_spec_3_5_who_is_out_of_a_list(earlier: str, later: str, out: bool) -> None:
    assert is_out(earlier, later) is out


def test_spec_3_5_what_is_called_off_once_goes_on() -> None:
    assert is_left_out_once("I bring the stands to orchestra.", "Orchestra is cancelled tonight.")
    assert not is_left_out_once("I bring the stands to orchestra.", "Orchestra is cancelled.")
    assert not is_left_out_once("I bring cake to orchestra tonight.", "Orchestra is cancelled tonight.")


def test_spec_3_5_times_that_say_which_thing_is_meant() -> None:
    assert meal_in("The team lunch is ") == {"lunch"}
    assert meal_in("At lunch the team ") == frozenset()
    assert attributes_in("The night ferry ") == {"night"}
    assert attributes_in("Last night the ferry ") == frozenset()
