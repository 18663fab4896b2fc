"""What is given up and done again, what passes, one item of several, and yes and no of the same."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path

import pytest

from services.common.values.denial.restoring import is_so_after_all
from services.common.values.denial.reversals import is_reversed
from services.common.values.holding import Said, supersedes
from services.common.values.keys import statement_keys
from services.common.values.lives.passing import is_for_a_while, is_over
from services.common.values.model import Relation
from services.common.values.partings.items import loses_an_item
from services.common.values.reading.pieces import read_statement
from services.common.values.reading.rewording import in_plain_words
from services.common.values.sentences import announces

_ENDS = (Relation.UPDATE, Relation.CONTRADICT)
_LINES = Path(__file__).with_name("turning_back.jsonl").read_text("utf-8").splitlines()
_PAIRS = [(item["earlier"], item["later"], item["ends"]) for item in map(json.loads, _LINES)]


@pytest.mark.parametrize(("earlier", "later", "ends"), _PAIRS)
def test_spec_3_5_a_statement_ends_where_the_later_one_takes_it_back(earlier: str, later: str, *, ends: bool) -> None:
    first = Said(earlier, "Ada", announces(earlier), date(2025, 1, 8))
    second = Said(later, "Ada", announces(later), date(2025, 5, 12))
    is_found = bool(statement_keys(earlier) & statement_keys(later))
    assert (supersedes(first, second) in _ENDS and is_found) is ends


@pytest.mark.parametrize(
    ("earlier", "later", "resumed"),
    [
        ("I've quit smoking.", "I've started smoking again.", True),
        ("I dropped the piano lessons.", "I've resumed the piano lessons.", True),
        ("I dropped the piano lessons.", "I've resumed the Spanish lessons.", False),
        ("I don't play tennis any more.", "I watch tennis again.", False),
        ("I broke up with Lena.", "Lena and I are back together.", True),
        ("I broke up with Lena.", "I ran into Lena again.", False),
        ("I've quit smoking.", "I might start smoking again.", False),
        ("I've quit smoking.", "My brother has started smoking again.", False),
    ],
)
def test_spec_3_5_what_was_given_up_is_done_again(earlier: str, later: str, *, resumed: bool) -> None:
    assert is_so_after_all(earlier, later) is resumed


def test_spec_3_5_being_back_to_a_deed_says_that_it_is_done_now() -> None:
    assert in_plain_words("I'm back to taking the train to work.") == "I take the train to work now"
    assert in_plain_words("I'm back to paper books.") == "I'm back to paper books."


@pytest.mark.parametrize(
    ("earlier", "later", "lost"),
    [
        ("I have two cats and a dog.", "The dog lives with my ex now.", True),
        ("I have two cats and a dog.", "The dog was at the vet.", False),
        ("I have two cats.", "The cats live with my ex now.", False),
        ("The choir sings in Latin, German and Welsh.", "The choir doesn't sing in Welsh any more.", True),
        ("I have a brother and two sisters.", "My brother lives with his wife now.", False),
    ],
)
def test_spec_3_5_one_of_several_things_is_lost(earlier: str, later: str, *, lost: bool) -> None:
    second = read_statement(later)
    assert loses_an_item(earlier, read_statement(earlier).clauses, second.pieces, second.clauses) is lost


@pytest.mark.parametrize(
    ("text", "is_brief"),
    [
        ("I'm staying in Lisbon for two weeks.", True),
        ("I take the bus for now.", True),
        ("I've been in Oslo for two weeks.", False),
        ("I train for a marathon.", False),
    ],
)
def test_spec_3_5_what_holds_for_a_while_says_so(text: str, *, is_brief: bool) -> None:
    assert is_for_a_while(text) is is_brief


def test_spec_3_5_a_passing_state_is_over_with_the_return() -> None:
    assert is_over("I'm staying at my sister's until June.", "I'm back in my own flat.")
    assert not is_over("I live in Ulm.", "I'm back in my own flat.")
    assert not is_over("I'm staying at my sister's until June.", "I'll soon be back home.")


def test_spec_3_5_no_and_yes_of_the_same_are_seen_in_other_forms() -> None:
    assert is_reversed("The office has no lift.", "The office has a lift now.")
    assert is_reversed("I have no bike.", "I bought a bike last week.")
    assert not is_reversed("We have no kids.", "I got a kids menu.")
