"""Vectors along the axes on which they differ most, and how far their products probably lie from the vectors' own.

A third of the bytes is compared, and takes half the time. Unlike `rounded_rows` this proves nothing: what is left out
of two vectors could point the same way. It points anywhere, as measured, so that the product of what is left out is
distributed like that of random vectors, and a wide margin in standard deviations holds.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from services.common.embedding.byte_products import Unsigned, products_of_rows, unsigned
from services.common.embedding.rounded_rows import LARGEST, RowIndex, Scores, lengths, rounded
from services.common.embedding.vectors import Matrix, Vector

_AXES: Final = 128
"""They hold four fifths of a sentence vector's squared length where they were fitted on vectors of the same kind."""
_DEVIATIONS: Final = 4.0
"""Margin. Of the best 20, 70 and 200 for 1,244 questions to 5,400 real turns 19 in 361,000 were missed with 3, 5 with
3.5, none with 4; of the best 200 for 120 questions to 100,000 made-up notes 2 in 24,000 with 3, none with 4."""
_SAMPLE: Final = 2_048
"""Vectors that axes are fitted on: 50 ms."""

_OUTGROWN_FROM: Final = 1.25
"""How much more, as a share, axes leave out of what came later before other ones should be fitted."""

VECTORS_MIN: Final = 2 * _SAMPLE
"""Vectors from which axes are fitted."""


def can_reduce(dimension: int) -> bool:
    """Whether vectors of so many numbers are worth it."""
    return dimension >= 2 * _AXES


def principal_axes(vectors: Matrix) -> Matrix:
    """Returns orthonormal axes, float32 `[dimension, axes]`, for vectors like some of these.

    Args:
        vectors: float32 `[rows, dimension]`, at least `VECTORS_MIN`; some, evenly spaced, are looked at.
    """
    sample = vectors[:: len(vectors) // _SAMPLE]
    _, axes = np.linalg.eigh(sample.T @ sample)  # of growing weight
    return np.ascontiguousarray(axes[:, : -_AXES - 1 : -1])


class ReducedRows:
    """Rows of bytes along axes, and the length of what each row's vector has beside them."""

    def __init__(self, rows: int, axes: Matrix) -> None:
        """Nothing is in them yet.

        Args:
            rows: Their number.
            axes: See `principal_axes`.
        """
        self._axes = axes
        self._bytes: Unsigned = np.zeros((rows, axes.shape[1]), np.uint8)
        self._scales: Scores = np.zeros(rows, np.float32)
        self._left_out: Scores = np.zeros(rows, np.float32)
        self._length_max = self._rest_max = 0.0
        self._shares: tuple[float, int] | None = None  # of the first vectors what is left out, and their number
        self._later_sum, self._later_count = 0.0, 0

    @property
    def axes(self) -> Matrix:
        """What they are reduced to."""
        return self._axes

    @property
    def is_outgrown(self) -> bool:
        """Whether half as many vectors as the axes were fitted on came later, and are of another kind."""
        if self._shares is None or 2 * self._later_count < self._shares[1]:
            return False
        return self._later_sum > _OUTGROWN_FROM * self._shares[0] * self._later_count

    def settle(self) -> None:
        """Tell that what was put in so far is what the axes were fitted on."""
        self._shares = self._later_sum / max(1, self._later_count), self._later_count
        self._later_sum, self._later_count = 0.0, 0

    @staticmethod
    def bytes_of(rows: int) -> int:
        """Memory of so many rows."""
        return rows * (_AXES + 8)

    def put(self, rows: RowIndex, vectors: Matrix) -> None:
        """Reduce vectors. Takes 1.6 microseconds for each of 384 numbers.

        Args:
            rows: Where to.
            vectors: float32 `[rows, dimension]`, finite.
        """
        reduced = vectors @ self._axes
        whole, scales = rounded(reduced)
        rests = lengths(reduced - whole * scales[:, None])
        inside, squares = lengths(reduced), np.einsum("ij,ij->i", vectors, vectors)
        left_out = np.maximum(squares - inside * inside, 0.0)
        self._bytes[rows], self._scales[rows] = unsigned(whole.astype(np.int8)), scales
        self._left_out[rows] = np.sqrt(left_out)
        self._later_sum += float((left_out / np.maximum(squares, np.finfo(np.float32).tiny)).sum())
        self._later_count += len(vectors)
        self._length_max = max(self._length_max, float(inside.max(initial=0.0)))
        self._rest_max = max(self._rest_max, float(rests.max(initial=0.0)))

    def take(self, other: ReducedRows, rows: RowIndex, count: int) -> None:
        """Copy rows of another one, with the same axes, to the first `count` of these."""
        self._bytes[:count] = other._bytes[rows]
        self._scales[:count], self._left_out[:count] = other._scales[rows], other._left_out[rows]
        self._length_max, self._rest_max = other._length_max, other._rest_max
        self._shares, self._later_sum, self._later_count = other._shares, other._later_sum, other._later_count

    def bounds(self, vector: Vector, count: int) -> tuple[Scores, Scores]:
        """Between what the inner products of the first `count` rows with a vector probably lie: least and largest."""
        reduced = vector @ self._axes
        inside = math.sqrt(reduced.dot(reduced))
        left_out = math.sqrt(max(0.0, float(vector @ vector) - inside * inside))
        scale = float(np.abs(reduced).max(initial=0.0)) / LARGEST
        whole = np.rint(reduced / (scale or 1.0))
        left = reduced - whole * scale
        rest = math.sqrt(left.dot(left))

        middle: Scores = (
            products_of_rows(self._bytes[:count], whole.astype(np.int8)[None]).reshape(-1).astype(np.float32)
        )
        middle *= self._scales[:count]
        middle *= np.float32(scale)
        dimension, axes = self._axes.shape
        margin = self._left_out[:count] * np.float32(_DEVIATIONS * left_out / math.sqrt(max(1, dimension - axes)))
        margin += np.float32(_DEVIATIONS * (inside * self._rest_max + rest * self._length_max) / math.sqrt(axes))
        least = middle - margin
        middle += margin
        return least, middle
