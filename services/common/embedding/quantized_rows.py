"""Vectors quantized to one byte a component, with proven bounds on what the quantization changes in a product.

Comparing bytes reads a quarter of the memory. The few rows whose bounds leave them among the best are then compared
by their own vectors, so that the result is exact.
"""

from __future__ import annotations

import math
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

from services.common.embedding.byte_products import Unsigned, products_of_rows, unsigned
from services.common.embedding.vectors import Matrix, Vector

Scores: TypeAlias = npt.NDArray[np.float32]
RowIndex: TypeAlias = slice | npt.NDArray[np.intp]

_LARGEST: Final = 127
"""Largest magnitude of a signed byte."""
_LARGEST_OF_TWO: Final = 127 * 256 + 127
"""Largest magnitude of two signed bytes, the upper one weighted with 256."""
_WEIGHTS: Final = np.array([256.0, 1.0], np.float32)
_FLOAT_ERROR: Final = 2e-6
"""Bound of the float32 error of a product, as a share of the product of both norms."""


class QuantizedRows:
    """Rows of bytes: row `v` is `scale * bytes` plus a residual of known norm.

    By Cauchy and Schwarz the score of `q` with `v` differs from that of the quantized ones by at most
    `|q| * |residual of v| + |residual of q| * |quantized v|`. The query is quantized to two bytes a component, which
    makes the second term small.
    """

    def __init__(self, rows: int, dimension: int) -> None:
        """All rows are zeros."""
        self._bytes: Unsigned = np.zeros((rows, dimension), np.uint8)
        self._scales: Scores = np.zeros(rows, np.float32)
        self._residuals: Scores = np.zeros(rows, np.float32)
        self._norm_max = 0.0

    @staticmethod
    def bytes_of(rows: int, dimension: int) -> int:
        """Memory of so many rows."""
        return rows * (dimension + 8)

    def put(self, rows: RowIndex, vectors: Matrix) -> None:
        """Quantize vectors into rows.

        Args:
            rows: Where to.
            vectors: float32 `[rows, dimension]`, finite.
        """
        scales = np.abs(vectors).max(axis=1) / np.float32(_LARGEST)
        steps = np.where(scales > 0.0, scales, np.float32(1.0))[:, None]
        whole = np.clip(np.rint(vectors / steps), -_LARGEST, _LARGEST)
        norms = _norms(vectors)
        residuals = _norms(vectors - whole * scales[:, None]) + np.float32(_FLOAT_ERROR) * norms
        self._bytes[rows] = unsigned(whole.astype(np.int8))
        self._scales[rows], self._residuals[rows] = scales, residuals
        self._norm_max = max(self._norm_max, float((norms + residuals).max(initial=0.0)))

    def take(self, other: QuantizedRows, rows: RowIndex, count: int) -> None:
        """Copy rows of another one to the first `count` of these."""
        self._bytes[:count] = other._bytes[rows]
        self._scales[:count], self._residuals[:count] = other._scales[rows], other._residuals[rows]
        self._norm_max = other._norm_max

    def bounds(self, vector: Vector, rows: RowIndex) -> tuple[Scores, Scores]:
        """Lower and upper bounds of the inner products of rows with a vector."""
        query = vector.astype(np.float64)
        norm = math.sqrt(query.dot(query))
        scale = float(np.abs(query).max(initial=0.0)) / _LARGEST_OF_TWO
        whole = np.rint(query / (scale or 1.0)).astype(np.int32)
        upper_bytes = (whole + 128) >> 8
        both = np.empty((2, len(whole)), np.int8)
        both[0], both[1] = upper_bytes, whole - (upper_bytes << 8)
        difference = query - whole * scale
        residual = math.sqrt(difference.dot(difference))
        middle: Scores = products_of_rows(self._bytes[rows], both).astype(np.float32) @ _WEIGHTS
        middle *= self._scales[rows]
        middle *= np.float32(scale)
        # The norms are themselves computed in float32.
        margin = self._residuals[rows] * np.float32(norm * (1.0 + _FLOAT_ERROR))
        margin += np.float32(self._norm_max * residual * (1.0 + _FLOAT_ERROR))
        lower = middle - margin
        middle += margin
        return lower, middle


def _norms(vectors: Matrix) -> Scores:
    found: Scores = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))
    return found
