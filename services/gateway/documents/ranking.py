"""Ranking of documents by meaning. A pure function."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from services.common.embedding.vectors import Vector
from services.gateway.documents.model import DocumentName, Vectors


def nearest(entries: Sequence[Vectors], question: Vector) -> list[tuple[DocumentName, float]]:
    """Names with the cosine of the question and the nearest of their vectors, highest first; ties stay in order.

    Args:
        entries: With vectors of length 1, at least one each.
        question: float32 `[dimension]`, of length 1.
    """
    parts = [(entry.name, entry.vectors) for entry in entries if entry.vectors is not None and entry.vectors.size]
    if not parts:
        return []
    matrix = np.concatenate([vectors for _, vectors in parts]).reshape(-1, question.size)
    counts = [vectors.size // question.size for _, vectors in parts]
    starts = np.concatenate(([0], np.cumsum(counts)[:-1])).astype(np.intp)
    scores = np.clip(np.maximum.reduceat(matrix @ question, starts), -1.0, 1.0)  # rounding may leave the range
    order = np.argsort(-scores, kind="stable")
    return [(parts[i][0], float(scores[i])) for i in order.tolist()]
