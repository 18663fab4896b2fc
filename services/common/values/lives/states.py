"""States of life that are other ones now, by the words of `fields.py` and the events of `life.py`. Pure functions."""

from __future__ import annotations

import re
from typing import Final

from services.common.values.lives.life import turns_a_life
from services.common.values.reading.clauses import Clause
from services.common.values.reading.people import FIRST, OTHERS, THIRD, is_deed_of_person
from services.common.values.reading.pieces import SCOPE_OPENS, read_statement
from services.common.values.words.belongings import ROLES
from services.common.values.words.fields import CHANGED, FIELDS
from services.common.values.words.lexicon import VERBS
from services.common.values.words.nouns import nouns_of
from services.common.values.words.patterns import CachedPattern
from services.common.values.words.tokens import tokenize
from services.common.values.words.unsure import UNSURE

_ALSO: Final = CachedPattern(r"\b(?:too|also|as\s+well)\b", re.IGNORECASE)
_LEARNING: Final = CachedPattern(r"\blearn(?:s|ing)?\b", re.IGNORECASE)
_EXCHANGED: Final = CachedPattern(
    r"\b(?:instead|no\s(?:longer|more)|gave\sup|given\sup|switched|swapped|changed|traded|moved\s(?:on|over))\b",
    re.IGNORECASE,
)
"""Two things can be learnt at a time, but for these."""
_HELD_AT: Final = frozenset({"job", "home", "school"})
"""Fields whose state is somewhere: the same place is the same state."""
_THEY_TO_ME: Final = re.compile(r"^they\s(?:have\s)?(?=\w+\s(?:me|us)\b)", re.IGNORECASE)
_OWN: Final = frozenset({"i", "we"})
_LONG_AGO: Final = CachedPattern(
    r"\b(?:when\s(?:i|we)\s(?:was|were)|as\sa\s(?:kid|child|boy|girl|student|teenager)|back\s(?:then|in\s(?:the|my|\d))|in\smy\s(?:twenties|thirties|youth))\b",
    re.IGNORECASE,
)
_LIVED: Final = CachedPattern(
    r"^(?:(?:and|but|so|well),?\s)?(?:(?:in|during|back\sin|before|throughout|all\sthrough)\s[\w\s'-]{2,40}?,?\s)?(?:i|we)\s(?:was|were|lived|worked|studied|taught|rented|owned|"
    r"drove|smoked|drank|played|dated)\b",
    re.IGNORECASE,
)
"""What was so at a time that is over: "in first year I lived in Fallowfield"."""
_YEARS_AGO: Final = CachedPattern(r"\b(?:years|decades)\s+ago\b", re.IGNORECASE)
_TO_OTHERS: Final = CachedPattern(r"\byours?\b|\bsorry\b", re.IGNORECASE)
"""What is said to somebody about their life."""
_NOT_SO: Final = re.compile(r"(?:\bnot|\bnever|n't)\s+(?:\w+\s+)?$", re.IGNORECASE)


def has_another_state(earlier: str, later: str, *, is_told: bool) -> bool:
    """Returns whether a state of life is another one now: "I use Windows", "wiped the disk and put Debian on it".

    Args:
        earlier: A statement.
        later: A later one of the same speaker.
        is_told: Whether the turn of the later one announces a change.
    """
    if (
        UNSURE.search(earlier)
        or _ALSO.search(later)
        or _YEARS_AGO.search(later)
        or _are_two_things(earlier, later)
        or _TO_OTHERS.search(later)
        or SCOPE_OPENS.match(later)
        or _LIVED.match(earlier)
    ):
        return False
    if _turns_a_life(earlier, later):
        return True
    if _LONG_AGO.search(earlier) is not None:
        return False  # "I was a vegetarian for ten years" is as true as before
    if not (CHANGED.search(later) or is_told) or THIRD.search(later) or OTHERS.search(later):
        return False
    if (
        OTHERS.search(earlier)
        or THIRD.search(earlier)
        or any(map(is_deed_of_person, read_statement(earlier).clauses[:1]))
    ):
        return False
    is_beside = bool(_LEARNING.search(earlier) and _LEARNING.search(later)) and _EXCHANGED.search(later) is None
    for field, (before, after) in FIELDS.items():
        if field == "instrument" and is_beside:
            continue  # "I'm learning the piano", "I'm learning the violin now"
        old = {match[0].casefold() for match in before.finditer(earlier)}
        new = {match[0].casefold() for match in after.finditer(later) if not _NOT_SO.search(later[: match.start()])}
        if (
            old
            and new
            and not old & new
            and _same_person(earlier, later)
            and not (field in _HELD_AT and _repeats(earlier, later, old))
        ):
            return True
    return False


def _are_two_things(earlier: str, later: str) -> bool:
    """Whether each says what another thing is: "my scooter is a red Vespa", "my bike is a blue Koga now"."""
    first, second = read_statement(earlier).clauses[:1], read_statement(later).clauses[:1]
    if not first or not second or first[0].verb != "be" or second[0].verb != "be":
        return False
    things = [_subject(clause[0]) - _OWN for clause in (first, second)]
    return bool(things[0] and things[1]) and not things[0] & things[1]


def _turns_a_life(earlier: str, later: str) -> bool:
    """An event of the speaker's own life. People whom it mentions are not taken for the ones it happened to."""
    told = _THEY_TO_ME.sub("i was ", later)
    first, second = _up_to_others(earlier), _up_to_others(told)
    if not FIRST.search(first) or THIRD.search(first) or THIRD.search(second):
        return False
    clauses = read_statement(told).clauses
    if clauses and _subject(clauses[0]) & ROLES:
        return False
    is_own = FIRST.search(second) is not None or not (clauses and clauses[0].subject)
    return turns_a_life(first, second, is_own=is_own)


def _up_to_others(text: str) -> str:
    """A statement up to where somebody else of the speaker's is named: "I live with [my parents]"."""
    match = OTHERS.search(text)
    return text if match is None else text[: match.start()]


def _repeats(earlier: str, later: str, field: set[str]) -> bool:
    """Whether all else that the earlier statement names stands in the later one: it says the same in other words."""
    named = {word for word in nouns_of(earlier) if word not in field and word not in VERBS}
    return bool(named) and named <= nouns_of(later)


def _same_person(earlier: str, later: str) -> bool:
    """Both in the first person, or about the same name."""
    first, second = _names(earlier), _names(later)
    if FIRST.search(earlier):
        return bool(FIRST.search(later)) or all(not clause.subject for clause in read_statement(later).clauses)
    named = next((_subject(read) for read in read_statement(earlier).clauses if read.subject), set()) & first
    return bool(named) and named <= second


def _names(text: str) -> set[str]:
    return {token.lower for token in tokenize(text) if token.text[:1].isupper()}


def _subject(clause: Clause) -> set[str]:
    return {word for item in clause.subject for word in str(item).split()}
