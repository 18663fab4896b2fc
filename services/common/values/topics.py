"""Updates and denials in long sentences, where only a common topic tells that two are about the same thing."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from services.common.values.lexicon import MONTHS, POSSESSIVES, PRONOUNS, STOP, VERBS
from services.common.values.tokens import PUNCTUATION, lemma, tokenize

_FILLERS: Final = """
    not never no any project app new help sure try make ensure before actually recently just further more using how my
    so but if total way already currently day week month year time thing problem issue as like pm am improve increase
    into between during while other such also kinda
"""
_LIGHT: Final = frozenset(
    {*STOP, *PRONOUNS, *POSSESSIVES, *PUNCTUATION, *MONTHS, *VERBS, *_FILLERS.split()},
)
_NEVER: Final = re.compile(
    r"\b(?:i|we)(?:'ve|\s+have)?\s+never\s+(?:actually\s+|really\s+|ever\s+)?(?P<what>[^.;?]*?)"
    r"(?=,|\s+(?:so|but|and\s+i|which)\b|[.;?]|$)",
    re.IGNORECASE,
)
_DENIED: Final = re.compile(r"\b(?:never|not|no|n't|haven't|hasn't|didn't|don't|without)\b", re.IGNORECASE)
_GREW: Final = re.compile(
    r"\b(?:increased|improved|reached|extended|rescheduled|adjusted|raised|reduced|lowered|grown|grew|now\s+(?:have|at|up)|"
    r"total\s+of|moved|moving|bumped|went\s+(?:up|down)|dropped\s+to|changed|pushed\s+(?:back|to)|postponed|"
    r"new\s+(?:\w+\s+){0,2}(?:deadline|quota|target|date|time|limit|goal|budget|price|number|total))\b",
    re.IGNORECASE,
)
_VALUE: Final = re.compile(
    r"(?P<date>\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,6}\.?\s{1,9}\d{1,2}\b)|"
    r"(?P<clock>\b\d{1,2}(?::\d\d)?\s?[ap]m\b)|"
    r"(?P<number>\d[\d,]{0,19}(?:\.\d{1,9})?)\s?(?P<unit>%|ms\b|(?:[a-z-]{1,40}\s{1,9}){0,2}[a-z]{1,40})",
    re.IGNORECASE,
)
_SHARED_MIN: Final = 2


def denies(earlier: str, later: str) -> bool:
    """Returns whether the later statement says that what the earlier one tells never happened."""
    if _DENIED.search(earlier):
        return False
    for match in _NEVER.finditer(later):
        things = topic_words(match["what"])
        shared = things & topic_words(earlier)
        if len(shared) >= _SHARED_MIN or (shared and len(things) == 1 and _verb(match["what"]) & _verbs(earlier)):
            return True
    return False


def requantifies(earlier: str, later: str) -> bool:
    """Returns whether the later statement gives a quantity or a date of the earlier one a new value, and says so."""
    if not _GREW.search(later) or (_GREW.search(earlier) and "from" not in earlier):
        return False
    shared = topic_words(earlier) & topic_words(later)
    if len(shared) < _SHARED_MIN:
        return False
    first, second = _values(earlier), _values(later)
    return (
        any(
            number != other and unit == same and (unit in _BARE or unit in shared)
            for unit, number in first
            for same, other in second
        )
        and not first & second
    )


_BARE: Final = frozenset({"date", "clock", "%", "ms", "hour", "minute", "euro", "dollar", "mile", "km", "kilo"})


@lru_cache(maxsize=4_096)
def topic_words(text: str) -> frozenset[str]:
    """Returns the words that name the topic of a statement."""
    words = (lemma(token.lower.strip("-")) for token in tokenize(text))
    return frozenset(word for word in words if len(word) > 1 and word not in _LIGHT and not word[0].isdigit())


@lru_cache(maxsize=4_096)
def _values(text: str) -> frozenset[tuple[str, str]]:
    found: set[tuple[str, str]] = set()
    for match in _VALUE.finditer(text):
        if match["date"]:
            found.add(("date", match["date"][:3].casefold() + match["date"].split()[-1]))
        elif match["clock"]:
            found.add(("clock", match["clock"].replace(" ", "").casefold()))
        else:
            number = match["number"].replace(",", "")
            found.update((lemma(unit.casefold()), number) for unit in match["unit"].split())
    return frozenset(found)


def _verb(text: str) -> frozenset[str]:
    words = text.split(maxsplit=1)
    return frozenset({lemma(words[0].casefold())}) if words else frozenset()


def _verbs(text: str) -> frozenset[str]:
    return frozenset(lemma(token.lower) for token in tokenize(text))
