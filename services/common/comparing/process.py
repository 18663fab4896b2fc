"""A comparer in a process of its own."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final, TypeVar

from services.common.comparing.port import ComparerSettings, SaidPair
from services.common.errors import StoreUnavailable
from services.common.values.holding import Said
from services.common.values.model import Relation
from services.common.workers.process import WorkerEndedError, WorkerProcess, WorkerUnusableError

_T = TypeVar("_T")


class ComparingFailedError(Exception):
    """A rule could not read a statement: a fault of ours. Says the kind of the error, and no word of a user."""


class ComparerProcess:
    """Starts its process with the first statement, and again after a failure. Serves any number of event loops."""

    def __init__(self, settings: ComparerSettings, *, texts_seconds: float) -> None:
        """Nothing is started yet.

        Args:
            settings: Bounds.
            texts_seconds: How long the process holds what it read of a statement.
        """
        self._settings: Final = settings
        self._thread: Final = ThreadPoolExecutor(max_workers=1, thread_name_prefix="comparer")
        self._worker: Final = WorkerProcess(
            "services.common.comparing.worker",
            str(texts_seconds),
            load_timeout_seconds=settings.load_timeout_seconds,
        )

    async def relations(self, pairs: Sequence[SaidPair]) -> list[Relation]:
        """See `Comparer.relations`."""
        found: list[Relation] = []
        for batch in _batches(pairs, self._settings.batch_pairs):
            rows = [(_row(earlier), _row(later)) for earlier, later in batch]
            found += [Relation(value) for value in await self._exchange({"pairs": rows})]
        return found

    async def keys(self, texts: Sequence[str]) -> list[frozenset[str]]:
        """See `Comparer.keys`."""
        found: list[frozenset[str]] = []
        for batch in _batches(texts, self._settings.batch_texts):
            found += [frozenset(words) for words in await self._exchange({"texts": batch})]
        return found

    async def aclose(self) -> None:
        """Stop the process. Calls under way fail."""
        self._worker.kill()
        await asyncio.to_thread(self._thread.shutdown, wait=True, cancel_futures=True)
        self._worker.stop()

    async def _exchange(self, message: dict[str, Any]) -> list[Any]:
        loop = asyncio.get_running_loop()
        try:
            response = await loop.run_in_executor(self._thread, self._send, message)
        except (WorkerEndedError, WorkerUnusableError) as error:
            raise StoreUnavailable("comparer") from error
        except RuntimeError as error:  # the thread was shut down meanwhile
            raise StoreUnavailable("comparer") from error
        if "failed" in response:
            raise ComparingFailedError(response["failed"])
        return response["found"]  # type: ignore[no-any-return]

    def _send(self, message: dict[str, Any]) -> Any:
        return self._worker.exchange(message, timeout_seconds=self._settings.timeout_seconds)


def _row(said: Said) -> tuple[str, str, bool, str | None]:
    return said.text, said.speaker, said.is_announced, None if said.day is None else said.day.isoformat()


def _batches(items: Sequence[_T], size: int) -> Iterator[Sequence[_T]]:
    return (items[begin : begin + size] for begin in range(0, len(items), size))
