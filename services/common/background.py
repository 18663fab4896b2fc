"""The life cycle of everything that runs behind the scenes: loops that restart, tasks with a key, one way to stop."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Hashable
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Generic, Self, TypeVar

import structlog

from services.common.errors import MnemeError

_log = structlog.get_logger(__name__)

K = TypeVar("K", bound=Hashable)


@dataclass(frozen=True, slots=True)
class RestartDelays:
    """How long failed work waits before it runs again: the wait doubles with each failure in a row."""

    first_seconds: float = 1.0
    longest_seconds: float = 60.0

    def seconds(self, failures: int) -> float:
        """The wait after the given number of failures in a row, from 1."""
        doubled: float = self.first_seconds * 2.0 ** min(failures - 1, 16)
        return min(doubled, self.longest_seconds)


class BackgroundWork(Generic[K]):
    """At most one task for each key; closing cancels them all. Belongs to one event loop.

    `begin` starts work that ends; `settle` waits for it. `keep_running` starts work that is restarted after a
    failure until it returns, such as a loop. Leaving the block, or `aclose`, cancels both.
    """

    def __init__(self, name: str, restart: RestartDelays | None = None) -> None:
        """Tasks are called `name`, or `name-key` where they run until the end."""
        self._name = name
        self._restart = restart or RestartDelays()
        self._tasks: dict[K, asyncio.Task[None]] = {}
        self._loops: dict[K, asyncio.Task[None]] = {}

    async def __aenter__(self) -> Self:
        """Nothing to do before the first task."""
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """See `aclose`."""
        await self.aclose()

    def __contains__(self, key: K) -> bool:
        """Whether work of the key is under way."""
        return key in self._tasks or key in self._loops

    def __len__(self) -> int:
        """How many tasks of `begin` are under way."""
        return len(self._tasks)

    def begin(self, key: K, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Do `work`, unless that of the key is under way already."""
        known = self._tasks.get(key)
        if known is not None and not known.done():
            return
        task = asyncio.create_task(work(), name=self._name)
        self._tasks[key] = task
        task.add_done_callback(lambda _: self._tasks.pop(key) if self._tasks.get(key) is task else None)

    def keep_running(self, key: K, work: Callable[[], Awaitable[None]]) -> None:
        """Do `work` until it returns; where it fails, do it again after a pause that grows."""
        if key in self._loops:
            raise ValueError(f"{key!r} is kept running already")
        task = asyncio.create_task(self._until_done(key, work), name=f"{self._name}-{key}")
        self._loops[key] = task
        task.add_done_callback(lambda _: self._loops.pop(key, None))

    async def settle(self) -> None:
        """Wait until no task of `begin` is under way.

        Raises:
            Exception: Of the first that fails meanwhile.
        """
        while self._tasks:
            await asyncio.gather(*self._tasks.values())

    async def aclose(self) -> None:
        """Cancel what is under way, and wait for it to end. Closing twice is allowed."""
        running = [*self._loops.values(), *self._tasks.values()]
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)
        self._tasks.clear()
        self._loops.clear()

    async def _until_done(self, key: K, work: Callable[[], Awaitable[None]]) -> None:
        failures = 0
        loop = asyncio.get_running_loop()
        while True:
            started = loop.time()
            try:
                await work()
                return
            except MnemeError as error:
                _log.warning("background_work_interrupted", work=self._name, key=str(key), reason=error.reason)
            except Exception:
                # A fault of ours must not stop the work for good.
                _log.exception("background_work_failed", work=self._name, key=str(key))
            failures = 1 if loop.time() - started > self._restart.longest_seconds else failures + 1
            await asyncio.sleep(self._restart.seconds(failures))


def every(seconds: float, step: Callable[[], Awaitable[object]]) -> Callable[[], Awaitable[None]]:
    """A loop that waits and then does `step`, again and again."""

    async def run() -> None:
        while True:
            await asyncio.sleep(seconds)
            await step()

    return run
