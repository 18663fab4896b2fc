"""The activity log with encryption: what lies in its tables, and that searches still find it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import asyncpg
import numpy as np
import pytest

from services.common.encryption.envelope import DecryptionError
from services.common.encryption.existing import encrypt_existing
from services.common.encryption.postgres import PostgresDataKeys
from services.common.postgres.pool import create_pool, register_codecs
from services.common.postgres.server import EmbeddedPostgres
from services.common.postgres.types import Pool
from services.episodic.activity.model import (
    ContextSnapshot,
    Learning,
    LearningKind,
    Pattern,
    PatternKind,
    TaskState,
    TaskStatus,
    ToolExecution,
)
from services.episodic.activity.stores.postgres import PostgresActivityStore
from services.episodic.activity.stores.postgres_sealing import SEALED_TABLES
from services.episodic.activity.stores.postgres_upkeep import PostgresActivityUpkeep
from services.episodic.stores.postgres import MIGRATIONS_FOLDER, SCHEMA
from tests.contract.activity_samples import ADA, GLOBAL, at, record, touched
from tests.contract.activity_store import SEEN
from tests.support.encryption import key_ring, occurrences
from tests.support.maintenance import MAINTENANCE
from tests.support.postgres import DatabaseUrls, fresh_postgres

CANARY = "Miso the cat prefers sardines"
TABLES = {"activity_tools", "activity_files", "activity_tasks", "activity_snapshots", "activity_learnings"}


@dataclass(frozen=True)
class World:
    urls: DatabaseUrls
    pool: Pool
    folder: Path

    def keys(self) -> PostgresDataKeys:
        return PostgresDataKeys(key_ring(self.folder), SCHEMA)

    def store(self) -> PostgresActivityStore:
        return PostgresActivityStore(self.pool, keys=self.keys())

    async def seen(self) -> set[str]:
        found = await occurrences(self.urls.superuser, CANARY, schemas=[SCHEMA])
        return {table.removeprefix("episodic.").removesuffix("_rest") for table in found}


@pytest.fixture
async def world(postgres_server: EmbeddedPostgres, tmp_path: Path) -> AsyncIterator[World]:
    async with fresh_postgres(postgres_server, migrations=[(SCHEMA, MIGRATIONS_FOLDER), MAINTENANCE]) as urls:
        pool = await create_pool(urls.app)
        yield World(urls, pool, tmp_path)
        await pool.close()


async def write_canaries(store: PostgresActivityStore) -> None:
    ran = ToolExecution(
        tool_name="bash",
        success=False,
        parameters=f"{CANARY} (parameters)",
        result=f"{CANARY} (result)",
        error_message=f"{CANARY} (error)",
    )
    state = TaskState(description=f"{CANARY} (description)", status=TaskStatus.COMPLETED, outcome=f"{CANARY} (outcome)")
    await store.write(
        ADA,
        [
            record("1", ran, task_id="k"),
            record("2", touched("a.py", reason=f"{CANARY} (reason)", changes_summary=f"{CANARY} (summary)")),
            record("3", state, task_id="k"),
            record("4", ContextSnapshot(items=(), total_tokens=3, reason=f"{CANARY} (snapshot)")),
            record("5", Learning(kind=LearningKind.WORKFLOW, text=f"{CANARY} (learned)", path="a.py")),
        ],
    )


async def write_pattern(upkeep: PostgresActivityUpkeep) -> None:
    pattern = Pattern(
        pattern_id="00000000-0000-4000-8000-000000000001",
        kind=PatternKind.ERROR_FIX,
        scope_key=GLOBAL,
        paths=("a.py",),
        observed_count=3,
        contrary_count=0,
        first_time=at(0),
        last_time=at(1),
        error=f"{CANARY} (pattern)",
    )
    await upkeep.put_patterns(ADA, [pattern], removed=[], learned=None)


async def test_spec_7_3_no_table_of_the_activity_log_holds_what_was_said(world: World) -> None:
    await write_canaries(world.store())
    await write_pattern(PostgresActivityUpkeep(world.pool, keys=world.keys()))
    assert await world.seen() == set()
    replica = world.store()
    (tool,) = await replica.list_tools(ADA, SEEN, after=None, limit=9)
    assert isinstance(tool.content, ToolExecution)
    assert tool.content.result == f"{CANARY} (result)"
    (pattern,) = await replica.list_patterns(
        ADA, scope_keys=[GLOBAL], kind=None, path="", confidence_min=0.0, after=None, limit=9
    )
    assert pattern.error == f"{CANARY} (pattern)"
    with pytest.raises(DecryptionError):
        await PostgresActivityStore(world.pool).list_tools(ADA, SEEN, after=None, limit=9)


async def test_spec_7_3_a_search_finds_encrypted_records_in_any_case(world: World) -> None:
    store = world.store()
    await write_canaries(store)
    for wanted, expected in ((["SARDINES (sum"], ["2"]), (["sardines (par", "a.PY"], ["2", "1"]), (["100%"], [])):
        found = await store.search(ADA, wanted, scope_keys=SEEN.scope_keys, searched_max=100, limit=9)
        assert [one.record_id for one in found] == expected


async def test_spec_7_3_a_vector_stays_while_the_description_of_its_task_is_the_same(world: World) -> None:
    store = world.store()
    await write_canaries(store)
    task = await store.get_task(ADA, "k", scope_keys=SEEN.scope_keys)
    assert task is not None
    await store.put_vectors(ADA, [(task, np.ones(4, np.float32))], model="m")
    again = TaskState(description=task.description, status=TaskStatus.FAILED)
    await store.write(ADA, [record("6", again, task_id="k", minutes=1)])
    (compared,) = await store.compared_tasks(ADA, scope_keys=SEEN.scope_keys, statuses=[], model="m", limit=9)
    assert compared.vector is not None


async def test_spec_7_3_records_from_before_are_encrypted_afterwards(world: World) -> None:
    await write_canaries(PostgresActivityStore(world.pool))
    await write_pattern(PostgresActivityUpkeep(world.pool))
    assert await world.seen() == TABLES | {"activity_patterns"}
    reader, writer = await asyncpg.connect(world.urls.superuser), await asyncpg.connect(world.urls.superuser)
    try:
        for connection in (reader, writer):
            await register_codecs(connection, vectors=False)
        counts = await encrypt_existing(reader, writer, world.keys(), SCHEMA, SEALED_TABLES)
    finally:
        await reader.close()
        await writer.close()
    assert all(counts.values())
    assert await world.seen() == set()
    task = await world.store().get_task(ADA, "k", scope_keys=SEEN.scope_keys)
    assert task is not None
    assert task.outcome == f"{CANARY} (outcome)"
