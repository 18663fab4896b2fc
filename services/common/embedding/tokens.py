"""Token vectors: what a model knows of each word piece of a text, in a compact form.

One run of a sentence encoder computes a vector for each word piece anyway; the sentence embedding is their mean.
Kept one by one they serve late interaction: each word of a question is compared with each word of a text.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from services.common.embedding.vectors import Vector

COMPACT_SCALE: Final = 127.0
"""What a component of length 1 is stored as."""
TOKEN_ID_MAX: Final = 2**16 - 1
"""The highest id of a word piece that can be stored: ids take two bytes."""


@dataclass(frozen=True, slots=True)
class TokenSpace:
    """Which token vectors compare with which, and what is known of the ids beside them."""

    fingerprint: str
    """Identity of the model and of the compact form: vectors of different ones must never be compared."""
    dimension: int
    """Components of a vector."""
    sentence_ends: tuple[int, ...] = ()
    """Ids of the word pieces that end a sentence: full stop, question mark, exclamation mark."""


@dataclass(frozen=True, slots=True, eq=False)
class TokenVectors:
    """The word pieces of one text in their order, without the special ones. The arrays are read-only."""

    fingerprint: str
    """Identity of the space; see `TokenSpace`."""
    ids: npt.NDArray[np.uint16]
    """Ids in the model's vocabulary: `[tokens]`; there may be none."""
    vectors: npt.NDArray[np.int8]
    """round(127 x vector) with vectors of length 1: `[tokens, dimension]`."""

    def __len__(self) -> int:
        """The number of tokens."""
        return len(self.ids)

    @property
    def byte_count(self) -> int:
        """Bytes of the arrays."""
        return self.ids.nbytes + self.vectors.nbytes


@dataclass(frozen=True, slots=True, eq=False)
class TextEncoding:
    """The outputs of one run of a model on a text."""

    vector: Vector
    """The sentence embedding, of length 1."""
    tokens: TokenVectors | None
    """Its token vectors; None where the model gives none, or has no compact form."""

    @property
    def byte_count(self) -> int:
        """Bytes of the arrays."""
        return self.vector.nbytes + (self.tokens.byte_count if self.tokens is not None else 0)


def compact(vectors: npt.NDArray[np.float32]) -> npt.NDArray[np.int8]:
    """Returns vectors of length 1 with a byte for each component: a cosine is exact to some 0.005."""
    rounded: npt.NDArray[np.int8] = np.rint(vectors * COMPACT_SCALE).astype(np.int8)
    return rounded


def split_tokens(
    fingerprint: str, ids: npt.NDArray[np.uint16], vectors: npt.NDArray[np.int8], counts: Sequence[int]
) -> list[TokenVectors]:
    """Returns the tokens of texts that lie one behind the other, each in memory of its own.

    Args:
        fingerprint: Identity of the space.
        ids: Of all texts: `[tokens]`.
        vectors: Of all texts: `[tokens, dimension]`.
        counts: Tokens of each text; they add up to all.
    """
    found: list[TokenVectors] = []
    start = 0
    for count in counts:
        # Copies: a view would keep the vectors of the whole run alive.
        own_ids, own_vectors = ids[start : start + count].copy(), vectors[start : start + count].copy()
        own_ids.flags.writeable = own_vectors.flags.writeable = False
        found.append(TokenVectors(fingerprint, own_ids, own_vectors))
        start += count
    return found
