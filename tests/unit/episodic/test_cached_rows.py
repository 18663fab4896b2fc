"""Searches of cached rows against plain computations over the same rows."""

from __future__ import annotations

import gc
import math
import tracemalloc
from dataclasses import dataclass, field

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.common.embedding import vector_rows
from services.common.embedding.vectors import Vector
from services.episodic.model import EpisodeKey
from services.episodic.stores.cached_rows import CachedPiece, OwnerRows

_DIMENSION = 24
_TERMS = 12
_SCOPES = ("g", "a", "b")


@pytest.fixture(params=["bytes first", "product"], autouse=True)
def _way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vector_rows, "_QUANTIZED_FROM", 1 if request.param == "bytes first" else math.inf)


@dataclass
class _Model:
    """Pieces by identifier."""

    pieces: dict[int, CachedPiece] = field(default_factory=dict)

    def dense(self, vector: Vector, scopes: set[str]) -> dict[EpisodeKey, float]:
        found: dict[EpisodeKey, float] = {}
        for piece in self.pieces.values():
            if piece.scope_key in scopes:
                score = float(piece.vector @ vector)
                found[piece.key] = max(score, found.get(piece.key, -math.inf))
        return found

    def lexical(self, terms: dict[int, float], scopes: set[str]) -> dict[EpisodeKey, float]:
        found: dict[EpisodeKey, float] = {}
        having = {term: sum(term in piece.terms for piece in self.pieces.values()) for term in terms}
        for piece in self.pieces.values():
            score = sum(
                piece.terms[term]
                * weight
                * math.log((len(self.pieces) - having[term] + 0.5) / (having[term] + 0.5) + 1)
                for term, weight in terms.items()
                if term in piece.terms
            )
            if piece.scope_key in scopes and score > 0.0:
                found[piece.key] = max(score, found.get(piece.key, -math.inf))
        return found


