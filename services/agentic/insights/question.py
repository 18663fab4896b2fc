"""Reads plain English questions about notes. Pure functions; what they cannot read is refused in plain words."""

from __future__ import annotations

import calendar
import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import IntEnum
from typing import Final

from services.agentic.model import NoteKind


class Intent(IntEnum):
    """What a question wants; the numbers are those of the wire format."""

    RETRIEVE = 1
    FILTER = 2
    AGGREGATE = 3


@dataclass(frozen=True, slots=True)
class ParsedQuestion:
    """How a question was read."""

    intent: Intent
    topic: str = ""  # empty: anything
    kind: NoteKind | None = None
    start_time: datetime | None = None
    end_time: datetime | None = None  # exclusive
    by_topic: bool = False
    refusal: str = ""  # why nothing is looked for


_WRITES: Final = re.compile(
    r"^\s*(?:please\s+)?(?:delete|forget|remove|erase|change|update|add|remember|merge)\b", re.I
)
_TOO_MUCH: Final = re.compile(r"\b(?:average|mean|median|sum|total|percent(?:age)?|ratio|compare|correlat\w+)\b", re.I)
_COUNT: Final = re.compile(r"\b(?:how many|count|number of)\b", re.I)
_TOPICS: Final = re.compile(
    r"\b(?:(?:what|which)\b[^?]{0,100}\b(?:topics?|subjects?)"
    r"|(?:most (?:common|frequent)|main|top) (?:topics?|subjects?)"
    r"|what (?:do|did|have) (?:i|we) (?:mostly |usually )?(?:talk(?:ed)?|speak|spoke|spoken) about)\b",
    re.I,
)
_KINDS: Final = {
    NoteKind.FACT: re.compile(r"\bfacts?\b", re.I),
    NoteKind.CONCEPT: re.compile(r"\bconcepts?\b|\bideas?\b", re.I),
    NoteKind.PROCEDURE: re.compile(r"\bprocedures?\b|\binstructions?\b", re.I),
    NoteKind.OBSERVATION: re.compile(r"\bobservations?\b|\bevents?\b", re.I),
    NoteKind.PREFERENCE: re.compile(r"\bpreferences?\b", re.I),
}
_MONTHS: Final = {name.casefold(): number for number, name in enumerate(calendar.month_name) if name}
_UNIT: Final = r"day|week|month|year"
_RELATIVE: Final = re.compile(rf"\b(?P<which>this|last|past|previous)\s+(?P<unit>{_UNIT})\b", re.I)
_LAST_N: Final = re.compile(
    rf"\b(?:in |over |during )?(?:the )?(?:last|past)\s+(?P<n>\d{{1,3}})\s+(?P<unit>{_UNIT})s?\b", re.I
)
_DAY_WORD: Final = re.compile(r"\b(?P<day>today|yesterday)\b", re.I)
_DATE: Final = re.compile(r"\b(?P<how>since|after|before|until|on)?\s*(?P<date>\d{4}-\d{2}-\d{2})\b", re.I)
_MONTH: Final = re.compile(rf"\b(?:in|of|during)\s+(?P<month>{'|'.join(_MONTHS)})(?:\s+(?P<year>\d{{4}}))?\b", re.I)
_YEAR: Final = re.compile(r"\b(?:in|of|during)\s+(?P<year>(?:19|20|21)\d\d)\b", re.I)
_ABOUT: Final = re.compile(
    r"\b(?:about|regarding|concerning|related to|on the subject of|mention(?:s|ing)?)\s+(?P<topic>.+)", re.I
)
_SCAFFOLD_TEXT: Final = """
please show list give find tell me what which who when where how many much count number of all any my the a an
i we you us do does did have has had was were is are be been there note notes thing things know knows known said
say stated state made make wrote write written learned learn remember remembered from in during over on at for to
with and or about topic topics subject subjects theme themes most common frequent main top talk talked mostly
usually that it
"""
_SCAFFOLD: Final = frozenset(_SCAFFOLD_TEXT.split())
"""Words that ask, and name nothing."""
_SO_FAR: Final = re.compile(r"\bso far\b", re.I)
_WORD: Final = re.compile(r"\w+")


