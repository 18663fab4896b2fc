"""From the messages of ClusterService to results."""

from __future__ import annotations

from mneme.episodic.v1 import clusters_pb2
from mneme_client.from_wire import moment, scope
from mneme_client.results_clusters import Cluster, ClusterEpisode


def cluster(message: clusters_pb2.Cluster) -> Cluster:
    """A cluster."""
    return Cluster(
        cluster_id=message.cluster_id,
        scope=scope(message.scope),
        episode_count=message.episode_count,
        typical_episode_ids=tuple(message.typical_episode_ids),
        start_time=moment(message, "start_time"),
        end_time=moment(message, "end_time"),
        create_time=moment(message, "create_time"),
    )


def cluster_episode(message: clusters_pb2.ClusterEpisode) -> ClusterEpisode:
    """An episode of a cluster."""
    return ClusterEpisode(episode_id=message.episode_id, membership=message.membership, time=moment(message, "time"))
