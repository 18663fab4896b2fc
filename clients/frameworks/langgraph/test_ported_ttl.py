"""What the tests of LangGraph's PostgreSQL and SQLite stores check, of both stores: times to live.

Times to live are minutes; the shortest is a second. Nothing sweeps here: an expired item is gone at once.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import datetime
from typing import Any

import pytest
from langgraph.store.base import BaseStore, PutOp

from mneme_client import DocumentName, MnemeClientError, SyncClient

OpenStore = Callable[..., BaseStore]

NOTES = ("notes",)
SECOND = 1 / 60
LONG = 5.0


def until_gone(store: BaseStore, *keys: str) -> None:
    """Waits until no read finds the items, with none of them begun anew."""
    deadline = time.monotonic() + 10
    while any(store.get(NOTES, key, refresh_ttl=False) for key in keys):
        assert time.monotonic() < deadline
        time.sleep(0.05)


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
        assert store.get(NOTES, "read") is not None
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
