"""The slot of a fact: what is said of whom, whether it takes one value or many, and whether it is denied."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

DENIED: Final = "not_"
"""Prefix of a predicate that says that something does not hold: `not_allergic_to`."""
_OPPOSITES: Final = {
    "dislikes": "likes", "does_not_eat": "eats", "does_not_drink": "drinks", "does_not_smoke": "smokes",
}  # fmt: skip
_ONE_VALUE: Final = frozenset(
    """
    lives_in works_as has_name preferred_name has_pronouns age birthday born_in relationship_status
    name full_name first_name last_name surname gender pronouns date_of_birth birth_date birthdate place_of_birth
    birthplace marital_status blood_type timezone time_zone hometown home_town
    """.split()  # noqa: SIM905 - words
)
"""Those of the rules, and words of callers that can mean one value only: whoever moves house has one home."""
_ONE_OF_MANY: Final = ("favourite_", "preferred_", "default_", "primary_", "main_")
"""What begins so names the one that is chosen, if it goes on in the singular: `favourite_editor`, `default_branch`."""
_NO_PLURAL: Final = ("ss", "us", "is", "series", "news", "pronouns")
_PLURAL: Final = ("s", "people", "children")
_JOINT: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|[\W_]+")
_SPELLINGS: Final = {"favorite": "favourite", "favorites": "favourites"}
EVENTS: Final = frozenset(
    """
    event visited attended bought sold achieved injured applied_for event_on has_appointment plans_to must
    promised
    """.split()  # noqa: SIM905 - words
)
"""Predicates of what happens at a time: it is over and not denied later."""


@dataclass(frozen=True, slots=True)
class Slot:
    """What a fact fills, apart from its subject and its value."""

    name: str  # a predicate that affirms, such as "allergic_to"
    takes_one: bool  # whether a later value ends an earlier one
    is_denied: bool  # whether the fact says that the value is not in it


def named(predicate: str) -> str:
    """A predicate as the rules write theirs: "Lives In", "lives-in" and "livesIn" are `lives_in`."""
    words = [word.casefold() for word in _JOINT.split(predicate) if word]
    return "_".join(_SPELLINGS.get(word, word) for word in words) or predicate


def slot_of(predicate: str) -> Slot:
    """The slot of a predicate, in whatever form a caller wrote it.

    Whether a word of a caller's own takes one value or many is not known: it takes many, so that none ends another.
    """
    written = named(predicate)
    name = _OPPOSITES.get(written) or written.removeprefix(DENIED)
    return Slot(name, name in _ONE_VALUE or _is_chosen(name), is_denied=name != written)


def _is_chosen(name: str) -> bool:
    return name.startswith(_ONE_OF_MANY) and (name.endswith(_NO_PLURAL) or not name.endswith(_PLURAL))


def denied(predicate: str) -> str:
    """The predicate that denies another one."""
    known = next((opposite for opposite, name in _OPPOSITES.items() if name == predicate), None)
    return known or DENIED + predicate
