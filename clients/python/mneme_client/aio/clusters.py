"""Clusters: groups of a user's episodes that are about the same."""

from __future__ import annotations

from collections.abc import AsyncIterator

from mneme.episodic.v1 import clusters_pb2
from mneme_client import from_wire_clusters as from_wire
from mneme_client import to_wire
from mneme_client.aio.operations import Operations
from mneme_client.calls import PAGE_SIZE_MAX, Call, read_page
from mneme_client.results_clusters import Cluster, ClusterEpisode
from mneme_client.types import Scope

_SERVICE = "/mneme.episodic.v1.ClusterService"


class ClusterOperations(Operations):
    """Reads clusters; the job `episodic.cluster_episodes` keeps them."""

    def list_clusters(
        self,
        user_id: str,
        *,
        page_size: int = PAGE_SIZE_MAX,
        scope: Scope | None = None,
        timeout_seconds: float | None = None,
    ) -> AsyncIterator[Cluster]:
        """A user's clusters, newest first; pages are fetched as they are needed.

        Args:
            user_id: Whose.
            page_size: How many each call fetches.
            scope: The reader's: only what it sees. None means every scope.
            timeout_seconds: Deadline of each call.
        """
        request = clusters_pb2.ListClustersRequest(
            user_id=user_id, page_size=page_size, reader_scope=to_wire.scope(scope)
        )
        read = read_page("clusters", from_wire.cluster)
        response = clusters_pb2.ListClustersResponse
        return self._pages(Call(f"{_SERVICE}/ListClusters", request, response, read), timeout_seconds)

    def list_cluster_episodes(
        self,
        user_id: str,
        cluster_id: str,
        *,
        page_size: int = PAGE_SIZE_MAX,
        scope: Scope | None = None,
        timeout_seconds: float | None = None,
    ) -> AsyncIterator[ClusterEpisode]:
        """The episodes of a cluster, the most typical first; `get_episodes` reads them.

        Args:
            user_id: Whose.
            cluster_id: The cluster.
            page_size: How many each call fetches.
            scope: The reader's: only what it sees. None means every scope.
            timeout_seconds: Deadline of each call.
        """
        request = clusters_pb2.ListClusterEpisodesRequest(
            user_id=user_id, cluster_id=cluster_id, page_size=page_size, reader_scope=to_wire.scope(scope)
        )
        read = read_page("episodes", from_wire.cluster_episode)
        response = clusters_pb2.ListClusterEpisodesResponse
        return self._pages(Call(f"{_SERVICE}/ListClusterEpisodes", request, response, read), timeout_seconds)
