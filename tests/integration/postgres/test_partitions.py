"""Tables partitioned by tenant: nobody reads past their policies."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime
from typing import Any, Final
from uuid import UUID

import asyncpg
import numpy as np
import pytest

from services.common.postgres.pool import register_codecs
from services.common.postgres.server import EmbeddedPostgres
from services.common.postgres.types import Connection
from tests.integration.postgres.schemas import FOLDERS, PARTITIONED
from tests.support.postgres import DatabaseUrls, fresh_postgres

NOW: Final = datetime(2026, 5, 8, 13, 56, tzinfo=UTC)
TENANTS: Final = tuple(f"tenant-{number}" for number in range(24))

_PARTS: Final = """
    SELECT p.oid::regclass::text AS name, w.relname AS whole, p.relrowsecurity AND p.relforcerowsecurity AS closed,
        p.reloptions AS options
    FROM pg_class AS p JOIN pg_inherits AS i ON i.inhrelid = p.oid JOIN pg_class AS w ON w.oid = i.inhparent
    WHERE p.relispartition AND p.relkind = 'r' AND p.relnamespace = ANY ($1::text[]::regnamespace[])
    ORDER BY 1
"""


@pytest.fixture
async def database(postgres_server: EmbeddedPostgres) -> AsyncIterator[DatabaseUrls]:
    """All schemas, up to date."""
    async with fresh_postgres(postgres_server, migrations=list(FOLDERS.items())) as urls:
        yield urls


@pytest.fixture
async def administrator(database: DatabaseUrls) -> AsyncIterator[Connection]:
    connection = await _connect(database.superuser)
    yield connection
    await connection.close()


async def _connect(url: str) -> Connection:
    connection = await asyncpg.connect(url)
    await register_codecs(connection)
    return connection


async def _insert(connection: Connection, table: str, **values: Any) -> None:
    names = ", ".join(values)
    marks = ", ".join(f"${number}" for number in range(1, len(values) + 1))
    await connection.execute(f"INSERT INTO {table} ({names}) VALUES ({marks})", *values.values())  # noqa: S608


async def _fill(connection: Connection, tenant: str, number: int) -> None:
    """A row in every partitioned table, for one tenant."""
    key = {"tenant_id": tenant, "user_id": "ana"}
    identifier = UUID(int=number + 1)
    at = {"time": NOW, "create_time": NOW}
    await _insert(
        connection, "gateway.conversations", **key, conversation_id="c", next_position=1, interaction_count=1,
        create_time=NOW, update_time=NOW,
    )  # fmt: skip
    await _insert(
        connection, "gateway.interactions", **key, interaction_id=identifier, sequence=number, conversation_id="c",
        position=0, role=1, speaker="ana", content=f"of {tenant}", said_time=NOW, extra={"sources": ["x"]},
        scope_key="user:ana", create_time=NOW, gate_reason=1, gate_detail="",
    )  # fmt: skip
    await _insert(
        connection, "gateway.feedback", **key, feedback_id=identifier, sequence=number, kinds=[1],
        memory_ids=[identifier],
        value=1, create_time=NOW,
    )  # fmt: skip
    await _insert(
        connection, "gateway.requests", **key, principal_id="p", method="Remember", request_id="r",
        request_hash=b"h", response={"first": number}, create_time=NOW,
    )  # fmt: skip
    await _insert(connection, "episodic.owners", **key, revision=1)
    await _insert(
        connection, "episodic.episodes", **key, **at, episode_id=identifier, episode_key=bytes(13) + b"k",
        conversation_id="s", position=0, role=1, speaker="ana", query=f"of {tenant}", response="", details={},
        importance=0.5, scope_key="user:ana", status=2, revision=1, traits=0, text_chars=3, index_after=NOW,
        piece_count=2, indexed_model="m",
    )  # fmt: skip
    record = {**key, "time": NOW, "conversation_id": "c", "scope_key": "1"}
    of_task = {**record, "record_id": f"r{number}", "task_id": "k"}
    await _insert(
        connection, "episodic.activity_tools", **of_task, tool_name="bash", parameters="", result="", success=True,
        error_message="",
    )  # fmt: skip
    await _insert(
        connection, "episodic.activity_files", **of_task, path="a.py", operation=1, start_line=0, end_line=0,
        success=True, reason="", changes_summary="", previous_path="",
    )  # fmt: skip
    await _insert(
        connection, "episodic.activity_tasks", **record, task_id="k", description="d", intent=0, status=1, outcome="",
        update_time=NOW,
    )  # fmt: skip
    await _insert(connection, "episodic.activity_snapshots", **of_task, items=[], total_tokens=0, reason="pruning")
    await _insert(connection, "episodic.activity_learnings", **of_task, kind=1, learned="l", path="", confidence=0.5)
    await _insert(connection, "episodic.token_vectors", **key, episode_id=identifier, model="m", tokens=b"t")
    await _insert(
        connection, "semantic.facts", **key, fact_id=identifier, identity=b"i", text_identity=b"t", topic=b"o",
        text=f"of {tenant}", subject="s", predicate="p", object="o", category=1, confidence=0.5, importance=0.5,
        first_observed_time=NOW, last_confirmed_time=NOW, derived_from=[identifier], contradictions=[], status=1,
        versions=[], scope_key="user:ana", revision=1, embedding_model="m", evidence_count=1,
        embedding=np.ones(384, dtype=np.float32),
    )  # fmt: skip
    await _insert(
        connection, "semantic.fact_statements", **key, fact_id=identifier, statement_id=identifier, time=NOW,
        text="t", category=1, confidence=0.5, importance=0.5, subject="s", predicate="p", object="o",
        interaction_ids=[identifier], is_correction=False,
    )  # fmt: skip
    await _insert(
        connection, "semantic.fact_supports", **key, fact_id=identifier, interaction_id=identifier, time=NOW,
        recorded_time=NOW,
    )  # fmt: skip
    await _insert(
        connection, "semantic.extracted_interactions", **key, interaction_id=identifier, fact_ids=[identifier]
    )
    await _insert(
        connection, "semantic.assertions", **key, interaction_id=identifier, number=0, text="t", speaker="ana",
        time=NOW, scope_key="1", keys=[number], is_only=True, is_announced=False,
    )  # fmt: skip
    # A trigger adds its words to semantic.assertion_keys.
    await _insert(
        connection, "semantic.supersessions", **key, supersession_id=f"s{number}", loser_id=identifier, loser_number=0,
        winner_id=identifier, winner_number=1, reason=1, state=1, end_time=NOW, create_time=NOW, statement="t",
        standing_statement="u", is_whole=True, is_turned=False,
    )  # fmt: skip
    await _insert(
        connection, "semantic.procedures", **key, procedure_id=identifier, kind=1, identity=f"i{number}",
        confidence=0.7, derived_from=[identifier], create_time=NOW, state={},
    )  # fmt: skip
    await _insert(connection, "semantic.judged_recalls", **key, recall_id=identifier, time=NOW, state={})
    await _insert(
        connection, "semantic.code_files", **key, repository_id="r", path=f"f{number}.py", digest="d",
        language="python", status=1, line_count=1, content=b"c", revision=1,
    )  # fmt: skip
    await _insert(connection, "semantic.observed_interactions", **key, interaction_id=identifier)
    await _insert(
        connection, "agentic.processed_interactions", **key, interaction_id=identifier, conversation_id="c", position=0,
        note_ids=[identifier], speaker="ana", question="?",
    )  # fmt: skip


async def test_partitions_have_the_options_of_their_tables(administrator: Connection) -> None:
    parts = await administrator.fetch(_PARTS, list(FOLDERS))
    assert {part["whole"] for part in parts} == {table for tables in PARTITIONED.values() for table in tables}
    by_tenant = [part for part in parts if not part["whole"].startswith("activity_")]  # those are by month
    assert len(by_tenant) == 8 * len({part["whole"] for part in by_tenant})
    options = {
        "conversations": ["fillfactor=70"],
        "episodes": ["fillfactor=90"],
        "token_vectors": ["toast_tuple_target=8160"],
    }
    assert all(part["options"] == options.get(part["whole"]) for part in parts)
    storages = await administrator.fetch(
        "SELECT attstorage FROM pg_attribute WHERE attname = 'embedding' AND attrelid::regclass::text ~ 'facts_[0-7]$'"
    )
    assert [bytes(row[0]) for row in storages] == [b"p"] * 8
    storages = await administrator.fetch(
        "SELECT attstorage FROM pg_attribute WHERE attname = 'tokens' AND attrelid::regclass::text ~ 'vectors_[0-7]$'"
    )
    assert [bytes(row[0]) for row in storages] == [b"e"] * 8


async def test_tenants_are_spread_over_the_parts(administrator: Connection) -> None:
    for number, tenant in enumerate(TENANTS):
        await _fill(administrator, tenant, number)
    used = await administrator.fetch("SELECT tableoid::regclass::text FROM episodic.episodes GROUP BY 1")
    assert len(used) >= 6


async def test_spec_7_1_services_have_no_privilege_on_a_part(administrator: Connection, database: DatabaseUrls) -> None:
    await _fill(administrator, "acme", 1)
    service = await asyncpg.connect(database.app)
    try:
        await service.execute("SELECT set_config('mneme.tenant', 'globex', false)")
        for part in await administrator.fetch(_PARTS, list(FOLDERS)):
            for statement in ("SELECT FROM {}", "DELETE FROM {}", "UPDATE {} SET tenant_id = 'globex'"):
                with pytest.raises(asyncpg.InsufficientPrivilegeError, match="permission denied"):
                    await service.execute(statement.format(part["name"]))
    finally:
        await service.close()


async def test_spec_7_1_a_part_that_was_opened_by_mistake_shows_nothing(
    administrator: Connection, database: DatabaseUrls
) -> None:
    for number, tenant in enumerate(TENANTS):
        await _fill(administrator, tenant, number)
    parts = await administrator.fetch(_PARTS, list(FOLDERS))
    assert all(part["closed"] for part in parts)
    for part in parts:
        await administrator.execute(f"GRANT ALL ON {part['name']} TO mneme_app")
    for url in (database.app, database.owner):
        connection = await asyncpg.connect(url)
        try:
            await connection.execute("SELECT set_config('mneme.tenant', $1, false)", TENANTS[0])
            for part in parts:
                assert await connection.fetchval(f"SELECT count(*) FROM {part['name']}") == 0  # noqa: S608
        finally:
            await connection.close()


async def test_spec_7_1_the_whole_shows_one_tenant_and_takes_one(
    administrator: Connection, database: DatabaseUrls
) -> None:
    for number, tenant in enumerate(TENANTS):
        await _fill(administrator, tenant, number)
    service = await asyncpg.connect(database.app)
    try:
        for schema in ("episodic", "semantic", "agentic"):
            for table in PARTITIONED[schema]:
                await service.execute("SELECT set_config('mneme.tenant', '', false)")
                assert await service.fetchval(f"SELECT count(*) FROM {schema}.{table}") == 0  # noqa: S608
                await service.execute("SELECT set_config('mneme.tenant', $1, false)", TENANTS[3])
                seen = await service.fetch(f"SELECT DISTINCT tenant_id FROM {schema}.{table}")  # noqa: S608
                assert [row[0] for row in seen] == [TENANTS[3]]
                with pytest.raises(asyncpg.InsufficientPrivilegeError, match="row-level security"):
                    await service.execute(f"UPDATE {schema}.{table} SET tenant_id = 'other'")  # noqa: S608
    finally:
        await service.close()


async def test_deleted_facts_take_their_statements_along(administrator: Connection, database: DatabaseUrls) -> None:
    for number, tenant in enumerate(TENANTS):
        await _fill(administrator, tenant, number)
    service = await asyncpg.connect(database.app)
    try:
        await service.execute("SELECT set_config('mneme.tenant', $1, false)", TENANTS[5])
        assert await service.execute("DELETE FROM semantic.facts WHERE tenant_id = $1", TENANTS[5]) == "DELETE 1"
        with pytest.raises(asyncpg.ForeignKeyViolationError):
            await service.execute(
                "INSERT INTO semantic.fact_statements SELECT tenant_id, user_id, $2, $2, now(), '', 1, 0, 0, '', '',"
                " '', NULL, NULL, '{}', false FROM (SELECT $1::text AS tenant_id, 'ana' AS user_id) AS of_nobody",
                TENANTS[5],
                UUID(int=999),
            )
    finally:
        await service.close()
    left = await administrator.fetch("SELECT tenant_id FROM semantic.fact_statements ORDER BY tenant_id")
    assert [row[0] for row in left] == sorted(set(TENANTS) - {TENANTS[5]})
