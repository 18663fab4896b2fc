"""The drivers of `UserRecordStore`, over those of copying."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Final

import asyncpg

from services.common.copying.model import Kind, OwnedRecords, Owner, Record
from services.common.copying.postgres import PostgresRecords
from services.common.encryption.postgres import NO_DATA_KEYS, DataKeys
from services.common.encryption.rows import SealedTable
from services.common.errors import InvalidArgument
from services.common.portability.sealed import OpenedRecords
from services.common.postgres.tenancy import tenant_transaction
from services.common.postgres.types import Connection, Pool

if TYPE_CHECKING:  # loaded where a Neo4j is configured
    from services.common.copying.neo4j import GraphKind
    from services.common.encryption.neo4j import GraphDataKeys
    from services.common.encryption.neo4j_content import SealedKind
    from services.common.neo4j.graph import Graph


_REFUSED: Final = (
    asyncpg.DataError,
    asyncpg.IntegrityConstraintViolationError,
    ValueError,
    TypeError,
    AttributeError,
    OverflowError,
)
"""What values of a wrong type or range lead to, in the driver and in the server."""


OnWrite = Callable[[Connection, Owner, Kind, Sequence[Record]], Awaitable[None]]
"""What else a write changes in the same transaction."""


class PostgresUserRecords:
    """All tables of a schema, in one transaction of the tenant."""

    def __init__(
        self,
        pool: Pool,
        schema: str,
        on_write: OnWrite | None = None,
        *,
        keys: DataKeys = NO_DATA_KEYS,
        sealed: Iterable[SealedTable] = (),
    ) -> None:
        """Reads the tables from the database's catalog: one that is added later is exported too.

        Encrypted columns of the tables `sealed` are decrypted with `keys` on the way out and encrypted on the way in.
        """
        self._pool = pool
        self._keys = keys
        self._sealed = {f"{schema}.{table.name}": table for table in sealed}
        self._schema = schema
        self._on_write = on_write

    @contextlib.asynccontextmanager
    async def open(self, tenant_id: str) -> AsyncIterator[OwnedRecords]:
        """See `UserRecordStore.open`."""
        async with tenant_transaction(self._pool, tenant_id) as connection:
            tables = await PostgresRecords.open(connection, schema=self._schema, has_json_codec=True)
            try:
                opened: OwnedRecords = OpenedRecords(connection, tables, self._keys, self._sealed)
                yield _Tables(connection, opened, self._on_write) if self._on_write else opened
            except _REFUSED as error:
                # Without the driver's text, which quotes what people said.
                raise InvalidArgument("a record does not fit: a value is of a wrong type or out of range") from error


class _Tables:
    """Tables with what else a write changes."""

    def __init__(self, connection: Connection, tables: OwnedRecords, on_write: OnWrite) -> None:
        self._connection = connection
        self._tables = tables
        self._on_write = on_write
        self.kinds = tables.kinds
        self.read_owned = tables.read_owned

    async def write(self, kind: Kind, records: Sequence[Record], *, replace: bool = False) -> None:
        await self._tables.write(kind, records, replace=replace)
        if records:
            owner = (records[0]["tenant_id"], records[0]["user_id"])
            await self._on_write(self._connection, owner, kind, records)


class GraphUserRecords:
    """One component's part of a graph; each write is a transaction of its own."""

    def __init__(
        self, graph: Graph, kinds: Sequence[GraphKind], sealed: Sequence[SealedKind], keys: GraphDataKeys
    ) -> None:
        """Use a graph whose owner closes it.

        What is encrypted of the kinds `sealed` is decrypted with `keys` on the way out and encrypted on the way in.
        """
        self._graph = graph
        self._kinds = kinds
        self._sealed = sealed
        self._keys = keys

    @contextlib.asynccontextmanager
    async def open(self, tenant_id: str) -> AsyncIterator[OwnedRecords]:  # noqa: ARG002 - every query names the tenant
        """See `UserRecordStore.open`."""
        # Imported here: without Neo4j its driver is not loaded.
        from services.common.encryption.neo4j_content import opened_graph_records

        yield opened_graph_records(self._graph, self._kinds, self._sealed, self._keys)
