"""What settings' dataclasses are declared with: ranges, and tables that several of them are read from.

A value from a file or a variable outside of its range is refused at start.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated, Final, TypeAlias

from annotated_types import Ge, Gt, Le

TABLE_KEY: Final = "mneme.table"
"""Name of what `table` says in a field's metadata."""

Count: TypeAlias = Annotated[int, Ge(1)]
"""A number of things of which there must be some."""

GroupSize: TypeAlias = Annotated[int, Ge(2), Le(64)]
"""How many things a group may have: two or more, and not more than a person looks at."""

CountOrNone: TypeAlias = Annotated[int, Ge(0)]
"""A number of things that may be 0, which switches them off."""

Niceness: TypeAlias = Annotated[int, Ge(0), Le(19)]
"""By how much work yields where processors are scarce, as in nice(1): 0 is not at all."""

ResponseBytes: TypeAlias = Annotated[int, Ge(1), Le(7 * 1024 * 1024)]
"""What a response may list: less than the 8 MiB of a message, which holds more than the list."""

Amount: TypeAlias = Annotated[float, Ge(0.0)]
"""A weight or a length, at least 0."""

Positive: TypeAlias = Annotated[float, Gt(0.0)]
"""A scale or a factor, above 0."""

Share: TypeAlias = Annotated[float, Ge(0.0), Le(1.0)]
"""A part of a whole, a similarity or a confidence: between 0 and 1."""

PositiveShare: TypeAlias = Annotated[float, Gt(0.0), Le(1.0)]
"""A part of a whole that may not be empty."""

Factor: TypeAlias = Annotated[float, Ge(1.0)]
"""How many times as much, at least the same."""

Seconds: TypeAlias = Annotated[float, Gt(0.0)]
"""A time of seconds, above 0."""

Duration: TypeAlias = Annotated[timedelta, Gt(timedelta(0))]
"""A time above 0; a number of seconds in files and variables."""

DurationOrNone: TypeAlias = Annotated[timedelta, Ge(timedelta(0))]
"""A time that may be 0; a number of seconds in files and variables."""


def table(path: str) -> dict[str, str]:
    """Metadata of a dataclass field whose settings stand in a table elsewhere.

    For settings that several places must agree on: each names the table, and users write it once.
    """
    return {TABLE_KEY: path}
