"""Vectors of one owner kept in memory, compared by one matrix product: the exact nearest ones, whatever their number.

An engine that looks at vectors one by one, through rows or pages of its own, takes 0.2 to 0.5 microseconds for each,
the product 0.06.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

import numpy as np
import numpy.typing as npt

from services.common.embedding.vectors import Matrix, Vector

K = TypeVar("K", int, uuid.UUID)

_ROWS_MIN: Final = 256
_GROWTH: Final = 1.25
"""By how much the table grows when it is full: what is spare is at most a fifth."""
_ROUNDING: Final = 1e-6
"""How far two scores of one vector may lie apart, by the row it stands in."""
_REMOVED: Final = -1
_USED_SHARE_MIN: Final = 0.75
"""Below it what was removed is given back."""


@dataclass(frozen=True, slots=True)
class _Rows(Generic[K]):
    """What a search reads. One object for all of it: it is replaced as a whole, and rows are added behind."""

    keys: list[K]
    vectors: Matrix
    groups: npt.NDArray[np.int32]
    levels: npt.NDArray[np.float64]


class VectorTable(Generic[K]):
    """Vectors by their keys, each in one group and of one level, by which searches choose.

    Vectors are taken as they are: of length 1, the scores are cosines.
    """

    def __init__(self, dimension: int) -> None:
        """An empty one for vectors of so many numbers."""
        self._all: _Rows[K] = _empty(0, dimension)
        self._group_numbers: dict[str, int] = {}
        self._rows: dict[K, int] = {}

    def __len__(self) -> int:
        """Number of vectors."""
        return len(self._rows)

    @property
    def size_bytes(self) -> int:
        """Memory of the vectors, without keys."""
        return self._all.vectors.nbytes

    def put(
        self, keys: Sequence[K], groups: Sequence[str], vectors: Matrix, levels: Sequence[float] | None = None
    ) -> None:
        """Add or replace vectors.

        Args:
            keys: One for each, each once.
            groups: Their groups.
            vectors: float32 `[keys, dimension]`.
            levels: Their levels; None: 0.
        """
        self._reserve(len(self._all.keys) + len(keys))
        rows = self._all
        for key, group, vector, level in zip(keys, groups, vectors, levels or [0.0] * len(keys), strict=True):
            row = self._rows.get(key, len(rows.keys))
            rows.vectors[row] = vector
            rows.groups[row] = self._group_numbers.setdefault(group, len(self._group_numbers))
            rows.levels[row] = level
            if row == len(rows.keys):
                rows.keys.append(key)
                self._rows[key] = row

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
        self, vector: Vector, groups: Sequence[str], limit: int, *, level_min: float | None = None
    ) -> list[tuple[K, float]]:
        """The best `limit` of the groups by inner product, best first, ties by key.

        May run on another thread than the one that changes the table. It sees the table as of its start but for what
        is replaced or removed meanwhile, which it may see as it was, as it is, or half.

        Args:
            vector: What they are compared with.
            groups: Which of them.
            limit: How many.
            level_min: Their least level; None: any.
        """
        rows = self._all
        keys, count = rows.keys, len(rows.keys)
        vectors, numbers = rows.vectors[:count], rows.groups[:count]
        scores: Vector = vectors @ vector
        chosen = self._chosen(groups)
        is_asked = np.ones(count, np.bool_) if level_min is None else rows.levels[:count] >= level_min
        if len(self._rows) < count or len(chosen) < len(self._group_numbers):
            is_asked &= np.isin(numbers, chosen)
        candidates = np.flatnonzero(is_asked)
        if len(candidates) > limit:
            among = scores[candidates]
            # All that may be as good as the last one that counts.
            candidates = candidates[among >= np.partition(among, -limit)[-limit] - _ROUNDING]
        # A product's rounding depends on the row: equal vectors must score the same for ties to be seen.
        exact = (vectors[candidates] * vector).sum(axis=1).tolist()
        found = sorted((-score, keys[row]) for row, score in zip(candidates.tolist(), exact, strict=True))
        return [(key, -score) for score, key in found[:limit]]

    def score(self, vector: Vector, keys: Iterable[K], groups: Sequence[str]) -> dict[K, float]:
        """Inner products of those of the keys that are there, in one of the groups."""
        chosen = set(self._chosen(groups))
        numbers = self._all.groups
        rows = {key: row for key in keys if (row := self._rows.get(key)) is not None and int(numbers[row]) in chosen}
        if not rows:
            return {}
        exact = (self._all.vectors[list(rows.values())] * vector).sum(axis=1)
        return dict(zip(rows, exact.tolist(), strict=True))

    def _chosen(self, groups: Sequence[str]) -> list[int]:
        return [number for group in set(groups) if (number := self._group_numbers.get(group)) is not None]

    def _compact(self) -> None:
        old, used = self._all, list(self._rows.values())
        self._all = _Rows(list(self._rows), old.vectors[used], old.groups[used], old.levels[used])
        self._rows = {key: row for row, key in enumerate(self._all.keys)}

    def _reserve(self, count: int) -> None:
        old = self._all
        if count <= len(old.vectors):
            return
        grown: _Rows[K] = _empty(max(count, _ROWS_MIN, int(len(old.vectors) * _GROWTH)), old.vectors.shape[1])
        used = len(old.keys)
        grown.vectors[:used], grown.groups[:used] = old.vectors[:used], old.groups[:used]
        grown.levels[:used] = old.levels[:used]
        grown.keys.extend(old.keys)
        self._all = grown


def _empty(count: int, dimension: int) -> _Rows[K]:
    return _Rows([], np.zeros((count, dimension), np.float32), np.zeros(count, np.int32), np.zeros(count))
