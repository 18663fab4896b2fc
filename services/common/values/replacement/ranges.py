"""Statements that hold in two parts of a week or a year: "from May to July the lido opens at 8". Pure functions."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from services.common.text_cache import text_cache
from services.common.values.words.lexicon import MONTHS

_DAYS: Final = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_MONTHS: Final = 12
_DAY: Final = "|".join(day if day == "sunday" else f"{day}|{day[:3]}" for day in _DAYS) + "|sun"
_MONTH: Final = "|".join(sorted(MONTHS, key=len, reverse=True))
_TO: Final = r"\s?(?:to|till|until|and|through|thru|-|\u2013)\s?"
_RANGE: Final = re.compile(
    rf"\b(?:(?:from|between)\s)?(?:(?P<day>{_DAY})s?{_TO}(?P<day_end>{_DAY})s?|(?P<month>{_MONTH}){_TO}(?P<month_end>{_MONTH}))\b[,:]?",
    re.IGNORECASE,
)
_CUT: Final = re.compile(r"[,;:.!?]\s|\s[\u2013\u2014-]{1,3}\s")
_WORD: Final = re.compile(r"\w++(?:[:.]++\w++)*+")
_FILLERS: Final = frozenset("now again instead too also still always the a an".split())  # noqa: SIM905 - words
_CHARS_MAX: Final = 400


class _Ranged(NamedTuple):
    """A statement with the part of a week or a year in which it holds."""

    times: frozenset[str]  # days of the week, or numbers of months
    words: frozenset[str]  # what it says besides


def are_of_two_ranges(earlier: str, later: str) -> bool:
    """Returns whether two statements hold in two parts of a week or a year that have no day in common.

    Where nothing else differs, they are what is said: "open Monday to Wednesday", "open Thursday to Sunday".

    Args:
        earlier: A statement.
        later: A later one.
    """
    one, other = _ranged(earlier), _ranged(later)
    if one is None or other is None:
        return False
    return not one.times & other.times and one.words != other.words


@text_cache(2_048)
def _ranged(text: str) -> _Ranged | None:
    match = _RANGE.search(text) if len(text) <= _CHARS_MAX else None
    if match is None:
        return None
    if match["day"]:
        first, last = (_day(match[key]) for key in ("day", "day_end"))
        times = frozenset(_DAYS[place] for place in _round(first, last, len(_DAYS)))
    else:
        first, last = (MONTHS[match[key].casefold()] for key in ("month", "month_end"))
        times = frozenset(map(str, _round(first, last, _MONTHS)))
    rest = f"{_CUT.split(text[: match.start()])[-1]} {_CUT.split(text[match.end() :])[0]}"
    return _Ranged(times, frozenset(word.casefold() for word in _WORD.findall(rest)) - _FILLERS)


def _day(name: str) -> int:
    """The place of a day in the week."""
    return next(place for place, day in enumerate(_DAYS) if day.startswith(name.casefold()[:3]))


def _round(first: int, last: int, count: int) -> list[int]:
    """The numbers from one to another on a round of so many: October to April."""
    return [(first + step) % count for step in range((last - first) % count + 1)]
