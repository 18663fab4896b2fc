"""Updates and denials in long sentences, where only a common topic tells that two are about the same thing."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from services.common.values.lexicon import MONTHS, NOUNS_TOO, POSSESSIVES, PRONOUNS, STOP, VERBS
from services.common.values.tokens import PUNCTUATION, lemma, tokenize

_FILLERS: Final = """
    not never no any project app new help sure try make ensure before actually recently just further more using how my
    so but if total way already currently day week month year time thing problem issue as like pm am improve increase
    into between during while other such also kinda
"""
_LIGHT: Final = frozenset(
    {*STOP, *PRONOUNS, *POSSESSIVES, *PUNCTUATION, *MONTHS, *(VERBS - NOUNS_TOO), *_FILLERS.split()},
)
_NEVER: Final = re.compile(
    r"\b(?:i|we)(?:'ve|\s+have)?\s+never\s+(?:actually\s+|really\s+|ever\s+)?(?P<what>[^.;?]*?)"
    r"(?P<example>,?\s+(?:like|such\s+as)\s+\w+)?(?=,|\s+(?:so|but|and\s+i|which)\b|[.;?]|$)",
    re.IGNORECASE,
)
_DENIED: Final = re.compile(r"\b(?:never|not|no|n't|haven't|hasn't|didn't|don't|without)\b", re.IGNORECASE)
_DOUBTS: Final = re.compile(
    r"\b(?:i'm|i\s+am|we're|but)?\s*not\s+(?:quite\s+)?(?:sure|certain|only)\b|\bno\s+(?:doubt|problem|idea)\b",
    re.IGNORECASE,
)
"""Negations that deny nothing that was done."""
_CIRCUMSTANCE: Final = re.compile(r"\b(?:with|for|in|on|at|during|without|before|after|by)\b", re.IGNORECASE)
_USED: Final = re.compile(
    r"\b(?:us(?:e|ed|es|ing)|implement(?:ed|ing)?|integrat(?:e|ed|ing)|install(?:ed|ing)?|download(?:ed|ing)?|tried|"
    r"work(?:ed|ing)\s+with|written|writing|wrote|set\s+up)\b",
    re.IGNORECASE,
)
_GREW: Final = re.compile(
    r"\b(?:already\s+(?:completed|done|solved|read|collected)|added|increased|improved|reached|extended|rescheduled|adjusted|raised|reduced|lowered|grown|grew|now\s+(?:have|at|up)|"
    r"total\s+of|moved|moving|bumped|went\s+(?:up|down)|dropped\s+to|changed|pushed\s+(?:back|to)|postponed|"
    r"new\s+(?:\w+\s+){0,2}(?:deadline|quota|target|date|time|limit|goal|budget|price|number|total))\b",
    re.IGNORECASE,
)
_MORE: Final = re.compile(r"\b(?:already\s+(?:completed|done|solved|read|collected)|added)\b", re.IGNORECASE)
"""Says that there are more of what is counted; about shares and sums it says nothing."""
_MOVED: Final = re.compile(
    r"\b(?:rescheduled|adjusted|extended|moved|moving|changed|pushed\s+(?:back|to)|postponed|brought\s+forward|"
    r"new\s+(?:\w+\s+){0,2}(?:deadline|date|time))\b",
    re.IGNORECASE,
)
_GENERIC: Final = frozenset({"component", "feature", "library", "tool", "software", "framework", "package", "service"})
"""Words that only say of which sort the thing before them is."""
_MOMENTS: Final = frozenset({"date", "clock"})
_VALUE: Final = re.compile(
    r"(?P<date>\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,6}\.?\s{1,9}\d{1,2}\b)|"
    r"(?P<clock>\b\d{1,2}(?::\d\d)?\s?[ap]m\b)|"
    r"(?P<number>\d[\d,]{0,19}(?:\.\d{1,9})?)\s?(?P<unit>%|ms\b|(?:[a-z-]{1,40}\s{1,9}){0,2}[a-z]{1,40})",
    re.IGNORECASE,
)
_SHARED_MIN: Final = 2
_SHARED_SURE: Final = 3


def denies(earlier: str, later: str) -> bool:
    """Returns whether the later statement says that what the earlier one tells never happened."""
    if _DENIED.search(_DOUBTS.sub("", earlier)):
        return False
    said = topic_words(earlier)
    is_doubted = _DENIED.search(earlier) is not None
    for match in _NEVER.finditer(later):
        what = match["what"]
        things = topic_words(what) - _GENERIC
        shared = things & said
        is_same_deed = bool(_verb(what) & _verbs(earlier))
        is_used = bool(_USED.match(what) and _USED.search(earlier))
        if len(shared) >= _SHARED_MIN and (not is_doubted or is_same_deed or is_used or 2 * len(shared) > len(things)):
            return True
        if shared and len(things) == 1 and (is_same_deed or is_used):
            return True
        # "Completed a first draft of any screenplay": what was done is named first, without a circumstance behind it.
        if shared and is_same_deed and _first_thing(what) in shared and not _CIRCUMSTANCE.search(what):
            return True
        if is_used and topic_words(match["example"] or "") & said:
            return True
    return False


def requantifies(earlier: str, later: str) -> bool:
    """Returns whether the later statement gives a quantity or a date of the earlier one a new value, and says so."""
    shared = topic_words(earlier) & topic_words(later)
    if len(shared) < _SHARED_MIN or not _GREW.search(later):
        return False
    if _GREW.search(earlier) and "from" not in earlier and len(shared) <= _SHARED_SURE:
        return False
    first, second = _values(earlier), _values(later)
    is_near = len(shared) > _SHARED_SURE or 2 * len(shared) >= min(map(len, map(topic_words, (earlier, later))))
    is_moved, is_more = _MOVED.search(later) is not None, _MORE.search(later) is not None
    for unit in {unit for unit, _ in first} & {unit for unit, _ in second}:
        if {n for same, n in first if same == unit} & {n for same, n in second if same == unit}:
            continue
        if unit in _MOMENTS:
            is_about = is_moved and is_near
        elif unit in _BARE:
            is_about = is_near and not is_more and not first & second
        else:
            is_about = unit in shared or (len(shared) >= _SHARED_SURE and "added" not in later)
        if is_about:
            return True
    return False


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


def _first_thing(text: str) -> str:
    """The first word behind the verb that names something."""
    words = (lemma(token.lower) for token in tokenize(text.partition(" ")[2]))
    known = topic_words(text)
    return next((word for word in words if word in known), "")


def _verb(text: str) -> frozenset[str]:
    words = text.split(maxsplit=1)
    return frozenset({lemma(words[0].casefold())}) if words else frozenset()


def _verbs(text: str) -> frozenset[str]:
    return frozenset(lemma(token.lower) for token in tokenize(text))
