"""The embedder as tiers use it that embed by themselves: one model id, and errors that callers understand."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator, Sequence

import numpy as np

from services.common.embedding.embedder import Embedder
from services.common.embedding.errors import EmbeddingError
from services.common.embedding.serving import pinned
from services.common.embedding.vectors import Matrix, Vector
from services.common.errors import FieldViolation, InvalidArgument, Reason, StoreUnavailable


class TierEmbedder:
    """Embeds what a tier remembers, and queries."""

    def __init__(self, embedder: Embedder) -> None:
        """Use `embedder`; its owner closes it."""
        self._embedder = embedder

    @property
    def pinned(self) -> TierEmbedder:
        """The same of one model, for the length of a call: the one that serves now where there are two."""
        return TierEmbedder(pinned(self._embedder))

    @property
    def model_id(self) -> str:
        """Identity of the vector space: stored with each vector, and required of one in a request."""
        return self._embedder.fingerprint

    @property
    def dimension(self) -> int:
        """Numbers in a vector."""
        return self._embedder.dimension

    async def embed(self, texts: Sequence[str]) -> Matrix:
        """One vector of length 1 per text, float32 `[texts, dimension]`.

        Raises:
            StoreUnavailable: The model is busy, closed or failed.
        """
        with _translated():
            return await self._embedder.embed_documents(texts)

    async def embed_query(self, text: str) -> Vector:
        """The vector of a question, of length 1.

        Raises:
            StoreUnavailable: The model is busy, closed or failed.
        """
        with _translated():
            return await self._embedder.embed_query(text)


def second_model(embedder: Embedder | None) -> TierEmbedder | None:
    """The second model of a change of the model, where one is configured."""
    return None if embedder is None else TierEmbedder(embedder)


def unit_vector(vector: Vector, *, field_path: str) -> Vector:
    """The vector with length 1, as searches need it.

    Raises:
        InvalidArgument: It has no direction.
    """
    exact = vector.astype(np.float64)
    length = math.sqrt(exact.dot(exact))
    if not (math.isfinite(length) and length > 0.0):
        raise InvalidArgument(
            "the vector is not valid",
            reason=Reason.INVALID_VECTOR,
            violations=[FieldViolation(field_path, "has no direction")],
        )
    scaled: Vector = (vector / length).astype(np.float32, copy=False)
    return scaled


@contextlib.contextmanager
def _translated() -> Iterator[None]:
    try:
        yield
    except EmbeddingError as error:
        raise StoreUnavailable("embedder") from error
