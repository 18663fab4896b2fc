from __future__ import annotations

import asyncio

import pytest

from services.common.errors import StoreUnavailable
from services.common.rpc.readiness import Readiness, ReadinessSettings


class Store:
    """A store that is there or not."""

    def __init__(self) -> None:
        self.error: Exception | None = None
        self.hangs = False
        self.reports: list[bool] = []

    async def check(self) -> None:
        if self.hangs:
            await asyncio.Event().wait()
        if self.error is not None:
            raise self.error

    async def report(self, is_serving: bool) -> None:
        self.reports.append(is_serving)


@pytest.fixture
def store() -> Store:
    return Store()


@pytest.fixture
def readiness(store: Store) -> Readiness:
    return Readiness(store.check, store.report, ReadinessSettings(failures_max=3, timeout_seconds=0.01))


async def checked(readiness: Readiness, count: int) -> None:
    for _ in range(count):
        await readiness.check_once()


@pytest.mark.parametrize("hangs", [False, True], ids=["refuses", "hangs"])
async def test_spec_8_2_health_follows_the_store(store: Store, readiness: Readiness, hangs: bool) -> None:
    await checked(readiness, 2)
    assert store.reports == []
    store.error, store.hangs = StoreUnavailable("postgres"), hangs
    await checked(readiness, 2)
    assert store.reports == []  # not yet
    await checked(readiness, 5)
    assert store.reports == [False]  # once
    store.error, store.hangs = None, False
    await checked(readiness, 3)
    assert store.reports == [False, True]


async def test_spec_8_2_single_failures_change_nothing(store: Store, readiness: Readiness) -> None:
    for _ in range(5):
        store.error = StoreUnavailable("postgres")
        await checked(readiness, 2)
        store.error = None
        await checked(readiness, 1)
    assert store.reports == []


async def test_any_error_of_the_check_is_a_failure(store: Store, readiness: Readiness) -> None:
    store.error = KeyError("a driver's own")
    await checked(readiness, 3)
    assert store.reports == [False]
