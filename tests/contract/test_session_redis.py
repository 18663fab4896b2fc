"""Sessions in Redis, single and Cluster."""

from collections.abc import AsyncIterator

import pytest

from services.session.stores.redis import RedisSessionStore
from tests.contract.session_samples import STORE_SETTINGS
from tests.contract.session_store import SessionStoreContract
from tests.support.redis import redis_cluster_url, redis_store, redis_url

__all__ = ["redis_cluster_url", "redis_url"]


class TestRedisSessionStore(SessionStoreContract):
    @pytest.fixture
    async def store(self, redis_url: str) -> AsyncIterator[RedisSessionStore]:
        async with redis_store(redis_url, store_settings=STORE_SETTINGS) as store:
            yield store


class TestRedisClusterSessionStore(SessionStoreContract):
    @pytest.fixture
    async def store(self, redis_cluster_url: str) -> AsyncIterator[RedisSessionStore]:
        async with redis_store(redis_cluster_url, store_settings=STORE_SETTINGS) as store:
            yield store
