"""New quantities in long sentences, where only a common topic tells that two are about the same thing."""

from __future__ import annotations

import re
from typing import Final

from services.common.text_cache import text_cache
from services.common.values.reading.splitting import are_two_of_a_kind
from services.common.values.words.lexicon import MONTHS, NOUNS_TOO, POSSESSIVES, PRONOUNS, STOP, VERBS
from services.common.values.words.tokens import PUNCTUATION, lemma, tokenize

_FILLERS: Final = """
    not never no any project app new help sure try make ensure before actually recently just further more using how my
    so but if total way already currently day week month year time thing problem issue as like pm am improve increase
    into between during while other such also kinda trying understand achieve
"""
_LIGHT: Final = frozenset(
    {*STOP, *PRONOUNS, *POSSESSIVES, *PUNCTUATION, *MONTHS, *(VERBS - NOUNS_TOO), *_FILLERS.split()},
)
_GREW: Final = re.compile(
    r"\b(?:(?:is|are|was|went|come|came)\s+(?:now\s+)?(?:down|up)\s+(?:to|from)|rose|risen|fell|fallen|climbed|shrank|doubled|halved|tripled|already\s+(?:completed|done|solved|read|collected)|added|increased|improved|reached|extended|rescheduled|adjusted|raised|reduced|lowered|grown|grew|now\s+(?:have|at|up)|"
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
_MOMENTS: Final = frozenset({"date", "clock"})
_DERIVED: Final = re.compile(
    r"(?:i[sz]ation|i[sz]ing|i[sz]ed?|ations?|ating|ated?|ions?|ments?|ings?|ors?|ers?|ed|age|es|e)$"
)
_DOUBLED: Final = re.compile(r"([bdgmnprt])\1$")
_STEM_MIN: Final = 4
_PARTS: Final = re.compile(
    r"[,;]\s+|(?<!\s)\s+(?:-\s+|(?:and|but|so|because)\s+(?=(?:i|we|i'm|i've|my|our)\b))", re.IGNORECASE
)
_YEAR: Final = re.compile(r"(?:19|20)\d\d")
_IT: Final = re.compile(r"\bit\b", re.IGNORECASE)
_RELATIVE: Final = re.compile(r"(?:which|who|that|now|after|\d)\b", re.IGNORECASE)
_SLASH: Final = re.compile(r"(?<=[a-z])/(?=[a-z])", re.IGNORECASE)
_FAINT: Final = frozenset(
    """
    be have do get make want need know think believe say go come take give let try keep use feel see look show find
    """.split()  # noqa: SIM905 - words
)
"""Verbs that go with anything."""
_COUNTED: Final = re.compile(
    r"\b(?:i|we)(?:'ve|\s+have)?(?:\s+(?:\w+ly|only|just|already|now|so\s+far)){0,2}\s+(?P<verb>[a-z]+)\s+"
    r"(?P<number>\d[\d,]{0,11})\s+(?P<unit>[a-z]+)",
    re.IGNORECASE,
)
_HAVE_DONE: Final = re.compile(r"\b(?:i|we)(?:'ve|\s+have)\b", re.IGNORECASE)
_COUNT: Final = re.compile(r"(?<![\w.])(?P<number>\d[\d,]{0,11})\s+(?P<unit>[a-z]+s)\b", re.IGNORECASE)
_REACHED: Final = re.compile(
    r"\b(?:reached|hit|risen\s+to|rose\s+to|grown\s+to|grew\s+to|increased\s+to|(?:is|are|stands?)\s+(?:now\s+)?at|up\s+to|down\s+to)\s+"
    r"(?P<number>\d[\d,]{0,11}(?:\.\d{1,9})?)(?=\s*(?:[,;.)]|and\b|but\b|so\b|$))",
    re.IGNORECASE,
)
_VALUE: Final = re.compile(
    r"(?P<date>\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,6}\.?\s{1,9}\d{1,2}\b)|"
    r"(?P<clock>\b\d{1,2}(?::\d\d)?\s?[ap]m\b)|"
    r"(?<![\w.])(?P<number>\d[\d,]{0,19}(?:\.\d{1,9})?)\s?(?P<unit>%|ms\b|(?:[a-z-]{1,40}\s{1,9}){0,2}[a-z]{1,40})",
    re.IGNORECASE,
)
_SHARED_MIN: Final = 2
_SHARED_SURE: Final = 3


def requantifies(earlier: str, later: str) -> bool:
    """Returns whether the later statement gives a quantity or a date of the earlier one a new value, and says so."""
    shared = topic_words(earlier) & topic_words(later)
    if len(shared) < _SHARED_MIN or are_two_of_a_kind(_words(earlier), _words(later)):
        return False
    if _recounts(earlier, later, shared) or _reaches(earlier, later, shared):
        return True
    if not _GREW.search(later):
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
        if is_about and _is_one_matter(earlier, later, unit):
            return True
    return False


@text_cache(4_096)
def _words(text: str) -> tuple[str, ...]:
    return tuple(token.lower for token in tokenize(text))


def _is_one_matter(earlier: str, later: str, unit: str) -> bool:
    """Whether two values of one unit are said of the same: in long sentences, what stands beside them decides."""
    for first in _beside(earlier, unit):
        for second in _beside(later, unit):
            if first & second:
                return True
    return False


def _beside(text: str, unit: str) -> list[frozenset[str]]:
    """The topics of the parts of a sentence in which values of a unit stand; "which ..." belongs to what it follows."""
    parts: list[str] = []
    for part in _PARTS.split(text):
        if parts and (_RELATIVE.match(part) or _IT.search(part)):
            parts[-1] += f", {part}"
        else:
            parts.append(part)
    left_out = _BARE & {unit}
    return [
        (topic_stems(part) | _deeds(part)) - left_out
        for part in parts
        if any(found == unit for found, _ in _values(part))
    ]


def _recounts(earlier: str, later: str, shared: frozenset[str]) -> bool:
    """The same was done another number of times: in the same days, or more often up to now.

    "I secured 3 interviews between 25 April and 1 May" and 5 of them; "I've merged 48 requests", "I've merged 63".
    """
    if not (_COUNTED.search(later) and _COUNTED.search(earlier)):
        return False
    first, second = _values(earlier), _values(later)
    days = [{value for value in side if value[0] == "date"} for side in (first, second)]
    is_total = bool(_HAVE_DONE.search(earlier) and _HAVE_DONE.search(later)) and not any(days)
    for new in _COUNTED.finditer(later):
        for old in _COUNTED.finditer(earlier):
            number, before = _as_number(new["number"]), _as_number(old["number"])
            if lemma(new["verb"].casefold()) != lemma(old["verb"].casefold()) or number == before:
                continue
            if not _counted_by(first, old["number"]) & _counted_by(second, new["number"]) & shared:
                continue
            if days[0] and days[0] == days[1]:
                return True
            if is_total and len(shared) >= _SHARED_SURE and number > before:
                return True
    return False


def _counted_by(values: frozenset[tuple[str, str]], number: str) -> set[str]:
    """What a number counts."""
    return {unit for unit, found in values if found == number.replace(",", "")}


def _as_number(text: str) -> float:
    return float(text.replace(",", ""))


def _reaches(earlier: str, later: str, shared: frozenset[str]) -> bool:
    """A number without a noun counts what the clause is about: "the commits ..., which have now reached 165"."""
    reached = {match["number"].replace(",", "") for match in _REACHED.finditer(later)}
    if not reached:
        return False
    first = {(lemma(match["unit"].casefold()), match["number"].replace(",", "")) for match in _COUNT.finditer(earlier)}
    counted = {unit for unit, _ in _values(later)}
    return any(unit in shared - counted - _BARE and number not in reached for unit, number in first)


_BARE: Final = frozenset(
    {
        "date",
        "clock",
        "%",
        "ms",
        "hour",
        "minute",
        "euro",
        "dollar",
        "mile",
        "km",
        "kilo",
        "cm",
        "mm",
        "kg",
        "kb",
        "mb",
        "gb",
    }
)


@text_cache(4_096)
def topic_words(text: str) -> frozenset[str]:
    """Returns the words that name the topic of a statement."""
    found: set[str] = set()
    before = ""
    for token in tokenize(_SLASH.sub(" ", text)):
        word = lemma(token.lower.strip("-"))
        is_counted = before[:1].isdigit() and token.lower.endswith("s") and word in VERBS  # "1,200 calls"
        if len(word) > 1 and not word[0].isdigit() and (word not in _LIGHT or is_counted):
            found.add(word)
        before = token.lower
    return frozenset(found)


@text_cache(4_096)
def topic_stems(text: str) -> frozenset[str]:
    """Returns the words that name the topic of a statement, without endings: "optimize", "optimization"."""
    return frozenset(map(stem, topic_words(text)))


def stem(word: str) -> str:
    """A word without the endings by which verbs, nouns and participles are derived from each other."""
    while (shorter := _DERIVED.sub("", word)) != word and len(shorter) >= _STEM_MIN:
        word = shorter
    return word[:-1] if _DOUBLED.search(word) else word


@text_cache(4_096)
def _values(text: str) -> frozenset[tuple[str, str]]:
    found: set[tuple[str, str]] = set()
    for match in _VALUE.finditer(text):
        if match["date"]:
            found.add(("date", match["date"][:3].casefold() + match["date"].split()[-1]))
        elif match["clock"]:
            found.add(("clock", match["clock"].replace(" ", "").casefold()))
        else:
            number = match["number"].replace(",", "")
            if _YEAR.fullmatch(match["number"]):
                continue
            found.update((lemma(unit.casefold()), number) for unit in match["unit"].split())
    return frozenset(found)


def _deeds(text: str) -> frozenset[str]:
    """The verbs that say what is done, without endings: "studying", "study sessions"."""
    words = (lemma(token.lower) for token in tokenize(text))
    return frozenset(stem(word) for word in words if word in VERBS - _FAINT and word not in NOUNS_TOO)
