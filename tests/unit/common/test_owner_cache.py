"""The cache of a process: one budget, least recently used first out, loads, refusals, metrics."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import TracerProvider

from services.common.cache import CacheKind, CacheSettings, OwnerCache, OwnerKey, create_cache
from services.common.cache.budget import memory_limit
from services.common.errors import StoreUnavailable
from services.common.telemetry import state

ANN, BOB, CY = ("acme", "ann"), ("acme", "bob"), ("acme", "cy")


@dataclass
class Entry:
    size_bytes: int


def test_the_least_recently_used_of_all_kinds_is_evicted_first() -> None:
    cache = OwnerCache(100)
    rows: CacheKind[Entry] = cache.kind("rows")
    facts: CacheKind[Entry] = cache.kind("facts")
    assert rows.put(ANN, Entry(40))
    assert facts.put(ANN, Entry(40))
    assert rows.get(ANN) is not None
    assert rows.put(BOB, Entry(40))
    assert facts.get(ANN) is None, "used least recently"
    assert [rows.peek(owner) is not None for owner in (ANN, BOB)] == [True, True]
    assert cache.size_bytes == 80


def test_an_entry_that_has_grown_is_measured_anew() -> None:
    cache = OwnerCache(100)
    rows: CacheKind[Entry] = cache.kind("rows")
    grown = Entry(10)
    rows.put(ANN, grown)
    rows.put(BOB, Entry(30))
    grown.size_bytes = 75
    assert rows.put(ANN, grown)
    assert (rows.peek(BOB), cache.size_bytes) == (None, 75)
    grown.size_bytes = 76
    assert not rows.put(ANN, grown), "one entry may take three quarters"
    assert (rows.peek(ANN), cache.size_bytes) == (None, 0)


def test_without_a_budget_nothing_is_cached() -> None:
    rows: CacheKind[Entry] = OwnerCache(0).kind("rows")
    assert not rows.put(ANN, Entry(0))
    assert rows.get(ANN) is None


def test_an_owner_is_forgotten_in_every_kind() -> None:
    cache = OwnerCache(100)
    kinds: list[CacheKind[Entry]] = [cache.kind("rows"), cache.kind("rows")]
    for kind in kinds:
        kind.put(ANN, Entry(10))
        kind.put(BOB, Entry(10))
    cache.forget(ANN)
    assert [kind.peek(ANN) for kind in kinds] == [None, None]
    assert cache.size_bytes == 20


def test_that_an_owner_is_too_large_is_remembered_for_a_while() -> None:
    now = [1_000.0]
    rows: CacheKind[Entry] = OwnerCache(100, monotonic=lambda: now[0]).kind("rows")
    rows.put(ANN, Entry(10))
    assert not rows.is_refused(ANN)
    rows.refuse(ANN)
    assert (rows.peek(ANN), rows.is_refused(ANN), rows.is_refused(BOB)) == (None, True, False)
    now[0] += 599.0
    assert rows.is_refused(ANN)
    now[0] += 1.0
    assert not rows.is_refused(ANN)


async def test_an_owner_who_is_missed_several_times_is_loaded_and_ever_less_often() -> None:
    loads: list[int] = []
    misses = 0

    async def load(owner: OwnerKey) -> None:
        assert owner == ANN
        loads.append(misses)
        if len(loads) == 4:
            raise StoreUnavailable("postgres", 1.0)
        if len(loads) == 5:
            rows.put(owner, Entry(1))

    cache = OwnerCache(100, prefetch_after_misses=3)
    rows: CacheKind[Entry] = cache.kind("rows", load)
    for number in range(1, 60):
        misses = number
        rows.get(ANN)
        await cache.settle()
    assert loads == [3, 6, 12, 24, 48]
    assert rows.peek(ANN) is not None


async def test_a_prefetch_loads_every_kind_that_lacks_the_owner() -> None:
    loaded: list[str] = []
    cache = OwnerCache(100)

    async def load(_: OwnerKey, name: str) -> None:
        loaded.append(name)

    for name in ("rows", "facts"):
        cache.kind(name, partial(load, name=name))
    episodes: CacheKind[Entry] = cache.kind("episodes", partial(load, name="facts"))
    episodes.put(ANN, Entry(1))
    cache.kind("without a loader")
    cache.prefetch(ANN)
    await cache.settle()
    assert sorted(loaded) == ["facts", "rows"]


async def test_a_kind_that_is_closed_leaves_nothing_behind() -> None:
    cache = OwnerCache(100)
    rows: CacheKind[Entry] = cache.kind("rows")
    other: CacheKind[Entry] = cache.kind("other")
    rows.put(ANN, Entry(10))
    other.put(ANN, Entry(10))
    for _ in range(2):
        await rows.aclose()
    assert cache.size_bytes == 10
    assert list(rows.entries()) == []


@given(st.lists(st.tuples(st.sampled_from([ANN, BOB, CY]), st.sampled_from("ab"), st.integers(0, 90)), max_size=60))
def test_what_is_held_is_within_the_budget_and_counted_right(
    steps: list[tuple[OwnerKey, str, int]],
) -> None:
    cache = OwnerCache(100)
    kinds: dict[str, CacheKind[Entry]] = {name: cache.kind(name) for name in "ab"}
    for owner, name, size in steps:
        assert kinds[name].put(owner, Entry(size)) is (size <= 75)
        held = [entry.size_bytes for kind in kinds.values() for entry in kind.entries()]
        assert cache.size_bytes == sum(held) <= 100


@pytest.mark.parametrize(
    ("limit", "budget"), [("max", 1_000), ("1000000", 1_000), ("1000", 400), ("garbage", 1_000), (None, 1_000)]
)
def test_the_budget_fits_into_the_container(tmp_path: Path, limit: str | None, budget: int) -> None:
    file = tmp_path / "memory.max"
    if limit is not None:
        file.write_text(f"{limit}\n", encoding="ascii")
    assert create_cache(CacheSettings(bytes_max=1_000), limit_files=[file]).bytes_max == budget
    assert memory_limit([file, tmp_path]) == (int(limit) if limit is not None and limit.isdigit() else None)


def test_hits_misses_bytes_and_evictions_are_metrics() -> None:
    reader = InMemoryMetricReader()
    state.switch_on(TracerProvider(), MeterProvider(metric_readers=[reader]))
    try:
        cache = OwnerCache(100)
    finally:
        state.switch_off()
    rows: CacheKind[Entry] = cache.kind("rows")
    rows.get(ANN)
    for owner in (ANN, BOB):
        rows.put(owner, Entry(60))
    rows.get(BOB)
    data = reader.get_metrics_data()
    assert data is not None
    found = {
        (metric.name, *sorted(dict(point.attributes or {}).items())): point.value  # type: ignore[union-attr]
        for resource in data.resource_metrics
        for scope in resource.scope_metrics
        for metric in scope.metrics
        for point in metric.data.data_points
    }
    kind = ("kind", "rows")
    assert found == {
        ("mneme.cache.requests", kind, ("result", "miss")): 1,
        ("mneme.cache.requests", kind, ("result", "hit")): 1,
        ("mneme.cache.evictions", kind, ("reason", "budget")): 1,
        ("mneme.cache.bytes", kind): 60,
    }
