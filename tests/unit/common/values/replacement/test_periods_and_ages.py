"""Two periods are two times, and an age grows with the years only."""

from __future__ import annotations

from datetime import date, timedelta

import pytest

from services.common.values.holding import Said, supersedes
from services.common.values.model import Relation
from services.common.values.replacement.ages import can_be_of_age

_ENDS = (Relation.UPDATE, Relation.CONTRADICT)
_DAY = date(2025, 3, 10)


def ends(earlier: str, later: str, *, days: int = 0) -> bool:
    return supersedes(Said(earlier, "Ada", day=_DAY), Said(later, "Ada", day=_DAY + timedelta(days=days))) in _ENDS


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("this week I am on nights", "next week I am on earlies, then call me whenever"),
        ("I am on nights this week", "I am on earlies next week"),
        ("This week my alarm is at six.", "Next week my alarm is at eight."),
        ("This month the clinic is in Room 4.", "Next month the clinic is in Room 9."),
        ("Next week I am in Room 4.", "This week I am in Room 9."),
        ("This week I am in Room 4.", "From next week I am in Room 9."),
        ("This term my tutor is Mr Bell.", "Next term my tutor is Ms Roth."),
        ("On Mondays my alarm is at six.", "On Fridays my alarm is at eight."),
        ("In the mornings my office is Room 4.", "In the evenings my office is Room 9 now."),
        ("From October to April the lido opens at 8.", "From May to September the lido opens at 6."),
        ("Monday to Wednesday I am in Room 4.", "Thursday to Sunday I am in Room 9 now."),
    ],
)
def test_spec_3_5_what_holds_in_another_period_ends_nothing(earlier: str, later: str) -> None:
    assert not ends(earlier, later)


@pytest.mark.parametrize(
    ("earlier", "later", "days"),
    [
        ("I am on nights.", "I am on earlies now.", 30),
        ("This week I am on nights.", "This week I am on earlies.", 1),
        ("This week I am on nights.", "I am on earlies now.", 3),
        ("From this week I am on nights.", "Next week I am on days.", 0),
        ("My meeting is on Mondays.", "My meeting is on Thursdays now.", 40),
        ("In the mornings I am at the clinic.", "In the evenings I am at the clinic now.", 40),
        ("The shop is open Monday to Friday.", "The shop is open Tuesday to Saturday now.", 40),
        ("From October to April the lido opens at 8.", "From October to April the lido opens at 9 now.", 40),
    ],
)
def test_spec_3_5_within_one_period_and_of_the_period_itself_a_later_value_stands(
    earlier: str, later: str, days: int
) -> None:
    assert ends(earlier, later, days=days)


@pytest.mark.parametrize(
    ("earlier", "later", "days", "is_ended"),
    [
        ("I'm 34 years old.", "I'm 95 years old now.", 60, False),
        ("I'm thirty-four years old.", "I'm ninety years old now.", 60, False),
        ("My mother is 70.", "My mother is 81.", 300, False),
        ("I'm 36 years old.", "I'm 22 years old now.", 60, False),
        ("I'm 34 years old.", "I'm 35 years old now.", 300, True),
        ("I am 28.", "I am 31 now.", 1_000, True),
        ("My mother is 70.", "My mother is 71.", 300, True),
        ("I'm 34 years old.", "Correction: I'm 43 years old.", 60, True),
        ("The oak is 90 years old.", "The oak is 140 years old now.", 30, True),
        ("I'm 34 weeks pregnant.", "I'm 36 weeks pregnant now.", 14, True),
    ],
)
def test_spec_3_5_an_age_grows_with_the_years_only(earlier: str, later: str, days: int, *, is_ended: bool) -> None:
    assert ends(earlier, later, days=days) is is_ended


def test_an_age_that_is_no_number_can_follow_any() -> None:
    assert can_be_of_age("34", "middle-aged", timedelta(0))
    assert can_be_of_age("34", "35", timedelta(0))
    assert not can_be_of_age("34", "36", timedelta(days=90))


def test_spec_3_5_what_was_in_a_week_that_is_over_stays_so() -> None:
    assert not ends("Last week I ran 31 km in total.", "Last week I ran 18 km in total.", days=14)
    assert not ends("In first year I lived in Lille with four mates.", "After graduation I'm off to Galway.", days=14)
