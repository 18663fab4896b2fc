"""What a statement says, as far as its values go. Pure data."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple


class Relation(StrEnum):
    """How a later statement stands to an earlier one."""

    SAME = "same"
    """Both say the same; no value differs."""
    UPDATE = "update"
    """The later one says or implies that something changed."""
    CONTRADICT = "contradict"
    """Both cannot hold, and nothing says which does."""
    COMPATIBLE = "compatible"
    """Both can hold."""
    UNRELATED = "unrelated"
    """They are about different things."""
    UNKNOWN = "unknown"
    """Not enough could be read: nothing follows."""


class ValueKind(StrEnum):
    """What carries a value."""

    NUMBER = "number"
    QUANTITY = "quantity"
    MONEY = "money"
    DATE = "date"
    TIME = "time"
    NAME = "name"
    IDENTIFIER = "identifier"


class Modality(StrEnum):
    """How a statement is meant."""

    STATED = "stated"
    CONDITIONAL = "conditional"
    HEDGED = "hedged"
    HEARSAY = "hearsay"
    QUESTION = "question"
    HABIT_PAST = "habit_past"


class DifferenceKind(StrEnum):
    """In what two statements differ."""

    VALUE = "value"
    UNIT = "unit"
    NEGATION = "negation"
    NAME = "name"
    SUBJECT = "subject"
    MODALITY = "modality"
    TIME = "time"
    WORDING = "wording"


class Value(NamedTuple):
    """A value in its base unit: "2 litres" is (QUANTITY, "ml", 2000.0, ...)."""

    kind: ValueKind
    unit: str  # base unit, currency or shape; "" for a bare number
    low: float  # of a number; both ends are equal unless it is a range or a bound
    high: float
    text: str  # canonical text of what is no number


@dataclass(frozen=True, slots=True)
class Difference:
    """One difference between two statements."""

    kind: DifferenceKind
    earlier: str
    later: str


@dataclass(frozen=True, slots=True)
class Comparison:
    """The relation of two statements and what differs."""

    relation: Relation
    differences: tuple[Difference, ...] = ()
