"""Who belongs to the speaker whatever they do: a sister who moves away is a sister (SPEC 3.5). Pure functions."""

from __future__ import annotations

import re
from typing import Final

from services.common.text_cache import text_cache

_CHARS_MAX: Final = 250
_KIN: Final = (
    r"(?:(?:step|half|great|god)-?)?(?:grand-?)?(?:mothers?|mums?|moms?|fathers?|dads?|parents?|sisters?|brothers?|siblings?|sons?|daughters?|"
    r"child(?:ren)?|kids?|twins?|cousins?|aunts?|uncles?|nieces?|nephews?|mas?|pas?)(?:-in-law)?|relatives|in-laws|family|friends?"
)
_NAME: Final = r"(?-i:[A-Z])[\w'-]{1,30}"
_BOND: Final = re.compile(
    rf"^(?:(?:my|our)\s(?:[\w-]{{1,20}}\s){{0,2}}?(?:{_KIN})\s(?:is|are)\s(?:called\s|named\s)?|"
    rf"(?:i|we)(?:\shave|'ve\sgot|\shave\sgot)\s(?:[\w-]{{1,20}}\s){{1,3}}?(?:{_KIN})(?:,|:|\scalled|\snamed)\s)"
    rf"(?P<names>{_NAME}(?:(?:,\s|\sand\s|,\sand\s)(?:{_NAME}|me)){{0,8}})[.!\s]*$",
    re.IGNORECASE,
)
"""As in "my sisters are Ada and Bea", "I have two sons, Ivo and Max"."""
_GOES: Final = re.compile(
    rf"^(?P<who>{_NAME})(?:'s|\sis|\shas)?\s(?:just\s|now\s|finally\s|recently\s|also\s)?(?:moved|moving|moves|relocat\w{{1,3}}|emigrat\w{{1,3}}|settled|left|leaves|"
    r"leaving|quit|quits|gone|going|went|off|retired|resigned|transferred|returned|flown|married|out|stepped|switched|joined|dropped)\b",
    re.IGNORECASE,
)
_US: Final = re.compile(r"\b(?:left|leaving)\s(?:me|us)\b|\bthe\sfamily\b|\bno\slonger\b", re.IGNORECASE)


@text_cache(2_048)
def _named(text: str) -> frozenset[str]:
    match = _BOND.match(text) if len(text) <= _CHARS_MAX else None
    return frozenset() if match is None else frozenset(re.findall(r"\b[A-Z][\w'-]{1,30}", match["names"]))


def outlasts_the_move(earlier: str, later: str) -> bool:
    """Returns whether an earlier statement names relatives or friends, and a later one only where one of them goes.

    Args:
        earlier: A statement.
        later: A later one.
    """
    if len(later) > _CHARS_MAX:
        return False
    names = _named(earlier)
    goes = _GOES.match(later) if names else None
    return goes is not None and goes["who"] in names and _US.search(later) is None
