"""Starts the process of the embedded vector engine, and calls it."""

from __future__ import annotations

import asyncio
import pickle
import socket
import subprocess
import sys
from collections import deque
from typing import Any, Final, cast

from services.episodic.stores.edge_child import HEADER

_STOP_SECONDS: Final = 60.0
"""Until a process that does not end is killed; it writes to the disk before it ends."""


class EngineFailedError(Exception):
    """The engine raised an error or its process ended."""

    def __init__(self, message: str, *, exit_code: int | None = None) -> None:
        """Say what the engine said; `exit_code` where its process ended."""
        super().__init__(message)
        self.exit_code = exit_code


class _Wire(asyncio.Protocol):
    """Requests out, results in, in the same order."""

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._transport: asyncio.Transport | None = None
        self.waiting: deque[asyncio.Future[tuple[str | None, Any]]] = deque()
        self.lost = asyncio.Event()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # uvloop's transports are of no class of asyncio.
        self._transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        while len(self._buffer) >= HEADER.size:
            end = HEADER.size + HEADER.unpack_from(self._buffer)[0]
            if len(self._buffer) < end:
                return
            result = pickle.loads(memoryview(self._buffer)[HEADER.size : end])  # noqa: S301 - our own process
            del self._buffer[:end]
            future = self.waiting.popleft()
            if not future.done():  # its caller may have gone
                future.set_result(result)

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - the exit code says more
        self.lost.set()

    def send(self, message: Any) -> asyncio.Future[tuple[str | None, Any]]:
        assert self._transport is not None
        future: asyncio.Future[tuple[str | None, Any]] = asyncio.get_running_loop().create_future()
        request = pickle.dumps(message, pickle.HIGHEST_PROTOCOL)
        self.waiting.append(future)
        self._transport.write(HEADER.pack(len(request)) + request)
        return future

    def close(self) -> None:
        assert self._transport is not None
        self._transport.close()


class EngineProcess:
    """A running process. Results come in the order of the calls, and callers go on in that order."""

    def __init__(self, process: subprocess.Popen[bytes], wire: _Wire) -> None:
        """Use `start`."""
        self._process = process
        self._wire = wire
        self._watching = asyncio.create_task(self._watch(), name="episodic-engine-watch")

    @classmethod
    async def start(cls, *, inherited: int) -> EngineProcess:
        """Start a process that keeps the descriptor `inherited` open for as long as it lives."""
        ours, theirs = socket.socketpair()
        with theirs:
            process = _spawned(theirs.fileno(), inherited)
        ours.setblocking(False)
        _, wire = await asyncio.get_running_loop().create_unix_connection(_Wire, sock=ours)
        return cls(process, wire)

    @property
    def is_running(self) -> bool:
        """Whether it can be called."""
        return not self._wire.lost.is_set()

    async def wait_ended(self) -> None:
        """Wait until the process has ended."""
        await asyncio.shield(self._watching)

    async def call(self, name: str, *arguments: Any, **keywords: Any) -> Any:
        """Run a method of `EdgeEngine`; the first call makes it.

        Raises:
            EngineFailedError: The engine raised an error, or the process ended.
        """
        if self._wire.lost.is_set():
            raise EngineFailedError("the engine's process has ended", exit_code=self._process.returncode)
        failure, value = await self._wire.send((name, arguments, keywords))
        if failure is not None:
            raise EngineFailedError(failure)
        return value

    async def stop(self) -> None:
        """End the process after its calls under way; kill it if it does not end."""
        self._wire.close()
        try:
            async with asyncio.timeout(_STOP_SECONDS):
                await self.wait_ended()
        except TimeoutError:
            self._process.kill()
        await self._watching

    async def _watch(self) -> None:
        """Fail the calls under way when the process ends."""
        await self._wire.lost.wait()
        code = await asyncio.to_thread(self._process.wait)
        for future in self._wire.waiting:
            if not future.done():
                future.set_exception(EngineFailedError(f"the engine's process ended with {code}", exit_code=code))
        self._wire.waiting.clear()


def _spawned(connection: int, inherited: int) -> subprocess.Popen[bytes]:
    """Starts the child. An event loop would fork, and with that run fork handlers of native libraries in the child."""
    return subprocess.Popen(  # noqa: S603 - our own module
        [sys.executable, "-m", "services.episodic.stores.edge_child", str(connection)],
        stdin=subprocess.DEVNULL,
        pass_fds=(connection, inherited),
    )
