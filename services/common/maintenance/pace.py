"""Lets requests go first while maintenance computes.

A thread that computes shares the interpreter with the event loop: without rests, a call beside it takes twice as long.
Functions of a plan remain pure: `rest` does nothing unless `computed` runs them.
"""

from __future__ import annotations

import asyncio
import functools
import threading
import time
from collections.abc import Callable
from typing import Final, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")

_WORK_SECONDS: Final = 0.001
"""Work between two rests."""
_REST_SHARE: Final = 3.0
"""A rest takes so many times as long as the work before it."""
_REST_SECONDS_MAX: Final = 0.02


class _Pace(threading.local):
    """When the work of this thread began, or None where it does not rest."""

    begun: float | None = None


_pace = _Pace()


class Pace:
    """Rests of a job between the pages that it reads and the transactions that it makes, on the event loop."""

    def __init__(self, *, is_awaited: bool = False) -> None:
        """The work begins. Where `is_awaited`, somebody waits for it: others go on in between, but it does not rest."""
        self._share = 0.0 if is_awaited else 1.0
        self._begun = time.perf_counter()

    async def rest(self) -> None:
        """Called between two parts of the work."""
        await asyncio.sleep(self._share * _rest_seconds(time.perf_counter() - self._begun))
        self._begun = time.perf_counter()


async def computed(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Returns what a function of maintenance returns; it runs on a thread, on which `rest` rests."""
    return await asyncio.to_thread(_run, functools.partial(function, *args, **kwargs))


def rest() -> None:
    """Called between parts of the work that take a millisecond or so."""
    if _pace.begun is None:
        return
    worked = time.perf_counter() - _pace.begun
    if worked >= _WORK_SECONDS:
        time.sleep(_rest_seconds(worked))
        _pace.begun = time.perf_counter()


def _rest_seconds(worked: float) -> float:
    return min(_REST_SHARE * worked, _REST_SECONDS_MAX)


def _run(function: Callable[[], T]) -> T:
    _pace.begun = time.perf_counter()
    try:
        return function()
    finally:
        _pace.begun = None
