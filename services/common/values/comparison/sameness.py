"""Whether two values are equal, and whether two clauses say the same."""

from __future__ import annotations

import math
from collections import Counter
from enum import Enum, auto
from typing import Final

from services.common.values.comparison.conversions import are_one_measure
from services.common.values.model import Value, ValueKind
from services.common.values.reading.clauses import Clause, Item
from services.common.values.words.lexicon import COMPARATIVES

LIGHT: Final = frozenset(
    ["code", "number", "name", "room", "reach", "long", "wide", "high", "old", "last", "age", "address"]
)
"""Words that name the kind of a value beside it: "my flight number is LH438", "my flight is LH 438"."""
DIMENSIONS: Final = frozenset({"long", "wide", "high", "deep", "tall", "thick"})
"""Ways in which a thing is measured: its width is not its length."""
_DIRECTIONS: Final = {"from": "from", "to": "to", "into": "to", "over": "to", "by": "by"}
_HALF_DAY: Final = 720.0


class Match(Enum):
    """How two values stand to each other."""

    EQUAL = auto()
    DIFFERENT = auto()  # of one kind, both cannot be
    OVERLAPPING = auto()  # of one kind, both can be
    OTHER = auto()  # of different kinds


def match_values(first: Value, second: Value) -> Match:
    """Compares two values; units of one dimension are already the same."""
    if first == second:
        return Match.EQUAL
    if first.kind is not second.kind:
        codes = {first.kind, second.kind} == {ValueKind.NUMBER, ValueKind.IDENTIFIER}
        return Match.DIFFERENT if codes and not (first.unit or second.unit) else Match.OTHER
    if first.kind is ValueKind.MONEY and first.unit != second.unit:
        return Match.DIFFERENT
    if first.kind is ValueKind.TIME and first.unit != second.unit:
        is_same = math.isclose(first.low % _HALF_DAY, second.low % _HALF_DAY)
        return Match.OVERLAPPING if is_same else Match.DIFFERENT
    if first.unit != second.unit:
        return Match.OTHER
    if first.text or second.text:
        return _match_texts(first, second)
    if _is_close(first, second):
        return Match.EQUAL
    if are_one_measure(first, second):
        return Match.OVERLAPPING
    return Match.OVERLAPPING if first.low <= second.high and second.low <= first.high else Match.DIFFERENT


def _match_texts(first: Value, second: Value) -> Match:
    if first.text == second.text:
        return Match.EQUAL
    if first.kind is ValueKind.DATE and (first.text.endswith(second.text) or second.text.endswith(first.text)):
        return Match.OVERLAPPING
    return Match.DIFFERENT


def _is_close(first: Value, second: Value) -> bool:
    return math.isclose(first.low, second.low, rel_tol=1e-9) and math.isclose(first.high, second.high, rel_tol=1e-9)


def unshared(first: list[Item], second: list[Item]) -> tuple[list[Item], list[Item]]:
    """Returns what only the first and only the second has, in order; equal values are shared."""
    left = list(second)
    only: list[Item] = []
    for item in first:
        if isinstance(item, str):  # most items: compared without a call for each
            if item in left:
                left.remove(item)
            else:
                only.append(item)
            continue
        place = next((n for n, other in enumerate(left) if _equal(item, other)), None)
        if place is None:
            only.append(item)
        else:
            del left[place]
    return only, left


def heavy(items: list[Item], clause: Clause) -> list[Item]:
    """Returns the items without those that only name the kind of the clause's value."""
    return [item for item in items if item not in LIGHT] if clause.values else items


def _equal(first: Item, second: Item) -> bool:
    if isinstance(first, Value) and isinstance(second, Value):
        return match_values(first, second) is Match.EQUAL
    return first == second


def order_agrees(first: Clause, second: Clause) -> bool:
    """Returns whether both statements have the same subject and the same object."""
    same_subject = Counter(map(str, first.subject)) == Counter(map(str, second.subject))
    if first.passive != second.passive and first.verb == second.verb:
        # "Tom was called by Ben", "Tom called Ben"; without an agent there is nothing to turn round.
        return not same_subject or not (first.rest and second.rest)
    if same_subject:
        return _roles(first) == _roles(second)
    copulas = (first.verb == "be", second.verb == "be")
    if all(copulas):
        return first.possessors == second.possessors
    if any(copulas):  # "Beth teaches my daughter", "my daughter's teacher is Beth"; "Mondays are what I hate"
        return True
    return not first.subject or not second.subject


def _roles(clause: Clause) -> tuple[dict[str, str], list[str]]:
    """What stands behind "from", "to" and "by", and the order of the rest; the items of a list have none."""
    given = {str(item): clause.prepositions.get(item, "") for item in clause.rest}
    directed = {item: _DIRECTIONS[word] for item, word in given.items() if word in _DIRECTIONS}
    others = [str(item) for item in clause.rest if not clause.prepositions.get(item) and item not in LIGHT]
    return directed, sorted(others) if "and" in clause.words else others


def comparison_of(clause: Clause) -> tuple[str, Item, Item] | None:
    """Returns the dimension, what has more of it and what has less; None where nothing is compared."""
    place = next((n for n, item in enumerate(clause.rest) if item in COMPARATIVES), None)
    if clause.verb != "be" or place is None or not clause.subject or "than" not in clause.words:
        return None
    word = clause.rest[place]
    subject, other = " ".join(map(str, clause.subject)), " ".join(map(str, clause.rest[place + 1 :]))
    dimension, sign = COMPARATIVES[str(word)]
    if word == "shorter" or dimension in {"height", "length"}:
        dimension = "size"
    if not other or clause.negated:
        return None
    return (dimension, subject, other) if sign > 0 else (dimension, other, subject)
