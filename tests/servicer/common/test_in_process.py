"""Calls within the process against calls through a socket: whatever a handler or caller does, they end alike."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from typing import Any

import grpc
import pytest

from services.common.auth import Authenticator, current_principal_or_none
from services.common.errors import LimitExceeded
from services.common.errors_grpc import from_rpc_error
from services.common.hosting import RunningServer
from services.common.rpc.channel import CallMetadata
from services.common.rpc.interceptors import InterceptorSettings
from services.common.rpc.interceptors.admission import AdmissionSettings
from services.common.rpc.interceptors.base import Context
from services.common.rpc.server import GrpcServer, ServerSettings
from tests.servicer.common.conftest import READER, WRITER
from tests.support.echo import ECHO, EchoServicer, binding, channel_to, echo_channel, running_echo

AT_ONCE = ServerSettings(grace_seconds=0.0)
PATIENT = ServerSettings(grace_seconds=5.0)

Act = Callable[[bytes, Context], Awaitable[Any]]


class ActingServicer(EchoServicer):
    """An echo that does what a test says, with the call's context."""

    def __init__(self, act: Act) -> None:
        super().__init__()
        self._act = act

    async def echo(self, request: bytes, context: Context) -> Any:
        return await self._act(request, context)


def echo(channel: grpc.aio.Channel, name: str = "Echo") -> Any:
    return channel.unary_unary(f"/{ECHO}/{name}")


async def failure(call: Any) -> grpc.aio.AioRpcError:
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await call
    return caught.value


async def abort(_request: bytes, context: Context) -> bytes:
    context.set_trailing_metadata((("x-before", "1"),))
    await context.abort(grpc.StatusCode.ABORTED, "try again", (("x-why", "race"), ("x-why-bin", b"\x00\xff")))


async def suppress_abort(_request: bytes, context: Context) -> bytes:
    try:
        await context.abort(grpc.StatusCode.ABORTED, "try again")
    except grpc.aio.AbortError:
        return b"never mind"


async def set_status(_request: bytes, context: Context) -> bytes:
    context.set_code(grpc.StatusCode.NOT_FOUND)
    context.set_details("not here")
    context.set_trailing_metadata((("x-where", "there"),))
    return b"dropped"


async def answer_with_metadata(request: bytes, context: Context) -> bytes:
    context.set_trailing_metadata((("x-where", "here"),))
    return request


@pytest.mark.parametrize(
    ("act", "code", "details", "trailing"),
    [
        (abort, grpc.StatusCode.ABORTED, "try again", {"x-why": "race", "x-why-bin": b"\x00\xff"}),
        (suppress_abort, grpc.StatusCode.ABORTED, "try again", {}),
        (set_status, grpc.StatusCode.NOT_FOUND, "not here", {"x-where": "there"}),
    ],
)
async def test_a_status_arrives_as_the_handler_left_it(
    way: str,
    act: Act,
    code: grpc.StatusCode,
    details: str,
    trailing: dict[str, str | bytes],
    authenticator: Authenticator,
    metadata: CallMetadata,
) -> None:
    async with echo_channel(way, ActingServicer(act), authenticator) as channel:
        call = echo(channel)(b"", metadata=[*metadata(READER), ("x-request-id", "r1")])
        error = await failure(call)

    assert (error.code(), error.details(), dict(error.trailing_metadata() or ())) == (code, details, trailing)
    assert (await call.code(), await call.details(), call.done()) == (code, details, True)


async def test_an_answer_comes_with_its_metadata(
    way: str, authenticator: Authenticator, metadata: CallMetadata
) -> None:
    async with echo_channel(way, ActingServicer(answer_with_metadata), authenticator) as channel:
        call = echo(channel)(b"x", metadata=[*metadata(READER), ("x-request-id", "r1")])

        assert await call == b"x"
        assert await call == b"x"  # as often as one likes
        assert dict(await call.trailing_metadata()) == {"x-where": "here"}
        assert (await call.code(), call.cancelled(), call.cancel()) == (grpc.StatusCode.OK, False, False)


async def test_a_handler_sees_metadata_and_time(way: str, authenticator: Authenticator, metadata: CallMetadata) -> None:
    seen: dict[str, Any] = {}

    async def look(request: bytes, context: Context) -> bytes:
        seen.update(dict(context.invocation_metadata() or ()))
        seen["remaining"] = context.time_remaining()
        seen["state"] = (context.code(), context.cancelled(), context.done())
        assert context.peer()
        return request

    async with echo_channel(way, ActingServicer(look), authenticator) as channel:
        await echo(channel)(b"", timeout=5.0, metadata=[*metadata(READER), ("x-text", "a"), ("x-raw-bin", b"\xff")])
        assert (seen["x-text"], seen["x-raw-bin"], seen["state"]) == ("a", b"\xff", (None, False, False))
        assert 4.0 < seen["remaining"] < 5.1  # gRPC rounds it up on its way
        await echo(channel)(b"", metadata=metadata(READER))
        assert seen["remaining"] is None


