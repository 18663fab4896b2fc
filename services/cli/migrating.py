"""Migrations of PostgreSQL and Neo4j for `mneme migrate`: listed, or applied."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

import asyncpg

from services.agentic.stores.postgres import MIGRATIONS_FOLDER as AGENTIC_FOLDER
from services.agentic.stores.postgres import SCHEMA as AGENTIC
from services.common.maintenance.postgres import MIGRATIONS_FOLDER as MAINTENANCE_FOLDER
from services.common.maintenance.postgres import SCHEMA as MAINTENANCE
from services.common.postgres import migrations
from services.common.postgres.migrations import MigrationError, load_migrations
from services.common.postgres.roles import RoleNames, is_without_rights, obstacles
from services.common.postgres.types import Connection
from services.episodic.stores.postgres import MIGRATIONS_FOLDER as EPISODIC_FOLDER
from services.episodic.stores.postgres import SCHEMA as EPISODIC
from services.gateway.journal.stores.postgres import MIGRATIONS as GATEWAY_FOLDER
from services.gateway.journal.stores.postgres import SCHEMA as GATEWAY
from services.semantic.stores.postgres import MIGRATIONS_FOLDER as SEMANTIC_FOLDER
from services.semantic.stores.postgres import SCHEMA as SEMANTIC

if TYPE_CHECKING:  # loaded where a Neo4j is configured
    from services.common.hosting import HostSettings
    from services.common.neo4j.graph import Graph

_ALWAYS: Final = {GATEWAY: GATEWAY_FOLDER, EPISODIC: EPISODIC_FOLDER, MAINTENANCE: MAINTENANCE_FOLDER}
_WITHOUT_GRAPH: Final = {SEMANTIC: SEMANTIC_FOLDER, AGENTIC: AGENTIC_FOLDER}
_CONNECT_SECONDS: Final = 10.0


class MigrateError(Exception):
    """Migrations cannot be run as things are; the message says what to do."""


@dataclass(frozen=True, slots=True)
class Step:
    """One migration that is outstanding, or was applied."""

    engine: str  # PostgreSQL or Neo4j
    part: str  # the schema, or the component of the graph
    version: int
    name: str


def role_names(owner_url: str, app_role: str) -> RoleNames:
    """The names of database and roles, from the owner's URL where it has them."""
    usual = RoleNames(app=app_role)
    parts = urlsplit(owner_url)
    return RoleNames(
        database=parts.path.strip("/") or usual.database, owner=parts.username or usual.owner, app=app_role
    )


async def outstanding(settings: HostSettings, *, app_role: str) -> list[Step]:
    """Lists the migrations that are not applied yet. Changes nothing.

    Raises:
        MigrateError: The database cannot be reached, or cannot be migrated as it is.
        MigrationError: A schema is newer than this program, or an applied file was changed.
        MnemeError: The graph cannot be reached.
    """
    found = []
    async with _owner(settings) as connection:
        await _check(connection, settings, app_role)
        for schema, folder in _schemas(settings).items():
            steps = await migrations.outstanding(connection, schema=schema, folder=folder)
            found += [Step("PostgreSQL", schema, step.version, step.name) for step in steps]
    if settings.neo4j_url:
        async with _graph(settings) as graph:
            from services.common.neo4j.migrations import outstanding_graph

            for component, folder in _components().items():
                parts = await outstanding_graph(graph, component=component, folder=folder)
                found += [Step("Neo4j", component, part.version, part.name) for part in parts]
    return found


async def bring_up_to_date(settings: HostSettings, *, app_role: str) -> list[Step]:
    """Applies outstanding migrations and returns those that this process applied. Safe to run concurrently.

    Raises:
        MigrateError: The database cannot be reached, or cannot be migrated as it is.
        MigrationError: A migration failed, or is not this program's.
        MnemeError: The graph cannot be reached.
    """
    applied = []
    async with _owner(settings) as connection:
        await _check(connection, settings, app_role)
        for schema, folder in _schemas(settings).items():
            versions = await migrations.migrate(connection, schema=schema, folder=folder, app_role=app_role)
            names = {step.version: step.name for step in load_migrations(folder)}
            applied += [Step("PostgreSQL", schema, version, names[version]) for version in versions]
    if settings.neo4j_url:
        async with _graph(settings) as graph:
            from services.common.neo4j import migrations as graph_migrations

            for component, folder in _components().items():
                versions = await graph_migrations.migrate_graph(graph, component=component, folder=folder)
                names = {step.version: step.name for step in graph_migrations.load_migrations(folder)}
                applied += [Step("Neo4j", component, version, names[version]) for version in versions]
    return applied


def _schemas(settings: HostSettings) -> dict[str, Path]:
    """The schemas in PostgreSQL. With Neo4j there are none of facts and notes, and pgvector may be missing."""
    return _ALWAYS if settings.neo4j_url else {**_ALWAYS, **_WITHOUT_GRAPH}


def _components() -> dict[str, Path]:
    from services.agentic.stores import neo4j as agentic
    from services.common.maintenance import neo4j as maintenance
    from services.semantic.stores import neo4j as semantic

    return {
        semantic.COMPONENT: semantic.MIGRATIONS_FOLDER,
        agentic.COMPONENT: agentic.GRAPH_MIGRATIONS_FOLDER,
        maintenance.COMPONENT: maintenance.GRAPH_MIGRATIONS_FOLDER,
    }


async def _check(connection: Connection, settings: HostSettings, app_role: str) -> None:
    problems = await obstacles(connection, app_role=app_role, needs_vectors=not settings.neo4j_url)
    if not problems:
        problems = [
            f"schema {schema} was made for another role than {app_role}: name that one with --app-role"
            for schema in _schemas(settings)
            if await is_without_rights(connection, app_role=app_role, schema=schema)
        ]
    if problems:
        raise MigrateError("\n".join(problems))


@contextlib.asynccontextmanager
async def _owner(settings: HostSettings) -> AsyncIterator[Connection]:
    url = settings.postgres_owner_url
    if not url:
        raise MigrateError(
            "MNEME_POSTGRES_OWNER_URL is not set: it names PostgreSQL as the owner of the schemas. "
            "With the embedded database there is nothing to do, `mneme up` does it."
        )
    try:
        # No prepared statements are cached, so that the URL may lead through PgBouncer.
        connection = await asyncpg.connect(url, timeout=_CONNECT_SECONDS, statement_cache_size=0)
    except (OSError, TimeoutError, ValueError, asyncpg.PostgresError, asyncpg.InterfaceError) as error:
        # Not the URL: there is a password in it.
        reason = str(error) or type(error).__name__
        raise MigrateError(f"PostgreSQL cannot be reached by MNEME_POSTGRES_OWNER_URL: {reason}") from error
    try:
        yield connection
    except asyncpg.InsufficientPrivilegeError as error:
        raise MigrateError(f"the role of MNEME_POSTGRES_OWNER_URL is not the owner of the schemas: {error}") from error
    except (asyncpg.PostgresError, asyncpg.InterfaceError) as error:
        raise MigrateError(f"PostgreSQL: {error}") from error
    finally:
        await connection.close()


@contextlib.asynccontextmanager
async def _graph(settings: HostSettings) -> AsyncIterator[Graph]:
    from services.common.neo4j.hosted import hosted_graph
    from services.common.neo4j.migrations import MigrationError as GraphMigrationError

    try:
        async with hosted_graph(settings) as graph:
            yield graph
    except GraphMigrationError as error:
        raise MigrationError(str(error)) from error
