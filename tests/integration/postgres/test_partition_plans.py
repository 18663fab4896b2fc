"""Statements of the hot paths look at one part of a divided table, whether planned once or for each execution."""

import re
from collections.abc import AsyncIterator, Sequence
from datetime import UTC, datetime
from typing import Any, Final
from uuid import UUID

import asyncpg
import numpy as np
import numpy.typing as npt
import pytest

from services.common.clock import SystemClock
from services.common.encryption.cipher import PLAIN
from services.common.ids import Uuid7Ids
from services.common.postgres.pool import PoolSettings, create_pool
from services.common.postgres.server import EmbeddedPostgres
from services.common.postgres.types import Connection
from services.common.scope import Scope
from services.common.turns import MessageRole, Turn
from services.episodic.stores import postgres_sql as episodic
from services.gateway.journal.model import Caller, RememberCommand
from services.gateway.journal.stores import postgres_queue as queue
from services.gateway.journal.stores.postgres import PostgresJournal
from services.semantic.facts.stores import postgres_sql as facts
from tests.integration.postgres.schemas import FOLDERS, PARTITIONED
from tests.support.postgres import DatabaseUrls, fresh_postgres

TENANT: Final = "acme"
NOW: Final = datetime(2026, 5, 8, tzinfo=UTC)
IDS: Final = [UUID(int=number) for number in range(1, 21)]
KEYS: Final = [number.to_bytes(14, "big") for number in range(20)]
VECTOR: Final = np.ones(384, dtype=np.float32)
_TABLES: Final = "|".join(table for tables in PARTITIONED.values() for table in tables)
_PART: Final = re.compile(rf"\bon ({_TABLES})_(\d)\b")
_AS_WORKER: Final = "SELECT set_config('mneme.worker', 'on', false)"

ONE_PART: Final[dict[str, tuple[str, Sequence[Any]]]] = {
    "episodes by id": (episodic.GET, (TENANT, "ana", IDS)),
    "columns by id": (episodic.COLUMNS_OF, (TENANT, "ana", ["user:ana"], IDS)),
    "columns by place": (episodic.COLUMNS_AT, (TENANT, "ana", ["user:ana"], KEYS)),
    "changes since": (episodic.CHANGES, (TENANT, "ana", 3, 100)),
    "newest token vectors": (episodic.NEWEST_TOKENS, (TENANT, "ana", "m", IDS[0], 20)),
    "a page of episodes": (episodic.LIST, (TENANT, "ana", 20, None, NOW, IDS[0], None, None, None)),
    "episodes by words": (episodic.COLUMNS_MATCHING, (TENANT, "ana", ["user:ana"], "a question", 20)),
    "facts by meaning": (
        facts.SEARCH_AS_TENANT,
        (TENANT, "ana", "m", VECTOR, ["user:ana"], 0.1, True, 20, NOW, [1, 2]),
    ),
}


@pytest.fixture
async def database(postgres_server: EmbeddedPostgres) -> AsyncIterator[DatabaseUrls]:
    async with fresh_postgres(postgres_server, migrations=list(FOLDERS.items())) as urls:
        yield urls


@pytest.fixture
async def connection(database: DatabaseUrls) -> AsyncIterator[Connection]:
    async with await create_pool(database.app, PoolSettings(size_max=1)) as pool, pool.acquire() as acquired:
        yield acquired


def _literal(value: object) -> str:
    """A parameter as SQL writes it, without a type."""
    if value is None:
        return "NULL"
    if isinstance(value, np.ndarray):
        return f"'{_vector(value)}'"
    if isinstance(value, bytes):
        return f"'\\x{value.hex()}'"
    if isinstance(value, list | tuple):
        elements = (f"\\\\x{item.hex()}" if isinstance(item, bytes) else str(item) for item in value)
        return "'{" + ",".join(f'"{element}"' for element in elements) + "}'"
    return f"'{value}'"


def _vector(values: npt.NDArray[np.float32]) -> str:
    return "[" + ",".join(map(str, values.tolist())) + "]"


async def _plan(connection: Connection, statement: str, arguments: Sequence[Any], *, mode: str) -> str:
    """How a prepared statement was executed."""
    await connection.execute(f"SET plan_cache_mode = {mode}")
    await connection.execute(f"PREPARE asked AS {statement}")
    literals = ", ".join(map(_literal, arguments))
    try:
        rows = await connection.fetch(f"EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) EXECUTE asked ({literals})")
    finally:
        await connection.execute("DEALLOCATE asked")
    return "\n".join(row[0] for row in rows)


def _parts(plan: str, *, executed: bool = False) -> set[tuple[str, str]]:
    """The parts that a plan opened, or only those that it read."""
    lines = [line for line in plan.splitlines() if not (executed and "(never executed)" in line)]
    return {(found[1], found[2]) for line in lines for found in _PART.finditer(line)}


@pytest.mark.parametrize("mode", ["force_generic_plan", "force_custom_plan"])
@pytest.mark.parametrize("name", ONE_PART)
async def test_reads_of_a_recall_open_one_part(connection: Connection, name: str, mode: str) -> None:
    statement, arguments = ONE_PART[name]
    plan = await _plan(connection, statement, arguments, mode=mode)
    parts = _parts(plan)
    assert len(parts) == 1, plan


