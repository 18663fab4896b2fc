"""What the tests of LangGraph's PostgreSQL and SQLite stores check, of both stores: namespaces."""

from __future__ import annotations

from typing import Any

import pytest
from langgraph.store.base import (
    BaseStore,
    GetOp,
    InvalidNamespaceError,
    ListNamespacesOp,
    MatchCondition,
    PutOp,
    SearchOp,
)

from mneme_client import MnemeClientError

Namespace = tuple[str, ...]


def fill(store: BaseStore, *namespaces: Namespace) -> None:
    store.batch([PutOp(namespace, "k", {"labels": list(namespace)}) for namespace in namespaces])


def searched(store: BaseStore, *prefix: str) -> set[Namespace]:
    return {item.namespace for item in store.search(prefix, limit=100)}


def test_spec_9_4_ported_namespaces_are_listed_by_prefix_suffix_and_depth(any_store: BaseStore) -> None:
    namespaces = [
        ("shop", "eu", "fruit", "fresh", "shop"),
        ("shop", "eu", "fruit", "dried", "shop"),
        ("shop", "eu", "bread", "fresh", "shop"),
        ("shop", "eu", "bread", "dried", "shop"),
        ("shop", "us", "fruit", "fresh", "shop"),
        ("shop", "us", "fruit", "from", "farms", "fresh", "shop"),
        ("shop", "us", "fruit", "dried", "shop"),
    ]
    fill(any_store, *namespaces)

    def listed(**conditions: Any) -> list[Namespace]:
        return any_store.list_namespaces(**conditions)

    assert set(listed()) == set(listed(prefix=("shop",))) == set(namespaces)
    assert set(listed(prefix=["shop", "eu"])) == set(namespaces[:4])
    assert set(listed(prefix=("shop", "eu", "fruit"))) == set(namespaces[:2])
    assert {path[-2] for path in listed(suffix=["fresh", "shop"])} == {"fresh"}
    assert len(listed(suffix=("fresh", "shop"))) == 4
    assert set(listed(prefix=("shop", "eu"), suffix=("fresh", "shop"))) == {namespaces[0], namespaces[2]}
    assert len(listed(prefix=("shop", "*", "fruit"))) == 5
    assert len(listed(suffix=("*", "fresh", "shop"))) == 4
    assert listed(suffix=("from", "*", "fresh", "shop")) == [namespaces[5]]
    assert set(listed(max_depth=3)) == {path[:3] for path in namespaces}
    assert sorted(listed(max_depth=4, prefix=("shop", "*", "fruit"))) == sorted(
        {path[:4] for path in namespaces if path[2] == "fruit"}
    )
    first, rest = listed(prefix=("shop",), limit=3), listed(prefix=("shop",), offset=3)
    assert (len(first), len(rest)) == (3, 4)
    assert set(first) | set(rest) == set(namespaces)
    any_store.batch([PutOp(namespace, "k", None) for namespace in namespaces])
    assert listed() == []


def test_spec_9_4_ported_a_prefix_ends_where_a_label_ends(any_store: BaseStore) -> None:
    fill(any_store, ("sea",), ("sea", "bay"), ("sea", "bay", "cove"), ("season",), ("season", "dry"), ("sea2",))
    assert searched(any_store, "sea") == {("sea",), ("sea", "bay"), ("sea", "bay", "cove")}
    assert searched(any_store, "season") == {("season",), ("season", "dry")}
    assert searched(any_store, "sea2") == {("sea2",)}
    assert searched(any_store, "se") == set()


def test_spec_9_4_ported_listed_prefixes_and_suffixes_end_where_labels_end(any_store: BaseStore) -> None:
    fill(any_store, ("sea",), ("sea", "bay"), ("season",), ("season", "dry"))
    fill(any_store, ("map", "towns", "ice"), ("map", "towns", "nice"), ("map", "x", "y", "ice"))
    assert set(any_store.list_namespaces(prefix=["sea"])) == {("sea",), ("sea", "bay")}
    assert set(any_store.list_namespaces(suffix=["ice"])) == {("map", "towns", "ice"), ("map", "x", "y", "ice")}
    assert any_store.list_namespaces(prefix=["map", "*", "ice"]) == [("map", "towns", "ice")]
    assert len(any_store.list_namespaces(prefix=["map"])) == 3


