"""What is found along a few axes first is what all numbers find."""

from __future__ import annotations

import numpy as np
import pytest

from services.common.embedding import vector_rows
from services.common.embedding.reduced_rows import VECTORS_MIN, ReducedRows, can_reduce, principal_axes
from services.common.embedding.vector_rows import VectorRows
from services.common.embedding.vector_table import VectorTable
from services.common.embedding.vectors import Matrix, Vector

_COUNT = 2 * VECTORS_MIN
_DIMENSION = 384


_LEFT_MAX = vector_rows._LEFT_BY_AXES_MAX


@pytest.fixture(autouse=True)
def _soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows are reduced from a number on that a test can make, whatever the processor, and all bytes compared next."""
    monkeypatch.setattr(vector_rows, "_REDUCED_FROM", VECTORS_MIN)
    monkeypatch.setattr(vector_rows, "_LEFT_BY_AXES_MAX", 0)
    monkeypatch.setattr(vector_rows, "are_fast", lambda: True)


def _like_sentences(count: int, seed: int, *, decay: float = 0.6) -> Matrix:
    """Vectors of length 1 that differ along some axes more than along others, in groups as topics make them."""
    spread = np.arange(1, _DIMENSION + 1) ** -decay
    turn, _ = np.linalg.qr(np.random.default_rng(0).normal(size=(_DIMENSION, _DIMENSION)))
    random = np.random.default_rng(seed)
    topics = random.normal(size=(200, _DIMENSION))
    found = (topics[random.integers(0, 200, size=count)] + random.normal(size=(count, _DIMENSION))) * spread @ turn
    unit: Matrix = (found / np.linalg.norm(found, axis=1, keepdims=True)).astype(np.float32)
    return unit


def _rows(vectors: Matrix, *, capacity: int | None = None) -> VectorRows:
    rows = VectorRows(capacity or len(vectors), vectors.shape[1])
    for start in range(0, len(vectors), 500):
        rows.put(slice(start, min(start + 500, len(vectors))), vectors[start : start + 500])
    return rows


def _best(vectors: Matrix, question: Vector, limit: int) -> set[int]:
    return set(np.argsort(-(vectors @ question), kind="stable")[:limit].tolist())


@pytest.mark.parametrize("limit", [1, 20, 200, 450])
def test_none_of_the_best_is_missed(limit: int) -> None:
    vectors = _like_sentences(_COUNT, 1)
    rows = _rows(vectors)
    for question in _like_sentences(40, 2):
        found = rows.compare(question, _COUNT).candidates(limit)
        assert found.tolist() == sorted(found.tolist())
        assert _best(vectors, question, limit) <= set(found.tolist())
        assert len(found) < 5 * limit + 60


@pytest.mark.parametrize("limit", [1, 20, 200, 450])
def test_few_that_their_axes_leave_are_not_compared_by_all_their_bytes(
    limit: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    vectors = _like_sentences(_COUNT, 1)
    rows = _rows(vectors)
    for question in _like_sentences(40, 2):
        few = set(rows.compare(question, _COUNT).candidates(limit).tolist())
        with monkeypatch.context() as context:
            context.setattr(vector_rows, "_LEFT_BY_AXES_MAX", _LEFT_MAX)
            found = set(rows.compare(question, _COUNT).candidates(limit).tolist())
        assert _best(vectors, question, limit) <= few <= found
        assert len(found) <= max(_LEFT_MAX, len(few))


def test_none_is_missed_where_vectors_do_not_lie_along_axes() -> None:
    """All directions alike, as of a model that uses them all: then nearly all may be among the best."""
    vectors = _like_sentences(_COUNT, 3, decay=0.0)
    rows = _rows(vectors)
    for question in _like_sentences(20, 4, decay=0.0):
        assert _best(vectors, question, 100) <= set(rows.compare(question, _COUNT).candidates(100).tolist())


def test_none_is_missed_of_what_came_after_the_axes_were_fitted() -> None:
    """A user may speak of other things than at first: then other axes are fitted."""
    later = _like_sentences(_COUNT - VECTORS_MIN, 6)[:, ::-1]
    vectors = np.ascontiguousarray(np.concatenate([_like_sentences(VECTORS_MIN, 5), later]))
    first, rows = _rows(vectors[:VECTORS_MIN], capacity=_COUNT), _rows(vectors)
    assert first._reduced is not None
    assert rows._reduced is not None
    assert not np.array_equal(rows._reduced.axes, first._reduced.axes)
    for question in vectors[-200::10]:
        assert _best(vectors, question, 50) <= set(rows.compare(question, _COUNT).candidates(50).tolist())


def test_among_some_rows() -> None:
    vectors = _like_sentences(_COUNT, 7)
    rows, among = _rows(vectors), np.arange(5, _COUNT, 9)
    for question in _like_sentences(10, 8):
        found = rows.compare(question, _COUNT).candidates(30, among)
        assert set(found.tolist()) <= set(among.tolist())
        assert {int(among[place]) for place in _best(vectors[among], question, 30)} <= set(found.tolist())


def test_equal_vectors_are_all_found() -> None:
    vectors = _like_sentences(_COUNT, 9)
    vectors[100:200] = vectors[100]
    question = vectors[100]
    assert set(range(100, 200)) <= set(_rows(vectors).compare(question, _COUNT).candidates(20).tolist())


def test_a_table_that_grows_finds_the_same_as_plain_products() -> None:
    vectors = _like_sentences(_COUNT, 10)
    table: VectorTable[int] = VectorTable(_DIMENSION)
    for start in range(0, _COUNT, 700):
        part = range(start, min(start + 700, _COUNT))
        table.put(list(part), ["group"] * len(part), vectors[part.start : part.stop])
    table.put([3, 77], ["group", "group"], vectors[[4_000, 4_001]])  # replaced
    table.remove([4_000])
    vectors[[3, 77]] = vectors[[4_000, 4_001]]
    vectors[4_000] = 0.0
    for question in _like_sentences(20, 11):
        found = table.nearest(question, ["group"], 50)
        exact = np.vecdot(vectors, question)
        order = sorted(range(_COUNT), key=lambda row: (-float(exact[row]), row))[:50]
        assert [key for key, _ in found] == order
        assert [score for _, score in found] == [float(exact[row]) for row in order]


def test_rows_copied_keep_their_axes() -> None:
    vectors = _like_sentences(_COUNT, 12)
    rows = _rows(vectors)
    chosen = np.arange(0, _COUNT, 2)
    copied = rows.copy(chosen, capacity=_COUNT)
    assert copied._reduced is not None
    assert rows._reduced is not None
    np.testing.assert_array_equal(copied._reduced.axes, rows._reduced.axes)
    for question in _like_sentences(10, 13):
        found = set(copied.compare(question, len(chosen)).candidates(20).tolist())
        assert _best(vectors[chosen], question, 20) <= found


def test_axes_are_orthonormal_and_hold_most_of_what_they_are_fitted_on() -> None:
    vectors = _like_sentences(VECTORS_MIN, 14)
    axes = principal_axes(vectors)
    np.testing.assert_allclose(axes.T @ axes, np.eye(axes.shape[1]), atol=1e-5)
    assert float(((vectors @ axes) ** 2).sum(axis=1).mean()) > 0.8


def test_what_takes_memory_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vector_rows, "_REDUCED_FROM", _COUNT)
    before = VectorRows.bytes_of(_COUNT - 1, _DIMENSION)
    assert VectorRows.bytes_of(_COUNT, _DIMENSION) > before + ReducedRows.bytes_of(_COUNT)


def test_vectors_of_few_numbers_are_not_reduced() -> None:
    assert not can_reduce(64)
    rows = _rows(np.ascontiguousarray(_like_sentences(VECTORS_MIN, 15)[:, :64]))
    assert rows._reduced is None
