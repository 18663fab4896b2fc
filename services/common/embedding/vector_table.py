"""Vectors of one owner in memory, all compared at once: the exact nearest ones, whatever their number."""

from __future__ import annotations

import functools
import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

import numpy as np
import numpy.typing as npt

from services.common.embedding.vector_rows import Rows, VectorRows, is_among
from services.common.embedding.vectors import Matrix, Vector

K = TypeVar("K", int, uuid.UUID)

_ROWS_MIN: Final = 256
_GROWTH: Final = 2.0
"""By how much the table grows when it is full. What is spare was never written to, and so takes no memory."""
_REMOVED: Final = -1
_BYTES_BESIDE: Final = 258
"""Of a vector: its key, and its places in a list and a dictionary."""
_USED_SHARE_MIN: Final = 0.75
"""Below it what was removed is given back."""


@dataclass(frozen=True, slots=True)
class _Rows(Generic[K]):
    """What a search reads: one object that is replaced as a whole, and to which rows are appended."""

    keys: list[K]
    vectors: VectorRows
    groups: npt.NDArray[np.int32]
    levels: npt.NDArray[np.float64]
    ends: npt.NDArray[np.float64]


class VectorTable(Generic[K]):
    """Vectors by their keys, each in one group, of one level and with one end, by which searches choose.

    Vectors are taken as they are: of length 1, the scores are cosines.
    """

    def __init__(self, dimension: int) -> None:
        """An empty one for vectors of so many numbers."""
        self._all: _Rows[K] = _empty(dimension)
        self._group_numbers: dict[str, int] = {}
        self._rows: dict[K, int] = {}

    def __len__(self) -> int:
        """Number of vectors."""
        return len(self._rows)

    @property
    def size_bytes(self) -> int:
        """Memory, about."""
        count = len(self._all.keys)
        return self._all.vectors.used_bytes(count) + count * _BYTES_BESIDE

    @staticmethod
    def bytes_of(count: int, dimension: int) -> int:
        """Memory of so many vectors with what belongs to each, an upper bound."""
        return VectorRows.bytes_of(count, dimension) + count * _BYTES_BESIDE

    def put(
        self,
        keys: Sequence[K],
        groups: Sequence[str],
        vectors: Matrix,
        levels: Sequence[float] | None = None,
        ends: Sequence[float | None] | None = None,
    ) -> None:
        """Add or replace vectors.

        Args:
            keys: One for each, each once.
            groups: Their groups.
            vectors: float32 `[keys, dimension]`.
            levels: Their levels; None: 0.
            ends: Their ends, a number such as a time; None: none.
        """
        self._reserve(len(self._all.keys) + len(keys))
        rows = self._all
        places = [self._rows.get(key, -1) for key in keys]
        unknown = (place for place in range(len(rows.keys), len(rows.keys) + len(keys)))
        places = [place if place >= 0 else next(unknown) for place in places]
        rows.vectors.put(np.array(places, np.intp), vectors)
        levels, ends = levels or [0.0] * len(keys), ends or [None] * len(keys)
        for key, group, place, level, end in zip(keys, groups, places, levels, ends, strict=True):
            rows.groups[place] = self._group_numbers.setdefault(group, len(self._group_numbers))
            rows.levels[place] = level
            rows.ends[place] = np.inf if end is None else end
            if place == len(rows.keys):
                rows.keys.append(key)
                self._rows[key] = place

    def remove(self, keys: Iterable[K]) -> None:
        """Forget vectors; unknown ones are ignored."""
        for key in keys:
            row = self._rows.pop(key, None)
            if row is not None:
                self._all.groups[row] = _REMOVED
        count = len(self._all.keys)
        if count > _ROWS_MIN and len(self._rows) < _USED_SHARE_MIN * count:
            self._compact()

    def nearest(
        self,
        vector: Vector,
        groups: Sequence[str],
        limit: int,
        *,
        level_min: float | None = None,
        end_after: float | None = None,
    ) -> list[tuple[K, float]]:
        """The best `limit` of the groups by inner product, best first, ties by key.

        May run on another thread than the one that changes the table. It sees the table as of its start but for what
        is replaced or removed meanwhile, which it may see as it was, as it is, or half.

        Args:
            vector: What they are compared with.
            groups: Which of them.
            limit: How many.
            level_min: Their least level; None: any.
            end_after: What their ends must be above; None: any.
        """
        rows = self._all
        keys, count = rows.keys, len(rows.keys)
        comparison = rows.vectors.compare(vector, count)
        # The sums of a product depend on the row: equal vectors must score the same for ties to be seen.
        candidates = comparison.candidates(limit, self._asked(rows, count, groups, level_min, end_after))
        exact = rows.vectors.scores(vector, candidates)
        if len(exact) > limit:
            best = exact >= np.partition(exact, -limit)[-limit]
            candidates, exact = candidates[best], exact[best]
        found = sorted((-score, keys[row]) for row, score in zip(candidates.tolist(), exact.tolist(), strict=True))
        return [(key, -score) for score, key in found[:limit]]

    def score(self, vector: Vector, keys: Iterable[K], groups: Sequence[str]) -> dict[K, float]:
        """Inner products of those of the keys that are there, in one of the groups."""
        chosen = set(self._chosen(groups))
        numbers = self._all.groups
        rows = {key: row for key in keys if (row := self._rows.get(key)) is not None and int(numbers[row]) in chosen}
        if not rows:
            return {}
        exact = self._all.vectors.scores(vector, np.array(list(rows.values())))
        return dict(zip(rows, exact.tolist(), strict=True))

    def _asked(
        self, rows: _Rows[K], count: int, groups: Sequence[str], level_min: float | None, end_after: float | None
    ) -> Rows | None:
        """Rows that a search considers; None: all."""
        chosen = self._chosen(groups)
        conditions = [] if level_min is None else [rows.levels[:count] >= level_min]
        if end_after is not None:
            conditions.append(rows.ends[:count] > end_after)
        if len(self._rows) < count or len(chosen) < len(self._group_numbers):
            conditions.append(is_among(rows.groups[:count], chosen))
        if not conditions:
            return None
        is_asked = functools.reduce(np.logical_and, conditions)
        return None if is_asked.all() else is_asked.nonzero()[0]

    def _chosen(self, groups: Sequence[str]) -> list[int]:
        return [number for group in set(groups) if (number := self._group_numbers.get(group)) is not None]

    def _compact(self) -> None:
        old, used = self._all, np.array(list(self._rows.values()), np.intp)
        vectors = old.vectors.copy(used, capacity=len(used))
        self._all = _Rows(list(self._rows), vectors, old.groups[used], old.levels[used], old.ends[used])
        self._rows = {key: row for row, key in enumerate(self._all.keys)}

    def _reserve(self, count: int) -> None:
        old, used = self._all, len(self._all.keys)
        if count <= len(old.vectors):
            return
        capacity = max(count, _ROWS_MIN, int(len(old.vectors) * _GROWTH))
        groups, levels, ends = np.zeros(capacity, np.int32), np.zeros(capacity), np.zeros(capacity)
        groups[:used], levels[:used], ends[:used] = old.groups[:used], old.levels[:used], old.ends[:used]
        self._all = _Rows(list(old.keys), old.vectors.copy(slice(used), capacity=capacity), groups, levels, ends)


def _empty(dimension: int) -> _Rows[K]:
    return _Rows([], VectorRows(0, dimension), np.zeros(0, np.int32), np.zeros(0), np.zeros(0))
