"""What the tests of LangGraph's PostgreSQL and SQLite stores check, of both stores: times to live.

Times to live are minutes; the shortest is a second. An expired item is gone at once, before anything sweeps: the sweeps
of LangGraph's tests are made here too and find nothing to remove. Waits end when what they wait for has happened.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from datetime import datetime
from typing import Any

import pytest
from langgraph.store.base import BaseStore, PutOp
from mneme_langgraph import AsyncMnemeStore, MnemeStore

from mneme_client import DocumentName, MnemeClientError, SyncClient

OpenStore = Callable[..., BaseStore]

NOTES = ("notes",)
SECOND = 1 / 60
LONG = 5.0


def sweeper(store: BaseStore, method: str) -> Any:
    """The result of a method of the sweeper, which is asynchronous in one of the stores."""
    if isinstance(store, MnemeStore):
        return getattr(store, method)()
    assert isinstance(store, AsyncMnemeStore)

    async def called() -> Any:
        return await getattr(store, method)()

    loop = store._loop  # noqa: SLF001  of `open_store`, in its thread
    return asyncio.run_coroutine_threadsafe(called(), loop).result(30)


def until_gone(store: BaseStore, *keys: str) -> None:
    """Waits until no read finds the items, with none of them begun anew, and sweeps."""
    deadline = time.monotonic() + 10
    assert sweeper(store, "sweep_ttl") == 0
    while any(store.get(NOTES, key, refresh_ttl=False) for key in keys):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    assert sweeper(store, "sweep_ttl") == 0
    assert [store.get(NOTES, key) for key in keys] == [None] * len(keys)


@pytest.fixture
def sweeping(open_store: OpenStore) -> Iterator[OpenStore]:
    """Makes stores whose sweepers run until the test has ended; a second start changes nothing."""
    opened: list[BaseStore] = []

    def open_sweeping(**options: Any) -> BaseStore:
        store = open_store(**options)
        opened.append(store)
        for _ in range(2):
            sweeper(store, "start_ttl_sweeper")
        return store

    yield open_sweeping
    assert [sweeper(store, "stop_ttl_sweeper") for store in opened] == [True] * len(opened)


@pytest.fixture
def expiries(client: SyncClient, user_id: str) -> Callable[..., list[datetime | None]]:
    """When items expire, by their keys."""

    def read(*keys: str) -> list[datetime | None]:
        found = client.batch_get_documents(user_id, [DocumentName(NOTES, key) for key in keys])
        assert [document.name.key for document in found] == list(keys)
        return [document.expire_time for document in found]

    return read


@pytest.mark.parametrize("ttl", [{"omit_expired": True}, {"omit_expired": False}, {}])
def test_spec_9_4_ported_no_read_finds_what_has_expired(open_store: OpenStore, ttl: dict[str, Any]) -> None:
    store = open_store(ttl={"default_ttl": LONG, "sweep_interval_minutes": 60, **ttl})
    store.put(NOTES, "short", {"text": "a short note"}, ttl=SECOND)
    store.put(("other",), "stays", {"text": "a note that stays"}, ttl=None)
    assert len(store.search((), refresh_ttl=False)) == 2
    until_gone(store, "short")
    assert store.search(NOTES) == []
    assert store.search((), filter={"text": "a short note"}) == []
    assert [item.key for item in store.search((), query="a short note")] == ["stays"]
    assert store.list_namespaces() == [("other",)]
    assert store.get(("other",), "stays") is not None


def test_spec_9_4_ported_the_default_is_overridden_by_a_put(open_store: OpenStore) -> None:
    store = open_store(ttl={"default_ttl": 3 * SECOND, "refresh_on_read": False})
    store.put(NOTES, "default", {})
    store.put(NOTES, "shorter", {}, ttl=SECOND)
    store.put(NOTES, "permanent", {}, ttl=None)
    until_gone(store, "shorter")
    assert sorted(item.key for item in store.search(NOTES)) == ["default", "permanent"]
    until_gone(store, "default")
    assert [item.key for item in store.search(NOTES)] == ["permanent"]


def test_spec_9_4_ported_without_settings_a_put_chooses(any_store: BaseStore, expiries: Callable[..., Any]) -> None:
    any_store.batch([PutOp(NOTES, "short", {}, ttl=SECOND), PutOp(NOTES, "long", {}, ttl=LONG)])
    any_store.put(NOTES, "permanent", {})
    short, long, permanent = expiries("short", "long", "permanent")
    assert (long - short).total_seconds() == pytest.approx(299, abs=0.01)
    assert permanent is None
    with pytest.raises(MnemeClientError, match="ttl"):
        any_store.put(NOTES, "shortest", {}, ttl=SECOND / 2)


def test_spec_9_4_ported_each_item_expires_at_its_own_time(open_store: OpenStore) -> None:
    store = open_store()
    store.put(NOTES, "short", {"text": "a short note"}, ttl=SECOND)
    store.put(NOTES, "long", {"text": "a long note"}, ttl=4 * SECOND)
    until_gone(store, "short")
    assert store.get(NOTES, "long") is not None
    until_gone(store, "long")


def test_spec_9_4_ported_an_item_is_gone_while_a_sweeper_runs(sweeping: OpenStore) -> None:
    store = sweeping(ttl={"default_ttl": 2 * SECOND, "sweep_interval_minutes": SECOND})
    store.put(NOTES, "k", {"text": "tea"})
    assert store.get(NOTES, "k") is not None
    until_gone(store, "k")


def test_spec_9_4_ported_gets_and_searches_by_meaning_keep_an_item_alive(sweeping: OpenStore) -> None:
    ttl_seconds = 3.0
    store = sweeping(
        ttl={"default_ttl": 60, "refresh_on_read": True, "sweep_interval_minutes": ttl_seconds * SECOND / 2}
    )
    store.put(NOTES, "k", {"text": "green tea"}, ttl=ttl_seconds * SECOND)
    time.sleep(ttl_seconds / 2)
    assert store.get(NOTES, "k", refresh_ttl=True) is not None
    time.sleep(ttl_seconds / 2)
    assert len(store.search(NOTES, query="a drink", refresh_ttl=True)) == 1
    time.sleep(ttl_seconds / 2)
    assert store.get(NOTES, "k", refresh_ttl=False) is not None
    until_gone(store, "k")
    assert store.search(NOTES, query="a drink", refresh_ttl=False) == []


def test_spec_9_4_ported_a_read_begins_the_time_to_live_anew(
    open_store: OpenStore, expiries: Callable[..., Any]
) -> None:
    store = open_store(ttl={"default_ttl": LONG, "refresh_on_read": True})
    store.put(NOTES, "k", {"text": "tea"})
    times = expiries("k")
    for read in (
        lambda: store.get(NOTES, "k"),
        lambda: store.get(NOTES, "k", refresh_ttl=True),
        lambda: store.search(NOTES),
        lambda: store.search(NOTES, query="tea"),
        lambda: store.search(NOTES, filter={"text": "tea"}),
        lambda: store.search(NOTES, query="tea", filter={"text": "tea"}, refresh_ttl=True),
    ):
        assert read()
        times += expiries("k")
    assert times == sorted(set(times))
    for read in (
        lambda: store.get(NOTES, "k", refresh_ttl=False),
        lambda: store.search(NOTES, refresh_ttl=False),
        lambda: store.search(NOTES, query="tea", refresh_ttl=False),
        lambda: store.search(NOTES, filter={"text": "coffee"}),
        store.list_namespaces,
    ):
        read()
        assert expiries("k") == times[-1:]


def test_spec_9_4_ported_an_item_that_is_read_outlives_its_time(open_store: OpenStore) -> None:
    store = open_store(ttl={"default_ttl": 3 * SECOND, "refresh_on_read": True})
    store.put(NOTES, "read", {"text": "tea"})
    store.put(NOTES, "searched", {"text": "milk"})
    store.put(NOTES, "left", {"text": "salt"})
    deadline = time.monotonic() + 10
    while store.get(NOTES, "left", refresh_ttl=False):
        assert sweeper(store, "sweep_ttl") == 0
        read = store.get(NOTES, "read")
        assert read is not None
        assert read.value == {"text": "tea"}
        assert [item.key for item in store.search(NOTES, filter={"text": "milk"})] == ["searched"]
        assert time.monotonic() < deadline
        time.sleep(0.1)
    assert sorted(item.key for item in store.search(NOTES, refresh_ttl=False)) == ["read", "searched"]
    until_gone(store, "read", "searched")
    assert store.search(NOTES) == []


def test_spec_9_4_ported_a_read_does_not_bring_back_what_has_expired(open_store: OpenStore) -> None:
    store = open_store(ttl={"default_ttl": LONG, "refresh_on_read": True})
    store.put(NOTES, "gone", {}, ttl=SECOND)
    store.put(NOTES, "lives", {})
    until_gone(store, "gone")
    assert store.get(NOTES, "gone", refresh_ttl=True) is None
    assert [item.key for item in store.search(NOTES, refresh_ttl=True)] == ["lives"]
    assert store.get(NOTES, "gone") is None


def test_spec_9_4_ported_only_what_a_search_returns_begins_anew(
    open_store: OpenStore, expiries: Callable[..., Any]
) -> None:
    store = open_store(ttl={"default_ttl": LONG, "refresh_on_read": True})
    keys = [f"k{i}" for i in range(6)]
    store.batch([PutOp(NOTES, key, {"even": i % 2 == 0}, ttl=LONG) for i, key in enumerate(keys)])
    for search in (
        {"limit": 2},
        {"limit": 2, "offset": 3},
        {"filter": {"even": True}, "limit": 2},
        {"filter": {"even": False}, "limit": 1, "offset": 1},
        {"query": "even", "limit": 2},
        {"query": "even", "limit": 2, "offset": 2},
        {"query": "even", "filter": {"even": True}, "limit": 1, "offset": 1},
    ):
        before = expiries(*keys)
        found = {item.key for item in store.search(NOTES, **search)}
        assert len(found) == search["limit"]
        changed = {key for key, old, new in zip(keys, before, expiries(*keys), strict=True) if new > old}
        assert changed == found, search


def test_spec_9_4_ported_pages_are_full_beside_what_has_expired(open_store: OpenStore) -> None:
    store = open_store(ttl={"default_ttl": LONG})
    for key in "abcd":
        store.put(NOTES, key, {}, ttl=SECOND if key == "c" else LONG)
    until_gone(store, "c")
    pages = [[item.key for item in store.search(NOTES, limit=2, offset=offset)] for offset in (0, 2)]
    assert pages == [["d", "b"], ["a"]]
