"""Serves the application on a port of the gateway's process."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import ssl
from collections.abc import AsyncIterator, Sequence
from typing import Any, Final, cast

import structlog
import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

from services.common.addresses import is_loopback
from services.common.credentials import InsecureListenError
from services.common.rpc.certificates import Certificates, TlsFiles
from services.common.rpc.server import GrpcServer, ServiceBinding
from services.gateway.http.application import application
from services.gateway.http.settings import HttpSettings

_log = structlog.get_logger(__name__)

_BACKLOG = 512
_CERTIFICATE_SECONDS: Final = 1.0  # between two looks at the files of certificates
_JOINED_BYTES_MAX: Final = 64 * 1024


@contextlib.asynccontextmanager
async def http_server(
    address: str,
    services: Sequence[ServiceBinding],
    server: GrpcServer,
    settings: HttpSettings,
    *,
    tls: TlsFiles | None = None,
    grace_seconds: float = 10.0,
) -> AsyncIterator[str]:
    """Serves for the length of the block and while the gRPC server drains, then lets calls under way finish.

    Certificates that are replaced are used from the next connection on.

    Args:
        address: host:port; port 0 for any.
        services: What the gateway serves.
        server: The gateway's gRPC server.
        settings: Limits and origins.
        tls: Certificates, as the gRPC server has them.
        grace_seconds: For calls under way at the end.

    Yields:
        The address under which it can be called, with the port that it got.

    Raises:
        OSError: The address is taken or cannot be bound.
        InsecureListenError: Calls need no credential, and others than this machine could make them.
    """
    if server.authenticator is None:
        raise InsecureListenError("HTTP is served beside a server that asks for credentials")
    if server.authenticator.development_principal is not None and not is_loopback(address):
        raise InsecureListenError(f"without API keys HTTP is served on loopback only, not on {address}")
    bound = _bind(address)
    try:
        app = application(services, server, server.authenticator, settings)
        http = _Server(_config(app, settings, tls, grace_seconds))
        serving = asyncio.create_task(http.serve(sockets=[bound]), name="http")
        try:
            await http.listening(serving)
            host, port = address.rpartition(":")[0], bound.getsockname()[1]
            _log.info("serving_http", address=f"{host}:{port}")
            async with _followed(tls, http.config.ssl):
                yield f"{host}:{port}"
                await server.drain()
        finally:
            http.should_exit = True
            await serving
    finally:
        bound.close()


@contextlib.asynccontextmanager
async def _followed(tls: TlsFiles | None, context: ssl.SSLContext | None) -> AsyncIterator[None]:
    """Loads certificates into the context of a server whenever their files have changed."""
    if tls is None or context is None:
        yield
        return
    certificates = Certificates(tls)

    async def follow() -> None:
        is_due = False
        while True:
            await asyncio.sleep(_CERTIFICATE_SECONDS)
            is_due = certificates.refresh() or is_due
            if not is_due:
                continue
            try:
                certificates.load_into(context)
                is_due = False
            except OSError as error:  # a full disk, or TLS that refuses them: tried again
                _log.warning("certificate_not_reloaded", file=str(tls.certificate), error=str(error))

    task = asyncio.create_task(follow(), name="http-certificates")
    try:
        yield
    finally:
        task.cancel()


def _bind(address: str) -> socket.socket:
    host, _, port = address.rpartition(":")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    bound = socket.socket(family, socket.SOCK_STREAM)
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind((host.strip("[]"), int(port)))
    except (OSError, ValueError) as error:
        bound.close()
        raise OSError(f"cannot listen on {address}: {error}") from error
    return bound


def _config(app: ASGIApp, settings: HttpSettings, tls: TlsFiles | None, grace_seconds: float) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        http=_protocol(settings.request_seconds),
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,  # calls are logged by the handlers' interceptors
        server_header=False,
        date_header=False,
        backlog=_BACKLOG,
        limit_concurrency=settings.connections_max,
        timeout_keep_alive=max(1, round(settings.idle_seconds)),
        timeout_graceful_shutdown=max(1, round(grace_seconds)),
        ssl_certfile=tls.certificate if tls else None,
        ssl_keyfile=str(tls.key) if tls else None,
        ssl_ca_certs=str(tls.authority) if tls and tls.authority else None,
        ssl_cert_reqs=ssl.CERT_REQUIRED if tls and tls.authority else ssl.CERT_NONE,
    )


class _Server(uvicorn.Server):
    """Leaves signals to the process, which stops all its servers."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self._listening = asyncio.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._listening.set()

    async def listening(self, serving: asyncio.Task[None]) -> None:
        """Returns when it listens; raises what `serving` failed with before that."""
        waiting = asyncio.create_task(self._listening.wait())
        await asyncio.wait({waiting, serving}, return_when=asyncio.FIRST_COMPLETED)
        waiting.cancel()
        if serving.done():
            serving.result()

    @contextlib.contextmanager
    def capture_signals(self) -> Any:
        yield


class _JoinedWrites:
    """A transport that sends together what is written in one step of the event loop.

    The head and the body of a response so come in one packet: a client whose deadline is near has all of it or nothing.
    """

    def __init__(self, inner: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        self._inner = inner
        self._loop = loop
        self._waiting = bytearray()

    def write(self, data: bytes) -> None:
        if not self._waiting:
            self._loop.call_soon(self._send)
        self._waiting += data
        if len(self._waiting) > _JOINED_BYTES_MAX:
            self._send()

    def close(self) -> None:
        self._send()
        self._inner.close()

    def _send(self) -> None:
        if self._waiting:
            self._inner.write(bytes(self._waiting))
            self._waiting.clear()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)


def _protocol(head_seconds: float) -> type[H11Protocol]:
    """HTTP/1.1 that closes a connection whose first request, or the rest of its head, does not come in time."""

    class InTime(H11Protocol):
        _closing: asyncio.TimerHandle | None = None

        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override] # as its base does
            super().connection_made(cast("asyncio.Transport", _JoinedWrites(transport, self.loop)))
            self._await_head()

        def data_received(self, data: bytes) -> None:
            if self._closing is None and not self._is_serving():
                self._await_head()
            super().data_received(data)

        def handle_events(self) -> None:
            super().handle_events()
            if self._is_serving():
                self._stop_waiting()

        def connection_lost(self, exc: Exception | None) -> None:
            self._stop_waiting()
            super().connection_lost(exc)

        def _is_serving(self) -> bool:
            cycle: Any = self.cycle  # None until the first request
            return cycle is not None and not cycle.response_complete

        def _await_head(self) -> None:
            self._closing = self.loop.call_later(head_seconds, self.transport.close)

        def _stop_waiting(self) -> None:
            if self._closing is not None:
                self._closing.cancel()
                self._closing = None

    return InTime
