"""The tier on a real Redis that is stopped and started."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import grpc
import pytest

from mneme.session.v1 import session_pb2 as pb
from mneme.session.v1 import session_pb2_grpc
from services.session.config import FallbackSettings, RedisSettings, SessionSettings
from tests.servicer.session.conftest import WRITER, said, served_from
from tests.support.redis import RedisServer, require_redis_server

SETTINGS = SessionSettings(
    redis=RedisSettings(call_timeout_seconds=2.0),  # a busy machine is no outage
    fallback=FallbackSettings(probe_seconds_min=0.02, probe_seconds_max=0.05),
)


@pytest.fixture
def server(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[RedisServer]:
    require_redis_server(request)
    server = RedisServer(tmp_path)
    yield server
    server.stop()


async def say(stub: session_pb2_grpc.SessionServiceStub, *interaction_ids: str) -> pb.AppendTurnsResponse:
    request = pb.AppendTurnsRequest(
        user_id="ada",
        conversation_id="s1",
        turns=[said(interaction_id) for interaction_id in interaction_ids],
        create_if_missing=True,
    )
    response: pb.AppendTurnsResponse = await stub.AppendTurns(request, metadata=WRITER)
    return response


async def recovered(stub: session_pb2_grpc.SessionServiceStub) -> pb.Session:
    """Reads until the response is not degraded any more."""
    async with asyncio.timeout(60):
        while True:
            request = pb.GetSessionRequest(user_id="ada", conversation_id="s1")
            response: pb.GetSessionResponse = await stub.GetSession(request, metadata=WRITER)
            if not response.degraded:
                return response.session


def ids(session: pb.Session) -> list[str]:
    return [turn.interaction_id for turn in session.turns]


async def test_spec_1_6_redis_may_stop_and_come_back_empty(server: RedisServer) -> None:
    server.start()
    async with served_from(server.url, SETTINGS) as stub:
        assert not (await say(stub, "a", "b")).degraded
        server.stop()
        during = await say(stub, "c")
        assert during.degraded
        assert during.session.turn_count == 3
        assert (await say(stub, "d", "c")).appended_count == 1
        server.start()
        assert ids(await recovered(stub)) == ["a", "b", "c", "d"]
        after = await say(stub, "e", "d")
        assert not after.degraded
        window = await recovered(stub)
        assert ids(window) == ["a", "b", "c", "d", "e"]
        assert [turn.position for turn in window.turns] == [0, 1, 2, 3, 4]
    # Another replica finds all of it in Redis.
    async with served_from(server.url, SETTINGS) as stub:
        assert ids(await recovered(stub)) == ["a", "b", "c", "d", "e"]


async def test_spec_1_6_redis_need_not_be_there_at_first(server: RedisServer) -> None:
    async with served_from(server.url, SETTINGS) as stub:
        assert (await say(stub, "a")).degraded
        server.start()
        assert ids(await recovered(stub)) == ["a"]


async def test_spec_1_6_a_redis_that_hangs_is_an_outage(server: RedisServer) -> None:
    server.start()
    settings = replace(SETTINGS, redis=RedisSettings(call_timeout_seconds=0.2))
    async with served_from(server.url, settings) as stub:
        await say(stub, "a")
        server.pause()
        assert (await say(stub, "b")).degraded
        server.resume()
        # The write that timed out may have been done by the time that Redis goes on.
        session = await recovered(stub)
        assert (ids(session), session.turn_count) == (["a", "b"], 2)


async def test_spec_1_4_replicas_append_to_one_session_at_once(server: RedisServer) -> None:
    server.start()

    async def write(stub: session_pb2_grpc.SessionServiceStub, name: str) -> None:
        for number in range(200):
            assert not (await say(stub, f"{name}{number}")).degraded

    async with served_from(server.url, SETTINGS) as one, served_from(server.url, SETTINGS) as other:
        await asyncio.gather(write(one, "a"), write(other, "b"))
        session = await recovered(one)
    assert session.turn_count == 400
    assert [turn.position for turn in session.turns] == list(range(390, 400))
    assert ids(session)[-1] in {"a199", "b199"}


async def test_a_url_of_another_kind_is_refused() -> None:
    with pytest.raises(ValueError, match="schemes redis, rediss"):
        async with served_from("http://127.0.0.1:6379", SETTINGS):
            raise AssertionError


async def test_an_empty_url_needs_no_redis() -> None:
    async with served_from("", SETTINGS) as stub:
        assert not (await say(stub, "a")).degraded
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await stub.GetSession(pb.GetSessionRequest(user_id="ada", conversation_id="s2"), metadata=WRITER)
        assert caught.value.code() == grpc.StatusCode.NOT_FOUND
