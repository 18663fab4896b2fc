"""A local endpoint of a language model whose responses a test chooses."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from typing import Any


@dataclass
class FakeEndpoint:
    """What the endpoint responds with, and what it was asked."""

    content: str = "{}"
    """Content of the message of each completion."""
    body: bytes | None = None
    """The whole body, in place of a completion."""
    status: int = 200
    finish_reason: str = "stop"
    hangs: bool = False
    """It never responds."""
    respond: Callable[[dict[str, Any]], str] | None = None
    """What it makes of a request, in place of `content`."""
    requests: list[dict[str, Any]] = field(default_factory=list)
    url: str = ""

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection, one request."""
        head = (await reader.readuntil(b"\r\n\r\n")).decode().casefold()
        length = next(int(line.split(":")[1]) for line in head.splitlines() if line.startswith("content-length:"))
        self.requests.append(json.loads(await reader.readexactly(length)))
        if self.hangs:
            await reader.read()
        else:
            content = self.content if self.respond is None else self.respond(self.requests[-1])
            message = {"role": "assistant", "content": content}
            choice = {"index": 0, "message": message, "finish_reason": self.finish_reason}
            completion = {"id": "1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}
            body = json.dumps(completion).encode() if self.body is None else self.body
            head = f"HTTP/1.1 {self.status} X\r\ncontent-type: application/json\r\nconnection: close\r\n"
            writer.write(f"{head}content-length: {len(body)}\r\n\r\n".encode() + body)
        with contextlib.suppress(ConnectionError):
            await writer.drain()
            writer.close()


@contextlib.asynccontextmanager
async def fake_endpoint() -> AsyncIterator[FakeEndpoint]:
    """An endpoint on a free port."""
    endpoint = FakeEndpoint()
    server = await asyncio.start_server(endpoint.serve, "127.0.0.1", 0)
    endpoint.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
    try:
        yield endpoint
    finally:
        server.close()
