"""The semantic tier with encryption: what lies in its tables, and what becomes of it without its key."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from pathlib import Path

import asyncpg
import pytest

from services.common.encryption.envelope import SEALED_TEXT, DecryptionError
from services.common.encryption.existing import encrypt_existing
from services.common.encryption.postgres import NO_DATA_KEYS, DataKeys, PostgresDataKeys
from services.common.owners import UserId
from services.common.portability.records import UserRecords
from services.common.postgres.pool import create_pool, register_codecs
from services.common.postgres.server import EmbeddedPostgres
from services.common.postgres.types import Pool
from services.common.tier_embedder import TierEmbedder
from services.semantic.code.config import CodeLimits
from services.semantic.code.stores.postgres import PostgresCodeStore
from services.semantic.facts.store import FactPosition
from services.semantic.facts.stores.postgres import PostgresFactStore
from services.semantic.portability import semantic_records, semantic_user_records
from services.semantic.procedures.stores.postgres import PostgresProcedureStore
from services.semantic.profile.model import Preferences
from services.semantic.profile.stores.postgres import PostgresProfileStore
from services.semantic.stores.postgres import MIGRATIONS_FOLDER, SCHEMA
from services.semantic.stores.postgres_keys import PostgresContentKeys
from services.semantic.stores.postgres_sealing import SEALED_TABLES
from services.semantic.supersession.stores.postgres import PostgresSupersessionStore
from tests.contract import supersession_store
from tests.contract.fact_samples import ANN, enter, lives_in, said
from tests.support.embedding import HashingEmbedder
from tests.support.encryption import key_ring, occurrences
from tests.support.maintenance import MAINTENANCE
from tests.support.postgres import DatabaseUrls, fresh_postgres
from tests.support.semantic_canaries import CANARY, EVERYTHING, TABLES, assertion, write_canaries, write_fact


@dataclass(frozen=True)
class Stores:
    """A replica with a cache of its own."""

    pool: Pool
    keys: DataKeys

    @property
    def facts(self) -> PostgresFactStore:
        return PostgresFactStore(self.pool, keys=self.keys)

    @property
    def supersessions(self) -> PostgresSupersessionStore:
        return PostgresSupersessionStore(self.pool, keys=self.keys)

    @property
    def procedures(self) -> PostgresProcedureStore:
        return PostgresProcedureStore(self.pool, keys=self.keys)

    @property
    def profiles(self) -> PostgresProfileStore:
        return PostgresProfileStore(self.pool, keys=self.keys)

    @property
    def code(self) -> PostgresCodeStore:
        return PostgresCodeStore(self.pool, keys=self.keys)

    @property
    def content_keys(self) -> PostgresContentKeys:
        return PostgresContentKeys(self.pool, self.keys)


@dataclass(frozen=True)
class World:
    urls: DatabaseUrls
    pool: Pool
    folder: Path

    def keys(self) -> PostgresDataKeys:
        return PostgresDataKeys(key_ring(self.folder), SCHEMA)

    def encrypted(self) -> Stores:
        return Stores(self.pool, self.keys())

    def plain(self) -> Stores:
        return Stores(self.pool, NO_DATA_KEYS)

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


async def test_spec_7_3_no_table_of_the_semantic_tier_holds_what_was_said(world: World) -> None:
    await write_canaries(world.encrypted())
    assert await world.seen() == set()
    await world.encrypted().content_keys.destroy(ANN)
    await write_canaries(world.plain())
    assert await world.seen() == TABLES  # each of them is a place where it would have been


async def test_spec_7_3_a_replica_reads_what_another_one_encrypted(world: World) -> None:
    fact_id = await write_canaries(world.encrypted())
    replica = world.encrypted()
    fact = await replica.facts.get(ANN, fact_id)
    assert (fact.text, fact.subject, fact.object) == (f"{CANARY} (text)", f"{CANARY} (subject)", CANARY)
    assert [version.text for version in fact.versions] == [f"{CANARY} (version)"]
    marks = await replica.supersessions.marks(ANN, cached_revision=None, limit=9)
    assert marks.superseded is not None
    assert {one.statement for one in marks.superseded} <= {f"{CANARY} 1", f"{CANARY} 2"}
    (procedure,) = await replica.procedures.list_page(ANN, kind=None, after=None, limit=9)
    assert procedure.draft.trigger == CANARY
    profile = await replica.profiles.get(ANN)
    assert profile.preferences.language == CANARY
    assert profile.statistics.topics == ((CANARY, 1),)
    with pytest.raises(DecryptionError):
        await world.plain().facts.get(ANN, fact_id)


async def test_spec_7_3_facts_are_listed_by_encrypted_names_in_any_case_and_by_pages(world: World) -> None:
    stores = world.encrypted()
    drafts = [replace(lives_in(f"Town {n}"), subject="Ann" if n % 2 else "Bo") for n in range(6)]
    await enter(stores.facts, ANN, [said(draft, day=n) for n, draft in enumerate(drafts)])
    which = replace(EVERYTHING, subject="aNN", predicate="LIVES_IN")
    first = await stores.facts.list_facts(ANN, which=which, after=None, limit=2)
    after = FactPosition(first[-1].last_confirmed_time, first[-1].fact_id)
    rest = await stores.facts.list_facts(ANN, which=which, after=after, limit=2)
    assert [fact.object for fact in (*first, *rest)] == ["Town 5", "Town 3", "Town 1"]


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


async def test_spec_7_3_the_end_of_a_removal_destroys_the_key_and_what_was_stored_meanwhile(world: World) -> None:
    first, second = world.encrypted(), world.encrypted()
    await write_canaries(first)
    assert await first.content_keys.users(ANN.tenant_id, after=UserId(""), limit=9) == [ANN.user_id]
    assert await first.content_keys.destroy(ANN) == 1
    assert await first.content_keys.destroy(ANN) == 0
    assert await first.facts.list_facts(ANN, which=EVERYTHING, after=None, limit=9) == []
    assert (await first.profiles.get(ANN)).preferences == Preferences()
    fact_id = await write_fact(second)
    assert (await first.facts.get(ANN, fact_id)).text == f"{CANARY} (text)"


async def test_spec_7_3_writers_and_a_destruction_of_the_key_leave_nothing_that_cannot_be_read(world: World) -> None:
    async def write() -> None:
        stores = world.encrypted()
        for _ in range(3):
            await enter(stores.facts, ANN, [said(lives_in(CANARY))])
            await stores.supersessions.add(ANN, [assertion(3)], supersession_store.decide, candidates_max=9)

    async def destroy() -> None:
        for _ in range(6):
            await world.encrypted().content_keys.destroy(ANN)

    await asyncio.gather(write(), write(), destroy())
    stores = world.encrypted()
    facts = await stores.facts.list_facts(ANN, which=EVERYTHING, after=None, limit=99)
    assert {fact.object for fact in facts} <= {CANARY}
    await stores.supersessions.marks(ANN, cached_revision=None, limit=99)


async def test_spec_7_3_an_export_is_plain_and_its_import_is_encrypted(world: World) -> None:
    await write_canaries(world.encrypted())
    records = UserRecords(
        semantic_user_records(world.pool, world.keys()), semantic_records(TierEmbedder(HashingEmbedder()), CodeLimits())
    )
    page = await records.read((str(ANN.tenant_id), str(ANN.user_id)), "", limit=100, memories_only=False)
    assert sum(line.count(CANARY) for line in page.lines) > 10
    assert not any(SEALED_TEXT in line for line in page.lines)
