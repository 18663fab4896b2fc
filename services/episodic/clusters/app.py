"""Composition of clusters: their service and their job."""

from __future__ import annotations

from dataclasses import dataclass

from mneme.episodic.v1 import clusters_pb2_grpc
from services.common.clock import Clock
from services.common.maintenance.tier import TierJob
from services.common.paging import PageTokens
from services.common.postgres.types import Pool
from services.common.rpc.server import ServiceBinding
from services.episodic.clusters import servicer
from services.episodic.clusters.config import ClusterSettings
from services.episodic.clusters.job import ClusterEpisodes
from services.episodic.clusters.service import ClusterService
from services.episodic.clusters.stores.postgres import PostgresClusterStore
from services.episodic.vector_reader import VectorReader


@dataclass(frozen=True)
class Clusters:
    """Clusters, ready to be served."""

    binding: ServiceBinding
    job: TierJob


def episode_clusters(
    pool: Pool, index: VectorReader, clock: Clock, tokens: PageTokens, settings: ClusterSettings
) -> Clusters:
    """Clusters on PostgreSQL, whose schema is up to date."""
    store = PostgresClusterStore(pool)
    return Clusters(
        ServiceBinding(
            servicer.SERVICE_NAME,
            clusters_pb2_grpc.add_ClusterServiceServicer_to_server,
            servicer.ClusterServicer(ClusterService(store), settings, tokens),
            servicer.ROLES,
        ),
        TierJob(
            ClusterEpisodes(store, index, clock, settings),
            "Clusters episodes that are about the same.",
            settings.interval_seconds if settings.is_enabled else None,
        ),
    )
