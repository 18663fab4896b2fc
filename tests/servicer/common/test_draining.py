"""What a server that stops says, and to whom."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import grpc
import pytest
from google.rpc.error_details_pb2 import ErrorInfo, RetryInfo
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_status import rpc_status
from structlog.testing import capture_logs

from services.common.auth import Authenticator
from services.common.errors import Reason, StoreUnavailable
from services.common.errors_grpc import from_rpc_error
from services.common.rpc.channel import CallMetadata
from services.common.rpc.interceptors.gate import CallGate, shutting_down
from services.common.rpc.server import ServerSettings
from tests.servicer.common.conftest import READER
from tests.support.echo import ECHO, EchoServicer, channel_to, running_echo

BRIEF = ServerSettings(grace_seconds=1.0)


def method(channel: grpc.aio.Channel, name: str = "Echo", *, kind: str = "unary_unary") -> Any:
    return getattr(channel, kind)(f"/{ECHO}/{name}")


async def failure(call: Any) -> grpc.aio.AioRpcError:
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await call
    return caught.value


def told(error: grpc.aio.AioRpcError) -> tuple[grpc.StatusCode, str, float]:
    """Status, reason, and when to try again."""
    status: Any = rpc_status.from_call(error)  # type: ignore[arg-type]
    info, retry = ErrorInfo(), RetryInfo()
    for detail in status.details:
        detail.Unpack(info)
        detail.Unpack(retry)
    return error.code(), info.reason, retry.retry_delay.ToTimedelta().total_seconds()


async def test_spec_8_2_a_call_that_outlasts_the_grace_is_told_that_the_server_stops(
    way: str, servicer: EchoServicer, authenticator: Authenticator, metadata: CallMetadata
) -> None:
    with capture_logs() as logs:
        async with (
            running_echo(servicer, authenticator, settings=BRIEF) as running,
            channel_to(running, way) as channel,
            asyncio.timeout(60),
        ):
            call = method(channel, "Hang")(b"", metadata=metadata(READER))
            await servicer.hanging.wait()
            await running.server.stop()
            error = await failure(call)
            await servicer.closed.wait()

    assert told(error) == (grpc.StatusCode.UNAVAILABLE, "SHUTTING_DOWN", 0.1)
    (line,) = (entry for entry in logs if entry["event"] == "call")
    assert line["code"] == "UNAVAILABLE"


async def forever() -> AsyncIterator[bytes]:
    yield b"x"
    await asyncio.Event().wait()


@pytest.mark.parametrize("kind", ["unary_stream", "stream_unary"])
async def test_spec_8_2_so_is_a_stream(
    servicer: EchoServicer, authenticator: Authenticator, metadata: CallMetadata, kind: str
) -> None:
    async with (
        running_echo(servicer, authenticator, settings=BRIEF) as running,
        channel_to(running, "socket") as channel,
        asyncio.timeout(60),
    ):
        if kind == "unary_stream":
            call = method(channel, "CountForever", kind=kind)(b"", metadata=metadata(READER))
            assert await call.read() == b"0"
            answer = last_of(call)
        else:
            answer = method(channel, "Join", kind=kind)(forever(), metadata=metadata(READER))
            await servicer.arrived.wait()
        stopping = asyncio.create_task(running.server.stop())
        error = await failure(answer)
        await stopping

    assert told(error)[:2] == (grpc.StatusCode.UNAVAILABLE, "SHUTTING_DOWN")


async def last_of(call: Any) -> Any:
    last = None
    while (message := await call.read()) is not grpc.aio.EOF:
        last = message
    return last


async def test_spec_8_2_a_server_behind_a_load_balancer_serves_while_it_says_that_it_is_not_healthy(
    servicer: EchoServicer, authenticator: Authenticator, metadata: CallMetadata
) -> None:
    settings = ServerSettings(drain_seconds=1.0, grace_seconds=1.0)
    async with (
        running_echo(servicer, authenticator, settings=settings) as running,
        channel_to(running, "socket") as channel,
        asyncio.timeout(60),
    ):
        stub: Any = health_pb2_grpc.HealthStub(channel)
        watch = stub.Watch(health_pb2.HealthCheckRequest(service=ECHO))
        assert (await watch.read()).status == health_pb2.HealthCheckResponse.SERVING
        stopping = asyncio.create_task(running.server.stop())
        assert (await watch.read()).status == health_pb2.HealthCheckResponse.NOT_SERVING
        watch.cancel()

        assert await method(channel)(b"new", metadata=metadata(READER)) == b"new"
        assert not stopping.done()
        await stopping
        assert (
            await failure(method(channel)(b"late", metadata=metadata(READER)))
        ).code() is grpc.StatusCode.UNAVAILABLE


async def echo(request: Any, _context: Any) -> Any:
    return request


async def test_a_call_that_had_come_in_but_not_begun_is_refused() -> None:
    gate = CallGate()
    call = gate.guarding(echo)
    context: Any = None
    assert await call(b"x", context) == b"x"
    gate.close()
    with pytest.raises(StoreUnavailable) as caught:
        await call(b"x", context)
    assert caught.value.reason is Reason.SHUTTING_DOWN


async def test_calls_under_way_may_end_by_themselves_behind_a_closed_gate() -> None:
    gate, proceed = CallGate(), asyncio.Event()

    async def slow(request: Any, _context: Any) -> Any:
        await proceed.wait()
        return request

    context: Any = None
    calls = [asyncio.create_task(_coroutine(gate, slow, n, context)) for n in range(3)]
    await asyncio.sleep(0)
    gate.close()
    ending = asyncio.create_task(gate.end_calls(after_seconds=10.0))
    calls[2].cancel()
    proceed.set()
    results = await asyncio.gather(*calls, return_exceptions=True)
    async with asyncio.timeout(60):
        await ending

    assert results[:2] == [0, 1]
    assert isinstance(results[2], asyncio.CancelledError), "its caller went away, which is not the server's doing"


async def _coroutine(gate: CallGate, call: Any, request: Any, context: Any) -> Any:
    return await gate.guarding(call)(request, context)


async def test_a_tier_that_stops_is_an_unavailable_tier_to_the_callers_of_the_gateway(
    servicer: EchoServicer, authenticator: Authenticator, metadata: CallMetadata
) -> None:
    async def stops() -> None:
        raise shutting_down()

    servicer.behaviour = stops
    async with running_echo(servicer, authenticator) as running, channel_to(running, "socket") as channel:
        error = from_rpc_error(await failure(method(channel)(b"", metadata=metadata(READER))), store="session")

    assert isinstance(error, StoreUnavailable)
    assert (error.reason, error.metadata) == (Reason.STORE_UNAVAILABLE, {"store": "session"})
    assert error.retry_after_seconds == pytest.approx(0.1)
