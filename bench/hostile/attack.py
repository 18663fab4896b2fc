"""Hostile callers of a gateway: each connection repeats what it does until the process is killed."""

from __future__ import annotations

import asyncio
import contextlib
import random
import socket
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any, Final

import grpc

from bench.common import Channel, open_channel
from bench.gateway import one_turn
from mneme.gateway.v1 import memory_pb2, memory_pb2_grpc, recall_pb2

_PAUSE_SECONDS: Final = 5.0
"""Between two attempts of one connection, or stream: some 350 attempts a second of all together."""
_HOLD_SECONDS: Final = 20.0
"""How long a connection that says nothing is held before it is made anew."""
_STREAM_CONNECTIONS: Final = 20
_PREFACE: Final = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"


async def attack(address: str, api_key: str, *, connections: int, streams: int) -> None:
    """Attack until cancelled.

    Args:
        address: Of the gateway.
        api_key: Of a writer, for the cancelled calls and the streams.
        connections: Of all kinds together: a fifth each is silent, slow, half-closed, unauthenticated and cancelled.
        streams: RememberStreams of the key that send one item and then nothing.
    """
    each = connections // 5
    kinds: list[Callable[[], Awaitable[None]]] = [
        *[partial(_silent, address)] * each,
        *[partial(_slow, address)] * each,
        *[partial(_half_closed, address)] * each,
        *[partial(_unauthenticated, address)] * each,
        *[partial(_cancelled, address, api_key)] * each,
    ]
    async with contextlib.AsyncExitStack() as stack:
        channels = [
            await stack.enter_async_context(open_channel(address, api_key=api_key)) for _ in range(_STREAM_CONNECTIONS)
        ]
        kinds += [partial(_idle_stream, channels[number % len(channels)], number) for number in range(streams)]
        await asyncio.gather(*(_repeated(act) for act in kinds))


async def _repeated(act: Callable[[], Awaitable[None]]) -> None:
    await asyncio.sleep(random.uniform(0, _PAUSE_SECONDS))
    while True:
        with contextlib.suppress(OSError, grpc.aio.AioRpcError, TimeoutError):
            await act()
        await asyncio.sleep(_PAUSE_SECONDS)


async def _connected(address: str) -> socket.socket:
    host, _, port = address.rpartition(":")
    connection = socket.socket()
    connection.setblocking(False)
    await asyncio.get_running_loop().sock_connect(connection, (host, int(port)))
    return connection


async def _silent(address: str) -> None:
    with await _connected(address) as connection:
        await _until_closed(connection)


async def _slow(address: str) -> None:
    """Speaks a byte a second."""
    loop = asyncio.get_running_loop()
    with await _connected(address) as connection:
        for byte in _PREFACE:
            await loop.sock_sendall(connection, bytes([byte]))
            await asyncio.sleep(1.0)


async def _half_closed(address: str) -> None:
    """Begins to speak HTTP/2 and says that it will not go on."""
    with await _connected(address) as connection:
        await asyncio.get_running_loop().sock_sendall(connection, _PREFACE)
        connection.shutdown(socket.SHUT_WR)
        await _until_closed(connection)


async def _until_closed(connection: socket.socket) -> None:
    async with asyncio.timeout(_HOLD_SECONDS):
        while await asyncio.get_running_loop().sock_recv(connection, 4_096):
            pass


async def _unauthenticated(address: str) -> None:
    """Headers without a credential, and no message."""
    async with open_channel(address) as channel:
        call: Any = channel.channel.stream_unary("/mneme.gateway.v1.MemoryService/Recall")()
        await call.code()


async def _cancelled(address: str, api_key: str) -> None:
    """Gives up a recall while it is worked on."""
    async with open_channel(address, api_key=api_key) as channel:
        stub: Any = memory_pb2_grpc.MemoryServiceStub(channel.channel)
        call = stub.Recall(recall_pb2.RecallRequest(user_id="hostile", query="anything"), metadata=channel.metadata)
        await asyncio.sleep(0.005)
        call.cancel()


async def _idle_stream(channel: Channel, number: int) -> None:
    """A stream with one item that then stays open."""
    stub: Any = memory_pb2_grpc.MemoryServiceStub(channel.channel)
    call = stub.RememberStream(metadata=channel.metadata, timeout=3_600)
    item = one_turn(f"hostile-{number}", "hostile", "hostile", "Nothing to say.")
    await call.write(memory_pb2.RememberStreamRequest(item=item))
    await call.code()
