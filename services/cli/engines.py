"""The engines of a stack: embedded ones, or servers that the configuration names."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass

import structlog

from services.agentic.app import migrate_agentic
from services.common.datadir import DataDir
from services.common.hosting import HostSettings
from services.common.postgres.migrations import APP_ROLE
from services.common.postgres.server import EmbeddedPostgres
from services.common.settings_file import SettingsSource
from services.episodic.app import migrate_episodic
from services.gateway.app import migrate_gateway
from services.semantic.app import migrate_semantic

_log = structlog.get_logger(__name__)

_RESTART_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class Database:
    """The PostgreSQL of a stack."""

    url: str  # as the services connect
    direct_url: str = (
        ""  # past PgBouncer, for notices between gateways; empty if there is no such URL or no other gateway
    )
    superuser_url: str = ""  # for purges of its files; empty where it is not known


@contextlib.asynccontextmanager
async def open_database(settings: HostSettings, data_dir: DataDir) -> AsyncIterator[Database]:
    """Opens the configured PostgreSQL, else the embedded one, and migrates its schemas.

    A configured server is migrated if the URL of its owner is known.

    Raises:
        EmbeddedPostgresError: The embedded server does not start.
        MigrationError: The schemas cannot be brought up to date.
        OSError: The server cannot be reached.
    """
    if settings.postgres_url:
        if settings.postgres_owner_url:
            await migrate_schemas(
                settings.postgres_owner_url, app_role=settings.postgres_app_role, has_graph=bool(settings.neo4j_url)
            )
        yield Database(settings.postgres_url, settings.notice_url, settings.postgres_purge_url)
        return
    embedded = EmbeddedPostgres(data_dir)
    async with embedded, _kept_running(embedded):
        await migrate_schemas(
            embedded.owner_dsn, app_role=settings.postgres_app_role, has_graph=bool(settings.neo4j_url)
        )
        yield Database(embedded.app_dsn, superuser_url=embedded.superuser_dsn)


async def migrate_schemas(owner_url: str, *, has_graph: bool, app_role: str = APP_ROLE) -> None:
    """Migrates all schemas; those of the semantic and the agentic tier only if the tiers do not use Neo4j.

    Args:
        owner_url: PostgreSQL as the owner of the schemas.
        has_graph: Whether those two tiers use Neo4j.
        app_role: The role that is granted access.

    Raises:
        MigrationError: A migration failed.
        OSError: The server cannot be reached.
    """
    migrations = [migrate_gateway, migrate_episodic]
    if not has_graph:
        migrations += [migrate_semantic, migrate_agentic]
    await asyncio.gather(*(migrate(owner_url, app_role=app_role) for migrate in migrations))


async def migrate_graph_of(settings: HostSettings, source: SettingsSource) -> None:
    """Migrates the indexes and constraints of the configured Neo4j.

    Raises:
        MigrationError: A migration failed.
        MnemeError: The server cannot be reached, or is too old.
    """
    # Imported here: without Neo4j its driver is not loaded.
    from services.agentic.app import migrate_agentic_graph
    from services.common.neo4j.hosted import hosted_graph
    from services.semantic.app import migrate_semantic_graph

    async with hosted_graph(settings, source) as graph:
        await migrate_semantic_graph(graph)
        await migrate_agentic_graph(graph)


@contextlib.asynccontextmanager
async def _kept_running(postgres: EmbeddedPostgres) -> AsyncIterator[None]:
    """Restarts the database when it dies; its address does not change, and pools reconnect by themselves."""

    async def watch() -> None:
        while True:
            try:
                status = await postgres.wait_exited()
                _log.error("postgres_died", exit_status=status)
                await postgres.start()
            except Exception:  # the next attempt may succeed, and nothing else retries
                _log.exception("postgres_not_restarted")
                await asyncio.sleep(_RESTART_SECONDS)

    watcher = asyncio.create_task(watch())
    try:
        yield
    finally:
        watcher.cancel()
        await asyncio.gather(watcher, return_exceptions=True)
