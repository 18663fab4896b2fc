"""What was so before and is so again, and what holds until something that has come."""

from __future__ import annotations

from datetime import date

import pytest

from services.common.values.holding import Said, supersedes
from services.common.values.model import Relation
from services.common.values.returning import returns_to

RETURNS = [
    ("Send the report weekly.", "Send the report daily from now on, things are hot.", "Weekly report again please."),
    (
        "Show me heights in feet.",
        "Show me heights in metres from now on, I moved to Lyon.",
        "Home at last, feet again.",
    ),
    ("I keep my log in Markdown.", "I keep my log in Org mode now.", "Org is too clever for me, back to Markdown."),
    ("default branch is main", "the default branch is trunk from today", "trunk confused the bots, main it is again"),
    ("I drink green tea at work.", "I drink coffee at work now.", "I'm back on green tea, the coffee machine broke."),
    (
        "On flights I want an aisle seat.",
        "Book me a window seat on flights from now on.",
        "Aisle seat again on flights.",
    ),
    (
        "We use tabs in the backend.",
        "The lead wants spaces in the backend, so spaces it is.",
        "Back to tabs in the backend.",
    ),
    (
        "I listen to jazz while working.",
        "I listen to podcasts while working now.",
        "I listen to jazz while working again.",
    ),
    ("Latte with cow's milk for me.", "Off dairy, I take oat milk in my coffee.", "I'm back on the cow, sorry planet."),
    (
        "I take the 8:05 train to the office, third carriage.",
        "The bridge is closed, so it is the replacement bus from the church.",
        "In my third carriage again, my seat, my coffee.",
    ),
]
STAYS = [
    ("book me aisle seats", "book me window seats from now on", "The aisle seats were all taken again."),
    ("Call me Bea.", "Call me Beatrix now.", "Aunt Bea called again."),
    (
        "I take the 8:05 train to the office, third carriage.",
        "The bridge is closed, so it is the replacement bus from the church.",
        "The office printer is broken again.",
    ),
    ("Send the report weekly.", "Send the report daily from now on.", "The invoices weekly again please."),
    ("I drink green tea at work.", "I drink coffee at work now.", "I might go back to green tea."),
    ("I drink green tea at work.", "I drink coffee at work now.", "My boss is back on green tea."),
    ("I drink green tea at work.", "I drink coffee at work now.", "I never want green tea again."),
    ("I run in the morning.", "I run in the evening now.", "I was late again in the morning today."),
    ("I drink green tea at work.", "I drink coffee at work now.", "I like green tea."),
    ("I drink green tea at work.", "I drink coffee at work now.", "Coffee again, after the green tea."),
]
COME = [
    (
        "Broke my arm, so until the cast comes off I type with one hand.",
        "Cast's off since Monday, both hands type again.",
    ),
    ("The ferry is out of service, we take the bridge until it sails.", "The ferry sails, we took it today."),
    ("Sprained my knee, so for three weeks my son walks the dog.", "The knee's fine again, I walk since today."),
    ("the site is down for maintenance till sunday", "maintenance done, orders come in like before"),
    ("I take the bus until my bike is repaired.", "My bike is repaired."),
    ("I'm working from the library this week, the office has no heating.", "Heating's fixed."),
]
NOT_COME = [
    ("I take the bus until my bike is repaired.", "My bike is not repaired yet."),
    ("I take the bus until my bike is repaired.", "Tom's bike is repaired."),
    ("We eat in the garage until the kitchen is finished.", "The kitchen will be finished on Monday."),
    ("Lena sleeps in our room until she is three.", "The room is finished."),
    ("I'm at my sister's for two weeks.", "The sister is fine."),
    ("We eat in the garage until the kitchen is finished.", "The kitchen of my brother is nice."),
    ("I'm working from the library this week, the office has no heating.", "The library is fine."),
]


@pytest.mark.parametrize(("former", "standing", "later"), RETURNS)
def test_spec_3_5_what_was_so_before_is_so_again(former: str, standing: str, later: str) -> None:
    assert returns_to(former, standing, later)


@pytest.mark.parametrize(("former", "standing", "later"), STAYS)
def test_spec_3_5_what_took_its_place_stays(former: str, standing: str, later: str) -> None:
    assert not returns_to(former, standing, later)


def ends(earlier: str, later: str) -> bool:
    found = supersedes(Said(earlier, "Ada", day=date(2025, 1, 8)), Said(later, "Ada", day=date(2025, 5, 12)))
    return found in {Relation.UPDATE, Relation.CONTRADICT}


@pytest.mark.parametrize(("earlier", "later"), COME)
def test_spec_3_5_what_held_until_something_is_over_when_it_has_come(earlier: str, later: str) -> None:
    assert ends(earlier, later)


@pytest.mark.parametrize(("earlier", "later"), NOT_COME)
def test_spec_3_5_what_holds_until_something_holds_before_it(earlier: str, later: str) -> None:
    assert not ends(earlier, later)
