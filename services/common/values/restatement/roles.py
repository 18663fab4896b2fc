"""Who has a role of which there is one, and how much a plan is: "our vet is the practice on Kauri Street"."""

from __future__ import annotations

import re
from typing import Final

from services.common.values.reading.splitting import DETERMINERS
from services.common.values.words.lexicon import MULTIPLE_ROLES, WEEKDAYS

_TAUGHT_BY: Final = re.compile(
    r"^(?:i|we)(?:'ve|\shave)?\s(?:have|got|get)\s(?P<who>(?:Mr|Mrs|Ms|Miss|Dr|Prof|Frau|Herr|Madame|Sir)\.?\s[A-Z][\w'-]{1,30})\s(?P<role>(?:in|for|as)\s[\w-]{2,30})\b",
    re.IGNORECASE,
)
"""As in "we have Mr Abara in chemistry"."""
_OF_AN_AMOUNT: Final = re.compile(
    r"^(?P<role>(?:my|our)\s(?:[\w-]+\s)?(?:plan|contract|tariff|budget|limit|quota|allowance|rate|fee|deal))\s(?:is|'s)\s(?P<who>(?:unlimited|free|\d)[\w\s.,'\u20ac$\u00a3%-]{0,60})$",
    re.IGNORECASE,
)
"""As in "my phone plan is 12 gigs for 9 quid"."""
_WHO_IT_IS: Final = re.compile(
    r"^(?P<role>(?:my|our)\s[\w-]{2,20})\s(?:is|'s)\s(?P<who>the\s(?!one\b|same\b|only\b|most\b|\w+est\b)[\w' -]{3,60}|"
    r"(?-i:(?:(?:Dr|Mr|Mrs|Ms)\.?\s)?[A-Z])[\w' -]{2,60})",
    re.IGNORECASE,
)
"""As in "our vet is the practice on Kauri Street"."""
_ROLE_OF: Final = re.compile(
    r"^(?P<role>(?:(?:the|my|our)\s)?[a-z][\w-]{2,20}(?:\s[\w-]{2,20}){0,2}\s(?:for|of|at|in|on)\s(?:(?:the|our|my)\s)?[\w'-]{2,30}(?:\s[\w'-]{2,30}){0,2}?)\s(?:is|'s)\s"
    r"(?:now\s)?(?P<who>(?-i:[A-Z])[\w'.-]{1,30}(?:\s(?-i:[A-Z])[\w'.-]{1,30}){0,2})(?=$|[,.;!]|\s(?:now|instead|from|since|again)\b)",
    re.IGNORECASE,
)
"""As in "incident commander for the payments squad is Marit"."""
_ONE_OF_MANY: Final = re.compile(
    r"^(?:an?|one|another|some|any|each|every|half|most|part)\s|^(?:(?:the|my|our)\s)?(?:other|second|third|next|last|first|best|worst|only|name|birthday|"
    r"capital|day|month|title|author|"
    rf"{'|'.join(sorted(MULTIPLE_ROLES))})\b",
    re.IGNORECASE,
)
_AMOUNT: Final = re.compile(r"\d+(?:[.,]\d+)?|unlimited|free", re.IGNORECASE)
_TITLES: Final = frozenset("mr mrs ms miss dr prof frau herr madame sir mr. mrs. dr.".split())  # noqa: SIM905 - words
_LIGHT: Final = DETERMINERS | frozenset({"of", "on", "in", "at", "to", "for", "from", "by"})


def is_of_one(text: str) -> bool:
    """Returns whether a part says who or how much something is of which there is one: other rules do not read that."""
    return _TAUGHT_BY.match(text) is not None or _OF_AN_AMOUNT.match(text) is not None


def is_another_holder(earlier: str, later: str) -> bool:
    """Returns whether somebody or something else has a role of which there is one: "our vet is ..."."""
    for pattern in (_WHO_IT_IS, _TAUGHT_BY, _OF_AN_AMOUNT):
        one, other = pattern.match(earlier), pattern.match(later)
        if one is None or other is None or one["role"].casefold() != other["role"].casefold():
            continue
        if pattern is _OF_AN_AMOUNT:
            return _AMOUNT.findall(one["who"]) != _AMOUNT.findall(other["who"])
        if one["role"].casefold().endswith("s") and pattern is _WHO_IT_IS:
            return False
        words = [set(match["who"].casefold().split()) - _LIGHT - _TITLES for match in (one, other)]
        return not words[0] & words[1]
    return False


def is_held_by_another(earlier: str, later: str) -> bool:
    """Returns whether somebody else has the post that a statement names with what it is of: "captain of the B team is".

    Args:
        earlier: A statement.
        later: A later one of the same speaker.
    """
    one, other = _ROLE_OF.match(earlier), _ROLE_OF.match(later)
    if one is None or other is None or _bare(one["role"]) != _bare(other["role"]) or _ONE_OF_MANY.match(one["role"]):
        return False
    names = [set(match["who"].casefold().split()) - _TITLES for match in (one, other)]
    return not names[0] & names[1] and not (names[0] | names[1]) & WEEKDAYS


def _bare(role: str) -> str:
    return role.casefold().removeprefix("the ").removeprefix("our ").removeprefix("my ")
