"""Vectors in rows, all compared with one at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

from services.common.embedding.byte_products import are_fast
from services.common.embedding.reduced_rows import VECTORS_MIN, ReducedRows, can_reduce, principal_axes
from services.common.embedding.rounded_rows import RoundedRows, RowIndex, Scores
from services.common.embedding.vectors import Matrix, Vector

Rows: TypeAlias = npt.NDArray[np.intp]

_ROUNDED_FROM: Final = 5_000
"""Rows from which bytes are compared first: there it takes as long; of 10,000 it saves 0.2 ms of 0.7, of 100,000 3.5 of
6.5."""
_REDUCED_FROM: Final = 8_000
"""Rows from which bytes along a third as many axes are compared before that: of 10,000 it saves 0.1 ms of 0.45, of
100,000 1 of 2.5, and two thirds of what goes through the processor's caches."""
_REDUCED_SHARE_MAX: Final = 0.2
"""Of the rows: where more may be among the best by their axes, comparing all by all their bytes takes no longer."""
_LEFT_BY_AXES_MAX: Final = 800
"""Rows left by their axes that are not compared by all their bytes, but by their vectors: a product costs 0.1 ms, as do
300 vectors."""
_AT_ONCE: Final = 1_000
"""Rows that are written at once, which stay in the processor's cache."""
_ROUNDING: Final = 1e-6
"""How far two scores of one vector may lie apart, by the row it stands in."""
_GROUPS_ONE_BY_ONE_MAX: Final = 8
"""So many passes over all rows are faster than one that looks groups up."""
_CANDIDATES_BY_LIMIT: Final = 16
_CANDIDATES_MIN: Final = 1_000
"""Candidates beyond which, where vectors are nearly the same, all are compared by themselves before one by one."""


class VectorRows:
    """A number of rows that does not change: a larger copy takes its place, while readers go on with this one.

    Rows are first written in their order.
    """

    def __init__(self, rows: int, dimension: int) -> None:
        """All rows are zeros."""
        self._vectors: Matrix = np.zeros((rows, dimension), np.float32)
        self._rounded = RoundedRows(rows, dimension) if _is_rounded(rows) else None
        self._reduced: ReducedRows | None = None

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
        rounded = RoundedRows.bytes_of(rows, dimension) if are_fast() else 0
        reduced = ReducedRows.bytes_of(rows) if _is_reduced(rows, dimension) else 0
        return 4 * rows * dimension + rounded + reduced

    def put(self, rows: RowIndex, vectors: Matrix) -> None:
        """Write vectors, float32 `[rows, dimension]`, into rows."""
        self._vectors[rows] = vectors
        if self._rounded is not None:
            self._rounded.put(rows, vectors)
        if self._reduced is not None:
            self._reduced.put(rows, vectors)
        is_due = _is_reduced(len(self), self.dimension) if self._reduced is None else self._reduced.is_outgrown
        if is_due:
            self._reduce(rows.stop if isinstance(rows, slice) else int(rows.max(initial=-1)) + 1)

    def copy(self, rows: Rows | slice, *, capacity: int) -> VectorRows:
        """Some rows, from the first on, of a new object with room for others."""
        copied = VectorRows(capacity, self.dimension)
        chosen = self._vectors[rows]
        count = len(chosen)
        if self._rounded is None or copied._rounded is None:
            for part in _parts(count):
                copied.put(part, chosen[part])
            return copied
        copied._vectors[:count] = chosen
        copied._rounded.take(self._rounded, rows, count)
        if _is_reduced(capacity, self.dimension):
            if self._reduced is None:
                copied._reduce(count)
            else:
                copied._reduced = ReducedRows(capacity, self._reduced.axes)
                copied._reduced.take(self._reduced, rows, count)
        return copied

    def compare(self, vector: Vector, count: int) -> Comparison:
        """Compare the first `count` rows with one vector."""
        return Comparison(self._vectors[:count], vector, self._rounded, self._reduced)

    def scores(self, vector: Vector, rows: Rows) -> Scores:
        """Inner products of some rows, which are the same for equal ones wherever they stand."""
        return _exact(self._vectors, rows, vector)

    def _reduce(self, written: int) -> None:
        """Fit axes and reduce what is written, if that is enough of it."""
        if written < VECTORS_MIN:
            return
        reduced = ReducedRows(len(self), principal_axes(self._vectors[:written]))
        for part in _parts(written):
            reduced.put(part, self._vectors[part])
        reduced.settle()
        self._reduced = reduced


class Comparison:
    """Rows that were compared with one vector. Rows added later are not in it."""

    def __init__(
        self, vectors: Matrix, vector: Vector, rounded: RoundedRows | None = None, reduced: ReducedRows | None = None
    ) -> None:
        """With the same rows in bytes, if any, and along axes: the fewest bytes are compared now."""
        self._vectors = vectors
        self._vector = vector
        self._rounded = rounded
        self._is_reduced = rounded is not None and reduced is not None and len(vectors) >= _REDUCED_FROM
        self._bounds: tuple[Scores, Scores] | None = None
        self._product: Scores | None = None
        if rounded is None:
            self._product = vectors @ vector
        elif reduced is not None and self._is_reduced:
            self._bounds = reduced.bounds(vector, len(vectors))
        else:
            self._bounds = rounded.bounds(vector, slice(0, len(vectors)))

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
            found = self._by_bytes(self._bounds, limit, rows)
            if len(found) <= max(_CANDIDATES_MIN, _CANDIDATES_BY_LIMIT * limit):
                return found
        if self._product is None:
            self._product = self._vectors @ self._vector
        return _not_below(self._product, self._product, limit, rows)

    def scores(self, rows: Rows) -> Scores:
        """Inner products of some rows, up to rounding."""
        if self._product is not None:
            return self._product[rows]
        return _exact(self._vectors, rows, self._vector)

    def _by_bytes(self, bounds: tuple[Scores, Scores], limit: int, rows: Rows | None) -> Rows:
        found = _not_below(*bounds, limit, rows)
        if not self._is_reduced or self._rounded is None or len(found) <= _LEFT_BY_AXES_MAX:
            return found
        if len(found) <= _REDUCED_SHARE_MAX * len(self):
            return found[_not_below(*self._rounded.bounds(self._vector, found), limit, None)]
        self._bounds = self._rounded.bounds(self._vector, slice(0, len(self)))
        self._is_reduced = False
        return _not_below(*self._bounds, limit, rows)


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
    ordered = least_among.copy()
    ordered.partition(place)
    floor = ordered[place] - np.float32(_ROUNDING)
    if rows is None:
        found: Rows = (largest >= floor).nonzero()[0]
    else:
        found = rows[largest[rows] >= floor]
    return found


def _is_rounded(rows: int) -> bool:
    return rows >= _ROUNDED_FROM and are_fast()


def _is_reduced(rows: int, dimension: int) -> bool:
    return _is_rounded(rows) and rows >= _REDUCED_FROM and can_reduce(dimension)


def _parts(count: int) -> Iterator[slice]:
    """Rows up to a number, in parts that stay in the processor's cache."""
    return (slice(start, min(start + _AT_ONCE, count)) for start in range(0, count, _AT_ONCE))
