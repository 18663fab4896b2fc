"""Composition root of the episodic tier."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import socket
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from mneme.episodic.internal.v1 import episodic_internal_pb2_grpc
from mneme.episodic.v1 import episodic_pb2_grpc
from services.common.background import BackgroundWork, every
from services.common.cache import OwnerCache
from services.common.clock import Clock
from services.common.disk import DiskWatch
from services.common.embedding.embedder import Embedder
from services.common.encryption.postgres import data_keys
from services.common.encryption.ring import DataKeyRing
from services.common.hosting import HostSettings
from services.common.idempotency.model import RETENTION_SECONDS
from services.common.ids import Uuid7Ids
from services.common.language_model.port import LanguageModel, NoLanguageModel
from services.common.maintenance import MaintenanceRunner
from services.common.maintenance.election import Election, Leader
from services.common.maintenance.elections.postgres import AdvisoryLockElection
from services.common.maintenance.postgres import PostgresMaintenanceStore, migrate_maintenance
from services.common.maintenance.servicer import maintenance_binding
from services.common.maintenance.store import MaintenanceStore
from services.common.maintenance.tier import TierJob, TierMaintenance
from services.common.paging import PageTokens
from services.common.portability.servicer import user_records_binding
from services.common.postgres.migrations import migrate
from services.common.postgres.pool import readiness_check
from services.common.postgres.types import Pool
from services.common.rpc.readiness import Check
from services.common.rpc.server import ServiceBinding, needing
from services.common.serving_model.following import ServingModel
from services.common.serving_model.sides import Side, StartWork, each_model, serve_sides, settle_seconds
from services.common.summaries import Summariser
from services.common.tokens import token_counter
from services.episodic import internal_servicer, servicer
from services.episodic.access import AccessRecorder
from services.episodic.activity.app import activity_log
from services.episodic.assessment import EpisodeAssessor
from services.episodic.clusters.app import episode_clusters
from services.episodic.commands import Rules
from services.episodic.comparison import ModelComparer
from services.episodic.config import EpisodicSettings, QdrantServer
from services.episodic.importance import ImportanceScorer
from services.episodic.indexer import EpisodeIndexer
from services.episodic.maintenance.files import purge_jobs
from services.episodic.maintenance.orphans import CollectOrphans
from services.episodic.maintenance.reconciliation import ReconcileIndex
from services.episodic.maintenance.retention import RetainEpisodes
from services.episodic.maintenance.schedule import IndexUpkeep
from services.episodic.maintenance.second_index import FillSecondIndex
from services.episodic.maintenance.token_backfill import TokenBackfill
from services.episodic.opening import open_indexes
from services.episodic.portability import episodic_records, episodic_user_records
from services.episodic.purging import indexes_purged
from services.episodic.second_index import Adoption, PairedEpisodeIndex
from services.episodic.service import EpisodeService
from services.episodic.store import EpisodeIndex, EpisodeStore
from services.episodic.stores.postgres import MIGRATIONS_FOLDER, SCHEMA, PostgresEpisodeStore
from services.episodic.stores.postgres_claim import embedded_index_claimed
from services.episodic.summaries.model_summaries import ModelSummaries
from services.episodic.summaries.writer import SummaryWriter


@dataclass(frozen=True, kw_only=True)
class EpisodicResources:
    """What the tier uses and others own."""

    embedder: Embedder
    """Makes the vectors of episodes and queries; requests name its fingerprint as their vectors' model."""
    clock: Clock
    """The time."""
    secret: bytes
    """The service secret, the same in all replicas; page tokens are signed with a key made of it."""
    cache: OwnerCache = field(default_factory=OwnerCache)
    """What the process holds of users in memory; shared by the services of one process."""
    second_embedder: Embedder | None = None
    """Of a second model, whose index is filled beside the first; None where the model is not being changed."""
    disk: DiskWatch | None = None
    """Watches the disk of the embedded index; with the default settings where None."""
    key_ring: DataKeyRing | None = None
    """Encrypts content; stored as it is where None."""
    superuser_url: str = ""
    """Of the database, for the job that purges its files; it does not run where empty."""
    serving: ServingModel | None = None
    """Which of two models serves; the first one where None."""
    language_model: LanguageModel = field(default_factory=NoLanguageModel)
    """Writes summaries of long episodes, where one is configured."""


