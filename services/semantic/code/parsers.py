"""Parses files in processes of their own: a grammar is native code that reads what anybody uploads."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import json
import os
import struct
import sys
from collections.abc import Sequence
from typing import Any, Final

import structlog

from services.common.errors import StoreUnavailable
from services.semantic.code.model import FileStatus, PackedFile
from services.semantic.code.packing import pack
from services.semantic.code.parser import text_file

_log = structlog.get_logger(__name__)

_LENGTH: Final = struct.Struct("!I")
_PASSED_ON: Final = ("PATH", "HOME", "LANG", "LD_LIBRARY_PATH", "SYSTEMROOT")
"""Variables of the environment that a process gets: no secret of the service is among them."""
_BATCH_BYTES: Final = 256 * 1024
_EDIT_BYTES_MAX: Final = 512 * 1024
_EDIT_FILES_MAX: Final = 8
_NICE: Final = 5
"""Requests come before the index of a whole repository."""


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
            StoreUnavailable: The processes are being stopped.
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
        for process in self._all:
            await process.stop()

    async def _batch(self, batch: Sequence[tuple[str, bytes]], idle: asyncio.Queue[_Process]) -> list[PackedFile]:
        process = await idle.get()
        try:
            return await self._parsed(process, batch)
        finally:
            idle.put_nowait(process)

    async def _parsed(self, process: _Process, batch: Sequence[tuple[str, bytes]]) -> list[PackedFile]:
        if self._is_closed:
            raise StoreUnavailable("code parser")
        try:
            async with asyncio.timeout(self._timeout_seconds):
                return await process.parse([(*one, self._with_text(one[1])) for one in batch])
        except (TimeoutError, OSError, EOFError) as error:
            await process.stop()
            if self._is_closed:
                raise StoreUnavailable("code parser") from error
        except asyncio.CancelledError:
            await process.stop()  # its response would be taken for that of the next batch
            raise
        if len(batch) > 1:
            return [(await self._parsed(process, [one]))[0] for one in batch]
        _log.warning("a file could not be parsed", bytes=len(batch[0][1]))
        content = batch[0][1]
        return [pack(await asyncio.to_thread(text_file, *batch[0]), content if self._with_text(content) else b"")]

    def _with_text(self, content: bytes) -> bool:
        return len(content) <= self._text_bytes_max


class _Process:
    """One process, used by one call at a time."""

    def __init__(self, *, nice: int) -> None:
        self._process: asyncio.subprocess.Process | None = None
        self._nice = nice

    async def parse(self, batch: Sequence[tuple[str, bytes, bool]]) -> list[PackedFile]:
        process = await self._started()
        assert process.stdin is not None
        assert process.stdout is not None
        rows = [[path, base64.b64encode(content).decode("ascii"), with_text] for path, content, with_text in batch]
        body = json.dumps(rows, separators=(",", ":")).encode("ascii")
        process.stdin.write(_LENGTH.pack(len(body)) + body)
        await process.stdin.drain()
        (size,) = _LENGTH.unpack(await process.stdout.readexactly(_LENGTH.size))
        found = json.loads(await process.stdout.readexactly(size))
        return [_packed(row) for row in found]

    async def stop(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.wait()

    async def _started(self) -> asyncio.subprocess.Process:
        if self._process is None or self._process.returncode is not None:
            paths = os.pathsep.join(path for path in sys.path if path)
            inherited = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
            self._process = await asyncio.create_subprocess_exec(
                sys.executable,
                "-m",
                "services.semantic.code.worker",
                str(self._nice),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.DEVNULL,
                env={**inherited, "PYTHONPATH": paths},
                start_new_session=True,  # Ctrl-C is for the service, which then stops its processes
            )
        return self._process


def _packed(row: Sequence[Any]) -> PackedFile:
    path, digest, language, status, line_count, body = row
    return PackedFile(path, digest, language, FileStatus(status), line_count, base64.b64decode(body))
