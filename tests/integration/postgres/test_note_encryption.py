"""Notes with encryption: what lies in their tables, and what becomes of it without its key."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import asyncpg
import pytest

from services.agentic.portability import agentic_records, agentic_user_records
from services.agentic.stores.postgres import MIGRATIONS_FOLDER, SCHEMA, PostgresNoteStore
from services.agentic.stores.postgres_sealing import SEALED_TABLES
from services.common.encryption.envelope import SEALED_TEXT
from services.common.encryption.existing import encrypt_existing
from services.common.encryption.postgres import PostgresDataKeys
from services.common.portability.records import UserRecords
from services.common.postgres.pool import create_pool, register_codecs
from services.common.postgres.server import EmbeddedPostgres
from services.common.postgres.types import Pool
from services.common.tier_embedder import TierEmbedder
from tests.contract.note_encryption import NoteEncryptionContract
from tests.contract.note_samples import ANN, note_id
from tests.support.embedding import HashingEmbedder
from tests.support.encryption import key_ring, occurrences
from tests.support.note_canaries import CANARY, FORMER, canary, former_content, write_canaries
from tests.support.postgres import DatabaseUrls, fresh_postgres


@dataclass(frozen=True)
class World:
    urls: DatabaseUrls
    pool: Pool
    folder: Path

    def keys(self) -> PostgresDataKeys:
        return PostgresDataKeys(key_ring(self.folder), SCHEMA)

    def store(self) -> PostgresNoteStore:
        """A replica with a cache of its own."""
        return PostgresNoteStore(self.pool, keys=self.keys())

    def plain(self) -> PostgresNoteStore:
        return PostgresNoteStore(self.pool)


@pytest.fixture
async def world(postgres_server: EmbeddedPostgres, tmp_path: Path) -> AsyncIterator[World]:
    async with fresh_postgres(postgres_server, migrations=[(SCHEMA, MIGRATIONS_FOLDER)]) as urls:
        pool = await create_pool(urls.app)
        yield World(urls, pool, tmp_path)
        await pool.close()


class TestPostgresNoteEncryption(NoteEncryptionContract):
    """With the fixture of this module."""


async def test_spec_7_3_no_table_of_notes_holds_what_they_say(world: World) -> None:
    await write_canaries(world.plain())
    seen = await occurrences(world.urls.superuser, CANARY, schemas=[SCHEMA])
    assert {table.rstrip("_01234567") for table in seen} == {
        "agentic.notes",
        "agentic.note_versions",
        "agentic.processed_interactions",
        "agentic.idempotency_records",
    }
    await world.plain().write(ANN, lambda writer: writer.delete_all())
    connection = await asyncpg.connect(world.urls.superuser)
    await connection.execute("DELETE FROM agentic.idempotency_records")
    await connection.close()

    await write_canaries(world.store(), 2)
    assert await occurrences(world.urls.superuser, CANARY, schemas=[SCHEMA]) == {}


async def test_spec_7_3_what_was_stored_before_is_encrypted_afterwards(world: World) -> None:
    await write_canaries(world.plain())
    reader, writer = await asyncpg.connect(world.urls.superuser), await asyncpg.connect(world.urls.superuser)
    try:
        for connection in (reader, writer):
            await register_codecs(connection, vectors=False)
        counts = await encrypt_existing(reader, writer, world.keys(), SCHEMA, SEALED_TABLES)
    finally:
        await reader.close()
        await writer.close()
    assert counts == {"notes": 1, "note_versions": 1, "processed_interactions": 1}
    seen = await occurrences(world.urls.superuser, CANARY, schemas=[SCHEMA])
    assert set(seen) == {"agentic.idempotency_records"}  # deleted by age
    assert await former_content(world.store()) == FORMER
    assert (await world.store().get(ANN, note_id(1), links_max=0)).note == canary()


async def test_spec_7_3_an_export_is_plain_and_its_import_is_encrypted(world: World) -> None:
    await write_canaries(world.store())
    owner = (str(ANN.tenant_id), str(ANN.user_id))
    records = UserRecords(
        agentic_user_records(world.pool, world.keys()), agentic_records(TierEmbedder(HashingEmbedder()), captions_max=4)
    )
    page = await records.read(owner, "", limit=100, memories_only=False)
    assert sum(line.count(CANARY) for line in page.lines) == 16
    assert not any(SEALED_TEXT in line for line in page.lines)
    assert await former_content(world.store()) == FORMER
