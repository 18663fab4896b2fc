"""Repeats a shared subject in each part of a sentence: "the server is in Oslo, has 8 cores, and runs Debian 12".

"It" behind a thing is that thing, and a verb without a subject has the one before it. Pure functions.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from services.common.values.reading.splitting import verb_place
from services.common.values.words.belongings import ROLES
from services.common.values.words.lexicon import KIN, NOUNS_TOO, VERBS
from services.common.values.words.tokens import lemma

_IT: Final = re.compile(r"^it(?P<short>'s)?\s(?=\w)", re.IGNORECASE)
_NUMBERED: Final = re.compile(
    r"^(?P<what>(?:(?:the|my|our)\s)?[a-z]{3,20}\s\d{1,4}[a-z]?)\s(?=(?!(?-i:is\son))[a-z]{2,20}s\b)", re.IGNORECASE
)
"""As in "room 12 seats thirty"."""
_NAMED: Final = re.compile(
    r"^(?P<who>(?:[Tt]he|[Mm]y|[Oo]ur)(?:\s[\w-]{2,20}){1,3})\s(?:is|'s)\s(?:called\s|named\s)?(?P<name>(?:(?:Mr|Mrs|Ms|Dr)\.?\s)?[A-Z][\w'-]{1,30}(?:\s[A-Z][\w'-]{1,30})?)$"
)
_UNKNOWN_VERB: Final = re.compile(
    r"^(?P<what>(?:the|my|our)\s[\w-]+(?:\s[\w-]+)?)\s[a-z]{3,20}s\s(?=(?:in|at|on|to|from|for|with|by|as|\d+|an?|the|every|only)\b)",
    re.IGNORECASE,
)
"""As in "the geo api answers in 40 ms", where no other word is a verb."""
_OBJECT: Final = re.compile(
    r"^(?P<deed>(?:so\s)?(?:i|we)(?:'ve|'m|'re)?\s(?:now\s|only\s)?[a-z]{2,20})\s(?:it|her|him|them)\b(?!\s\w+ing\b)",
    re.IGNORECASE,
)
"""As in "we feed her once a day"."""
_AND: Final = re.compile(r"\sand\s(?=\w)", re.IGNORECASE)
_OPENS: Final = frozenset({"the", "my", "our"})
_SPEAKERS: Final = frozenset({"i", "we"})
_HELD: Final = {True: frozenset({"have"}), False: frozenset({"is", "has", "does", "can"})}
"""Verbs that are none of `VERBS`, behind the speaker and behind a thing."""
_STATES: Final = frozenset(
    "live work study teach own rent drive ride sing speak eat drink smoke wear sleep commute".split()  # noqa: SIM905
)
"""What the speaker goes on with; other verbs without a subject may be orders: "I got a map, show me the way"."""
_SUBJECT_WORDS_MAX: Final = 6


def with_subjects(parts: Iterable[str]) -> Iterator[str]:
    """Returns the parts of a sentence, those without a subject of their own with that of the part before.

    Args:
        parts: As they follow each other, without what joins them.
    """
    subject = ""
    for part in parts:
        match = _IT.match(part)
        if match is not None and _is_thing(subject):
            yield f"{subject} {'is ' if match['short'] else ''}{part[match.end() :]}"
        elif subject and _goes_on(subject, part):
            yield f"{subject} {part}"
        else:
            yield _with_object(subject, part)
            subject = _subject(part) or subject


def _with_object(subject: str, part: str) -> str:
    """A part with what stands before it in place of "it", "her" or "him": "the cat got fat, we feed her once"."""
    match = _OBJECT.match(part) if " " in subject and subject.rsplit(maxsplit=1)[-1].casefold() not in KIN else None
    return part if match is None else f"{match['deed']} {subject[:1].lower()}{subject[1:]}{part[match.end() :]}"


def split_verbs(part: str) -> tuple[str, ...]:
    """Returns a part cut before "and" and a verb that goes on with its subject: "my phone has two SIMs and runs"."""
    subject = _subject(part)
    for match in _AND.finditer(part) if subject else ():
        if _goes_on(subject, part[match.end() :]):
            return part[: match.start()], f"{subject} {part[match.end() :]}"
    return (part,)


def with_name(first: str, part: str) -> Iterator[str]:
    """Yields a part with the name in place of what bears it: "Poldi has fleas" of "our dog is called Poldi, ..."."""
    match = _NAMED.match(first)
    if match is not None and part.startswith(f"{match['who']} "):
        yield f"{match['name']}{part[len(match['who']) :]}"


def _subject(part: str) -> str:
    """The words up to the verb where they name the speaker or a known thing; empty where there are none such."""
    words = part.split()
    numbered = _NUMBERED.match(part)
    if numbered is not None:
        return numbered["what"]
    place = verb_place([word.casefold().strip(".,!") for word in words])
    if place is None and (unknown := _UNKNOWN_VERB.match(part)) is not None:
        return unknown["what"]
    if not place or place > _SUBJECT_WORDS_MAX:
        return ""
    opening = words[0].casefold()
    is_speaker = opening in _SPEAKERS and place == 1
    return " ".join(words[:place]) if is_speaker or (opening in _OPENS and place > 1) else ""


def _is_thing(subject: str) -> bool:
    words = subject.casefold().split()
    return len(words) > 1 and words[-1] not in KIN and words[-1] not in ROLES


def _goes_on(subject: str, part: str) -> bool:
    """Whether a part opens with a verb in the form that the subject before it asks for."""
    word = part.split(maxsplit=1)[0].casefold()
    is_speaker = subject.casefold() in _SPEAKERS
    base = lemma(word)
    if is_speaker:
        is_form = word == base and base in _STATES
    else:
        is_form = word != base and word.endswith("s") and base in VERBS and base not in NOUNS_TOO
    return " " in part and (is_form or word in _HELD[is_speaker])
