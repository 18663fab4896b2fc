"""Tables divided by tenant: what was there is carried over, and nobody reads past the policies."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final
from uuid import UUID

import asyncpg
import numpy as np
import pytest

from services.common.postgres.migrations import migrate
from services.common.postgres.pool import register_codecs
from services.common.postgres.server import EmbeddedPostgres
from services.common.postgres.types import Connection
from tests.integration.postgres.schemas import (
    BORN_DIVIDED,
    DIVIDED,
    FOLDERS,
    NEVER_DIVIDED,
    UNDIVIDED_VERSIONS,
    just_divided_folder,
    undivided_folder,
)
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
_INDEXES: Final = """
    SELECT c.relname AS table_name, x.relname AS name,
        replace(pg_get_indexdef(i.indexrelid), ' ON ONLY ', ' ON ') AS definition
    FROM pg_index AS i JOIN pg_class AS c ON c.oid = i.indrelid JOIN pg_class AS x ON x.oid = i.indexrelid
    WHERE c.relnamespace = $1::text::regnamespace AND NOT c.relispartition AND c.relkind IN ('r', 'p')
    ORDER BY 1, 2
"""
_COLUMNS: Final = """
    SELECT c.relname, a.attname, format_type(a.atttypid, a.atttypmod) AS type, a.attnotnull, a.attidentity,
        a.attstorage, pg_get_expr(d.adbin, d.adrelid) AS default_value
    FROM pg_attribute AS a JOIN pg_class AS c ON c.oid = a.attrelid
    LEFT JOIN pg_attrdef AS d ON d.adrelid = c.oid AND d.adnum = a.attnum
    WHERE c.relnamespace = $1::text::regnamespace AND NOT c.relispartition AND c.relkind IN ('r', 'p') AND a.attnum > 0
    ORDER BY c.relname, a.attnum
"""
_CONSTRAINTS: Final = """
    SELECT c.relname, k.contype, pg_get_constraintdef(k.oid) AS definition
    FROM pg_constraint AS k JOIN pg_class AS c ON c.oid = k.conrelid
    WHERE c.relnamespace = $1::text::regnamespace AND NOT c.relispartition AND k.conparentid = 0
    ORDER BY 1, 3
"""
_TRIGGERS: Final = """
    SELECT tgname, pg_get_triggerdef(t.oid) AS definition FROM pg_trigger AS t JOIN pg_class AS c ON c.oid = t.tgrelid
    WHERE NOT tgisinternal AND c.relnamespace = $1::text::regnamespace AND NOT c.relispartition ORDER BY 1
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
    """A row in every table that is divided, for one tenant."""
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
        connection, "gateway.feedback", **key, feedback_id=identifier, sequence=number, memory_ids=[identifier],
        value=1, create_time=NOW,
    )  # fmt: skip
    await _insert(
        connection, "gateway.requests", **key, principal_id="p", method="Remember", request_id="r",
        request_hash=b"h", answer={"first": number}, create_time=NOW,
    )  # fmt: skip
    await _insert(connection, "episodic.owners", **key, revision=1)
    await _insert(
        connection, "episodic.episodes", **key, **at, episode_id=identifier, episode_key=bytes(13) + b"k",
        conversation_id="s", position=0, role=1, speaker="ana", query=f"of {tenant}", response="", details={},
        importance=0.5, scope_key="user:ana", status=2, revision=1, traits=0, text_chars=3, index_after=NOW,
        piece_count=2, indexed_model="m",
    )  # fmt: skip
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
        connection, "semantic.extracted_interactions", **key, interaction_id=identifier, fact_ids=[identifier]
    )
    await _insert(
        connection, "semantic.assertions", **key, interaction_id=identifier, number=0, text="t", speaker="ana",
        time=NOW, scope_key="1", keys=[number], is_only=True, is_announced=False,
    )  # fmt: skip
    await _insert(
        connection, "semantic.supersessions", **key, supersession_id=f"s{number}", loser_id=identifier, loser_number=0,
        winner_id=identifier, winner_number=1, reason=1, state=1, end_time=NOW, create_time=NOW, statement="t",
        standing_statement="u", is_whole=True, is_turned=False,
    )  # fmt: skip
    await _insert(connection, "semantic.observed_interactions", **key, interaction_id=identifier)
    await _insert(
        connection, "agentic.processed_interactions", **key, interaction_id=identifier, conversation_id="c", position=0,
        note_ids=[identifier], speaker="ana", question="?",
    )  # fmt: skip


async def _content(connection: Connection) -> dict[str, list[str]]:
    return {
        f"{schema}.{table}": [
            row[0]
            for row in await connection.fetch(
                f"SELECT to_jsonb(t)::text FROM {schema}.{table} AS t ORDER BY 1",  # noqa: S608
            )
        ]
        for schema, tables in DIVIDED.items()
        for table in tables
    }


async def _structure(connection: Connection, schema: str) -> dict[str, list[tuple[Any, ...]]]:
    queries = {"indexes": _INDEXES, "columns": _COLUMNS, "constraints": _CONSTRAINTS, "triggers": _TRIGGERS}
    younger = (*BORN_DIVIDED.get(schema, ()), *NEVER_DIVIDED.get(schema, ()))
    return {
        name: [tuple(row) for row in await connection.fetch(query, schema) if row[0] not in younger]
        for name, query in queries.items()
    }


async def test_what_was_written_before_is_carried_over(fresh_database: DatabaseUrls, tmp_path: Path) -> None:
    for schema, whole in FOLDERS.items():
        folder = undivided_folder(schema, tmp_path) if schema in UNDIVIDED_VERSIONS else whole
        await migrate(fresh_database.owner, schema=schema, folder=folder)
    connection = await _connect(fresh_database.superuser)
    try:
        for number, tenant in enumerate(TENANTS):
            await _fill(connection, tenant, number)
        before = await _content(connection)
        structures = {schema: await _structure(connection, schema) for schema in UNDIVIDED_VERSIONS}
        for schema in UNDIVIDED_VERSIONS:
            folder = just_divided_folder(schema, tmp_path)
            assert await migrate(fresh_database.owner, schema=schema, folder=folder)
            assert await _structure(connection, schema) == structures[schema]
        for schema, folder in FOLDERS.items():
            await migrate(fresh_database.owner, schema=schema, folder=folder)
        assert await _content(connection) == before
    finally:
        await connection.close()
    assert all(len(rows) == len(TENANTS) for rows in before.values())


async def test_parts_have_the_options_of_the_tables_before(administrator: Connection) -> None:
    parts = await administrator.fetch(_PARTS, list(FOLDERS))
    schemas = (*DIVIDED.values(), *BORN_DIVIDED.values())
    assert {part["whole"] for part in parts} == {table for tables in schemas for table in tables}
    assert len(parts) == 8 * len({part["whole"] for part in parts})
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
        for schema, tables in (*DIVIDED.items(), ("semantic", BORN_DIVIDED["semantic"])):
            for table in tables:
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
