"""Responses by HTTP: head and body leave together."""

from __future__ import annotations

import asyncio

from services.gateway.http.server import _JoinedWrites


class _Sink(asyncio.Transport):
    def __init__(self) -> None:
        super().__init__()
        self.sent: list[bytes] = []
        self.is_closed = False

    def write(self, data: bytes | bytearray | memoryview) -> None:
        self.sent.append(bytes(data))

    def close(self) -> None:
        self.is_closed = True

    def is_closing(self) -> bool:
        return self.is_closed


async def test_spec_9_1_head_and_body_of_a_response_leave_in_one_packet() -> None:
    sink = _Sink()
    joined = _JoinedWrites(sink, asyncio.get_running_loop())

    joined.write(b"head ")
    joined.write(b"body")
    assert sink.sent == []
    await asyncio.sleep(0)
    assert sink.sent == [b"head body"]

    joined.write(b"last")
    joined.close()
    assert sink.sent == [b"head body", b"last"]
    assert joined.is_closing()


async def test_spec_9_1_a_large_response_does_not_gather_in_memory() -> None:
    sink = _Sink()
    joined = _JoinedWrites(sink, asyncio.get_running_loop())

    joined.write(b"x" * 70_000)

    assert sink.sent == [b"x" * 70_000]
