"""A running fake gateway for each test, and clients of it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass

import grpc
import pytest
from grpc_health.v1 import health, health_pb2, health_pb2_grpc

from mneme.gateway.v1 import conversations_pb2_grpc, deliveries_pb2_grpc, grants_pb2_grpc, memory_pb2_grpc
from mneme.session.v1 import session_pb2_grpc
from mneme_client import Client, RetryPolicy
from tests.servicer.client.fake_gateway import FakeGateway

QUICK = RetryPolicy(initial_backoff_seconds=0.001, backoff_seconds_max=0.002)


@dataclass(frozen=True)
class Running:
    """The gateway and where it serves."""

    gateway: FakeGateway
    target: str
    server: grpc.aio.Server


@pytest.fixture
async def running() -> AsyncIterator[Running]:
    gateway = FakeGateway()
    server = grpc.aio.server()
    memory_pb2_grpc.add_MemoryServiceServicer_to_server(gateway, server)
    conversations_pb2_grpc.add_ConversationServiceServicer_to_server(gateway, server)
    session_pb2_grpc.add_SessionServiceServicer_to_server(gateway, server)
    deliveries_pb2_grpc.add_DeliveryServiceServicer_to_server(gateway, server)
    grants_pb2_grpc.add_GrantServiceServicer_to_server(gateway, server)
    gateway.add_profiles(server)
    health_servicer = health.aio.HealthServicer()
    health_pb2_grpc.add_HealthServicer_to_server(health_servicer, server)
    await health_servicer.set("", health_pb2.HealthCheckResponse.SERVING)
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    try:
        yield Running(gateway, f"127.0.0.1:{port}", server)
    finally:
        await server.stop(grace=None)


@pytest.fixture
def gateway(running: Running) -> FakeGateway:
    return running.gateway


@pytest.fixture
async def client(running: Running) -> AsyncIterator[Client]:
    async with Client(running.target, api_key="secret", retry=QUICK) as made:
        yield made
