"""An embedder for tests: words hashed into a few dimensions, the same on every machine, no model."""

import hashlib
import re
from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from services.common.embedding.tokens import TextEncoding, TokenSpace, TokenVectors, compact
from services.common.embedding.vectors import Matrix, Vector

_WORD = re.compile(r"\w+")
_TOKEN = re.compile(r"\w+|[.?!]")
_TOKEN_DIMENSION = 32
_SENTENCE_ENDS = {".": 1, "?": 2, "!": 3}


class HashingEmbedder:
    """Texts that share words are near each other; every text has a vector of length 1.

    Its token vectors are those of the words alone: equal words are as near as can be, others hardly are. Counts its
    calls, so that a test can show what was embedded and how often.
    """

    def __init__(self, dimension: int = 64, model_name: str = "hashing-test", *, has_tokens: bool = True) -> None:
        self._dimension = dimension
        self._model_name = model_name
        self._has_tokens = has_tokens
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

    @property
    def tokens(self) -> TokenSpace | None:
        if not self._has_tokens:
            return None
        return TokenSpace(f"{self.fingerprint}+words", _TOKEN_DIMENSION, tuple(_SENTENCE_ENDS.values()))

    async def encode_query(self, text: str) -> TextEncoding:
        return TextEncoding(await self.embed_query(text), self.token_vectors(text))

    async def encode_documents(self, texts: Sequence[str]) -> Sequence[TextEncoding]:
        vectors = await self.embed_documents(texts)
        return [TextEncoding(vector, self.token_vectors(text)) for vector, text in zip(vectors, texts, strict=True)]

    async def embed_query(self, text: str) -> Vector:
        self.queries.append(text)
        return self.vector(text)

    async def embed_documents(self, texts: Sequence[str]) -> Matrix:
        self.documents.extend(texts)
        if not texts:
            return np.empty((0, self._dimension), dtype=np.float32)
        return np.stack([self.vector(text) for text in texts])

    def vector(self, text: str) -> Vector:
        total = np.zeros(self._dimension, dtype=np.float32)
        for word in _WORD.findall(text.lower()) or ["\x00empty"]:
            total += _word_vector(word, self._dimension)
        length = float(np.linalg.norm(total))
        scaled: Vector = (total / length).astype(np.float32)
        return scaled

    def token_vectors(self, text: str) -> TokenVectors | None:
        space = self.tokens
        if space is None:
            return None
        words = _TOKEN.findall(text.lower())
        vectors = np.empty((len(words), space.dimension), dtype=np.int8)
        for row, word in enumerate(words):
            vector = _word_vector(word, space.dimension)
            vectors[row] = compact(vector / np.linalg.norm(vector))
        return TokenVectors(space.fingerprint, np.array([_token_id(word) for word in words], dtype=np.uint16), vectors)


def _token_id(word: str) -> int:
    known = _SENTENCE_ENDS.get(word)
    return known or 10 + int.from_bytes(hashlib.blake2b(word.encode(), digest_size=2).digest(), "big") % 65_000


@lru_cache(maxsize=10_000)
def _word_vector(word: str, dimension: int) -> Vector:
    seed = int.from_bytes(hashlib.blake2b(word.encode(), digest_size=8).digest(), "big")
    return np.random.default_rng(seed).standard_normal(dimension).astype(np.float32)
