"""A parser in a process of its own."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Final

import structlog

from services.common.parsing.model import ParsedText
from services.common.parsing.pipeline import parsed
from services.common.parsing.port import ParserFailedError, ParserMissingError, ParserSettings
from services.common.workers.process import WorkerEndedError, WorkerProcess, WorkerUnusableError

_log = structlog.get_logger(__name__)


class ParserProcess:
    """Starts its process with the first text, and again after a failure. Serves any number of event loops."""

    def __init__(self, model: str, settings: ParserSettings | None = None) -> None:
        """Nothing is started yet.

        Args:
            model: Name of an installed package, or path of a folder with a pipeline.
            settings: Bounds; the defaults if not given.
        """
        self._model: Final = model
        self._settings: Final = settings or ParserSettings()
        self._thread: Final = ThreadPoolExecutor(max_workers=1, thread_name_prefix="parser")
        self._worker: Final = WorkerProcess(
            "services.common.parsing.worker", model, load_timeout_seconds=self._settings.load_timeout_seconds
        )
        self._missing: ParserMissingError | None = None
        self._waiting = 0
        self._closed = False

    async def parse(self, texts: Sequence[str]) -> list[ParsedText]:
        """Each text, parsed, in order.

        Raises:
            ParserMissingError: The pipeline cannot be loaded.
            ParserFailedError: Too many texts wait, the process failed, was stopped or took too long.
        """
        if self._missing is not None:
            raise self._missing
        if self._closed or self._waiting + len(texts) > self._settings.waiting_texts_max:
            raise ParserFailedError("the parser is closed" if self._closed else "too many texts wait for the parser")
        cut = [text[: self._settings.chars_max] for text in texts]
        loop = asyncio.get_running_loop()
        found: list[ParsedText] = []
        self._waiting += len(texts)
        try:
            for batch in self._runs(cut):
                found += await loop.run_in_executor(self._thread, self._parse, batch)
        except RuntimeError as error:  # the thread was shut down meanwhile
            raise ParserFailedError("the parser is closed") from error
        finally:
            self._waiting -= len(texts)
        return found

    async def aclose(self) -> None:
        """Stop the process. Calls under way fail."""
        self._closed = True
        self._worker.kill()
        await asyncio.to_thread(self._thread.shutdown, wait=True, cancel_futures=True)
        self._worker.stop()

    def _runs(self, texts: Sequence[str]) -> Iterator[list[str]]:
        """The texts of each run of the pipeline."""
        batch: list[str] = []
        chars = 0
        for text in texts:
            is_full = chars + len(text) > self._settings.batch_chars or len(batch) == self._settings.batch_texts
            if batch and is_full:
                yield batch
                batch, chars = [], 0
            batch.append(text)
            chars += len(text)
        if batch:
            yield batch

    def _parse(self, texts: list[str]) -> list[ParsedText]:
        """Runs in the thread of its own, one call at a time."""
        if self._missing is not None:
            raise self._missing
        try:
            rows = self._worker.exchange(texts, timeout_seconds=self._settings.timeout_seconds)
        except WorkerEndedError as error:
            raise ParserFailedError("the parser's process ended or took too long") from error
        except WorkerUnusableError as error:
            self._missing = ParserMissingError(str(error))
            _log.warning("parser missing: what needs it goes by rules alone", model=self._model, reason=str(error))
            raise self._missing from error
        return [parsed(text, found) for text, found in zip(texts, rows, strict=True)]
