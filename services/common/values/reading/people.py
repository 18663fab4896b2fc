"""Whom a statement is about: the speaker, or somebody else. Pure functions."""

from __future__ import annotations

import re
from typing import Final

from services.common.values.reading.clauses import Clause
from services.common.values.words.belongings import PERSONS, ROLES
from services.common.values.words.lexicon import KIN
from services.common.values.words.patterns import CachedPattern

THIRD: Final = CachedPattern(r"\b(?:he|she|they|his|her|their|hers|theirs|him)\b", re.IGNORECASE)
FIRST: Final = CachedPattern(r"\b(?:i|i'm|i've|i'd|me|my|mine|we|our|us)\b", re.IGNORECASE)
OTHERS: Final = CachedPattern(
    r"\bmy\s+(?:(?:best|old|little|big|older|younger|elder|twin|late|good|close|eldest|youngest)\s+)?(?:wife|husband|brother|sister|mother|father|mum|mom|dad|son|daughter|friend|neighbour|neighbor|colleague|"
    r"cousin|aunt|uncle|flatmate|roommate|boss|partner|ex|ex-\w+|parents|grandparents|grandmother|grandfather|niece|nephew|kids|"
    r"children|in-laws|mother-in-law|father-in-law)\b|\b(?!it's|that's|there's|what's|let's|here's)\w+'s\s+\w",
    re.IGNORECASE,
)


def is_of_others(clause: Clause) -> bool:
    """Returns whether a clause is about a relative of the speaker: "my husband smokes"."""
    return any(word in KIN or word in ROLES for item in clause.subject for word in str(item).split())


def is_deed_of_person(clause: Clause) -> bool:
    """Returns whether a clause says what another person does: "my tutor drives a Panda"."""
    return clause.verb != "be" and any(word in PERSONS for item in clause.subject for word in str(item).split())
