"""What a made-up user says in a year: noise, things said once, habits, moves, and what must never be forgotten."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

DAYS: Final = 365


class Kind(StrEnum):
    """What a turn is."""

    NOISE = "noise"  # nothing worth a fact
    TRIFLE = "trifle"  # a small thing, said once
    HABIT = "habit"  # a small thing, said again every few weeks
    MOVE = "move"  # supersedes what was true before
    IMPORTANT = "important"  # said once, and true for good


@dataclass(frozen=True, slots=True)
class Said:
    """A turn."""

    kind: Kind
    text: str


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked in the end."""

    text: str
    holds: str  # a word of the response


IMPORTANT: Final = {
    2: "I am allergic to walnuts.",
    5: "My sister is called Yolande.",
    9: "I have asthma.",
    14: "My birthday is on 3 March.",
    21: "I have a dog called Bruno.",
}
MOVES: Final = {1: "Ghent", 80: "Bruges", 170: "Lisbon", 300: "Turin"}
HABITS: Final = ("I like green tea.", "I like long walks.", "I play the cello.")
HABIT_DAYS: Final = 30
QUESTIONS: Final = (
    Question("What am I allergic to?", "walnuts"),
    Question("What is my sister called?", "Yolande"),
    Question("What illness do I have?", "asthma"),
    Question("When is my birthday?", "March"),
    Question("What is my dog called?", "Bruno"),
    Question("Where do I live?", "Turin"),
    Question("What tea do I like?", "green tea"),
)
_PLACES: Final = ("station", "bakery", "library", "market", "harbour", "office", "park", "museum", "bridge", "school")
_THINGS: Final = ("umbrella", "printer", "kettle", "lamp", "bicycle", "window", "radiator", "laptop", "curtain", "door")
_EVENTS: Final = (
    "The bus to the {place} was {minutes} minutes late again.",
    "There was a queue of {minutes} people at the {place}.",
    "The {thing} near the {place} makes a noise.",
    "It rained for {minutes} minutes when the {place} closed.",
    "Somebody left {count} bags at the {place}.",
    "The {thing} costs {minutes} euros at the {place}.",
    "OK, thanks, {count} is fine.",
    "Can you show me the opening hours of the {place} on day {day}?",
)
_TRIFLES: Final = ("I like the {thing} number {day}.", "I bought a {thing} for {minutes} euros.")


def life(interactions: int, *, seed: int = 7, days: int = DAYS) -> Sequence[Sequence[Said]]:
    """What is said on each day, so many turns in all. The same for the same seed."""
    chosen = random.Random(seed)
    found: list[list[Said]] = []
    for day in range(days):
        said = [Said(Kind.IMPORTANT, IMPORTANT[day])] if day in IMPORTANT else []
        if day in MOVES:
            said.append(Said(Kind.MOVE, f"I live in {MOVES[day]}."))
        said += [Said(Kind.HABIT, text) for n, text in enumerate(HABITS) if day % HABIT_DAYS == 3 + n]
        wanted = interactions * (day + 1) // days - interactions * day // days
        while len(said) < wanted:
            kind = Kind.TRIFLE if chosen.random() < 0.05 else Kind.NOISE
            template = chosen.choice(_TRIFLES if kind is Kind.TRIFLE else _EVENTS)
            words = {"place": chosen.choice(_PLACES), "thing": chosen.choice(_THINGS), "day": day}
            said.append(Said(kind, template.format(**words, minutes=chosen.randint(2, 95), count=chosen.randint(2, 9))))
        chosen.shuffle(said)
        found.append(said)
    return found
