"""Appointments, dates and amounts that are set to another one, in the many ways to say so (SPEC 3.5). Pure functions.

`shifts.toml` lists the phrases. The thing must be what the earlier statement is about, or the one who sets it must
be named there: "the dentist moved me to Thursday" after "my dentist appointment is on Tuesday". The earlier statement
must have a value of the same kind, and another one.
"""

from __future__ import annotations

import re
import tomllib
from collections import defaultdict
from collections.abc import Iterator
from datetime import date
from functools import lru_cache
from pathlib import Path
from typing import Final, NamedTuple

from services.common.text_cache import text_cache
from services.common.values.comparison.sameness import Match, match_values
from services.common.values.lives.beginnings import has_happened
from services.common.values.model import Modality, Value, ValueKind
from services.common.values.partings.families import related
from services.common.values.reading.clauses import Clause
from services.common.values.reading.pieces import read_statement
from services.common.values.reading.splitting import PREPOSITIONS
from services.common.values.reading.whose import RELATIVES, spoken
from services.common.values.replacement.days import day_named
from services.common.values.words.fields import CHANGED
from services.common.values.words.lexicon import AUXILIARIES, MONTHS, ORDINALS, SMALL_NUMBERS, WEEKDAYS
from services.common.values.words.phrases import Phrase, compiled, read_phrases
from services.common.values.words.quantities import ValueReader
from services.common.values.words.tokens import lemma, tokenize

_FILE: Final = Path(__file__).with_name("shifts.toml")
_CHARS_MAX: Final = 250
_WORDS_MAX: Final = 16
_DAYS: Final = (
    {day: day for day in WEEKDAYS} | {f"{day}s": day for day in WEEKDAYS} | {month: month for month in MONTHS}
) | {
    word: word
    for word in (
        "today",
        "tonight",
        "tomorrow",
        "weekend",
        "week",
        "month",
        "year",
        "spring",
        "summer",
        "autumn",
        "winter",
        "noon",
        "midnight",
        "end",
    )
}
_RECURRING: Final = frozenset(
    {*(f"{day}s" for day in WEEKDAYS), "every", "each", "weekly", "monthly", "usually", "always"}
)
_TIMED: Final = frozenset({ValueKind.DATE, ValueKind.TIME})
_COUNTED: Final = frozenset({ValueKind.NUMBER, ValueKind.QUANTITY, ValueKind.MONEY})
_ORDINAL: Final = re.compile(r"\d{1,2}(?:st|nd|rd|th)")
_NOBODY: Final = frozenset("he she they them it somebody someone".split())  # noqa: SIM905 - words
_BESIDE: Final = frozenset(
    """
    the my our this that new old next whole visit appointment date time rang rung called phoned wrote emailed texted has
    have and so be because of will
    """.split()  # noqa: SIM905 - words
)
_REASON: Final = re.compile(
    r"\b(?:called|rang|phoned|wrote|e-?mailed|texted|says|said|because\sof|due\sto|strike|delayed?|postponed|ill|sick|rain|storm|double-booked|clash\w*)\b",
    re.IGNORECASE,
)
"""Why something is on another day."""
_OTHER: Final = re.compile(r"\b(?:other|another|second|also|too|as\swell|extra|his|her|their)\b|\?", re.IGNORECASE)


_REMARK: Final = re.compile(
    r",\s(?:some|because|since|as|due\sto|(?:his|her|their)\s[\w-]{2,20}\s(?:is|was|has|broke|got|needs?|had))\b[^,;.!?]{0,60}[.!]?$",
    re.IGNORECASE,
)
"""Why somebody puts something off, behind what they do: "some drama with his van"."""


class _Shift(NamedTuple):
    kind: str  # moved, once, stated or measured
    thing: frozenset[str]  # empty: not named
    whens: frozenset[str]
    values: tuple[Value, ...]


@lru_cache(maxsize=1)
def _by_word() -> dict[str, list[tuple[Phrase, str]]]:
    tables = tomllib.loads(_FILE.read_text("utf-8"))
    found: dict[str, list[tuple[Phrase, str]]] = defaultdict(list)
    for key in ("moved", "once", "stated", "measured"):
        for phrase in read_phrases(tables[key]):
            for word in phrase.anchors:
                found[word].append((phrase, key))
    return dict(found)


def is_set_anew(earlier: str, later: str, *, is_new: bool, day: date | None, later_day: date | None) -> bool:
    """Returns whether a later statement sets what the earlier one is about to another day, time or number.

    Args:
        earlier: A statement.
        later: A later one of the same speaker.
        is_new: Whether its turn announces a change.
        day: When the earlier one was said.
        later_day: When the later one was.
    """
    if len(earlier) > _CHARS_MAX or len(later) > _CHARS_MAX or _OTHER.search(_REMARK.sub("", later)):
        return False
    shifts = _shifts(spoken(later))
    if not shifts:
        return False
    is_new = is_new or _REASON.search(later) is not None or CHANGED.search(later) is not None
    said = frozenset(lemma(word) for word in spoken(later).lower().split())
    for clause in read_statement(earlier).clauses:
        if not _is_standing(clause) or _has_passed(clause, day, later_day):
            continue
        if any(_is_shifted(clause, shift, said) for shift in shifts if is_new or shift.kind != "stated"):
            return True
    return False


