"""Prepared encodings: cheap, like real ones, and always the same."""

from collections.abc import Sequence

import numpy as np

from bench.prepared import PreparedEncoder
from services.common.embedding.tokens import TextEncoding, TokenSpace, TokenVectors


class _CountingEncoder:
    """A model with a random vector for each text, that counts how many it was given."""

    model_name = "test"
    dimension = 16
    fingerprint = "test-1"
    tokens = TokenSpace("test-1+t", 4)

    def __init__(self) -> None:
        self.encoded = 0

    def encode_with_tokens(self, texts: Sequence[str]) -> list[TextEncoding]:
        found = []
        for _ in texts:
            source = np.random.default_rng(self.encoded)
            self.encoded += 1
            vector = source.normal(size=self.dimension).astype(np.float32)
            tokens = TokenVectors("test-1+t", np.array([7], np.uint16), np.full((1, 4), 63, np.int8))
            found.append(TextEncoding(vector / np.linalg.norm(vector), tokens))
        return found


def test_the_model_is_run_on_the_sample_alone() -> None:
    model = _CountingEncoder()
    prepared = PreparedEncoder(model, seed=1, sample_texts=10)
    prepared.encode_with_tokens([f"text {n}" for n in range(100)])

    assert model.encoded == 10


def test_vectors_have_length_one_differ_by_text_and_are_the_same_for_the_same_text() -> None:
    prepared = PreparedEncoder(_CountingEncoder(), seed=1, sample_texts=10)
    texts = [f"text {n}" for n in range(50)]
    first = np.stack([encoding.vector for encoding in prepared.encode_with_tokens(texts)])
    again = np.stack([encoding.vector for encoding in prepared.encode_with_tokens(texts[::-1])])[::-1]

    assert first.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(first, axis=1), 1.0, rtol=1e-5)
    np.testing.assert_array_equal(first, again)
    assert len(np.unique(first, axis=0)) == 50


def test_it_passes_for_the_model_that_it_imitates() -> None:
    model = _CountingEncoder()
    prepared = PreparedEncoder(model, seed=1, sample_texts=10)
    (encoding,) = prepared.encode_with_tokens(["some text"])

    assert (prepared.fingerprint, prepared.dimension, prepared.tokens) == (model.fingerprint, 16, model.tokens)
    assert encoding.tokens is not None
    assert encoding.tokens.fingerprint == "test-1+t"
