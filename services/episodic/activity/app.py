"""Composition of the activity log: its services and jobs."""

from __future__ import annotations

from dataclasses import dataclass

from mneme.episodic.internal.v1 import activity_internal_pb2_grpc
from mneme.episodic.v1 import activity_pb2_grpc
from services.common.clock import Clock
from services.common.embedding.embedder import Embedder
from services.common.encryption.postgres import NO_DATA_KEYS, DataKeys
from services.common.idempotency.model import RETENTION_SECONDS
from services.common.maintenance.tier import TierJob
from services.common.paging import PageTokens
from services.common.postgres.types import Pool
from services.common.rpc.server import ServiceBinding
from services.common.tier_embedder import TierEmbedder
from services.episodic.activity import servicer
from services.episodic.activity.config import ActivitySettings
from services.episodic.activity.learning import LearnPatterns
from services.episodic.activity.retention import RetainActivity
from services.episodic.activity.service import ActivityService
from services.episodic.activity.stores.postgres import PostgresActivityStore
from services.episodic.activity.stores.postgres_upkeep import PostgresActivityUpkeep


@dataclass(frozen=True)
class ActivityLog:
    """The log, ready to be served."""

    bindings: tuple[ServiceBinding, ...]
    jobs: tuple[TierJob, ...]


def activity_log(
    pool: Pool,
    embedder: Embedder,
    clock: Clock,
    tokens: PageTokens,
    settings: ActivitySettings,
    *,
    keys: DataKeys = NO_DATA_KEYS,
) -> ActivityLog:
    """The log on PostgreSQL, whose schema is up to date; what records say is encrypted with `keys`."""
    activity = ActivityService(
        PostgresActivityStore(pool, keys=keys),
        TierEmbedder(embedder),
        clock=clock,
        settings=settings,
        retention_seconds=RETENTION_SECONDS,
    )
    upkeep = PostgresActivityUpkeep(pool, keys=keys)
    patterns, retention = settings.patterns, settings.retention
    return ActivityLog(
        (
            ServiceBinding(
                servicer.SERVICE_NAME,
                activity_pb2_grpc.add_ActivityServiceServicer_to_server,
                servicer.ActivityServicer(activity, settings, tokens, clock),
                servicer.ROLES,
            ),
            ServiceBinding(
                servicer.INTERNAL_SERVICE_NAME,
                activity_internal_pb2_grpc.add_ActivityInternalServiceServicer_to_server,
                servicer.ActivityInternalServicer(activity, settings, clock),
                servicer.INTERNAL_ROLES,
            ),
        ),
        (
            TierJob(
                LearnPatterns(upkeep, clock, settings),
                "Learns from agents' records which files are edited together, what fixes errors, what follows renames.",
                patterns.interval_seconds if patterns.is_enabled else None,
            ),
            TierJob(
                RetainActivity(upkeep, retention),
                "Makes the months of the activity log ahead, and drops those beyond their retention.",
                retention.interval_seconds if retention.is_enabled else None,
                for_user=False,
            ),
        ),
    )
