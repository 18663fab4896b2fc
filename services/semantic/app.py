"""Composition root of the semantic tier."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field, replace

from mneme.semantic.internal.v1 import semantic_pb2_grpc
from mneme.semantic.v1 import (
    code_pb2_grpc,
    facts_pb2_grpc,
    procedures_pb2_grpc,
    profile_pb2_grpc,
    supersessions_pb2_grpc,
)
from services.common.background import BackgroundWork
from services.common.cache import OwnerCache
from services.common.clock import Clock
from services.common.comparing.port import Comparer, ThreadComparer
from services.common.embedding.embedder import Embedder
from services.common.encryption.neo4j import graph_data_keys
from services.common.encryption.postgres import data_keys
from services.common.encryption.ring import DataKeyRing
from services.common.ids import IdSource
from services.common.language_model.port import LanguageModel, NoLanguageModel
from services.common.maintenance.election import Election, Leader
from services.common.maintenance.elections.postgres import AdvisoryLockElection
from services.common.maintenance.neo4j import COMPONENT as MAINTENANCE_COMPONENT
from services.common.maintenance.neo4j import GRAPH_MIGRATIONS_FOLDER as MAINTENANCE_GRAPH_FOLDER
from services.common.maintenance.neo4j import Neo4jMaintenanceStore
from services.common.maintenance.postgres import PostgresMaintenanceStore, migrate_maintenance
from services.common.maintenance.servicer import maintenance_binding
from services.common.maintenance.store import MaintenanceStore
from services.common.model_change import FormerVectors, SecondVectors
from services.common.neo4j.graph import Graph
from services.common.neo4j.migrations import migrate_graph
from services.common.paging import PageTokens
from services.common.parsing.port import Parser
from services.common.portability.drivers import GraphUserRecords
from services.common.portability.servicer import user_records_binding
from services.common.postgres.migrations import migrate
from services.common.postgres.pool import readiness_check
from services.common.postgres.types import Pool
from services.common.rpc.server import ServiceBinding, needing
from services.common.serving_model.following import ServingModel
from services.common.serving_model.sides import Side, each_model, serve_sides, settle_seconds
from services.common.tier_embedder import TierEmbedder, second_model
from services.semantic import servicer as internal_servicer
from services.semantic.code import servicer as code_servicer
from services.semantic.code.parsers import CodeParsers
from services.semantic.code.service import CodeService
from services.semantic.code.stores.neo4j import Neo4jCodeStore
from services.semantic.code.stores.postgres import PostgresCodeStore
from services.semantic.config import SemanticSettings
from services.semantic.content_keys import NO_CONTENT_KEYS
from services.semantic.facts import servicer as facts_servicer
from services.semantic.facts.commands import VectorForm
from services.semantic.facts.comparison import fact_comparer
from services.semantic.facts.extraction.extractor import ParsedFactExtractor
from services.semantic.facts.extraction.model_extractor import ModelFacts
from services.semantic.facts.extraction.port import FactExtractor
from services.semantic.facts.extraction.stated import StatedFactReader
from services.semantic.facts.feedback import FactFeedback
from services.semantic.facts.merging import FactMerging
from services.semantic.facts.removal import FactRemoval
from services.semantic.facts.service import FactService
from services.semantic.facts.store import FactStore
from services.semantic.facts.stores.neo4j import Neo4jFactStore
from services.semantic.facts.stores.neo4j_marks import Neo4jFactMarks
from services.semantic.facts.stores.neo4j_upkeep import Neo4jFactUpkeep
from services.semantic.facts.stores.neo4j_vectors import Neo4jFactVectors
from services.semantic.facts.stores.postgres import PostgresFactStore
from services.semantic.facts.stores.postgres_marks import PostgresFactMarks
from services.semantic.facts.stores.postgres_upkeep import PostgresFactUpkeep
from services.semantic.facts.stores.postgres_vectors import PostgresFactVectors
from services.semantic.intake import Intake
from services.semantic.maintenance.schedule import FILL_FACTS, FactJobStores, fact_jobs
from services.semantic.portability import semantic_records, semantic_user_records
from services.semantic.procedures import servicer as procedure_servicer
from services.semantic.procedures.service import ProcedureService
from services.semantic.procedures.stores.neo4j import Neo4jProcedureStore
from services.semantic.procedures.stores.postgres import PostgresProcedureStore
from services.semantic.profile import servicer as profile_servicer
from services.semantic.profile.service import ProfileService
from services.semantic.profile.stores.neo4j import Neo4jProfileStore
from services.semantic.profile.stores.postgres import PostgresProfileStore
from services.semantic.servicer import Subjects
from services.semantic.stores.neo4j import COMPONENT
from services.semantic.stores.neo4j import MIGRATIONS_FOLDER as GRAPH_MIGRATIONS_FOLDER
from services.semantic.stores.neo4j_keys import Neo4jContentKeys
from services.semantic.stores.neo4j_sealing import DATA_KEYS
from services.semantic.stores.postgres import MIGRATIONS_FOLDER, SCHEMA
from services.semantic.stores.postgres_keys import PostgresContentKeys
from services.semantic.supersession import servicer as supersession_servicer
from services.semantic.supersession.service import SupersessionService
from services.semantic.supersession.stores.neo4j import Neo4jSupersessionStore
from services.semantic.supersession.stores.neo4j_queue import Neo4jSupersessionQueue
from services.semantic.supersession.stores.postgres import PostgresSupersessionStore
from services.semantic.supersession.stores.postgres_queue import PostgresSupersessionQueue
from services.semantic.tier_stores import EngineStores, TierStores


@dataclass(frozen=True, kw_only=True)
class SemanticResources:
    """What the tier uses and others own."""

    embedder: Embedder
    """Makes the vectors of facts and queries."""
    second_embedder: Embedder | None = None
    """Another model to compare it with, before a change of the model."""
    clock: Clock
    """The time."""
    ids: IdSource
    """Ids of new facts: UUIDs that sort by time."""
    secret: bytes
    """The service secret, the same in all replicas; page tokens are signed with a key made of it."""
    parser: Parser
    """Reads what facts are found in."""
    comparer: Comparer = field(default_factory=ThreadComparer)
    """Compares what people state."""
    language_model: LanguageModel = field(default_factory=NoLanguageModel)
    """Adds facts to those of the rules, and decides about statements that wait, where one is configured."""
    cache: OwnerCache = field(default_factory=OwnerCache)
    """What the process holds of users in memory; shared by the services of one process."""
    key_ring: DataKeyRing | None = None
    """Encrypts content; stored as it is where None."""
    serving: ServingModel | None = None
    """Which of two models serves; the first one where None."""


@dataclass(frozen=True)
class SemanticTier:
    """The tier, ready to be served."""

    facts: FactService
    """Use cases of facts."""
    supersessions: SupersessionService
    """Use cases of superseded statements."""
    profiles: ProfileService
    """Use cases of profiles."""
    procedures: ProcedureService
    """Use cases of procedures."""
    code: CodeService
    """Use cases of the code graph."""
    bindings: Sequence[ServiceBinding]
    """What a `GrpcServer` serves."""


async def migrate_semantic(owner_dsn: str, *, app_role: str | None = "mneme_app") -> None:
    """Brings the tier's schema up to date.

    Args:
        owner_dsn: Connection URL of the role that owns the schema.
        app_role: Role that services connect as.
    """
    await migrate(owner_dsn, schema=SCHEMA, folder=MIGRATIONS_FOLDER, app_role=app_role)
    await migrate_maintenance(owner_dsn, app_role=app_role)


@contextlib.asynccontextmanager
async def open_semantic(
    pool: Pool,
    resources: SemanticResources,
    settings: SemanticSettings | None = None,
    *,
    election: Election | None = None,
) -> AsyncIterator[SemanticTier]:
    """The tier on PostgreSQL, whose schema is up to date.

    The replica that runs maintenance is chosen by `election`, by a lock of the database where None.
    """
    chosen = settings or SemanticSettings()
    keys = data_keys(resources.key_ring, SCHEMA)
    stores = TierStores(
        PostgresProfileStore(pool, chosen.profile, keys=keys),
        PostgresSupersessionStore(pool, keys=keys),
        PostgresProcedureStore(pool, keys=keys),
        PostgresCodeStore(pool, keys=keys),
        PostgresFactMarks(pool, chosen.evidence, keys=keys),
        PostgresContentKeys(pool, keys) if keys.is_on else NO_CONTENT_KEYS,
    )
    store = PostgresFactStore(
        pool, chosen.evidence, cache=resources.cache, cached_min=chosen.cached_facts_min, keys=keys
    )
    maintenance = PostgresMaintenanceStore(pool)
    leader = Leader(election or AdvisoryLockElection(pool, "semantic"), maintenance.next_term)
    vectors = PostgresFactVectors(pool, keys=keys)
    queue = PostgresSupersessionQueue(pool, keys=keys)
    job_stores = FactJobStores(store, PostgresFactUpkeep(pool, keys=keys), vectors, queue, maintenance)
    opened = EngineStores(store, stores, job_stores, semantic_user_records(pool, keys), readiness_check(pool), leader)
    async with contextlib.aclosing(store), contextlib.AsyncExitStack() as stack:
        yield await _serve(stack, opened, resources, chosen)


async def migrate_semantic_graph(graph: Graph) -> None:
    """Brings the tier's part of a graph up to date.

    Args:
        graph: The database, as a user who may change its schema.
    """
    await migrate_graph(graph, component=COMPONENT, folder=GRAPH_MIGRATIONS_FOLDER)
    await migrate_graph(graph, component=MAINTENANCE_COMPONENT, folder=MAINTENANCE_GRAPH_FOLDER)


@contextlib.asynccontextmanager
async def open_semantic_graph(
    graph: Graph, resources: SemanticResources, settings: SemanticSettings | None = None
) -> AsyncIterator[SemanticTier]:
    """The tier on Neo4j, whose indexes and constraints are up to date."""
    chosen = settings or SemanticSettings()
    keys = graph_data_keys(resources.key_ring, DATA_KEYS)
    facts = Neo4jFactStore(graph, chosen.evidence, search_candidates=chosen.graph_search_candidates, keys=keys)
    stores = TierStores(
        Neo4jProfileStore(graph, chosen.profile, keys=keys),
        Neo4jSupersessionStore(graph, keys=keys),
        Neo4jProcedureStore(graph, keys=keys),
        Neo4jCodeStore(graph, keys=keys),
        Neo4jFactMarks(graph, chosen.evidence, keys=keys),
        Neo4jContentKeys(graph, keys) if keys.is_on else NO_CONTENT_KEYS,
    )
    # Imported here: without Neo4j its driver is not loaded.
    from services.semantic.stores.neo4j_content import SEALED_KINDS
    from services.semantic.stores.neo4j_copy import KINDS

    maintenance = Neo4jMaintenanceStore(graph)
    vectors, queue = Neo4jFactVectors(graph, keys=keys), Neo4jSupersessionQueue(graph, keys=keys)
    job_stores = FactJobStores(facts, Neo4jFactUpkeep(graph, keys=keys), vectors, queue, maintenance)
    graph_records = GraphUserRecords(graph, KINDS, SEALED_KINDS, keys)
    # Without an election the replica that claims a job first runs it.
    opened = EngineStores(facts, stores, job_stores, graph_records, graph.server_version, leader=None)
    async with contextlib.AsyncExitStack() as stack:
        yield await _serve(stack, opened, resources, chosen)


async def _serve(
    stack: contextlib.AsyncExitStack, opened: EngineStores, resources: SemanticResources, settings: SemanticSettings
) -> SemanticTier:
    """The tier with a side for each model."""
    parsers = await stack.enter_async_context(contextlib.aclosing(_parsers(settings)))
    background = await stack.enter_async_context(BackgroundWork[str]("semantic"))
    tiers: dict[str, SemanticTier] = {}
    sides: dict[str, Side] = {}
    for each in each_model(resources):
        embedder = TierEmbedder(each.embedder)
        former = FormerVectors(
            opened.jobs.vectors, embedder.model_id, settings.model_change, settle_seconds=settle_seconds(resources)
        )
        other = second_model(each.second_embedder)
        second = SecondVectors(FILL_FACTS, opened.jobs.vectors, embedder, other, settings.model_change)
        tier = open_semantic_on(
            opened.facts, opened.others, parsers, each, former, second, settings, maintenance=opened.jobs.log
        )
        await stack.enter_async_context(contextlib.aclosing(tier.code))
        jobs = fact_jobs(
            opened.jobs, former, second, embedder, each.clock, each.ids, settings, each.language_model, opened.leader
        )
        records = user_records_binding(opened.records, semantic_records(embedder, settings.code.limits))
        served = needing(opened.ready, (*tier.bindings, maintenance_binding(jobs.maintenance), records))
        tiers[embedder.model_id] = tier
        sides[embedder.model_id] = Side(served, jobs.start)
    bindings = serve_sides("semantic", background, sides, resources.serving)
    return replace(next(iter(tiers.values())), bindings=bindings)


def _parsers(settings: SemanticSettings) -> CodeParsers:
    code = settings.code
    return CodeParsers(
        processes=code.parser_processes,
        timeout_seconds=code.parse_timeout_seconds,
        text_bytes_max=code.text_bytes_max,
    )


def open_semantic_on(
    fact_store: FactStore,
    stores: TierStores,
    parsers: CodeParsers,
    resources: SemanticResources,
    former: FormerVectors,
    second: SecondVectors,
    settings: SemanticSettings | None = None,
    extractor: FactExtractor | None = None,
    *,
    maintenance: MaintenanceStore | None = None,
) -> SemanticTier:
    """The tier on any stores, with facts read by the parser unless another extractor is given.

    Searches for the gateway are marked where `former` says that they pass over facts; `second` says what a cut-over
    would lack. What `maintenance` has
    logged of a user goes with the user.
    """
    chosen = settings or SemanticSettings()
    embedder = TierEmbedder(resources.embedder)
    facts = FactService(
        fact_store,
        embedder,
        extractor or ParsedFactExtractor(resources.parser, chosen.extraction),
        clock=resources.clock,
        ids=resources.ids,
        settings=chosen,
        model_facts=ModelFacts(
            resources.language_model, chosen.model_extraction, nameless_subject=chosen.extraction.nameless_subject
        ),
        marks=stores.fact_marks,
        stated=StatedFactReader(resources.parser, chosen.extraction),
    )
    supersessions = SupersessionService(
        stores.supersessions,
        resources.comparer,
        clock=resources.clock,
        settings=chosen.supersession,
        retention_seconds=chosen.idempotency_retention_seconds,
        clear_policy=chosen.evidence.clear_policy,
    )
    profiles = ProfileService(
        stores.profiles,
        clock=resources.clock,
        ids=resources.ids,
        settings=chosen,
        corrections=supersessions,
    )
    procedures = ProcedureService(
        stores.procedures,
        clock=resources.clock,
        ids=resources.ids,
        settings=chosen.procedures,
        retention_seconds=chosen.idempotency_retention_seconds,
    )
    code = CodeService(
        stores.code,
        parsers,
        clock=resources.clock,
        cache=resources.cache,
        settings=chosen.code,
        retention_seconds=chosen.idempotency_retention_seconds,
    )
    clock, ids = resources.clock, resources.ids
    removal = FactRemoval(fact_store, embedder, clock=clock, ids=ids, settings=chosen, maintenance=maintenance)
    feedback = FactFeedback(fact_store, clock=clock, ids=ids, model=embedder.model_id, settings=chosen)
    tokens = PageTokens(resources.secret)
    form = VectorForm(embedder.model_id, embedder.dimension)
    merging = FactMerging(fact_store, embedder, clock=clock, ids=ids, settings=chosen)
    comparer = fact_comparer(fact_store, embedder, resources.second_embedder, chosen)
    fact_edge = facts_servicer.FactServicer(facts, removal, merging, chosen, tokens, form, former, comparer)
    return SemanticTier(
        facts,
        supersessions,
        profiles,
        procedures,
        code,
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
                procedure_servicer.SERVICE_NAME,
                procedures_pb2_grpc.add_ProcedureServiceServicer_to_server,
                procedure_servicer.ProcedureServicer(procedures, chosen, tokens),
                procedure_servicer.ROLES,
            ),
            ServiceBinding(
                supersession_servicer.SERVICE_NAME,
                supersessions_pb2_grpc.add_SupersessionServiceServicer_to_server,
                supersession_servicer.SupersessionServicer(supersessions, chosen.facts, tokens),
                supersession_servicer.ROLES,
            ),
            ServiceBinding(
                code_servicer.SERVICE_NAME,
                code_pb2_grpc.add_CodeServiceServicer_to_server,
                code_servicer.CodeServicer(code, chosen.code.limits, tokens),
                code_servicer.ROLES,
            ),
            ServiceBinding(
                internal_servicer.SERVICE_NAME,
                semantic_pb2_grpc.add_SemanticInternalServiceServicer_to_server,
                internal_servicer.SemanticInternalServicer(
                    fact_edge,
                    removal,
                    Subjects(profiles, supersessions, procedures, code, stores.keys),
                    feedback,
                    Intake(facts, supersessions, procedures),
                    chosen.facts,
                    resources.clock,
                    tokens,
                    second,
                ),
                internal_servicer.ROLES,
            ),
        ),
    )
