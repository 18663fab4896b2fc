"""Encodings that cost almost nothing, so that large stores are loaded in minutes instead of hours.

A model on two cores embeds some hundred texts a second. What is measured on a large store does not depend on which
vector a text got, only on vectors that lie as real ones do: so the model is run on a sample, and every other text
gets a mixture of two of the sample, with a little noise. Its token vectors are those of one of the two. The same text
always gets the same.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Final

import numpy as np

from bench.texts import TextSource
from services.common.embedding.sentence_encoder import SentenceEncoder
from services.common.embedding.tokens import TextEncoding, TokenSpace

SAMPLE_TEXTS: Final = 1_000
_NOISE: Final = 0.01


class PreparedEncoder:
    """A `SentenceEncoder` with the identity of another one, which is run on a sample alone."""

    def __init__(self, encoder: SentenceEncoder, *, seed: int, sample_texts: int = SAMPLE_TEXTS) -> None:
        """Run the sample. Blocks, some ten seconds.

        Args:
            encoder: The model whose vectors are imitated.
            seed: Of the sample's texts.
            sample_texts: How many.
        """
        self._encoder = encoder
        self.model_name: Final = encoder.model_name
        self.dimension: Final = encoder.dimension
        self.fingerprint: Final = encoder.fingerprint
        self.tokens: Final[TokenSpace | None] = encoder.tokens
        self._sample = encoder.encode_with_tokens([turn.text for turn in TextSource(seed).turns(sample_texts)])

    def encode_with_tokens(self, texts: Sequence[str]) -> list[TextEncoding]:
        """Mixtures of the sample, in the order of the texts."""
        return [self._mixture(text) for text in texts]

    def _mixture(self, text: str) -> TextEncoding:
        digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
        source = np.random.default_rng(int.from_bytes(digest, "little"))
        first, second = (self._sample[index] for index in source.integers(0, len(self._sample), size=2))
        share = np.float32(source.uniform(0.5, 0.9))
        noise = source.normal(0.0, _NOISE, size=self.dimension).astype(np.float32)
        vector = share * first.vector + (1 - share) * second.vector + noise
        return TextEncoding((vector / np.linalg.norm(vector)).astype(np.float32), first.tokens)
