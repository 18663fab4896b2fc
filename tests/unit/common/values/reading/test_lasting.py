"""What has been so for some time is so (SPEC 3.5): "I've been vegan for six years" ends with a steak."""

from __future__ import annotations

from datetime import date
from typing import Final

import pytest

from services.common.values.holding import Said, supersedes
from services.common.values.keys import statement_keys
from services.common.values.model import Relation
from services.common.values.reading.lasting import as_present

_ENDS: Final = {Relation.UPDATE, Relation.CONTRADICT}


def _ends(earlier: str, later: str) -> bool:
    first, second = Said(earlier, "Ada", day=date(2025, 1, 8)), Said(later, "Ada", day=date(2025, 5, 12))
    return supersedes(first, second) in _ENDS and bool(statement_keys(earlier) & statement_keys(later))


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("I've lived in Leeds for ten years.", "We moved to York."),
        ("We've had the Volvo since 2015.", "The Volvo was stolen."),
        ("I've been a nurse for ten years.", "I drive a taxi these days."),
        ("I've been with Jonas since school.", "Jonas left me."),
        ("I've been single for two years now.", "Tom proposed and I said yes."),
        ("Theo has been allergic to eggs since birth.", "Theo is no longer allergic to eggs."),
    ],
)
def test_spec_3_5_what_has_lasted_ends_as_what_is(earlier: str, later: str) -> None:
    assert _ends(earlier, later)


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("I've been to Japan three times since 2015.", "We moved to York."),
        ("My sister has lived in Leeds for ten years.", "We moved to York."),
        ("I've been vegan for six years.", "My brother had steak."),
        ("I've had two cups of tea since lunch.", "I drink coffee now."),
        ("I've been a nurse for ten years.", "My sister drives a taxi these days."),
        ("We've had the Volvo since 2015.", "The neighbour's Volvo was stolen."),
    ],
)
def test_spec_3_5_what_has_lasted_stays_where_something_else_changed(earlier: str, later: str) -> None:
    assert not _ends(earlier, later)


def test_spec_3_5_only_what_goes_on_is_put_into_the_present() -> None:
    assert as_present("We've rented the shop since May, it leaks.") == "We rent the shop, it leaks."
    assert as_present("I've finished the roof since May.") == "I've finished the roof since May."
    assert as_present("I've been told so for years.") == "I've been told so for years."
