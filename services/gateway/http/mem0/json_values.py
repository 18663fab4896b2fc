"""JSON of requests and of metadata, with nothing in it that a response or a store could not hold."""

from __future__ import annotations

import json
import math
from typing import Any


def read_json(text: str) -> Any:
    """The value of a JSON text. Python's own reader takes more than the standard, and its writers refuse that again.

    Raises:
        ValueError: It is no JSON: NaN, a number beyond those of a double, and half of a surrogate pair are none here.
        RecursionError: It is nested too deeply.
    """
    value = json.loads(text, parse_float=_finite, parse_constant=_finite)
    if "\\u" in text:
        json.dumps(value, ensure_ascii=False).encode()  # UnicodeEncodeError, a ValueError, for half of a pair
    return value


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{text} is not a number of JSON")
    return number
