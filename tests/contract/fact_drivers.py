"""Fresh databases of the semantic tier for tests."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator

from services.common.neo4j.graph import Graph
from services.common.postgres.pool import PoolSettings, create_pool
from services.common.postgres.server import EmbeddedPostgres
from services.common.postgres.types import Pool
from services.semantic.stores import neo4j as graph_schema
from services.semantic.stores.postgres import MIGRATIONS_FOLDER, SCHEMA
from tests.support.neo4j import fresh_graph
from tests.support.postgres import fresh_postgres


@contextlib.asynccontextmanager
async def semantic_pool(server: EmbeddedPostgres) -> AsyncIterator[Pool]:
    """A pool on a database of its own."""
    async with (
        fresh_postgres(server, migrations=[(SCHEMA, MIGRATIONS_FOLDER)]) as urls,
        await create_pool(urls.app, PoolSettings(size_max=6)) as pool,
    ):
        yield pool


@contextlib.asynccontextmanager
async def semantic_graph(url: str) -> AsyncIterator[Graph]:
    """The emptied graph of a server, with the tier's indexes and constraints."""
    async with fresh_graph(url, migrations=[(graph_schema.COMPONENT, graph_schema.MIGRATIONS_FOLDER)]) as graph:
        yield graph
