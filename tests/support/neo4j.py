"""A Neo4j server of the test session, and an empty graph on it for one test.

`MNEME_TEST_NEO4J_URL` names a server without authentication whose content may be removed. Without it, tests that need
one are skipped, or fail under `--require=neo4j`.
"""

import asyncio
import contextlib
import os
from collections.abc import AsyncIterator, Iterator, Sequence
from pathlib import Path
from typing import Final

import pytest

from services.common.neo4j.graph import Graph, GraphTransaction, Neo4jServer, Neo4jSettings, open_graph
from services.common.neo4j.migrations import migrate_graph

URL_VARIABLE: Final = "MNEME_TEST_NEO4J_URL"


@pytest.fixture(scope="session")
def neo4j_url(request: pytest.FixtureRequest) -> Iterator[str]:
    """URL of the session's server."""
    if url := os.environ.get(URL_VARIABLE):
        yield url
        return
    if "neo4j" in (request.config.getoption("--require", default=None) or ()):
        pytest.fail("--require=neo4j: there is no Neo4j")
    pytest.skip("neo4j is not available")


@contextlib.asynccontextmanager
async def fresh_graph(
    url: str, *, migrations: Sequence[tuple[str, Path]] = (), settings: Neo4jSettings | None = None
) -> AsyncIterator[Graph]:
    """The server's database, emptied of nodes, with the migrations of components (name, folder) applied."""
    # A busy machine must not look like a lost server.
    patient = settings or Neo4jSettings(acquire_timeout_seconds=30.0, connect_timeout_seconds=30.0)
    async with open_graph(Neo4jServer(url=url), patient) as graph:
        await _empty(graph)
        for component, folder in migrations:
            await migrate_graph(graph, component=component, folder=folder)
        yield graph


async def _empty(graph: Graph) -> None:
    async def delete(transaction: GraphTransaction) -> None:
        await transaction.run("MATCH (n) WHERE NOT n:MnemeMigration DETACH DELETE n")

    await asyncio.shield(graph.write(delete))
