"""Keeps work on the event loop in short steps."""

from __future__ import annotations

import asyncio
import time
from typing import Final

_SECONDS: Final = 0.004


class LoopBudget:
    """Lets others have the event loop whenever work has held it for longer than some milliseconds."""

    def __init__(self) -> None:
        """Begin now."""
        self._begun = time.perf_counter()

    async def step(self) -> None:
        """Called between two parts of the work; lets others go first where the budget is used up."""
        if time.perf_counter() - self._begun >= _SECONDS:
            await asyncio.sleep(0)
            self._begun = time.perf_counter()
