"""`mneme migrate` on a server of somebody's own."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import AsyncIterator
from pathlib import Path

import asyncpg
import pytest
from typer.testing import CliRunner, Result

from services.cli import migrating
from services.cli.main import app
from services.common.postgres.roles import RoleNames, roles_sql
from services.common.postgres.server import EmbeddedPostgres
from tests.support.neo4j import fresh_graph
from tests.support.postgres import DatabaseUrls


def run(*arguments: str, **variables: str) -> Result:
    """Runs the command without the variables of whoever runs the tests."""
    own = dict.fromkeys(name for name in os.environ if name.startswith("MNEME_"))
    environment: dict[str, str | None] = {**own, "COLUMNS": "200", **variables}
    return CliRunner().invoke(app, ["migrate", *arguments], env=environment)


@contextlib.asynccontextmanager
async def _administrator(server: EmbeddedPostgres) -> AsyncIterator[asyncpg.Connection[asyncpg.Record]]:
    connection = await asyncpg.connect(server.dsn(role="postgres", database="postgres"))
    try:
        yield connection
    finally:
        await connection.close()


@pytest.fixture
async def own_roles(postgres_server: EmbeddedPostgres) -> AsyncIterator[RoleNames]:
    """A database and roles made by what `--print-roles` prints, without pgvector."""
    names = RoleNames(database="own_mneme", owner="own_owner", app="own-app")
    statements = [
        statement
        for line in roles_sql(names).splitlines()
        if not line.startswith(("--", "\\"))
        for statement in line.split(";\n")
    ]
    async with _administrator(postgres_server) as connection:
        for statement in statements:
            await connection.execute(statement)
        yield names
        await connection.execute(f'DROP DATABASE "{names.database}" WITH (FORCE)')
        await connection.execute(f'DROP ROLE "{names.app}"; DROP ROLE "{names.owner}"')


def test_applies_what_is_outstanding_once(fresh_database: DatabaseUrls) -> None:
    first = run(MNEME_POSTGRES_OWNER_URL=fresh_database.owner)
    assert first.exit_code == 0, first.stderr
    schemas = {line.split()[1] for line in first.stdout.splitlines()[1:]}
    assert schemas == {"gateway", "episodic", "semantic", "agentic", "maintenance"}
    second = run(MNEME_POSTGRES_OWNER_URL=fresh_database.owner)
    assert second.exit_code == 0
    assert "everything is up to date" in second.stdout


def test_every_folder_of_migrations_is_applied() -> None:
    services = Path(__file__).parents[3] / "services"
    there = {path.parent for path in services.rglob("migrations/0001_*.sql")}
    assert there == {*migrating._ALWAYS.values(), *migrating._WITHOUT_GRAPH.values()}


def test_check_changes_nothing(fresh_database: DatabaseUrls) -> None:
    before = run("--check", MNEME_POSTGRES_OWNER_URL=fresh_database.owner)
    assert before.exit_code == 1
    assert "outstanding" in before.stdout
    assert "0001" in before.stdout
    again = run("--check", MNEME_POSTGRES_OWNER_URL=fresh_database.owner)
    assert (again.exit_code, again.stdout) == (1, before.stdout)
    run(MNEME_POSTGRES_OWNER_URL=fresh_database.owner)
    after = run("--check", MNEME_POSTGRES_OWNER_URL=fresh_database.owner)
    assert after.exit_code == 0
    assert "everything is up to date" in after.stdout


def test_without_a_url_says_which_variable_is_missing() -> None:
    result = run()
    assert result.exit_code == 1
    assert "MNEME_POSTGRES_OWNER_URL is not set" in result.stderr


@pytest.mark.parametrize("url", ["postgresql://owner:secret-word@127.0.0.1:1/mneme", "nonsense://secret-word"])
def test_a_wrong_url_is_named_without_its_password(url: str) -> None:
    result = run(MNEME_POSTGRES_OWNER_URL=url)
    assert result.exit_code == 1
    assert "cannot be reached by MNEME_POSTGRES_OWNER_URL" in result.stderr
    assert "secret-word" not in result.stderr


def test_a_missing_role_comes_with_what_makes_it(fresh_database: DatabaseUrls) -> None:
    result = run("--app-role", "nobody_here", MNEME_POSTGRES_OWNER_URL=fresh_database.owner)
    assert result.exit_code == 1
    assert "role nobody_here does not exist; `mneme migrate --print-roles`" in result.stderr


def test_the_services_role_cannot_migrate(fresh_database: DatabaseUrls) -> None:
    result = run("--app-role", "mneme_owner", MNEME_POSTGRES_OWNER_URL=fresh_database.app)
    assert result.exit_code == 1
    assert "must own the database" in result.stderr


def test_spec_7_1_services_may_not_connect_as_owner_or_superuser(fresh_database: DatabaseUrls) -> None:
    as_owner = run("--app-role", "mneme_owner", MNEME_POSTGRES_OWNER_URL=fresh_database.owner)
    as_superuser = run("--app-role", "postgres", MNEME_POSTGRES_OWNER_URL=fresh_database.owner)
    assert "is the owner or a member of it" in as_owner.stderr
    assert "tenants would see each other's rows" in as_superuser.stderr
    assert (as_owner.exit_code, as_superuser.exit_code) == (1, 1)


def test_printed_roles_are_those_of_the_url() -> None:
    result = run(
        "--print-roles", "--app-role", "svc", MNEME_POSTGRES_OWNER_URL="postgresql://dba:word@db.example/memories"
    )
    assert result.exit_code == 0
    assert 'CREATE DATABASE "memories" OWNER "dba"' in result.stdout
    assert 'CREATE ROLE "svc" LOGIN' in result.stdout
    assert "word@" not in result.stdout


def test_a_missing_extension_is_named_with_what_makes_it(
    own_roles: RoleNames, postgres_server: EmbeddedPostgres
) -> None:
    owner = postgres_server.dsn(role=own_roles.owner, database=own_roles.database)
    result = run("--app-role", own_roles.app, MNEME_POSTGRES_OWNER_URL=owner)
    assert result.exit_code == 1
    assert "CREATE EXTENSION vector SCHEMA public" in result.stderr


async def test_printed_roles_serve_under_names_of_their_own(
    own_roles: RoleNames, postgres_server: EmbeddedPostgres
) -> None:
    superuser = await asyncpg.connect(postgres_server.dsn(role="postgres", database=own_roles.database))
    await superuser.execute("CREATE EXTENSION vector SCHEMA public")
    await superuser.close()
    owner = postgres_server.dsn(role=own_roles.owner, database=own_roles.database)
    result = await _run_apart("--app-role", own_roles.app, MNEME_POSTGRES_OWNER_URL=owner)
    assert result.exit_code == 0, result.stderr
    service = await asyncpg.connect(postgres_server.dsn(role=own_roles.app, database=own_roles.database))
    try:
        assert await service.fetchval("SELECT nextval('gateway.journal_sequence')") == 1
        assert await service.fetchval("SELECT count(*) FROM episodic.episodes") == 0
        assert await service.fetchval("SHOW statement_timeout") == "30s"
    finally:
        await service.close()
    other = await _run_apart(MNEME_POSTGRES_OWNER_URL=owner)
    assert other.exit_code == 1
    assert "was made for another role than mneme_app" in other.stderr


async def test_with_a_graph_the_schemas_that_need_vectors_are_not_demanded(
    neo4j_url: str, own_roles: RoleNames, postgres_server: EmbeddedPostgres
) -> None:
    owner = postgres_server.dsn(role=own_roles.owner, database=own_roles.database)
    variables = {"MNEME_POSTGRES_OWNER_URL": owner, "MNEME_NEO4J_URL": neo4j_url}
    async with fresh_graph(neo4j_url) as graph:
        await graph.change_schema("MATCH (m:MnemeMigration) DELETE m")
        checked = await _run_apart("--check", "--app-role", own_roles.app, **variables)
        applied = await _run_apart("--app-role", own_roles.app, **variables)
        again = await _run_apart("--check", "--app-role", own_roles.app, **variables)
    rows = [line.split()[:2] for line in applied.stdout.splitlines()[1:]]
    assert (checked.exit_code, applied.exit_code, again.exit_code) == (1, 0, 0), applied.stderr
    assert {tuple(row) for row in rows} == {
        ("PostgreSQL", "gateway"), ("PostgreSQL", "episodic"), ("PostgreSQL", "maintenance"),
        ("Neo4j", "semantic"), ("Neo4j", "agentic"), ("Neo4j", "maintenance"),
    }  # fmt: skip


async def _run_apart(*arguments: str, **variables: str) -> Result:
    """In a thread, because a command makes an event loop of its own."""
    return await asyncio.to_thread(run, *arguments, **variables)
