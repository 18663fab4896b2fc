"""Vectors in rows, all compared with one at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

from services.common.embedding.byte_products import are_fast
from services.common.embedding.rounded_rows import RoundedRows, RowIndex, Scores
from services.common.embedding.vectors import Matrix, Vector

Rows: TypeAlias = npt.NDArray[np.intp]

_ROUNDED_FROM: Final = 5_000
"""Rows from which bytes are compared first: there it takes as long; of 10,000 it saves 0.2 ms of 0.7, of 100,000 3.5 of
6.5."""
_ROUNDED_AT_ONCE: Final = 1_000
"""In parts that stay in the processor's cache."""
_ROUNDING: Final = 1e-6
"""How far two scores of one vector may lie apart, by the row it stands in."""
_GROUPS_ONE_BY_ONE_MAX: Final = 8
"""So many passes over all rows are faster than one that looks groups up."""
_CANDIDATES_BY_LIMIT: Final = 16
_CANDIDATES_MIN: Final = 1_000
"""Candidates beyond which, where vectors are nearly the same, all are compared by themselves before one by one."""


class VectorRows:
    """A number of rows that does not change: a larger copy takes its place, while readers go on with this one."""

    def __init__(self, rows: int, dimension: int) -> None:
        """All rows are zeros."""
        self._vectors: Matrix = np.zeros((rows, dimension), np.float32)
        self._rounded = RoundedRows(rows, dimension) if _is_rounded(rows) else None

    def __len__(self) -> int:
        """Number of rows."""
        return len(self._vectors)

    @property
    def dimension(self) -> int:
        """Numbers in each."""
        return int(self._vectors.shape[1])

    @staticmethod
    def bytes_of(rows: int, dimension: int) -> int:
        """Memory of so many rows that are written to, as if bytes were compared from the first on."""
        return 4 * rows * dimension + (RoundedRows.bytes_of(rows, dimension) if are_fast() else 0)

    def put(self, rows: RowIndex, vectors: Matrix) -> None:
        """Write vectors, float32 `[rows, dimension]`, into rows."""
        self._vectors[rows] = vectors
        if self._rounded is not None:
            self._rounded.put(rows, vectors)

    def copy(self, rows: Rows | slice, *, capacity: int) -> VectorRows:
        """Some rows, from the first on, of a new object with room for others."""
        copied = VectorRows(capacity, self.dimension)
        chosen = self._vectors[rows]
        count = len(chosen)
        if self._rounded is None or copied._rounded is None:
            for start in range(0, count, _ROUNDED_AT_ONCE):
                part = slice(start, min(start + _ROUNDED_AT_ONCE, count))
                copied.put(part, chosen[part])
        else:
            copied._vectors[:count] = chosen
            copied._rounded.take(self._rounded, rows, count)
        return copied

    def compare(self, vector: Vector, count: int) -> Comparison:
        """Compare the first `count` rows with one vector."""
        bounds = None if self._rounded is None else self._rounded.bounds(vector, count)
        return Comparison(self._vectors[:count], vector, bounds)

    def scores(self, vector: Vector, rows: Rows) -> Scores:
        """Inner products of some rows, which are the same for equal ones wherever they stand."""
        return _exact(self._vectors, rows, vector)


class Comparison:
    """Rows that were compared with one vector. Rows added later are not in it."""

    def __init__(self, vectors: Matrix, vector: Vector, bounds: tuple[Scores, Scores] | None) -> None:
        """With what their scores lie between; None: they are computed at once."""
        self._vectors = vectors
        self._vector = vector
        self._bounds = bounds
        self._product: Scores | None = None if bounds is not None else vectors @ vector

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
            rows = _not_below(*self._bounds, limit, rows)
            if len(rows) <= max(_CANDIDATES_MIN, _CANDIDATES_BY_LIMIT * limit):
                return rows
        if self._product is None:
            self._product = self._vectors @ self._vector
        return _not_below(self._product, self._product, limit, rows)

    def scores(self, rows: Rows) -> Scores:
        """Inner products of some rows, up to rounding."""
        if self._product is not None:
            return self._product[rows]
        return _exact(self._vectors, rows, self._vector)


def _exact(vectors: Matrix, rows: Rows, vector: Vector) -> Scores:
    # Row by row, unlike a matrix product's sums, which are other ones by the place of the row.
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


def _not_below(least: Scores, largest: Scores, limit: int, rows: Rows | None) -> Rows:
    """Rows that may be as good as the last one of the best that counts."""
    least_among = least if rows is None else least[rows]
    if len(least_among) <= limit:
        return np.arange(len(least_among)) if rows is None else rows
    place = len(least_among) - limit
    floor = np.partition(least_among, place)[place] - np.float32(_ROUNDING)
    if rows is None:
        return np.flatnonzero(largest >= floor)
    found: Rows = rows[largest[rows] >= floor]
    return found


def _is_rounded(rows: int) -> bool:
    return rows >= _ROUNDED_FROM and are_fast()