def parse_question(text: str, now: datetime) -> ParsedQuestion:
    """How a question is read.

    Args:
        text: The question.
        now: What "last week" counts from; aware, UTC.
    """
    if _WRITES.search(text):
        return ParsedQuestion(
            Intent.RETRIEVE, refusal="Questions only read: use Remember, Correct or Forget to change notes."
        )
    if found := _TOO_MUCH.search(text):
        return ParsedQuestion(
            Intent.AGGREGATE,
            refusal=f'"{found.group()}" cannot be answered: notes are counted and their topics listed.',
        )
    rest, start_time, end_time = _take_time(text, now)
    by_topic, is_count = bool(_TOPICS.search(rest)), bool(_COUNT.search(rest))
    kind = None
    for each, pattern in _KINDS.items():
        if pattern.search(rest):
            kind, rest = each, pattern.sub(" ", rest)
            break
    topic = _topic(rest)
    if by_topic or is_count:
        return ParsedQuestion(Intent.AGGREGATE, topic, kind, start_time, end_time, by_topic=by_topic)
    if kind is not None or start_time is not None or end_time is not None:
        return ParsedQuestion(Intent.FILTER, topic, kind, start_time, end_time)
    refusal = "" if topic else "The question names no topic, no kind of note and no time."
    return ParsedQuestion(Intent.RETRIEVE, topic, refusal=refusal)


def _topic(rest: str) -> str:
    found = _ABOUT.search(rest)
    words = found["topic"] if found else rest
    words = re.sub(r"[?!.,;:\"()]+", " ", words)
    named = _WORD.sub(lambda word: " " if word[0].casefold() in _SCAFFOLD else word[0], _SO_FAR.sub(" ", words))
    return " ".join(named.split())


def _take_time(text: str, now: datetime) -> tuple[str, datetime | None, datetime | None]:
    """The text without its expression of time, and the period."""
    today = now.replace(hour=0, minute=0, second=0, microsecond=0)
    if found := _LAST_N.search(text):
        days = int(found["n"]) * {"day": 1, "week": 7, "month": 30, "year": 365}[found["unit"].casefold()]
        return _without(text, found), now - timedelta(days=days), None
    if found := _RELATIVE.search(text):
        begin, end = _calendar_period(found["unit"].casefold(), today, is_last=found["which"].casefold() != "this")
        return _without(text, found), begin, end
    if found := _DAY_WORD.search(text):
        begin = today if found["day"].casefold() == "today" else today - timedelta(days=1)
        return _without(text, found), begin, begin + timedelta(days=1)
    if found := _DATE.search(text):
        try:
            day = datetime.fromisoformat(found["date"]).replace(tzinfo=now.tzinfo)
        except ValueError:
            return text, None, None
        how = (found["how"] or "on").casefold()
        if how in {"since", "after"}:
            return _without(text, found), day + timedelta(days=how == "after"), None
        if how in {"before", "until"}:
            return _without(text, found), None, day + timedelta(days=how == "until")
        return _without(text, found), day, day + timedelta(days=1)
    if found := _MONTH.search(text):
        month = _MONTHS[found["month"].casefold()]
        year = int(found["year"]) if found["year"] else now.year - (month > now.month)
        begin = today.replace(year=year, month=month, day=1)
        return _without(text, found), begin, _next_month(begin)
    if found := _YEAR.search(text):
        begin = today.replace(year=int(found["year"]), month=1, day=1)
        return _without(text, found), begin, begin.replace(year=begin.year + 1)
    return text, None, None


def _calendar_period(unit: str, today: datetime, *, is_last: bool) -> tuple[datetime, datetime]:
    """The day, week from Monday, month or year that holds today, or the one before it."""
    if unit == "day":
        begin, length = today, timedelta(days=1)
    elif unit == "week":
        begin, length = today - timedelta(days=today.weekday()), timedelta(days=7)
    elif unit == "month":
        begin = today.replace(day=1)
        before = (begin - timedelta(days=1)).replace(day=1)
        return (before, begin) if is_last else (begin, _next_month(begin))
    else:
        begin = today.replace(month=1, day=1)
        before = begin.replace(year=begin.year - 1)
        return (before, begin) if is_last else (begin, begin.replace(year=begin.year + 1))
    return (begin - length, begin) if is_last else (begin, begin + length)


def _next_month(begin: datetime) -> datetime:
    return (begin + timedelta(days=32)).replace(day=1)


def _without(text: str, found: re.Match[str]) -> str:
    return f"{text[: found.start()]} {text[found.end() :]}"
