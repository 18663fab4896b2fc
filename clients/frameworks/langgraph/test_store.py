"""Both stores beside LangGraph's own InMemoryStore, and in a graph, against a running gateway at MNEME_TARGET."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
import pytest_asyncio
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.store.base import BaseStore, GetOp, InvalidNamespaceError, ListNamespacesOp, PutOp, SearchOp
from langgraph.store.memory import InMemoryStore
from mneme_langgraph import AsyncMnemeStore, MnemeStore

from mneme_client import Client, DocumentName, SyncClient


@pytest.fixture
def store(client: SyncClient, user_id: str) -> MnemeStore:
    return MnemeStore(client, user_id)


@pytest_asyncio.fixture
async def astore(aclient: Client, user_id: str) -> AsyncMnemeStore:
    return AsyncMnemeStore(aclient, user_id)


NAMESPACES = [
    ("a",),
    ("a", "b", "c"),
    ("a", "b", "d", "e"),
    ("a", "b", "d", "i"),
    ("a", "c", "f"),
    ("b", "a", "f"),
    ("users", "1"),
    ("users", "2", "settings"),
]
VALUES: list[dict[str, Any]] = [
    {"n": 1, "color": "red", "deep": {"a": 1, "b": [1, {"c": 2}]}},
    {"n": 2.5, "color": "green", "deep": {"a": 2}, "flag": True},
    {"n": 3, "color": "blue", "none": None, "list": [1, 2]},
    {"n": -4, "color": "red", "deep": {"a": 1}},
]
FILTERS: list[dict[str, Any]] = [
    {"color": "red"},
    {"color": {"$eq": "red"}},
    {"color": {"$ne": "red"}},
    {"n": {"$gt": 1}},
    {"n": {"$gte": 1, "$lt": 3}},
    {"n": {"$lte": 2.5}},
    {"color": "red", "n": {"$lt": 0}},
    {"deep": {"a": 1}},
    {"deep": {"a": {"$gt": 1}}},
    {"list": [1, 2]},
    {"none": None},
    {"missing": "x"},
    {"missing": {"$ne": "x"}},
]


def shown(items: list[Any]) -> list[tuple[Any, ...]]:
    return sorted((item.namespace, item.key, repr(item.value)) for item in items)


def fill(*stores: BaseStore) -> None:
    for one in stores:
        one.batch([PutOp(namespace, f"k{i}", {"i": i}) for i, namespace in enumerate(NAMESPACES)])
        one.batch([PutOp(("items",), f"i{i}", value) for i, value in enumerate(VALUES)])


def test_spec_9_4_searches_find_what_langgraphs_own_store_finds(store: MnemeStore) -> None:
    own = InMemoryStore()
    fill(store, own)
    for prefix in ((), ("a",), ("a", "b"), ("a", "b", "c"), ("x",), ("items",)):
        assert shown(store.search(prefix, limit=50)) == shown(own.search(prefix, limit=50))
    for condition in FILTERS:
        prefix = () if "$gt" not in str(condition) else ("items",)  # floats of what is missing are errors there
        if any(operator in str(condition) for operator in ("$gte", "$lt", "$lte")):
            prefix = ("items",)
        if condition == {"deep": {"a": {"$gt": 1}}}:
            assert shown(store.search(prefix, filter=condition)) == shown([store.get(("items",), "i1")])
            continue
        assert shown(store.search(prefix, filter=condition, limit=50)) == shown(
            own.search(prefix, filter=condition, limit=50)
        ), condition
    with pytest.raises(ValueError, match="unknown operator"):
        store.search((), filter={"n": {"$like": "x"}})


def test_spec_9_4_namespaces_are_those_of_langgraphs_own_store(store: MnemeStore) -> None:
    own = InMemoryStore()
    fill(store, own)
    for arguments in (
        {},
        {"prefix": ("a", "b")},
        {"suffix": ("f",)},
        {"prefix": ("a",), "suffix": ("f",)},
        {"prefix": ("a", "*", "f")},
        {"suffix": ("*", "f")},
        {"prefix": ("*", "a")},
        {"prefix": ("a", "b"), "max_depth": 3},
        {"max_depth": 1},
        {"limit": 3},
        {"limit": 3, "offset": 2},
        {"offset": 100},
        {"prefix": ("nowhere",)},
    ):
        assert store.list_namespaces(**arguments) == own.list_namespaces(**arguments), arguments


def test_spec_9_4_a_page_of_a_search_begins_at_its_offset(store: MnemeStore) -> None:
    for i in range(7):
        store.put(("n",), f"k{i}", {"text": f"document number {i}"})
    for query in (None, "a document"):
        pages = [store.search(("n",), query=query, limit=3, offset=offset) for offset in (0, 3, 6, 9)]
        assert [len(page) for page in pages] == [3, 3, 1, 0]
        assert {item.key for page in pages for item in page} == {f"k{i}" for i in range(7)}


def test_spec_9_4_items_are_put_got_replaced_and_deleted(store: MnemeStore) -> None:
    value = {"a": [1, 2.5, None, True, "ü"], "b": {"c": "d"}}
    store.put(("n", "m"), "k", value)
    first = store.get(("n", "m"), "k")
    assert first is not None
    assert (first.namespace, first.key, first.value) == (("n", "m"), "k", value)
    store.put(("n", "m"), "k", {})
    second = store.get(("n", "m"), "k")
    assert second is not None
    assert (second.value, second.created_at) == ({}, first.created_at)
    assert second.updated_at > first.updated_at
    store.delete(("n", "m"), "k")
    store.delete(("n", "m"), "k")
    assert store.get(("n", "m"), "k") is None
    for namespace in ((), ("a.b",), ("a", ""), ("langgraph", "x")):
        with pytest.raises(InvalidNamespaceError):
            store.put(namespace, "k", {})


def test_spec_9_4_a_batch_reads_before_it_writes_and_its_last_put_stays(store: MnemeStore) -> None:
    store.put(("n",), "old", {"v": 0})
    results = store.batch(
        [
            PutOp(("n",), "new", {"v": 1}),
            GetOp(("n",), "new"),
            GetOp(("n",), "old"),
            PutOp(("n",), "new", {"v": 2}),
            SearchOp(("n",)),
            PutOp(("n",), "old", None),
            ListNamespacesOp(),
            GetOp(("n",), "old"),
        ]
    )
    assert [results[i] for i in (0, 1, 3, 5)] == [None] * 4
    assert results[2] == results[7]
    assert [item.key for item in results[4]] == ["old"]
    assert results[6] == [("n",)]
    assert [(item.key, item.value) for item in store.search(("n",))] == [("new", {"v": 2})]


def test_spec_9_4_the_writes_of_a_batch_happen_together_or_not_at_all(store: MnemeStore) -> None:
    with pytest.raises(Exception, match="not valid"):
        store.batch([PutOp(("n",), "a", {"v": 1}), PutOp(("n",), "b", {"v": "x" * 300_000})])
    assert store.search(("n",)) == []


def test_spec_9_4_items_are_found_by_meaning_and_by_chosen_fields(client: SyncClient, user_id: str) -> None:
    store = MnemeStore(client, user_id, fields=["text", "notes[*].body"])
    store.put(("n",), "cat", {"text": "The cat sleeps on the sofa.", "other": "taxes"})
    store.put(("n",), "tax", {"text": "Miscellaneous.", "notes": [{"body": "Taxes are paid in April."}]})
    store.put(("n",), "hidden", {"text": "Taxes, taxes, taxes."}, index=False)
    store.put(("n",), "own", {"text": "Unrelated.", "title": "How to repair a bicycle"}, index=["title"])
    found = store.search(("n",), query="When are taxes due?", limit=2)
    assert found[0].key == "tax"
    assert found[0].score is not None
    assert found[1].score is not None
    assert found[0].score > found[1].score
    assert [item.key for item in store.search(("n",), query="bike", limit=1)] == ["own"]
    assert "hidden" not in [item.key for item in store.search(("n",), query="taxes")]
    assert "hidden" in [item.key for item in store.search(("n",))]
    assert [item.key for item in store.search(("n",), query="taxes", filter={"text": "Miscellaneous."})] == ["tax"]


def test_spec_9_4_times_to_live_begin_anew_with_a_read(client: SyncClient, user_id: str) -> None:
    store = MnemeStore(client, user_id, ttl={"default_ttl": 5, "refresh_on_read": False})
    store.put(("n",), "default", {})
    store.put(("n",), "short", {}, ttl=1)
    store.put(("n",), "forever", {}, ttl=None)

    def expiries() -> list[Any]:
        names = [DocumentName(("n",), key) for key in ("default", "short", "forever")]
        return [one.expire_time for one in client.batch_get_documents(user_id, names)]

    before = expiries()
    assert before[2] is None
    assert 200 < (before[0] - before[1]).total_seconds() < 280
    assert store.get(("n",), "short") is not None
    assert expiries() == before
    store.get(("n",), "short", refresh_ttl=True)
    assert expiries()[1] > before[1]
    store.search(("n",), refresh_ttl=True)
    assert expiries()[0] > before[0]


def test_spec_9_4_a_namespace_may_name_the_user(client: SyncClient, user_id: str) -> None:
    store = MnemeStore(client, lambda namespace: f"{user_id}-{namespace[1]}", splits_batches=True)
    store.batch([PutOp(("memories", "ana"), "k", {"v": 1}), PutOp(("memories", "ben"), "k", {"v": 2})])
    assert [document.value for document in client.list_documents(f"{user_id}-ana")] == [{"v": 1}]
    assert [item.value for item in store.search(("memories", "ben"))] == [{"v": 2}]
    assert store.list_namespaces(prefix=("memories", "ana")) == [("memories", "ana")]


async def test_spec_9_4_a_thousand_concurrent_calls_lose_nothing(aclient: Client, user_id: str) -> None:
    astore = AsyncMnemeStore(aclient, user_id, fields=())
    count = 1_000
    await asyncio.gather(*(astore.aput(("n", str(i % 7)), str(i), {"i": i}) for i in range(count)))
    items = await asyncio.gather(*(astore.aget(("n", str(i % 7)), str(i)) for i in range(count)))
    assert [item.value["i"] if item else None for item in items] == list(range(count))
    again = await asyncio.gather(*(astore.aget(("n", "0"), "0") for _ in range(count)))
    assert all(item is not None and item.value == {"i": 0} for item in again)
    assert len(await astore.asearch(("n",), limit=2_000)) == count


async def test_spec_9_4_the_asynchronous_store_does_what_the_other_does(
    astore: AsyncMnemeStore,
) -> None:
    own = InMemoryStore()
    fill(own)
    await astore.abatch([PutOp(namespace, f"k{i}", {"i": i}) for i, namespace in enumerate(NAMESPACES)])
    await astore.abatch([PutOp(("items",), f"i{i}", value) for i, value in enumerate(VALUES)])
    assert shown(await astore.asearch((), limit=50)) == shown(own.search((), limit=50))
    assert shown(await astore.asearch(("items",), filter={"n": {"$gt": 1}})) == shown(
        own.search(("items",), filter={"n": {"$gt": 1}})
    )
    assert await astore.alist_namespaces(prefix=("a",), limit=2, offset=1) == own.list_namespaces(
        prefix=("a",), limit=2, offset=1
    )
    assert (await astore.asearch((), query="color blue", limit=1))[0].score is not None
    item = await asyncio.to_thread(astore.get, ("items",), "i0")
    assert item is not None
    assert item.value == VALUES[0]
    await astore.adelete(("items",), "i0")
    assert await astore.aget(("items",), "i0") is None


async def test_spec_9_4_a_graph_reads_and_writes_its_store(astore: AsyncMnemeStore) -> None:
    async def node(state: MessagesState, *, store: BaseStore) -> dict[str, Any]:
        known = await store.aget(("memories", "ana"), "city")
        await store.aput(("memories", "ana"), "city", {"name": state["messages"][-1].content})
        return {"messages": [("ai", known.value["name"] if known else "unknown")]}

    builder = StateGraph(MessagesState)
    builder.add_node("node", node)
    builder.add_edge(START, "node")
    graph = builder.compile(store=astore)
    said = [await graph.ainvoke({"messages": [("user", city)]}) for city in ("Porto", "Ghent")]
    assert [state["messages"][-1].content for state in said] == ["unknown", "Porto"]


def test_spec_9_4_a_batch_that_would_be_written_in_part_is_refused_before(client: SyncClient, user_id: str) -> None:
    puts = [PutOp(("n",), f"k{number}", {"n": number}, index=False) for number in range(1_001)]
    with pytest.raises(ValueError, match="2 requests"):
        MnemeStore(client, user_id).batch(puts)
    assert MnemeStore(client, user_id).search(("n",)) == []
    of_two = MnemeStore(client, lambda namespace: f"{user_id}-{namespace[0]}")
    with pytest.raises(ValueError, match="of one user"):
        of_two.batch([PutOp(("a",), "k", {"n": 1}), PutOp(("b",), "k", {"n": 1})])
    MnemeStore(client, user_id, splits_batches=True).batch(puts)
    assert len(MnemeStore(client, user_id).search(("n",), limit=2_000)) == len(puts)


async def test_spec_9_4_an_asynchronous_batch_is_refused_too_and_single_calls_are_not(
    aclient: Client, user_id: str
) -> None:
    puts = [PutOp(("n",), f"k{number}", {"n": number}, index=False) for number in range(1_001)]
    with pytest.raises(ValueError, match="2 requests"):
        await AsyncMnemeStore(aclient, user_id).abatch(puts)
    of_two = AsyncMnemeStore(aclient, lambda namespace: f"{user_id}-{namespace[0]}")
    with pytest.raises(ValueError, match="of one user"):
        await of_two.abatch([PutOp(("a",), "k", {"n": 1}), PutOp(("b",), "k", {"n": 1})])
    assert await AsyncMnemeStore(aclient, user_id).asearch(("n",)) == []
    await asyncio.gather(of_two.aput(("a",), "k", {"n": 1}), of_two.aput(("b",), "k", {"n": 2}))
    found = await of_two.aget(("b",), "k")
    assert found is not None
    assert found.value == {"n": 2}


def test_spec_9_4_a_batch_of_too_many_bytes_is_refused(client: SyncClient, user_id: str) -> None:
    puts = [PutOp(("n",), f"k{number}", {"text": "é" * 100_000}, index=False) for number in range(9)]
    with pytest.raises(ValueError, match="2 requests"):
        MnemeStore(client, user_id).batch(puts)


async def test_spec_9_4_the_sweeper_has_nothing_to_do(store: MnemeStore, astore: AsyncMnemeStore) -> None:
    assert store.sweep_ttl() == 0
    assert store.start_ttl_sweeper(sweep_interval_minutes=1).result(timeout=1) is None
    assert store.stop_ttl_sweeper(timeout=1)
    assert await astore.sweep_ttl() == 0
    await (await astore.start_ttl_sweeper())
    assert await astore.stop_ttl_sweeper()
