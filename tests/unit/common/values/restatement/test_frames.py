"""The same sentence with another end."""

from __future__ import annotations

import pytest

from services.common.values.holding import Said, supersedes
from services.common.values.model import Relation
from services.common.values.restatement.frames import is_negation, takes_another_end


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("The choir meets in the old mill.", "The choir meets in the library these days."),
        ("My landlord is Mr Doyle.", "As of this month my landlord is Mrs Quigley."),
        ("The invoices go to Karin.", "The invoices go to Jens now, Karin left."),
        ("We publish on Fridays.", "We publish on Mondays from now on."),
        ("The judges are Ida, Per and Liv.", "The judges are Ida, Liv and Ole now."),
        ("The parcel arrives on Monday.", "The parcel arrives on Thursday, not on Monday."),
    ],
)
def test_spec_3_5_another_end_that_is_said_to_be_new_supersedes(earlier: str, later: str) -> None:
    assert takes_another_end(earlier, later)
    assert supersedes(Said(earlier, "Ada"), Said(later, "Ada")) is Relation.UPDATE


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("The choir meets in the old mill.", "The choir meets in the library."),  # nothing says that it is new
        ("The choir meets in the old mill.", "This week the choir meets in the library now."),
        ("The choir meets in the old mill.", "The choir meets in the library too now."),
        ("I like tea.", "I like coffee now."),
        ("I have a cat.", "I have a dog now."),
        ("I am a nurse.", "I am tired now."),
        ("I'm not at home.", "I'm not at work now."),
        ("In winter the pool opens at nine.", "In summer the pool opens at seven now."),
        ("From 1978 to 1984 I taught at the grammar school.", "From 1984 to 1991 I taught at the polytechnic."),
        ("My sister works in Galway.", "My brother works in Cork now."),
    ],
)
def test_what_holds_beside_it_or_for_a_while_takes_nothing_back(earlier: str, later: str) -> None:
    assert not takes_another_end(earlier, later)


@pytest.mark.parametrize(
    ("earlier", "later", "expected"),
    [
        ("I like coffee.", "I don't like coffee any more.", True),
        ("I never eat fish.", "I eat fish now.", True),
        ("I live in Leeds.", "I live in Lyon now.", False),
        ("I don't drive.", "I never drive at night.", False),
    ],
)
def test_spec_5_7_a_statement_that_says_no_to_another_is_told_from_another_value(
    earlier: str, later: str, *, expected: bool
) -> None:
    assert is_negation(earlier, later) is expected
