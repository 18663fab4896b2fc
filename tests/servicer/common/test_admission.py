"""Callers who hold calls open, with a credential and without, beside those who do not."""

from __future__ import annotations

import asyncio
import gc
import socket
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc

from services.common.auth import Authenticator, Principal, Role
from services.common.errors import LimitExceeded
from services.common.errors_grpc import from_rpc_error
from services.common.rpc.channel import CallMetadata, open_channel
from services.common.rpc.interceptors import InterceptorSettings
from services.common.rpc.interceptors.admission import AdmissionSettings
from services.common.rpc.interceptors.open_streams import HOST_STREAMS_MAX
from services.common.rpc.server import ServerSettings
from tests.servicer.common.conftest import READER, WRITER
from tests.servicer.common.test_interceptors import failure, method
from tests.support.echo import EchoServicer, echo_server
from tests.support.stack import until

OTHER_TENANT = Principal("globex", "robot", Role.WRITER)
MANY = 1_000


def headers_alone(channel: grpc.aio.Channel, name: str = "Echo", metadata: Any = None) -> Any:
    """A call whose message never comes; the method may be a unary one."""
    return method(channel, name, kind="stream_unary")(metadata=metadata)


async def codes(calls: Sequence[Any]) -> Counter[grpc.StatusCode]:
    return Counter(await asyncio.gather(*(call.code() for call in calls)))


async def is_healthy(channel: grpc.aio.Channel) -> bool:
    stub: Any = health_pb2_grpc.HealthStub(channel)
    answer = await stub.Check(health_pb2.HealthCheckRequest(), timeout=5)
    return bool(answer.status == health_pb2.HealthCheckResponse.SERVING)


@pytest.fixture
async def address(servicer: EchoServicer, authenticator: Authenticator) -> AsyncIterator[str]:
    """Of a server with limits that tests reach."""
    settings = ServerSettings(grace_seconds=0.0, request_seconds=0.5, stream_idle_seconds=0.5, handshake_seconds=0.5)
    limits = InterceptorSettings(admission=AdmissionSettings(calls_max=100, tenant_calls_max=20, tenant_streams_max=8))
    async with echo_server(servicer, authenticator, settings=settings, limits=limits) as bound:
        yield bound


@pytest.fixture
async def hostile(address: str) -> AsyncIterator[grpc.aio.Channel]:
    async with open_channel(address) as opened:
        yield opened


@pytest.fixture
async def normal(address: str) -> AsyncIterator[grpc.aio.Channel]:
    async with open_channel(address) as opened:
        yield opened


async def test_issue_17_1_calls_without_a_credential_end_before_their_message(
    hostile: grpc.aio.Channel, normal: grpc.aio.Channel, metadata: CallMetadata
) -> None:
    async with asyncio.timeout(60):
        calls = [headers_alone(hostile) for _ in range(MANY)]
        assert await method(normal)(b"x", metadata=metadata(READER)) == b"x"
        assert await is_healthy(normal)
        assert await is_healthy(hostile)
        assert await codes(calls) == {grpc.StatusCode.UNAUTHENTICATED: MANY}


async def test_issue_17_1_calls_without_a_message_end_after_a_time(
    hostile: grpc.aio.Channel, normal: grpc.aio.Channel, metadata: CallMetadata
) -> None:
    async with asyncio.timeout(60):
        calls = [headers_alone(hostile, metadata=metadata(READER)) for _ in range(MANY)]
        assert await method(normal)(b"x", metadata=metadata(OTHER_TENANT)) == b"x"
        assert await is_healthy(normal)
        ended = await codes(calls)
        assert ended.keys() == {grpc.StatusCode.DEADLINE_EXCEEDED, grpc.StatusCode.RESOURCE_EXHAUSTED}
        assert await method(normal)(b"x", metadata=metadata(READER)) == b"x"


async def test_issue_17_2_idle_streams_of_one_key_leave_room_for_others(
    hostile: grpc.aio.Channel, normal: grpc.aio.Channel, metadata: CallMetadata
) -> None:
    async with asyncio.timeout(60):
        calls = [headers_alone(hostile, "Join", metadata=metadata(WRITER)) for _ in range(MANY)]
        assert await method(normal)(b"x", metadata=metadata(OTHER_TENANT)) == b"x"
        assert await method(normal)(b"x", metadata=metadata(READER)) == b"x"  # the same tenant, not a stream
        assert await is_healthy(normal)
        ended = await codes(calls)
        assert ended[grpc.StatusCode.DEADLINE_EXCEEDED] >= 8
        assert ended.keys() == {grpc.StatusCode.DEADLINE_EXCEEDED, grpc.StatusCode.RESOURCE_EXHAUSTED}


async def test_issue_17_2_a_stream_that_pauses_too_long_ends(
    normal: grpc.aio.Channel, metadata: CallMetadata, servicer: EchoServicer
) -> None:
    call = method(normal, "Join", kind="stream_unary")(metadata=metadata(WRITER))
    await call.write(b"one")
    async with asyncio.timeout(60):
        await servicer.arrived.wait()
        error = await failure(call)
    assert (error.code(), error.details()) == (grpc.StatusCode.DEADLINE_EXCEEDED, "no request came within 0.5 s")


