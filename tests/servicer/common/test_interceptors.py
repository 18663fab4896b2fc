from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any

import grpc
import pytest
from google.rpc.error_details_pb2 import ErrorInfo
from google.rpc.status_pb2 import Status
from structlog.testing import capture_logs

from services.common.auth import Authenticator, Role, current_principal
from services.common.embedding.errors import EmbedderBusyError
from services.common.errors import (
    FieldViolation,
    InvalidArgument,
    LimitExceeded,
    MnemeError,
    NotFound,
    StoreUnavailable,
)
from services.common.errors_grpc import STATUS_DETAILS_KEY, from_rpc_error
from services.common.rpc.channel import CallMetadata
from services.common.rpc.deadline import seconds_left
from services.common.rpc.interceptors import InterceptorSettings, interceptors
from services.common.rpc.interceptors.request_id import current_request_id
from tests.servicer.common.conftest import READER, SECRET, WRITER
from tests.support.clock import SequentialIds
from tests.support.echo import ECHO, EchoServicer, echo_channel


def method(channel: grpc.aio.Channel, name: str = "Echo", *, kind: str = "unary_unary") -> Any:
    return getattr(channel, kind)(f"/{ECHO}/{name}")


async def requests(*parts: bytes) -> AsyncIterator[bytes]:
    for part in parts:
        yield part


async def failure(call: Any) -> grpc.aio.AioRpcError:
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await call
    return caught.value


def reason(error: grpc.aio.AioRpcError) -> str:
    found = dict(error.trailing_metadata() or ())[STATUS_DETAILS_KEY]
    assert isinstance(found, bytes)
    info = ErrorInfo()
    Status.FromString(found).details[0].Unpack(info)
    return str(info.reason)


def raising(error: BaseException) -> Callable[[], Any]:
    async def behaviour() -> None:
        raise error

    return behaviour


def test_the_order_of_interceptors() -> None:
    chain = interceptors(InterceptorSettings(), Authenticator(), {}, SequentialIds())

    assert [type(i).__name__ for i in chain] == [
        "RequestIdInterceptor",
        "LogInterceptor",
        "ErrorInterceptor",
        "DeadlineInterceptor",
        "AuthInterceptor",
        "AdmissionInterceptor",
    ]


async def test_a_call_passes_with_its_principal(
    channel: grpc.aio.Channel, servicer: EchoServicer, metadata: CallMetadata
) -> None:
    assert await method(channel)(b"hello", metadata=metadata(READER)) == b"hello"
    assert servicer.principals == [READER]


async def test_every_kind_of_stream_passes(socket_channel: grpc.aio.Channel, metadata: CallMetadata) -> None:
    parts = (b"a", b"b", b"c")
    counted = method(socket_channel, "Count", kind="unary_stream")(b"3", metadata=metadata(READER))
    joined = method(socket_channel, "Join", kind="stream_unary")(requests(*parts), metadata=metadata(READER))
    chatted = method(socket_channel, "Chat", kind="stream_stream")(requests(*parts), metadata=metadata(READER))

    assert [part async for part in counted] == [b"0", b"1", b"2"]
    assert await joined == b"abc"
    assert [part async for part in chatted] == [b"a", b"b", b"c"]


async def test_an_error_arrives_with_its_facts(
    channel: grpc.aio.Channel, servicer: EchoServicer, metadata: CallMetadata
) -> None:
    sent = InvalidArgument("not valid", violations=[FieldViolation("turns[1].content", "is required")])
    servicer.behaviour = raising(sent)

    error = from_rpc_error(await failure(method(channel)(b"", metadata=metadata(READER))), store="test")

    assert isinstance(error, InvalidArgument)
    assert error.violations == sent.violations


