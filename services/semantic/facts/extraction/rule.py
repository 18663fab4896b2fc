# ruff: noqa: E501 - a pattern reads best on one line
"""A pattern of statements and what it means, and the pieces that patterns are made of."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from services.semantic.facts.extraction.lexicon import PETS, RELATIVES

BE: Final = r"(?:am|is|are)"
HAVE: Final = r"(?:have|has)"
GOT: Final = rf"{HAVE}(?: got)?"
PROPER: Final = r"(?-i:(?:the )?[A-Z][\w.'&-]*(?:,? (?:(?:of|upon|de|la|le|and|&) )?[A-Z&][\w.'&-]*){0,5})"
PLACE: Final = rf"(?P<obj>{PROPER})(?=\s|,|$)"
COMPANY: Final = rf"(?P<obj>{PROPER}|(?:an?|the|my|our) [\w&' -]{{3,60}}?)(?= as an? | since | for (?:the|over|about|almost|\d|a) | in (?-i:[A-Z])| now$| on |,|$)"
ROLE: Final = r"(?:as )?(?:an?|the) (?P<role>[\w' /-]{3,50}?)(?= at | for | in | with | on |,|$)"
JOB: Final = (
    r"(?P<role>(?:[\w-]+ ){0,4}?(?:[\w-]*(?:nurse|chef|cook|teacher|engineer|developer|designer|doctor|lawyer|manager|baker|writer|"
    r"consultant|analyst|scientist|programmer|architect|accountant|carpenter|electrician|plumber|journalist|photographer|"
    r"musician|artist|student|pharmacist|dentist|therapist|physio|physiotherapist|psychologist|professor|lecturer|researcher|pilot|driver|farmer|"
    r"librarian|translator|editor|producer|director|paramedic|firefighter|officer|freelancer|entrepreneur|founder|biologist|"
    r"chemist|physicist|mechanic|hairdresser|barista|waiter|waitress|bartender|gardener|surgeon|vet|veterinarian|solicitor|"
    r"barrister|midwife|tutor|administrator|technician|recruiter|economist|sommelier|actor|actress|dancer|singer|"
    r"painter|sculptor|novelist|postdoc|intern|apprentice|trainee|cashier|receptionist|secretary|civil servant|social worker|"
    r"ceo|cto|cfo))(?: (?:at|for|in|with) .{2,60})?)$"
)
TOPIC: Final = r"(?P<obj>(?!it\b|this\b|that\b|these\b|those\b|them\b|you\b|your\b|him\b|her\b|how\b|when\b|what\b|where\b|why\b|to (?:think|say|know|see)\b|the (?:idea|sound|fact|look|way|part|one)\b).{2,120})$"
RELATIVE: Final = rf"(?:{'|'.join(RELATIVES)}|kid|children|wife|twins?|families)s?"
PET: Final = rf"(?:{'|'.join(PETS)})"


@dataclass(frozen=True, slots=True)
class Rule:
    """A pattern and what it means."""

    predicate: str
    pattern: re.Pattern[str]
    of_others: bool = False  # also said of a relative or of somebody by name
    needs_future: bool = False  # only with a date to come
    needs_date: bool = False  # only with a date
    object_from: str = "obj"  # group that holds the object
    looks_ahead: bool = False  # dates in it lie ahead whatever the tense: "I've booked a flight on Friday"


def rule(predicate: str, pattern: str, **options: bool | str) -> Rule:
    """A rule whose pattern does not mind case, except where it says so."""
    return Rule(predicate, re.compile(pattern, re.IGNORECASE), **options)  # type: ignore[arg-type]