async def test_a_handler_sees_nothing_else_of_its_caller(
    way: str, authenticator: Authenticator, metadata: CallMetadata
) -> None:
    variable: ContextVar[str] = ContextVar("variable", default="unset")
    seen: list[str] = []

    async def look_and_set(request: bytes, _context: Context) -> bytes:
        seen.append(variable.get())
        variable.set("handler's")
        return request

    async with echo_channel(way, ActingServicer(look_and_set), authenticator) as channel:
        variable.set("caller's")
        for _ in range(2):
            await echo(channel)(b"", metadata=metadata(READER))

    assert (seen, variable.get()) == (["unset", "unset"], "caller's")
    assert current_principal_or_none() is None


@pytest.mark.parametrize("seconds", [0.05, 0.0, -1.0])
async def test_spec_8_2_time_that_ran_out_ends_a_call(
    way: str, seconds: float, servicer: EchoServicer, authenticator: Authenticator, metadata: CallMetadata
) -> None:
    async with echo_channel(way, servicer, authenticator) as channel, asyncio.timeout(60):
        error = await failure(echo(channel, "Hang")(b"", timeout=seconds, metadata=metadata(READER)))
        if servicer.hanging.is_set():
            await servicer.closed.wait()

    assert error.code() is grpc.StatusCode.DEADLINE_EXCEEDED


async def test_a_caller_that_is_cancelled_cancels_the_handler(
    way: str, servicer: EchoServicer, authenticator: Authenticator, metadata: CallMetadata
) -> None:
    async with echo_channel(way, servicer, authenticator) as channel, asyncio.timeout(60):
        call = echo(channel, "Hang")(b"", metadata=metadata(READER))

        async def wait() -> bytes:
            return bytes(await call)

        waiting = asyncio.create_task(wait())
        await servicer.hanging.wait()
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        await servicer.closed.wait()

        assert (call.cancelled(), call.done(), await call.code()) == (True, True, grpc.StatusCode.CANCELLED)


async def test_a_handler_may_clean_up_for_longer_than_its_caller_waits(
    way: str, authenticator: Authenticator, metadata: CallMetadata
) -> None:
    proceed, cleaned_up = asyncio.Event(), asyncio.Event()

    async def hang(_request: bytes, _context: Context) -> bytes:
        try:
            return bytes(await asyncio.Event().wait())
        finally:
            await proceed.wait()
            cleaned_up.set()

    async with echo_channel(way, ActingServicer(hang), authenticator) as channel, asyncio.timeout(60):
        error = await failure(echo(channel)(b"", timeout=0.05, metadata=metadata(READER)))
        assert not cleaned_up.is_set()
        proceed.set()
        await cleaned_up.wait()

    assert error.code() is grpc.StatusCode.DEADLINE_EXCEEDED


async def test_spec_7_2_an_answer_over_the_limit_is_refused(
    way: str, authenticator: Authenticator, metadata: CallMetadata
) -> None:
    async def answer(request: bytes, _context: Context) -> bytes:
        return b"x" * int(request)

    settings = ServerSettings(message_bytes_max=1_000, grace_seconds=0.0)
    async with echo_channel(way, ActingServicer(answer), authenticator, settings=settings) as channel:
        assert len(await echo(channel)(b"1000", metadata=metadata(READER))) == 1_000
        error = await failure(echo(channel)(b"1001", metadata=metadata(READER)))

    assert error.code() is grpc.StatusCode.RESOURCE_EXHAUSTED


async def test_spec_7_2_calls_beyond_the_limit_are_refused(
    way: str, servicer: EchoServicer, authenticator: Authenticator, metadata: CallMetadata
) -> None:
    limits = InterceptorSettings(admission=AdmissionSettings(calls_max=1))
    async with echo_channel(way, servicer, authenticator, limits=limits) as channel, asyncio.timeout(60):
        hanging = echo(channel, "Hang")(b"", metadata=metadata(READER))
        await servicer.hanging.wait()
        error = await failure(echo(channel)(b"", metadata=metadata(READER)))
        hanging.cancel()
        await servicer.closed.wait()
        assert await until_let_in(echo(channel), metadata) == b"again"

    found = from_rpc_error(error, store="test")
    assert isinstance(found, LimitExceeded)
    assert (found.metadata, found.retry_after_seconds) == ({"limit_name": "calls", "limit": "1"}, 1.0)


async def until_let_in(method: Any, metadata: CallMetadata) -> Any:
    """A server may count a call for a moment after it has ended."""
    while True:
        call = method(b"again", metadata=metadata(READER))
        if await call.code() is grpc.StatusCode.OK:
            return await call
        await failure(call)


