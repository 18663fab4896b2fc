"""Composition root of the agentic tier."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace

from mneme.agentic.internal.v1 import notes_pb2_grpc as internal_pb2_grpc
from mneme.agentic.v1 import insights_pb2_grpc, notes_pb2_grpc
from services.agentic import internal_servicer, servicer
from services.agentic.access import AccessRecorder
from services.agentic.commands import VectorForm
from services.agentic.comparison import NoteComparer
from services.agentic.config import AgenticSettings
from services.agentic.decay import Decay
from services.agentic.feedback import NoteFeedback
from services.agentic.former_vectors import NoteVectors
from services.agentic.generation.port import NoteGenerator
from services.agentic.generation.rules import RuleNoteGenerator
from services.agentic.ingest import NoteIngest
from services.agentic.insights import servicer as insight_servicer
from services.agentic.insights.service import InsightService
from services.agentic.links import LinkService
from services.agentic.maintenance.schedule import note_jobs
from services.agentic.portability import agentic_records, agentic_user_records
from services.agentic.removal import NoteRemoval
from services.agentic.service import NoteService
from services.agentic.store import NoteStore
from services.agentic.stores.neo4j import COMPONENT, GRAPH_MIGRATIONS_FOLDER, Neo4jNoteStore
from services.agentic.stores.neo4j_sealing import DATA_KEYS
from services.agentic.stores.postgres import MIGRATIONS_FOLDER, SCHEMA, PostgresNoteStore
from services.agentic.use import NoteUses
from services.common.background import BackgroundWork, every
from services.common.cache import OwnerCache
from services.common.clock import Clock
from services.common.embedding.embedder import Embedder
from services.common.encryption.neo4j import graph_data_keys
from services.common.encryption.postgres import data_keys
from services.common.encryption.ring import DataKeyRing
from services.common.ids import IdSource
from services.common.maintenance import MaintenanceRunner
from services.common.maintenance.election import Election, Leader
from services.common.maintenance.elections.postgres import AdvisoryLockElection
from services.common.maintenance.neo4j import COMPONENT as MAINTENANCE_COMPONENT
from services.common.maintenance.neo4j import GRAPH_MIGRATIONS_FOLDER as MAINTENANCE_GRAPH_FOLDER
from services.common.maintenance.neo4j import Neo4jMaintenanceStore
from services.common.maintenance.postgres import PostgresMaintenanceStore, migrate_maintenance
from services.common.maintenance.servicer import maintenance_binding
from services.common.maintenance.store import MaintenanceStore
from services.common.maintenance.tier import TierJob, TierMaintenance
from services.common.model_change import FormerVectors, ReembedRows, SecondVectors
from services.common.model_comparison import TextComparer
from services.common.neo4j.graph import Graph
from services.common.neo4j.migrations import migrate_graph
from services.common.paging import PageTokens
from services.common.portability.drivers import GraphUserRecords
from services.common.portability.records import TierRecords
from services.common.portability.servicer import user_records_binding
from services.common.postgres.migrations import migrate
from services.common.postgres.pool import readiness_check
from services.common.postgres.types import Pool
from services.common.rpc.server import ServiceBinding, needing
from services.common.serving_model.following import ServingModel
from services.common.serving_model.sides import Side, StartWork, each_model, serve_sides, settle_seconds
from services.common.tier_embedder import TierEmbedder, second_model
from services.common.tokens import token_counter


@dataclass(frozen=True, kw_only=True)
class AgenticResources:
    """What the tier uses and others own."""

    embedder: Embedder
    """Makes the vectors of notes and queries."""
    second_embedder: Embedder | None = None
    """Another model to compare it with, before a change of the model."""
    clock: Clock
    """The time."""
    ids: IdSource
    """Ids of new notes: UUIDs that sort by time."""
    secret: bytes
    """The service secret, the same in all replicas; page tokens are signed with a key made of it."""
    cache: OwnerCache = field(default_factory=OwnerCache)
    """What the process holds of users in memory; shared by the services of one process."""
    key_ring: DataKeyRing | None = None
    """Encrypts what notes say; stored as it is where None."""
    serving: ServingModel | None = None
    """Which of two models serves; the first one where None."""


@dataclass(frozen=True)
class AgenticTier:
    """The tier, ready to be served."""

    bindings: Sequence[ServiceBinding]
    """The public and the internal service, for a `GrpcServer`."""
    recorder: AccessRecorder
    """Access statistics that are still to be written."""
    start: StartWork
    """Begins the jobs: for the side of the tier that serves."""


async def migrate_agentic(owner_dsn: str, *, app_role: str | None = "mneme_app") -> None:
    """Brings the tier's schema up to date.

    Args:
        owner_dsn: Connection URL of the role that owns the schema.
        app_role: Role that services connect as.
    """
    await migrate(owner_dsn, schema=SCHEMA, folder=MIGRATIONS_FOLDER, app_role=app_role)
    await migrate_maintenance(owner_dsn, app_role=app_role)


async def migrate_agentic_graph(graph: Graph) -> None:
    """Brings the tier's indexes and constraints in Neo4j up to date.

    Args:
        graph: The database, as a user who may change its schema.
    """
    await migrate_graph(graph, component=COMPONENT, folder=GRAPH_MIGRATIONS_FOLDER)
    await migrate_graph(graph, component=MAINTENANCE_COMPONENT, folder=MAINTENANCE_GRAPH_FOLDER)


@contextlib.asynccontextmanager
async def open_agentic(
    pool: Pool,
    resources: AgenticResources,
    settings: AgenticSettings | None = None,
    *,
    election: Election | None = None,
) -> AsyncIterator[AgenticTier]:
    """The tier on PostgreSQL, whose schema is up to date; closing it writes the last access statistics.

    The replica that runs maintenance is chosen by `election`, by a lock of the database where None.
    """
    chosen = settings or AgenticSettings()
    keys = data_keys(resources.key_ring, SCHEMA)
    store = PostgresNoteStore(
        pool,
        cache=resources.cache,
        cached_min=chosen.cached_notes_min,
        keys=keys,
        versions_max=chosen.versions_max,
    )
    maintenance = PostgresMaintenanceStore(pool)
    leader = Leader(election or AdvisoryLockElection(pool, "agentic"), maintenance.next_term)
    async with contextlib.aclosing(store), contextlib.AsyncExitStack() as stack:

        async def side(of_model: AgenticResources) -> AgenticTier:
            opened = open_agentic_on(store, of_model, chosen, maintenance=maintenance, leader=leader)
            tier = await stack.enter_async_context(opened)
            binding = user_records_binding(agentic_user_records(pool, keys), _exported(of_model, tier, chosen))
            return replace(tier, bindings=needing(readiness_check(pool), (*tier.bindings, binding)))

        yield await _serve(stack, side, resources)


@contextlib.asynccontextmanager
async def open_agentic_graph(
    graph: Graph, resources: AgenticResources, settings: AgenticSettings | None = None
) -> AsyncIterator[AgenticTier]:
    """The tier on Neo4j, whose indexes are up to date; closing it writes the last access statistics."""
    chosen = settings or AgenticSettings()
    keys = graph_data_keys(resources.key_ring, DATA_KEYS)
    store = Neo4jNoteStore(
        graph, search_candidates=chosen.graph_search_candidates, keys=keys, versions_max=chosen.versions_max
    )
    # Imported here: without Neo4j its driver is not loaded.
    from services.agentic.stores.neo4j_content import SEALED_KINDS
    from services.agentic.stores.neo4j_copy import KINDS

    async with contextlib.AsyncExitStack() as stack:

        async def side(of_model: AgenticResources) -> AgenticTier:
            # Without an election the replica that claims a job first runs it.
            opened = open_agentic_on(store, of_model, chosen, maintenance=Neo4jMaintenanceStore(graph))
            tier = await stack.enter_async_context(opened)
            records = _exported(of_model, tier, chosen)
            binding = user_records_binding(GraphUserRecords(graph, KINDS, SEALED_KINDS, keys), records)
            return replace(tier, bindings=needing(graph.server_version, (*tier.bindings, binding)))

        yield await _serve(stack, side, resources)


async def _serve(
    stack: contextlib.AsyncExitStack,
    open_side: Callable[[AgenticResources], Awaitable[AgenticTier]],
    resources: AgenticResources,
) -> AgenticTier:
    """The tier with a side for each model."""
    tiers = {each.embedder.fingerprint: await open_side(each) for each in each_model(resources)}
    background = await stack.enter_async_context(BackgroundWork[str]("agentic"))
    sides = {model: Side(tier.bindings, tier.start) for model, tier in tiers.items()}
    bindings = serve_sides("agentic", background, sides, resources.serving)
    return replace(next(iter(tiers.values())), bindings=bindings)


def _exported(resources: AgenticResources, tier: AgenticTier, settings: AgenticSettings) -> TierRecords:
    return agentic_records(
        TierEmbedder(resources.embedder), tier.recorder.flush, captions_max=settings.captions_embedded_max
    )


@contextlib.asynccontextmanager
async def open_agentic_on(
    store: NoteStore,
    resources: AgenticResources,
    settings: AgenticSettings | None = None,
    generator: NoteGenerator | None = None,
    *,
    maintenance: MaintenanceStore | None = None,
    leader: Leader | None = None,
) -> AsyncIterator[AgenticTier]:
    """The tier on any store, with notes by rules unless another generator is given.

    Its jobs run once it is started; without a store of maintenance there are none.
    """
    chosen = settings or AgenticSettings()
    embedder = TierEmbedder(resources.embedder)
    recorder = AccessRecorder(store, resources.clock, chosen.access)
    async with contextlib.AsyncExitStack() as stack:
        stack.push_async_callback(recorder.flush)
        background = await stack.enter_async_context(BackgroundWork[str]("agentic"))
        background.keep_running("write-accesses", every(chosen.access.flush_interval_seconds, recorder.flush))
        clock, ids, limits = resources.clock, resources.ids, chosen.limits
        notes = NoteService(store, embedder, recorder, clock=clock, ids=ids, settings=chosen)
        links = LinkService(store, clock=clock, settings=chosen)
        chosen_generator = generator or RuleNoteGenerator(chosen.generation)
        ingest = NoteIngest(store, embedder, chosen_generator, clock=clock, ids=ids, settings=chosen)
        removal = NoteRemoval(store, embedder, clock=clock, settings=chosen, maintenance=maintenance)
        feedback = NoteFeedback(store, clock=clock, settings=chosen)
        uses = NoteUses(store, clock=clock, settings=chosen)
        decay = Decay(clock, chosen.pruning.scale_days)
        former_store = NoteVectors(store, captions_max=chosen.captions_embedded_max)
        former = FormerVectors(
            former_store, embedder.model_id, chosen.model_change, settle_seconds=settle_seconds(resources)
        )
        other = second_model(resources.second_embedder)
        second = SecondVectors("agentic.fill_second_vectors", former_store, embedder, other, chosen.model_change)
        vector_form = VectorForm(embedder.model_id, embedder.dimension)
        tokens = PageTokens(resources.secret)
        text_comparer = TextComparer(embedder, other, chosen.model_change)
        comparer = NoteComparer(store, text_comparer, rows_max=chosen.model_change.compared_rows_max)
        public = ServiceBinding(
            servicer.SERVICE_NAME,
            notes_pb2_grpc.add_NoteServiceServicer_to_server,
            servicer.NoteServicer(
                notes, links, limits, tokens, vector_form, decay, former, comparer, chosen.model_change
            ),
            servicer.ROLES,
        )
        internal = ServiceBinding(
            internal_servicer.SERVICE_NAME,
            internal_pb2_grpc.add_NoteInternalServiceServicer_to_server,
            internal_servicer.NoteInternalServicer(
                ingest, notes, removal, feedback, uses, limits, vector_form, clock, tokens, decay, former, second
            ),
            internal_servicer.ROLES,
        )
        insights = ServiceBinding(
            insight_servicer.SERVICE_NAME,
            insights_pb2_grpc.add_InsightServiceServicer_to_server,
            insight_servicer.InsightServicer(
                InsightService(store, embedder, recorder, clock=clock, settings=chosen),
                limits,
                decay,
                chosen.insights,
            ),
            insight_servicer.ROLES,
        )
        bindings = [public, internal, insights]
        if maintenance is not None:
            bounds = chosen.maintenance
            runner = MaintenanceRunner(
                maintenance,
                clock=clock,
                ids=ids,
                leader=leader,
                seconds_max=bounds.run_seconds_max,
                undone_days=bounds.undone_days,
            )
            retention = chosen.idempotency_retention_seconds
            reembed = ReembedRows("agentic.reembed_notes", former_store, embedder, chosen.model_change, beside=other)
            about = "Embeds notes anew whose vectors are of a former embedding model."
            chosen_jobs = [*note_jobs(store, embedder, token_counter(), clock, chosen), TierJob(reembed, about)]
            if second.fill is not None:
                about = "Embeds notes by the second embedding model too, before a cut-over to it."
                chosen_jobs.append(TierJob(second.fill, about))
            jobs = TierMaintenance(
                runner, maintenance, chosen_jobs, clock, retention_seconds=retention, log_days=bounds.log_days
            )
            bring_over = functools.partial(former.keep_bringing_over, functools.partial(runner.run, reembed))
            fill = functools.partial(second.keep_filling, runner.run)
            bindings.append(maintenance_binding(jobs))

        def start(work: BackgroundWork[str]) -> None:
            if maintenance is None:
                return
            if leader is not None:
                work.keep_running("lead-maintenance", leader.run)
            jobs.start(work)
            work.keep_running("bring-vectors-over", bring_over)
            if second.fill is not None:
                work.keep_running("fill-second-vectors", fill)

        yield AgenticTier(bindings, recorder, start)
