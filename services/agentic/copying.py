"""The tier's part of a copy from one installation to another."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from services.agentic.stores.postgres import SCHEMA
from services.common.copying.model import RecordStore
from services.common.copying.postgres import PostgresRecords
from services.common.postgres.types import Connection

if TYPE_CHECKING:  # loaded where a Neo4j is configured
    from services.common.neo4j.graph import Graph


async def open_agentic_records(connection: Connection, graph: Graph | None) -> Sequence[RecordStore]:
    """Notes with their vectors and links, processed interactions, and idempotency records.

    Args:
        connection: One that row-level security does not bind.
        graph: The graph that holds the tier's data; None: they are in PostgreSQL.

    Raises:
        CopyError: There is no schema.
    """
    if graph is None:
        return [await PostgresRecords.open(connection, schema=SCHEMA)]
    # Imported here: without Neo4j its driver is not loaded.
    from services.agentic.stores.neo4j_copy import KINDS
    from services.common.copying.neo4j import GraphRecords

    return [GraphRecords(graph, KINDS)]
