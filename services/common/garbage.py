"""When a service looks for garbage that refers to itself."""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Iterator
from typing import Final

_THRESHOLDS: Final = (10_000, 20, 20)
"""Objects made and not freed until the youngest are looked at, and how often the next older ones are."""


@contextlib.contextmanager
def seldom_collected() -> Iterator[None]:
    """Have Python look through what a service loaded at its start never again, and at the rest less often.

    A hundred thousand objects of libraries and settings live as long as the process. Looking through all of them
    stops every call for 50 ms on two cores, again and again, and finds nothing. Enter it when everything is loaded.
    """
    thresholds = gc.get_threshold()
    gc.collect()
    gc.freeze()
    gc.set_threshold(*_THRESHOLDS)
    try:
        yield
    finally:
        gc.set_threshold(*thresholds)
        gc.unfreeze()
