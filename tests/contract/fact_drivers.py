"""Fresh databases of the semantic tier for tests."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator

from services.common.maintenance.neo4j import COMPONENT as MAINTENANCE_COMPONENT
from services.common.maintenance.neo4j import GRAPH_MIGRATIONS_FOLDER
from services.common.neo4j.graph import Graph
from services.common.postgres.pool import PoolSettings, create_pool
from services.common.postgres.server import EmbeddedPostgres
from services.common.postgres.types import Pool
from services.semantic.stores import neo4j as graph_schema
from services.semantic.stores.postgres import MIGRATIONS_FOLDER, SCHEMA
from tests.support.maintenance import MAINTENANCE
from tests.support.neo4j import fresh_graph
from tests.support.postgres import fresh_postgres


@contextlib.asynccontextmanager
async def semantic_pool(server: EmbeddedPostgres) -> AsyncIterator[Pool]:
    """A pool on a database of its own."""
    async with (
        fresh_postgres(server, migrations=[(SCHEMA, MIGRATIONS_FOLDER), MAINTENANCE]) as urls,
        await create_pool(urls.app, PoolSettings(size_max=6)) as pool,
    ):
        yield pool


@contextlib.asynccontextmanager
async def semantic_graph(url: str) -> AsyncIterator[Graph]:
    """The emptied graph of a server, with the tier's indexes and constraints."""
    migrations = [
        (graph_schema.COMPONENT, graph_schema.MIGRATIONS_FOLDER),
        (MAINTENANCE_COMPONENT, GRAPH_MIGRATIONS_FOLDER),
    ]
    async with fresh_graph(url, migrations=migrations) as graph:
        yield graph