async def test_an_error_ends_every_kind_of_stream(
    socket_channel: grpc.aio.Channel, servicer: EchoServicer, metadata: CallMetadata
) -> None:
    servicer.behaviour = raising(NotFound("session", "s1"))
    counted = method(socket_channel, "Count", kind="unary_stream")(b"2", metadata=metadata(READER))
    received = [await counted.read(), await counted.read()]
    after = await failure(counted.read())

    joined = await failure(method(socket_channel, "Join", kind="stream_unary")(requests(), metadata=metadata(READER)))

    assert received == [b"0", b"1"]
    assert (after.code(), reason(after)) == (grpc.StatusCode.NOT_FOUND, "NOT_FOUND")
    assert (joined.code(), reason(joined)) == (grpc.StatusCode.NOT_FOUND, "NOT_FOUND")


@pytest.mark.parametrize("error", [KeyError("a secret"), MnemeError("a secret"), grpc.RpcError("a secret")])
async def test_an_unexpected_error_is_logged_once_and_hidden(
    channel: grpc.aio.Channel, servicer: EchoServicer, metadata: CallMetadata, error: Exception
) -> None:
    servicer.behaviour = raising(error)

    with capture_logs() as logs:
        answer = await failure(method(channel)(b"", metadata=metadata(READER)))

    assert (answer.code(), answer.details(), reason(answer)) == (
        grpc.StatusCode.INTERNAL,
        "internal error",
        "INTERNAL",
    )
    assert "a secret" not in str(answer.trailing_metadata())
    assert [entry["log_level"] for entry in logs if entry["event"] == "call_failed"] == ["error"]


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (TimeoutError(), grpc.StatusCode.DEADLINE_EXCEEDED),
        (EmbedderBusyError(), grpc.StatusCode.RESOURCE_EXHAUSTED),
        (StoreUnavailable("redis"), grpc.StatusCode.UNAVAILABLE),
    ],
)
async def test_what_other_errors_become(
    channel: grpc.aio.Channel,
    servicer: EchoServicer,
    metadata: CallMetadata,
    error: Exception,
    code: grpc.StatusCode,
) -> None:
    servicer.behaviour = raising(error)

    assert (await failure(method(channel)(b"", metadata=metadata(READER)))).code() is code


async def test_spec_8_1_the_log_names_reason_and_limit_of_a_refused_call_and_nothing_of_its_content(
    channel: grpc.aio.Channel, servicer: EchoServicer, metadata: CallMetadata
) -> None:
    for error in (LimitExceeded("tenant_calls", 8), InvalidArgument("a secret"), StoreUnavailable("redis")):
        servicer.behaviour = raising(error)
        with capture_logs() as logs:
            await failure(method(channel)(b"", metadata=metadata(READER)))
        (line,) = [entry for entry in logs if entry["event"] == "call"]
        assert line["tenant"] == READER.tenant_id
        assert line["reason"] == error.reason
        assert line.get("limit") == error.metadata.get("limit_name")
        assert "a secret" not in str(line)


async def test_spec_7_2_a_full_queue_of_the_embedder_is_named_and_says_when_to_try_again(
    channel: grpc.aio.Channel, servicer: EchoServicer, metadata: CallMetadata
) -> None:
    servicer.behaviour = raising(EmbedderBusyError("9 texts wait", limit=8))

    found = from_rpc_error(await failure(method(channel)(b"", metadata=metadata(READER))), store="tier")

    assert isinstance(found, LimitExceeded)
    assert found.metadata == {"limit_name": "embedding.embedder.waiting_texts_max", "limit": "8"}
    assert found.retry_after_seconds == 1.0


async def test_spec_8_2_a_call_without_a_deadline_gets_one(
    way: str, servicer: EchoServicer, authenticator: Authenticator, metadata: CallMetadata
) -> None:
    limits = InterceptorSettings(default_deadline_seconds=0.05)
    async with echo_channel(way, servicer, authenticator, limits=limits) as channel:
        error = await failure(method(channel, "Hang")(b"", metadata=metadata(READER)))

    assert (error.code(), reason(error)) == (grpc.StatusCode.DEADLINE_EXCEEDED, "DEADLINE_EXCEEDED")
    assert servicer.closed.is_set()


