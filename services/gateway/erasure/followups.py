"""Turns without a word of a query that go on about a turn which it means: "It hurt for a week." Pure functions.

Such a turn names nothing of its own to speak of: it begins with a pronoun, or says "it" of nothing that it names, or
only answers. What a pronoun stands for is what the speaker talked of last: a turn with a subject of its own ends it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from services.common.values.words.lexicon import KIN
from services.gateway.erasure.topics import is_told_beside
from services.gateway.erasure.word_names import does_something
from services.gateway.erasure.wording import DETERMINERS, FIRST, OF_THIRD, ROLES, Word, has, is_topic, words_of

_SUBJECTS: Final = frozenset(
    "it it's its that's they they're they've they'd they'll their he he's he'd he'll his she she's she'd she'll her this that".split()  # noqa: SIM905, E501 - words
)
"""A sentence that opens with one of them has no subject of its own."""
_PERSONS: Final = frozenset("he he's he'd he'll his him she she's she'd she'll her".split())  # noqa: SIM905 - words
_DEMONSTRATIVES: Final = frozenset({"this", "that"})
_OBJECTS: Final = frozenset({"it", "him", "her", "them", "it's"})
_OPENERS: Final = frozenset("and but so then also still well anyway only because".split())  # noqa: SIM905 - words
_EXPLETIVE: Final = re.compile(
    r"\bit(?:'s|'ll\sbe|\s(?:is|was|has\sbeen|will\sbe|gets?|got))?\s(?:\w+\s)?(?:rain\w*|snow\w*|sunny|cold|hot|warm|dark|late|early|"
    r"time|\d|mon|tues|wednes|thurs|fri|satur|sun|nice\sto|good\sto|hard\sto|easy\sto|great\sto|takes?\s(?:me|us|an?|\d))|"
    r"\b(?:make|makes|made)\sit\b|\bthat\s(?:said|way|time|day|week|is\swhy)\b",
    re.IGNORECASE,
)
"""Here "it" and "that" stand for nothing."""
_ANSWER: Final = re.compile(
    r"^(?:yes|yeah|yep|no|nope|not\s(?:yet|really|at\sall)|a\slot|a\slittle|never|always)\b", re.IGNORECASE
)
_UNSAID: Final = re.compile(
    r"\b(?:know|knows|found\sout|finds?\sout|told\sme\sso|understand|understands|agrees?|agreed|objects?|objected)(?:\sabout\s(?:it|that|this))?\s{0,3}(?:yet|either)?[.!]?$",
    re.IGNORECASE,
)
"""A verb that lacks its object: "My wife doesn't know." """
_OF_ANOTHER: Final = re.compile(r"\b(?:my|our)\s(?P<who>\w[\w-]*)(?:'s)?\b", re.IGNORECASE)
_JOINT: Final = re.compile(r"[,;:]|\b(?:that|because|when|if|so|but|and|says|said|thinks|told)\b", re.IGNORECASE)
"""Where another clause begins."""
_NUMBER: Final = re.compile(r"(?<![\w.,])\d+(?:[.,:]\d+)+|(?<![\w.,])\d{3,}(?![\w])")
_INTRODUCED: Final = re.compile(
    r"\b(?:name\sis|name's|called|named)\s(?:(?:Dr|Mr|Mrs|Ms)\.?\s)?(?P<name>[A-Z][\w-]{1,30})\b"
)
_OPENING_NAME: Final = re.compile(r"^(?:(?:Dr|Mr|Mrs|Ms)\.?\s)?(?P<name>[A-Z][\w-]{1,30})(?:'s)?\s")
_ACKNOWLEDGED: Final = re.compile(
    r"^(?:(?:note\s(?:it|that)|do\s(?:so|that)|yes(?:,?\splease)?|exactly|right|true|quite|please(?:\sdo)?|ok(?:ay)?|sure)[.!]\s){1,2}",
    re.IGNORECASE,
)
"""What is only said to who asked: "Note it." """
_KNOWN: Final = re.compile(r"^the\s(?P<what>[a-z-]{3,20}\s[a-z-]{3,20})\s", re.IGNORECASE)
_CHARS_MAX: Final = 200
_ANSWER_WORDS_MAX: Final = 6
_NOUN_BEFORE: Final = re.compile(
    r"\b(?:the|an?|my|our|his|her|their|this|that|no|some|\w+'s)\s(?:[\w-]+\s){0,2}?(?P<noun>[\w-]+)\b", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Line:
    """A turn of the log in its conversation."""

    turn_id: str
    conversation_id: str
    position: int
    speaker: str
    text: str
    is_assistant: bool = False


def follow_ups(
    topics: Collection[str],
    chosen: Collection[str],
    lines: Sequence[Line],
    distance: int,
    *,
    is_of_person: bool = False,
    names: Collection[str] = (),
    head: str = "",
    apart: Collection[str] = (),
) -> list[str]:
    """Returns ids of turns that go on about turns that a query means.

    Args:
        topics: Content words of the query, in base form.
        chosen: Ids of the turns that it means.
        lines: Turns of their conversations.
        distance: How many turns one may stand behind the turn it goes on about.
        is_of_person: The query means somebody: only what is said of "him" or "her" goes on.
        names: Words of the names in the query, in lower case: a sentence may open with one.
        head: The topic that names the thing itself.
        apart: Ids of turns that are known to be of somebody or something else.
    """
    found: list[str] = []
    conversations: dict[str, list[Line]] = {}
    for line in lines:
        conversations.setdefault(line.conversation_id, []).append(line)
    for of_one in conversations.values():
        in_order = sorted(of_one, key=lambda line: line.position)
        found += _going_on(
            topics, chosen, in_order, distance, is_of_person=is_of_person, names=names, head=head, apart=apart
        )
    return found


def _going_on(
    topics: Collection[str],
    chosen: Collection[str],
    lines: Sequence[Line],
    distance: int,
    *,
    is_of_person: bool,
    names: Collection[str],
    head: str,
    apart: Collection[str],
) -> Iterator[str]:
    last: dict[str, Line] = {}  # by speaker: the turn that says what they talk of
    meant = set(chosen)
    before: Line | None = None
    for line in lines:
        if line.turn_id in meant:
            last[line.speaker] = line
            before = line
            continue
        about = before if line.is_assistant else last.get(line.speaker)
        is_near = about is not None and about.turn_id in meant and line.position - about.position <= distance
        goes_on = (
            is_near
            and about is not None
            and line.turn_id not in apart
            and (
                _goes_on(about.text, line.text, is_of_person=is_of_person, names=names)
                or (line.is_assistant and _repeats_a_number(about.text, line.text))
                or _is_of_who_was_named(about.text, line.text)
                or (not line.is_assistant and _names_the_same(topics, head, about.text, line.text))
                or (not line.is_assistant and not is_of_person and _takes_up(about.text, line.text))
                or (not line.is_assistant and is_told_beside(topics, line.text))
                or (not line.is_assistant and _answers(line, before, lines, meant))
            )
        )
        if goes_on:
            meant.add(line.turn_id)
            yield line.turn_id
            if not line.is_assistant:
                last[line.speaker] = line
        elif not line.is_assistant:
            last[line.speaker] = line
        before = line


def _answers(line: Line, before: Line | None, lines: Sequence[Line], meant: Collection[str]) -> bool:
    """Whether a turn only answers what was asked about a turn that is meant: "Yes, a lot."."""
    if before is None or not before.text.rstrip().endswith("?") or not _ANSWER.match(line.text.strip()):
        return False
    asked_of = next((one for one in reversed(lines) if one.position < before.position), None)
    is_asked = before.turn_id in meant or (asked_of is not None and asked_of.turn_id in meant)
    return is_asked and len(line.text.split()) <= _ANSWER_WORDS_MAX


def _goes_on(about: str, text: str, *, is_of_person: bool, names: Collection[str]) -> bool:
    """Whether a text says something of what another one is about, and nothing of a subject of its own."""
    if len(text) > _CHARS_MAX:
        return False
    text = _ACKNOWLEDGED.sub("", text)
    words = list(words_of(text))
    while words and words[0].lower in _OPENERS:
        words = words[1:]
    if words and words[0].lower == "if":
        return False  # "If it goes off, call Sentry"
    if not words or _EXPLETIVE.search(text) is not None:
        return False
    opening = words[0].lower
    if opening in _SUBJECTS:
        if is_of_person and opening not in _PERSONS:
            return False
        return _stands_for(opening, about, names) and not (opening in _DEMONSTRATIVES and _is_noun_after(words))
    if _UNSAID.search(text) is not None:
        return True
    return _has_open_object(words, text, about, is_of_person=is_of_person, names=names)


def _repeats_a_number(about: str, text: str) -> bool:
    """Whether an answer repeats a number of the text that it answers: "I earn 41,500 a year", "Noted, 41,500"."""
    return bool(set(_NUMBER.findall(about)) & set(_NUMBER.findall(text)))


def _is_of_who_was_named(about: str, text: str) -> bool:
    """Whether a text is about whom another one introduces: "a therapist, her name is Ruiz", "Ruiz says ..."."""
    match = _OPENING_NAME.match(text)
    return match is not None and match["name"] in {named["name"] for named in _INTRODUCED.finditer(about)}


def _names_the_same(topics: Collection[str], head: str, about: str, text: str) -> bool:
    """Whether a text speaks of "the dealer" right after one that names the dealer, and of nobody and nowhere else.

    Or says all words of the query of nobody else: "the foam against hair loss", for "my hair loss".
    """
    if not head or len(text) > _CHARS_MAX or _OF_ANOTHER.search(text) is not None:
        return False
    first, second = list(words_of(about)), list(words_of(text))
    if _is_its_subject(topics, head, second):
        return has(first, head)  # "The inheritance is at the bank in Ulm"
    if len(topics) > 1 and all(has(second, topic) for topic in topics) and not _person_words(text):
        return not any(word.is_possessive or word.lower in OF_THIRD for word in second)
    if any(word.is_possessive for word in second) or _names_in(second) - _names_in(first):
        return False
    if len(second) > 1 and second[0].lower in DETERMINERS | {"my", "our"} and not is_topic(second[1], head):
        return False  # "The glaze needs salt, the diet is only mine"
    behind = [*second[1:], None]
    known = [
        word
        for before, word, after in zip(second, second[1:], behind[1:], strict=False)
        if before.lower == "the" and word.index == before.index + 1 and not (after and after.lower in _WHICH)
    ]
    return has(first, head) and any(is_topic(word, head) for word in known)


def _is_its_subject(topics: Collection[str], head: str, words: Sequence[Word]) -> bool:
    """Whether a text begins with the thing itself, which does or is something: "The singing lessons are on Monday"."""
    if not words or words[0].lower != "the":
        return False
    place = 1
    while place < len(words) and any(is_topic(words[place], topic) for topic in topics):
        place += 1
    return place > 1 and is_topic(words[place - 1], head) and does_something(words[place:])


_WHICH: Final = frozenset({"of", "in", "at", "on", "from", "for", "with"})
"""Behind a noun they say which one it is: "the lock of the shed"."""


def _takes_up(about: str, text: str) -> bool:
    """Whether a text begins with what the other one has introduced: "a drowned village", "The drowned village ..."."""
    match = _KNOWN.match(text)
    return match is not None and re.search(rf"\ban?\s{re.escape(match['what'])}\b", about, re.IGNORECASE) is not None


def _names_in(words: Sequence[Word]) -> set[str]:
    return {word.bare for word in words if word.index and word.is_capital and word.lower not in FIRST}


def _stands_for(pronoun: str, about: str, names: Collection[str]) -> bool:
    """Whether a text names what a pronoun may stand for; of several people it says nothing who is meant."""
    if pronoun not in _PERSONS:
        return True
    people = {match["who"].casefold().removesuffix("'s") for match in _OF_ANOTHER.finditer(about)} & (KIN | ROLES)
    named = {word.lower for word in words_of(about) if (word.is_capital and word.index) or word.bare in names}
    return len(people) == 1 or (not people and bool(named)) or (not people and bool(_person_words(about)))


def _person_words(text: str) -> set[str]:
    return {word.bare for word in words_of(text)} & (
        KIN | ROLES | {"man", "woman", "guy", "girl", "boy", "somebody", "someone"}
    )


def _is_noun_after(words: Sequence[Word]) -> bool:
    """Whether "this" or "that" stands before a noun of its own: "That printer is slow"."""
    after = words[1].lower if len(words) > 1 else ""
    return after not in {
        "is",
        "was",
        "has",
        "will",
        "would",
        "hurts",
        "hurt",
        "means",
        "made",
        "makes",
        "took",
        "cost",
        "costs",
        "can",
    }


def _has_open_object(
    words: Sequence[Word], text: str, about: str, *, is_of_person: bool, names: Collection[str]
) -> bool:
    """Whether "it" or "them" stands for nothing in the text: "Only you know about it."."""
    place = next((n for n, word in enumerate(words) if n and word.lower in _OBJECTS), None)
    if place is None:
        return False
    pronoun = words[place].lower
    behind = words[place + 1].index if place + 1 < len(words) else -1
    if is_of_person and pronoun not in _PERSONS:
        return False
    if pronoun == "her" and behind == words[place].index + 1:
        return False  # "her car"
    start = text.casefold().find(pronoun)
    nouns = [match["noun"].casefold() for match in _NOUN_BEFORE.finditer(text[: max(0, start)])]
    if nouns and words[place - 1].lower in _FOR and words[place - 2].bare == nouns[-1]:
        nouns.pop()  # "a cream for it"
    if pronoun in {"him", "her"}:
        people = [noun for noun in nouns if noun in KIN | ROLES]
        # The subject of a verb is not its object: "The manager let him off".
        is_subject = len(people) == len(nouns) == 1 and _JOINT.search(text[: max(0, start)]) is None
        return (not people or is_subject) and _stands_for(pronoun, about, names)
    if pronoun == "them":
        return not any(noun.endswith("s") for noun in nouns)
    named = any(word.is_capital and word.index and word.lower not in FIRST for word in words[:place])
    return not named and not any(
        not noun.endswith(("s", "ist", "ician")) and noun not in KIN | ROLES | _NO_THINGS for noun in nouns
    )


_FOR: Final = frozenset({"for", "against", "about", "of", "after"})
"""Between what somebody gets and what it is for."""
_NO_THINGS: Final = frozenset(
    ["everybody", "everyone", "nobody", "studio", "manager", "director", "judge", "council", "insurance", "bank"]
)
"""People and offices, for which "it" does not stand."""
