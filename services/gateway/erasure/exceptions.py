"""What a query says must stay: "our neighbour Martha, not my grandmother". Pure functions.

What is erased cannot be brought back, so that a turn which has both what goes and what stays is left.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from services.gateway.erasure.queries import Wanted, read
from services.gateway.erasure.times import times_in
from services.gateway.erasure.topics import told_of
from services.gateway.erasure.wording import has, words_of

_THINGS: Final = (
    r"(?:(?:the|that|this)\s(?:one|person|woman|man|guy)\b|"
    r"(?:my|our|his|her|their|the|what|anything|everything|those)\b|(?-i:[A-Z]))"
)
_EXCEPT: Final = re.compile(
    r"\s{0,3}[,;(\u2013\u2014-]?\s{0,3}(?:\b(?:and|but)\s)?(?:please\s)?(?:"
    r"(?:\bexcept(?:ing)?(?:\s(?:for|about))?|\bapart\sfrom|\bother\sthan|\bexcluding|\bbesides)\s"
    rf"|(?:(?<=[.,;(])\s?|(?<=but\s)|(?<=and\s)|(?<=please\s))(?:not|never|don't\s(?:touch|forget|delete|erase)|do\snot\s(?:touch|forget|delete|erase)|"
    rf"i\s(?:don't|do\snot)\smean|keep|leave|spare|retain)\s(?:about\s|on\s)?(?={_THINGS}))",
    re.IGNORECASE,
)
"""Stands between what is meant and what stays."""
_TALKED_OF: Final = re.compile(
    r"^(?:everything|anything|all|what|that|those)\s(?:(?:that\s)?(?:i|we)\s(?:have\s)?(?:said|told\syou|say|wrote)\s)?(?:about|on|of|from|with)\s",
    re.IGNORECASE,
)
_ALONE: Final = re.compile(
    r"\s(?:alone|as\s(?:it|they|she|he)\s(?:is|are)|in\s(?:there|place)|please)\W{0,3}$", re.IGNORECASE
)
_RATHER: Final = re.compile(r",?\sbut\s(?:rather\s)?(?:the\s)?(?P<which>one\s.+|[A-Z].+)$")
"""Behind what stays: what is meant instead."""
_NEXT: Final = re.compile(r"(?:,|;|\sand|\sor|\snor)\s(?=(?:my|our|the|not)\s)", re.IGNORECASE)


def split(query: str) -> tuple[str, tuple[str, ...]]:
    """Returns a query without what it says must stay, and that: "the trip, but not the hotel" gives both parts."""
    asked = query.replace("’", "'")  # noqa: RUF001
    match = _EXCEPT.search(asked)
    if match is None or not match.start():
        return query, ()
    rest = _ALONE.sub("", asked[match.end() :].rstrip(" ).!"))
    meant = asked[: match.start()].rstrip(" ,;(")
    rather = _RATHER.search(rest)
    if rather is not None:
        meant, rest = _rather(meant, rather["which"]), rest[: rather.start()]
    parts = (_TALKED_OF.sub("", part.removeprefix("not ").strip()) for part in _NEXT.split(rest))
    return meant, tuple(part for part in parts if part)


def _rather(meant: str, which: str) -> str:
    """What is meant, by what says so behind "but": "not my son, but the one from the choir"."""
    if which.startswith("one "):
        return f"{meant} {which.removeprefix('one ')}"
    return which if which.casefold().startswith(meant.casefold()) else meant


def read_kept(phrases: Sequence[str]) -> tuple[Wanted, ...]:
    """Reads what must stay; who "the one from accounting" is, only `namesakes` can say."""
    named = (phrase for phrase in phrases if not phrase.casefold().startswith(("the one ", "the other ")))
    return tuple(wanted for wanted in map(read, named) if wanted.times or not wanted.is_empty)


def is_kept(kept: Sequence[Wanted], text: str) -> bool:
    """Returns whether a text is about what must stay: it has its names, and the word of the thing itself."""
    return any(_is_about(wanted, text) for wanted in kept)


def _is_about(wanted: Wanted, text: str) -> bool:
    words = list(words_of(text))
    names = [part for name in wanted.names for part in name[-1:]] + list(wanted.owners)
    if any(all(word.bare != name for word in words) for name in names):
        return False
    if not wanted.numbers <= {word.lower for word in words}:
        return False
    if wanted.times and not wanted.times & times_in(words):
        return False
    if not wanted.topics:
        return bool(names or wanted.numbers or wanted.times)
    topics = frozenset({wanted.head}) if wanted.head else wanted.topics
    return all(has(words, topic) for topic in topics) or bool(told_of(wanted.topics, text))
