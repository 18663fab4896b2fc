"""A small service without a proto, to look at interceptors through a real server."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import Any

import grpc

from services.common.auth import Authenticator, Principal, Role, current_principal
from services.common.rpc.interceptors import InterceptorSettings, interceptors
from services.common.rpc.server import GrpcServer, ServerSettings, ServiceBinding, method_roles
from tests.support.clock import SequentialIds

ECHO = "mneme.test.EchoService"

ROLES = {
    "Echo": Role.READER,
    "Write": Role.WRITER,
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
        parts = [part async for part in requests]
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
async def echo_server(
    servicer: EchoServicer,
    authenticator: Authenticator,
    *,
    limits: InterceptorSettings | None = None,
    settings: ServerSettings | None = None,
) -> AsyncIterator[str]:
    """Serves on a free port with all interceptors and yields the address."""
    bindings: Sequence[ServiceBinding] = [binding(servicer)]
    chain = interceptors(
        limits or InterceptorSettings(), authenticator, method_roles(bindings), SequentialIds("request-")
    )
    server = GrpcServer(settings or ServerSettings(grace_seconds=0.0), bindings, chain)
    address = await server.start()
    try:
        yield address
    finally:
        await server.stop()
