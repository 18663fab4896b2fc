"""Clusters of a user's episodes, as frozen values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NewType
from uuid import UUID

from services.episodic.model import EpisodeId, EpisodeKey

ClusterId = NewType("ClusterId", UUID)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cluster:
    """A group of active episodes that are about the same."""

    cluster_id: ClusterId
    scope_key: str  # of all its episodes
    episode_count: int  # at least 1
    typical: Sequence[EpisodeId]  # the most typical, at most 3
    start_time: datetime  # of the first of them
    end_time: datetime  # of the last
    create_time: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """An active episode in a cluster."""

    episode_id: EpisodeId
    membership: float  # in [0, 1]
    time: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    """An active episode, and the cluster it is in."""

    episode_id: EpisodeId
    key: EpisodeKey
    scope_key: str
    cluster_id: ClusterId | None = None  # None: in none, or not looked at yet


@dataclass(frozen=True, slots=True, kw_only=True)
class Extent:
    """How much of a user's episodes is clustered."""

    active: int  # episodes
    new: int  # of them, not looked at yet
    added: int  # looked at since clusters were computed last


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Episodes that form a cluster or join one."""

    cluster_id: ClusterId
    scope_key: str
    episode_ids: Sequence[EpisodeId]
    memberships: Sequence[float]  # of each, in [0, 1]


@dataclass(frozen=True, slots=True, kw_only=True)
class Update:
    """What a step of the job changes of one user."""

    groups: Sequence[Group]
    left_out: Sequence[EpisodeId]  # looked at, and in no cluster
    replaces: bool  # all of the user's clusters, by `groups`
    is_computed: bool  # clusters were computed, so that what was added before counts no more
    revision: int | None  # of the user's episodes, all of which are looked at; None: there are more
