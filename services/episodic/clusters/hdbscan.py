"""HDBSCAN: density clusters of vectors without a number of clusters given. Pure functions over NumPy arrays.

Campello, Moulavi and Sander (2013), with clusters selected by excess of mass. Written here because the maintained
implementation, scikit-learn's, adds some 200 MB (with SciPy) to an image for this one function; tests compare the two.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

from services.common.maintenance.pace import rest

Matrix: TypeAlias = npt.NDArray[np.float32]
Floats: TypeAlias = npt.NDArray[np.float64]

NOISE: Final = -1
"""The label of a row that is in no cluster."""
_BLOCK: Final = 64


@dataclass(frozen=True, slots=True)
class Labels:
    """A clustering."""

    clusters: npt.NDArray[np.int64]  # `[rows]`: from 0 in the order of their first rows, or `NOISE`
    memberships: Floats  # `[rows]`: in [0, 1], 1 in the densest place of a cluster, 0 for noise

    @property
    def count(self) -> int:
        """Number of clusters."""
        return int(self.clusters.max(initial=NOISE)) + 1


def cluster(vectors: Matrix, *, size_min: int, neighbours: int, finest: bool = False) -> Labels:
    """Clusters of vectors by their Euclidean distances; the same rows in the same order give the same labels.

    Takes memory for one distance of each two rows (4 bytes each) and time of the same order.

    Args:
        vectors: `[rows, dimension]`; of length 1, so that distances order pairs as cosines do.
        size_min: Rows of the smallest cluster, at least 2.
        neighbours: Rows around one, itself included, by whose farthest its density is measured; at least 1.
        finest: Select the clusters that have none inside (the "leaves"), instead of those of the most mass: many small
            ones of one density each, where the most mass is often in one that holds nearly everything.
    """
    rows = len(vectors)
    if rows < max(size_min, neighbours, 2):
        return Labels(np.full(rows, NOISE, np.int64), np.zeros(rows))
    tree = _condensed(_linkage(*_spanning_tree(_distances(vectors), neighbours)), size_min)
    return _labels(tree, rows, finest=finest)


def _distances(vectors: Matrix) -> Matrix:
    squares = np.einsum("ij,ij->i", vectors, vectors)
    found = np.empty((len(vectors), len(vectors)), np.float32)
    for start in range(0, len(vectors), _BLOCK):
        block = slice(start, start + _BLOCK)
        found[block] = squares[block, None] + squares[None, :] - 2 * (vectors[block] @ vectors.T)
        rest()
    np.maximum(found, 0, out=found)
    np.sqrt(found, out=found)
    np.fill_diagonal(found, 0)
    return found


def _spanning_tree(distances: Matrix, neighbours: int) -> tuple[npt.NDArray[np.int64], Floats]:
    """The minimum spanning tree of mutual reachability, by Prim: `[rows - 1, 2]` ends and weights, ascending.

    The mutual reachability of two rows is their distance, or the core distance of either where that is greater.
    """
    rows = len(distances)
    core = np.concatenate(
        [
            np.partition(distances[start : start + _BLOCK], neighbours - 1, axis=1)[:, neighbours - 1]
            for start in range(0, rows, _BLOCK)
        ]
    )
    ends = np.empty((rows - 1, 2), np.int64)
    weights = np.empty(rows - 1)
    reach = np.full(rows, np.inf, np.float32)
    nearest = np.zeros(rows, np.int64)
    is_outside = np.ones(rows, bool)
    current = 0
    for number in range(rows - 1):
        is_outside[current] = False
        found = np.maximum(np.maximum(distances[current], core), core[current])
        is_nearer = is_outside & (found < reach)
        reach[is_nearer] = found[is_nearer]
        nearest[is_nearer] = current
        reach[current] = np.inf
        current = int(reach.argmin())
        ends[number] = nearest[current], current
        weights[number] = reach[current]
        rest()
    order = np.argsort(weights, kind="stable")
    return ends[order], weights[order]


@dataclass(frozen=True, slots=True)
class _Merge:
    """Two groups that become one. A group is a row, or rows + the number of the merge that made it."""

    left: int
    right: int
    distance: float
    size: int


def _linkage(ends: npt.NDArray[np.int64], weights: Floats) -> Sequence[_Merge]:
    rows = len(ends) + 1
    parent = list(range(rows))
    groups = list(range(rows))  # of a root
    sizes = [1] * rows

    def root(row: int) -> int:
        while parent[row] != row:
            parent[row] = parent[parent[row]]
            row = parent[row]
        return row

    found: list[_Merge] = []
    for (one, other), weight in zip(ends.tolist(), weights.tolist(), strict=True):
        left, right = root(one), root(other)
        sizes[left] += sizes[right]
        found.append(_Merge(groups[left], groups[right], weight, sizes[left]))
        parent[right] = left
        groups[left] = rows + len(found) - 1
    return found


@dataclass(slots=True)
class _Node:
    """A cluster of the condensed tree: from the density at which it begins to where it splits or dissolves."""

    birth: float  # 1 / distance at which it begins
    parent: int
    rows: list[tuple[int, float]]  # that fall out of it, with 1 / distance
    children: list[int]
    stability: float = 0.0


def _condensed(merges: Sequence[_Merge], size_min: int) -> list[_Node]:
    """The clusters of at least `size_min` rows, parents before children; what splits off smaller falls out."""
    rows = len(merges) + 1

    def size(group: int) -> int:
        return 1 if group < rows else merges[group - rows].size

    nodes = [_Node(0.0, -1, [], [])]
    waiting = [(rows + len(merges) - 1, 0)]
    while waiting:
        group, number = waiting.pop()
        node = nodes[number]
        while group >= rows:
            merge = merges[group - rows]
            density = 1.0 / merge.distance if merge.distance > 0 else np.inf
            large = [side for side in (merge.left, merge.right) if size(side) >= size_min]
            for side in (merge.left, merge.right):
                if side not in large:
                    fallen = [(row, density) for row in _rows_of(side, merges, rows)]
                    node.rows += fallen
            if len(large) != 1:
                for side in large:
                    node.children.append(len(nodes))
                    nodes.append(_Node(density, number, [], []))
                    node.stability += _mass(density, node.birth, size(side))
                    waiting.append((side, len(nodes) - 1))
                break
            group = large[0]
        node.stability += sum(_mass(density, node.birth, 1) for _, density in node.rows)
    return nodes


def _mass(density: float, birth: float, size: int) -> float:
    """Excess of mass of so many rows; rows that are all alike have no bound of density, and none here."""
    return 0.0 if np.isinf(birth) else (min(density, _DENSITY_MAX) - birth) * size


_DENSITY_MAX: Final = 1e6
"""Of rows that are the same: their distance is 0."""


def _rows_of(group: int, merges: Sequence[_Merge], rows: int) -> list[int]:
    found: list[int] = []
    waiting = [group]
    while waiting:
        one = waiting.pop()
        if one < rows:
            found.append(one)
        else:
            waiting += (merges[one - rows].right, merges[one - rows].left)
    return found


def _labels(nodes: list[_Node], rows: int, *, finest: bool) -> Labels:
    """Selects the clusters of the most stability, or the finest, none inside another; the root is never one."""
    selected = [False] * len(nodes)
    best = [node.stability for node in nodes]
    for number in range(len(nodes) - 1, 0, -1):
        below = sum(best[child] for child in nodes[number].children)
        if nodes[number].children and (finest or below > nodes[number].stability):
            best[number] = below
        else:
            selected[number] = True
    owner = [-1] * len(nodes)
    for number in range(1, len(nodes)):
        above = owner[nodes[number].parent]
        owner[number] = above if above != -1 else (number if selected[number] else -1)
    densities: dict[int, list[tuple[int, float]]] = {}
    for number in range(1, len(nodes)):
        if owner[number] != -1:
            densities.setdefault(owner[number], []).extend(nodes[number].rows)
    found = np.full(rows, NOISE, np.int64)
    memberships = np.zeros(rows)
    ordered = sorted(densities.values(), key=lambda members: min(row for row, _ in members))
    for label, members in enumerate(ordered):
        densest = max(density for _, density in members)
        for row, density in members:
            found[row] = label
            memberships[row] = 1.0 if densest in {0, np.inf} and density == densest else _share(density, densest)
    return Labels(found, memberships)


def _share(density: float, densest: float) -> float:
    return 0.0 if np.isinf(densest) else min(1.0, density / densest)
