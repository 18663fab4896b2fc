"""Late interaction against the same worked out word by word."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from services.common.embedding.byte_products import OFFSET
from services.common.embedding.tokens import TokenSpace, TokenVectors, compact
from services.episodic.late_interaction import (
    LateScores,
    TokenRun,
    candidate_tokens,
    late_scores,
    sentence_end_table,
)
from services.episodic.token_format import pack, unpack
from tests.support.examples import share_of

ENDS = (1, 2)
SPACE = TokenSpace("space", dimension=8, sentence_ends=ENDS)


def tokens(ids: Sequence[int], seed: int = 0) -> TokenVectors:
    random = np.random.default_rng(seed).standard_normal((len(ids), SPACE.dimension))
    unit = random / np.linalg.norm(random, axis=1, keepdims=True)
    return TokenVectors(SPACE.fingerprint, np.array(ids, dtype=np.uint16), compact(unit.astype(np.float32)))


def candidate(*pieces: TokenVectors) -> TokenRun | None:
    if not sum(map(len, pieces)):
        return None
    return candidate_tokens(unpack([pack(SPACE, pieces)]), sentence_end_table(ENDS))


def joined(runs: Sequence[TokenRun]) -> TokenRun:
    return TokenRun(*(np.concatenate([getattr(run, name) for run in runs]) for name in TokenRun.__slots__))


def sentences(one: TokenRun) -> list[list[int]]:
    return [part.tolist() for part in np.split(one.ids, one.begins.nonzero()[0][1:])]


def scores_of(query: TokenVectors, candidates: Sequence[TokenRun | None]) -> LateScores:
    """In another order than the candidates', which must not matter."""
    there = [(place, run) for place, run in enumerate(candidates) if run is not None][::-1]
    known = joined([run for _, run in there]) if there else None
    return late_scores(query, known, [place for place, _ in there], count=len(candidates))


@pytest.mark.parametrize(
    ("pieces", "expected"),
    [
        ([[5, 6, 1, 7]], [[5, 6, 1], [7]]),
        ([[5, 1, 1, 2, 6, 2]], [[5, 1, 1, 2], [6, 2]]),  # several marks end one sentence
        ([[5, 6], [7, 8]], [[5, 6], [7, 8]]),  # so does a piece
        ([[], [5], [], [6], []], [[5], [6]]),
        ([[1, 5]], [[1], [5]]),
    ],
)
def test_texts_are_cut_into_sentences(pieces: list[list[int]], expected: list[list[int]]) -> None:
    found = candidate(*(tokens(piece) for piece in pieces))
    assert found is not None
    assert sentences(found) == expected


@given(st.lists(st.lists(st.lists(st.integers(0, 6), max_size=6), max_size=3).filter(any), min_size=1, max_size=5))
def test_texts_are_cut_together_as_one_by_one(texts: list[list[list[int]]]) -> None:
    packed = [pack(SPACE, [tokens(piece, seed) for piece in pieces]) for seed, pieces in enumerate(texts)]
    ends = sentence_end_table(ENDS)
    found = candidate_tokens(unpack(packed), ends)
    expected = joined([candidate_tokens(unpack([data]), ends) for data in packed])
    for field in TokenRun.__slots__:
        np.testing.assert_array_equal(getattr(found, field), getattr(expected, field))


def naive(query: TokenVectors, candidates: Sequence[TokenRun | None]) -> LateScores:
    rows, count = len(query), len(candidates)
    found = LateScores(
        np.zeros((rows, count), np.float32),
        np.zeros(count, np.bool_),
        np.zeros(rows, np.int32),
        np.zeros(count, np.float32),
        np.zeros(count, np.float32),
    )

    def cosine(one: np.ndarray, other: np.ndarray) -> float:
        return max(-1.0, min(1.0, float(one.astype(np.float64) @ other.astype(np.float64)) / 127**2))

    for i, entry in enumerate(candidates):
        if entry is None:
            continue
        found.present[i] = True
        vectors = entry.vectors.astype(np.int16) - OFFSET
        table = [[cosine(own, theirs) for theirs in vectors] for own in query.vectors]
        for row in range(rows):
            found.token_scores[row, i] = max(table[row])
            found.frequencies[row] += int(query.ids[row] in entry.ids)
        found.reverse[i] = np.mean([max(column) for column in zip(*table, strict=True)])
        bounds = [*entry.begins.nonzero()[0].tolist(), len(entry.ids)]
        found.sentence[i] = max(np.mean([max(line[start:end]) for line in table]) for start, end in pairwise(bounds))
    return found


texts = st.lists(st.lists(st.integers(0, 12), max_size=12), max_size=3)


@settings(max_examples=share_of(80), deadline=None)
@given(
    st.lists(st.integers(0, 12), min_size=1, max_size=6),
    st.lists(st.none() | texts, max_size=6),
    st.integers(0, 1_000),
)
def test_spec_5_4_scores_are_those_of_every_word_with_every_word(
    asked: list[int], held: list[list[list[int]] | None], seed: int
) -> None:
    query = tokens(asked, seed)
    candidates = [
        None if pieces is None else candidate(*(tokens(piece, seed + 1 + i) for piece in pieces))
        for i, pieces in enumerate(held)
    ]
    found, expected = scores_of(query, candidates), naive(query, candidates)
    for name in ("token_scores", "reverse", "sentence"):
        np.testing.assert_allclose(getattr(found, name), getattr(expected, name), atol=2e-6, err_msg=name)
        assert getattr(found, name).dtype == np.float32
    np.testing.assert_array_equal(found.present, expected.present)
    np.testing.assert_array_equal(found.frequencies, expected.frequencies)


def test_a_word_meets_itself_whatever_else_is_said() -> None:
    words = tokens([5, 6, 7, 1, 8, 9])
    query = TokenVectors(words.fingerprint, words.ids[[1, 4]], words.vectors[[1, 4]])
    found = scores_of(query, [candidate(tokens([20, 21], seed=3)), candidate(words), None])
    assert found.token_scores[:, 1].min() > 0.98
    assert found.token_scores[:, 0].max() < 0.98
    assert not found.token_scores[:, 2].any()
    assert found.present.tolist() == [True, True, False]
    assert found.frequencies.tolist() == [1, 1]
    # No sentence holds both words, and most words of the text are not asked for.
    assert found.sentence[1] < found.token_scores[:, 1].mean()
    assert found.reverse[1] < 0.98


def test_scores_are_cosines_whatever_rounding_does() -> None:
    longest = TokenVectors("space", np.array([5], np.uint16), np.full((1, 8), 127, np.int8))
    found = scores_of(longest, [candidate(longest)])
    assert found.token_scores.tolist() == [[1.0]]
    assert (found.reverse.tolist(), found.sentence.tolist()) == ([1.0], [1.0])
