"""How long a thread may hold the interpreter while the event loop waits for it."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from typing import Final

_SECONDS: Final = 0.0005


@contextlib.contextmanager
def short_switch_interval() -> Iterator[None]:
    """Hand the interpreter over sooner than Python does by default.

    Texts are read by rules on threads. While such a thread computes, the event loop waits for one interval each time it
    has slept, several times in a call, and longer where several threads compute.
    """
    interval = sys.getswitchinterval()
    sys.setswitchinterval(_SECONDS)
    try:
        yield
    finally:
        sys.setswitchinterval(interval)
