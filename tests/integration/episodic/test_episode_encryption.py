"""Episodes with encryption: what lies in their tables, and what becomes of it without its key."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import asyncpg
import pytest

from services.common.encryption.envelope import SEALED_TEXT, DecryptionError
from services.common.encryption.existing import encrypt_existing
from services.common.encryption.key_file import add_key
from services.common.encryption.postgres import PostgresDataKeys, rewrap
from services.common.portability.records import UserRecords
from services.common.postgres.pool import create_pool, register_codecs
from services.common.postgres.server import EmbeddedPostgres
from services.common.postgres.types import Pool
from services.common.turns import Attachment
from services.episodic.model import NewEpisode
from services.episodic.portability import episodic_records, episodic_user_records
from services.episodic.removal_store import EpisodeSelection
from services.episodic.store import Assessment
from services.episodic.stores.postgres import MIGRATIONS_FOLDER, SCHEMA, PostgresEpisodeStore
from services.episodic.stores.postgres_rows import EPISODES
from tests.contract.episode_background import NOW, activate, insert
from tests.contract.episode_samples import GLOBAL, OWNER, SAME_NAME_ELSEWHERE, TENANT, episode_id, new_episode, write
from tests.support.clock import FakeClock
from tests.support.encryption import key_ring, occurrences
from tests.support.postgres import DatabaseUrls, fresh_postgres

CANARY = "Miso the cat prefers sardines"
OWNED = (str(OWNER.tenant_id), str(OWNER.user_id))
EVERYTHING = EpisodeSelection()


@dataclass(frozen=True)
class World:
    urls: DatabaseUrls
    pool: Pool
    folder: Path

    def keys(self) -> PostgresDataKeys:
        return PostgresDataKeys(key_ring(self.folder), SCHEMA)

    def store(self) -> PostgresEpisodeStore:
        """A replica with a cache of its own."""
        return PostgresEpisodeStore(self.pool, model="m", keys=self.keys())

    def plain(self) -> PostgresEpisodeStore:
        return PostgresEpisodeStore(self.pool, model="m")

    async def key_count(self) -> int:
        connection = await asyncpg.connect(self.urls.superuser)
        try:
            return int(await connection.fetchval("SELECT count(*) FROM episodic.data_keys"))
        finally:
            await connection.close()


@pytest.fixture
async def world(postgres_server: EmbeddedPostgres, tmp_path: Path) -> AsyncIterator[World]:
    async with fresh_postgres(postgres_server, migrations=[(SCHEMA, MIGRATIONS_FOLDER)]) as urls:
        pool = await create_pool(urls.app)
        yield World(urls, pool, tmp_path)
        await pool.close()


def canary(number: int = 1) -> NewEpisode:
    return new_episode(
        number,
        speaker=f"{CANARY} (speaker)",
        query=f"{CANARY} (query)",
        response=f"{CANARY} (response)",
        attachments=(Attachment(f"s3://{CANARY}", "image/png", f"{CANARY} (caption)"),),
        sources=(f"{CANARY} (source)",),
        metadata={"k": f"{CANARY} (metadata)"},
    )


async def write_canary(store: PostgresEpisodeStore) -> None:
    await insert(store, canary())
    async with store.claim_pending(limit=10, now=NOW) as batch:
        assert [CANARY in episode.text for episode in batch.episodes] == [True]
        found = [Assessment(importance=0.5, summary=f"{CANARY} (summary)")]
        await batch.mark_active(batch.episodes, [1], assessments=found)


async def test_spec_7_3_no_table_of_episodes_holds_what_was_said(world: World) -> None:
    await write_canary(world.plain())
    seen = await occurrences(world.urls.superuser, CANARY, schemas=[SCHEMA])
    assert {table.rstrip("_01234567") for table in seen} == {"episodic.episodes"}
    await world.plain().delete(OWNER, EVERYTHING, key=write("a"), now=NOW)

    await insert(world.store(), canary(2))
    async with world.store().claim_pending(limit=10, now=NOW) as batch:
        found = [Assessment(importance=0.5, summary=f"{CANARY} (summary)")]
        await batch.mark_active(batch.episodes, [1], assessments=found)
    assert await occurrences(world.urls.superuser, CANARY, schemas=[SCHEMA]) == {}


async def test_spec_7_3_a_replica_reads_what_another_one_encrypted(world: World) -> None:
    await write_canary(world.store())
    replica = world.store()
    stored = (await replica.get(OWNER, [episode_id(1)]))[episode_id(1)]
    assert (stored.content, stored.summary) == (
        canary() if stored.content.importance is None else stored.content,
        f"{CANARY} (summary)",
    )
    assert (stored.content.query, stored.content.attachments) == (canary().query, canary().attachments)
    columns = await replica.columns_at(OWNER, [canary().key], scope_keys=GLOBAL)
    assert columns.speakers == [canary().speaker]
    assert (await replica.changes(OWNER, since=0, limit=10)).columns.speakers == [canary().speaker]


async def test_spec_7_3_words_find_episodes_that_the_database_cannot_read(world: World) -> None:
    store = world.store()
    await insert(world.plain(), new_episode(1, query="We adopted a puppy."), new_episode(2, query="The school called."))
    await insert(store, new_episode(3, query="The puppy is at puppy school."), new_episode(4, query="Rain again."))
    await activate(store)
    columns, scores = await store.matching_columns(OWNER, "puppies & schools | (", scope_keys=GLOBAL, limit=10)
    assert columns.positions[0] == 3
    assert set(columns.positions[1:3]) == {1, 2}
    assert [score > 0 for score in scores] == [True, True, True, False]
    newest, _ = await store.matching_columns(OWNER, "", scope_keys=GLOBAL, limit=2)
    assert newest.positions == [4, 3]


async def test_spec_7_3_what_was_said_before_stays_readable_and_without_the_key_nothing_else(world: World) -> None:
    await insert(world.plain(), new_episode(1))
    await insert(world.store(), new_episode(2))
    found = await world.store().get(OWNER, [episode_id(1), episode_id(2)])
    assert [found[episode_id(n)].content.query for n in (1, 2)] == [new_episode(n).query for n in (1, 2)]
    assert (await world.plain().get(OWNER, [episode_id(1)]))[episode_id(1)].content.query == new_episode(1).query
    with pytest.raises(DecryptionError):
        await world.plain().get(OWNER, [episode_id(2)])


async def test_spec_7_3_erasing_a_user_destroys_the_key_whatever_replicas_have_in_memory(world: World) -> None:
    first, second = world.store(), world.store()
    await insert(first, new_episode(1))
    await insert(second, new_episode(2))
    await insert(first, new_episode(1, owner=SAME_NAME_ELSEWHERE))
    assert await world.key_count() == 2
    some = await first.delete(OWNER, EpisodeSelection(episode_ids=(episode_id(1),)), key=write("a"), now=NOW)
    assert (some.episodes, some.data_keys) == (1, 0)
    whole = await first.delete(OWNER, EVERYTHING, key=write("b"), now=NOW)
    assert (whole.episodes, whole.data_keys) == (1, 1)
    assert await first.delete(OWNER, EVERYTHING, key=write("b"), now=NOW) == whole  # a repeat
    assert await world.key_count() == 1

    await insert(second, new_episode(3, query="said later"))
    assert (await first.get(OWNER, [episode_id(3)]))[episode_id(3)].content.query == "said later"
    tenant = await first.delete_tenant(TENANT, key=write("c"), now=NOW)
    assert (tenant.episodes, tenant.data_keys) == (1, 1)
    assert await world.key_count() == 1  # the other tenant's


async def test_spec_7_3_rotation_leaves_episodes_readable(world: World) -> None:
    await insert(world.store(), new_episode(1))
    add_key(world.folder / "encryption-keys")
    connection = await asyncpg.connect(world.urls.app)
    try:
        assert await rewrap(connection, key_ring(world.folder), SCHEMA) == 1
    finally:
        await connection.close()
    assert len(await world.store().get(OWNER, [episode_id(1)])) == 1


async def test_spec_7_3_an_export_is_plain_and_its_import_is_encrypted(world: World) -> None:
    await write_canary(world.store())
    records = UserRecords(episodic_user_records(world.pool, world.keys()), episodic_records(FakeClock()))
    page = await records.read(OWNED, "", limit=100, memories_only=False)
    assert sum(line.count(CANARY) for line in page.lines) == 8
    assert not any(SEALED_TEXT in line for line in page.lines)
    await world.store().delete(OWNER, EVERYTHING, key=write("a"), now=NOW)

    await records.write(OWNED, page.lines, validate_only=False)
    assert await occurrences(world.urls.superuser, CANARY, schemas=[SCHEMA]) == {}
    assert list((await records.read(OWNED, "", limit=100, memories_only=False)).lines) == list(page.lines)


async def test_spec_7_3_what_was_stored_before_is_encrypted_afterwards(world: World) -> None:
    await write_canary(world.plain())
    await insert(world.plain(), new_episode(2))
    await insert(world.plain(), new_episode(2, owner=SAME_NAME_ELSEWHERE))
    reader, writer = await asyncpg.connect(world.urls.superuser), await asyncpg.connect(world.urls.superuser)
    try:
        for connection in (reader, writer):
            await register_codecs(connection, vectors=False)
        assert await encrypt_existing(reader, writer, world.keys(), SCHEMA, [EPISODES]) == {"episodes": 3}
        assert await encrypt_existing(reader, writer, world.keys(), SCHEMA, [EPISODES]) == {"episodes": 0}
    finally:
        await reader.close()
        await writer.close()
    assert await occurrences(world.urls.superuser, CANARY, schemas=[SCHEMA]) == {}
    found = await world.store().get(OWNER, [episode_id(1), episode_id(2)])
    assert [found[episode_id(n)].content.query for n in (1, 2)] == [canary().query, new_episode(2).query]
    assert found[episode_id(1)].summary == f"{CANARY} (summary)"
