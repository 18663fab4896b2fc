"""A way to a service that a test can shut."""

from __future__ import annotations

import asyncio
import contextlib


class Gate:
    """A way to a service that can be shut: connections are refused and those that are open break.

    It can also hold everything back, as a service does that has too much to do.
    """

    def __init__(self, target: str) -> None:
        """Leads to `target`, once opened."""
        host, _, port = target.rpartition(":")
        self._to = (host, int(port))
        self._port = 0
        self._server: asyncio.Server | None = None
        self._writers: set[asyncio.StreamWriter] = set()
        self._flows = asyncio.Event()
        self._flows.set()

    @property
    def target(self) -> str:
        """Where it stands; the same each time it is opened."""
        return f"127.0.0.1:{self._port}"

    async def open(self) -> None:
        """Lets calls pass."""
        self._server = await asyncio.start_server(self._pass_on, "127.0.0.1", self._port)
        self._port = self._server.sockets[0].getsockname()[1]

    async def shut(self) -> None:
        """Breaks what is open and refuses what comes."""
        if self._server is not None:
            self._server.close()
            self._server = None
        for writer in tuple(self._writers):
            writer.transport.abort()

    def hold(self) -> None:
        """Lets nothing through, and breaks nothing."""
        self._flows.clear()

    def release(self) -> None:
        """Lets through what was held back."""
        self._flows.set()

    async def _pass_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        far_reader, far_writer = await asyncio.open_connection(*self._to)
        ends = {writer, far_writer}
        self._writers |= ends
        try:
            await asyncio.gather(self._copy(reader, far_writer), self._copy(far_reader, writer))
        finally:
            self._writers -= ends
            for end in ends:
                end.transport.abort()

    async def _copy(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError):
            while data := await reader.read(65_536):
                await self._flows.wait()
                writer.write(data)
                await writer.drain()
        writer.transport.abort()
