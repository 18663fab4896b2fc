"""Values of which one holds at a time, told as an event of any kind (`contrasts.py`)."""

from __future__ import annotations

from datetime import date

import pytest

from services.common.values.holding import Said, supersedes
from services.common.values.keys import statement_keys
from services.common.values.model import Relation
from services.common.values.replacement.contrasts import contrast_keys, has_another_value

_ENDS = (Relation.UPDATE, Relation.CONTRADICT)
_FIRST, _SECOND = date(2025, 2, 3), date(2025, 5, 12)


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("My car is a grey Volvo.", "Signed for a Tesla on Saturday, the dealer took the Volvo."),
        ("My laptop is a Dell.", "The firm handed out MacBooks to all of us."),
        ("I'm a Methodist.", "I was received into the Catholic church at Whitsun."),
        ("My hair is brown.", "Came out of the salon as a redhead."),
        ("I'm a defender.", "The trainer moved me up front, three goals already."),
        ("I sing tenor.", "The conductor switched me to the baritones."),
        ("I'm the treasurer of the rowing club.", "They elected me president of the rowing club."),
        ("We wash the dishes by hand.", "A dishwasher hums in the kitchen since Monday."),
        ("We take cash only in the shop.", "The card reader arrived, customers pay by card at last."),
        ("I drink coffee at breakfast.", "Caffeine-free for two months now."),
        ("My grandmother cooks on gas.", "Grandma got an induction hob last week."),
        ("Lio sleeps in a cot.", "First night in a big bed for Lio!"),
        ("I write my notes in Evernote.", "Exported the notes to Joplin and never looked back."),
        ("I have lunch in the canteen.", "I bring a packed lunch instead."),
        ("Nora drives a Saab.", "Nora drives a Mazda."),
    ],
)
def test_spec_3_5_another_value_of_a_class_ends_the_one_before(earlier: str, later: str) -> None:
    assert supersedes(Said(earlier, "Ada", day=_FIRST), Said(later, "Ada", day=_SECOND)) in _ENDS
    assert statement_keys(earlier) & statement_keys(later), "they would not be compared"


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("My car is a grey Volvo.", "My cousin bought a Tesla."),
        ("My car is a grey Volvo.", "Rented a Kia for the holidays."),
        ("My car is a grey Volvo.", "We bought a Fiat as a second car."),
        ("My car is a grey Volvo.", "My van is a Ford now."),
        ("My laptop is a Dell.", "Fixed a MacBook for a friend."),
        ("I'm a Methodist.", "I went to a Catholic wedding on Sunday."),
        ("My hair is brown.", "I bought a red coat."),
        ("My hair is brown.", "Dyed my sister's hair red yesterday."),
        ("I'm a defender.", "Our new striker scored twice."),
        ("I sing tenor.", "The baritone of the other choir moved away."),
        ("We wash the dishes by hand.", "My parents got a dishwasher."),
        ("I drink coffee at breakfast.", "I had a tea with Grandpa."),
        ("I drink coffee at breakfast.", "At my aunt's I drink tea now."),
        ("I write my notes in Evernote.", "My recipes live in Joplin now."),
        ("We use Slack.", "My kids' school switched to Teams."),
        ("I use Windows on my laptop.", "Installed Debian on the old machine in the attic."),
        ("I have lunch in the canteen.", "I had a salad today."),
        ("Lio sleeps in a cot.", "I slept on the sofa."),
    ],
)
def test_spec_3_5_what_is_tried_borrowed_or_of_others_ends_nothing(earlier: str, later: str) -> None:
    assert supersedes(Said(earlier, "Ada", day=_FIRST), Said(later, "Ada", day=_SECOND)) not in _ENDS


def test_spec_3_5_values_of_one_day_hold_beside_each_other() -> None:
    earlier, later = "My car is a grey Volvo.", "Signed for a Tesla on Saturday."
    assert has_another_value(earlier, later)
    same_day = supersedes(Said(earlier, "Ada", day=_FIRST), Said(later, "Ada", day=_FIRST))
    assert same_day not in _ENDS


def test_a_sentence_without_a_value_has_no_key_of_a_class() -> None:
    assert contrast_keys("My sister lives near the park.") == frozenset()
    assert contrast_keys("My car is a grey Volvo.") == {"contrast:car"}


@pytest.mark.parametrize(
    ("earlier", "later", "ends"),
    [
        ("I keep my notes in Evernote.", "Obsidian with three plugins, my thoughts have links.", True),
        ("My browser is Chrome.", "Typing this in Firefox, it feels lighter.", True),
        ("I drive a Skoda.", "There's a Dacia in the drive.", True),
        ("I keep my notes in Evernote.", "My brother is typing this in Obsidian.", False),
        ("I drive a Skoda.", "There's a Dacia in the neighbour's drive.", False),
    ],
)
def test_spec_3_5_a_value_that_the_speaker_has_in_use_is_new(earlier: str, later: str, ends: bool) -> None:
    first, second = Said(earlier, "Ada", day=_FIRST), Said(later, "Ada", day=_SECOND)
    assert (supersedes(first, second) in _ENDS) is ends