def _piece(random: np.random.Generator, identifier: int) -> CachedPiece:
    vector = random.normal(size=_DIMENSION)
    terms = random.permutation(_TERMS)[: random.integers(0, 5)].tolist()
    return CachedPiece(
        identifier,
        EpisodeKey(identifier // 3),
        _SCOPES[identifier // 3 % len(_SCOPES)],
        (vector / np.linalg.norm(vector)).astype(np.float32),
        {int(term): float(random.uniform(0.2, 2.0)) for term in terms},
    )


def _changed(random: np.random.Generator, owner_rows: OwnerRows) -> _Model:
    model = _Model()
    for _ in range(8):
        pieces = [_piece(random, int(number)) for number in random.permutation(400)[:60]]
        owner_rows.put(pieces)
        model.pieces |= {piece.identifier: piece for piece in pieces}
        gone = {EpisodeKey(int(number)) for number in random.permutation(134)[:10]}
        owner_rows.remove(gone)
        model.pieces = {number: piece for number, piece in model.pieces.items() if piece.key not in gone}
    return model


@given(seed=st.integers(0, 2**32 - 1), limit=st.integers(1, 150), scopes=st.sets(st.sampled_from([*_SCOPES, "none"])))
def test_answers_are_those_of_a_plain_computation(seed: int, limit: int, scopes: set[str]) -> None:
    random = np.random.default_rng(seed)
    owner_rows = OwnerRows(_DIMENSION, count=int(random.integers(0, 300)))
    model = _changed(random, owner_rows)
    assert len(owner_rows) == len(model.pieces)
    vector = _piece(random, 0).vector
    terms = {int(term): float(random.uniform(0.5, 2.0)) for term in random.permutation(_TERMS + 2)[:4]}
    scores = owner_rows.scores(vector, terms, sorted(scopes))
    hits = owner_rows.search(scores, limit=limit, overfetch=1.25)
    for found, is_complete, expected in (
        (hits.dense, hits.dense_complete, model.dense(vector, scopes)),
        (hits.lexical, hits.lexical_complete, model.lexical(terms, scopes)),
    ):
        best = dict(sorted(expected.items(), key=lambda item: (-item[1], item[0]))[:limit])
        assert list(found.values()) == pytest.approx(list(best.values()), abs=2e-6)
        assert dict(found) == pytest.approx({key: expected[key] for key in found}, abs=2e-6)
        assert not is_complete or len(expected) <= limit
    named = [EpisodeKey(int(number)) for number in random.permutation(140)[:50]]
    for is_lexical, expected in ((False, model.dense(vector, scopes)), (True, model.lexical(terms, scopes))):
        assert owner_rows.score(scores, named, lexical=is_lexical) == pytest.approx(
            {key: expected[key] for key in named if key in expected}, abs=2e-6
        )


def test_what_is_put_in_later_is_not_in_scores_computed_before() -> None:
    random = np.random.default_rng(4)
    owner_rows = OwnerRows(_DIMENSION)
    owner_rows.put([_piece(random, number) for number in range(0, 90, 3)])
    scores = owner_rows.scores(_piece(random, 0).vector, {1: 1.0}, _SCOPES)
    before = owner_rows.search(scores, limit=100, overfetch=1.25)
    owner_rows.put([_piece(random, number) for number in range(90, 3_000, 3)])
    assert not owner_rows.is_current(scores)
    assert owner_rows.search(scores, limit=100, overfetch=1.25) == before
    assert owner_rows.score(scores, [EpisodeKey(40)], lexical=False) == {}


def test_of_those_that_score_alike_keys_decide() -> None:
    """More of them than are fetched for a retriever, in another order than their keys'."""
    random = np.random.default_rng(5)
    owner_rows, alike = OwnerRows(_DIMENSION), _piece(random, 0)
    keys = [EpisodeKey(int(number)) for number in random.permutation(300)]
    owner_rows.put([CachedPiece(key, key, "g", alike.vector, {1: 1.0}) for key in keys])
    scores = owner_rows.scores(alike.vector, {1: 1.0}, ["g"])
    found = owner_rows.search(scores, limit=20, overfetch=1.25)
    assert list(found.dense) == list(found.lexical) == list(range(20))


def test_nothing_is_found_where_nothing_is() -> None:
    owner_rows = OwnerRows(_DIMENSION)
    vector = _piece(np.random.default_rng(1), 0).vector
    found = owner_rows.search(owner_rows.scores(vector, {1: 1.0}, _SCOPES), limit=10, overfetch=1.25)
    assert (found.dense, found.lexical) == ({}, {})
    assert found.dense_complete
    assert found.lexical_complete


def test_what_a_piece_takes_beside_its_vector_is_what_the_budget_counts() -> None:
    """Words of real talk: most are rare. Two arrays for each of them took as much again as everything else."""
    random, count, dimension = np.random.default_rng(6), 700, 384
    owner_rows = OwnerRows(dimension, count=int(count / 1.25))  # no spare rows
    vector = np.full(dimension, dimension**-0.5, np.float32)
    gc.collect()
    tracemalloc.start()
    try:
        for _ in range(count):
            terms = dict.fromkeys((random.zipf(1.4, 11) % 4_000).tolist(), 1.5)
            key = EpisodeKey((int(random.integers(2**62)) << 32) + 2**100)
            owner_rows.put([CachedPiece(key << 16, key, "1", vector, terms)])
        gc.collect()
        beside = tracemalloc.get_traced_memory()[0] / count
    finally:
        tracemalloc.stop()
    counted = owner_rows.size_bytes / count - owner_rows._vectors.used_bytes(count) / count
    assert len(owner_rows._postings) > count
    assert 0.7 * counted < beside <= counted


def test_a_term_is_found_in_all_its_pieces_whether_it_is_rare_or_not() -> None:
    """Where postings pass from bytes to arrays, also for scores computed before that."""
    random = np.random.default_rng(7)
    owner_rows, question = OwnerRows(_DIMENSION), _piece(random, 0).vector
    pieces = [CachedPiece(number, EpisodeKey(number), "g", question, {1: 1.0 + number}) for number in range(40)]
    for count, piece in enumerate(pieces, 1):
        before = owner_rows.scores(question, {1: 1.0}, ["g"])
        owner_rows.put([piece])
        scores = owner_rows.scores(question, {1: 1.0}, ["g"])
        assert np.flatnonzero(scores.lexical).tolist() == list(range(count))
        assert np.all(np.diff(scores.lexical) > 0.0)
        assert len(before.lexical) == count - 1
