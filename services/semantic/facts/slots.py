"""The slot of a fact: what is said of whom, whether it takes one value or many, and whether it is denied."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from services.semantic.facts.extraction.lexicon import word_set

DENIED: Final = "not_"
"""Prefix of a predicate that says that something does not hold: `not_allergic_to`."""
_OPPOSITES: Final = {
    "dislikes": "likes", "does_not_eat": "eats", "does_not_drink": "drinks", "does_not_smoke": "smokes",
}  # fmt: skip
_ONE_VALUE: Final = word_set(
    """
    lives_in works_as has_name preferred_name has_pronouns age birthday born_in relationship_status
    """
)
_FAVOURITE: Final = "favourite_"
EVENTS: Final = word_set(
    """
    event visited attended bought sold achieved injured applied_for event_on has_appointment plans_to must
    promised
    """
)
"""Predicates of what happens at a time: it is over and not denied later."""


@dataclass(frozen=True, slots=True)
class Slot:
    """What a fact fills, apart from its subject and its value."""

    name: str  # a predicate that affirms, such as "allergic_to"
    takes_one: bool  # whether a later value ends an earlier one
    is_denied: bool  # whether the fact says that the value is not in it


def slot_of(predicate: str) -> Slot:
    """The slot of a predicate."""
    name = _OPPOSITES.get(predicate) or predicate.removeprefix(DENIED)
    return Slot(name, name in _ONE_VALUE or name.startswith(_FAVOURITE), is_denied=name != predicate)


def denied(predicate: str) -> str:
    """The predicate that denies another one."""
    known = next((opposite for opposite, name in _OPPOSITES.items() if name == predicate), None)
    return known or DENIED + predicate
