"""The age that a statement gives to somebody, and whether it can be true after an earlier one. Pure functions.

An age grows with the years. "After last night's match I'm about 95 years old" is a figure of speech of somebody who was
34 in spring, and "I'm 22 again" is one too.
"""

from __future__ import annotations

import re
from datetime import date, timedelta
from typing import Final

from services.common.text_cache import text_cache
from services.common.values.words.lexicon import KIN, SMALL_NUMBERS, TENS

_YEAR_DAYS: Final = 365.25
_HUNDRED: Final = 100
_NUMBER_WORDS: Final = "|".join(sorted({*SMALL_NUMBERS, *TENS}))
_AGE: Final = re.compile(
    rf"(?<![\w'])(?:(?P<own>i)(?:'m|\sam|m)|(?:(?:my|our)\s)?(?P<kin>{'|'.join(sorted(KIN))})(?:'s|\sis)|(?P<name>(?-i:[A-Z])[\w-]+)(?:'s|\sis))\s"
    r"(?:(?:now|only|just|already|about|around|roughly|practically|almost|nearly|at\sleast|like|easily)\s){0,2}"
    rf"(?P<age>\d{{1,3}}|(?:a|one)\shundred|(?:{_NUMBER_WORDS})(?:[\s-](?:{_NUMBER_WORDS}))?)"
    r"(?:\s(?:years?(?:\sold|\sof\sage)|(?:and|but|now|today|again|this|next)\b)|\s?[,.!;]\s|\s?[.!]?$)",
    re.IGNORECASE,
)
_CORRECTED: Final = re.compile(
    r"\b(?:not|correction|corrected|typo|mistyped|miscounted|meant|wrong|lied|mistake|sorry)\b|n't\b",
    re.IGNORECASE,
)
"""Says that the earlier age was never true."""


def is_another_age(earlier: str, said: date | None, later: str, told: date | None) -> bool:
    """Returns whether a later statement gives somebody an age that they cannot have reached since the earlier one.

    Args:
        earlier: A statement.
        said: When it was said.
        later: A later one of the same speaker.
        told: When that was said.
    """
    first, second = _ages(earlier), _ages(later)
    passed = told - said if said is not None and told is not None else timedelta(0)
    shared = first.keys() & second.keys()
    if not shared or _CORRECTED.search(later) is not None:
        return False
    return not all(_can_follow(first[who], second[who], passed) for who in shared)


def can_be_of_age(earlier: str, later: str, passed: timedelta) -> bool:
    """Returns whether who had one age can have the other one after a time; so does what is no number.

    Args:
        earlier: The first age, as it was written.
        later: The other one.
        passed: The time between.
    """
    one, other = _number(earlier), _number(later)
    return one is None or other is None or _can_follow(one, other, passed)


def _can_follow(earlier: int, later: int, passed: timedelta) -> bool:
    return 0 <= later - earlier <= passed.days / _YEAR_DAYS + 1


@text_cache(2_048)
def _ages(text: str) -> dict[str, int]:
    """The ages in a statement, by whose they are."""
    found = _AGE.finditer(" ".join(text.replace("\u2019", "'").split()))
    ages = ((str(match["own"] or match["kin"] or match["name"]).casefold(), _number(match["age"])) for match in found)
    return {who: age for who, age in ages if age is not None}


def _number(text: str) -> int | None:
    words = text.casefold().replace("-", " ").split()
    if not words:
        return None
    if words[-1] == "hundred":
        return _HUNDRED
    known = {**SMALL_NUMBERS, **TENS}
    numbers = [int(word) if word.isdigit() else known.get(word) for word in words]
    return None if None in numbers else int(sum(number for number in numbers if number is not None))
