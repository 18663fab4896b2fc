"""Pairs of similar notes."""

from __future__ import annotations

import numpy as np
import pytest

from services.agentic.maintenance import grouping
from services.agentic.maintenance.grouping import similar_pairs


@pytest.mark.parametrize("count", [1, 7, 8, 21])
def test_spec_4_4_each_similar_pair_is_found_once_in_order(count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grouping, "_BLOCK", 8)
    generator = np.random.default_rng(count)
    rows = generator.normal(size=(count, 4))
    vectors = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
    vectors[:1] = 0.0
    cosines = vectors @ vectors.T
    wanted = [(i, j) for i in range(count) for j in range(i + 1, count) if cosines[i, j] >= 0.5]
    found = list(similar_pairs(vectors, 0.5))
    assert [pair[:2] for pair in found] == wanted
    assert [pair[2] for pair in found] == pytest.approx([float(cosines[pair]) for pair in wanted])
