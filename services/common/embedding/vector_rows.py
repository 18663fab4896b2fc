"""Vectors in rows, all compared with one at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

from services.common.embedding.byte_products import are_fast
from services.common.embedding.quantized_rows import QuantizedRows, RowIndex, Scores
from services.common.embedding.vectors import Matrix, Vector

Rows: TypeAlias = npt.NDArray[np.intp]

_QUANTIZED_FROM: Final = 5_000
"""Rows from which comparing bytes first is faster than one matrix product."""
_AT_ONCE: Final = 1_000
"""Rows that are quantized at once: they stay in the processor's cache."""
_FLOAT_ERROR: Final = 1e-6
"""How far two scores of one vector may lie apart, by the row it stands in."""
_GROUPS_ONE_BY_ONE_MAX: Final = 8
"""So many passes over all rows are faster than one that looks groups up."""
_CANDIDATES_BY_LIMIT: Final = 16
_CANDIDATES_MIN: Final = 1_000
"""Candidates that a matrix product ranks first: their vectors are nearly the same."""


class VectorRows:
    """A fixed number of rows: to grow, a larger copy takes its place, while readers go on with this one."""

    def __init__(self, rows: int, dimension: int) -> None:
        """All rows are zeros."""
        self._vectors: Matrix = np.zeros((rows, dimension), np.float32)
        is_quantized = rows >= _QUANTIZED_FROM and are_fast()
        self._quantized = QuantizedRows(rows, dimension) if is_quantized else None

    def __len__(self) -> int:
        """Number of rows."""
        return len(self._vectors)

    @property
    def dimension(self) -> int:
        """Components of each."""
        return int(self._vectors.shape[1])

    @staticmethod
    def bytes_of(rows: int, dimension: int) -> int:
        """Memory of so many rows that are written to, an upper bound: few rows are not quantized."""
        return 4 * rows * dimension + (QuantizedRows.bytes_of(rows, dimension) if are_fast() else 0)

    def used_bytes(self, rows: int) -> int:
        """Memory of the first `rows`. The others were never written to, and most of them have no memory yet."""
        quantized = 0 if self._quantized is None else QuantizedRows.bytes_of(rows, self.dimension)
        return 4 * rows * self.dimension + quantized

    def put(self, rows: RowIndex, vectors: Matrix) -> None:
        """Write vectors, float32 `[rows, dimension]`, into rows."""
        self._vectors[rows] = vectors
        if self._quantized is not None:
            self._quantized.put(rows, vectors)

    def copy(self, rows: Rows | slice, *, capacity: int) -> VectorRows:
        """The first rows of a new object with `capacity` rows are the given ones of this."""
        copied = VectorRows(capacity, self.dimension)
        chosen = self._vectors[rows]
        count = len(chosen)
        if self._quantized is not None and copied._quantized is not None:
            copied._vectors[:count] = chosen
            copied._quantized.take(self._quantized, rows, count)
            return copied
        for start in range(0, count, _AT_ONCE):
            part = slice(start, min(start + _AT_ONCE, count))
            copied.put(part, chosen[part])
        return copied

    def compare(self, vector: Vector, count: int) -> Comparison:
        """Compare the first `count` rows with one vector."""
        return Comparison(self._vectors[:count], vector, self._quantized)

    def scores(self, vector: Vector, rows: Rows) -> Scores:
        """Inner products of some rows, which are the same for equal ones wherever they stand."""
        return _exact(self._vectors, rows, vector)


class Comparison:
    """Rows that were compared with one vector. Rows added later are not in it."""

    def __init__(self, vectors: Matrix, vector: Vector, quantized: QuantizedRows | None = None) -> None:
        """Compare now; by the quantized rows where there are some."""
        self._vectors = vectors
        self._vector = vector
        self._bounds: tuple[Scores, Scores] | None = None
        self._product: Scores | None = None
        if quantized is None:
            self._product = vectors @ vector
        else:
            self._bounds = quantized.bounds(vector, slice(0, len(vectors)))

    def __len__(self) -> int:
        """Number of rows."""
        return len(self._vectors)

    def candidates(self, limit: int, rows: Rows | None = None) -> Rows:
        """All that may be among the best `limit`, and few others, in their order.

        Args:
            limit: 1 or more.
            rows: Among which; None: all.
        """
        if self._bounds is not None:
            found = _not_below(*self._bounds, limit, rows)
            if len(found) <= max(_CANDIDATES_MIN, _CANDIDATES_BY_LIMIT * limit):
                return found
        if self._product is None:
            self._product = self._vectors @ self._vector
        return _not_below(self._product, self._product, limit, rows)

    def scores(self, rows: Rows) -> Scores:
        """Inner products of some rows, up to float32 error."""
        if self._product is not None:
            return self._product[rows]
        return _exact(self._vectors, rows, self._vector)


def _exact(vectors: Matrix, rows: Rows, vector: Vector) -> Scores:
    # Row by row: a matrix product's sums depend on the place of the row.
    found: Scores = np.vecdot(vectors[rows], vector)
    return found


def is_among(groups: npt.NDArray[np.int32], chosen: Sequence[int]) -> npt.NDArray[np.bool_]:
    """Which rows are in one of the groups, given the rows' groups."""
    if len(chosen) > _GROUPS_ONE_BY_ONE_MAX:
        return np.isin(groups, chosen)
    found = np.zeros(len(groups), np.bool_)
    for group in chosen:
        found |= groups == group
    return found


def _not_below(lower: Scores, upper: Scores, limit: int, rows: Rows | None) -> Rows:
    """Rows whose upper bound reaches the lower bound of the last of the best `limit`."""
    lower_among = lower if rows is None else lower[rows]
    if len(lower_among) <= limit:
        return np.arange(len(lower_among)) if rows is None else rows
    place = len(lower_among) - limit
    ordered = lower_among.copy()
    ordered.partition(place)
    floor = ordered[place] - np.float32(_FLOAT_ERROR)
    if rows is None:
        found: Rows = (upper >= floor).nonzero()[0]
    else:
        found = rows[upper[rows] >= floor]
    return found
