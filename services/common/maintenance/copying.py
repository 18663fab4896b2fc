"""The part of maintenance of a copy from one installation to another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from services.common.copying.model import Key, Kind, Record, RecordStore
from services.common.copying.postgres import PostgresRecords
from services.common.maintenance.graph_kinds import GRAPH_CLAIMS, GRAPH_LOG, GRAPH_REQUESTS, NUMBERED_BY_TABLE
from services.common.maintenance.postgres import SCHEMA
from services.common.postgres.types import Connection

if TYPE_CHECKING:  # loaded where a Neo4j is configured
    from services.common.neo4j.graph import Graph

LOG: Final = f"{SCHEMA}.log"

_CLAIMS: Final = f"{SCHEMA}.claims"
_REQUESTS: Final = f"{SCHEMA}.idempotency_records"
_HELD: Final[Record] = {"holder": "", "term": 0, "lease_until": 0}
"""What a claim says that nobody holds; terms are of one installation, whose numbers all begin above it."""
_OF_GRAPH_TIERS: Final = "split_part(job, '.', 1) IN ('semantic', 'agentic')"
_TO_GRAPH_TIERS: Final = "resource_id IN ('semantic', 'agentic')"


async def open_maintenance_records(connection: Connection, graph: Graph | None) -> Sequence[RecordStore]:
    """Claims with their cursors, idempotency records, and the log.

    What belongs to tiers that may be in a graph are kinds of their own, which are where the tier is. Nobody holds those
    claims in a copy: a run that was open goes on with the process that claims it next.

    Args:
        connection: One that row-level security does not bind.
        graph: The graph that holds data of tiers; None: all is in PostgreSQL.

    Raises:
        CopyError: There is no schema.
    """
    ours = {"log": _OF_GRAPH_TIERS, "claims": _OF_GRAPH_TIERS, "idempotency_records": _TO_GRAPH_TIERS}
    others = {table: f"NOT {condition}" for table, condition in ours.items()}
    tables = await PostgresRecords.open(connection, schema=SCHEMA, conditions=others)
    if graph is None:
        of_graph_tiers = await PostgresRecords.open(connection, schema=SCHEMA, conditions=ours)
        stores = (_GraphTierLog, _GraphTierClaims, _GraphTierRequests)
        return [tables, *(store(of_graph_tiers) for store in stores)]
    # Imported here: without Neo4j its driver is not loaded.
    from services.common.copying.neo4j import GraphRecords
    from services.common.maintenance.neo4j_copy import KINDS

    return [tables, GraphRecords(graph, KINDS)]


class _GraphTierLog:
    """The entries of jobs whose tier may be in a graph, where it is in PostgreSQL.

    A graph numbers its entries by itself, and so does a table, which other tiers' entries are in too. So that no two
    have one number wherever they are copied to, one bit says in a copy which of both has given it, and in a table
    whether a graph has.
    """

    def __init__(self, tables: PostgresRecords) -> None:
        """Over the tables of the schema, whose log shows these entries alone."""
        self._tables = tables
        self._log = next(kind for kind in tables.kinds if kind.name == LOG)
        self._kind = replace(self._log, name=GRAPH_LOG)

    @property
    def kinds(self) -> Sequence[Kind]:
        """The one kind."""
        return (self._kind,)

    async def count(self, kind: Kind) -> int:  # noqa: ARG002 - there is one
        """See `RecordStore.count`."""
        return await self._tables.count(self._log)

    async def read(self, kind: Kind, *, after: Key | None, limit: int) -> list[Record]:  # noqa: ARG002
        """See `RecordStore.read`."""
        begin = None if after is None else tuple(_turned(dict(zip(self._log.key, after, strict=True))).values())
        return [_turned(record) for record in await self._tables.read(self._log, after=begin, limit=limit)]

    async def write(self, kind: Kind, records: Sequence[Record]) -> None:  # noqa: ARG002
        """See `RecordStore.write`."""
        await self._tables.write(self._log, [_turned(record) for record in records])


def _turned(record: Record) -> Record:
    """From the table's number to that of a copy, and back."""
    return {**record, "entry_id": record["entry_id"] ^ NUMBERED_BY_TABLE}


class _GraphTierClaims:
    """The claims of jobs whose tier may be in a graph, where it is in PostgreSQL."""

    def __init__(self, tables: PostgresRecords) -> None:
        """Over the tables of the schema, whose claims show these alone."""
        self._tables = tables
        self._claims = next(kind for kind in tables.kinds if kind.name == _CLAIMS)
        self._kind = replace(self._claims, name=GRAPH_CLAIMS, fields=self._claims.fields - _HELD.keys())

    @property
    def kinds(self) -> Sequence[Kind]:
        """The one kind."""
        return (self._kind,)

    async def count(self, kind: Kind) -> int:  # noqa: ARG002 - there is one
        """See `RecordStore.count`."""
        return await self._tables.count(self._claims)

    async def read(self, kind: Kind, *, after: Key | None, limit: int) -> list[Record]:
        """See `RecordStore.read`."""
        found = await self._tables.read(self._claims, after=after, limit=limit)
        return [{name: value for name, value in record.items() if name in kind.fields} for record in found]

    async def write(self, kind: Kind, records: Sequence[Record]) -> None:  # noqa: ARG002
        """See `RecordStore.write`."""
        await self._tables.write(self._claims, [{**record, **_HELD} for record in records])


class _GraphTierRequests:
    """The idempotency records of those tiers, where they are in PostgreSQL."""

    def __init__(self, tables: PostgresRecords) -> None:
        """Over the tables of the schema, whose idempotency records show these alone."""
        self._tables = tables
        self._requests = next(kind for kind in tables.kinds if kind.name == _REQUESTS)
        self._kind = replace(self._requests, name=GRAPH_REQUESTS)

    @property
    def kinds(self) -> Sequence[Kind]:
        """The one kind."""
        return (self._kind,)

    async def count(self, kind: Kind) -> int:  # noqa: ARG002 - there is one
        """See `RecordStore.count`."""
        return await self._tables.count(self._requests)

    async def read(self, kind: Kind, *, after: Key | None, limit: int) -> list[Record]:  # noqa: ARG002
        """See `RecordStore.read`."""
        return await self._tables.read(self._requests, after=after, limit=limit)

    async def write(self, kind: Kind, records: Sequence[Record]) -> None:  # noqa: ARG002
        """See `RecordStore.write`."""
        await self._tables.write(self._requests, records)
