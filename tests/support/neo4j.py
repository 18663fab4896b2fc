"""A Neo4j server of the test session, and an empty graph on it for one test.

`MNEME_TEST_NEO4J_URL` names a server without authentication whose content may be removed. Without it one is started
where the engine is installed; elsewhere tests that need it are skipped, or fail under `--require=neo4j`.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from pathlib import Path
from typing import TypeVar

import pytest

from services.common.errors import StoreUnavailable
from services.common.neo4j.graph import Graph, GraphTransaction, Neo4jServer, Neo4jSettings, open_graph
from services.common.neo4j.migrations import migrate_graph
from tests.support.engines import SessionEngines

_T = TypeVar("_T")

ON_NEO4J = pytest.param("neo4j", marks=pytest.mark.ci("repeats on Neo4j what runs on PostgreSQL", needs="neo4j"))
"""A parameter of fixtures that start one of several engines."""


@pytest.fixture(scope="session")
def neo4j_url(session_engines: SessionEngines, request: pytest.FixtureRequest) -> str:
    """URL of the session's server."""
    return session_engines.url("neo4j", request)


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


class FailingGraph(Graph):
    """Its server is away after some transactions."""

    def __init__(self, graph: Graph, *, writes: int) -> None:
        self._graph = graph
        self._left = writes

    async def write(self, work: Callable[[GraphTransaction], Awaitable[_T]]) -> _T:
        if not self._left:
            raise StoreUnavailable("neo4j")
        self._left -= 1
        return await self._graph.write(work)


async def _empty(graph: Graph) -> None:
    # In steps: a session that was cut off may have left more than one transaction can remove in its time.
    await asyncio.shield(
        graph.change_schema(
            "CYPHER 25 MATCH (n) WHERE NOT n:MnemeMigration CALL (n) { DETACH DELETE n } IN TRANSACTIONS OF 5000 ROWS"
        )
    )
