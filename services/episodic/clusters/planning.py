"""Which episodes form clusters and which join one. Pure functions over vectors."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final
from uuid import UUID

import numpy as np

from services.common.maintenance.pace import rest
from services.episodic.clusters.config import ClusterSettings
from services.episodic.clusters.hdbscan import Matrix, cluster
from services.episodic.clusters.model import ClusterId, Group, Placed
from services.episodic.model import EpisodeId

_KEPT_MIN: Final = 0.5
"""Share of the episodes of two clusters together that must be the same for the one to be the other's next state."""
_BLOCK: Final = 32
"""Episodes that are compared at a time."""


@dataclass(frozen=True, slots=True)
class Episodes:
    """Episodes with their vectors."""

    placed: Sequence[Placed]
    vectors: Matrix  # `[episodes, dimension]`, of length 1

    def part(self, places: Sequence[int]) -> Episodes:
        """Some of them, in this order."""
        return Episodes([self.placed[place] for place in places], self.vectors[list(places)])

    def by_scope(self) -> Mapping[str, Episodes]:
        """Those of each scope: episodes of different scopes never meet in a cluster."""
        found: dict[str, list[int]] = {}
        for place, one in enumerate(self.placed):
            found.setdefault(one.scope_key, []).append(place)
        return {scope_key: self.part(places) for scope_key, places in found.items()}


def formed(episodes: Episodes, settings: ClusterSettings) -> list[Group]:
    """The clusters of episodes. One that continues a cluster that they are in now has its id."""
    found: list[Group] = []
    for scope_key, own in episodes.by_scope().items():
        labels = cluster(
            own.vectors, size_min=max(2, settings.size_min), neighbours=settings.neighbours, finest=settings.finest
        )
        for label in range(labels.count):
            places = np.nonzero(labels.clusters == label)[0].tolist()
            ids = [own.placed[place].episode_id for place in places]
            found.append(
                Group(
                    cluster_id=_made_id(ids),
                    scope_key=scope_key,
                    episode_ids=ids,
                    memberships=[round(float(labels.memberships[place]), 4) for place in places],
                )
            )
    return _continued(found, episodes.placed)


def joined(episodes: Episodes, typical: Episodes) -> list[Group]:
    """Those of the episodes that join a cluster, by their nearest neighbour among typical episodes of the same scope.

    An episode joins where it is as close to that one as the typical episodes of the cluster are to each other: the
    least similarity of one of them to its nearest.
    """
    found: list[Group] = []
    clusters_of = typical.by_scope()
    for scope_key, own in episodes.by_scope().items():
        if scope_key not in clusters_of:
            continue
        others = clusters_of[scope_key]
        least = _least_similarities(others)
        members: dict[ClusterId, list[tuple[EpisodeId, float]]] = {}
        for row, (nearest, similarity) in enumerate(_nearest(own.vectors, others.vectors)):
            cluster_id = others.placed[nearest].cluster_id
            if cluster_id is not None and similarity >= least[cluster_id]:
                member = own.placed[row].episode_id, min(1.0, max(0.0, round(similarity, 4)))
                members.setdefault(cluster_id, []).append(member)
        found += [
            Group(
                cluster_id=cluster_id,
                scope_key=scope_key,
                episode_ids=[member[0] for member in group],
                memberships=[member[1] for member in group],
            )
            for cluster_id, group in members.items()
        ]
    return found


def without(episodes: Episodes, groups: Sequence[Group]) -> Episodes:
    """The episodes that are in none of the groups."""
    taken = {episode_id for group in groups for episode_id in group.episode_ids}
    return episodes.part([n for n, one in enumerate(episodes.placed) if one.episode_id not in taken])


def _nearest(vectors: Matrix, others: Matrix) -> Iterator[tuple[int, float]]:
    """For each vector the row of the nearest of the others, and their similarity."""
    for start in range(0, len(vectors), _BLOCK):
        similarities = vectors[start : start + _BLOCK] @ others.T
        nearest = similarities.argmax(axis=1)
        rest()
        yield from zip(nearest.tolist(), similarities[np.arange(len(nearest)), nearest].tolist(), strict=True)


def _least_similarities(typical: Episodes) -> dict[ClusterId, float]:
    places: dict[ClusterId, list[int]] = {}
    for place, one in enumerate(typical.placed):
        if one.cluster_id is not None:
            places.setdefault(one.cluster_id, []).append(place)
    found: dict[ClusterId, float] = {}
    for cluster_id, own in places.items():
        if len(own) < 2:
            found[cluster_id] = np.inf  # nothing says how close its episodes are
            continue
        vectors = typical.vectors[own]
        similarities = vectors @ vectors.T
        np.fill_diagonal(similarities, -1.0)
        found[cluster_id] = float(similarities.max(axis=1).min())
        rest()
    return found


def _continued(groups: Sequence[Group], placed: Sequence[Placed]) -> list[Group]:
    before: dict[ClusterId, set[EpisodeId]] = {}
    cluster_of: dict[EpisodeId, ClusterId] = {}
    for one in placed:
        if one.cluster_id is not None:
            before.setdefault(one.cluster_id, set()).add(one.episode_id)
            cluster_of[one.episode_id] = one.cluster_id
    found: list[Group] = []
    for group in groups:
        ids = set(group.episode_ids)
        shares = {
            known: len(ids & before[known]) / len(ids | before[known])
            for known in {cluster_of[one] for one in ids if one in cluster_of}
        }
        best = max(shares, key=lambda known: (shares[known], known), default=None)
        # More than half is the same: no other group of these can have as much of it.
        if best is not None and shares[best] > _KEPT_MIN:
            found.append(replace(group, cluster_id=best))
        elif group.cluster_id in before:  # these began a cluster that others continue
            found.append(replace(group, cluster_id=_made_id(group.episode_ids, salt=group.cluster_id.bytes)))
        else:
            found.append(group)
    return found


def _made_id(episode_ids: Sequence[EpisodeId], *, salt: bytes = b"") -> ClusterId:
    """An id that follows from the episodes, so that the same plan made twice is the same."""
    digest = hashlib.sha256(salt + b"".join(sorted(one.bytes for one in episode_ids))).digest()
    return ClusterId(UUID(bytes=digest[:16], version=5))
