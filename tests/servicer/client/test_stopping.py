"""Clients of a server that stops."""

from __future__ import annotations

import asyncio

import grpc
import pytest

from mneme.gateway.v1 import memory_pb2_grpc
from mneme_client import Client, MnemeClientError, SyncClient
from tests.servicer.client.conftest import QUICK, Running
from tests.servicer.client.fake_gateway import FakeGateway, status


async def test_a_call_that_a_closing_server_cancels_is_repeated(client: Client, gateway: FakeGateway) -> None:
    gateway.failures = [status(grpc.StatusCode.CANCELLED, "", "")]
    await client.remember("u", "c", "once")

    assert len({r.request_id for r in gateway.requests}) == 1
    assert len(gateway.requests) == 2
    assert len(gateway.log[("u", "c")]) == 1


async def test_calls_under_way_to_a_replica_that_stops_are_answered_by_another_one(running: Running) -> None:
    other = FakeGateway()
    server = grpc.aio.server()
    memory_pb2_grpc.add_MemoryServiceServicer_to_server(other, server)
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    target = f"ipv4:{running.target},127.0.0.1:{port}"
    async with Client(target, retry=QUICK) as client, asyncio.timeout(60):
        await asyncio.gather(*[client.recall("u", str(n)) for n in range(20)])
        calls = [asyncio.create_task(client.recall("u", str(n))) for n in range(20, 120)]
        for _ in range(5):
            await asyncio.sleep(0)  # they are on their way: gRPC cancels half of them when the server closes
        await running.server.stop(5.0)
        answers = await asyncio.gather(*calls)
    await server.stop(None)

    assert len(answers) == 100
    assert len(other.requests) > 0


async def test_a_call_that_its_own_client_cancels_is_not_repeated(running: Running, gateway: FakeGateway) -> None:
    gateway.gate = asyncio.Event()
    client = SyncClient(running.target, retry=QUICK)
    call = asyncio.create_task(asyncio.to_thread(client.recall, "u", "q"))
    async with asyncio.timeout(60):
        await gateway.entered.wait()
        await asyncio.to_thread(client.close)
        with pytest.raises(MnemeClientError) as caught:
            await call

    assert caught.value.code is grpc.StatusCode.CANCELLED
    assert len(gateway.requests) == 1


async def test_spec_9_2_calls_of_a_client_that_is_closed_fail_with_an_error(
    running: Running, gateway: FakeGateway
) -> None:
    gateway.gate = asyncio.Event()
    client = Client(running.target, retry=QUICK)
    call = asyncio.create_task(client.recall("u", "q"))
    async with asyncio.timeout(60):
        await gateway.entered.wait()
        await client.close()
        with pytest.raises(MnemeClientError, match="the client is closed") as caught:
            await call
        assert (caught.value.code, caught.value.method) == (
            grpc.StatusCode.CANCELLED,
            "mneme.gateway.v1.MemoryService/Recall",
        )
        with pytest.raises(MnemeClientError, match="the client is closed"):
            await client.recall("u", "q")
    await client.close()
    assert len(gateway.requests) == 1


def test_spec_9_2_calls_of_a_blocking_client_that_is_closed_fail_with_an_error() -> None:
    client = SyncClient("127.0.0.1:1", retry=QUICK)
    client.close()
    for call in (lambda: client.recall("u", "q"), lambda: list(client.recall_stream("u", "q"))):
        with pytest.raises(MnemeClientError, match="the client is closed"):
            call()