async def test_an_error_outside_of_the_blocks_is_unknown(way: str) -> None:
    async def fail(_request: bytes, _context: Context) -> bytes:
        raise KeyError("hidden")

    server = GrpcServer(AT_ONCE, [binding(ActingServicer(fail))], [])
    address = await server.start()
    try:
        async with channel_to(RunningServer(address, server), way) as channel:
            error = await failure(echo(channel)(b""))
    finally:
        await server.stop()

    assert error.code() is grpc.StatusCode.UNKNOWN


async def test_spec_8_2_a_draining_server_finishes_its_calls(
    way: str, servicer: EchoServicer, authenticator: Authenticator, metadata: CallMetadata
) -> None:
    arrived, proceed = asyncio.Event(), asyncio.Event()

    async def behaviour() -> None:
        arrived.set()
        await proceed.wait()

    servicer.behaviour = behaviour
    async with (
        running_echo(servicer, authenticator, settings=PATIENT) as running,
        channel_to(running, way) as channel,
        asyncio.timeout(60),
    ):
        call = echo(channel)(b"under way", metadata=metadata(READER))
        await arrived.wait()
        stopping = asyncio.create_task(running.server.stop())
        refused = await failure(until_refused(echo(channel), metadata, proceed))

        assert await call == b"under way"
        await stopping
    # Through a socket a call may also be on its way while the server closes: gRPC cancels it.
    refusals = {grpc.StatusCode.UNAVAILABLE} | ({grpc.StatusCode.CANCELLED} if way == "socket" else set())
    assert refused.code() in refusals


async def until_refused(method: Any, metadata: CallMetadata, proceed: asyncio.Event) -> None:
    """Calls until the server has begun to stop; lets those that it took be finished at the end."""
    try:
        while True:
            call = method(b"", metadata=metadata(READER))
            try:
                async with asyncio.timeout(0.05):
                    await call
            except TimeoutError:
                continue  # taken: the server had not begun to stop
    finally:
        proceed.set()


async def test_spec_8_2_a_stopping_server_cancels_what_outlasts_its_grace(
    way: str, servicer: EchoServicer, authenticator: Authenticator, metadata: CallMetadata
) -> None:
    async with (
        running_echo(servicer, authenticator, settings=AT_ONCE) as running,
        channel_to(running, way) as channel,
        asyncio.timeout(60),
    ):
        call = echo(channel, "Hang")(b"", metadata=metadata(READER))
        await servicer.hanging.wait()
        await running.server.stop()
        error = await failure(call)
        await servicer.closed.wait()
        after = await failure(echo(channel)(b"", metadata=metadata(READER)))

    assert error.code() in {grpc.StatusCode.CANCELLED, grpc.StatusCode.UNAVAILABLE}
    assert after.code() is grpc.StatusCode.UNAVAILABLE


async def test_a_server_that_was_not_started_is_unavailable(servicer: EchoServicer, metadata: CallMetadata) -> None:
    server = GrpcServer(AT_ONCE, [binding(servicer)], [])

    error = await failure(echo(server.open_in_process_channel())(b"", metadata=metadata(READER)))

    assert error.code() is grpc.StatusCode.UNAVAILABLE
    await server.stop()


async def test_a_closed_channel_cancels_its_calls_and_takes_no_more(
    way: str, servicer: EchoServicer, authenticator: Authenticator, metadata: CallMetadata
) -> None:
    async with running_echo(servicer, authenticator) as running, asyncio.timeout(60):
        channel = channel_to(running, way)
        call = echo(channel, "Hang")(b"", metadata=metadata(READER))
        await servicer.hanging.wait()
        await channel.close()
        await servicer.closed.wait()

        assert call.cancelled()
        with pytest.raises(grpc.aio.UsageError):
            await echo(channel)(b"", metadata=metadata(READER))


async def test_a_channel_that_closes_with_grace_finishes_its_calls(
    way: str, servicer: EchoServicer, authenticator: Authenticator, metadata: CallMetadata
) -> None:
    arrived, proceed = asyncio.Event(), asyncio.Event()

    async def behaviour() -> None:
        arrived.set()
        await proceed.wait()

    servicer.behaviour = behaviour
    async with running_echo(servicer, authenticator) as running, asyncio.timeout(60):
        channel = channel_to(running, way)
        call = echo(channel)(b"under way", metadata=metadata(READER))
        await arrived.wait()
        closing = asyncio.create_task(channel.close(5.0))
        proceed.set()

        assert await call == b"under way"
        await closing


async def test_streams_need_a_socket(
    servicer: EchoServicer, authenticator: Authenticator, metadata: CallMetadata
) -> None:
    async with echo_channel("in process", servicer, authenticator) as channel:
        for kind, name in (("unary_stream", "Count"), ("stream_unary", "Join"), ("stream_stream", "Chat")):
            method = getattr(channel, kind)(f"/{ECHO}/{name}")
            with pytest.raises(NotImplementedError, match=name):
                method(b"1", metadata=metadata(WRITER))
        error = await failure(echo(channel, "Count")(b"1", metadata=metadata(WRITER)))

    assert error.code() is grpc.StatusCode.UNIMPLEMENTED
