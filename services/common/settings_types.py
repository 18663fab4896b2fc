"""Ranges that settings share. A value from a file or the environment outside of them is refused at start."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated, TypeAlias

from annotated_types import Ge, Gt, Le

Count: TypeAlias = Annotated[int, Ge(1)]
"""A number of things of which there must be some."""

CountOrNone: TypeAlias = Annotated[int, Ge(0)]
"""A number of things that may be 0, which switches them off."""

Amount: TypeAlias = Annotated[float, Ge(0.0)]
"""A weight or a length, at least 0."""

Positive: TypeAlias = Annotated[float, Gt(0.0)]
"""A scale or a factor, above 0."""

Share: TypeAlias = Annotated[float, Ge(0.0), Le(1.0)]
"""A part of a whole, a similarity or a confidence: between 0 and 1."""

Seconds: TypeAlias = Annotated[float, Gt(0.0)]
"""A time of seconds, above 0."""

Duration: TypeAlias = Annotated[timedelta, Gt(timedelta(0))]
"""A time above 0; a number of seconds in files and variables."""

DurationOrNone: TypeAlias = Annotated[timedelta, Ge(timedelta(0))]
"""A time that may be 0; a number of seconds in files and variables."""
