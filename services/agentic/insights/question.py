"""Reads plain English questions about notes. Pure functions; what they cannot read is refused in plain words."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from enum import IntEnum
from typing import Final

from services.agentic.model import NoteKind
from services.common.dates import NamedTime, TimeRange, find_times
from services.common.speaker_names import Names


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
    text: str = ""  # the question without its time; empty where the topic says it all
    newest: bool = False  # the newest notes are asked for, not the nearest to the topic
    count_max: int | None = None  # so many of them


@dataclass(frozen=True, slots=True)
class AskedQuestion:
    """A question as it was read, and in the first person of the speakers that it names."""

    parsed: ParsedQuestion
    topic: str  # without the names of speakers
    text: str  # likewise, in the first person
    named: tuple[int, ...] = ()  # the speakers that it names


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
        r"\bpreferences?\b|\b(?:do|does|did) (?:i|we) (?:usually |really )?(?:like|love|prefer|enjoy)\b", re.I
    ),
}
_LISTED: Final = r"(?:notes?|facts?|concepts?|procedures?|observations?|preferences?)\b"
_TWO_KINDS: Final = re.compile(
    rf"\b{_LISTED}(?:\s*[,&]\s*|\s+(?:and|or|as well as)\s+)(?:(?:my|the|all|how many)\s+)*{_LISTED}", re.I
)
_NUMBERS: Final = {
    word: number
    for number, word in enumerate("one two three four five six seven eight nine ten".split(), start=1)  # noqa: SIM905
}
_NUMBER: Final = rf"(?:(?P<number>\d{{1,3}}|{'|'.join(_NUMBERS)})\s+)?"
_NEWEST: Final = re.compile(
    rf"\b{_NUMBER}(?:my\s+|the\s+)?(?:latest|newest|(?:most\s+)?recent|last)\s+"
    rf"{_NUMBER.replace('number', 'number_after')}(?P<listed>{_LISTED})",
    re.I,
)
_OLDEST: Final = re.compile(
    rf"\b(?:first|oldest|earliest)\s+{_NUMBER}{_LISTED}|\b(?:oldest|earliest) (?:ones? )?first\b", re.I
)
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
i we you us am do does did have has had was were is are be been there note notes thing things know knows known said
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


def read_question(text: str, now: datetime, names: Names) -> AskedQuestion:
    """How a question is read that may name those who speak in the notes.

    Notes say "I" where a question says a name. What is read is shown with the names; what is looked for stands in the
    first person.

    Args:
        text: The question.
        now: What "last week" counts from; aware, UTC.
        names: Of the speakers.
    """
    parsed = parse_question(text, now)
    named = () if parsed.refusal else names.named_in(text)
    if not named:
        return AskedQuestion(parsed, parsed.topic, parsed.text)
    spoken = parse_question(names.to_first_person(text), now)
    if spoken.refusal:  # nothing but the name is asked for
        return AskedQuestion(parsed, "", "", named)
    if parsed.kind is None and spoken.kind is not None:  # "What does Ann like?"
        intent = Intent.FILTER if parsed.intent is Intent.RETRIEVE else parsed.intent
        parsed = replace(parsed, intent=intent, kind=spoken.kind)
    return AskedQuestion(parsed, spoken.topic, spoken.text, named)


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
    if (found := _TWO_KINDS.search(text)) and len(_kinds_in(found.group())) > 1:
        return ParsedQuestion(
            Intent.FILTER, refusal=f'"{found.group()}" names two kinds of notes: ask for one after the other.'
        )
    if found := _OLDEST.search(text):
        return ParsedQuestion(
            Intent.FILTER, refusal=f'"{found.group()}" cannot be answered: notes are listed nearest or newest first.'
        )
    latest = _NEWEST.search(text)
    rest, start_time, end_time = _take_time(_NEWEST.sub(r"\g<listed>", text), now)
    asked = rest
    by_topic, is_count = bool(_TOPICS.search(rest)), bool(_COUNT.search(rest))
    rest = _COUNT.sub(" ", rest)
    kind, named_by = None, ""
    for each, pattern in _KINDS.items():
        if match := pattern.search(rest):
            kind, named_by, rest = each, match.group(), pattern.sub(" ", rest)
            break
    topic = _topic(rest)
    if by_topic or is_count:
        return ParsedQuestion(Intent.AGGREGATE, topic, kind, start_time, end_time, by_topic=by_topic)
    is_filter = kind is not None or start_time is not None or end_time is not None
    if not is_filter and not topic and latest is None and not _ALL.search(rest):
        return ParsedQuestion(Intent.RETRIEVE, refusal="The question names no topic, no kind of note and no time.")
    # "Facts about tea" and "preferences for tea" have their topic in a word; a sentence says more than its topic.
    is_sentence = not _ABOUT.search(rest) and (not named_by or " " in named_by)
    return ParsedQuestion(
        Intent.FILTER if is_filter else Intent.RETRIEVE,
        topic,
        kind,
        start_time,
        end_time,
        text=asked.strip() if topic and is_sentence else "",
        newest=latest is not None,
        count_max=None if latest is None else _count(latest),
    )


def _kinds_in(text: str) -> set[NoteKind]:
    return {kind for kind, pattern in _KINDS.items() if pattern.search(text)}


def _count(latest: re.Match[str]) -> int | None:
    """How many of the newest notes are asked for: one where the word is in the singular, None for no number."""
    said = latest["number"] or latest["number_after"]
    if said is None:
        return None if latest["listed"].endswith("s") else 1
    return int(said) if said.isdecimal() else _NUMBERS[said.casefold()]


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
