"""Months and weekdays in what is to be forgotten."""

from __future__ import annotations

import pytest

from services.gateway.erasure.exceptions import is_kept, read_kept
from services.gateway.erasure.matching import Rules, choose
from services.gateway.erasure.queries import read
from services.gateway.erasure.times import times_in
from services.gateway.erasure.wording import words_of


@pytest.mark.parametrize(
    ("query", "text", "is_meant"),
    [
        ("my knee surgery in October", "I had knee surgery in October.", True),
        ("my knee surgery last October", "I had knee surgery in October.", True),
        ("my knee surgery last october", "I had knee surgery in October.", True),
        ("what I said about knee surgery in October", "I had knee surgery in October.", True),
        ("my knee surgery last October", "October is when the baby is due.", False),
        ("my knee surgery last October", "I had knee surgery in May.", False),
        ("my knee surgery last October", "I had knee surgery.", True),  # nothing says when
        ("the meeting on Friday", "The meeting on Monday is at nine.", False),
        ("the meeting on Friday", "We have a meeting on Fridays.", True),
        ("Monday's meeting", "We have a meeting on Monday.", True),
        ("the trip to Rome in May", "The trip to Rome costs 900.", True),
        ("the trip to Rome in May", "The trip to Rome in June costs 900.", False),
        ("Dana in October", "Dana came in October.", True),
        ("Dana in October", "October was hot.", False),
        # Names, all the same.
        ("my friend June", "June came by.", True),
        ("my friend April", "In April we moved.", False),
        ("Mr March", "Mr March rang.", True),
        ("Mr March", "We meet in March.", False),
        ("Black Friday", "I spent 900 on Black Friday.", True),
        ("Black Friday", "I am free on Friday.", False),
    ],
)
def test_spec_3_13_a_month_or_weekday_says_when_and_names_nobody(query: str, text: str, *, is_meant: bool) -> None:
    similarity = 0.5 if "urgery" in text or "eeting" in text else 0.3
    assert choose(read(query), [text], [similarity], Rules()) == ([0] if is_meant else [])


def test_spec_3_13_where_one_text_has_the_time_of_a_thing_those_without_it_stay() -> None:
    texts = ["The meeting on Friday is at nine.", "The meeting was long.", "The meeting on Monday is at ten."]
    assert choose(read("the meeting on Friday"), texts, [0.8, 0.8, 0.8], Rules()) == [0]


@pytest.mark.parametrize("query", ["what I said on Monday", "everything from October", "last May"])
def test_spec_3_13_a_time_alone_names_nothing(query: str) -> None:
    assert read(query).is_empty


def test_spec_3_13_what_is_excepted_by_its_time_stays() -> None:
    kept = read_kept(["the surgery in June"])
    assert is_kept(kept, "The surgery in June went well.")
    assert not is_kept(kept, "The surgery in May hurt.")


@pytest.mark.parametrize(
    ("text", "times"),
    [
        ("It may rain on Sunday.", {"sunday"}),
        ("This may be wrong, they march on.", set()),
        ("Due 3 May, or by Sept 4.", {"may", "september"}),
        ("In march and in june we moved.", {"march", "june"}),
        ("Wednesday Addams and April Jones came.", set()),
        ("My Monday class is off; Tuesdays are fine.", {"monday", "tuesday"}),
    ],
)
def test_months_and_weekdays_of_a_text(text: str, times: set[str]) -> None:
    assert times_in(list(words_of(text))) == times