@dataclass(frozen=True)
class EpisodicTier:
    """The tier, ready to be served."""

    episodes: EpisodeService
    """Its use cases."""
    bindings: Sequence[ServiceBinding]
    """The public and the internal service, for a `GrpcServer`."""
    start: StartWork
    """Begins indexing and the jobs: for the side of the tier that serves."""


async def migrate_episodic(owner_dsn: str, *, app_role: str | None = "mneme_app") -> None:
    """Bring the tier's schema up to date.

    Args:
        owner_dsn: Connection URL of the role that owns the schema.
        app_role: Role that services connect as.
    """
    await migrate(owner_dsn, schema=SCHEMA, folder=MIGRATIONS_FOLDER, app_role=app_role)
    await migrate_maintenance(owner_dsn, app_role=app_role)


def qdrant_server(settings: HostSettings) -> QdrantServer | None:
    """The Qdrant server that is configured; None for the engine in this process.

    Raises:
        OSError: The file of its certificate's authority cannot be read.
    """
    if not settings.qdrant_url:
        return None
    authority = settings.qdrant_tls_authority
    return QdrantServer(
        url=settings.qdrant_url,
        api_key=settings.qdrant_api_key.get_secret_value(),
        authority=authority.read_bytes() if authority else None,
    )


@contextlib.asynccontextmanager
async def open_episodic(
    pool: Pool,
    qdrant_folder: Path,
    resources: EpisodicResources,
    settings: EpisodicSettings | None = None,
    *,
    qdrant_server: QdrantServer | None = None,
    election: Election | None = None,
) -> AsyncIterator[EpisodicTier]:
    """The tier on PostgreSQL, whose schema is up to date, and a vector engine in this process or on a server.

    Args:
        pool: Of the services' role.
        qdrant_folder: Folder of the vector engine, `DataDir.qdrant` of a data folder that this process holds.
            Not touched where there is a server.
        resources: What others own.
        settings: Defaults where None.
        qdrant_server: The server to use instead of the engine in this process.
        election: Chooses the replica that runs maintenance; by a lock of the database where None.

    Raises:
        StoreUnavailable: PostgreSQL or the index cannot be used.
        FailedPrecondition: The server is too old, or holds a collection that is not this tier's; or another service
            fills an embedded index from the same database.
        DataDirLocked: Another process has the index in this folder open.
        ValueError: The server's URL cannot be used, or the second model is the first one.
    """
    chosen = settings or EpisodicSettings()
    async with contextlib.AsyncExitStack() as stack:
        indexes = await open_indexes(stack, qdrant_folder, qdrant_server, resources, chosen)
        first = next(iter(indexes.values()))
        if qdrant_server is None:
            place = f"{socket.gethostname()}:{qdrant_folder}"
            await stack.enter_async_context(
                embedded_index_claimed(pool, first.model, place=place, on_lost=_end_service)
            )
        maintenance = PostgresMaintenanceStore(pool)
        leader = Leader(election or AdvisoryLockElection(pool, "episodic"), maintenance.next_term)
        await stack.enter_async_context(indexes_purged(pool, None if qdrant_server else qdrant_folder, first, chosen))
        tiers = {}
        for each, index in zip(each_model(resources), indexes.values(), strict=True):
            side = _open_side(pool, index, maintenance, each, chosen, leader)
            tiers[each.embedder.fingerprint] = await stack.enter_async_context(side)
        background = await stack.enter_async_context(BackgroundWork[str]("episodic"))
        sides = {model: Side(tier.bindings, tier.start) for model, tier in tiers.items()}
        bindings = serve_sides("episodic", background, sides, resources.serving)
        yield replace(next(iter(tiers.values())), bindings=bindings)


