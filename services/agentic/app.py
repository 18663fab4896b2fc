"""Composition root of the agentic tier."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field, replace

from mneme.agentic.internal.v1 import notes_pb2_grpc as internal_pb2_grpc
from mneme.agentic.v1 import notes_pb2_grpc
from services.agentic import internal_servicer, servicer
from services.agentic.access import AccessRecorder
from services.agentic.commands import VectorForm
from services.agentic.config import AgenticSettings
from services.agentic.generation.port import NoteGenerator
from services.agentic.generation.rules import RuleNoteGenerator
from services.agentic.ingest import NoteIngest
from services.agentic.links import LinkService
from services.agentic.removal import NoteRemoval
from services.agentic.service import NoteService
from services.agentic.store import NoteStore
from services.agentic.stores.neo4j import COMPONENT, GRAPH_MIGRATIONS_FOLDER, Neo4jNoteStore
from services.agentic.stores.postgres import MIGRATIONS_FOLDER, SCHEMA, PostgresNoteStore
from services.common.background import BackgroundWork, every
from services.common.cache import OwnerCache
from services.common.clock import Clock
from services.common.embedding.embedder import Embedder
from services.common.ids import IdSource
from services.common.neo4j.graph import Graph
from services.common.neo4j.migrations import migrate_graph
from services.common.paging import PageTokens
from services.common.postgres.migrations import migrate
from services.common.postgres.pool import readiness_check
from services.common.postgres.types import Pool
from services.common.rpc.server import ServiceBinding, needing
from services.common.tier_embedder import TierEmbedder


@dataclass(frozen=True, kw_only=True)
class AgenticResources:
    """What the tier uses and others own."""

    embedder: Embedder
    """Makes the vectors of notes and queries."""
    clock: Clock
    """The time."""
    ids: IdSource
    """Ids of new notes: UUIDs that sort by time."""
    secret: bytes
    """The service secret, the same in all replicas; page tokens are signed with a key made of it."""
    cache: OwnerCache = field(default_factory=OwnerCache)
    """What the process holds of users in memory; shared by the services of one process."""


@dataclass(frozen=True)
class AgenticTier:
    """The tier, ready to be served."""

    bindings: Sequence[ServiceBinding]
    """The public and the internal service, for a `GrpcServer`."""
    recorder: AccessRecorder
    """Access statistics that are still to be written."""


async def migrate_agentic(owner_dsn: str, *, app_role: str | None = "mneme_app") -> None:
    """Brings the tier's schema up to date.

    Args:
        owner_dsn: Connection URL of the role that owns the schema.
        app_role: Role that services connect as.
    """
    await migrate(owner_dsn, schema=SCHEMA, folder=MIGRATIONS_FOLDER, app_role=app_role)


async def migrate_agentic_graph(graph: Graph) -> None:
    """Brings the tier's indexes and constraints in Neo4j up to date.

    Args:
        graph: The database, as a user who may change its schema.
    """
    await migrate_graph(graph, component=COMPONENT, folder=GRAPH_MIGRATIONS_FOLDER)


@contextlib.asynccontextmanager
async def open_agentic(
    pool: Pool, resources: AgenticResources, settings: AgenticSettings | None = None
) -> AsyncIterator[AgenticTier]:
    """The tier on PostgreSQL, whose schema is up to date; closing it writes the last access statistics."""
    chosen = settings or AgenticSettings()
    store = PostgresNoteStore(pool, cache=resources.cache, cached_min=chosen.cached_notes_min)
    async with contextlib.aclosing(store), open_agentic_on(store, resources, chosen) as tier:
        yield replace(tier, bindings=needing(readiness_check(pool), tier.bindings))


@contextlib.asynccontextmanager
async def open_agentic_graph(
    graph: Graph, resources: AgenticResources, settings: AgenticSettings | None = None
) -> AsyncIterator[AgenticTier]:
    """The tier on Neo4j, whose indexes are up to date; closing it writes the last access statistics."""
    chosen = settings or AgenticSettings()
    store = Neo4jNoteStore(graph, search_candidates=chosen.graph_search_candidates)
    async with open_agentic_on(store, resources, chosen) as tier:
        yield replace(tier, bindings=needing(graph.server_version, tier.bindings))


@contextlib.asynccontextmanager
async def open_agentic_on(
    store: NoteStore,
    resources: AgenticResources,
    settings: AgenticSettings | None = None,
    generator: NoteGenerator | None = None,
) -> AsyncIterator[AgenticTier]:
    """The tier on any store, with notes by rules unless another generator is given."""
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
        removal = NoteRemoval(store, embedder, clock=clock, settings=chosen)
        vector_form = VectorForm(embedder.model_id, embedder.dimension)
        public = ServiceBinding(
            servicer.SERVICE_NAME,
            notes_pb2_grpc.add_NoteServiceServicer_to_server,
            servicer.NoteServicer(notes, links, limits, PageTokens(resources.secret), vector_form),
            servicer.ROLES,
        )
        internal = ServiceBinding(
            internal_servicer.SERVICE_NAME,
            internal_pb2_grpc.add_NoteInternalServiceServicer_to_server,
            internal_servicer.NoteInternalServicer(ingest, notes, removal, limits, vector_form, clock),
            internal_servicer.ROLES,
        )
        yield AgenticTier([public, internal], recorder)
