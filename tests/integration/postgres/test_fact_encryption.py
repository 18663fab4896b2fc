"""The semantic tier with encryption: what lies in its tables, and what becomes of it without its key."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import asyncpg
import pytest

from services.common.encryption.envelope import SEALED_TEXT
from services.common.encryption.existing import encrypt_existing
from services.common.encryption.postgres import NO_DATA_KEYS, PostgresDataKeys
from services.common.portability.records import UserRecords
from services.common.postgres.pool import create_pool, register_codecs
from services.common.postgres.server import EmbeddedPostgres
from services.common.postgres.types import Pool
from services.common.tier_embedder import TierEmbedder
from services.semantic.code.config import CodeLimits
from services.semantic.portability import semantic_records, semantic_user_records
from services.semantic.stores.postgres import MIGRATIONS_FOLDER, SCHEMA
from services.semantic.stores.postgres_sealing import SEALED_TABLES
from tests.contract.fact_samples import ANN
from tests.contract.semantic_encryption import SemanticEncryptionContract
from tests.support.embedding import HashingEmbedder
from tests.support.encryption import key_ring, occurrences
from tests.support.maintenance import MAINTENANCE
from tests.support.postgres import DatabaseUrls, fresh_postgres
from tests.support.semantic_canaries import CANARY, TABLES, Stores, write_canaries
from tests.support.semantic_stores import table_stores


@dataclass(frozen=True)
class World:
    urls: DatabaseUrls
    pool: Pool
    folder: Path

    def keys(self) -> PostgresDataKeys:
        return PostgresDataKeys(key_ring(self.folder), SCHEMA)

    def encrypted(self) -> Stores:
        return table_stores(self.pool, self.keys())

    def plain(self) -> Stores:
        return table_stores(self.pool, NO_DATA_KEYS)

    async def seen(self) -> set[str]:
        """Tables that hold the canary; partitions by the name of the whole."""
        found = await occurrences(self.urls.superuser, CANARY, schemas=[SCHEMA])
        return {table.removeprefix("semantic.").rstrip("_01234567") for table in found}

    async def execute(self, statement: str) -> None:
        connection = await asyncpg.connect(self.urls.superuser)
        try:
            await connection.execute(statement)
        finally:
            await connection.close()


@pytest.fixture
async def world(postgres_server: EmbeddedPostgres, tmp_path: Path) -> AsyncIterator[World]:
    async with fresh_postgres(postgres_server, migrations=[(SCHEMA, MIGRATIONS_FOLDER), MAINTENANCE]) as urls:
        pool = await create_pool(urls.app)
        yield World(urls, pool, tmp_path)
        await pool.close()


class TestPostgresSemanticEncryption(SemanticEncryptionContract):
    """With the fixture of this module."""


async def test_spec_7_3_no_table_of_the_semantic_tier_holds_what_was_said(world: World) -> None:
    await write_canaries(world.encrypted())
    assert await world.seen() == set()
    await world.encrypted().content_keys.destroy(ANN)
    await write_canaries(world.plain())
    assert await world.seen() == TABLES  # each of them is a place where it would have been


async def test_spec_7_3_what_was_stored_before_is_encrypted_afterwards(world: World) -> None:
    fact_id = await write_canaries(world.plain())
    reader, writer = await asyncpg.connect(world.urls.superuser), await asyncpg.connect(world.urls.superuser)
    try:
        for connection in (reader, writer):
            await register_codecs(connection, vectors=False)
        counts = await encrypt_existing(reader, writer, world.keys(), SCHEMA, SEALED_TABLES)
        again = await encrypt_existing(reader, writer, world.keys(), SCHEMA, SEALED_TABLES)
    finally:
        await reader.close()
        await writer.close()
    assert {table for table, count in counts.items() if count} == TABLES - {"idempotency_records"}
    assert not any(again.values())
    assert await world.seen() == {"idempotency_records"}  # deleted by age
    fact = await world.encrypted().facts.get(ANN, fact_id)
    assert fact.text == f"{CANARY} (text)"
    assert (await world.encrypted().profiles.get(ANN)).statistics.topics == ((CANARY, 1),)


async def test_spec_7_3_an_export_is_plain_and_its_import_is_encrypted(world: World) -> None:
    await write_canaries(world.encrypted())
    records = UserRecords(
        semantic_user_records(world.pool, world.keys()), semantic_records(TierEmbedder(HashingEmbedder()), CodeLimits())
    )
    page = await records.read((str(ANN.tenant_id), str(ANN.user_id)), "", limit=100, memories_only=False)
    assert sum(line.count(CANARY) for line in page.lines) > 10
    assert not any(SEALED_TEXT in line for line in page.lines)