@contextlib.asynccontextmanager
async def _open_side(
    pool: Pool,
    index: EpisodeIndex,
    maintenance: MaintenanceStore,
    resources: EpisodicResources,
    settings: EpisodicSettings,
    leader: Leader,
) -> AsyncIterator[EpisodicTier]:
    """The tier as one model has it, on PostgreSQL; nothing runs in the background yet but access statistics."""
    keys = data_keys(resources.key_ring, SCHEMA)
    store = PostgresEpisodeStore(pool, model=index.model, keys=keys, fading=settings.retention.rule)
    tokens = PageTokens(resources.secret)
    log = activity_log(pool, resources.embedder, resources.clock, tokens, settings.activity, keys=keys)
    clusters = episode_clusters(pool, index, resources.clock, tokens, settings.clusters)
    jobs = [
        *log.jobs,
        clusters.job,
        *_filling(store, index, settings),
        *purge_jobs(pool, resources.superuser_url, settings.purging),
    ]
    adoption = Adoption(store, index, settings.indexer, settle_seconds=settle_seconds(resources))
    if resources.serving is None or resources.serving.current == resources.embedder.fingerprint:
        await adoption.adopt()  # before the first search, so that nothing is indexed again that is there
    opened = open_episodic_on(store, index, maintenance, resources, settings, leader, further_jobs=jobs, starts=False)
    async with opened as tier:

        def start(background: BackgroundWork[str]) -> None:
            tier.start(background)
            adoption.start(background)

        exported = episodic_records(resources.clock, tier.episodes.write_accesses)
        records = user_records_binding(episodic_user_records(pool, keys), exported)
        bindings = (*tier.bindings, *log.bindings, clusters.binding, records)
        yield replace(tier, bindings=needing(_ready(readiness_check(pool), index.check), bindings), start=start)


def _ready(*checks: Check) -> Check:
    """A check of all stores."""

    async def check() -> None:
        await asyncio.gather(*(one() for one in checks))

    return check


def _end_service() -> None:
    """End this process as its supervisor would: it must not index any more."""
    os.kill(os.getpid(), signal.SIGTERM)


def _filling(store: EpisodeStore, index: EpisodeIndex, settings: EpisodicSettings) -> list[TierJob]:
    """The job that fills a second index, where there is one."""
    if not isinstance(index, PairedEpisodeIndex):
        return []
    fill = FillSecondIndex(store, index, settings.indexer, text=settings.text)
    about = "Fills the index of the second embedding model with episodes that it lacks."
    return [TierJob(fill, about, settings.indexer.compare_seconds)]


def _upkeep(
    store: EpisodeStore,
    index: EpisodeIndex,
    indexer: EpisodeIndexer,
    maintenance: MaintenanceStore,
    resources: EpisodicResources,
    settings: EpisodicSettings,
    leader: Leader | None,
    further_jobs: Sequence[TierJob],
) -> tuple[IndexUpkeep, TierMaintenance]:
    ids = Uuid7Ids(resources.clock)
    bounds = settings.maintenance
    runner = MaintenanceRunner(
        maintenance,
        clock=resources.clock,
        ids=ids,
        leader=leader,
        seconds_max=bounds.run_seconds_max,
        undone_days=bounds.undone_days,
    )
    chosen = settings.retention
    retain = RetainEpisodes(store, index, resources.clock, ids, chosen, notify=indexer.notify)
    embedder = resources.embedder
    upkeep = IndexUpkeep(
        runner,
        ReconcileIndex(store, index, settings.indexer, notify=indexer.notify),
        CollectOrphans(store, index, settings.indexer, notify=indexer.notify),
        TokenBackfill(store, embedder, settings.tokens, text=settings.text) if settings.tokens.stored else None,
        settings.indexer,
        retain=retain if chosen.is_enabled else None,
        retain_seconds=chosen.interval_seconds,
    )
    jobs = TierMaintenance(
        runner,
        maintenance,
        [
            *upkeep.jobs(),
            TierJob(retain, "Archives episodes that faded, and those beyond the cap of a user."),
            *further_jobs,
        ],
        resources.clock,
        retention_seconds=RETENTION_SECONDS,
        log_days=bounds.log_days,
    )
    return upkeep, jobs


