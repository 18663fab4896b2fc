"""Notes with encryption: what lies in their tables, and what becomes of it without its key."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path

import asyncpg
import pytest

from services.agentic.portability import agentic_records, agentic_user_records
from services.agentic.store import NoteFilter, TurnKey
from services.agentic.stores.postgres import MIGRATIONS_FOLDER, SCHEMA, PostgresNoteStore
from services.agentic.stores.postgres_sealing import NOTES, PROCESSED
from services.common.encryption.envelope import SEALED_TEXT, DecryptionError
from services.common.encryption.existing import encrypt_existing
from services.common.encryption.postgres import PostgresDataKeys
from services.common.portability.records import UserRecords
from services.common.postgres.pool import create_pool, register_codecs
from services.common.postgres.server import EmbeddedPostgres
from services.common.postgres.types import Pool
from services.common.tier_embedder import TierEmbedder
from tests.contract.note_samples import ANN, NOW, add, note_id
from tests.support.embedding import HashingEmbedder
from tests.support.encryption import key_ring, occurrences
from tests.support.note_canaries import CANARY, canary, respond, write_canaries
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


async def test_spec_7_3_no_table_of_notes_holds_what_they_say(world: World) -> None:
    await write_canaries(world.plain())
    seen = await occurrences(world.urls.superuser, CANARY, schemas=[SCHEMA])
    assert {table.rstrip("_01234567") for table in seen} == {
        "agentic.notes",
        "agentic.processed_interactions",
        "agentic.idempotency_records",
    }
    await world.plain().write(ANN, lambda writer: writer.delete_all())
    connection = await asyncpg.connect(world.urls.superuser)
    await connection.execute("DELETE FROM agentic.idempotency_records")
    await connection.close()

    await write_canaries(world.store(), 2)
    assert await occurrences(world.urls.superuser, CANARY, schemas=[SCHEMA]) == {}


async def test_spec_7_3_a_replica_reads_what_another_one_encrypted(world: World) -> None:
    await write_canaries(world.store())
    replica = world.store()
    assert (await replica.get(ANN, note_id(1), links_max=0)).note == canary()
    for tag, expected in ((f"{CANARY} (tag)", [canary()]), ("pets", [canary()]), ("dogs", [])):
        assert await replica.list_notes(ANN, NoteFilter(tag=tag), after=None, limit=9) == expected
    questions = await replica.questions(ANN, [TurnKey("c1", 1)])
    assert [(found.text, found.speaker) for found in questions.values()] == [(f"{CANARY}?", f"{CANARY} (asks)")]
    assert (await replica.write(ANN, lambda writer: respond(writer, 1))).text == f"{CANARY} (response)"
    with pytest.raises(DecryptionError):
        await world.plain().get(ANN, note_id(1), links_max=0)


async def test_spec_7_3_notes_from_before_are_found_by_their_tags(world: World) -> None:
    await add(world.plain(), {0.0: canary(1)})
    later = replace(canary(2), create_time=NOW + timedelta(minutes=1))
    await add(world.store(), {10.0: later})
    assert await world.store().list_notes(ANN, NoteFilter(tag="pets"), after=None, limit=9) == [later, canary(1)]


async def test_spec_7_3_erasing_a_user_destroys_the_key_whatever_replicas_have_in_memory(world: World) -> None:
    first, second = world.store(), world.store()
    await add(first, {0.0: canary(1)})
    await add(second, {10.0: canary(2)})
    assert (await first.write(ANN, lambda writer: writer.delete_all())).data_keys == 1
    assert (await first.write(ANN, lambda writer: writer.delete_all())).data_keys == 0
    await add(second, {20.0: canary(3)})
    assert (await first.get(ANN, note_id(3), links_max=0)).note == canary(3)


async def test_spec_7_3_what_was_stored_before_is_encrypted_afterwards(world: World) -> None:
    await write_canaries(world.plain())
    reader, writer = await asyncpg.connect(world.urls.superuser), await asyncpg.connect(world.urls.superuser)
    try:
        for connection in (reader, writer):
            await register_codecs(connection, vectors=False)
        counts = await encrypt_existing(reader, writer, world.keys(), SCHEMA, [NOTES, PROCESSED])
    finally:
        await reader.close()
        await writer.close()
    assert counts == {"notes": 1, "processed_interactions": 1}
    seen = await occurrences(world.urls.superuser, CANARY, schemas=[SCHEMA])
    assert set(seen) == {"agentic.idempotency_records"}  # deleted by age
    assert (await world.store().get(ANN, note_id(1), links_max=0)).note == canary()


async def test_spec_7_3_an_export_is_plain_and_its_import_is_encrypted(world: World) -> None:
    await write_canaries(world.store())
    owner = (str(ANN.tenant_id), str(ANN.user_id))
    records = UserRecords(
        agentic_user_records(world.pool, world.keys()), agentic_records(TierEmbedder(HashingEmbedder()), captions_max=4)
    )
    page = await records.read(owner, "", limit=100, memories_only=False)
    assert sum(line.count(CANARY) for line in page.lines) == 10
    assert not any(SEALED_TEXT in line for line in page.lines)
