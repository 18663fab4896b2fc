"""Nearest stored notes to many new ones, compared in memory."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from services.agentic.store import NeighbourQuery
from services.common.embedding.vectors import Matrix
from services.common.scope import Scope

Nearest: TypeAlias = list[tuple[uuid.UUID, float]]
"""Ids and cosine similarities, best first, ties by id."""


def nearest(
    similarities: Matrix,
    note_ids: Sequence[uuid.UUID],
    scope_keys: Sequence[str],
    scopes: Sequence[Scope],
    query: NeighbourQuery,
) -> list[Nearest]:
    """The best stored notes of each row among those that a reader at the row's scope may see.

    Args:
        similarities: Cosines, float32 `[new notes, stored notes]`.
        note_ids: Ids of the stored notes.
        scope_keys: Their scopes.
        scopes: Scopes of the new notes.
        query: Least similarity and number.
    """
    keys = np.array(scope_keys)
    visible: dict[str, npt.NDArray[np.bool_]] = {}
    for scope in scopes:
        if scope.key not in visible:
            visible[scope.key] = np.isin(keys, scope.visible_keys())
    chosen: list[Nearest] = []
    for row, scope in zip(similarities, scopes, strict=True):
        near = np.flatnonzero((row >= query.similarity_min) & visible[scope.key])
        if len(near) > query.count_max:
            # All that are as good as the last that counts, so that ties are decided by id.
            last = np.partition(row[near], -query.count_max)[-query.count_max]
            near = near[row[near] >= last]
        found = [(note_ids[i], float(row[i])) for i in near.tolist()]
        ranked = sorted(found, key=lambda item: (-item[1], item[0]))
        chosen.append(ranked[: query.count_max])
    return chosen
