"""Versioned Cypher migrations of one component's part of a graph."""

from __future__ import annotations

import asyncio
import hashlib
import re
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Final, LiteralString

import stamina

from services.common.errors import Conflict, FailedPrecondition
from services.common.neo4j.graph import Graph, GraphTransaction

_FILE_NAME: Final = re.compile(r"(?P<version>\d{4})_(?P<name>[a-z0-9_]+)\.cypher")
_COMMENT: Final = re.compile(r"^\s*//.*$", re.MULTILINE)

_CONSTRAINT: Final = (
    "CREATE CONSTRAINT mneme_migration_key IF NOT EXISTS "
    "FOR (m:MnemeMigration) REQUIRE (m.component, m.version) IS UNIQUE"
)
_APPLIED: Final = (
    "MATCH (m:MnemeMigration) WHERE m.component = $component AND m.version >= 0 "
    "RETURN m.version AS version, m.sha256 AS sha256 ORDER BY version"
)
_RECORD: Final = (
    "MERGE (m:MnemeMigration {component: $component, version: $version}) "
    "ON CREATE SET m.name = $name, m.sha256 = $sha256, m.applied_time = datetime()"
)
_NAMED: Final = re.compile(r"\b(?:INDEX|CONSTRAINT)\s+(?P<name>\w+)\s+IF\s+NOT\s+EXISTS", re.IGNORECASE)
_INDEXES: Final = (
    "SHOW INDEXES YIELD name, state, failureMessage WHERE name IN $names AND state <> 'ONLINE' "
    "RETURN name, state, failureMessage ORDER BY name"
)
_POLL_SECONDS: Final = 0.1


class MigrationError(FailedPrecondition):
    """The graph cannot be brought up to date."""


@dataclass(frozen=True, slots=True)
class Migration:
    """One file `NNNN_title.cypher`."""

    version: int
    """Number NNNN, from 1 without gaps."""
    name: str
    """The title."""
    statements: tuple[LiteralString, ...]
    """Each ends with a semicolon in the file; each is repeatable (IF NOT EXISTS, MERGE)."""
    sha256: str
    """Checksum of the file in hex; an applied file must not change."""


def load_migrations(folder: Path) -> list[Migration]:
    """A folder's migrations in the order of their versions.

    Raises:
        MigrationError: A misnamed .cypher file, two files of one version, or a gap.
    """
    found: list[Migration] = []
    for file in sorted(folder.glob("*.cypher")):
        match = _FILE_NAME.fullmatch(file.name)
        if match is None:
            raise MigrationError(f"migration file {file.name} is not named NNNN_title.cypher")
        text = file.read_text("utf-8")
        parts = (part.strip() for part in _COMMENT.sub("", text).split(";"))
        # The files are part of this program: as constant as a literal in it.
        statements: tuple[LiteralString, ...] = tuple(part for part in parts if part)
        digest = hashlib.sha256(text.encode("utf-8")).hexdigest()
        found.append(Migration(int(match["version"]), match["name"], statements, digest))
    versions = [migration.version for migration in found]
    if versions != list(range(1, len(found) + 1)):
        raise MigrationError(f"migrations in {folder} must be numbered 0001, 0002, ...; found {versions}")
    return found


async def migrate_graph(
    graph: Graph, *, component: str, folder: Path, await_indexes_seconds: float = 300.0
) -> list[int]:
    """Brings a component's indexes and constraints up to date. Any number of processes may do so at once.

    Neo4j changes its schema outside of transactions, so every statement of a file is repeatable and a crash between two
    of them is mended by the next run. Processes that run the same file at once do the same thing twice, which changes
    nothing; the file is recorded once.

    Args:
        graph: The database, as a user who may change its schema.
        component: Whose migrations, such as "agentic".
        folder: Folder of `NNNN_title.cypher` files.
        await_indexes_seconds: Patience with indexes over what is stored already, > 0.

    Returns:
        Versions applied by this call, ascending; empty when all were already.

    Raises:
        MigrationError: An applied file was changed, the graph is newer than the folder, or an index did not get ready.
        MnemeError: The server cannot be reached.
    """
    migrations = load_migrations(folder)
    await _change_schema(graph, _CONSTRAINT)
    known = await _applied(graph, component, migrations)
    applied = [migration for migration in migrations if migration.version not in known]
    for migration in applied:
        for statement in migration.statements:
            await _change_schema(graph, statement)
        await _record(graph, component, migration)
    await _await_indexes(graph, component, migrations, await_indexes_seconds)
    return [migration.version for migration in applied]


async def _await_indexes(graph: Graph, component: str, migrations: list[Migration], seconds: float) -> None:
    """Returns once the indexes that the files make can be used; those of other components are theirs to wait for.

    Asked again and again, each time in a transaction of its own: a new index is filled after all transactions that were
    open when it was made, so that one that waits for it, as `db.awaitIndexes` does, can be what it waits for.
    """
    text = "\n".join(statement for migration in migrations for statement in migration.statements)
    names = sorted({match["name"] for match in _NAMED.finditer(text)})
    until = time.monotonic() + seconds
    while missing := await graph.read(_INDEXES, {"names": names}):
        listed = ", ".join(row["name"] for row in missing)
        failed = [row for row in missing if row["state"] == "FAILED"]
        if failed:
            raise MigrationError(f"Neo4j could not make the index {failed[0]['name']}: {failed[0]['failureMessage']}")
        if time.monotonic() > until:
            raise MigrationError(
                f"indexes of {component} are not ready after {seconds:g} s ({listed}); Neo4j fills them once older "
                "transactions have ended: start the service again"
            )
        await asyncio.sleep(_POLL_SECONDS)


@stamina.retry(on=Conflict, attempts=20, timeout=60.0, wait_initial=0.05, wait_max=2.0)
async def _change_schema(graph: Graph, statement: LiteralString) -> None:
    """Changes the schema once nobody else does: two changes at once can meet as a deadlock or a violation."""
    await graph.change_schema(statement)


async def outstanding_graph(graph: Graph, *, component: str, folder: Path) -> list[Migration]:
    """What `migrate_graph` would apply; nothing is changed.

    Raises:
        MigrationError: An applied file was changed, or the graph is newer than the folder.
        MnemeError: The server cannot be reached.
    """
    migrations = load_migrations(folder)
    known = await _applied(graph, component, migrations)
    return [migration for migration in migrations if migration.version not in known]


async def _applied(graph: Graph, component: str, migrations: list[Migration]) -> set[int]:
    rows = await graph.read(_APPLIED, {"component": component})
    by_version = {migration.version: migration for migration in migrations}
    for row in rows:
        migration = by_version.get(row["version"])
        if migration is None:
            raise MigrationError(
                f"the graph of {component} is at version {rows[-1]['version']}, this program knows up to "
                f"{len(migrations)}: it is older than the database"
            )
        if migration.sha256 != row["sha256"]:
            raise MigrationError(
                f"migration {migration.version:04d}_{migration.name} of {component} was changed after it had been "
                "applied; restore the file and put the change into a new one"
            )
    return {row["version"] for row in rows}


@stamina.retry(on=Conflict, attempts=20, timeout=60.0, wait_initial=0.05, wait_max=2.0)
async def _record(graph: Graph, component: str, migration: Migration) -> None:
    async def record(transaction: GraphTransaction) -> None:
        await transaction.run(
            _RECORD,
            {
                "component": component,
                "version": migration.version,
                "name": migration.name,
                "sha256": migration.sha256,
            },
        )

    await graph.write(record)
