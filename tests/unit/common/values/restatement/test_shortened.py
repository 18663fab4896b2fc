"""Corrections that name their subject in fewer words."""

from __future__ import annotations

from datetime import date

import pytest

from services.common.values.holding import Said, supersedes
from services.common.values.model import Relation

DAY = date(2026, 5, 4)


def read(earlier: str, later: str, *, days: int = 0) -> Relation:
    return supersedes(Said(earlier, "A", False, DAY), Said(later, "A", False, DAY.replace(day=4 + days)))


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("My budget for the trip is 900 euros.", "Actually my budget is 1200 euros."),
        ("My flight to Oslo is at 8:25.", "Sorry, my flight is at 9:25."),
        ("The rent of the flat is 900 euros.", "Correction: the rent is 950 euros."),
        ("My deadline for the thesis is May 3.", "No wait, the deadline is May 10."),
        ("The ticket for the museum costs 12 euros.", "Actually, sorry, the ticket costs 14 euros."),
    ],
)
def test_spec_3_5_a_correction_may_leave_out_what_described_its_subject(earlier: str, later: str) -> None:
    assert read(earlier, later) is Relation.UPDATE


@pytest.mark.parametrize(
    ("earlier", "later", "days"),
    [
        ("My budget for the trip is 900 euros.", "My budget is 1200 euros.", 0),  # no correction
        ("My budget for the trip is 900 euros.", "Actually my budget for the kitchen is 1200 euros.", 0),
        ("My flight to Oslo is at 8:25.", "Actually my train is at 9:25.", 0),
        ("My flight to Oslo is at 8:25.", "Actually my flight is with Norwegian.", 0),  # another matter
        ("My flight to Oslo is at 8:25.", "Actually my flight is at 8:25.", 0),
        ("My flight to Oslo is at 8:25.", "Actually my flight is at 9:25.", 5),  # it may be another flight by now
    ],
)
def test_spec_3_5_what_may_mean_another_one_is_left(earlier: str, later: str, days: int) -> None:
    assert read(earlier, later, days=days) not in {Relation.UPDATE, Relation.CONTRADICT}
