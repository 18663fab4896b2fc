"""From clusters to messages. Pure functions."""

from __future__ import annotations

from mneme.episodic.v1 import clusters_pb2 as pb
from services.common.convert import scope_to_proto
from services.common.scope import Scope
from services.episodic.clusters.model import Cluster, Member


def cluster_to_proto(cluster: Cluster, *, user_id: str) -> pb.Cluster:
    """A cluster."""
    message = pb.Cluster(
        cluster_id=str(cluster.cluster_id),
        user_id=user_id,
        scope=scope_to_proto(Scope.from_key(cluster.scope_key)),
        episode_count=cluster.episode_count,
        typical_episode_ids=[str(one) for one in cluster.typical],
    )
    message.start_time.FromDatetime(cluster.start_time)
    message.end_time.FromDatetime(cluster.end_time)
    message.create_time.FromDatetime(cluster.create_time)
    return message


def member_to_proto(member: Member) -> pb.ClusterEpisode:
    """An episode of a cluster."""
    message = pb.ClusterEpisode(episode_id=str(member.episode_id), membership=member.membership)
    message.time.FromDatetime(member.time)
    return message
