"""Opens the engines of a place for a copy, with everything that they hold as records."""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import asyncpg

from services.agentic.copying import open_agentic_records
from services.cli.copying.places import Place
from services.cli.engines import migrate_schemas
from services.common.copying.administration import open_administration, services_connected
from services.common.copying.model import CopyError, RecordStore
from services.common.datadir import DataDir
from services.common.maintenance.copying import open_maintenance_records
from services.common.postgres.server import EmbeddedPostgres
from services.common.postgres.types import Connection
from services.episodic.app import qdrant_server
from services.episodic.config import EpisodicSettings
from services.episodic.copying import embedding_models, open_episodic_records
from services.episodic.stores.points_copy import EdgePointEngine, EmbeddingModel, PointEngine, QdrantPointEngine
from services.gateway.copying import open_gateway_records
from services.semantic.copying import open_semantic_records

if TYPE_CHECKING:  # loaded where a Neo4j is configured
    from services.common.neo4j.graph import Graph

_GRAPH_SECONDS: Final = 600.0
"""For one page, on a server that is busy with its indexes."""
_BIRTH: Final = """
    SELECT (SELECT oid FROM pg_database WHERE datname = current_database())::text,
        (SELECT applied_time FROM gateway.schema_migrations WHERE version = 1)
"""


@dataclass(frozen=True)
class Installation:
    """An installation whose engines are open and whose services are not running."""

    name: str
    administration: Connection  # sees the rows of all tenants
    points: PointEngine
    graph: Graph | None

    async def identity(self) -> str:
        """Identifies it, until its database is created anew.

        Raises:
            CopyError: It was never set up.
        """
        try:
            row = await self.administration.fetchrow(_BIRTH)
        except asyncpg.UndefinedTableError:
            row = None
        if row is None or row[1] is None:
            raise CopyError(f"{self.name}: there is no installation in this database")
        return hashlib.sha256(f"{row[0]} {row[1].isoformat()}".encode()).hexdigest()[:32]

    async def embedding_models(self) -> list[EmbeddingModel]:
        """Models that it has vectors of episodes of."""
        return await embedding_models(self.administration, self.points)

    @contextlib.asynccontextmanager
    async def records(self, models: Sequence[EmbeddingModel], *, create: bool) -> AsyncIterator[list[RecordStore]]:
        """All of its records, tier by tier.

        Args:
            models: Whose vectors of episodes are copied, those of the source.
            create: Make vector indexes that are missing.
        """
        connection = self.administration
        async with open_episodic_records(connection, self.points, models, create=create) as episodic:
            yield [
                *await open_gateway_records(connection),
                *episodic,
                *await open_semantic_records(connection, self.graph),
                *await open_agentic_records(connection, self.graph),
                *await open_maintenance_records(connection, self.graph),  # the log can undo what was done before
            ]


@contextlib.asynccontextmanager
async def open_installation(place: Place, *, migrate: bool, force: bool) -> AsyncIterator[Installation]:
    """Starts or connects to the engines of a place, and locks its data folder, so that its services cannot start.

    Args:
        place: Where it is.
        migrate: Bring its schemas up to date.
        force: Go on though services are connected.

    Raises:
        CopyError: A service runs, or the database hides the rows of tenants.
        DataDirError: The data folder is in use.
        MigrationError: The schemas cannot be brought up to date.
        MnemeError: An engine cannot be used.
        OSError: An engine cannot be reached.
    """
    settings = place.settings
    async with contextlib.AsyncExitStack() as stack:
        data_dir = stack.enter_context(DataDir(place.data_dir)) if place.data_dir else None
        if settings.postgres_url:
            owner_url = settings.postgres_owner_url
            urls = [settings.postgres_admin_url.get_secret_value(), owner_url, settings.postgres_url]
        else:
            assert data_dir is not None  # ensured by `read_place`
            embedded = await stack.enter_async_context(EmbeddedPostgres(data_dir))
            owner_url, urls = embedded.owner_dsn, [embedded.superuser_dsn]
        if migrate and owner_url:
            await migrate_schemas(owner_url, has_graph=bool(settings.neo4j_url), app_role=settings.postgres_app_role)
        connection = await stack.enter_async_context(open_administration(urls, place=place.name))
        if not force:
            _refuse_services(place, await services_connected(connection))
        graph = await _open_graph(stack, place, migrate=migrate, force=force) if settings.neo4j_url else None
        points = _point_engine(place, data_dir)
        stack.push_async_callback(points.aclose)
        yield Installation(place.name, connection, points, graph)


async def _open_graph(stack: contextlib.AsyncExitStack, place: Place, *, migrate: bool, force: bool) -> Graph:
    from services.agentic.app import migrate_agentic_graph
    from services.common.copying.neo4j import COPY_AGENT, clients_connected
    from services.common.neo4j.graph import Neo4jSettings, open_graph
    from services.common.neo4j.hosted import neo4j_server
    from services.semantic.app import migrate_semantic_graph

    patient = Neo4jSettings(connections_max=2, query_timeout_seconds=_GRAPH_SECONDS)
    graph = await stack.enter_async_context(open_graph(neo4j_server(place.settings), patient, user_agent=COPY_AGENT))
    if not force:
        _refuse_services(place, await clients_connected(graph))
    if migrate:
        await migrate_semantic_graph(graph)
        await migrate_agentic_graph(graph)
    return graph


def _point_engine(place: Place, data_dir: DataDir | None) -> PointEngine:
    settings = place.source.load(EpisodicSettings, "episodic")
    server = qdrant_server(place.settings)
    if server is None:
        folder = place.settings.qdrant_dir or (data_dir.qdrant if data_dir else None)
        assert folder is not None  # ensured by `read_place`
        return EdgePointEngine(folder, settings.edge)
    from services.episodic.stores.qdrant_connection import QdrantConnection, create_qdrant_client

    return QdrantPointEngine(
        QdrantConnection(create_qdrant_client(server, settings.qdrant), settings.qdrant), settings.qdrant
    )


def _refuse_services(place: Place, names: Sequence[str]) -> None:
    if names:
        raise CopyError(
            f"{place.name}: services are running ({', '.join(names)}): stop them, since what they write meanwhile "
            "may be missed. A PgBouncer keeps their connections for some minutes more; --force goes on."
        )
