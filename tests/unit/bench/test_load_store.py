"""What a store is filled with: the shares of its users, and vectors like real ones."""

from collections import Counter

import numpy as np
import pytest

from bench.floor import similar_vectors
from bench.load_store import MAIN_USER, OTHER_USERS, conversations_of


@pytest.mark.parametrize("size", [100, 1_000, 1_237])
def test_one_user_owns_a_tenth_and_the_others_share_the_rest(size: int) -> None:
    counts: Counter[str] = Counter()
    for conversation in conversations_of(size, seed=1):
        counts[conversation.user_id] += len(conversation.turns)

    assert counts.total() == size
    assert counts[MAIN_USER] == size // 10
    assert len(counts) == OTHER_USERS + 1


def test_conversations_are_the_same_for_the_same_seed() -> None:
    assert list(conversations_of(500, seed=3)) == list(conversations_of(500, seed=3))


def test_conversation_names_are_unique() -> None:
    names = [conversation.conversation_id for conversation in conversations_of(1_000, seed=1)]

    assert len(set(names)) == len(names)


def test_similar_vectors_begin_with_the_sample_and_have_length_one() -> None:
    sample = np.eye(4, 8, dtype=np.float32)
    vectors = similar_vectors(sample, 50, seed=5)

    assert vectors.shape == (50, 8)
    assert vectors.dtype == np.float32
    np.testing.assert_array_equal(vectors[:4], sample)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1.0, rtol=1e-5)
    np.testing.assert_array_equal(vectors, similar_vectors(sample, 50, seed=5))


def test_fewer_vectors_than_the_sample_are_its_beginning() -> None:
    sample = np.eye(4, dtype=np.float32)

    np.testing.assert_array_equal(similar_vectors(sample, 2, seed=5), sample[:2])
