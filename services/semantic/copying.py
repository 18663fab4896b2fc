"""The tier's part of a copy from one installation to another."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from services.common.copying.mapped import Form, MappedRecords
from services.common.copying.model import Record, RecordStore
from services.common.copying.postgres import PostgresRecords
from services.common.postgres.types import Connection
from services.semantic.stores.postgres import SCHEMA

if TYPE_CHECKING:  # loaded where a Neo4j is configured
    from services.common.neo4j.graph import Graph

_FACTS: Final = f"{SCHEMA}.facts"


async def open_semantic_records(connection: Connection, graph: Graph | None) -> Sequence[RecordStore]:
    """Facts with their statements and vectors, profiles, what was read already, and idempotency records.

    Args:
        connection: One that row-level security does not bind.
        graph: The graph that holds the tier's data; None: they are in PostgreSQL.

    Raises:
        CopyError: There is no schema.
    """
    if graph is None:
        tables = await PostgresRecords.open(connection, schema=SCHEMA)
        return [MappedRecords(tables, {_FACTS: Form(outward=_plain)})]
    # Imported here: without Neo4j its driver is not loaded.
    from services.common.copying.neo4j import GraphRecords
    from services.semantic.stores.neo4j_copy import KINDS

    return [GraphRecords(graph, KINDS)]


def _plain(record: Record) -> Record:
    """A fact with its contradictions in an order that both engines have."""
    return {**record, "contradictions": sorted(record["contradictions"])}