async def test_spec_8_2_a_method_can_have_a_default_of_its_own(
    way: str, servicer: EchoServicer, authenticator: Authenticator, metadata: CallMetadata
) -> None:
    limits = InterceptorSettings(
        default_deadline_seconds=0.05,
        max_deadline_seconds=0.05,
        method_deadline_seconds={f"/{ECHO}/Echo": 100.0},
    )
    left: list[float] = []
    servicer.behaviour = note(left, lambda: seconds_left(0.0))
    async with echo_channel(way, servicer, authenticator, limits=limits) as channel:
        await method(channel)(b"", metadata=metadata(READER))

    assert 90.0 < left[0] <= 100.0


@pytest.mark.parametrize(("asked", "low", "high"), [(5.0, 4.0, 5.0), (1_000.0, 59.0, 60.0), (None, 9.0, 10.0)])
async def test_spec_8_2_handlers_know_how_long_they_have(
    way: str,
    servicer: EchoServicer,
    authenticator: Authenticator,
    metadata: CallMetadata,
    asked: float | None,
    low: float,
    high: float,
) -> None:
    limits = InterceptorSettings(default_deadline_seconds=10.0, max_deadline_seconds=60.0)
    left: list[float] = []
    servicer.behaviour = note(left, lambda: seconds_left(0.0))
    async with echo_channel(way, servicer, authenticator, limits=limits) as channel:
        await method(channel)(b"", timeout=asked, metadata=metadata(READER))

    assert low < left[0] <= high + 0.01
    assert seconds_left(7.0) == 7.0  # outside of a call


async def test_spec_8_2_a_deadline_of_the_caller_ends_the_handler(
    channel: grpc.aio.Channel, servicer: EchoServicer, metadata: CallMetadata
) -> None:
    error = await failure(method(channel, "Hang")(b"", timeout=0.1, metadata=metadata(READER)))
    async with asyncio.timeout(60):
        await servicer.closed.wait()

    assert error.code() is grpc.StatusCode.DEADLINE_EXCEEDED


async def test_a_cancelled_call_is_cancelled_all_the_way(
    channel: grpc.aio.Channel, servicer: EchoServicer, metadata: CallMetadata
) -> None:
    with capture_logs() as logs:
        call = method(channel, "Hang")(b"", metadata=metadata(READER))
        async with asyncio.timeout(60):
            await servicer.hanging.wait()
            call.cancel()
            await servicer.closed.wait()
            await settled(lambda: any(entry["event"] == "call" for entry in logs))

    assert [(entry["code"], entry["log_level"]) for entry in logs] == [("CANCELLED", "debug")]


async def test_a_stream_that_nobody_reads_any_more_is_closed(
    socket_channel: grpc.aio.Channel, servicer: EchoServicer, metadata: CallMetadata
) -> None:
    call = method(socket_channel, "CountForever", kind="unary_stream")(b"", metadata=metadata(READER))
    assert await call.read() == b"0"
    call.cancel()

    async with asyncio.timeout(60):
        await servicer.closed.wait()


async def test_a_caller_without_an_id_is_told_the_one_it_got(
    channel: grpc.aio.Channel, servicer: EchoServicer, metadata: CallMetadata
) -> None:
    seen: list[str] = []
    servicer.behaviour = note(seen, current_request_id)
    call = method(channel)(b"", metadata=metadata(READER))
    await call
    told = dict(await call.trailing_metadata())["x-request-id"]
    servicer.behaviour = raising(NotFound("session", "s1"))
    told_with_error = dict((await failure(method(channel)(b"", metadata=metadata(READER)))).trailing_metadata() or ())

    assert seen == [told]
    assert told_with_error["x-request-id"] not in {"", told}


@pytest.mark.parametrize(("given", "accepted"), [("caller-1", True), ("x" * 129, False), ("two words", False)])
async def test_a_callers_id_is_kept_if_it_is_short_and_printable(
    channel: grpc.aio.Channel, servicer: EchoServicer, metadata: CallMetadata, given: str, accepted: bool
) -> None:
    seen: list[str] = []
    servicer.behaviour = note(seen, current_request_id)
    await method(channel)(b"", metadata=[*metadata(READER), ("x-request-id", given)])

    assert (seen == [given]) is accepted
    assert seen[0]


