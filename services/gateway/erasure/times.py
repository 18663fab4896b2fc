"""Months and weekdays in queries and texts: they say when something is, and are nobody's names. Pure functions."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final

from services.common.values.words.lexicon import MONTHS, PRONOUNS, WEEKDAYS
from services.gateway.erasure.word_names import is_opening
from services.gateway.erasure.wording import DETERMINERS, FIRST, LINKS, Word

_SHORT: Final = {name[:3]: name for name in MONTHS} | {"sept": "september"}
_NAMES: Final = _SHORT | {name: name for name in (*MONTHS, *WEEKDAYS)} | {f"{day}s": day for day in WEEKDAYS}
"""What a word for a month or a weekday means: "sept" and "september"."""
_ALSO_NAMES: Final = frozenset({"april", "may", "june", "august", "march"}) | set(_SHORT)
"""Words for months that are also names, verbs or other words: a time where a word beside them shows it."""
_DATED: Final = frozenset(
    "in until till since last next this past coming every each during through early late mid".split()  # noqa: SIM905
)
_DATED_SMALL: Final = frozenset({"in", "until", "till", "since", "last", "next"})
"""The same before a word without a capital: "this may be" says nothing of May."""
RELATIVE: Final = frozenset("last next this past coming every each early late mid".split())  # noqa: SIM905 - words
"""Before a month or a weekday they belong to it: "the surgery last October"."""


def time_at(words: Sequence[Word], place: int) -> str:
    """Returns the month or weekday that a word names, as it is written in full; empty for any other word."""
    word = words[place]
    found = _NAMES.get(word.bare, "")
    if not found:
        return ""
    before = words[place - 1] if not is_opening(words, place) else None
    behind = words[place + 1] if place + 1 < len(words) and words[place + 1].index == word.index + 1 else None
    if any(one is not None and (one.lower[:1].isdigit() or one.bare in _NAMES) for one in (before, behind)):
        return found if word.is_capital or word.bare not in _ALSO_NAMES or _is_day(before) or _is_day(behind) else ""
    if word.bare in _ALSO_NAMES:
        dated = _DATED if word.is_capital else _DATED_SMALL
        return found if before is not None and before.lower in dated else ""
    # "Black Friday", "Wednesday Addams"
    is_part = behind is not None and behind.is_capital
    is_part = is_part or (before is not None and before.is_capital and not _is_small(before))
    return "" if is_part else found


def times_in(words: Sequence[Word]) -> frozenset[str]:
    """Returns the months and weekdays that a text names."""
    return frozenset(filter(None, (time_at(words, place) for place in range(len(words)))))


def is_at_another_time(words: Sequence[Word], wanted: Collection[str]) -> bool:
    """Whether a text names other months, where months are wanted, and none of those; the same of weekdays."""
    named = times_in(words)
    if named & set(wanted):
        return False
    return any((one in WEEKDAYS) == (other in WEEKDAYS) for one in named for other in wanted)


def _is_day(word: Word | None) -> bool:
    """Whether a word is the number of a day: "3 may", "may 3rd"."""
    return word is not None and word.lower[:1].isdigit() and len(word.lower) <= 4


def _is_small(word: Word) -> bool:
    return word.bare in LINKS | FIRST | PRONOUNS | DETERMINERS or word.lower in _DATED
