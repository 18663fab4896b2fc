"""How many writes a store takes from memory's callers while it replays what is queued."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterator
from typing import Final

_REPLAYED_PER_WRITE: Final = 2
"""With two replays for each new write the queue becomes empty, however fast callers are."""


class Admission:
    """Lets one write in for every two that are replayed, in the order in which they came.

    Without it, callers that write as fast as the queue is replayed keep a store degraded for good.
    """

    def __init__(self) -> None:
        """Nothing is replayed yet."""
        self._places: asyncio.Semaphore | None = None  # of the replay under way
        self._waiting = 0
        self._replayed = 0

    @contextlib.contextmanager
    def replaying(self) -> Iterator[None]:
        """A replay begins, and ends in any way: then all who wait go on."""
        places = self._places = asyncio.Semaphore(0)
        self._replayed = 0
        try:
            yield
        finally:
            self._places = None
            for _ in range(self._waiting):
                places.release()

    def replayed(self) -> None:
        """One more write was replayed."""
        self._replayed += 1
        if self._places is not None and self._replayed % _REPLAYED_PER_WRITE == 0:
            self._places.release()

    async def wait(self) -> None:
        """Returns when a write may be done; at once where nothing is replayed."""
        if self._places is None:
            return
        self._waiting += 1
        try:
            await self._places.acquire()
        finally:
            self._waiting -= 1
