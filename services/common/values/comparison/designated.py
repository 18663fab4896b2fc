"""Two things of one kind that a number, a letter or a name tells apart: flat 3A and flat 3B. Pure functions."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Final

from services.common.text_cache import text_cache
from services.common.values.model import Value, ValueKind
from services.common.values.reading.clauses import Item
from services.common.values.reading.pieces import read_statement
from services.common.values.words.lexicon import VERBS, WEEKDAYS
from services.common.values.words.tokens import lemma

_SPELLED_OUT: Final = re.compile(
    r"\b(?P<noun>[a-z]{3,20})\s(?P<code>one|two|three|four|five|six|seven|eight|nine|ten)(?=\s(?:(?P<verb>is|are|was|has|costs?|starts?|takes?)|to|on|at|now)\b|[,.;]|$)",
    re.IGNORECASE,
)
"""As in "essay one is due on Monday"."""
_CODE_FIRST: Final = re.compile(
    r"^(?:(?:the|my|our)\s)?(?P<code>[qh][1-4]|fy\s?\d{2,4}|v\d[\d.]{0,6}|(?:19|20)\d\d|\d{1,3}(?:st|nd|rd|th))\s(?P<noun>[a-z][\w-]{2,20})\b",
    re.IGNORECASE,
)
"""As in "Q3 cloud budget is 41k", "the 2nd draft is due"."""
_FOR_DAYS: Final = re.compile(rf"\bfor\s(?P<day>{'|'.join(sorted(WEEKDAYS))})s\b", re.IGNORECASE)
"""As in "forty loaves for Saturdays"."""
_CODES: Final = frozenset({ValueKind.NUMBER, ValueKind.IDENTIFIER})


def are_two_designated(earlier: str, later: str) -> bool:
    """Returns whether the earlier statement is about one of several things, and the later one about another of them.

    As in "the rent of flat 3A is 780 pounds" and "I have changed the rent of flat 3B, it is 860 pounds now". Where the
    earlier one gives the number itself, as in "I have locker 14", it tells nothing apart.

    Args:
        earlier: A statement.
        later: Another one.
    """
    days, other_days = _days(earlier), _days(later)
    if days and other_days and not days & other_days:
        return True
    one, other = _CODE_FIRST.match(earlier), _CODE_FIRST.match(later)
    if one is not None and other is not None and one["noun"].casefold() == other["noun"].casefold():
        return one["code"].casefold() != other["code"].casefold()
    first = _subjects(earlier)
    second = _named(later) if first else {}
    return any(kind in second and not codes & second[kind] for kind, codes in first.items())


@text_cache(4_096)
def _days(text: str) -> frozenset[str]:
    return frozenset(match["day"].casefold() for match in _FOR_DAYS.finditer(text))


@text_cache(4_096)
def _subjects(text: str) -> dict[str, frozenset[Item]]:
    match = _SPELLED_OUT.search(text)
    spelled = [(match["noun"], match["code"])] if match is not None and match["verb"] else []
    return _pairs([clause.subject for clause in read_statement(text).clauses[:1]], spelled)


@text_cache(4_096)
def _named(text: str) -> dict[str, frozenset[Item]]:
    spelled = [(match["noun"], match["code"]) for match in _SPELLED_OUT.finditer(text)]
    rows = [items for clause in read_statement(text).clauses for items in (clause.subject, clause.rest)]
    return _pairs(rows, spelled)


def _pairs(rows: list[tuple[Item, ...]], spelled: list[tuple[str, str]]) -> dict[str, frozenset[Item]]:
    found: dict[str, set[Item]] = {}
    for noun, code in spelled:
        found.setdefault(lemma(noun.casefold()), set()).add(code.casefold())
    for row in rows:
        for before, item in pairwise(row):
            is_code = isinstance(item, Value) and item.kind in _CODES
            if isinstance(before, str) and is_code and before not in VERBS:
                found.setdefault(before, set()).add(item)
    return {noun: frozenset(codes) for noun, codes in found.items()}