def _is_standing(clause: Clause) -> bool:
    if clause.modality is not Modality.STATED or clause.negated or clause.past or clause.historic or clause.possessors:
        return False
    subject = {word for item in clause.subject for word in str(item).split()}
    return len(clause.tokens) <= _WORDS_MAX and not subject & {"he", "she", "you"}


def _has_passed(clause: Clause, day: date | None, later_day: date | None) -> bool:
    named = day_named(clause, day) if day is not None else None
    return named is not None and later_day is not None and named < later_day


def _is_shifted(clause: Clause, shift: _Shift, said: frozenset[str]) -> bool:
    words = {lemma(word) for word in clause.tokens} | {
        lemma(part) for word in clause.tokens for part in word.split("-")
    }
    about = {lemma(word) for item in clause.subject for word in str(item).split()} - {"i", "we"} or {clause.verb}
    if shift.thing and not shift.thing <= related(frozenset(words)):
        return False
    if shift.kind == "once" and _RECURRING & {word.lower() for word in clause.tokens}:
        return False
    if shift.kind == "stated" and not about <= shift.thing:
        return False
    if not shift.thing and not related(frozenset(about)) & said:
        return False
    values = [value for value in clause.values if value not in clause.subject]
    counted = [value for value in values if value.kind in _COUNTED]
    if shift.kind == "measured":
        return any(_is_other(x, y) for x in counted for y in shift.values if y.kind in _COUNTED)
    days = [x for x in values if x.kind is ValueKind.DATE and x.unit == "day"]
    if days and (news := [y for y in shift.values if y.unit == "day"]):
        return not any(match_values(x, y) is Match.EQUAL for x in days for y in news)
    whens = _whens(clause.tokens)
    if shift.whens and whens:
        return shift.whens != whens and not shift.whens < whens
    times = [value for value in values if value.kind in _TIMED]
    return (
        any(x.kind is y.kind and match_values(x, y) is Match.DIFFERENT for x in times for y in shift.values)
        or (
            bool(times)
            and any(y.kind is ValueKind.NUMBER and any(t.kind is ValueKind.TIME for t in times) for y in shift.values)
            and not any(match_values(x, y) is Match.EQUAL for x in times for y in shift.values)
        )
        or (bool(whens) and any(y.kind in _TIMED and y.kind is ValueKind.DATE for y in shift.values))
    )


def _is_other(x: Value, y: Value) -> bool:
    return x.kind is y.kind and match_values(x, y) is Match.DIFFERENT


def _whens(tokens: tuple[str, ...] | list[str]) -> frozenset[str]:
    lower = [token.lower() for token in tokens]
    found = {_DAYS[word] for word in lower if word in _DAYS} | {word for word in lower if _ORDINAL.fullmatch(word)}
    return frozenset(found | ({"next"} if "next" in lower and found else set()))


@text_cache(4_096)
def _shifts(said: str) -> tuple[_Shift, ...]:
    return tuple(_read(said))


def _read(said: str) -> Iterator[_Shift]:
    for word in set(said.lower().split()):
        for phrase, kind in _by_word().get(word, ()):
            match = compiled(phrase.pattern).search(said)
            if match is None or not has_happened(said, match, phrase, with_groups=True):
                continue
            groups = match.groupdict()
            thing = _thing(groups.get("x") or "")
            text = groups.get("v") or ""
            if thing is None or not text or _is_possessive(said, match):
                continue
            items = ValueReader(tokenize(f"at {text}" if kind != "measured" else text)).read()
            values = tuple(item for item in items if isinstance(item, Value))
            whens = _whens([*text.split(), *said[match.end() :].split()[:2]]) if kind != "measured" else frozenset()
            if values or whens:
                yield _Shift(kind, thing, whens, values)


def _is_possessive(said: str, match: re.Match[str]) -> bool:
    """Whether an "'s" that a phrase takes for "is" makes an owner: "Marek's birthday is 11 March" is not of Marek."""
    before = said[match.start() : match.start("v")].split()
    return before[-1:] == ["'s"] and bool(AUXILIARIES & set(match["v"].lower().split()))


def _thing(text: str) -> frozenset[str] | None:
    words = set(text.lower().split())
    if words and words <= {"it", "them", "that"}:
        return None
    place = max((n for n, word in enumerate(text.lower().split()) if word in {"the", "my", "our"}), default=0)
    text = " ".join(text.split()[place:])
    is_person = bool(words & RELATIVES) and not words & {"visit", "arrival"}
    if is_person or words & {"his", "her", "your", "'s", "i", "you"}:
        return None
    found = {lemma(word.lower()) for word in text.split()} - PREPOSITIONS - _BESIDE - _NOBODY
    return frozenset(
        word for word in found if word not in ORDINALS and word not in SMALL_NUMBERS and not word[:1].isdigit()
    )
