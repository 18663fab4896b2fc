"""A small service without a proto, to look at interceptors through a real server."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import Any, Final

import grpc

from services.common.auth import Authenticator, Principal, Role, current_principal
from services.common.hosting import RunningServer
from services.common.rpc.interceptors import InterceptorSettings, interceptors
from services.common.rpc.server import GrpcServer, ServerSettings, ServiceBinding, method_roles
from tests.support.clock import SequentialIds

ECHO = "mneme.test.EchoService"

ROLES = {
    "Echo": Role.READER,
    "Write": Role.WRITER,
    "Ingest": Role.SERVICE,
    "Hang": Role.READER,
    "Count": Role.READER,
    "CountForever": Role.READER,
    "Join": Role.READER,
    "Chat": Role.READER,
}


class EchoServicer:
    """Answers bytes with bytes; `behaviour` runs first in Echo and Write."""

    def __init__(self, behaviour: Callable[[], Awaitable[None]] | None = None) -> None:
        """Does nothing before it answers unless given a behaviour."""
        self.behaviour = behaviour
        self.hanging = asyncio.Event()
        self.closed = asyncio.Event()
        self.arrived = asyncio.Event()  # the first part of a stream
        self.principals: list[Principal] = []

    async def echo(self, request: bytes, _context: Any) -> bytes:
        """Answers with the request."""
        self.principals.append(current_principal())
        if self.behaviour is not None:
            await self.behaviour()
        return request

    async def hang(self, _request: bytes, _context: Any) -> bytes:
        """Waits for as long as it may."""
        self.hanging.set()
        try:
            await asyncio.Event().wait()
        finally:
            self.closed.set()
        raise AssertionError("nobody wakes it")

    async def count(self, request: bytes, _context: Any) -> AsyncIterator[bytes]:
        """Counts to the number, then behaves."""
        for number in range(int(request)):
            yield str(number).encode()
        if self.behaviour is not None:
            await self.behaviour()

    async def count_forever(self, _request: bytes, _context: Any) -> AsyncIterator[bytes]:
        """Counts until its caller has gone."""
        number = 0
        try:
            while True:
                yield str(number).encode()
                number += 1
        finally:
            self.closed.set()

    async def join(self, requests: AsyncIterator[bytes], _context: Any) -> bytes:
        """Answers with all requests in one."""
        parts = []
        async for part in requests:
            parts.append(part)
            self.arrived.set()
        if self.behaviour is not None:
            await self.behaviour()
        return b"".join(parts)

    async def chat(self, requests: AsyncIterator[bytes], _context: Any) -> AsyncIterator[bytes]:
        """Answers each request with itself."""
        async for part in requests:
            yield part


def add_to_server(servicer: EchoServicer, server: grpc.aio.Server) -> None:
    """What a generated add function does."""
    handlers: dict[str, Any] = {
        "Echo": grpc.unary_unary_rpc_method_handler(servicer.echo),
        "Write": grpc.unary_unary_rpc_method_handler(servicer.echo),
        "Ingest": grpc.unary_unary_rpc_method_handler(servicer.echo),
        "Undeclared": grpc.unary_unary_rpc_method_handler(servicer.echo),
        "Hang": grpc.unary_unary_rpc_method_handler(servicer.hang),
        "Count": grpc.unary_stream_rpc_method_handler(servicer.count),
        "CountForever": grpc.unary_stream_rpc_method_handler(servicer.count_forever),
        "Join": grpc.stream_unary_rpc_method_handler(servicer.join),
        "Chat": grpc.stream_stream_rpc_method_handler(servicer.chat),
    }
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(ECHO, handlers),))


def binding(servicer: EchoServicer) -> ServiceBinding:
    """The service as a server takes it."""
    return ServiceBinding(ECHO, add_to_server, servicer, ROLES)


@contextlib.asynccontextmanager
async def running_echo(
    servicer: EchoServicer,
    authenticator: Authenticator,
    *,
    limits: InterceptorSettings | None = None,
    settings: ServerSettings | None = None,
) -> AsyncIterator[RunningServer]:
    """Serves on a free port with all interceptors."""
    bindings: Sequence[ServiceBinding] = [binding(servicer)]
    chain = interceptors(
        limits or InterceptorSettings(), authenticator, method_roles(bindings), SequentialIds("request-")
    )
    server = GrpcServer(settings or ServerSettings(grace_seconds=0.0), bindings, chain)
    address = await server.start()
    try:
        yield RunningServer(address, server)
    finally:
        await server.stop()


@contextlib.asynccontextmanager
async def echo_server(
    servicer: EchoServicer,
    authenticator: Authenticator,
    *,
    limits: InterceptorSettings | None = None,
    settings: ServerSettings | None = None,
) -> AsyncIterator[str]:
    """See `running_echo`; yields the address."""
    async with running_echo(servicer, authenticator, limits=limits, settings=settings) as running:
        yield running.address


WAYS: Final = ("socket", "in process")
"""How a service can be called."""


def channel_to(running: RunningServer, way: str) -> grpc.aio.Channel:
    """A channel to a server by one of the ways; a call is made once, so that a test sees its first status."""
    if way == "in process":
        return running.server.open_in_process_channel()
    options = [("grpc.enable_retries", 0), ("grpc.use_local_subchannel_pool", 1)]
    return grpc.aio.insecure_channel(running.address, options=options)


@contextlib.asynccontextmanager
async def echo_channel(
    way: str,
    servicer: EchoServicer,
    authenticator: Authenticator,
    *,
    limits: InterceptorSettings | None = None,
    settings: ServerSettings | None = None,
) -> AsyncIterator[grpc.aio.Channel]:
    """A channel to a server of its own, see `running_echo`."""
    async with (
        running_echo(servicer, authenticator, limits=limits, settings=settings) as running,
        channel_to(running, way) as channel,
    ):
        yield channel
