"""All pieces of one owner in memory: vectors as rows that are compared at once, terms as lists of postings."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt

from services.common.embedding.vector_rows import Comparison, Rows, VectorRows, is_among
from services.episodic.model import EpisodeKey
from services.episodic.store import RetrieverHits, Vector

Scores: TypeAlias = npt.NDArray[np.float32]
Terms: TypeAlias = Mapping[int, float]
"""Weights by the number of the term."""

_ROWS_MIN: Final = 256
_GROWTH: Final = 2.0
"""By how much arrays grow when they are full. What is spare is not written to, and so takes no memory."""
_SPARE: Final = 1.25
"""Rows by the number that is announced."""
_REMOVED: Final = -1
_BYTES_BESIDE: Final = 600
"""Of a piece: its key, its postings, its places in dictionaries."""
_UNUSED_MIN: Final = 2_000
"""Rows of removed pieces that are not worth loading everything anew."""
_PACKED: Final = struct.Struct("<if")
_PACKED_TYPE: Final = np.dtype([("row", "<i4"), ("weight", "<f4")])
_PACKED_MAX: Final = 16
"""Postings of a term that are bytes. Most terms are rare, and arrays take 300 bytes beside their numbers."""
_POSTINGS_GROWTH: Final = 1.5


@dataclass(frozen=True, slots=True)
class CachedPiece:
    """A point of the index."""

    identifier: int
    key: EpisodeKey
    scope_key: str
    vector: Vector  # of length 1
    terms: Terms


class _Postings:
    """Rows that have a term, from the first on, and its weights in them: of a term that is not rare."""

    __slots__ = ("_count", "_rows", "_weights")

    def __init__(self, packed: bytes) -> None:
        pairs = np.frombuffer(packed, _PACKED_TYPE)
        self._rows: npt.NDArray[np.int32] = pairs["row"].astype(np.int32)
        self._weights: Scores = pairs["weight"].astype(np.float32)
        self._count = len(pairs)

    def append(self, row: int, weight: float) -> None:
        count = self._count
        if count == len(self._rows):
            spare = np.empty(int(count * (_POSTINGS_GROWTH - 1.0)), np.int32)
            self._rows = np.concatenate((self._rows, spare))
            self._weights = np.concatenate((self._weights, spare.view(np.float32)))
        self._rows[count], self._weights[count] = row, weight
        self._count = count + 1

    def known(self) -> tuple[npt.NDArray[np.int32], Scores]:
        count = self._count  # first of all: what a writer on another thread puts in place meanwhile is no shorter
        return self._rows[:count], self._weights[:count]


def _extended(postings: bytes | _Postings, row: int, weight: float) -> bytes | _Postings:
    """Postings with one more. Bytes are replaced, so that a reader on another thread is not disturbed."""
    if isinstance(postings, _Postings):
        postings.append(row, weight)
        return postings
    packed = postings + _PACKED.pack(row, weight)
    return packed if len(packed) <= _PACKED_MAX * _PACKED.size else _Postings(packed)


def _below(postings: bytes | _Postings, row: int) -> tuple[npt.NDArray[np.int32], Scores]:
    """Rows of postings before one, and their weights."""
    if isinstance(postings, _Postings):
        rows, weights = postings.known()
    else:
        pairs = np.frombuffer(postings, _PACKED_TYPE)
        rows, weights = pairs["row"], pairs["weight"]
    count = len(rows)
    if count and rows[-1] >= row:
        count = int(np.searchsorted(rows, row))
    return rows[:count], weights[:count]


@dataclass(frozen=True, slots=True)
class RowScores:
    """Scores of all pieces for one query; what was added later is not in them."""

    version: int
    dense: Comparison
    lexical: Scores
    visible: npt.NDArray[np.bool_]  # whether the reader sees the piece


class OwnerRows:
    """Pieces of one owner. Rows are added, or marked as removed: a reader on another thread is not disturbed."""

    def __init__(self, dimension: int, *, count: int = 0) -> None:
        """Empty, with arrays for so many pieces."""
        rows = int(count * _SPARE)
        self._vectors = VectorRows(rows, dimension)
        self._scopes: npt.NDArray[np.int32] = np.full(rows, _REMOVED, np.int32)
        self._scope_numbers: dict[str, int] = {}
        self._keys: list[EpisodeKey] = []
        self._identifiers: list[int] = []
        self._rows: dict[int, int] = {}
        self._rows_by_key: dict[EpisodeKey, tuple[int, ...]] = {}
        self._postings: dict[int, bytes | _Postings] = {}
        self._version = 0

    def __len__(self) -> int:
        """Number of pieces."""
        return len(self._rows)

    def __contains__(self, identifier: int) -> bool:
        """Whether a point is here."""
        return identifier in self._rows

    @staticmethod
    def bytes_of(count: int, dimension: int) -> int:
        """Memory of so many pieces, an upper bound: of the vectors, and of what belongs to each."""
        return VectorRows.bytes_of(count, dimension) + count * _BYTES_BESIDE

    @property
    def size_bytes(self) -> int:
        """Memory, about."""
        count = len(self._keys)
        return self._vectors.used_bytes(count) + count * _BYTES_BESIDE

    @property
    def is_sparse(self) -> bool:
        """Whether so much was removed or replaced that loading everything anew is worth it."""
        return len(self._keys) > 2 * len(self._rows) + _UNUSED_MIN

    def put(self, pieces: Sequence[CachedPiece]) -> None:
        """Add pieces, or replace them."""
        self._reserve(len(self._keys) + len(pieces))
        start = len(self._keys)
        if pieces:
            self._vectors.put(slice(start, start + len(pieces)), np.stack([piece.vector for piece in pieces]))
        for row, piece in enumerate(pieces, start):
            self._drop(piece.identifier)
            self._scopes[row] = self._scope_numbers.setdefault(piece.scope_key, len(self._scope_numbers))
            for term, weight in piece.terms.items():
                self._postings[term] = _extended(self._postings.get(term, b""), row, weight)
            self._identifiers.append(piece.identifier)
            self._keys.append(piece.key)
            self._rows[piece.identifier] = row
            self._rows_by_key[piece.key] = (*self._rows_by_key.get(piece.key, ()), row)
        self._version += 1

    def remove(self, keys: Iterable[EpisodeKey]) -> None:
        """Remove all pieces of episodes; unknown ones are ignored."""
        for key in keys:
            for row in self._rows_by_key.pop(key, ()):
                self._scopes[row] = _REMOVED
                del self._rows[self._identifiers[row]]
        self._version += 1

    def scores(self, vector: Vector, query_terms: Terms, scope_keys: Sequence[str]) -> RowScores:
        """Scores of all pieces. May run on another thread.

        Args:
            vector: Of length 1.
            query_terms: Of the query.
            scope_keys: What the reader sees.
        """
        version, count = self._version, len(self._keys)
        scopes = self._scopes[:count]
        chosen = [number for key in scope_keys if (number := self._scope_numbers.get(key)) is not None]
        dense = self._vectors.compare(vector, count)
        lexical = self._lexical(query_terms, count, scopes)
        return RowScores(version, dense, lexical, is_among(scopes, chosen))

    def search(self, scores: RowScores, *, limit: int, overfetch: float) -> RetrieverHits:
        """The best `limit` episodes of each retriever."""
        visible = None if scores.visible.all() else np.flatnonzero(scores.visible)
        count = len(scores.dense) if visible is None else len(visible)

        def best_dense(fetched: int) -> tuple[Rows, Scores]:
            rows = scores.dense.candidates(fetched, visible)
            return _top(rows, scores.dense.scores(rows), fetched)

        sharing = np.flatnonzero(scores.lexical > 0.0 if visible is None else (scores.lexical > 0.0) & scores.visible)
        weights = scores.lexical[sharing]
        dense, dense_complete = self._best(best_dense, count, limit, overfetch)
        lexical, lexical_complete = self._best(partial(_top, sharing, weights), len(sharing), limit, overfetch)
        return RetrieverHits(
            dense=dense,
            lexical=lexical,
            dense_complete=dense_complete,
            lexical_complete=lexical_complete,
        )

    def score(self, scores: RowScores, keys: Iterable[EpisodeKey], *, lexical: bool) -> dict[EpisodeKey, float]:
        """Scores of those of the episodes that are visible and have one: that of their best piece."""
        count = len(scores.lexical)
        found = [(key, row) for key in keys for row in self._rows_by_key.get(key, ()) if row < count]
        rows = np.array([row for _, row in found], np.intp)
        values = scores.lexical[rows] if lexical else scores.dense.scores(rows)
        least = 0.0 if lexical else -math.inf
        best: dict[EpisodeKey, float] = {}
        for (key, _), value, is_visible in zip(found, values.tolist(), scores.visible[rows].tolist(), strict=True):
            if is_visible and value > best.get(key, least):
                best[key] = value
        return best

    def is_current(self, scores: RowScores) -> bool:
        """Whether nothing has changed since."""
        return scores.version == self._version

    def _lexical(self, query_terms: Terms, count: int, scopes: npt.NDArray[np.int32]) -> Scores:
        """BM25: the engine computes the weights; the inverse document frequency is over all of the owner's pieces."""
        total = np.zeros(count, np.float32)
        alive = len(self._rows)
        has_removed = alive < count
        for term, query_weight in query_terms.items():
            postings = self._postings.get(term)
            if postings is None:
                continue
            rows, weights = _below(postings, count)
            if has_removed and len(rows):
                is_alive = scopes[rows] != _REMOVED
                rows, weights = rows[is_alive], weights[is_alive]
            if len(rows):
                # In float32, as the engine computes it.
                others, half = np.float32(alive - len(rows)), np.float32(0.5)
                inverse = np.log((others + half) / (np.float32(len(rows)) + half) + np.float32(1.0))
                np.add.at(total, rows, weights * (np.float32(query_weight) * inverse))
        return total

    def _best(
        self, top: Callable[[int], tuple[Rows, Scores]], count: int, limit: int, overfetch: float
    ) -> tuple[dict[EpisodeKey, float], bool]:
        """The best episodes, and whether these are all; ties by key.

        Args:
            top: Gives the best rows of a number, and their scores.
            count: Number of rows.
            limit: Episodes that are wanted.
            overfetch: Rows for each of them.
        """
        fetched = min(count, math.ceil(limit * overfetch))
        while True:
            rows, values = top(fetched)
            keys = map(self._keys.__getitem__, rows.tolist())
            best: dict[EpisodeKey, float] = {}
            for negated, key in sorted(zip((-values).tolist(), keys, strict=True)):
                best.setdefault(key, -negated)  # the first one of a key with several rows: the best
            if fetched == count or len(best) >= limit:
                break
            fetched = min(count, fetched * 4)
        return dict(islice(best.items(), limit)), fetched == count and len(best) <= limit

    def _drop(self, identifier: int) -> None:
        row = self._rows.pop(identifier, None)
        if row is None:
            return
        self._scopes[row] = _REMOVED
        key = self._keys[row]
        self._rows_by_key[key] = tuple(other for other in self._rows_by_key[key] if other != row)

    def _reserve(self, count: int) -> None:
        if count <= len(self._vectors):
            return
        rows = max(count, _ROWS_MIN, int(len(self._vectors) * _GROWTH))
        used = len(self._keys)
        scopes = np.full(rows, _REMOVED, np.int32)
        scopes[:used] = self._scopes[:used]
        self._vectors, self._scopes = self._vectors.copy(slice(used), capacity=rows), scopes


def _top(rows: Rows, values: Scores, count: int) -> tuple[Rows, Scores]:
    """Rows with the best values, and those that tie with the last of them: their keys decide."""
    place = len(rows) - count
    if place <= 0:
        return rows, values
    best = (values >= np.partition(values, place)[place]).nonzero()[0]
    return rows[best], values[best]


def terms_of(sparse: Any) -> dict[int, float]:
    """Weights of the engine's sparse vector."""
    return dict(zip(sparse.indices, sparse.values, strict=True))


def unit(vector: Vector) -> Vector:
    """The vector as the engine stores it: of length 1."""
    length = float(np.linalg.norm(vector))
    return (vector / length).astype(np.float32) if length > 0.0 else vector
