"""Which episodes form clusters, and which join one."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

import numpy as np

from services.common.embedding.vectors import Vector
from services.episodic.clusters.config import ClusterSettings
from services.episodic.clusters.model import ClusterId, Placed
from services.episodic.clusters.planning import Episodes, formed, joined, without
from services.episodic.model import EpisodeId, EpisodeKey

SETTINGS = ClusterSettings(size_min=3, neighbours=3)
OLD = ClusterId(UUID(int=77))


def near(axis: int, number: int) -> Vector:
    """A vector close to an axis."""
    found = np.zeros(16, np.float32)
    found[axis] = 1.0
    found[8 + number % 8] = 0.05 * (1 + number % 3)
    unit: Vector = found / np.linalg.norm(found)
    return unit


def episodes(
    axes: Sequence[int], *, first: int = 0, scope_key: str = "1", cluster_id: ClusterId | None = None
) -> Episodes:
    placed = [
        Placed(
            episode_id=EpisodeId(UUID(int=first + n)),
            key=EpisodeKey(first + n),
            scope_key=scope_key,
            cluster_id=cluster_id,
        )
        for n in range(len(axes))
    ]
    rows = [near(axis, first + n) for n, axis in enumerate(axes)]
    return Episodes(placed, np.stack(rows) if rows else np.empty((0, 16), np.float32))


def together(*parts: Episodes) -> Episodes:
    return Episodes([one for part in parts for one in part.placed], np.concatenate([part.vectors for part in parts]))


def numbers(ids: Sequence[EpisodeId]) -> list[int]:
    return [one.int for one in ids]


def test_spec_2_9_episodes_about_the_same_form_clusters() -> None:
    groups = formed(episodes([0] * 5 + [1] * 5), SETTINGS)
    assert [numbers(group.episode_ids) for group in groups] == [[0, 1, 2, 3, 4], [5, 6, 7, 8, 9]]
    assert groups == formed(episodes([0] * 5 + [1] * 5), SETTINGS)
    assert all(0 < membership <= 1 for group in groups for membership in group.memberships)


def test_spec_2_9_episodes_of_different_scopes_never_meet() -> None:
    whole = together(episodes([0] * 4 + [1] * 4), episodes([0] * 4 + [1] * 4, first=20, scope_key="2|p"))
    groups = formed(whole, SETTINGS)
    assert sorted((group.scope_key, numbers(group.episode_ids)) for group in groups) == [
        ("1", [0, 1, 2, 3]),
        ("1", [4, 5, 6, 7]),
        ("2|p", [20, 21, 22, 23]),
        ("2|p", [24, 25, 26, 27]),
    ]


def test_spec_2_9_a_cluster_that_goes_on_keeps_its_id_and_one_that_splits_off_gets_another() -> None:
    known = episodes([0] * 5 + [1], cluster_id=OLD)
    groups = formed(together(known, episodes([1] * 4, first=20)), SETTINGS)
    ids = {tuple(numbers(group.episode_ids)): group.cluster_id for group in groups}
    assert ids[0, 1, 2, 3, 4] == OLD
    assert ids[5, 20, 21, 22, 23] != OLD

    began = formed(episodes([0] * 4 + [1] * 4), SETTINGS)[0]
    grown = together(
        episodes([0] * 4, cluster_id=began.cluster_id), episodes([1] * 9, first=30, cluster_id=began.cluster_id)
    )
    assert len({group.cluster_id for group in formed(grown, SETTINGS)}) == 2


def test_spec_2_9_a_new_episode_joins_the_cluster_that_it_is_close_to() -> None:
    typical = episodes([0] * 4, cluster_id=OLD)
    new = episodes([0, 1, 0], first=40)
    [group] = joined(new, typical)
    assert (group.cluster_id, numbers(group.episode_ids)) == (OLD, [40, 42])
    assert numbers([one.episode_id for one in without(new, [group]).placed]) == [41]
    assert joined(episodes([0], first=40, scope_key="2|p"), typical) == []
    assert joined(new, episodes([])) == []


def test_spec_2_9_nothing_joins_a_cluster_of_one_episode() -> None:
    assert joined(episodes([0], first=40), episodes([0], cluster_id=OLD)) == []
