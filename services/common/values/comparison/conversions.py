"""One measure in two systems: 4 degrees Celsius are 39 degrees Fahrenheit, rounded. Pure functions.

People write the nearest round number of the system that they are asked in, so that both differ by less than a step.
"""

from __future__ import annotations

import math
from typing import Final

from services.common.values.model import Value, ValueKind

_IMPERIAL: Final[dict[str, tuple[float, ...]]] = {
    "g": (453.59237, 28.349523),
    "m": (1609.344, 0.9144, 0.3048, 0.0254),
    "degree": (1 / 1.8,),
    "bar": (0.0689476,),
    "area": (4046.856, 0.09290304),
    "speed": (1.609344,),
}
"""By base unit: the units of the other system, as many of the base unit."""
_METRIC_STEPS: Final[dict[str, tuple[float, ...]]] = {
    "g": (1000.0, 1.0),
    "m": (1000.0, 1.0, 0.01),
    "degree": (10.0, 1.0, 0.1),
    "bar": (1.0, 0.1),
    "area": (10_000.0, 1.0),
    "speed": (1.0,),
}
"""By base unit: the steps in which people write it, the widest first."""
_FREEZING_FAHRENHEIT: Final = 32.0
_TENTH: Final = 0.1
_STEPS_MIN: Final = 10
"""Two digits at least are meant: 180 degrees may be 176.7, and 20 degrees are not 24."""
_STEPS_MAX: Final = 5_000
"""Nobody writes 16 kilometres in centimetres."""


def are_one_measure(first: Value, second: Value) -> bool:
    """Returns whether two amounts of one base unit are the same amount, written in two systems and rounded.

    Args:
        first: An amount, such as 4 degrees Celsius.
        second: Another one, such as 39 degrees Fahrenheit, which is 3.89 in the same unit.
    """
    if not first.kind is second.kind is ValueKind.QUANTITY or first.low != first.high or second.low != second.high:
        return False
    for one, other in ((first, second), (second, first)):
        step, other_step = _metric_step(one), _imperial_step(other)
        if step and other_step and not _metric_step(other):
            return abs(first.low - second.low) <= max(step, other_step) / 2
    return False


def _metric_step(value: Value) -> float:
    steps = (
        step
        for step in _METRIC_STEPS.get(value.unit, ())
        if abs(value.low) / step <= _STEPS_MAX and (step <= 1 or abs(value.low) / step >= _STEPS_MIN)
    )
    return next((step for step in steps if _is_whole(value.low / step)), 0.0)


def _imperial_step(value: Value) -> float:
    shift = _FREEZING_FAHRENHEIT if value.unit == "degree" else 0.0
    units = _IMPERIAL.get(value.unit, ())
    whole = next((unit for unit in units if _is_whole(value.low / unit + shift)), 0.0)
    tenth = next((unit * _TENTH for unit in units if _is_whole((value.low / unit + shift) / _TENTH)), 0.0)
    return whole or tenth


def _is_whole(number: float) -> bool:
    return math.isclose(number, round(number), rel_tol=0.0, abs_tol=1e-4) and round(number) != 0
