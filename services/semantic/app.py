"""Composition root of the semantic tier."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field, replace

from mneme.semantic.internal.v1 import semantic_pb2_grpc
from mneme.semantic.v1 import facts_pb2_grpc, profile_pb2_grpc, supersessions_pb2_grpc
from services.common.cache import OwnerCache
from services.common.clock import Clock
from services.common.embedding.embedder import Embedder
from services.common.ids import IdSource
from services.common.neo4j.graph import Graph
from services.common.neo4j.migrations import migrate_graph
from services.common.paging import PageTokens
from services.common.parsing.port import Parser
from services.common.postgres.migrations import migrate
from services.common.postgres.pool import readiness_check
from services.common.postgres.types import Pool
from services.common.rpc.server import ServiceBinding, needing
from services.common.tier_embedder import TierEmbedder
from services.semantic import servicer as internal_servicer
from services.semantic.config import SemanticSettings
from services.semantic.facts import servicer as facts_servicer
from services.semantic.facts.commands import VectorForm
from services.semantic.facts.extraction.extractor import ParsedFactExtractor
from services.semantic.facts.extraction.port import FactExtractor
from services.semantic.facts.removal import FactRemoval
from services.semantic.facts.service import FactService
from services.semantic.facts.store import FactStore
from services.semantic.facts.stores.neo4j import Neo4jFactStore
from services.semantic.facts.stores.postgres import PostgresFactStore
from services.semantic.intake import Intake
from services.semantic.profile import servicer as profile_servicer
from services.semantic.profile.service import ProfileService
from services.semantic.profile.store import ProfileStore
from services.semantic.profile.stores.neo4j import Neo4jProfileStore
from services.semantic.profile.stores.postgres import PostgresProfileStore
from services.semantic.stores.neo4j import COMPONENT
from services.semantic.stores.neo4j import MIGRATIONS_FOLDER as GRAPH_MIGRATIONS_FOLDER
from services.semantic.stores.postgres import MIGRATIONS_FOLDER, SCHEMA
from services.semantic.supersession import servicer as supersession_servicer
from services.semantic.supersession.service import SupersessionService
from services.semantic.supersession.store import SupersessionStore
from services.semantic.supersession.stores.neo4j import Neo4jSupersessionStore
from services.semantic.supersession.stores.postgres import PostgresSupersessionStore


@dataclass(frozen=True, kw_only=True)
class SemanticResources:
    """What the tier uses and others own."""

    embedder: Embedder
    """Makes the vectors of facts and queries."""
    clock: Clock
    """The time."""
    ids: IdSource
    """Ids of new facts: UUIDs that sort by time."""
    secret: bytes
    """The service secret, the same in all replicas; page tokens are signed with a key made of it."""
    parser: Parser
    """Reads what facts are found in."""
    cache: OwnerCache = field(default_factory=OwnerCache)
    """What the process holds of users in memory; shared by the services of one process."""


@dataclass(frozen=True)
class SemanticTier:
    """The tier, ready to be served."""

    facts: FactService
    """Use cases of facts."""
    supersessions: SupersessionService
    """Use cases of superseded statements."""
    profiles: ProfileService
    """Use cases of profiles."""
    bindings: Sequence[ServiceBinding]
    """What a `GrpcServer` serves."""


async def migrate_semantic(owner_dsn: str, *, app_role: str | None = "mneme_app") -> None:
    """Brings the tier's schema up to date.

    Args:
        owner_dsn: Connection URL of the role that owns the schema.
        app_role: Role that services connect as.
    """
    await migrate(owner_dsn, schema=SCHEMA, folder=MIGRATIONS_FOLDER, app_role=app_role)


@contextlib.asynccontextmanager
async def open_semantic(
    pool: Pool, resources: SemanticResources, settings: SemanticSettings | None = None
) -> AsyncIterator[SemanticTier]:
    """The tier on PostgreSQL, whose schema is up to date."""
    chosen = settings or SemanticSettings()
    profiles = PostgresProfileStore(pool, chosen.profile)
    store = PostgresFactStore(pool, chosen.evidence, cache=resources.cache, cached_min=chosen.cached_facts_min)
    async with contextlib.aclosing(store) as facts:
        tier = open_semantic_on(facts, profiles, PostgresSupersessionStore(pool), resources, chosen)
        yield replace(tier, bindings=needing(readiness_check(pool), tier.bindings))


async def migrate_semantic_graph(graph: Graph) -> None:
    """Brings the tier's part of a graph up to date.

    Args:
        graph: The database, as a user who may change its schema.
    """
    await migrate_graph(graph, component=COMPONENT, folder=GRAPH_MIGRATIONS_FOLDER)


@contextlib.asynccontextmanager
async def open_semantic_graph(
    graph: Graph, resources: SemanticResources, settings: SemanticSettings | None = None
) -> AsyncIterator[SemanticTier]:
    """The tier on Neo4j, whose indexes and constraints are up to date."""
    chosen = settings or SemanticSettings()
    facts = Neo4jFactStore(graph, chosen.evidence, search_candidates=chosen.graph_search_candidates)
    profiles = Neo4jProfileStore(graph, chosen.profile)
    tier = open_semantic_on(facts, profiles, Neo4jSupersessionStore(graph), resources, chosen)
    yield replace(tier, bindings=needing(graph.server_version, tier.bindings))


def open_semantic_on(
    fact_store: FactStore,
    profile_store: ProfileStore,
    supersession_store: SupersessionStore,
    resources: SemanticResources,
    settings: SemanticSettings | None = None,
    extractor: FactExtractor | None = None,
) -> SemanticTier:
    """The tier on any stores, with facts read by the parser unless another extractor is given."""
    chosen = settings or SemanticSettings()
    embedder = TierEmbedder(resources.embedder)
    facts = FactService(
        fact_store,
        embedder,
        extractor or ParsedFactExtractor(resources.parser, chosen.extraction),
        clock=resources.clock,
        ids=resources.ids,
        settings=chosen,
    )
    profiles = ProfileService(profile_store, clock=resources.clock, ids=resources.ids, settings=chosen)
    supersessions = SupersessionService(
        supersession_store,
        clock=resources.clock,
        settings=chosen.supersession,
        retention_seconds=chosen.idempotency_retention_seconds,
    )
    removal = FactRemoval(fact_store, embedder, clock=resources.clock, ids=resources.ids, settings=chosen)
    tokens = PageTokens(resources.secret)
    form = VectorForm(embedder.model_id, embedder.dimension)
    fact_edge = facts_servicer.FactServicer(facts, removal, chosen, tokens, form)
    return SemanticTier(
        facts,
        supersessions,
        profiles,
        (
            ServiceBinding(
                facts_servicer.SERVICE_NAME,
                facts_pb2_grpc.add_FactServiceServicer_to_server,
                fact_edge,
                facts_servicer.ROLES,
            ),
            ServiceBinding(
                profile_servicer.SERVICE_NAME,
                profile_pb2_grpc.add_ProfileServiceServicer_to_server,
                profile_servicer.ProfileServicer(profiles, chosen),
                profile_servicer.ROLES,
            ),
            ServiceBinding(
                supersession_servicer.SERVICE_NAME,
                supersessions_pb2_grpc.add_SupersessionServiceServicer_to_server,
                supersession_servicer.SupersessionServicer(supersessions, chosen.facts, tokens),
                supersession_servicer.ROLES,
            ),
            ServiceBinding(
                internal_servicer.SERVICE_NAME,
                semantic_pb2_grpc.add_SemanticInternalServiceServicer_to_server,
                internal_servicer.SemanticInternalServicer(
                    fact_edge,
                    removal,
                    profiles,
                    supersessions,
                    Intake(facts, supersessions),
                    chosen.facts,
                    resources.clock,
                ),
                internal_servicer.ROLES,
            ),
        ),
    )
