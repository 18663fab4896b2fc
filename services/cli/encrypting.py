"""What `mneme encryption` does to an installation: data keys wrapped anew, and rows from before encrypted."""

from __future__ import annotations

import contextlib
import os
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Final

import asyncpg

from services.agentic.stores.postgres import SCHEMA as AGENTIC
from services.agentic.stores.postgres_sealing import SEALED_TABLES as AGENTIC_TABLES
from services.common.datadir import DataDir
from services.common.encryption.existing import encrypt_existing
from services.common.encryption.hosted import hosted_key_management
from services.common.encryption.key_file import KeyFileError
from services.common.encryption.postgres import PostgresDataKeys, rewrap
from services.common.encryption.ring import DataKeyRing
from services.common.encryption.rows import SealedTable
from services.common.hosting import HostSettings
from services.common.postgres.pool import register_codecs, translate_errors
from services.common.postgres.server import EmbeddedPostgres
from services.common.postgres.types import Connection
from services.common.settings_file import SettingsSource
from services.common.shared_settings import create_key_ring
from services.episodic.activity.stores.postgres_sealing import SEALED_TABLES as ACTIVITY_TABLES
from services.episodic.stores.postgres import SCHEMA as EPISODIC
from services.episodic.stores.postgres_rows import EPISODES
from services.gateway.journal.stores.postgres import SCHEMA as GATEWAY
from services.gateway.journal.stores.rows import SEALED_TABLES
from services.semantic.stores.postgres import SCHEMA as SEMANTIC
from services.semantic.stores.postgres_sealing import SEALED_TABLES as SEMANTIC_TABLES

_TABLES: Final[dict[str, Sequence[SealedTable]]] = {
    GATEWAY: SEALED_TABLES,
    EPISODIC: [EPISODES, *ACTIVITY_TABLES],
    SEMANTIC: SEMANTIC_TABLES,
    AGENTIC: AGENTIC_TABLES,
}
"""What is encrypted, by schema; each schema holds data keys."""


async def rewrap_all(settings: HostSettings, data_dir: Path) -> dict[str, int]:
    """Wraps the data keys of all schemas by the key in use of the settings' driver; how many, by schema.

    Those of tiers in Neo4j are there, where the settings name one.

    Raises:
        KeyFileError, SettingsError: There is no usable file or driver.
        DecryptionError: A data key was wrapped by a key-encryption key that is not there.
        DataDirError, EmbeddedPostgresError: The data folder is in use or cannot be read.
        StoreUnavailable: PostgreSQL, Neo4j or the key management cannot be reached.
    """
    async with _ring(settings) as ring:
        async with (
            _database(settings.postgres_url, "MNEME_POSTGRES_URL", data_dir) as url,
            _connected(url) as connection,
        ):
            counts = {schema: await rewrap(connection, ring, schema) for schema, _ in await _present(connection)}
        if settings.neo4j_url:
            # Imported here: without Neo4j its driver is not loaded.
            from services.cli import encrypting_graph

            counts.update(await encrypting_graph.rewrap_all(settings, ring))
    return counts


async def encrypt_all(settings: HostSettings, data_dir: Path, admin_url: str) -> dict[str, int]:
    """Encrypts what is plain in all schemas, and in Neo4j; how many rows, by table.

    Args:
        settings: With the key file or Vault, and Neo4j where it is used.
        data_dir: Of the embedded PostgreSQL, where there is no `admin_url`.
        admin_url: PostgreSQL as a role that row-level security does not bind.

    Raises:
        KeyFileError, SettingsError: There is no usable file or driver.
        DataDirError, EmbeddedPostgresError: The data folder is in use or cannot be read.
        StoreUnavailable: PostgreSQL, Neo4j or the key management cannot be reached.
    """
    async with _ring(settings) as ring:
        counts = await _encrypt_tables(ring, data_dir, admin_url)
        if settings.neo4j_url:
            # Imported here: without Neo4j its driver is not loaded.
            from services.cli import encrypting_graph

            counts.update(await encrypting_graph.encrypt_all(settings, ring))
    return counts


async def _encrypt_tables(ring: DataKeyRing, data_dir: Path, admin_url: str) -> dict[str, int]:
    counts: dict[str, int] = {}
    async with (
        _database(admin_url, "MNEME_POSTGRES_ADMIN_URL", data_dir, is_admin=True) as url,
        _connected(url) as reader,
        _connected(url) as writer,
    ):
        for schema, tables in await _present(reader):
            found = await encrypt_existing(reader, writer, PostgresDataKeys(ring, schema), schema, tables)
            counts.update({f"{schema}.{table}": count for table, count in found.items()})
    return counts


async def _present(connection: Connection) -> list[tuple[str, Sequence[SealedTable]]]:
    """The schemas that are there: with Neo4j those of facts and notes are not."""
    found = await connection.fetch("SELECT schemaname FROM pg_tables WHERE tablename = 'data_keys'")
    known = {row["schemaname"] for row in found}
    return [(schema, tables) for schema, tables in _TABLES.items() if schema in known]


@contextlib.asynccontextmanager
async def _ring(settings: HostSettings) -> AsyncIterator[DataKeyRing]:
    source = SettingsSource.read(settings.config, os.environ)
    async with hosted_key_management(settings, source) as management:
        ring = create_key_ring(source, management)
        if ring is None:
            raise KeyFileError("name the file of key-encryption keys (--file), or set MNEME_ENCRYPTION_DRIVER=vault")
        yield ring


@contextlib.asynccontextmanager
async def _connected(url: str) -> AsyncIterator[Connection]:
    with translate_errors():
        connection = await asyncpg.connect(url, statement_cache_size=0)
        try:
            await register_codecs(connection, vectors=False)
            yield connection
        finally:
            await connection.close()


@contextlib.asynccontextmanager
async def _database(url: str, variable: str, data_dir: Path, *, is_admin: bool = False) -> AsyncIterator[str]:
    """PostgreSQL as the services' role or an administrator: the configured one, else the embedded one of the folder."""
    if url:
        yield url
        return
    if not DataDir.is_one(data_dir):
        raise KeyFileError(f"{data_dir} is no data folder of Mneme, and {variable} is not set")
    with DataDir(data_dir) as opened:
        async with EmbeddedPostgres(opened) as postgres:
            yield postgres.superuser_dsn if is_admin else postgres.app_dsn
