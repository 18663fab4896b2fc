"""Orders and habits behind a lead-in clause that says why."""

from __future__ import annotations

from datetime import date

import pytest

from services.common.values.holding import Said, supersedes
from services.common.values.model import Relation

_ENDS = (Relation.UPDATE, Relation.CONTRADICT)


def ends(earlier: str, later: str) -> bool:
    first, second = Said(earlier, "Ada", day=date(2025, 2, 3)), Said(later, "Ada", day=date(2025, 5, 12))
    return supersedes(first, second) in _ENDS


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("Give me temperatures in Celsius.", "On secondment in Ohio now, so give me temperatures in Fahrenheit."),
        ("On secondment in Ohio now, so give me temperatures in Fahrenheit.", "Give me temperatures in Celsius again."),
        ("Write to me in English.", "My new boss is French, so write to me in French from now on."),
        ("Write to me in English.", "In future, write to me in French."),
        ("I train in the mornings, before the kids are up.", "With the new baby I train in the evenings."),
        ("I walk the dog in the mornings.", "Because of the heat I walk the dog in the evenings."),
        ("With the new baby I train in the evenings.", "I train in the mornings again."),
    ],
)
def test_spec_3_5_behind_a_reason_an_order_or_another_part_of_day_takes_its_place(earlier: str, later: str) -> None:
    assert ends(earlier, later)


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("Write to me in English.", "If I fly to Paris, write to me in French."),
        ("Write to me in English.", "In letters to Ana, write to me in French."),
        ("Give me temperatures in Celsius.", "At weekends I bake, so give me temperatures in Fahrenheit."),
        (
            "Give me temperatures in Celsius.",
            "The book is old, so give me temperatures in Fahrenheit for its recipes.",
        ),
        ("I train in the mornings.", "With Jonas I train in the evenings."),
        ("I train in the mornings.", "Because of the exams I train in the evenings too."),
        ("I take tea in the mornings.", "Since the operation I take coffee in the evenings."),
        ("I train in the mornings.", "I train in the evenings."),
    ],
)
def test_spec_3_5_behind_a_condition_or_an_occasion_it_does_not(earlier: str, later: str) -> None:
    assert not ends(earlier, later)
