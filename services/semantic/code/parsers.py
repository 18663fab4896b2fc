"""Parses files in processes of their own: a grammar is native code that reads what anybody uploads."""

from __future__ import annotations

import asyncio
import base64
import functools
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

import structlog

from services.common.errors import StoreUnavailable
from services.common.workers.process import WorkerEndedError, WorkerProcess, WorkerStartError, WorkerTimeoutError
from services.semantic.code.model import FileStatus, PackedFile
from services.semantic.code.packing import pack
from services.semantic.code.parser import text_file

_log = structlog.get_logger(__name__)

_BATCH_BYTES: Final = 256 * 1024
_EDIT_BYTES_MAX: Final = 512 * 1024
_EDIT_FILES_MAX: Final = 8
_NICE: Final = 5
"""Requests come before the index of a whole repository."""
_LOAD_SECONDS: Final = 60.0
"""For the start of a process, on a busy machine."""


class CodeParsers:
    """A fixed number of processes. They start with the first files, and again after a failure.

    Few and small files, such as one that was edited, have a process of their own: they wait for no whole repository.
    """

    def __init__(self, *, processes: int, timeout_seconds: float, text_bytes_max: int = 0) -> None:
        """Nothing is started yet.

        Args:
            processes: How many files of large uploads are parsed at once.
            timeout_seconds: How long a batch may take before its process is killed.
            text_bytes_max: Files of at most so many bytes are packed with their text.
        """
        self._timeout_seconds = timeout_seconds
        self._text_bytes_max = text_bytes_max
        self._bulk: asyncio.Queue[_Process] = asyncio.Queue()
        self._edits: asyncio.Queue[_Process] = asyncio.Queue()
        edits = _Process(nice=0)
        self._edits.put_nowait(edits)
        self._all = [edits]
        for _ in range(processes):
            self._all.append(process := _Process(nice=_NICE))
            self._bulk.put_nowait(process)
        self._is_closed = False

    async def parse(self, files: Sequence[tuple[str, bytes]]) -> list[PackedFile]:
        """Each file, parsed and packed, in order. A file that its grammar cannot cope with is known by its words.

        Raises:
            StoreUnavailable: The processes are being stopped, or cannot be started.
        """
        batches: list[list[tuple[str, bytes]]] = []
        size = _BATCH_BYTES
        for path, content in files:
            if size >= _BATCH_BYTES:
                batches.append([])
                size = 0
            batches[-1].append((path, content))
            size += len(content)
        is_edit = len(files) <= _EDIT_FILES_MAX and sum(len(content) for _, content in files) <= _EDIT_BYTES_MAX
        idle = self._edits if is_edit else self._bulk
        found = await asyncio.gather(*(self._batch(batch, idle) for batch in batches))
        return [file for batch in found for file in batch]

    async def aclose(self) -> None:
        """Stop the processes. Calls under way fail."""
        self._is_closed = True
        await asyncio.gather(*(process.aclose() for process in self._all))

    async def _batch(self, batch: Sequence[tuple[str, bytes]], idle: asyncio.Queue[_Process]) -> list[PackedFile]:
        process = await idle.get()
        try:
            return await self._parsed(process, batch)
        finally:
            idle.put_nowait(process)

    async def _parsed(self, process: _Process, batch: Sequence[tuple[str, bytes]]) -> list[PackedFile]:
        if self._is_closed:
            raise StoreUnavailable("code parser")
        request = [(*one, self._with_text(one[1])) for one in batch]
        for is_last in (False, True):
            try:
                return await process.parse(request, timeout_seconds=self._timeout_seconds)
            except (WorkerEndedError, RuntimeError) as error:  # RuntimeError: the thread was shut down meanwhile
                if (is_last and isinstance(error, WorkerStartError)) or self._is_closed:
                    raise StoreUnavailable("code parser") from error
                is_over = isinstance(error, WorkerTimeoutError) or len(batch) > 1
                if is_over and not isinstance(error, WorkerStartError):
                    break
                # The process may have ended for another reason than the file: it is started once more.
        if len(batch) > 1:
            return [(await self._parsed(process, [one]))[0] for one in batch]
        _log.warning("a file could not be parsed", bytes=len(batch[0][1]))
        content = batch[0][1]
        return [pack(await asyncio.to_thread(text_file, *batch[0]), content if self._with_text(content) else b"")]

    def _with_text(self, content: bytes) -> bool:
        return len(content) <= self._text_bytes_max


class _Process:
    """One process, used by one call at a time, with a thread that waits for it."""

    def __init__(self, *, nice: int) -> None:
        self._thread: Final = ThreadPoolExecutor(max_workers=1, thread_name_prefix="code-parser")
        self._worker: Final = WorkerProcess(
            "services.semantic.code.worker", str(nice), load_timeout_seconds=_LOAD_SECONDS
        )

    async def parse(self, batch: Sequence[tuple[str, bytes, bool]], *, timeout_seconds: float) -> list[PackedFile]:
        exchange = functools.partial(self._exchange, batch, timeout_seconds=timeout_seconds)
        try:
            return await asyncio.get_running_loop().run_in_executor(self._thread, exchange)
        except asyncio.CancelledError:
            self._worker.interrupt()  # nobody waits for it, and the next batch need not
            raise

    async def aclose(self) -> None:
        self._worker.kill()
        await asyncio.to_thread(self._thread.shutdown, wait=True, cancel_futures=True)
        self._worker.stop()

    def _exchange(self, batch: Sequence[tuple[str, bytes, bool]], *, timeout_seconds: float) -> list[PackedFile]:
        rows = [[path, base64.b64encode(content).decode("ascii"), with_text] for path, content, with_text in batch]
        return [_packed(row) for row in self._worker.exchange(rows, timeout_seconds=timeout_seconds)]


def _packed(row: Sequence[Any]) -> PackedFile:
    path, digest, language, status, line_count, body = row
    return PackedFile(path, digest, language, FileStatus(status), line_count, base64.b64decode(body))
