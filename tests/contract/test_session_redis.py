"""Sessions in Redis: one server, Clusters, and behind Sentinels."""

from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from services.common.encryption.envelope import DecryptionError
from services.common.encryption.key_file import add_key
from services.session.model import Report
from services.session.stores.redis import RedisSessionStore
from services.session.stores.redis_script import Argument, Script
from tests.contract.session_events import SessionRemovalContract
from tests.contract.session_samples import ADA, SPEC, STORE_SETTINGS, key, turn
from tests.contract.session_store import SessionStoreContract
from tests.support.clock import FakeClock
from tests.support.encryption import carried_keys
from tests.support.redis import (
    dump,
    redis_calls,
    redis_cluster_url,
    redis_store,
    redis_url,
    require_redis_server,
    unused_prefix,
)
from tests.support.redis_group import RedisClusterGroup, SentinelGroup, running

__all__ = ["redis_cluster_url", "redis_url"]

CANARY = "Miso the cat prefers sardines"


@pytest.fixture(scope="module")
def three_masters_url(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    require_redis_server(request)
    group = RedisClusterGroup(tmp_path_factory.mktemp("redis-three"))
    with running(group):
        yield group.url


@pytest.fixture(scope="module")
def sentinel_url(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    require_redis_server(request)
    group = SentinelGroup(tmp_path_factory.mktemp("redis-sentinels"))
    with running(group):
        yield group.url


@pytest.fixture
def key_prefix() -> str:
    """Of the keys of one test, the same for the store and its replica."""
    return unused_prefix()


class TestRedisSessionStore(SessionStoreContract, SessionRemovalContract):
    @pytest.fixture
    async def store(self, redis_url: str, key_prefix: str) -> AsyncIterator[RedisSessionStore]:
        async with redis_store(redis_url, store_settings=STORE_SETTINGS, key_prefix=key_prefix) as store:
            yield store

    @pytest.fixture
    async def replica(self, redis_url: str, key_prefix: str) -> AsyncIterator[RedisSessionStore]:
        async with redis_store(redis_url, store_settings=STORE_SETTINGS, key_prefix=key_prefix) as replica:
            yield replica


class TestRedisSessionStoreWithEncryption(SessionStoreContract, SessionRemovalContract):
    @pytest.fixture
    async def store(self, redis_url: str, key_prefix: str, tmp_path: Path) -> AsyncIterator[RedisSessionStore]:
        keys = carried_keys(tmp_path)
        async with redis_store(redis_url, store_settings=STORE_SETTINGS, key_prefix=key_prefix, keys=keys) as store:
            yield store

    @pytest.fixture
    async def replica(self, redis_url: str, key_prefix: str, tmp_path: Path) -> AsyncIterator[RedisSessionStore]:
        keys = carried_keys(tmp_path)
        async with redis_store(redis_url, store_settings=STORE_SETTINGS, key_prefix=key_prefix, keys=keys) as replica:
            yield replica

    async def test_spec_7_3_redis_holds_nothing_of_what_turns_say(
        self, store: RedisSessionStore, redis_url: str, key_prefix: str
    ) -> None:
        clock = FakeClock()
        await store.append(key(), [turn("a", content=CANARY)], create=SPEC, now=clock.now(), report=Report.BOUNDED)
        (window,) = (await store.get(key(), now=clock.now())).value.turns
        assert window.turn.content == CANARY
        assert CANARY not in await dump(redis_url, key_prefix)
        async with redis_store(redis_url, store_settings=STORE_SETTINGS, key_prefix=key_prefix) as plain:
            with pytest.raises(DecryptionError):
                await plain.get(key(), now=clock.now())
            with pytest.raises(DecryptionError):
                await plain.log_events(ADA, limit=9, now=clock.now())
            other = key("s2")
            await plain.append(other, [turn("b", content=CANARY)], create=SPEC, now=clock.now())
        assert CANARY in await dump(redis_url, key_prefix)  # it would have been found
        assert (await store.get(other, now=clock.now())).value.turns[0].turn.content == CANARY

    async def test_spec_7_3_a_session_outlives_a_rotation_while_the_earlier_key_is_there(
        self, store: RedisSessionStore, redis_url: str, key_prefix: str, tmp_path: Path
    ) -> None:
        clock = FakeClock()
        await store.append(key(), [turn("a", content=CANARY)], create=SPEC, now=clock.now())
        file = tmp_path / "encryption-keys"
        add_key(file)
        async with redis_store(
            redis_url, store_settings=STORE_SETTINGS, key_prefix=key_prefix, keys=carried_keys(tmp_path)
        ) as rotated:
            appended = await rotated.append(key(), [turn("b", content="more")], create=None, now=clock.now())
            assert [one.turn.content for one in appended.value.session.turns] == [CANARY, "more"]
        lines = [line for line in file.read_text("ascii").splitlines() if not line.startswith("v1 ")]
        file.write_text("\n".join(lines) + "\n", "ascii")
        async with redis_store(
            redis_url, store_settings=STORE_SETTINGS, key_prefix=key_prefix, keys=carried_keys(tmp_path)
        ) as without:
            with pytest.raises(DecryptionError):
                await without.get(key(), now=clock.now())


class TestRedisSessionStoreInPages(SessionStoreContract):
    """Every response of Redis holds one turn."""

    @pytest.fixture
    async def store(self, redis_url: str, key_prefix: str, tmp_path: Path) -> AsyncIterator[RedisSessionStore]:
        async with redis_store(
            redis_url,
            store_settings=STORE_SETTINGS,
            key_prefix=key_prefix,
            keys=carried_keys(tmp_path),
            response_bytes_max=1,
        ) as store:
            yield store

    @pytest.fixture
    async def replica(self, redis_url: str, key_prefix: str, tmp_path: Path) -> AsyncIterator[RedisSessionStore]:
        keys = carried_keys(tmp_path)
        async with redis_store(redis_url, store_settings=STORE_SETTINGS, key_prefix=key_prefix, keys=keys) as replica:
            yield replica


async def test_spec_1_3_a_long_window_is_read_in_responses_of_bounded_size(redis_url: str) -> None:
    sizes: list[int] = []
    async with redis_calls(redis_url) as (calls, settings):
        run = calls.run

        async def measured(script: Script, keys: Sequence[str], arguments: Sequence[Argument]) -> list[bytes]:
            response = await run(script, keys, arguments)
            parts: list[object] = list(response)  # counts as well as texts
            sizes.append(sum(len(part) for part in parts if isinstance(part, bytes)))
            return response

        calls.run = measured  # type: ignore[method-assign]
        store = RedisSessionStore(calls, settings, STORE_SETTINGS, response_bytes_max=20_000)
        said = [turn(f"t{number}", content=f"{number} " + "x" * 5_000) for number in range(10)]
        for one in said:
            await store.append(key(), [one], create=replace(SPEC, window_turns=10), now=FakeClock().now())
        sizes.clear()
        window = (await store.get(key(), now=FakeClock().now())).value.turns
    assert [one.turn.content for one in window] == [one.turn.content for one in said]
    assert len(sizes) == 4
    assert max(sizes) < 21_000


async def test_spec_1_3_a_window_of_which_turns_left_while_it_was_read_has_no_gap(redis_url: str) -> None:
    now = FakeClock().now()
    async with redis_calls(redis_url) as (calls, settings):
        store = RedisSessionStore(calls, settings, STORE_SETTINGS, response_bytes_max=1)
        await store.append(key(), [turn(f"t{number}") for number in range(10)], create=SPEC, now=now)
        run = calls.run
        is_appended = False

        async def interleaved(script: Script, keys: Sequence[str], arguments: Sequence[Argument]) -> list[bytes]:
            nonlocal is_appended
            if "Payloads of turns" in script.text and not is_appended:
                is_appended = True
                await store.append(key(), [turn(f"u{number}") for number in range(3)], create=None, now=now)
            return await run(script, keys, arguments)

        calls.run = interleaved  # type: ignore[method-assign]
        reader = RedisSessionStore(calls, settings, STORE_SETTINGS, response_bytes_max=1)
        found = (await reader.get(key(), now=now)).value.turns
    assert [one.interaction_id for one in found] == [f"t{number}" for number in range(3, 10)]


class TestRedisClusterSessionStore(SessionStoreContract, SessionRemovalContract):
    @pytest.fixture
    async def store(self, redis_cluster_url: str, key_prefix: str) -> AsyncIterator[RedisSessionStore]:
        async with redis_store(redis_cluster_url, store_settings=STORE_SETTINGS, key_prefix=key_prefix) as store:
            yield store

    @pytest.fixture
    async def replica(self, redis_cluster_url: str, key_prefix: str) -> AsyncIterator[RedisSessionStore]:
        async with redis_store(redis_cluster_url, store_settings=STORE_SETTINGS, key_prefix=key_prefix) as replica:
            yield replica


class TestRedisClusterOfThreeSessionStore(SessionStoreContract, SessionRemovalContract):
    @pytest.fixture
    async def store(self, three_masters_url: str, key_prefix: str) -> AsyncIterator[RedisSessionStore]:
        async with redis_store(three_masters_url, store_settings=STORE_SETTINGS, key_prefix=key_prefix) as store:
            yield store

    @pytest.fixture
    async def replica(self, three_masters_url: str, key_prefix: str) -> AsyncIterator[RedisSessionStore]:
        async with redis_store(three_masters_url, store_settings=STORE_SETTINGS, key_prefix=key_prefix) as replica:
            yield replica


class TestRedisSentinelSessionStore(SessionStoreContract, SessionRemovalContract):
    @pytest.fixture
    async def store(self, sentinel_url: str, key_prefix: str) -> AsyncIterator[RedisSessionStore]:
        async with redis_store(sentinel_url, store_settings=STORE_SETTINGS, key_prefix=key_prefix) as store:
            yield store

    @pytest.fixture
    async def replica(self, sentinel_url: str, key_prefix: str) -> AsyncIterator[RedisSessionStore]:
        async with redis_store(sentinel_url, store_settings=STORE_SETTINGS, key_prefix=key_prefix) as replica:
            yield replica
