"""What happened on one occasion, to relatives, or for something else ends nothing; what does beside these."""

from __future__ import annotations

from datetime import date

import pytest

from services.common.values.holding import Said, supersedes
from services.common.values.model import Relation
from services.common.values.reading.coordinated import later_deeds
from services.common.values.reading.occasions import happened_once, is_usual

_FIRST = date(2025, 3, 1)
_SECOND = date(2025, 7, 1)


def _ends(earlier: str, later: str) -> bool:
    found = supersedes(Said(earlier, "Ada", day=_FIRST), Said(later, "Ada", day=_SECOND))
    return found in {Relation.UPDATE, Relation.CONTRADICT}


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("I take the tram to work.", "The tram was full, so I walked instead."),
        ("I go to work by bike.", "It was raining, so I took the bus."),
        ("I drink coffee in the morning.", "We were out of coffee, so I had tea instead."),
        ("I pay by card.", "The card reader was broken, so I paid cash."),
        ("I usually take the train.", "I drove yesterday because of the strike."),
        ("We meet on Zoom.", "Zoom was down, so we used Teams."),
    ],
)
def test_spec_3_5_a_deed_of_one_occasion_does_not_end_what_is_usual(earlier: str, later: str) -> None:
    assert is_usual(earlier)
    assert happened_once(later)
    assert not _ends(earlier, later)


@pytest.mark.parametrize(
    "later",
    [
        "The tram got too expensive, so I bought a bike.",
        "The tram was always full, so I walk now.",
        "The tram was full every morning, so I switched to the bus.",
        "The Aurora was full, we stay at the Flor.",
    ],
)
def test_spec_3_5_a_deed_that_changes_something_is_none_of_one_occasion(later: str) -> None:
    assert not happened_once(later)


def test_spec_3_5_another_way_from_now_on_ends_what_was_usual() -> None:
    assert _ends("I take the tram to work.", "I walk to work now.")


@pytest.mark.parametrize(
    ("earlier", "later", "ends"),
    [
        ("My sisters are Ada, Bea and Cleo.", "Bea has moved to Bergen.", False),
        ("I have two sisters, Ada and Bea.", "Bea has moved to Bergen.", False),
        ("My cousins are Tom, Ana and Ivo.", "Ivo has left Paris for Lima.", False),
        ("My flatmates are Tom, Ana and Ivo.", "Ivo has moved to Lima.", True),
    ],
)
def test_spec_3_5_relatives_who_move_are_relatives(earlier: str, later: str, *, ends: bool) -> None:
    assert _ends(earlier, later) is ends


@pytest.mark.parametrize(
    ("earlier", "ends"),
    [
        ("The kiosk supports Internet Explorer 11.", False),
        ("For the kiosk we support Chrome and Internet Explorer.", False),
        ("The shop supports Chrome, Edge and Internet Explorer.", True),
    ],
)
def test_spec_3_5_what_is_gone_for_one_thing_stays_for_another(earlier: str, *, ends: bool) -> None:
    assert _ends(earlier, "Internet Explorer is history for the shop.") is ends


@pytest.mark.parametrize(
    ("earlier", "later", "ends"),
    [
        (
            "I'm in the office on Mondays, Tuesdays and Thursdays.",
            "From now on Thursdays are home office for me.",
            True,
        ),
        ("I work Mondays, Wednesdays and Fridays.", "My Fridays are free now.", True),
        ("I work Mondays, Wednesdays and Fridays.", "I'm off this Friday.", False),
        ("I work Mondays, Wednesdays and Fridays.", "Tuesdays are free.", False),
        ("My boss is in on Mondays, Wednesdays and Fridays.", "My Fridays are free now.", False),
    ],
)
def test_spec_3_5_a_weekday_that_is_used_otherwise_ends_the_list_of_days(
    earlier: str, later: str, *, ends: bool
) -> None:
    assert _ends(earlier, later) is ends


@pytest.mark.parametrize(
    ("earlier", "ends"),
    [
        ("I fly to Lisbon on 11 May.", True),
        ("I'm taking the train to Lisbon on Friday.", True),
        ("I fly to Madrid on 11 May.", False),
        ("I fly to Lisbon every May.", False),
        ("My aunt flies to Lisbon on 11 May.", False),
    ],
)
def test_spec_3_5_a_journey_ends_with_what_it_was_for(earlier: str, *, ends: bool) -> None:
    assert _ends(earlier, "They called off the Lisbon conference.") is ends


@pytest.mark.parametrize(
    ("earlier", "later", "ends"),
    [
        ("I share a flat with Tom.", "Tom got married and moved out.", True),
        ("I share a flat with Tom.", "Tom got married and might move out.", False),
        ("My desk at Brightwave is on the fourth floor.", "Brightwave let me go on Friday.", True),
        ("I have accounts at ING, Revolut and Wise.", "Shut the Wise account yesterday.", True),
        ("I'm vegan.", "Eggs and fish are back on my plate, doctor's orders.", True),
        ("I'm vegan.", "The plates are back on the table.", False),
    ],
)
def test_spec_3_5_further_events_end_what_they_are_about(earlier: str, later: str, *, ends: bool) -> None:
    assert _ends(earlier, later) is ends


def test_spec_3_5_the_second_deed_of_one_subject_is_read_by_itself() -> None:
    assert later_deeds("Tom got married and moved out.") == ("Tom moved out.",)
    assert later_deeds("If Tom got married and moved out, I'd be glad.") == ()
    assert later_deeds("Tom sold apples and pears.") == ()
