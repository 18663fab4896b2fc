"""A parser in a process of its own."""

from __future__ import annotations

import asyncio
import contextlib
import os
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import IO, Any, Final

import structlog

from services.common.parsing.frames import read_frame, write_frame
from services.common.parsing.model import ParsedText
from services.common.parsing.pipeline import parsed
from services.common.parsing.port import ParserFailedError, ParserMissingError, ParserSettings

_log = structlog.get_logger(__name__)

_PASSED_ON: Final = ("PATH", "HOME", "LANG", "LD_LIBRARY_PATH", "SYSTEMROOT")
"""Variables of the environment that the process gets: no secret of the service is among them."""
_STOP_SECONDS: Final = 2.0


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
        self._process: subprocess.Popen[bytes] | None = None
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
        process = self._process
        if process is not None:
            process.kill()
        await asyncio.to_thread(self._thread.shutdown, wait=True, cancel_futures=True)
        self._stop()

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
        process = self._started()
        try:
            with _killed_after(process, self._settings.timeout_seconds):
                write_frame(_pipe(process.stdin), texts)
                rows = read_frame(_pipe(process.stdout))
        except (EOFError, OSError, ValueError) as error:
            self._stop()
            raise ParserFailedError("the parser's process ended or took too long") from error
        return [parsed(text, found) for text, found in zip(texts, rows, strict=True)]

    def _started(self) -> subprocess.Popen[bytes]:
        if self._missing is not None:
            raise self._missing
        if self._closed:
            raise ParserFailedError("the parser is closed")
        if self._process is not None and self._process.poll() is None:
            return self._process
        self._stop()
        process = self._process = subprocess.Popen(  # noqa: S603 - our own module
            [sys.executable, "-m", "services.common.parsing.worker", self._model],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=_environment(),
            start_new_session=True,  # Ctrl-C is for the service, which then closes the parser
        )
        try:
            with _killed_after(process, self._settings.load_timeout_seconds):
                loaded = read_frame(_pipe(process.stdout))
        except (EOFError, OSError, ValueError) as error:
            self._stop()
            raise ParserFailedError("the parser's process did not start") from error
        if "error" in loaded:
            self._stop()
            self._missing = ParserMissingError(loaded["error"])
            _log.warning("parser missing: what needs it goes by rules alone", model=self._model, reason=loaded["error"])
            raise self._missing
        return process

    def _stop(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        with contextlib.suppress(OSError):
            _pipe(process.stdin).close()
        try:
            process.wait(0 if self._closed else _STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        with contextlib.suppress(OSError):
            _pipe(process.stdout).close()


@contextlib.contextmanager
def _killed_after(process: subprocess.Popen[bytes], seconds: float) -> Iterator[None]:
    """Ends the process when the time is up, so that reading from it ends too."""
    timer = threading.Timer(seconds, process.kill)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _environment() -> dict[str, str]:
    inherited = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
    paths = os.pathsep.join(path for path in sys.path if path)
    return {**inherited, "PYTHONPATH": paths, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


def _pipe(stream: IO[bytes] | None) -> Any:
    assert stream is not None
    return stream
