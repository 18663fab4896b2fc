"""What is found by bytes first is what a plain product finds."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.common.embedding import byte_products, vector_rows
from services.common.embedding.quantized_rows import QuantizedRows
from services.common.embedding.vector_rows import Comparison, Rows, VectorRows, is_among
from services.common.embedding.vector_table import VectorTable
from services.common.embedding.vectors import Matrix, Vector

_SEEDS = st.integers(0, 2**32 - 1)
_KINDS = ("random", "near ties", "duplicates", "few components", "zeros between", "any length", "one question")


@pytest.fixture(params=["by the operator", "by numpy"], autouse=True)
def _always_bytes(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Bytes are compared first whatever the number and the processor."""
    monkeypatch.setattr(vector_rows, "_QUANTIZED_FROM", 1)
    monkeypatch.setattr(vector_rows, "are_fast", lambda: True)
    if request.param == "by numpy":
        monkeypatch.setattr(byte_products, "_session", lambda: None)


def _vectors(kind: str, count: int, dimension: int, seed: int) -> tuple[Matrix, Vector]:
    """Vectors and a question."""
    random = np.random.default_rng(seed)
    found = random.normal(size=(count, dimension))
    question = random.normal(size=dimension)
    if kind == "near ties":
        found = question + found * 10.0 ** random.uniform(-9, -1, size=(count, 1))
    if kind == "duplicates":
        found = found[random.integers(0, max(1, count // 10), size=count)]
    if kind == "few components":
        found *= random.random(found.shape) < 1.5 / dimension
    if kind == "zeros between":
        found[random.random(count) < 0.5] = 0.0
    if kind == "one question":
        question[1:] = 0.0
    if kind != "any length":
        found /= np.maximum(np.linalg.norm(found, axis=1, keepdims=True), 1e-9)
        question /= np.linalg.norm(question)
    else:
        found *= 10.0 ** random.uniform(-6, 3, size=(count, 1))
    return found.astype(np.float32), question.astype(np.float32)


def _rows(vectors: Matrix) -> VectorRows:
    rows = VectorRows(len(vectors), vectors.shape[1])
    rows.put(slice(0, len(vectors)), vectors)
    return rows


@pytest.mark.parametrize("kind", _KINDS)
@pytest.mark.parametrize("dimension", [1, 7, 384, 1_024])
@given(seed=_SEEDS)
def test_scores_lie_within_their_bounds(kind: str, dimension: int, seed: int) -> None:
    vectors, question = _vectors(kind, 60, dimension, seed)
    quantized = QuantizedRows(60, dimension)
    quantized.put(slice(0, 60), vectors)
    lower, upper = quantized.bounds(question, slice(0, 60))
    exact = vectors.astype(np.float64) @ question.astype(np.float64)
    assert (lower <= exact).all()
    assert (exact <= upper).all()
    # And what is computed in float32, by which rows are told apart in the end.
    computed = _rows(vectors).scores(question, np.arange(60))
    assert (lower <= computed).all()
    assert (computed <= upper).all()


def test_bounds_are_narrow_enough_to_be_of_use() -> None:
    vectors, question = _vectors("random", 500, 384, 1)
    quantized = QuantizedRows(500, 384)
    quantized.put(slice(0, 500), vectors)
    lower, upper = quantized.bounds(question, slice(0, 500))
    assert float((upper - lower).max()) < 0.025


@pytest.mark.parametrize("kind", _KINDS)
@given(seed=_SEEDS, limit=st.integers(1, 400), share=st.sampled_from([0.0, 0.02, 0.5, 1.0]))
def test_no_row_of_the_best_is_missed(kind: str, seed: int, limit: int, share: float) -> None:
    vectors, question = _vectors(kind, 300, 48, seed)
    rows = _rows(vectors)
    among: Rows | None = None
    if share < 1.0:
        among = np.flatnonzero(np.random.default_rng(seed).random(300) < share)
    comparison = rows.compare(question, 300)
    asked = np.arange(300) if among is None else among
    found = comparison.candidates(limit, among)
    assert set(found.tolist()) <= set(asked.tolist())
    assert found.tolist() == sorted(found.tolist())
    scores = rows.scores(question, asked)
    wanted = min(limit, len(asked))
    if wanted:
        floor = np.sort(scores)[::-1][wanted - 1]
        assert set(asked[scores >= floor].tolist()) <= set(found.tolist())


@given(seed=_SEEDS)
def test_many_that_are_nearly_the_same_are_told_apart_by_a_product(seed: int) -> None:
    random = np.random.default_rng(seed)
    question = random.normal(size=32)
    vectors = (question + random.normal(size=(3_000, 32)) * 1e-4).astype(np.float32)
    comparison = _rows(vectors).compare(question.astype(np.float32), 3_000)
    found = comparison.candidates(20)
    assert len(found) < 1_000
    exact = vectors.astype(np.float64) @ question
    assert set(np.argsort(-exact)[:10].tolist()) <= set(found.tolist())


@given(seed=_SEEDS, kind=st.sampled_from(_KINDS), limit=st.integers(1, 60))
def test_a_table_answers_as_with_plain_products(seed: int, kind: str, limit: int) -> None:
    """Through growth, replacement and removal, by groups and levels."""
    random = np.random.default_rng(seed)
    vectors, question = _vectors(kind, 700, 24, seed)
    table: VectorTable[int] = VectorTable(24)
    model: dict[int, tuple[Vector, str, float]] = {}
    for start in range(0, 700, 100):
        keys = [int(key) for key in random.permutation(700)[:100]]
        groups = [f"g{key % 3}" for key in keys]
        levels = [float(key % 5) for key in keys]
        table.put(keys, groups, vectors[start : start + 100], levels)
        model |= dict(zip(keys, zip(vectors[start : start + 100], groups, levels, strict=True), strict=True))
        gone = [int(key) for key in random.permutation(700)[:60]]
        table.remove(gone)
        for key in gone:
            model.pop(key, None)
    for asked, level_min in ((["g0", "g1", "g2"], None), (["g1"], 2.0), (["g0", "g2", "unknown"], 1.0)):
        chosen = [
            key
            for key, (_, group, level) in sorted(model.items())
            if group in asked and (level_min is None or level >= level_min)
        ]
        exact = np.array([np.vecdot(model[key][0], question) for key in chosen])
        order = sorted(range(len(chosen)), key=lambda place: (-float(exact[place]), chosen[place]))[:limit]
        found = table.nearest(question, asked, limit, level_min=level_min)
        assert [key for key, _ in found] == [chosen[place] for place in order]
        assert [score for _, score in found] == [float(exact[place]) for place in order]


def test_rows_copied_are_compared_as_before() -> None:
    vectors, question = _vectors("random", 400, 32, 3)
    rows = _rows(vectors)
    chosen = np.arange(0, 400, 3)
    copied = rows.copy(chosen, capacity=1_000)
    assert len(copied) == 1_000
    found, expected = (
        _bounds_of(copied.compare(question, len(chosen))),
        _bounds_of(_rows(vectors[chosen]).compare(question, len(chosen))),
    )
    np.testing.assert_array_equal(found, expected)


def test_rows_that_were_too_few_for_bytes_get_them_when_they_are_copied(monkeypatch: pytest.MonkeyPatch) -> None:
    vectors, question = _vectors("random", 2_500, 32, 3)
    monkeypatch.setattr(vector_rows, "_QUANTIZED_FROM", 3_000)
    rows = _rows(vectors)
    copied = rows.copy(slice(2_500), capacity=3_000)
    monkeypatch.setattr(vector_rows, "_QUANTIZED_FROM", 1)
    np.testing.assert_array_equal(
        _bounds_of(copied.compare(question, 2_500)), _bounds_of(_rows(vectors).compare(question, 2_500))
    )


def test_without_the_processors_instructions_there_are_no_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    with_bytes = VectorRows.bytes_of(1_000, 32)
    monkeypatch.setattr(vector_rows, "are_fast", lambda: False)
    assert VectorRows.bytes_of(1_000, 32) == 1_000 * 32 * 4 < with_bytes
    vectors, question = _vectors("random", 100, 32, 5)
    comparison = _rows(vectors).compare(question, 100)
    np.testing.assert_array_equal(comparison.scores(np.arange(100)), vectors @ question)
    assert len(comparison.candidates(10)) == 10


@given(st.lists(st.integers(-1, 20), max_size=50), st.lists(st.integers(0, 20), max_size=12, unique=True))
def test_which_rows_are_among_groups(groups: list[int], chosen: list[int]) -> None:
    found = is_among(np.array(groups, np.int32), chosen)
    assert found.tolist() == [group in chosen for group in groups]


def _bounds_of(comparison: Comparison) -> Matrix:
    assert comparison._bounds is not None
    return np.stack(comparison._bounds)


def test_quantized_rows_count_where_there_are_some(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vector_rows, "_QUANTIZED_FROM", 200)
    assert VectorRows(199, 32).used_bytes(60) == 60 * 32 * 4
    assert VectorRows(200, 32).used_bytes(60) == VectorRows.bytes_of(60, 32) == 60 * (32 * 4 + 32 + 8)
