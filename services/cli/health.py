"""What serves at an address.

The probe of a container imports this every few seconds: it must not import mneme_client, which takes more processor
time than the call itself.
"""

from __future__ import annotations

import asyncio
from enum import Enum
from typing import Any, Protocol

import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc


class Encryption(Protocol):
    """Encryption of a connection, as `mneme_client.Tls` describes it."""

    @property
    def root_certificates(self) -> bytes | None:
        """Authorities that are trusted, as PEM; None: those of the system."""

    @property
    def private_key(self) -> bytes | None:
        """Key of the caller's certificate, as PEM."""

    @property
    def certificate_chain(self) -> bytes | None:
        """The caller's certificate, as PEM."""

    @property
    def server_name(self) -> str | None:
        """Name in the server's certificate, when it is not the target's."""


class Answer(Enum):
    """What was found at an address."""

    NOBODY = "nothing listens"
    SERVING = "a gRPC service is serving"
    NOT_SERVING = "a gRPC service is there, and not ready"
    STRANGER = "something other than gRPC listens"


async def ask(target: str, *, tls: Encryption | None = None, timeout_seconds: float = 1.0) -> Answer:
    """Checks the health of the service at a target, without a credential."""
    async with _channel(target, tls) as channel:
        stub: Any = health_pb2_grpc.HealthStub(channel)  # its stubs declare no methods
        try:
            response = await stub.Check(health_pb2.HealthCheckRequest(), timeout=timeout_seconds)
        except grpc.aio.AioRpcError as error:
            unreachable = error.code() in {grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED}
            if not unreachable:
                return Answer.NOT_SERVING
            return Answer.STRANGER if await _accepts_connections(target) else Answer.NOBODY
    if response.status == health_pb2.HealthCheckResponse.SERVING:
        return Answer.SERVING
    return Answer.NOT_SERVING


async def is_met(
    target: str, condition: str, *, tls: Encryption | None = None, timeout_seconds: float = 1.0
) -> bool | None:
    """Whether the service at a target reports a condition, such as `maintenance`, as met; None where it has none."""
    async with _channel(target, tls) as channel:
        stub: Any = health_pb2_grpc.HealthStub(channel)
        try:
            response = await stub.Check(health_pb2.HealthCheckRequest(service=condition), timeout=timeout_seconds)
        except grpc.aio.AioRpcError:
            return None
    return bool(response.status == health_pb2.HealthCheckResponse.SERVING)


def _channel(target: str, tls: Encryption | None) -> grpc.aio.Channel:
    options: list[tuple[str, str | int]] = [("grpc.enable_retries", 0)]
    if tls is None:
        return grpc.aio.insecure_channel(target, options=options)
    if tls.server_name:
        options.append(("grpc.ssl_target_name_override", tls.server_name))
    credentials = grpc.ssl_channel_credentials(
        root_certificates=tls.root_certificates,
        private_key=tls.private_key,
        certificate_chain=tls.certificate_chain,
    )
    return grpc.aio.secure_channel(target, credentials, options=options)


async def _accepts_connections(target: str) -> bool:
    host, _, port = target.rpartition(":")
    if not port.isdigit():
        return False
    try:
        async with asyncio.timeout(0.5):
            _, writer = await asyncio.open_connection(host.strip("[]"), int(port))
    except (OSError, TimeoutError):
        return False
    writer.close()
    return True
