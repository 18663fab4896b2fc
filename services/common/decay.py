"""How memories fade: three named functions, of which each scoring profile chooses one.

All are pure and work on single numbers and on arrays. Ages below 0, of what lies in the future, count as 0.
"""

from __future__ import annotations

from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

Values: TypeAlias = npt.NDArray[np.float64]

SECONDS_PER_DAY: Final = 86_400.0


def hyperbolic(days: npt.ArrayLike, *, scale_days: float = 365.0) -> Values:
    """Returns 1 / (1 + days / scale), in (0, 1]."""
    return 1.0 / (1.0 + _age(days) / scale_days)


def exponential(days: npt.ArrayLike, *, half_life_days: npt.ArrayLike = 30.0) -> Values:
    """Returns exp(-days ln 2 / half-life), in [0, 1]; each value may have a half-life of its own, above 0."""
    faded: Values = np.exp2(-_age(days) / np.asarray(half_life_days, dtype=np.float64))
    return faded


def half_lives(importance: npt.ArrayLike, *, half_life_days: float = 30.0, growth: float = 0.0) -> Values:
    """Returns half-lives that grow with importance: half-life x (1 + growth x importance)."""
    return half_life_days * (1.0 + growth * np.asarray(importance, dtype=np.float64))


def linear(importance: npt.ArrayLike, days: npt.ArrayLike, *, rate_per_day: float = 0.01) -> Values:
    """Returns the importance that is left: max(0, importance - rate x days)."""
    left: Values = np.maximum(0.0, np.asarray(importance, dtype=np.float64) - rate_per_day * _age(days))
    return left


def _age(days: npt.ArrayLike) -> Values:
    age: Values = np.maximum(0.0, np.asarray(days, dtype=np.float64))
    return age
