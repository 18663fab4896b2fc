"""Groups of similar notes. Pure functions over vectors."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np

from services.common.embedding.vectors import Matrix
from services.common.maintenance.pace import rest

_BLOCK: Final = 32
"""Rows compared at a time: short calls, between which requests go on."""
_STEP: Final = 0.05


def similar_pairs(vectors: Matrix, similarity_min: float) -> Iterator[tuple[int, int, float]]:
    """Pairs of rows with at least this cosine, the smaller row first, in order.

    Args:
        vectors: Of length 1, float32 `[notes, dimension]`; rows of zeros are in no pair.
        similarity_min: Above 0.
    """
    for start in range(0, len(vectors), _BLOCK):
        similarities = vectors[start : start + _BLOCK] @ vectors[start:].T
        # Many times faster than `np.nonzero` of two dimensions.
        rows, columns = np.divmod(np.flatnonzero(similarities >= similarity_min), similarities.shape[1])
        is_later = columns > rows
        rows, columns = rows[is_later], columns[is_later]
        found = similarities[rows, columns]
        rest()
        yield from zip((rows + start).tolist(), (columns + start).tolist(), found.tolist(), strict=True)


def components(count: int, pairs: Sequence[tuple[int, int]]) -> list[list[int]]:
    """The connected components of more than one of `count` things, each ascending, by their first."""
    parent = list(range(count))

    def root(index: int) -> int:
        while parent[index] != index:
            parent[index] = parent[parent[index]]
            index = parent[index]
        return index

    for first, second in pairs:
        low, high = sorted((root(first), root(second)))
        parent[high] = low
    groups: dict[int, list[int]] = {}
    for index in range(count):
        groups.setdefault(root(index), []).append(index)
    return [group for group in groups.values() if len(group) > 1]


def clusters(
    count: int, pairs: Sequence[tuple[int, int, float]], *, similarity_min: float, size_min: int, size_max: int
) -> list[list[int]]:
    """Groups that hang together from the least similarity on; too large ones are split by a larger similarity.

    As in hierarchical density clustering (HDBSCAN), a topic is as loose as it can be without swallowing others.
    """
    found: list[list[int]] = []
    waiting = [(pairs, similarity_min)]
    while waiting:
        inside, least = waiting.pop()
        close = [pair for pair in inside if pair[2] >= least]
        rest()
        for group in components(count, [(first, second) for first, second, _ in close]):
            if len(group) < size_min:
                continue
            if len(group) <= size_max:
                found.append(group)
            elif least + _STEP < 1.0:
                members = set(group)
                within = [pair for pair in close if pair[0] in members and pair[1] in members]
                waiting.append((within, least + _STEP))
    return sorted(found)
