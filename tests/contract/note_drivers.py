"""Fresh note stores for tests."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from typing import Final, TypeAlias

import pytest

from services.agentic.store import NoteStore
from services.agentic.stores.neo4j import COMPONENT, GRAPH_MIGRATIONS_FOLDER, Neo4jNoteStore
from services.agentic.stores.postgres import MIGRATIONS_FOLDER, SCHEMA, PostgresNoteStore
from services.common.cache import OwnerCache
from services.common.encryption.neo4j import NO_GRAPH_DATA_KEYS, GraphDataKeys
from services.common.encryption.postgres import NO_DATA_KEYS, DataKeys
from services.common.neo4j.graph import Graph
from services.common.postgres.pool import PoolSettings, create_pool
from services.common.postgres.server import EmbeddedPostgres
from tests.support.neo4j import ON_NEO4J, fresh_graph
from tests.support.postgres import fresh_postgres

DRIVERS: Final = ("postgres", ON_NEO4J)
UnopenedStore: TypeAlias = AbstractAsyncContextManager[NoteStore]


@contextlib.asynccontextmanager
async def postgres_note_store(
    server: EmbeddedPostgres,
    cache: OwnerCache | None = None,
    *,
    cached_min: int = 1_500,
    kind: type[PostgresNoteStore] = PostgresNoteStore,
    keys: DataKeys = NO_DATA_KEYS,
) -> AsyncIterator[PostgresNoteStore]:
    """A store on a database of its own."""
    async with (
        fresh_postgres(server, migrations=[(SCHEMA, MIGRATIONS_FOLDER)]) as urls,
        await create_pool(urls.app, PoolSettings(size_max=4)) as pool,
        contextlib.aclosing(kind(pool, cache=cache, cached_min=cached_min, keys=keys)) as store,
    ):
        yield store


@contextlib.asynccontextmanager
async def note_graph(url: str) -> AsyncIterator[Graph]:
    """An empty graph with the indexes of notes."""
    async with fresh_graph(url, migrations=[(COMPONENT, GRAPH_MIGRATIONS_FOLDER)]) as graph:
        yield graph


@contextlib.asynccontextmanager
async def neo4j_note_store(url: str, *, keys: GraphDataKeys = NO_GRAPH_DATA_KEYS) -> AsyncIterator[Neo4jNoteStore]:
    """A store on an empty graph."""
    async with note_graph(url) as graph:
        yield Neo4jNoteStore(graph, keys=keys)


def unopened_note_store(request: pytest.FixtureRequest) -> UnopenedStore:
    """A store of the driver that a fixture is parametrised with.

    That fixture cannot be asynchronous: the servers are started by others, which run event loops of their own.
    """
    if request.param == "neo4j":
        return neo4j_note_store(request.getfixturevalue("neo4j_url"))
    return postgres_note_store(request.getfixturevalue("postgres_server"))
