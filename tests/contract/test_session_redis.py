"""Sessions in Redis: one server, Clusters, and behind Sentinels."""

from collections.abc import AsyncIterator, Iterator

import pytest

from services.session.stores.redis import RedisSessionStore
from tests.contract.session_events import SessionRemovalContract
from tests.contract.session_samples import STORE_SETTINGS
from tests.contract.session_store import SessionStoreContract
from tests.support.redis import redis_cluster_url, redis_store, redis_url, require_redis_server, unused_prefix
from tests.support.redis_group import RedisClusterGroup, SentinelGroup, running

__all__ = ["redis_cluster_url", "redis_url"]


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
