"""What serves at an address."""

from __future__ import annotations

import asyncio
from enum import Enum
from typing import Any

import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc

from mneme_client import Tls
from mneme_client.channel import Connection


class Answer(Enum):
    """What was found at an address."""

    NOBODY = "nothing listens"
    SERVING = "a gRPC service is serving"
    NOT_SERVING = "a gRPC service is there, and not ready"
    STRANGER = "something other than gRPC listens"


async def ask(target: str, *, tls: Tls | None = None, timeout_seconds: float = 1.0) -> Answer:
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


async def is_met(target: str, condition: str, *, tls: Tls | None = None, timeout_seconds: float = 1.0) -> bool | None:
    """Whether the service at a target reports a condition, such as `maintenance`, as met; None where it has none."""
    async with _channel(target, tls) as channel:
        stub: Any = health_pb2_grpc.HealthStub(channel)
        try:
            response = await stub.Check(health_pb2.HealthCheckRequest(service=condition), timeout=timeout_seconds)
        except grpc.aio.AioRpcError:
            return None
    return bool(response.status == health_pb2.HealthCheckResponse.SERVING)


def _channel(target: str, tls: Tls | None) -> grpc.aio.Channel:
    connection = Connection(target, None, tls)
    credentials, options = connection.credentials(), connection.options()
    if credentials is None:
        return grpc.aio.insecure_channel(target, options=options)
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
