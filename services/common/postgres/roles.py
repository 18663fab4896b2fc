"""What an administrator of a PostgreSQL server makes once: the roles, and the database."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from services.common.postgres.migrations import APP_ROLE, quoted
from services.common.postgres.types import Connection

SERVER_VERSION_MIN: Final = 15
"""Oldest major version of PostgreSQL that is tested."""

_ROLE: Final = "SELECT rolsuper OR rolbypassrls AS is_unbound FROM pg_roles WHERE rolname = $1"
_OWNS: Final = """
    SELECT pg_has_role($1, c.oid, 'MEMBER')
    FROM (SELECT oid FROM pg_roles WHERE rolname = current_user) AS c
"""
_RIGHTS: Final = "SELECT has_schema_privilege($1, n.oid, 'USAGE') FROM pg_namespace AS n WHERE n.nspname = $2"


@dataclass(frozen=True, kw_only=True)
class RoleNames:
    """Who is who in a database."""

    database: str = "mneme"
    """The database of the services."""
    owner: str = "mneme_owner"
    """Owns the schemas and migrates them."""
    app: str = APP_ROLE
    """The role of the services: bound by row-level security."""


def roles_sql(names: RoleNames) -> str:
    """Statements for psql that make roles and database on a server that has neither; passwords are asked for."""
    owner, app, database = quoted(names.owner), quoted(names.app), quoted(names.database)
    return f"""\
-- Run once in psql, by an administrator of the server.
CREATE ROLE {owner} LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOBYPASSRLS;
CREATE ROLE {app} LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOBYPASSRLS;
CREATE DATABASE {database} OWNER {owner} TEMPLATE template0 ENCODING 'UTF8';
REVOKE ALL ON DATABASE {database} FROM PUBLIC;
GRANT CONNECT ON DATABASE {database} TO {app};
-- Services send these limits themselves, but not through PgBouncer.
ALTER ROLE {app} IN DATABASE {database} SET statement_timeout = '30s';
ALTER ROLE {app} IN DATABASE {database} SET idle_in_transaction_session_timeout = '5min';
ALTER ROLE {app} IN DATABASE {database} SET jit = off;
-- psql asks for the passwords of both.
\\password {owner}
\\password {app}
-- Only where facts and notes are in PostgreSQL, and not in Neo4j: vectors, made by a superuser.
-- \\connect {database}
-- CREATE EXTENSION IF NOT EXISTS vector SCHEMA public;
"""


async def obstacles(connection: Connection, *, app_role: str, needs_vectors: bool) -> list[str]:
    """Why the owner of this connection cannot migrate a database, or services could not safely use it afterwards.

    Args:
        connection: As the role that owns the schemas.
        app_role: Role of the services.
        needs_vectors: Whether it holds vectors.
    """
    found = []
    version = connection.get_server_version().major
    if version < SERVER_VERSION_MIN:
        found.append(f"the server is PostgreSQL {version}, Mneme needs {SERVER_VERSION_MIN} or newer")
    role = await connection.fetchrow(_ROLE, app_role)
    if role is None:
        found.append(f"role {app_role} does not exist; `mneme migrate --print-roles` prints what makes it")
    elif role["is_unbound"]:
        found.append(f"role {app_role} is a superuser or has BYPASSRLS: tenants would see each other's rows")
    elif await connection.fetchval(_OWNS, app_role):
        found.append(f"role {app_role} is the owner or a member of it: MNEME_POSTGRES_OWNER_URL needs another one")
    if not await connection.fetchval("SELECT has_database_privilege(current_database(), 'CREATE')"):
        found.append("the role of MNEME_POSTGRES_OWNER_URL may not make schemas: it must own the database")
    if needs_vectors and not await connection.fetchval("SELECT to_regtype('public.vector') IS NOT NULL"):
        found.append(
            "the extension vector (pgvector) is missing in schema public, and facts and notes are to be stored here: "
            "as a superuser of this database CREATE EXTENSION vector SCHEMA public; or set MNEME_NEO4J_URL"
        )
    return found


async def is_without_rights(connection: Connection, *, app_role: str, schema: str) -> bool:
    """Whether a schema exists that the services' role cannot use: it was made for another one."""
    return await connection.fetchval(_RIGHTS, app_role, schema) is False
