"""What is known of clusters of episodes."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from mneme_client.types import Scope


@dataclass(frozen=True, slots=True)
class Cluster:
    """A group of a user's episodes that are about the same."""

    cluster_id: str
    scope: Scope  # of all its episodes
    episode_count: int  # at least 1
    typical_episode_ids: tuple[str, ...]  # the most typical, at most 3
    start_time: datetime | None  # when the first of them happened
    end_time: datetime | None  # when the last of them happened
    create_time: datetime | None  # when it was found


@dataclass(frozen=True, slots=True)
class ClusterEpisode:
    """An episode's part in a cluster."""

    episode_id: str
    membership: float  # how typical it is, in [0, 1]
    time: datetime | None
