"""Many concurrent calls of both stores: none is lost, fails or gets another's value, whatever is written meanwhile."""

from __future__ import annotations

import asyncio
import operator
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Annotated, Any, TypedDict

import pytest
from langgraph.graph import END, START, StateGraph
from langgraph.store.base import BaseStore, GetOp, ListNamespacesOp, Op, PutOp, SearchOp
from langgraph.types import Send
from mneme_langgraph import AsyncMnemeStore, MnemeStore

from mneme_client import Client, MnemeClientError, SyncClient

COUNT = 1_000
GROUPS = 50
THREADS = 32
TOPICS = ("bread", "ships", "chess", "snow", "opera")
PARTS = ("set", "of", "twenty")
PART_COUNT = 20


def group(i: int) -> tuple[str, ...]:
    return ("numbers", str(i % GROUPS))


def items() -> list[PutOp]:
    numbers = [PutOp(group(i), str(i), {"i": i}, index=False) for i in range(COUNT)]
    topics = [PutOp(("topics",), topic, {"text": f"a text about {topic}"}) for topic in TOPICS]
    return [*numbers, *topics]


def reads(i: int) -> list[Op]:
    """What reader number i asks for; every tenth searches by meaning too."""
    meaning = [SearchOp(("topics",), query=TOPICS[i // 10 % len(TOPICS)], limit=1)] if i % 10 == 0 else []
    return [GetOp(group(i), str(i)), GetOp(group(i), "absent"), SearchOp(group(i), {"i": i}), *meaning]


def check(i: int, results: list[Any]) -> None:
    """Whether reader number i got what it asked for."""
    got, absent, found, *meaning = results
    assert (got.namespace, got.key, got.value) == (group(i), str(i), {"i": i})
    assert absent is None
    assert [(item.key, item.value) for item in found] == [(str(i), {"i": i})]
    assert [item.key for one in meaning for item in one] == ([TOPICS[i // 10 % len(TOPICS)]] if i % 10 == 0 else [])


async def test_spec_9_4_a_thousand_tasks_read_what_they_ask_for(aclient: Client, user_id: str) -> None:
    astore = AsyncMnemeStore(aclient, user_id, splits_batches=True)
    await astore.abatch(items())
    results = await asyncio.gather(*(astore.abatch(reads(i)) for i in range(COUNT)))
    assert len(results) == COUNT
    for i, found in enumerate(results):
        check(i, found)


class Numbers(TypedDict):
    """What the nodes of a graph found."""

    found: Annotated[list[tuple[int, int, int]], operator.add]


async def test_spec_9_4_a_thousand_nodes_of_a_graph_read_what_they_ask_for(aclient: Client, user_id: str) -> None:
    async def read(state: dict[str, int], *, store: BaseStore) -> dict[str, Any]:
        i = state["i"]
        item, found = await asyncio.gather(store.aget(group(i), str(i)), store.asearch(group(i), filter={"i": i}))
        assert item is not None
        return {"found": [(i, item.value["i"], found[0].value["i"])]}

    def fan_out(_state: Numbers) -> list[Send]:
        return [Send("read", {"i": i}) for i in range(COUNT)]

    astore = AsyncMnemeStore(aclient, user_id, splits_batches=True)
    await astore.abatch(items())
    builder = StateGraph(Numbers)
    builder.add_node("read", read)
    builder.add_conditional_edges(START, fan_out, ["read"])
    builder.add_edge("read", END)
    state = await builder.compile(store=astore).ainvoke({"found": []})
    assert sorted(state["found"]) == [(i, i, i) for i in range(COUNT)]


def test_spec_9_4_a_thousand_reads_of_threads_get_what_they_ask_for(client: SyncClient, user_id: str) -> None:
    store = MnemeStore(client, user_id)
    MnemeStore(client, user_id, splits_batches=True).batch(items())
    with ThreadPoolExecutor(THREADS) as threads:
        results = list(threads.map(lambda i: store.batch(reads(i)), range(COUNT)))
    assert len(results) == COUNT
    for i, found in enumerate(results):
        check(i, found)


def version(i: int) -> list[Op]:
    """A batch that replaces twenty items, and moves another one from place to place."""
    puts = [PutOp(PARTS, f"part{j}", {"version": i}, index=False) for j in range(PART_COUNT)]
    here, there = (("place", str((i + turn) % 2)) for turn in (0, 1))
    return [*puts, PutOp(here, "it", {"version": i}, index=False), PutOp(there, "it", None)]


def whole() -> list[Op]:
    return [
        SearchOp(PARTS, limit=PART_COUNT),
        SearchOp(("place",), limit=2),
        *(GetOp(("place", place), "it") for place in "01"),
        *(GetOp(PARTS, f"part{j}") for j in range(PART_COUNT)),
    ]


def versions_in(results: list[Any]) -> list[int]:
    """The versions that a search, and that gets, saw: each of one batch alone."""
    parts, places, first, second, *got = results
    assert len(parts) == PART_COUNT
    assert len(places) == 1
    assert (first is None) != (second is None)
    seen = [{item.value["version"] for item in found} for found in (parts, [*got, first or second])]
    assert [len(versions) for versions in seen] == [1, 1]
    return [versions.pop() for versions in seen]


async def test_spec_9_4_tasks_see_batches_of_writes_whole(aclient: Client, user_id: str) -> None:
    writer, reader = AsyncMnemeStore(aclient, user_id), AsyncMnemeStore(aclient, user_id)
    await writer.abatch(version(0))

    async def read() -> list[int]:
        return versions_in(await reader.abatch(whole()))

    reading = asyncio.gather(*(read() for _ in range(COUNT)))
    written = 0
    while not reading.done():
        written += 1
        await writer.abatch(version(written))
    seen = {version for versions in await reading for version in versions}
    assert len(seen) > 2
    assert seen <= set(range(written + 1))
    assert versions_in(await reader.abatch(whole())) == [written, written]


def test_spec_9_4_threads_see_batches_of_writes_whole(client: SyncClient, user_id: str) -> None:
    store = MnemeStore(client, user_id)
    store.batch(version(0))
    with ThreadPoolExecutor(THREADS) as threads:
        reading = [threads.submit(lambda: versions_in(store.batch(whole()))) for _ in range(COUNT)]
        written = 0
        while not all(read.done() for read in reading):
            written += 1
            store.batch(version(written))
    seen = {version for read in reading for version in read.result()}
    assert len(seen) > 2
    assert seen <= set(range(written + 1))
    assert versions_in(store.batch(whole())) == [written, written]


def mixed(store: BaseStore, i: int, depth: int) -> list[Callable[[], Any]]:
    namespace, key = ("mixed", "a", "b", str(depth % 2)), f"k{i}"
    return [
        lambda: store.put(namespace, key, {"i": i}),
        lambda: store.get(namespace, key),
        lambda: store.list_namespaces(max_depth=depth + 1),
        lambda: store.search(("mixed",)),
        lambda: store.put(namespace, key, {"i": -i}),
        lambda: store.delete(namespace, key),
    ]


async def test_spec_9_4_ported_threads_call_the_asynchronous_store(aclient: Client, user_id: str) -> None:
    astore = AsyncMnemeStore(aclient, user_id)
    calls = [call for depth in range(10) for i in range(100) for call in mixed(astore, i, depth)]
    loop = asyncio.get_running_loop()
    with ThreadPoolExecutor(10) as threads:
        results = await asyncio.gather(*(loop.run_in_executor(threads, call) for call in calls))
    assert len(results) == 6_000
    assert all(item is None or abs(item.value["i"]) == i % 100 for i, item in enumerate(results[1::6]))


async def test_spec_9_4_ported_sixty_thousand_calls_in_one_event_loop(aclient: Client, user_id: str) -> None:
    astore = AsyncMnemeStore(aclient, user_id)
    calls = []
    for depth in range(10):
        for i in range(1_000):
            namespace, key = ("mixed", "a", "b", str(depth % 2)), f"k{i}"
            calls += [
                astore.aput(namespace, key, {"i": i}),
                astore.aget(namespace, key),
                astore.alist_namespaces(max_depth=depth + 1),
                astore.asearch(("mixed",)),
                astore.aput(namespace, key, {"i": -i}),
                astore.adelete(namespace, key),
            ]
    results = await asyncio.gather(*calls)
    assert len(results) == 60_000
    assert await astore.asearch(("mixed",)) == []


async def test_spec_9_4_ported_blocking_calls_in_the_event_loop_are_refused(aclient: Client, user_id: str) -> None:
    astore = AsyncMnemeStore(aclient, user_id)
    for call in (
        lambda: astore.put(("a",), "k", {}),
        lambda: astore.get(("a",), "k"),
        lambda: astore.delete(("a",), "k"),
        lambda: astore.search(("a",)),
        lambda: astore.list_namespaces(prefix=("a",)),
        lambda: astore.batch([PutOp(("a",), "k", {}), ListNamespacesOp()]),
    ):
        with pytest.raises(asyncio.InvalidStateError):
            call()
    with ThreadPoolExecutor(1) as threads:
        loop = asyncio.get_running_loop()
        await loop.run_in_executor(threads, lambda: astore.put(("a",), "k", {"v": 1}))
        item = await loop.run_in_executor(threads, lambda: astore.get(("a",), "k"))
        assert item is not None
        assert item.value == {"v": 1}
        assert await loop.run_in_executor(threads, astore.list_namespaces) == [("a",)]


async def test_spec_9_4_a_failure_of_the_asynchronous_store_is_the_error_itself(aclient: Client, user_id: str) -> None:
    astore = AsyncMnemeStore(aclient, user_id)
    with pytest.raises(ValueError, match="unknown operator"):
        await astore.asearch(("a",), filter={"v": {"$like": 1}})
    with pytest.raises(ValueError, match="unknown operator"):
        await astore.abatch([GetOp(("a",), "k"), SearchOp(("a",), {"v": {"$like": 1}})])


async def test_spec_9_4_of_many_concurrent_calls_those_alone_fail_that_are_refused(
    aclient: Client, user_id: str
) -> None:
    """Calls of one moment are one batch; those of other callers, and of other users, do not suffer from each other."""
    astore = AsyncMnemeStore(aclient, lambda namespace: f"{user_id}-{namespace[0]}", fields=())
    users = [f"u{i % 5}" for i in range(COUNT // 4)]
    calls: list[Any] = []
    for i, user in enumerate(users):
        is_wrong = i % 10 == 0
        operator_name = "$like" if is_wrong else "$eq"
        calls += [
            astore.aput((user, "n"), f"k{i}", {"text": "x" * 300_000 if is_wrong else "x"}),
            astore.aget((user, "n"), f"k{i}"),
            astore.asearch((user, "n"), filter={"text": {operator_name: str(i)}}),
            astore.alist_namespaces(prefix=(user,)),
        ]
    results = await asyncio.gather(*calls, return_exceptions=True)
    assert len(results) == COUNT
    for i in range(len(users)):
        put, got, searched, listed = results[4 * i : 4 * i + 4]
        is_wrong = i % 10 == 0
        assert isinstance(put, MnemeClientError) if is_wrong else put is None
        assert got is None
        assert isinstance(searched, ValueError) if is_wrong else searched == []
        assert listed == []
    stored = [item.key for user in sorted(set(users)) for item in await astore.asearch((user,), limit=COUNT)]
    assert sorted(stored) == sorted(f"k{i}" for i in range(len(users)) if i % 10)


async def test_spec_9_4_a_batch_of_one_caller_fails_as_a_whole(aclient: Client, user_id: str) -> None:
    astore = AsyncMnemeStore(aclient, user_id)
    with pytest.raises(MnemeClientError):
        await astore.abatch([PutOp(("n",), "good", {}), PutOp(("n",), "large", {"text": "x" * 300_000})])
    assert await astore.asearch(("n",)) == []
