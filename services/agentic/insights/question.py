"""Reads plain English questions about notes. Pure functions; what they cannot read is refused in plain words."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import IntEnum
from typing import Final

from services.agentic.model import NoteKind
from services.common.dates import NamedTime, TimeRange, find_times


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
    r"^\s*(?:please\s+)?(?:(?:delete|forget|remove|erase|add|merge)\b|(?:change|update)\b(?!\s+(?:of|on|in|about)\b)"
    r"|remember\b(?![^?]*\?\s*$))",
    re.I,
)
_TOO_MUCH: Final = re.compile(
    r"\b(?:average|the mean|median|sum|total(?! (?:number|count)\b)|percent(?:age)?|ratio|compare|correlat\w+)\b", re.I
)
_COUNT: Final = re.compile(r"\b(?:how many times|how many|how often|(?:total )?count|(?:total )?number of)\b", re.I)
_TOPICS: Final = re.compile(
    r"\b(?:(?:what|which)\b[^?]{0,100}\b(?:topics?|subjects?|themes?)"
    r"|(?:most (?:common|frequent)|main|top) (?:topics?|subjects?|themes?)"
    r"|what (?:do|did|have) (?:i|we) (?:mostly |usually |been )?(?:talk(?:ed|ing)?|speak(?:ing)?|spoken?) about)\b",
    re.I,
)
_KINDS: Final = {
    NoteKind.FACT: re.compile(r"\bfacts?\b", re.I),
    NoteKind.CONCEPT: re.compile(r"\bconcepts?\b|\bideas?\b", re.I),
    NoteKind.PROCEDURE: re.compile(r"\bprocedures?\b|\binstructions?\b", re.I),
    NoteKind.OBSERVATION: re.compile(r"\bobservations?\b|\bevents?\b", re.I),
    NoteKind.PREFERENCE: re.compile(
        r"\bpreferences?\b|\b(?:do|did) (?:i|we) (?:usually |really )?(?:like|love|prefer|enjoy)\b", re.I
    ),
}
_LEAD_WORDS: Final = "in|during|of|on|over|between|from|last|past|this|early|late|mid|the"
_BOUNDS: Final = "since|after|before|until|till|by"
_LEAD: Final = re.compile(rf"(?<!\w)(?:(?P<bound>{_BOUNDS})\s+)?(?:(?:{_LEAD_WORDS})[\s-]+){{0,3}}$", re.I)
"""What stands before an expression of time and belongs to it."""
_LEAD_CHARS_MAX: Final = 40
_ABOUT: Final = re.compile(
    r"\b(?:about|regarding|concerning|related to|on the subject of|mention(?:s|ed|ing)?)\s+(?P<topic>.+)", re.I
)
_SCAFFOLD_TEXT: Final = """
please show list give find tell me what which who when where how many much count number of all any my the a an
i we you us do does did have has had was were is are be been there note notes thing things know knows known said
say stated state made make wrote write written learned learn remember remembered from in during over on at for to
with and or about topic topics subject subjects theme themes most common frequent main top talk talked mostly
usually that it happen happened happening everything anything discuss discussed discussing mentioned noted recorded
stored talking chat chatted
"""
_SCAFFOLD: Final = frozenset(_SCAFFOLD_TEXT.split())
"""Words that ask, and name nothing."""
_SO_FAR: Final = re.compile(r"\b(?:so far|(?:came|come|comes) up|took place|going on)\b", re.I)
_ALL: Final = re.compile(r"\b(?:everything|anything|all)\b", re.I)
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
    rest = _COUNT.sub(" ", rest)
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
    if not topic and not _ALL.search(rest):
        return ParsedQuestion(Intent.RETRIEVE, refusal="The question names no topic, no kind of note and no time.")
    return ParsedQuestion(Intent.RETRIEVE, topic)


def _topic(rest: str) -> str:
    found = _ABOUT.search(rest)
    words = found["topic"] if found else rest
    words = re.sub(r"[?!.,;:\"()]+", " ", words)
    named = _WORD.sub(lambda word: " " if word[0].casefold() in _SCAFFOLD else word[0], _SO_FAR.sub(" ", words))
    return " ".join(named.split())


def _take_time(text: str, now: datetime) -> tuple[str, datetime | None, datetime | None]:
    """The text without its first expression of time, and the period."""
    named = next((one for one in find_times(text, now) if one.ranges), None)
    if named is None:
        return text, None, None
    begin = max(0, named.begin - _LEAD_CHARS_MAX)
    lead = _LEAD.search(text, begin, named.begin)
    start, end = _period(named, (lead["bound"] or "").casefold() if lead is not None else "", now)
    return f"{text[: lead.start() if lead is not None else named.begin]} {text[named.end :]}", start, end


def _period(named: NamedTime, lead: str, now: datetime) -> tuple[datetime | None, datetime | None]:
    """From when until when: of several times that may be meant the latest that has begun."""
    begun = [one for one in named.ranges if one.start <= now.timestamp()]
    meant: TimeRange = max(begun, key=lambda one: one.start) if begun else named.ranges[0]
    start, end = (datetime.fromtimestamp(moment, UTC) for moment in (meant.start, meant.end))
    if lead == "since":
        return start, None
    if lead == "after":
        return end, None
    if lead == "before":
        return None, start
    return (None, end) if lead else (start, end)
