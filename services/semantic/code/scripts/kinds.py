"""What an expression of TypeScript or JavaScript may mean, and names that the language defines."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from typing import Final, NamedTuple

from services.semantic.code.model import SymbolRef

SURE: Final = 0.95


class ValueKind(enum.IntEnum):
    """What an expression means."""

    OBJECT = 1
    """An object of a class, interface or type."""
    DEFINITION = 2
    """A definition itself: a function, a class, a variable."""
    MODULE = 3
    """What files export."""
    RESULT = 4
    """A function whose result is an object of a type."""
    OUTSIDE = 5
    """Something that the repository does not define."""


class Value(NamedTuple):
    """One thing that an expression may mean."""

    kind: ValueKind
    ref: SymbolRef | None = None
    """The class or definition."""
    files: Sequence[str] = ()
    """The files of a module."""
    items: int = 0
    """Collections around it: 1 for a list of objects."""
    owner: SymbolRef | None = None
    """The class that a method was looked up in."""
    confidence: float = SURE


PRIMITIVES: Final = frozenset("string number boolean bigint undefined null".split())  # noqa: SIM905
GLOBALS: Final = frozenset(
    """
    Array ArrayBuffer Atomics BigInt Boolean Buffer DataView Date Error Function Infinity Intl JSON Map Math Number
    Object Promise Proxy Reflect RegExp Set String Symbol URL URLSearchParams Uint8Array WeakMap WeakRef WeakSet console
    crypto document exports fetch globalThis history localStorage location module navigator performance process
    sessionStorage window
    """.split()  # noqa: SIM905
)
