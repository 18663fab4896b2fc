"""The journal with encryption: what lies in its tables, and what becomes of it without its key."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import asyncpg
import pytest

from services.common.encryption.envelope import SEALED_TEXT, DecryptionError
from services.common.encryption.existing import encrypt_existing
from services.common.encryption.key_file import add_key, read_key_file
from services.common.encryption.postgres import PostgresDataKeys, rewrap
from services.common.ids import Uuid7Ids
from services.common.portability.records import UserRecords
from services.common.postgres.pool import create_pool, register_codecs
from services.common.postgres.server import EmbeddedPostgres
from services.common.postgres.types import Connection, Pool
from services.common.turns import Attachment, MessageRole, Turn
from services.gateway.journal.model import ITEM_KEY, RecallRecord, RememberCommand, SessionEvent, Tier
from services.gateway.journal.stores.postgres import MIGRATIONS, SCHEMA, PostgresJournal
from services.gateway.journal.stores.rows import SEALED_TABLES
from services.gateway.portability.stores.postgres import journal_records, journal_user_records
from tests.contract.journal import ACME, NOON, append, command, take
from tests.contract.journal_removal import RECALL, contents
from tests.support.clock import FakeClock
from tests.support.encryption import key_ring, occurrences
from tests.support.postgres import DatabaseUrls, fresh_postgres

CANARY = "Miso the cat prefers sardines"
EVENT = "0190a1b2-0000-7000-8000-0000000000bb"
SAID = Turn(
    role=MessageRole.USER,
    content=f"{CANARY} (content)",
    time=NOON,
    speaker=f"{CANARY} (speaker)",
    attachments=(Attachment(f"s3://{CANARY}", "image/png", f"{CANARY} (caption)"),),
    sources=(f"{CANARY} (source)",),
    metadata={"k": f"{CANARY} (metadata)", ITEM_KEY: "item1"},
)


@dataclass(frozen=True)
class World:
    urls: DatabaseUrls
    pool: Pool
    clock: FakeClock
    folder: Path

    def keys(self) -> PostgresDataKeys:
        return PostgresDataKeys(key_ring(self.folder), SCHEMA)

    def journal(self) -> PostgresJournal:
        """A replica with a cache of its own."""
        return PostgresJournal(self.pool, clock=self.clock, ids=Uuid7Ids(self.clock), keys=self.keys())

    def plain(self) -> PostgresJournal:
        return PostgresJournal(self.pool, clock=self.clock, ids=Uuid7Ids(self.clock))

    async def execute(self, statement: str, *arguments: object) -> None:
        connection = await asyncpg.connect(self.urls.superuser)
        try:
            await connection.execute(statement, *arguments)
        finally:
            await connection.close()


@pytest.fixture
async def world(postgres_server: EmbeddedPostgres, tmp_path: Path) -> AsyncIterator[World]:
    async with fresh_postgres(postgres_server, migrations=[(SCHEMA, MIGRATIONS)]) as urls:
        pool = await create_pool(urls.app)
        yield World(urls, pool, FakeClock(), tmp_path)
        await pool.close()


async def write_canaries(world: World, journal: PostgresJournal) -> None:
    remember = RememberCommand("u1", "c1", (SAID,), request_id="r1", digest=b"1")
    await append(journal, remember)
    await journal.put_append(ACME, remember, CANARY.encode())
    await journal.add_recalls([RecallRecord("acme", RECALL, "u1", (), world.clock.now(), query=CANARY)])
    await journal.set_aside(SessionEvent("acme", EVENT, "u1", CANARY.encode()), attempts=3, reason="X", detail="")


async def test_spec_7_3_no_table_of_the_journal_holds_what_was_said(world: World) -> None:
    await write_canaries(world, world.plain())
    seen = await occurrences(world.urls.superuser, CANARY, schemas=[SCHEMA])
    assert {table.rstrip("_01234567") for table in seen} == {
        "gateway.interactions", "gateway.speakers", "gateway.requests", "gateway.recalls", "gateway.deliveries",
    }  # fmt: skip
    await world.plain().remove_user("acme", "u1")
    await world.execute("DELETE FROM gateway.requests")

    await write_canaries(world, world.journal())
    assert await occurrences(world.urls.superuser, CANARY, schemas=[SCHEMA]) == {}


async def test_spec_7_3_a_replica_reads_what_another_one_encrypted(world: World) -> None:
    await write_canaries(world, world.journal())
    replica = world.journal()
    page = await replica.interactions("acme", "u1", "c1", limit=9, after=None)
    assert [found.turn for found in page.items] == [SAID]
    (interaction_id,) = [found.interaction_id for found in page.items]
    assert await replica.turn_sources("acme", [interaction_id]) == {interaction_id: SAID.sources}
    assert await replica.turn_speakers("acme", "u1", [interaction_id]) == {interaction_id: (SAID.role, SAID.speaker)}
    assert list(await replica.context_items("acme", "u1", "c1", ["item1", "item2"])) == ["item1"]
    assert await replica.speakers("acme", "u1") == [SAID.speaker]
    remember = RememberCommand("u1", "c1", (SAID,), request_id="r1", digest=b"1")
    assert await replica.first_append(ACME, remember) == CANARY.encode()
    record = await replica.recall_record("acme", "u1", RECALL)
    assert record is not None
    assert record.query == CANARY


async def test_spec_7_3_what_was_said_before_stays_readable(world: World) -> None:
    await append(world.plain(), command("before"))
    await append(world.journal(), command("after"))
    assert await contents(world.journal()) == ["before", "after"]
    assert list(await world.journal().speakers("acme", "u1")) == ["Ada"]
    assert len(await take(world.journal(), Tier.EPISODIC)) == 2


async def test_spec_7_3_without_its_key_nothing_is_readable(world: World, tmp_path: Path) -> None:
    await append(world.journal(), command("a"))
    with pytest.raises(DecryptionError):
        await contents(world.plain())
    other = tmp_path / "other"
    other.mkdir()
    with pytest.raises(DecryptionError):
        await contents(World(world.urls, world.pool, world.clock, other).journal())


async def test_spec_7_3_exchanged_rows_do_not_open(world: World) -> None:
    journal = world.journal()
    await append(journal, command("a", "b"))
    await world.execute(
        "UPDATE gateway.interactions AS i SET content = o.content FROM gateway.interactions AS o"
        " WHERE i.position <> o.position"
    )
    with pytest.raises(DecryptionError):
        await contents(journal)


async def test_spec_7_3_erasing_a_user_destroys_the_key_whatever_replicas_have_in_memory(world: World) -> None:
    first, second = world.journal(), world.journal()
    await append(first, command("a"))
    await append(second, command("b"))
    stored = await world.pool.fetchval("SELECT content FROM gateway.data_keys_of('{acme}', '{u1}') AS k,"
                                       " LATERAL (SELECT encode(k.wrapped, 'hex') AS content) AS t")  # fmt: skip
    assert (await first.remove_user("acme", "u1")).data_keys == 1
    assert await world.pool.fetch("SELECT * FROM gateway.data_keys_of('{acme}', '{u1}')") == []

    await append(second, command("said later"))  # the second one has the destroyed key in memory
    assert await contents(first) == ["said later"]
    again = await world.pool.fetchval("SELECT encode(wrapped, 'hex') FROM gateway.data_keys_of('{acme}', '{u1}')")
    assert again != stored


async def test_spec_7_3_rotation_wraps_the_data_keys_anew_and_leaves_the_content(world: World) -> None:
    journal = world.journal()
    for user in ("u1", "u2", "u3"):
        await append(journal, command("a", user=user))
    file = world.folder / "encryption-keys"
    add_key(file)
    connection = await asyncpg.connect(world.urls.app)
    try:
        assert await rewrap(connection, key_ring(world.folder), SCHEMA, limit=2) == 3
        assert await rewrap(connection, key_ring(world.folder), SCHEMA) == 0
    finally:
        await connection.close()
    newest = file.read_text("ascii").splitlines()[-1]
    file.write_text(newest + "\n", "ascii")  # the earlier key is gone
    assert list(read_key_file(file)) == ["v2"]
    assert [await contents(world.journal(), user=user) for user in ("u1", "u2", "u3")] == [["a"]] * 3


async def test_spec_7_3_an_export_is_plain_and_its_import_is_encrypted(world: World) -> None:
    await append(world.journal(), RememberCommand("u1", "c1", (SAID,), request_id="r1", digest=b"1"))
    records = UserRecords(journal_user_records(world.pool, world.keys()), journal_records(world.pool))
    page = await records.read(("acme", "u1"), "", limit=100, memories_only=False)
    assert page.next_token == ""
    assert sum(CANARY in line for line in page.lines) == 2  # the turn and its speaker
    assert not any(SEALED_TEXT in line for line in page.lines)
    await world.journal().remove_user("acme", "u1")

    await records.write(("acme", "u9"), page.lines, validate_only=False)
    assert await occurrences(world.urls.superuser, CANARY, schemas=[SCHEMA]) == {}
    imported = await world.journal().interactions("acme", "u9", "c1", limit=9, after=None)
    assert [found.turn for found in imported.items] == [SAID]
    again = await records.read(("acme", "u9"), "", limit=100, memories_only=False)
    assert [line for line in again.lines if "sequence" not in line] == [
        line for line in page.lines if "sequence" not in line
    ]


async def test_spec_7_3_a_long_list_of_speakers_is_exported_by_pages(world: World) -> None:
    names = sorted(f"Speaker {number:03}" for number in range(25))
    turns = tuple(Turn(role=MessageRole.USER, content="a", time=NOON, speaker=name) for name in names)
    await append(world.plain(), RememberCommand("u1", "c1", turns[:5]))
    await append(world.journal(), RememberCommand("u1", "c1", turns))
    records = UserRecords(journal_user_records(world.pool, world.keys()), journal_records(world.pool))
    token, found = "", []
    while True:
        page = await records.read(("acme", "u1"), token, limit=7, memories_only=False)
        found += [line for line in page.lines if '"kind":"gateway.speakers"' in line]
        token = page.next_token
        if not token:
            break
    assert [name for line in found for name in names if name in line] == names


async def test_spec_7_3_what_was_stored_before_is_encrypted_afterwards(world: World) -> None:
    journal = world.plain()
    await append(journal, RememberCommand("u1", "c1", (SAID,)))
    await append(journal, command("a", "b", user="u2"))
    await journal.add_recalls([RecallRecord("acme", RECALL, "u1", (), world.clock.now(), query=CANARY)])
    await journal.set_aside(SessionEvent("acme", EVENT, "u1", CANARY.encode()), attempts=3, reason="X", detail="")
    await append(world.journal(), RememberCommand("u1", "c1", (SAID,)))  # its speaker is there both ways
    async with administrator(world) as reader, administrator(world) as writer:
        first = await encrypt_existing(reader, writer, world.keys(), SCHEMA, SEALED_TABLES, rows_at_once=2)
        again = await encrypt_existing(reader, writer, world.keys(), SCHEMA, SEALED_TABLES)
    assert first == {"interactions": 3, "speakers": 2, "recalls": 1, "deliveries": 1, "documents": 0}
    assert set(again.values()) == {0}
    assert await occurrences(world.urls.superuser, CANARY, schemas=[SCHEMA]) == {}
    page = await world.journal().interactions("acme", "u1", "c1", limit=9, after=None)
    assert [found.turn for found in page.items] == [SAID, SAID]
    assert await contents(world.journal(), user="u2") == ["a", "b"]
    assert await world.journal().speakers("acme", "u1") == [SAID.speaker]


@contextlib.asynccontextmanager
async def administrator(world: World) -> AsyncIterator[Connection]:
    connection = await asyncpg.connect(world.urls.superuser)
    await register_codecs(connection, vectors=False)
    try:
        yield connection
    finally:
        await connection.close()