@pytest.mark.parametrize("mode", ["force_generic_plan", "force_custom_plan"])
async def test_token_vectors_are_read_by_pages_of_one_part(connection: Connection, mode: str) -> None:
    function = await connection.fetchrow("SELECT prosrc, proconfig FROM pg_proc WHERE proname = 'token_vectors_of'")
    assert function is not None
    for setting in function["proconfig"]:
        name, _, value = setting.partition("=")
        await connection.execute(f"SET {name} = {value}")
    statement = function["prosrc"].partition("RETURN QUERY")[2].partition(";")[0]
    plan = await _plan(connection, statement, (TENANT, "ana", IDS, "m"), mode=mode)
    assert len(_parts(plan)) == 1, plan
    assert "Bitmap Heap Scan" in plan


async def test_subjects_of_a_claim_are_read_from_their_own_part(connection: Connection) -> None:
    await connection.execute(_AS_WORKER)
    arguments = ([TENANT] * len(IDS), IDS)
    plan = await _plan(connection, queue._INTERACTIONS, arguments, mode="force_generic_plan")
    assert len(_parts(plan)) == 8, plan
    assert len(_parts(plan, executed=True)) == 1, plan


async def test_a_claim_reads_one_index_in_its_order(connection: Connection, database: DatabaseUrls) -> None:
    await connection.execute(queue._AS_CLAIMING_WORKER.replace("true)", "false)"))  # of the session
    await connection.execute(
        "INSERT INTO gateway.deliveries (tenant_id, tier, kind, subject_id, sequence, user_id, next_attempt_time,"
        " create_time) SELECT 't' || n % 9, n % 5, 1, gen_random_uuid(), n, 'u', now(), now()"
        " FROM generate_series(1, 20000) AS n"
    )
    owner = await asyncpg.connect(database.owner)
    await owner.execute("ANALYZE gateway.deliveries")
    await owner.close()
    plan = await _plan(connection, queue._CLAIM, (2, "t1", NOW, 32), mode="force_generic_plan")
    assert re.findall(r"Scan using (\w+) on (\w+)", plan) == [("deliveries_due", "deliveries")], plan
    assert "Bitmap" not in plan
    assert "Sort" not in plan


async def test_forgotten_requests_are_those_of_their_own_part(database: DatabaseUrls) -> None:
    """They were found by their place in the table, which is the same for the first row of each part."""
    clock = SystemClock()
    superuser = await asyncpg.connect(database.superuser)
    await superuser.execute(
        "INSERT INTO gateway.requests (tenant_id, principal_id, method, request_id, user_id, request_hash,"
        " create_time) SELECT 'tenant-' || n, 'p', 'Remember', 'r', 'u', '', $1::timestamptz - n % 2 * interval '1 day'"
        " FROM generate_series(1, 30) AS n",
        NOW,
    )
    async with await create_pool(database.app, PoolSettings(size_max=1)) as pool:
        journal = PostgresJournal(pool, clock=clock, ids=Uuid7Ids(clock))
        assert await journal.purge_requests(before=NOW, limit=10) == 10
        assert await journal.purge_requests(before=NOW, limit=10) == 5
        assert await journal.purge_requests(before=NOW, limit=10) == 0
    assert await superuser.fetchval("SELECT count(*) FROM gateway.requests WHERE create_time = $1", NOW) == 15
    await superuser.close()


async def test_remembered_turns_open_one_part_of_each_table(database: DatabaseUrls) -> None:
    turn = Turn(role=MessageRole.USER, content="hello", time=NOW, speaker="ana")
    command = RememberCommand(user_id="ana", conversation_id="c", turns=(turn,), scope=Scope())
    clock = SystemClock()
    async with await create_pool(database.app, PoolSettings(size_max=1)) as pool:
        journal = PostgresJournal(pool, clock=clock, ids=Uuid7Ids(clock))
        async with pool.acquire() as connection, connection.transaction():
            await journal._append_one(connection, Caller(TENANT, "p", ""), command, NOW - NOW, PLAIN)
            opened = await connection.fetch(
                "SELECT relation::regclass::text FROM pg_locks"
                " WHERE pid = pg_backend_pid() AND mode = 'RowExclusiveLock'"
                " AND relation::regclass::text ~ '^gateway\\.(interactions|conversations)_[0-7]$'"
            )
    assert len(opened) == 2


@pytest.mark.parametrize("mode", ["force_generic_plan", "force_custom_plan", "auto"])
async def test_a_statement_that_says_itself_whose_it_is_finds_its_part(
    connection: Connection, database: DatabaseUrls, mode: str
) -> None:
    """The parts to be read were chosen by the policy's "=" before the statement had set the tenant: none was read."""
    superuser = await asyncpg.connect(database.superuser)
    await superuser.execute(
        "INSERT INTO episodic.episodes (tenant_id, user_id, episode_id, episode_key, conversation_id, position, role,"
        " speaker, query, response, details, importance, time, create_time, scope_key, status, traits, text_chars,"
        " index_after) SELECT 'tenant-' || n, 'ana', $1, $2, 's', 0, 1, '', 'q', '', '{}', 0.5, now(), now(), 'g', 2,"
        " 0, 1, now() FROM generate_series(1, 30) AS n",
        IDS[0],
        KEYS[0],
    )
    await superuser.close()
    await connection.execute(f"SET plan_cache_mode = {mode}")
    for number in range(1, 31):
        found = await connection.fetch(episodic.GET, f"tenant-{number}", "ana", IDS)
        assert [row["tenant_id"] for row in found] == [f"tenant-{number}"]
