"""Context windows in memory, in Redis, and with a fallback."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from services.common.errors import StoreUnavailable
from services.session.config import FallbackSettings
from services.session.context_window.stores.embedded import EmbeddedContextWindowStore
from services.session.context_window.stores.fallback import FallbackContextWindowStore
from services.session.context_window.stores.redis import RedisContextWindowStore
from tests.contract.context_window_store import (
    RETENTION,
    WINDOW_SETTINGS,
    ContextWindowRemovalContract,
    ContextWindowStoreContract,
    adding,
)
from tests.contract.session_samples import ADA, key
from tests.support.clock import FakeClock
from tests.support.context_window import CutOff, SwitchableWindowStore
from tests.support.encryption import carried_keys
from tests.support.redis import dump, redis_calls, redis_cluster_url, redis_url
from tests.support.session import ManualSleep

__all__ = ["redis_cluster_url", "redis_url"]


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


def embedded() -> EmbeddedContextWindowStore:
    return EmbeddedContextWindowStore(WINDOW_SETTINGS, idempotency_retention=RETENTION)


class TestEmbedded(ContextWindowStoreContract, ContextWindowRemovalContract):
    @pytest.fixture
    def store(self) -> EmbeddedContextWindowStore:
        return embedded()


class TestRedis(ContextWindowStoreContract, ContextWindowRemovalContract):
    @pytest.fixture
    async def store(self, redis_url: str) -> AsyncIterator[RedisContextWindowStore]:
        async with redis_calls(redis_url) as (calls, settings):
            yield RedisContextWindowStore(calls, settings, WINDOW_SETTINGS, idempotency_retention=RETENTION)


class TestRedisWithEncryption(ContextWindowStoreContract, ContextWindowRemovalContract):
    @pytest.fixture
    async def store(self, redis_url: str, tmp_path: Path) -> AsyncIterator[RedisContextWindowStore]:
        async with redis_calls(redis_url) as (calls, settings):
            yield RedisContextWindowStore(
                calls, settings, WINDOW_SETTINGS, idempotency_retention=RETENTION, keys=carried_keys(tmp_path)
            )

    async def test_spec_7_3_redis_holds_nothing_of_what_items_say(self, redis_url: str, tmp_path: Path) -> None:
        now = FakeClock().now()
        async with redis_calls(redis_url) as (calls, settings):
            store = RedisContextWindowStore(
                calls, settings, WINDOW_SETTINGS, idempotency_retention=RETENTION, keys=carried_keys(tmp_path)
            )
            await store.change(key(), adding("a"), now=now)
            (item,) = (await store.read(key(), now=now)).value.items
            assert item.content == "content of a"
            assert "content of" not in await dump(redis_url, settings.key_prefix)


class TestRedisCluster(ContextWindowStoreContract, ContextWindowRemovalContract):
    @pytest.fixture
    async def store(self, redis_cluster_url: str) -> AsyncIterator[RedisContextWindowStore]:
        async with redis_calls(redis_cluster_url) as (calls, settings):
            yield RedisContextWindowStore(calls, settings, WINDOW_SETTINGS, idempotency_retention=RETENTION)


class TestFallback(ContextWindowStoreContract, ContextWindowRemovalContract):
    @pytest.fixture
    async def store(self) -> AsyncIterator[FallbackContextWindowStore]:
        primary = SwitchableWindowStore(embedded())
        async with FallbackContextWindowStore(primary, embedded(), FallbackSettings(), sleep=ManualSleep()) as store:
            yield store
            assert not store.is_degraded


class TestFallbackWithoutItsPrimary(ContextWindowStoreContract):
    @pytest.fixture
    async def store(self) -> AsyncIterator[FallbackContextWindowStore]:
        primary = SwitchableWindowStore(embedded())
        primary.cut = CutOff.WHOLLY
        async with FallbackContextWindowStore(primary, embedded(), FallbackSettings(), sleep=ManualSleep()) as store:
            yield store

    async def test_a_removal_fails_while_the_primary_is_away(
        self, store: FallbackContextWindowStore, clock: FakeClock
    ) -> None:
        for attempt in (
            store.remove_owner(ADA, now=clock.now()),
            store.remove_tenant(ADA.tenant_id, now=clock.now()),
        ):
            with pytest.raises(StoreUnavailable):
                await attempt


@pytest.mark.parametrize("cut", [CutOff.WHOLLY, CutOff.ON_THE_WAY_BACK])
async def test_spec_1_7_writes_of_an_outage_reach_the_primary(clock: FakeClock, cut: CutOff) -> None:
    primary, sleep = SwitchableWindowStore(embedded()), ManualSleep()
    async with FallbackContextWindowStore(primary, embedded(), FallbackSettings(), sleep=sleep) as store:
        await store.change(key(), adding("a"), now=clock.now())
        primary.cut = cut
        changed = await store.change(key(), adding("b"), now=clock.now())
        assert (changed.is_degraded, changed.value.head.item_count) == (True, 2)
        assert [one.item_id for one in (await store.read(key(), now=clock.now())).value.items] == ["a", "b"]
        primary.cut = CutOff.NOT
        (await sleep.next_pause()).end()
        await store.wait_until_recovered()
        response = await store.read(key(), now=clock.now())
        assert [one.item_id for one in response.value.items] == ["a", "b"]
        assert not response.is_degraded


async def test_spec_1_7_callers_that_write_without_pause_do_not_keep_windows_degraded(clock: FakeClock) -> None:
    primary, sleep = SwitchableWindowStore(embedded()), ManualSleep()
    written: list[str] = []
    async with FallbackContextWindowStore(primary, embedded(), FallbackSettings(), sleep=sleep) as store:
        primary.cut = CutOff.WHOLLY

        async def write() -> None:
            while store.is_degraded:
                written.append(f"item-{len(written)}")
                await store.change(key(), adding(written[-1]), now=clock.now())
                await asyncio.sleep(0)

        await store.change(key(), adding("a"), now=clock.now())
        pause = await sleep.next_pause()
        primary.cut = CutOff.NOT
        pause.end()
        async with asyncio.timeout(10):
            await asyncio.gather(*(write() for _ in range(4)))
        window = (await store.read(key(), now=clock.now())).value
        assert {one.item_id for one in window.items} == {"a", *written}
