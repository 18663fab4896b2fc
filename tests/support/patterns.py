"""How long patterns take on long texts, seen on parts of them where these say enough."""

from __future__ import annotations

import math
import re
import time
from typing import Final

_PARTS: Final = 16
"""A part of a text of repetitions is as hard as the whole, and so many times as short."""
_STEP: Final = 8
"""The smaller part is so many times as short again."""
_GROWTH_MAX: Final = 2.0
"""A text that is `_STEP` times as long may take so many times as long as it would in linear time."""


def is_surely_fast(pattern: re.Pattern[str], text: str, end: str, seconds_max: float) -> bool:
    """Returns whether a pattern reads parts of a text so fast that it reads the whole in time.

    From a part to the whole the time grows as it does from a smaller part to that one.

    Args:
        pattern: To be searched for.
        text: Of repetitions.
        end: What follows them, in a part as well.
        seconds_max: Processor time for the whole text.
    """
    part = _seconds(pattern, text[: len(text) // _PARTS] + end)
    if part * _PARTS * _GROWTH_MAX ** math.log(_PARTS, _STEP) >= seconds_max:
        return False
    smaller = text[: len(text) // _PARTS // _STEP] + end
    return part < seconds_max / _PARTS**2 or part <= _STEP * _GROWTH_MAX * _seconds(pattern, smaller)


def _seconds(pattern: re.Pattern[str], text: str) -> float:
    begin = time.thread_time()
    for _match in pattern.finditer(text):
        pass
    return time.thread_time() - begin
