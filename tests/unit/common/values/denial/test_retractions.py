"""What the speaker takes back by saying so."""

from __future__ import annotations

from datetime import date

import pytest

from services.common.values.denial.retractions import is_retracted
from services.common.values.holding import Said, supersedes
from services.common.values.model import Relation

JANUARY, MARCH = date(2025, 1, 6), date(2025, 3, 12)
ENDS = {Relation.UPDATE, Relation.CONTRADICT}


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("I don't eat dairy.", "Scratch what I said about dairy."),
        ("I'm vegan.", "Forget what I said about being vegan, I had cheese again."),
        ("I'm moving to Oslo in May.", "What I told you about Oslo was a joke."),
        ("I'm moving to Oslo in May.", "What I told you yesterday about moving to Oslo isn't true."),
        ("I'm learning Korean now.", "Just kidding about Korean, I'm still on Japanese"),
    ],
)
def test_spec_3_5_what_is_taken_back_holds_no_more(earlier: str, later: str) -> None:
    assert is_retracted(earlier, later)
    assert supersedes(Said(earlier, "Ada", day=JANUARY), Said(later, "Ada", day=MARCH)) in ENDS


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("I love dairy farms in Wales.", "Scratch what I said about soy."),
        ("I'm moving to Oslo in May.", "What I told you about Bergen isn't true."),
        ("I'm moving to Oslo in May.", "What I told you about Oslo is still true."),
        ("I don't eat dairy.", "Remember what I said about dairy."),
        ("I'm vegan.", "Forget about the vegan restaurant."),
    ],
)
def test_spec_3_5_what_is_not_taken_back_holds(earlier: str, later: str) -> None:
    assert not is_retracted(earlier, later)


def test_spec_3_5_nobody_takes_back_what_somebody_else_said() -> None:
    earlier, later = Said("I don't eat dairy.", "Ada", day=JANUARY), Said("Scratch what I said about dairy.", "Ben")
    assert supersedes(earlier, later) not in ENDS


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("Tom's birthday is April 4.", "I was wrong about Tom's birthday, it's April 14, not April 4"),
        ("Tom's birthday is April 4.", "Tom's birthday is on April 14."),
        ("Tom's birthday is on April 4.", "Tom's birthday is April 14."),
        ("The meeting is Tuesday.", "The meeting is on Thursday."),
        ("I'm engaged to Tom.", "The engagement with Tom is off."),
        ("I'm engaged to Tom.", "We're not getting married after all."),
        ("My engagement party is in June.", "the engagement is off"),
        ("My yoga class is on Tuesdays.", "Yoga is on Wednesdays now."),
        ("My neighbour Carla waters the plants.", "Carla moved away."),
    ],
)
def test_spec_3_5_a_change_in_other_words_is_read(earlier: str, later: str) -> None:
    assert supersedes(Said(earlier, "Ada", day=JANUARY), Said(later, "Ada", day=MARCH)) in ENDS


@pytest.mark.parametrize("later", ["Yoga is good for the back.", "Yoga is exhausting.", "Yoga moved me to tears."])
def test_spec_3_5_a_remark_on_a_class_changes_nothing(later: str) -> None:
    earlier = Said("My yoga class is on Tuesdays.", "Ada", day=JANUARY)
    assert supersedes(earlier, Said(later, "Ada", day=MARCH)) not in ENDS


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("I run 10k every Sunday.", "No running this Sunday."),
        ("I run 10k every Sunday.", "I'm not running this Sunday, my ankle hurts."),
        ("Choir is on Thursdays.", "There's no choir tonight."),
        ("I'm vegetarian, so no meat recipes.", "I could murder a steak right now, haha, just kidding"),
    ],
)
def test_spec_3_5_one_time_or_a_joke_ends_no_habit(earlier: str, later: str) -> None:
    assert supersedes(Said(earlier, "Ada", day=JANUARY), Said(later, "Ada", day=MARCH)) not in ENDS


@pytest.mark.parametrize("later", ["No more running on Sundays.", "I quit running today."])
def test_spec_3_5_a_habit_that_is_given_up_ends(later: str) -> None:
    earlier = Said("I run 10k every Sunday.", "Ada", day=JANUARY)
    assert supersedes(earlier, Said(later, "Ada", day=MARCH)) in ENDS
