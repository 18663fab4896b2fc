"""Replicas of the semantic tier, on either kind of engine."""

from __future__ import annotations

from services.common.encryption.neo4j import GraphDataKeys
from services.common.encryption.postgres import DataKeys
from services.common.neo4j.graph import Graph
from services.common.postgres.types import Pool
from services.semantic.code.stores.neo4j import Neo4jCodeStore
from services.semantic.code.stores.postgres import PostgresCodeStore
from services.semantic.facts.stores.neo4j import Neo4jFactStore
from services.semantic.facts.stores.postgres import PostgresFactStore
from services.semantic.procedures.stores.neo4j import Neo4jProcedureStore
from services.semantic.procedures.stores.postgres import PostgresProcedureStore
from services.semantic.profile.stores.neo4j import Neo4jProfileStore
from services.semantic.profile.stores.postgres import PostgresProfileStore
from services.semantic.stores.neo4j_keys import Neo4jContentKeys
from services.semantic.stores.postgres_keys import PostgresContentKeys
from services.semantic.supersession.stores.neo4j import Neo4jSupersessionStore
from services.semantic.supersession.stores.postgres import PostgresSupersessionStore
from tests.support.semantic_canaries import Stores


def table_stores(pool: Pool, keys: DataKeys) -> Stores:
    """A replica on tables, with caches of its own."""
    return Stores(
        facts=PostgresFactStore(pool, keys=keys),
        supersessions=PostgresSupersessionStore(pool, keys=keys),
        procedures=PostgresProcedureStore(pool, keys=keys),
        profiles=PostgresProfileStore(pool, keys=keys),
        code=PostgresCodeStore(pool, keys=keys),
        content_keys=PostgresContentKeys(pool, keys),
    )


def graph_stores(graph: Graph, keys: GraphDataKeys) -> Stores:
    """A replica on a graph, with caches of its own."""
    return Stores(
        facts=Neo4jFactStore(graph, keys=keys),
        supersessions=Neo4jSupersessionStore(graph, keys=keys),
        procedures=Neo4jProcedureStore(graph, keys=keys),
        profiles=Neo4jProfileStore(graph, keys=keys),
        code=Neo4jCodeStore(graph, keys=keys),
        content_keys=Neo4jContentKeys(graph, keys),
    )