async def test_a_call_is_one_line_in_the_log_without_its_content(
    channel: grpc.aio.Channel, servicer: EchoServicer, metadata: CallMetadata
) -> None:
    with capture_logs() as logs:
        await method(channel)(b"what was said", metadata=metadata(READER))
        servicer.behaviour = raising(StoreUnavailable("redis"))
        await failure(method(channel)(b"what was said", metadata=metadata(READER)))
        await settled(lambda: len(logs) == 2)

    assert [(e["event"], e["method"], e["code"], e["tenant"], e["log_level"]) for e in logs] == [
        ("call", f"/{ECHO}/Echo", "OK", "acme", "debug"),
        ("call", f"/{ECHO}/Echo", "UNAVAILABLE", "acme", "warning"),
    ]
    assert "what was said" not in str(logs)


async def test_spec_7_1_without_a_credential_nothing_is_answered(channel: grpc.aio.Channel) -> None:
    error = await failure(method(channel)(b""))

    assert (error.code(), reason(error)) == (grpc.StatusCode.UNAUTHENTICATED, "CREDENTIAL_MISSING")


@pytest.mark.parametrize("kind", ["Count", "Chat"])
async def test_spec_7_1_streams_need_a_credential_too(socket_channel: grpc.aio.Channel, kind: str) -> None:
    calls: dict[str, Any] = {
        "Count": method(socket_channel, "Count", kind="unary_stream"),
        "Chat": method(socket_channel, "Chat", kind="stream_stream"),
    }
    call = calls[kind](b"3") if kind == "Count" else calls[kind]()

    assert (await failure(call.read())).code() is grpc.StatusCode.UNAUTHENTICATED


async def test_spec_7_1_a_role_is_needed(channel: grpc.aio.Channel, metadata: CallMetadata) -> None:
    error = await failure(method(channel, "Write")(b"", metadata=metadata(READER)))

    assert (error.code(), reason(error)) == (grpc.StatusCode.PERMISSION_DENIED, "ROLE_MISSING")
    assert from_rpc_error(error, store="test").metadata == {"required_role": "writer"}
    assert await method(channel, "Write")(b"x", metadata=metadata(WRITER)) == b"x"


async def test_spec_7_1_a_method_without_a_role_is_closed(channel: grpc.aio.Channel, metadata: CallMetadata) -> None:
    error = await failure(method(channel, "Undeclared")(b"", metadata=metadata(WRITER)))

    assert error.code() is grpc.StatusCode.PERMISSION_DENIED


async def test_an_unknown_method_is_unimplemented(channel: grpc.aio.Channel, metadata: CallMetadata) -> None:
    error = await failure(method(channel, "Nothing")(b"", metadata=metadata(WRITER)))

    assert error.code() is grpc.StatusCode.UNIMPLEMENTED


async def test_calls_do_not_see_each_others_principals(
    channel: grpc.aio.Channel, servicer: EchoServicer, metadata: CallMetadata
) -> None:
    both, seen = asyncio.Barrier(2), []

    async def behaviour() -> None:
        before = current_principal()
        await both.wait()
        seen.append((before, current_principal()))

    servicer.behaviour = behaviour
    async with asyncio.timeout(60):
        await asyncio.gather(*(method(channel)(b"", metadata=metadata(p)) for p in (READER, WRITER)))

    assert sorted(seen, key=lambda pair: pair[0].role) == [(READER, READER), (WRITER, WRITER)]
    assert SECRET.decode() not in str(seen)
    assert Role.READER < Role.WRITER < Role.ADMIN


def note(into: list[Any], what: Callable[[], Any]) -> Callable[[], Any]:
    async def behaviour() -> None:
        into.append(what())

    return behaviour


async def settled(condition: Callable[[], bool]) -> None:
    """Lets other tasks run until a condition holds; the answer of a call may arrive before its blocks have ended."""
    async with asyncio.timeout(60):
        while not condition():  # noqa: ASYNC110 - a log has no event to wait for
            await asyncio.sleep(0)
