"""An embedder for tests: words hashed into a few dimensions, the same on every machine, no model."""

import hashlib
import re
from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from services.common.embedding.vectors import Matrix, Vector

_WORD = re.compile(r"\w+")


class HashingEmbedder:
    """Texts that share words are near each other; every text has a vector of length 1.

    Counts its calls, so that a test can show what was embedded and how often.
    """

    def __init__(self, dimension: int = 64, model_name: str = "hashing-test") -> None:
        self._dimension = dimension
        self._model_name = model_name
        self.queries: list[str] = []
        self.documents: list[str] = []

    @property
    def model_name(self) -> str:
        return self._model_name

    @property
    def dimension(self) -> int:
        return self._dimension

    @property
    def fingerprint(self) -> str:
        return f"{self._model_name}-{self._dimension}"

    async def embed_query(self, text: str) -> Vector:
        self.queries.append(text)
        return self.vector(text)

    async def embed_documents(self, texts: Sequence[str]) -> Matrix:
        self.documents.extend(texts)
        if not texts:
            return np.empty((0, self._dimension), dtype=np.float32)
        return np.stack([self.vector(text) for text in texts])

    def count_tokens(self, text: str) -> int:
        return len(_WORD.findall(text))

    def vector(self, text: str) -> Vector:
        total = np.zeros(self._dimension, dtype=np.float32)
        for word in _WORD.findall(text.lower()) or ["\x00empty"]:
            total += _word_vector(word, self._dimension)
        length = float(np.linalg.norm(total))
        scaled: Vector = (total / length).astype(np.float32)
        return scaled


@lru_cache(maxsize=10_000)
def _word_vector(word: str, dimension: int) -> Vector:
    seed = int.from_bytes(hashlib.blake2b(word.encode(), digest_size=8).digest(), "big")
    return np.random.default_rng(seed).standard_normal(dimension).astype(np.float32)
