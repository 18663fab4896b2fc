"""What "it", "she" or "he" stands for in the next sentence: "I dropped my phone. It's dead." Pure functions.

Only what is plain is replaced: a single thing or person that the sentence before names. A verdict without a subject is
of that thing too: "A lorry backed into the Fiat. Total loss."
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from services.common.values.reading.splitting import DETERMINERS, PREPOSITIONS
from services.common.values.reading.whose import PASTS, RELATIVES
from services.common.values.words.belongings import PERSONS, ROLES
from services.common.values.words.lexicon import (
    AUXILIARIES,
    IRREGULAR,
    MONTHS,
    NOUNS_TOO,
    PARTS_OF_DAY,
    SEASONS,
    VERBS,
    WEEKDAYS,
)
from services.common.values.words.tokens import lemma

_CHARS_MAX: Final = 250
_FAR: Final = 2
"""How many sentences back a thing may be named."""
_LEAD: Final = r"^(?P<lead>(?:(?:and|but|so|well|sadly|luckily|finally|now|unfortunately),?\s){0,2})"
_IT: Final = re.compile(
    rf"{_LEAD}it(?P<be>'s|\sis|\shas|\swas|)\s(?=(?:(?:now|just|finally|already|all|been|also|only)\s){{0,2}}"
    r"(?:gone|dead|broken?|broke|died|sold|stolen|scrapped|closed?|shut|cancell?ed|axed|postponed|moved|moves|ended|ends|over|off|out|expired|"
    r"replaced|rebuilt|repaired|mended|fixed|written|beyond|history|finished|done|empty|full|went|got|goes|comes|came|runs|starts|begins|opens|"
    r"leaves|costs?|lives|stands|sits|hangs|belongs|takes\splace|happens|no\slonger|in|at|on|under|behind|next|parked|kept|stored|called|named|"
    r"renamed|painted|blue|red|green|black|white|grey|yellow|\d[\d.,]*)(?![\w-]))",
    re.IGNORECASE,
)
_PERSON: Final = re.compile(
    rf"{_LEAD}(?P<until>(?:until|till|while|as\slong\sas|once|when)\s)?(?:she|he)(?P<be>'s|)\s(?=[a-z])", re.IGNORECASE
)
_VERDICT: Final = re.compile(
    r"^(?:a\s)?(?P<verdict>total\sloss|write-?off|gone|sold|stolen|dead|broken|cancell?ed|scrapped|closed|history|over|finished)"
    r"(?P<rest>(?:\s(?:now|for\sgood|at\slast|forever|already|apparently))?)[.!\s]*$",
    re.IGNORECASE,
)
_DETERMINER: Final = re.compile(r"\b(?P<det>the|my|our)\s", re.IGNORECASE)
_WORD: Final = re.compile(r"(?P<word>[A-Za-z][\w-]{0,24})(?P<of>'s)?(?P<gap>\s|$|(?=[^\w\s]))")
_WORDS_MAX: Final = 3
_NAME: Final = re.compile(r"(?<![.!?]\s)\b(?!I\b)(?P<name>[A-Z][a-z]{1,20})\b")
_NO_NAMES: Final = frozenset(
    """
    The My Our It This That There She He We You They If When And But So No Yes Oh Well Now Today Yesterday Tomorrow Last
    Next After Before Since At In On From For With As A An His Her Their Please Thanks Good Bad Sad News Update
    """.split()  # noqa: SIM905 - words
)
_NO_THINGS: Final = (
    frozenset(
        """
        way time day week month year moment end start rest same other others first last next one ones thing things point
        fact idea problem reason kind sort lot bit middle side part morning weekend world whole news internet weather
        plumber electrician mechanic builder painter carpenter postman courier driver engineer technician inspector
        roofer surgeon cook chef clerk waiter policeman officer kids people guys team crew staff
        """.split()  # noqa: SIM905 - words
    )
    | frozenset(MONTHS)
    | WEEKDAYS
    | PARTS_OF_DAY
    | SEASONS
    | PERSONS
    | ROLES
    | RELATIVES
)
_ENDS: Final = (
    PREPOSITIONS
    | (DETERMINERS - {"new", "first", "second"})
    | AUXILIARIES
    | PASTS
    | frozenset(IRREGULAR)
    | frozenset(
        """
        and or but so who which that because since when while after before until as than into onto off out up down away
        back through against behind beside between tonight today now yesterday tomorrow again too there here last next
        this i we he she they it you not never just finally still also
        """.split()  # noqa: SIM905 - words
    )
)
"""Words that are no part of the name of a thing."""
_BEFORE_PLACES: Final = PREPOSITIONS | {"into", "onto", "off", "behind", "beside", "through", "against"}


def with_antecedents(sentences: Sequence[str]) -> list[str]:
    """Returns the sentences of a turn, with the thing or the person of the sentence before for "it", "she" and "he".

    Args:
        sentences: Of one speaker, in order.
    """
    found: list[str] = []
    for place, sentence in enumerate(sentences):
        before = [text for text in found[max(0, place - _FAR) : place] if len(text) <= _CHARS_MAX]
        found.append(_resolved(sentence.replace("\u2019", "'"), before) or sentence)
    return found


def _resolved(sentence: str, before: Sequence[str]) -> str | None:
    """A sentence with its antecedent; None where it has none, or none that is plain."""
    if len(sentence) > _CHARS_MAX or not before:
        return None
    verdict = _VERDICT.match(sentence)
    if verdict is not None:
        thing = _thing(before)
        article = "a " if verdict["verdict"].casefold() in {"total loss", "write-off", "writeoff"} else ""
        return None if thing is None else f"{_opening(thing)} is {article}{verdict['verdict'].lower()}{verdict['rest']}"
    it = _IT.match(sentence)
    if it is not None:
        thing = _thing(before)
        be = " is" if it["be"] == "'s" else it["be"]
        return None if thing is None else _opening(f"{it['lead']}{thing}{be} {sentence[it.end() :]}")
    person = _PERSON.match(sentence)
    if person is not None:
        name = _person(before[-1])
        return (
            None
            if name is None
            else _opening(f"{person['lead']}{person['until'] or ''}{name}{person['be']} {sentence[person.end() :]}")
        )
    return None


def _thing(before: Sequence[str]) -> str | None:
    """The only thing that the nearest sentence with one names; those behind a preposition count where no other does."""
    for sentence in reversed(before):
        things = [found for match in _DETERMINER.finditer(sentence) if (found := _named(sentence, match)) is not None]
        names = {name for name, is_place in things if not is_place} or {name for name, _ in things}
        if names:
            return next(iter(names)) if len(names) == 1 else None
    return None


def _named(sentence: str, match: re.Match[str]) -> tuple[str, bool] | None:
    """A thing, and whether a preposition stands before it; None for a person, a time, or what is somebody else's."""
    words: list[str] = []
    place = match.end()
    while (word := _WORD.match(sentence, place)) is not None and not _ends_name(word["word"], is_first=not words):
        words.append(word["word"])
        place = word.end()
        if word["of"] or len(words) > _WORDS_MAX:
            return None
        if not word["gap"]:
            break
    if not words or {words[-1].lower(), lemma(words[-1].lower())} & _NO_THINGS:
        return None
    before = sentence[: match.start()].rsplit(maxsplit=1)[-1:]
    return f"{match['det'].lower()} {' '.join(words)}", bool(before) and before[0].lower() in _BEFORE_PLACES


def _ends_name(word: str, *, is_first: bool) -> bool:
    lower = word.lower()
    if lower in _ENDS:
        return True
    return not is_first and (lower.endswith(("ed", "ly")) or (lemma(lower) in VERBS and lemma(lower) not in NOUNS_TOO))


def _person(sentence: str) -> str | None:
    """The only person whom a sentence names; None where there are several or none."""
    names = {match["name"] for match in _NAME.finditer(f"- {sentence}")} - _NO_NAMES
    names = {name for name in names if name.lower() not in WEEKDAYS and name.lower() not in MONTHS}
    kin = {word for word in re.findall(r"\b(?:[Mm]y|[Oo]ur)\s([a-z]+)\b", sentence) if word in RELATIVES | PERSONS}
    if len(names) == 1 and not kin:
        return next(iter(names))
    return f"my {next(iter(kin))}" if len(kin) == 1 and not names else None


def _opening(text: str) -> str:
    return text[:1].upper() + text[1:]
