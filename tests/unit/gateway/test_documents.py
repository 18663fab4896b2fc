"""Conditions on values, depth of values, and the ranking of documents."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.gateway.documents.model import (
    DocumentName,
    Vectors,
    depth,
    namespace_matches,
    parsed_json,
    same_json,
)
from services.gateway.documents.ranking import nearest

scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
values = st.recursive(scalars, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=10)


@given(values)
def test_spec_9_4_a_value_is_the_same_json_after_a_round_trip(value: Any) -> None:
    assert same_json(parsed_json(json.dumps(value)), value)


@pytest.mark.parametrize(
    ("one", "other"), [(1, True), (0, False), ([1], [True]), ({"a": 0}, {"a": False}), ("1", 1), (None, 0), ({}, [])]
)
def test_spec_9_4_values_of_other_types_are_not_the_same(one: Any, other: Any) -> None:
    assert not same_json(one, other)


@pytest.mark.parametrize(("value", "levels"), [(1, 0), ([], 1), ({"a": [1, {"b": 2}]}, 3), ([[], [[]]], 3)])
def test_spec_9_4_depth_counts_objects_and_lists(value: Any, levels: int) -> None:
    assert depth(value) == levels


@pytest.mark.parametrize("text", ["", "{", "NaN", "[Infinity]", "'a'", "[" * 100_000, "1" * 5_000])
def test_spec_9_4_what_is_not_json_is_refused(text: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - of several kinds
        parsed_json(text)


def test_spec_9_4_a_namespace_is_matched_from_both_ends() -> None:
    namespace = ("a", "b", "c")
    assert namespace_matches(namespace, prefix=(), suffix=())
    assert namespace_matches(namespace, prefix=("a", "*"), suffix=("*", "c"))
    assert not namespace_matches(namespace, prefix=("a", "b", "c", "d"), suffix=())
    assert not namespace_matches(namespace, prefix=("b",), suffix=())
    assert not namespace_matches(namespace, prefix=(), suffix=("b",))


def test_spec_9_4_the_nearest_text_of_a_document_counts_and_ties_stay_in_order() -> None:
    def entry(key: str, *vectors: tuple[float, float]) -> Vectors:
        return Vectors(DocumentName(("n",), key), "", np.array(vectors, np.float32).reshape(-1))

    entries = [entry("a", (1, 0)), entry("b", (1, 0), (0, 1)), entry("c", (-1, 0)), entry("d", (0, 1))]
    ranked = nearest(entries, np.array([0, 1], np.float32))
    assert [(name.key, score) for name, score in ranked] == [("b", 1.0), ("d", 1.0), ("a", 0.0), ("c", 0.0)]
    assert nearest([], np.array([0, 1], np.float32)) == []


def test_spec_9_4_a_score_never_leaves_the_range_of_a_cosine() -> None:
    longer = np.array([1.0000001, 0], np.float32)  # rounding makes vectors of length 1 a little longer
    assert longer[0] > 1
    name, other = DocumentName(("n",), "same"), DocumentName(("n",), "opposite")
    ranked = nearest([Vectors(name, "e", longer), Vectors(other, "e", -longer)], longer)
    assert ranked == [(name, 1.0), (other, -1.0)]
