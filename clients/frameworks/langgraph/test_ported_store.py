"""What the tests of LangGraph's PostgreSQL and SQLite stores check, of both stores: batches, items and filters.

docs/frameworks.md lists the scenarios of those tests and where they are checked here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from langgraph.store.base import BaseStore, GetOp, Item, ListNamespacesOp, MatchCondition, PutOp, SearchItem, SearchOp

OpenStore = Callable[..., BaseStore]

TREES = ("garden", "trees")
HERBS = ("garden", "herbs")
PLANTS: dict[tuple[tuple[str, ...], str], dict[str, Any]] = {
    (TREES, "oak"): {"name": "Oak", "leaves": "lobed", "uses": ["timber"]},
    (TREES, "pine"): {"name": "Pine", "leaves": "needles", "uses": ["timber", "resin"]},
    (HERBS, "mint"): {"name": "Mint", "leaves": "serrate", "uses": ["tea"]},
    (("cellar",), "mushroom"): {"name": "Mushroom", "leaves": "none", "uses": ["tea"]},
}


def plant(store: BaseStore) -> None:
    store.batch([PutOp(namespace, key, value) for (namespace, key), value in PLANTS.items()])


def keys(found: list[SearchItem]) -> list[str]:
    return sorted(item.key for item in found)


def numbered(store: BaseStore, member: str, *values: Any) -> None:
    store.batch([PutOp(("n",), f"k{i}", {member: value}) for i, value in enumerate(values)])


def test_spec_9_4_ported_results_of_a_batch_have_the_places_of_their_operations(any_store: BaseStore) -> None:
    plant(any_store)
    operations = {
        "got": GetOp(TREES, "oak"),
        "put again": PutOp(HERBS, "mint", PLANTS[HERBS, "mint"]),
        "searched": SearchOp(("garden",), {"leaves": "needles"}, limit=5),
        "all": SearchOp((), limit=3),
        "listed": ListNamespacesOp(limit=10),
        "absent": GetOp(("garden",), "oak"),
        "put": PutOp(("garden",), "bench", {"name": "Bench"}),
    }
    for names in (list(operations), list(operations)[::-1]):
        results = dict(zip(names, any_store.batch([operations[name] for name in names]), strict=True))
        assert isinstance(results["got"], Item)
        assert (results["got"].namespace, results["got"].key) == (TREES, "oak")
        assert results["got"].value == PLANTS[TREES, "oak"]
        assert keys(results["searched"]) == ["pine"]
        assert len(results["all"]) == 3
        assert {TREES, HERBS, ("cellar",)} <= set(results["listed"])
        assert (results["absent"], results["put"], results["put again"]) == (None, None, None)
    bench = any_store.get(("garden",), "bench")
    assert bench is not None
    assert bench.value == {"name": "Bench"}


def test_spec_9_4_ported_a_batch_of_gets_has_none_where_nothing_is(any_store: BaseStore) -> None:
    plant(any_store)
    found = any_store.batch([GetOp(TREES, key) for key in ("oak", "pine", "elm")])
    assert [item and item.key for item in found] == ["oak", "pine", None]


def test_spec_9_4_ported_a_batch_of_puts_deletes_where_the_value_is_none(any_store: BaseStore) -> None:
    any_store.put(TREES, "elm", {"name": "Elm"})
    puts = [PutOp(TREES, "ash", {"name": "Ash"}), PutOp(TREES, "elm", None), PutOp(TREES, "yew", None)]
    assert any_store.batch(puts) == [None, None, None]
    assert keys(any_store.search(("garden",))) == ["ash"]


def test_spec_9_4_ported_a_batch_of_searches_keeps_them_apart(any_store: BaseStore) -> None:
    plant(any_store)
    teas, two, trees = any_store.batch(
        [SearchOp((), {"uses": ["tea"]}, limit=10), SearchOp(("garden",), limit=2), SearchOp(TREES, limit=10)]
    )
    assert keys(teas) == ["mint", "mushroom"]
    assert len(two) == 2
    assert {item.namespace for item in trees} == {TREES}


def test_spec_9_4_ported_a_batch_lists_namespaces(any_store: BaseStore) -> None:
    for path in (("a", "x", "open"), ("a", "x", "closed"), ("a", "y", "open"), ("b", "x", "open")):
        any_store.put(path, "k", {})
    every, cut, opened, as_text = any_store.batch(
        [
            ListNamespacesOp(limit=10),
            ListNamespacesOp(max_depth=2, limit=10),
            ListNamespacesOp((MatchCondition("suffix", ("open",)),), limit=10),
            ListNamespacesOp((MatchCondition("suffix", "open"),), limit=10),  # type: ignore[arg-type]
        ]
    )
    assert len(every) == 4
    assert cut == [("a", "x"), ("a", "y"), ("b", "x")]
    assert opened == as_text == [("a", "x", "open"), ("a", "y", "open"), ("b", "x", "open")]


def test_spec_9_4_ported_several_conditions_on_namespaces_all_hold(any_store: BaseStore) -> None:
    for path in (("a", "x", "open"), ("a", "y", "open"), ("b", "x", "open"), ("b", "x")):
        any_store.put(path, "k", {})

    def listed(*conditions: tuple[Any, tuple[str, ...]]) -> list[tuple[str, ...]]:
        return any_store.batch([ListNamespacesOp(tuple(MatchCondition(*one) for one in conditions))])[0]

    assert listed(("prefix", ("a",)), ("prefix", ("*", "y"))) == [("a", "y", "open")]
    assert listed(("suffix", ("open",)), ("suffix", ("x", "*"))) == [("a", "x", "open"), ("b", "x", "open")]
    assert listed(("prefix", ("b",)), ("suffix", ("*", "x", "open"))) == [("b", "x", "open")]
    assert listed(("prefix", ("a",)), ("prefix", ("b",))) == []
    with pytest.raises(ValueError, match="middle"):
        listed(("middle", ("x",)))


def test_spec_9_4_ported_an_item_is_put_got_replaced_and_deleted(any_store: BaseStore) -> None:
    value = {"name": "Rose", "text": "Thorns, and a scent."}
    assert any_store.search(("garden",)) == []
    any_store.put(HERBS, "rose", value)
    first = any_store.get(HERBS, "rose")
    assert first is not None
    assert (first.namespace, first.key, first.value) == (HERBS, "rose", value)
    assert first.created_at.tzinfo is not None
    any_store.put(HERBS, "rose", {"name": "Dog rose"})
    second = any_store.get(HERBS, "rose")
    assert second is not None
    assert second.value == {"name": "Dog rose"}
    assert second.updated_at > first.updated_at
    assert any_store.get(TREES, "rose") is None
    any_store.put(HERBS, "sage", {"name": "Sage"})
    assert keys(any_store.search(("garden",), limit=10)) == ["rose", "sage"]
    assert any_store.list_namespaces(prefix=("garden",)) == [HERBS]
    any_store.delete(HERBS, "rose")
    any_store.delete(HERBS, "sage")
    assert [any_store.get(HERBS, key) for key in ("rose", "sage")] == [None, None]
    assert any_store.search(("garden",), limit=10) == []


def test_spec_9_4_ported_a_search_has_prefix_filter_limit_and_offset(any_store: BaseStore) -> None:
    plant(any_store)
    assert len(any_store.search([])) == 4  # type: ignore[arg-type]
    assert keys(any_store.search(["garden", "trees"])) == ["oak", "pine"]  # type: ignore[arg-type]
    assert keys(any_store.search((), filter={"uses": ["tea"]})) == ["mint", "mushroom"]
    assert keys(any_store.search((), filter={"uses": ["timber"], "leaves": "lobed"})) == ["oak"]
    pages = [any_store.search((), limit=2, offset=offset) for offset in (0, 2, 4)]
    assert [len(page) for page in pages] == [2, 2, 0]
    assert {item.key for page in pages for item in page} == {key for _, key in PLANTS}
    assert len(any_store.search((), offset=3)) == 1


def test_spec_9_4_ported_what_was_put_last_comes_first(any_store: BaseStore) -> None:
    for key in ("rose", "aster", "lily", "daisy"):
        any_store.put(HERBS, key, {"kind": "flower"})
    any_store.put(TREES, "aster", {"kind": "flower"})
    any_store.put(HERBS, "aster", {"kind": "flower", "color": "blue"})
    any_store.get(HERBS, "rose")
    expected = [(HERBS, "aster"), (TREES, "aster"), (HERBS, "daisy"), (HERBS, "lily"), (HERBS, "rose")]

    def found(**arguments: Any) -> list[tuple[tuple[str, ...], str]]:
        return [(item.namespace, item.key) for item in any_store.search(("garden",), **arguments)]

    assert found() == expected
    assert found(filter={"kind": "flower"}) == expected
    assert [found(limit=2, offset=offset) for offset in (0, 2, 4)] == [expected[:2], expected[2:4], expected[4:]]
    assert found(filter={"color": "blue"}, limit=1) == expected[:1]


def test_spec_9_4_ported_numbers_compare_as_numbers_and_strings_as_strings(any_store: BaseStore) -> None:
    numbered(any_store, "height", 3, 8, 20, 21, 8.5)
    any_store.put(("n",), "text", {"height": "9"})

    def heights(operator: str, value: Any) -> list[Any]:
        found = any_store.search(("n",), filter={"height": {operator: value}})
        return sorted(item.value["height"] for item in found)

    assert heights("$gte", 20) == [20, 21]
    assert heights("$gt", 8) == [8.5, 20, 21]
    assert heights("$lt", 20) == [3, 8, 8.5]
    assert heights("$lte", 8) == [3, 8]
    assert heights("$gt", 8.4) == [8.5, 20, 21]
    assert heights("$gt", "8") == ["9"]
    assert heights("$gte", True) == []
    assert heights("$eq", "9") == ["9"]
    assert len(any_store.search(("n",), filter={"height": {"$ne": 20}})) == 5


@pytest.mark.parametrize("operator", ["$like", "$in", "$regex", "$"])
def test_spec_9_4_ported_an_unknown_operator_is_refused(any_store: BaseStore, operator: str) -> None:
    with pytest.raises(ValueError, match="unknown operator"):
        any_store.search((), filter={"height": {operator: 3}})


def test_spec_9_4_ported_bounds_beyond_the_numbers_of_json(any_store: BaseStore) -> None:
    numbered(any_store, "price", 4, 70, -2.5, 10**50, "cheap")
    infinity, nothing = float("inf"), float("nan")

    def count(operator: str, value: float) -> int:
        return len(any_store.search(("n",), filter={"price": {operator: value}}))

    assert [count(operator, infinity) for operator in ("$lt", "$lte", "$gt", "$gte")] == [4, 4, 0, 0]
    assert [count(operator, -infinity) for operator in ("$lt", "$lte", "$gt", "$gte")] == [0, 0, 4, 4]
    assert [count(operator, nothing) for operator in ("$eq", "$lt", "$gte", "$ne")] == [0, 0, 0, 5]
    assert [count("$eq", infinity), count("$ne", infinity)] == [0, 5]
    assert [count("$lt", 10**100), count("$gt", 10**40), count("$lt", 0)] == [4, 1, 1]
    assert any_store.search(("n",), filter={"price": nothing}) == []


def test_spec_9_4_ported_true_and_false_are_no_numbers(any_store: BaseStore) -> None:
    numbered(any_store, "on", True, False, True, 1, 0)
    assert keys(any_store.search(("n",), filter={"on": True})) == ["k0", "k2"]
    assert keys(any_store.search(("n",), filter={"on": False})) == ["k1"]


HOSTILE = [
    "open' OR 'a'='a",
    "open'; --",
    "open' UNION SELECT value FROM gateway.documents --",
    "open\x00' OR 'a'='a",
    "''''",
    "open' OR 'ж'='ж",
    '"open"',
    "$.open",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_spec_9_4_ported_sql_in_a_filter_is_text(any_store: BaseStore, text: str) -> None:
    any_store.batch([PutOp(("gates",), state, {"state": state, "it's": state}) for state in ("open", "shut")])
    assert any_store.search(("gates",), filter={"state": text}) == []
    assert any_store.search(("gates",), filter={text: "open"}) == []
    assert any_store.search(("gates",), filter={f"state') = 'open' OR '{text}": "open"}) == []
    assert keys(any_store.search(("gates",), filter={"it's": "open"})) == ["open"]
    any_store.put(("gates",), "odd", {"state": text})
    assert keys(any_store.search(("gates",), filter={"state": text})) == ["odd"]


def test_spec_9_4_ported_names_in_filters_may_have_hyphens_digits_and_periods(
    open_store: Callable[..., BaseStore],
) -> None:
    store = open_store()
    store.put(("n",), "hyphen", {"max-height": 3, "care": {"light-level": "full"}})
    store.put(("n",), "digit", {"2nd": "x", "care": {"1st": "water"}})
    store.put(("n",), "period", {"care.1st": "nothing"})
    assert keys(store.search(("n",), filter={"max-height": 3})) == ["hyphen"]
    assert keys(store.search(("n",), filter={"2nd": "x"})) == ["digit"]
    assert keys(store.search(("n",), filter={"care": {"light-level": "full"}})) == ["hyphen"]
    assert keys(store.search(("n",), filter={"care.1st": "nothing"})) == ["period"]
    dotted = open_store(dotted_filters=True)
    assert keys(dotted.search(("n",), filter={"care.light-level": "full"})) == ["hyphen"]
    assert keys(dotted.search(("n",), filter={"care.1st": {"$gte": "w"}})) == ["digit"]
    assert keys(dotted.search(("n",), filter={"max-height": {"$lt": 5}})) == ["hyphen"]
