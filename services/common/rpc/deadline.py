"""The deadline of the call that is being served."""

from __future__ import annotations

import time
from contextvars import ContextVar, Token

_ends: ContextVar[float | None] = ContextVar("mneme_deadline", default=None)


def seconds_left(default: float) -> float:
    """Time until the deadline, never below zero; `default` outside of a call."""
    ends = _ends.get()
    return default if ends is None else max(0.0, ends - time.monotonic())


def set_deadline(seconds: float) -> Token[float | None]:
    """Sets the deadline, counted from now; for the deadline interceptor and tests."""
    return _ends.set(time.monotonic() + seconds)
