"""What only the Redis driver does; the contract suite covers the rest."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from redis import exceptions as redis_errors
from redis.asyncio import Redis

from services.common.errors import NotFound, StoreUnavailable
from services.session.config import RedisSettings, StoreSettings
from services.session.stores.redis import RedisSessionStore
from services.session.stores.redis_calls import RedisCalls
from services.session.stores.redis_client import create_redis_client, translate_errors
from tests.contract.session_samples import ADA, SPEC, idempotency_key, ids, key, turn
from tests.support.clock import FakeClock
from tests.support.redis import RedisServer, redis_store, require_redis_server, running_redis


@pytest.fixture
def server(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[RedisServer]:
    require_redis_server(request)
    with running_redis(tmp_path) as server:
        yield server


@pytest.fixture
async def store(server: RedisServer) -> AsyncIterator[RedisSessionStore]:
    async with redis_store(server.url) as store:
        yield store


@pytest.fixture
async def raw(server: RedisServer) -> AsyncIterator[Redis]:
    async with Redis.from_url(server.url, decode_responses=True) as raw:
        yield raw


async def names(raw: Redis, pattern: str = "*") -> list[str]:
    return [str(name) for name in await raw.keys(pattern)]


async def test_scripts_are_sent_again_to_a_server_that_forgot_them(store: RedisSessionStore, raw: Redis) -> None:
    clock = FakeClock()
    await store.append(key(), [turn("a")], create=SPEC, now=clock.now())
    await raw.script_flush()
    appended = await store.append(key(), [turn("b")], create=None, now=clock.now())
    assert ids(appended.value.session) == ["a", "b"]
    await raw.script_flush()
    assert len((await store.list_sessions(ADA, limit=5, after=None, now=clock.now())).value) == 1


async def test_every_key_ends_by_itself_after_a_grace_time(store: RedisSessionStore, raw: Redis) -> None:
    clock = FakeClock()
    await store.append(key(), [turn("a")], create=SPEC, now=clock.now(), idempotency_key=idempotency_key("r1"))
    await store.extend(key(), ttl=timedelta(seconds=10), now=clock.now())
    kept = await names(raw)
    assert len(kept) == 7
    for name in kept:
        ends_with_the_session = name.split(":")[-2] in {"texts", "window", "known"}
        of_a_request = 7 * 86_400 + 60 if ":request:" in name else 3_660
        expected_seconds = 70 if ends_with_the_session else of_a_request
        assert expected_seconds - 30 <= await raw.ttl(name) <= expected_seconds


async def test_all_keys_of_a_user_share_a_slot(store: RedisSessionStore, raw: Redis) -> None:
    clock = FakeClock()
    for conversation_id in ("s1", "s{2}", "s:3"):
        await store.append(
            key(conversation_id),
            [turn("a")],
            create=SPEC,
            now=clock.now(),
            idempotency_key=idempotency_key(conversation_id),
        )
    tags = {name[name.index("{") : name.index("}") + 1] for name in await names(raw)}
    assert tags == {"{acme:ada}"}


@pytest.mark.parametrize("kind", ["texts", "window", "known", "heads"])
async def test_half_a_session_is_none(store: RedisSessionStore, raw: Redis, kind: str) -> None:
    clock = FakeClock()
    await store.append(key(), [turn("a"), turn("b")], create=SPEC, now=clock.now())
    (name,) = await names(raw, f"*{kind}*")
    await raw.delete(name)
    with pytest.raises(NotFound):
        await store.get(key(), now=clock.now())
    appended = await store.append(key(), [turn("c")], create=SPEC, now=clock.now())
    assert appended.value.is_created
    assert ids(appended.value.session) == ["c"]


async def test_what_has_ended_is_swept_from_a_user_s_index(store: RedisSessionStore, raw: Redis) -> None:
    clock = FakeClock()
    for number in range(40):
        await store.create(key(f"s{number}"), SPEC, now=clock.now())
    clock.advance(hours=2)
    for number in range(2):
        await store.create(key(f"n{number}"), SPEC, now=clock.now())
    (recent,) = await names(raw, "*recent")
    assert await raw.zcard(recent) == 2


async def test_a_replica_does_not_pass_the_check(server: RedisServer, store: RedisSessionStore) -> None:
    await store.check()
    server.command("REPLICAOF", "127.0.0.1", "1")
    with pytest.raises(StoreUnavailable):
        await store.check()
    with pytest.raises(StoreUnavailable):
        await store.create(key(), SPEC, now=FakeClock().now())
    server.command("REPLICAOF", "NO", "ONE")
    await store.check()


async def test_a_full_redis_is_unavailable(server: RedisServer, store: RedisSessionStore) -> None:
    server.command("CONFIG", "SET", "maxmemory", "1")
    with pytest.raises(StoreUnavailable):
        await store.create(key(), SPEC, now=FakeClock().now())


async def test_a_redis_that_is_gone_is_unavailable_and_comes_back(
    server: RedisServer, store: RedisSessionStore
) -> None:
    clock = FakeClock()
    await store.create(key(), SPEC, now=clock.now())
    server.stop()
    with pytest.raises(StoreUnavailable) as caught:
        await store.get(key(), now=clock.now())
    assert caught.value.metadata == {"store": "redis"}
    with pytest.raises(StoreUnavailable):
        await store.check()
    server.start()
    await store.check()
    with pytest.raises(NotFound):
        await store.get(key(), now=clock.now())


async def test_more_calls_than_connections_wait_their_turn(server: RedisServer) -> None:
    settings = RedisSettings(connections_max=2, call_timeout_seconds=10.0)
    clock = FakeClock()
    async with redis_store(server.url, settings=settings) as store:
        await asyncio.gather(*(store.append(key(), [turn(f"t{n}")], create=SPEC, now=clock.now()) for n in range(100)))
        assert (await store.get(key(), now=clock.now())).value.turn_count == 100


async def test_a_prefix_with_braces_is_refused() -> None:
    settings = RedisSettings(key_prefix="{mneme}:")
    client = create_redis_client("redis://127.0.0.1:1", settings)
    with pytest.raises(ValueError, match="braces"):
        RedisSessionStore(RedisCalls(client, settings), settings, StoreSettings())
    await client.aclose()


@pytest.mark.parametrize(
    "error",
    [
        redis_errors.ConnectionError("x"),
        redis_errors.TimeoutError("x"),
        redis_errors.BusyLoadingError("x"),
        redis_errors.ClusterDownError("CLUSTERDOWN x"),
        redis_errors.ResponseError("MISCONF x"),
        redis_errors.ResponseError("OOM x"),
        TimeoutError(),
        ConnectionResetError(),
    ],
)
def test_states_of_the_server_are_unavailability(error: Exception) -> None:
    with pytest.raises(StoreUnavailable) as caught, translate_errors():
        raise error
    assert "x" not in caught.value.message


def test_our_own_mistakes_are_not_hidden() -> None:
    with pytest.raises(redis_errors.ResponseError), translate_errors():
        raise redis_errors.ResponseError("ERR user_script:1: x")