def test_spec_9_4_ported_patterns_of_other_languages_are_plain_labels(any_store: BaseStore) -> None:
    pairs = [
        ("star*", "starry"),
        ("q?m", "qim"),
        ("br[ae]d", "brad"),
        ("row_1", "rowX1"),
        ("a%b", "axxb"),
        ("plus+", "pluss"),
        ("(x)", "x"),
        ("^a$", "a"),
    ]
    for label, other in pairs:
        fill(any_store, (label,), (other,), (label, "inner"))
    for label, other in pairs:
        assert searched(any_store, label) == {(label,), (label, "inner")}
        assert set(any_store.list_namespaces(prefix=[label])) == {(label,), (label, "inner")}
        assert any_store.list_namespaces(prefix=[label, "inner"]) == [(label, "inner")]
        assert any_store.list_namespaces(suffix=[other]) == [(other,)]
        assert any_store.list_namespaces(prefix=[label, "*"]) == [(label, "inner")]


def test_spec_9_4_ported_upper_and_lower_case_differ(any_store: BaseStore) -> None:
    fill(any_store, ("Delta",), ("delta",), ("DELTA", "x"))
    assert searched(any_store, "delta") == {("delta",)}
    assert searched(any_store, "Delta") == {("Delta",)}
    assert any_store.list_namespaces(prefix=["DELTA"]) == [("DELTA", "x")]


def test_spec_9_4_ported_an_empty_prefix_finds_every_namespace(any_store: BaseStore) -> None:
    namespaces = {("a",), ("b", "c"), ("d", "e", "f")}
    fill(any_store, *namespaces)
    assert searched(any_store) == namespaces


def test_spec_9_4_ported_labels_with_control_characters_are_refused_and_match_nothing(any_store: BaseStore) -> None:
    fill(any_store, ("team", "ana"))
    for label in ("ana\n", "ana\x1f"):
        with pytest.raises(MnemeClientError, match="control character"):
            any_store.put(("team", label), "k", {})
    assert any_store.list_namespaces(suffix=["ana"]) == [("team", "ana")]
    assert any_store.list_namespaces(prefix=["team", "ana"]) == [("team", "ana")]


@pytest.mark.parametrize("namespace", [("a.b",), ("a", ""), ("a", 1)])
@pytest.mark.parametrize("kind", ["get", "put", "delete", "search", "prefix", "suffix"])
def test_spec_9_4_ported_a_batch_with_a_wrong_namespace_does_nothing(
    any_store: BaseStore, namespace: Namespace, kind: str
) -> None:
    operations = {
        "get": GetOp(namespace, "k"),
        "put": PutOp(namespace, "k", {"v": 2}),
        "delete": PutOp(namespace, "k", None),
        "search": SearchOp(namespace),
        "prefix": ListNamespacesOp((MatchCondition("prefix", namespace),)),
        "suffix": ListNamespacesOp((MatchCondition("suffix", namespace),)),
    }
    any_store.put(("a", "b"), "k", {"v": 1})
    with pytest.raises(InvalidNamespaceError):
        any_store.batch([PutOp(("good",), "k", {}), operations[kind]])
    assert [(item.namespace, item.value) for item in any_store.search(())] == [(("a", "b"), {"v": 1})]


def test_spec_9_4_ported_methods_refuse_wrong_namespaces(any_store: BaseStore) -> None:
    any_store.put(("a", "b"), "k", {"v": 1})
    for call in (
        lambda: any_store.get(("a.b",), "k"),
        lambda: any_store.put(("a.b",), "k", {}),
        lambda: any_store.delete(("a.b",), "k"),
        lambda: any_store.search(("a.b",)),
        lambda: any_store.list_namespaces(prefix=("a.b",)),
        lambda: any_store.put((), "k", {}),
        lambda: any_store.batch([PutOp((), "k", {})]),
    ):
        with pytest.raises(InvalidNamespaceError):
            call()
    assert any_store.get((), "k") is None
    any_store.delete((), "k")
    assert [item.value for item in any_store.search(())] == [{"v": 1}]
