"""The tier on real Redis servers that fail over, lose a Sentinel, move slots, and forget everything."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from pathlib import Path

import grpc
import pytest
from redis.crc import key_slot

from mneme.session.v1 import session_pb2 as pb
from mneme.session.v1 import session_pb2_grpc
from services.session.config import FallbackSettings, RedisSettings, SessionSettings
from tests.servicer.session.conftest import WRITER, said, served_from
from tests.support.redis import RedisServer, require_redis_server
from tests.support.redis_group import RedisClusterGroup, SentinelGroup, running

SETTINGS = SessionSettings(
    redis=RedisSettings(call_timeout_seconds=1.0, sentinel_timeout_seconds=0.4),  # a busy machine is no outage
    fallback=FallbackSettings(probe_seconds_min=0.02, probe_seconds_max=0.1),
)
WRITERS = 4

SECONDS_MAX = 90.0
"""Time for a failover: a Sentinel whose clock stood still for two seconds, on a busy machine, watches only for 30."""


BEHIND_SENTINELS = pytest.mark.ci("Sentinels take seconds to find one another", needs="redis")


@pytest.fixture(autouse=True)
def redis_is_there(request: pytest.FixtureRequest) -> None:
    require_redis_server(request)


@pytest.fixture
def group(tmp_path: Path) -> Iterator[SentinelGroup]:
    group = SentinelGroup(tmp_path)
    with running(group):
        yield group


async def say(
    stub: session_pb2_grpc.SessionServiceStub, conversation_id: str, interaction_id: str
) -> pb.AppendTurnsResponse:
    request = pb.AppendTurnsRequest(
        user_id="ada", conversation_id=conversation_id, turns=[said(interaction_id)], create_if_missing=True
    )
    response: pb.AppendTurnsResponse = await stub.AppendTurns(request, metadata=WRITER)
    return response


async def held(stub: session_pb2_grpc.SessionServiceStub, conversation_id: str) -> pb.Session:
    """The session as Redis has it."""
    async with asyncio.timeout(SECONDS_MAX):
        while True:
            request = pb.GetSessionRequest(user_id="ada", conversation_id=conversation_id)
            response: pb.GetSessionResponse = await stub.GetSession(request, metadata=WRITER)
            if not response.degraded:
                return response.session
            await asyncio.sleep(0.01)


class Writers:
    """Sessions that are written to until they are told to stop."""

    def __init__(self, stub: session_pb2_grpc.SessionServiceStub, count: int = WRITERS) -> None:
        self._stub = stub
        self._stopped = asyncio.Event()
        self._progress = asyncio.Event()
        self.acknowledged: dict[str, list[str]] = {f"s{number}": [] for number in range(count)}
        self.degraded = 0

    async def write(self, conversation_id: str) -> None:
        done = self.acknowledged[conversation_id]
        while not self._stopped.is_set():
            interaction_id = f"{conversation_id}-{len(done)}"
            try:
                response = await say(self._stub, conversation_id, interaction_id)
            except grpc.aio.AioRpcError as error:
                # What memory holds for Redis has a bound, which a slow failover reaches: nothing is acknowledged then.
                if error.code() is not grpc.StatusCode.RESOURCE_EXHAUSTED:
                    raise
                await asyncio.sleep(0.1)
                continue
            done.append(interaction_id)
            if response.degraded:
                self.degraded += 1
                await asyncio.sleep(0.01)
            self._progress.set()

    @contextlib.asynccontextmanager
    async def at_work(self) -> AsyncIterator[None]:
        async with asyncio.TaskGroup() as tasks:
            for conversation_id in self.acknowledged:
                tasks.create_task(self.write(conversation_id))
            yield
            self._stopped.set()

    async def more(self, count: int, *, degraded: bool = False) -> None:
        """Waits until so many more turns were acknowledged, or so many degraded."""

        def done() -> int:
            return self.degraded if degraded else sum(map(len, self.acknowledged.values()))

        enough = done() + count
        async with asyncio.timeout(SECONDS_MAX):
            while done() < enough:
                self._progress.clear()
                await self._progress.wait()


@BEHIND_SENTINELS
async def test_spec_1_4_nothing_acknowledged_is_lost_by_a_failover(group: SentinelGroup) -> None:
    async with served_from(group.url, SETTINGS) as stub:
        writers = Writers(stub)
        async with writers.at_work():
            await writers.more(100)
            before = group.master()
            before.stop()
            await writers.more(1, degraded=True)
            await held(stub, "s0")
            assert group.master() is not before
            await writers.more(100)
        degraded = writers.degraded
        await asyncio.gather(*(held(stub, conversation_id) for conversation_id in writers.acknowledged))
    assert degraded
    # Another process, without a memory of its own, finds all of it behind the same URL.
    async with served_from(group.url, SETTINGS) as stub:
        for conversation_id, interaction_ids in writers.acknowledged.items():
            session = await held(stub, conversation_id)
            assert [turn.interaction_id for turn in session.turns] == interaction_ids[-10:]
            assert [turn.position for turn in session.turns] == list(range(len(interaction_ids)))[-10:]


@BEHIND_SENTINELS
async def test_spec_1_6_sentinels_that_are_gone_hold_up_nothing(group: SentinelGroup) -> None:
    group.stop_sentinel(0)
    async with served_from(group.url, SETTINGS) as stub:
        assert not (await say(stub, "s1", "a")).degraded
    silent = group.url.replace("//", "//203.0.113.1:26379,")  # an address that swallows everything
    async with served_from(silent, SETTINGS) as stub:
        assert not (await say(stub, "s1", "b")).degraded


@BEHIND_SENTINELS
async def test_spec_1_6_a_master_that_became_a_replica_is_left(group: SentinelGroup) -> None:
    async with served_from(group.url, SETTINGS) as stub:
        assert not (await say(stub, "s1", "a")).degraded
        before = group.master()
        (after,) = [server for server in group.servers if server is not before]
        group.fail_over()
        await say(stub, "s1", "b")
        session = await held(stub, "s1")
        assert group.master() is after
        assert [turn.interaction_id for turn in session.turns] == ["a", "b"]


async def test_spec_1_4_slots_that_move_are_followed(tmp_path: Path) -> None:
    cluster = RedisClusterGroup(tmp_path)
    with running(cluster):
        slot = key_slot(b"acme:ada")
        source = cluster.holder(slot)
        target = next(node for node in cluster.nodes if node is not source)
        async with served_from(cluster.url, SETTINGS) as stub:
            writers = Writers(stub)
            async with writers.at_work():
                await writers.more(50)
                cluster.migrate(slot, source, target)
                await writers.more(50)
            for conversation_id, interaction_ids in writers.acknowledged.items():
                session = await held(stub, conversation_id)
                assert [turn.interaction_id for turn in session.turns] == interaction_ids[-10:]
                assert session.turn_count == len(interaction_ids)


async def test_spec_1_5_what_redis_forgot_is_absent_and_made_anew(tmp_path: Path) -> None:
    server = RedisServer(tmp_path)
    server.start()
    try:
        async with served_from(server.url, SETTINGS) as stub:
            await say(stub, "s1", "a")
            server.command("FLUSHALL")
            # The gateway rebuilds a session that is absent, and one whose first turn made it, from its log.
            with pytest.raises(grpc.aio.AioRpcError) as caught:
                await held(stub, "s1")
            assert caught.value.code() is grpc.StatusCode.NOT_FOUND
            again = await say(stub, "s1", "b")
            assert (again.created, again.degraded) == (True, False)
    finally:
        server.stop()


@BEHIND_SENTINELS
async def test_spec_1_6_more_calls_than_connections_wait_for_one(group: SentinelGroup) -> None:
    settings = replace(SETTINGS, redis=replace(SETTINGS.redis, connections_max=2))
    async with served_from(group.url, settings) as stub:
        responses = await asyncio.gather(*(say(stub, "s1", f"t{number}") for number in range(60)))
        assert not any(response.degraded for response in responses)
        assert (await held(stub, "s1")).turn_count == 60
