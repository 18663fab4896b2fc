"""Work behind the scenes that somebody's asking has set off."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Coroutine, Hashable
from typing import Any, Generic, TypeVar

K = TypeVar("K", bound=Hashable)


class BackgroundWork(Generic[K]):
    """At most one task for each key. Belongs to one event loop; `aclose` it."""

    def __init__(self, name: str) -> None:
        """Tasks are called `name`."""
        self._name = name
        self._tasks: dict[K, asyncio.Task[None]] = {}

    def __contains__(self, key: K) -> bool:
        """Whether the key's work is under way."""
        return key in self._tasks

    def begin(self, key: K, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Do `work`, unless that of the key is under way already."""
        if key in self._tasks:
            return
        task = asyncio.create_task(work(), name=self._name)
        self._tasks[key] = task
        task.add_done_callback(lambda _: self._tasks.pop(key, None))

    async def settle(self) -> None:
        """Wait until none is under way.

        Raises:
            Exception: Of the first that fails meanwhile.
        """
        while self._tasks:
            await asyncio.gather(*self._tasks.values())

    async def aclose(self) -> None:
        """Cancel what is under way, and wait for it to end. Closing twice is allowed."""
        for task in list(self._tasks.values()):
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task
        self._tasks.clear()
