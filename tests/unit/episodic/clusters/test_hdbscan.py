"""Density clusters, compared with those of scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest

from services.episodic.clusters.hdbscan import NOISE, Matrix, cluster


def sample(seed: int, rows: int, *, dimension: int, groups: int, spread: float) -> Matrix:
    """Groups around random places, and as much noise as two groups."""
    random = np.random.default_rng(seed)
    centres = random.normal(size=(groups, dimension))
    labels = random.integers(0, groups + 2, rows)
    near = centres[np.minimum(labels, groups - 1)] + spread * random.normal(size=(rows, dimension))
    found = np.where((labels < groups)[:, None], near, random.normal(size=(rows, dimension)))
    unit: Matrix = (found / np.linalg.norm(found, axis=1, keepdims=True)).astype(np.float32)
    return unit


def letters(vectors: Matrix) -> str:
    return "".join("." if label == NOISE else chr(ord("a") + label) for label in labels_of(vectors))


def labels_of(vectors: Matrix) -> list[int]:
    found: list[int] = cluster(vectors, size_min=5, neighbours=5).clusters.tolist()
    return found


@pytest.mark.parametrize(
    ("vectors", "expected", "memberships"),
    [
        (
            sample(0, 60, dimension=8, groups=3, spread=0.3),
            "a.aab...a...c..a.cb..baabb..c.ba.baaabba.aacaa.ccca.b.aa..cc",
            [1.0, 0.0, 0.272, 0.823, 1.0, 0.0],
        ),
        (
            sample(4, 90, dimension=32, groups=4, spread=0.4),
            ".abc..bbd.abc..d...ddc..b.b.d..ab..ad.abdaa.bba.b.cd.ca.dc..daadcacdcab.d..cd.cdbcdb.c.bb.",
            [0.0, 1.0, 0.945, 0.962, 0.0, 0.0],
        ),
    ],
)
def test_spec_2_9_clusters_are_those_of_the_reference(vectors: Matrix, expected: str, memberships: list[float]) -> None:
    """As found by scikit-learn 1.9.1 with min_cluster_size=5, min_samples=5 and the algorithm "brute".

    Rows that are equally near to two clusters may fall to either or out; these samples have none.
    """
    assert letters(vectors) == expected
    found = cluster(vectors, size_min=5, neighbours=5).memberships
    assert found[:6] == pytest.approx(memberships, abs=1e-3)


def test_spec_2_9_the_finest_clusters_are_those_of_the_reference() -> None:
    """As above, with min_samples=2 and cluster_selection_method="leaf"."""
    found = cluster(sample(6, 90, dimension=32, groups=4, spread=0.4), size_min=5, neighbours=2, finest=True)
    expected = "a.aa..a.baababacc...dda.baa.dab.acabaabcbacdaaccab...bab..bda.a.bdaa.d.d..dbdcadc.cbdacab."
    assert "".join("." if label == NOISE else chr(ord("a") + label) for label in found.clusters.tolist()) == expected


def test_spec_2_9_few_rows_and_one_even_crowd_are_no_clusters() -> None:
    assert labels_of(sample(2, 4, dimension=8, groups=1, spread=0.1)) == [NOISE] * 4
    assert cluster(np.empty((0, 8), np.float32), size_min=5, neighbours=5).count == 0


def test_spec_2_9_rows_that_are_the_same_are_a_cluster() -> None:
    one, other = np.eye(8, dtype=np.float32)[:2]
    found = cluster(np.stack([one] * 6 + [other] * 7), size_min=5, neighbours=5)
    assert found.clusters.tolist() == [0] * 6 + [1] * 7
    assert set(found.memberships.tolist()) == {1.0}


def test_spec_2_9_the_order_of_the_rows_decides_nothing_but_the_numbers() -> None:
    random = np.random.default_rng(3)
    vectors = (np.eye(16)[np.arange(60) % 3] + 0.05 * random.normal(size=(60, 16))).astype(np.float32)
    order = random.permutation(60)
    assert letters(vectors) == "abc" * 20
    again = np.array(labels_of(vectors[order]))
    assert {len(set(again[order % 3 == group].tolist())) for group in range(3)} == {1}
    assert again.max() == 2
