# ruff: noqa: E501 - a pattern reads best on one line
"""What a clause says in passing: the names of relatives and pets, and favourites."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from services.semantic.facts.extraction.clauses import Clause
from services.semantic.facts.extraction.lexicon import PETS, RELATIVES, word_set
from services.semantic.facts.extraction.person import third_person_pronouns
from services.semantic.facts.extraction.vocabulary import predicate_of
from services.semantic.facts.model import FactDraft

_KIN: Final = "|".join(sorted((*RELATIVES, *PETS), key=len, reverse=True))
_NAME: Final = r"(?-i:[A-Z][a-zà-ÿ][\w'-]*(?<!'s))"
_NAMED: Final = re.compile(
    rf"\b(?:my|our) (?P<modifier>(?:(?:best|old|older|younger|little|big|elder|eldest|youngest|oldest|twin|half|new|former|late|close|good) )?)"
    rf"(?P<kin>{_KIN})(?:(?:'s name)? is (?:called |named )?|,? (?:called |named )|'s (?:called |named )|,? )(?P<name>{_NAME})(?:'s)?(?=$|[\s,.;])",
    re.IGNORECASE,
)
_NOT_NAMES: Final = word_set(
    """
    I Monday Tuesday Wednesday Thursday Friday Saturday Sunday January February March April May June July
    August September October November December Christmas Easter And But So He She They It We The A An In On
    At To From Is Was Has Had English French German Spanish Italian Dutch Swedish Portuguese Polish Irish
    Scottish Welsh Indian Chinese Japanese American British Canadian Australian Catholic Jewish Muslim Hindu
    Buddhist OK Okay Also Then When Who Which That Because
    """
)
_FAVOURITE: Final = re.compile(
    r"^(?:my|our) (?:all[- ]time |absolute |personal )?favou?rite (?P<what>(?!one\b|ones\b)[a-z][\w'-]*(?: [\w'-]+){0,2}?)(?: (?:in|of|on) .{2,40}?)?(?: is| are|'s|'re) (?:probably |definitely |still |actually )?"
    r"(?P<obj>.{2,80})$",
    re.IGNORECASE,
)
_IS_FAVOURITE: Final = re.compile(
    r"^(?P<obj>(?-i:[A-Z])[\w' -]{1,40}?)(?: is|'s|'re| are) (?:probably |definitely |still )?(?:my|our) (?:all[- ]time |absolute |personal )?favou?rite (?P<what>[a-z][\w' -]{1,40})$",
    re.IGNORECASE,
)
_VAGUE: Final = re.compile(
    r"^(?:it|that|this|these|those|when|how|the (?:one|part|way|bit)|to |not |you|your|part|so|here|there|probably|what|he|she|they)\b",
    re.IGNORECASE,
)
_SPLIT_TAIL: Final = re.compile(r",.*$| because .*$| but .*$| - .*$")


def relatives(clause: Clause, speaker: str) -> Iterator[FactDraft]:
    """Relatives and pets that are named: "my sister Anna" says that there is a sister, and what she is called."""
    for match in _NAMED.finditer(clause.full):
        name = match["name"]
        if name in _NOT_NAMES or (name + "s") in _NOT_NAMES:
            continue
        kin = match["kin"].lower()
        modifier = match["modifier"].lower()
        described = f"{modifier}{kin}"
        predicate = "has_" + kin.replace("-", "_")
        known = predicate_of(predicate)
        article = "an" if described[0] in "aeiou" else "a"
        yield FactDraft(
            text=f"{speaker} has {article} {described} named {name}",
            category=known.category,
            confidence=known.confidence,
            importance=known.importance,
            subject=speaker,
            predicate=predicate,
            object=name,
        )


def favourite(clause: Clause, speaker: str) -> FactDraft | None:
    """The fact in "my favourite colour is green"; None of any other clause."""
    if "avo" not in clause.full:
        return None
    match = _FAVOURITE.match(clause.full) or _IS_FAVOURITE.match(clause.full)
    if match is None:
        return None
    what = " ".join(match["what"].lower().split())
    value = third_person_pronouns(_SPLIT_TAIL.sub("", match["obj"]).strip(" .!,"))
    if not value or _VAGUE.match(value) or what in {"part", "thing", "bit", "one", "so far"}:
        return None
    known = predicate_of("favourite")
    verb = "are" if what.endswith("s") and not what.endswith("ss") else "is"
    return FactDraft(
        text=f"{speaker}'s favourite {what} {verb} {value}",
        category=known.category,
        confidence=known.confidence,
        importance=known.importance,
        subject=speaker,
        predicate=f"favourite_{re.sub(r'[^a-z0-9]+', '_', what)}",
        object=value,
    )
