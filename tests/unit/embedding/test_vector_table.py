"""Vectors in memory."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.common.embedding.vector_table import VectorTable
from services.common.embedding.vectors import Matrix, Vector


def _vectors(count: int, *, seed: int = 1, dimension: int = 16) -> Matrix:
    found = np.random.default_rng(seed).normal(size=(count, dimension)).astype(np.float32)
    found /= np.linalg.norm(found, axis=1, keepdims=True)
    return found


def _table(vectors: Matrix, groups: list[str] | None = None) -> VectorTable[int]:
    table: VectorTable[int] = VectorTable(vectors.shape[1])
    table.put(range(len(vectors)), groups or ["g"] * len(vectors), vectors)
    return table


def test_best_first() -> None:
    vectors = _vectors(500)
    found = _table(vectors).nearest(vectors[7], ["g"], 20)
    scores = vectors @ vectors[7]
    assert [key for key, _ in found] == np.argsort(-scores)[:20].tolist()
    assert [score for _, score in found] == pytest.approx(np.sort(scores)[::-1][:20].tolist(), abs=1e-6)


def test_equal_vectors_are_ordered_by_key_wherever_they_stand() -> None:
    vectors = np.tile(_vectors(1, dimension=384), (1_003, 1))
    found = _table(vectors).nearest(vectors[0], ["g"], 10)
    assert [key for key, _ in found] == list(range(10))


def test_other_groups_are_not_found() -> None:
    vectors = _vectors(300)
    table = _table(vectors, [f"g{i % 3}" for i in range(300)])
    assert {key % 3 for key, _ in table.nearest(vectors[0], ["g0", "g2"], 300)} == {0, 2}
    assert table.nearest(vectors[0], ["unknown"], 5) == []
    assert table.score(vectors[0], [0, 1, 2, 999], ["g1"]) == {
        1: pytest.approx(float(vectors[0] @ vectors[1]), abs=1e-6)
    }


def test_levels_below_the_least_are_not_found() -> None:
    vectors = _vectors(100)
    table: VectorTable[int] = VectorTable(16)
    table.put(range(100), ["g", "h"] * 50, vectors, [i / 100 for i in range(100)])
    found = table.nearest(vectors[0], ["g"], 100, level_min=0.5)
    assert sorted(key for key, _ in found) == list(range(50, 100, 2))
    above = table.nearest(vectors[0], ["g", "h"], 100, level_min=float(np.nextafter(0.5, 1)))
    assert sorted(key for key, _ in above) == list(range(51, 100))
    table.put([99, 50], ["h", "g"], vectors[[99, 50]], [0.1, 0.9])
    changed = table.nearest(vectors[0], ["g", "h"], 100, level_min=float(np.nextafter(0.5, 1)))
    assert sorted(key for key, _ in changed) == list(range(50, 99))
    assert len(table.nearest(vectors[0], ["g", "h"], 100)) == 100


def test_what_ends_too_soon_is_not_found() -> None:
    vectors = _vectors(300)
    table: VectorTable[int] = VectorTable(16)
    for start in (0, 100, 200):
        keys = range(start, start + 100)
        ends = [None if key % 3 == 0 else float(key) for key in keys]
        table.put(keys, ["g"] * 100, vectors[start : start + 100], [float(key % 2) for key in keys], ends)
    found = table.nearest(vectors[0], ["g"], 300, level_min=1.0, end_after=200.0)
    assert sorted(key for key, _ in found) == [key for key in range(300) if key % 2 and (key % 3 == 0 or key > 200)]
    table.remove(range(100))  # compacts
    left = table.nearest(vectors[0], ["g"], 300, end_after=298.0)
    assert sorted(key for key, _ in left) == [key for key in range(100, 300) if key % 3 == 0 or key > 298]


def test_a_replaced_vector_and_group_hold() -> None:
    vectors = _vectors(10)
    table = _table(vectors)
    table.put([3], ["h"], vectors[5:6])
    assert len(table) == 10
    assert table.score(vectors[5], [3], ["h"]) == {3: pytest.approx(1.0, abs=1e-6)}
    assert 3 not in dict(table.nearest(vectors[5], ["g"], 10))


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 400)), max_size=60))
def test_any_changes_leave_what_a_dictionary_holds(changes: list[tuple[bool, int]]) -> None:
    vectors = _vectors(401)
    table: VectorTable[int] = VectorTable(16)
    model: dict[int, Vector] = {}
    for is_put, start in changes:
        keys = [(start + step) % 401 for step in range(40)]
        if is_put:
            table.put(keys, ["g"] * len(keys), vectors[keys])
            model |= {key: vectors[key] for key in keys}
        else:
            table.remove(keys)
            for key in keys:
                model.pop(key, None)
    assert len(table) == len(model)
    found = table.nearest(vectors[0], ["g"], 500)
    assert {key: pytest.approx(score, abs=1e-6) for key, score in found} == {
        key: float(vector @ vectors[0]) for key, vector in model.items()
    }


def test_memory_of_what_was_removed_is_given_back() -> None:
    table = _table(_vectors(4_000))
    before = table.size_bytes
    table.remove(range(3_500))
    assert table.size_bytes < before / 4
    assert len(table.nearest(_vectors(1)[0], ["g"], 4_000)) == 500