@pytest.mark.parametrize(
    ("held", "limit", "principal"), [("Hang", "tenant_calls", WRITER), ("CountForever", "tenant_streams", WRITER)]
)
async def test_spec_7_2_a_tenant_has_a_share_of_the_calls(
    hostile: grpc.aio.Channel, normal: grpc.aio.Channel, metadata: CallMetadata, held: str, limit: str, principal: Any
) -> None:
    is_stream = held == "CountForever"
    start = method(hostile, held, kind="unary_stream" if is_stream else "unary_unary")
    calls = [start(b"", metadata=metadata(principal)) for _ in range((8 if is_stream else 20) + 1)]
    ends = {asyncio.ensure_future(call.code()): call for call in calls}
    async with asyncio.timeout(60):
        (refused,), held_calls = await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
    one_too_many = ends[refused]
    error = from_rpc_error(await failure(one_too_many.read() if is_stream else one_too_many), store="test")
    assert isinstance(error, LimitExceeded)
    assert (error.metadata["limit_name"], error.retry_after_seconds) == (limit, 1.0)
    assert len(held_calls) == len(calls) - 1
    assert await method(normal)(b"x", metadata=metadata(OTHER_TENANT)) == b"x"
    for call in calls:
        call.cancel()

    async def is_let_in() -> bool:
        return await method(normal)(b"x", metadata=metadata(principal)).code() is grpc.StatusCode.OK

    await until(is_let_in)


async def test_issue_17_2_watches_of_health_and_reflection_have_a_bound_and_leave_checks_alone(
    hostile: grpc.aio.Channel, normal: grpc.aio.Channel
) -> None:
    stub: Any = health_pb2_grpc.HealthStub(hostile)
    watches = [stub.Watch(health_pb2.HealthCheckRequest()) for _ in range(HOST_STREAMS_MAX)]
    async with asyncio.timeout(60):
        for watch in watches:
            assert (await watch.read()).status == health_pb2.HealthCheckResponse.SERVING
        refused = await failure(stub.Watch(health_pb2.HealthCheckRequest()).read())
        assert refused.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
        assert await is_healthy(normal)
        for watch in watches:
            watch.cancel()

        async def is_let_in() -> bool:
            again = stub.Watch(health_pb2.HealthCheckRequest())
            try:
                return bool((await again.read()).status == health_pb2.HealthCheckResponse.SERVING)
            except grpc.aio.AioRpcError:
                return False

        await until(is_let_in)


async def test_a_call_that_ends_without_its_request_is_the_callers_fault(
    normal: grpc.aio.Channel, metadata: CallMetadata
) -> None:
    call = headers_alone(normal, metadata=metadata(READER))
    await call.done_writing()
    assert (await failure(call)).code() is grpc.StatusCode.INVALID_ARGUMENT


def descriptors() -> int:
    return sum(1 for _ in Path("/proc/self/fd").iterdir())


async def silent_connections(address: str, count: int) -> list[socket.socket]:
    """Connections that say nothing, or begin to speak HTTP/2 and stop."""
    host, _, port = address.rpartition(":")
    loop = asyncio.get_running_loop()
    opened = []
    for number in range(count):
        connection = socket.socket()
        connection.setblocking(False)
        await loop.sock_connect(connection, (host, int(port)))
        if number % 2:
            await loop.sock_sendall(connection, b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
        if number % 3 == 0:
            connection.shutdown(socket.SHUT_WR)
        opened.append(connection)
    return opened


async def test_issue_17_hostile_connections_leave_nothing_behind(
    address: str, normal: grpc.aio.Channel, metadata: CallMetadata, servicer: EchoServicer
) -> None:
    assert await method(normal)(b"x", metadata=metadata(READER)) == b"x"
    descriptors_before, tasks_before = descriptors(), len(asyncio.all_tasks())
    silent = await silent_connections(address, 60)
    channels = [open_channel(address) for _ in range(20)]
    calls = [headers_alone(channel) for channel in channels]
    calls += [headers_alone(channel, "Join", metadata=metadata(WRITER)) for channel in channels]
    calls += [method(channel, "Hang")(b"", metadata=metadata(WRITER)) for channel in channels]
    assert await method(normal)(b"x", metadata=metadata(OTHER_TENANT)) == b"x"
    async with asyncio.timeout(60):
        await servicer.hanging.wait()
    for call in calls[::2]:
        call.cancel()
    for channel in channels:
        await channel.close()
    for connection in silent:
        connection.close()

    async def is_as_before() -> bool:
        assert await method(normal)(b"x", metadata=metadata(OTHER_TENANT)) == b"x"
        gc.collect()  # exceptions and their frames hold each other, and the channels of this test with them
        # A few descriptors and tasks are the library's own; each connection left over would be one more.
        return descriptors() <= descriptors_before + 8 and len(asyncio.all_tasks()) <= tasks_before + 4

    del calls, channels
    await until(is_as_before)


async def test_issue_17_1_a_connection_that_says_nothing_is_closed(address: str) -> None:
    loop = asyncio.get_running_loop()
    (connection,) = await silent_connections(address, 1)
    with connection:
        async with asyncio.timeout(60):
            while await loop.sock_recv(connection, 4_096):
                pass