@contextlib.asynccontextmanager
async def open_episodic_on(
    store: EpisodeStore,
    index: EpisodeIndex,
    maintenance: MaintenanceStore,
    resources: EpisodicResources,
    settings: EpisodicSettings | None = None,
    leader: Leader | None = None,
    *,
    further_jobs: Sequence[TierJob] = (),
    starts: bool = True,
) -> AsyncIterator[EpisodicTier]:
    """The tier on any drivers; closing it stops the indexer and writes the last access statistics.

    Without a leader the replica that claims a job first runs it. Where `starts` is false, `EpisodicTier.start` begins
    indexing and the jobs.
    """
    chosen = settings or EpisodicSettings()
    embedder = resources.embedder
    async with contextlib.AsyncExitStack() as stack:
        accesses = AccessRecorder(store, resources.clock, chosen.access)
        stack.push_async_callback(accesses.try_flush)
        summariser = Summariser(token_counter(), chosen.summaries)
        assessor = EpisodeAssessor(ImportanceScorer(embedder, chosen.importance), summariser)
        model_summaries = ModelSummaries(
            resources.language_model, token_counter(), chosen.summaries, chosen.model_summaries
        )
        summary_writer = SummaryWriter(store, summariser, model_summaries, chosen.model_summaries)
        indexer = EpisodeIndexer(
            store,
            index,
            embedder,
            resources.clock,
            settings=chosen.indexer,
            text=chosen.text,
            tokens=chosen.tokens,
            assessor=assessor,
            on_summarised=summary_writer.add,
            on_doubt=lambda: upkeep.compare_soon(),  # noqa: PLW0108 - it is made below
        )
        upkeep, jobs = _upkeep(store, index, indexer, maintenance, resources, chosen, leader, further_jobs)
        background = await stack.enter_async_context(BackgroundWork[str]("episodic"))
        background.keep_running("write-accesses", every(chosen.access.flush_seconds, accesses.try_flush))

        def start(work: BackgroundWork[str]) -> None:
            if leader is not None:
                work.keep_running("lead-maintenance", leader.run)
            indexer.start(work)
            summary_writer.start(work)
            upkeep.start(work)
            jobs.start(work)

        if starts:
            start(background)
        else:
            # So that the first turn after a cut-over does not wait for it.
            background.keep_running("prepare-assessment", assessor.prepare)
        episodes = EpisodeService(
            store=store,
            index=index,
            indexer=indexer,
            accesses=accesses,
            embedder=embedder,
            clock=resources.clock,
            settings=chosen,
            cache=resources.cache,
        )
        stack.push_async_callback(episodes.aclose)
        rules = Rules(
            limits=chosen.limits,
            model=embedder.fingerprint,
            dimension=embedder.dimension,
            tokens=embedder.tokens if chosen.tokens.stored else None,
        )
        comparer = ModelComparer(store, index, embedder, resources.second_embedder)
        yield EpisodicTier(
            episodes,
            (
                ServiceBinding(
                    servicer.SERVICE_NAME,
                    episodic_pb2_grpc.add_EpisodicServiceServicer_to_server,
                    servicer.EpisodicServicer(episodes, comparer, rules, PageTokens(resources.secret)),
                    servicer.ROLES,
                ),
                ServiceBinding(
                    internal_servicer.SERVICE_NAME,
                    episodic_internal_pb2_grpc.add_EpisodicInternalServiceServicer_to_server,
                    internal_servicer.EpisodicInternalServicer(episodes, comparer, rules, resources.clock),
                    internal_servicer.ROLES,
                ),
                maintenance_binding(jobs),
            ),
            start,
        )
