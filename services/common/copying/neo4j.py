"""Nodes and relationships of a graph as records."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, LiteralString

import neo4j.vector
import numpy as np

from services.common.copying.model import OWNER_FIELDS, CopyError, Key, Kind, Owner, Record
from services.common.copying.postgres_values import vector_bytes
from services.common.neo4j.graph import USER_AGENT, Graph, GraphTransaction

COPY_AGENT: Final = "mneme-copy"
"""What a server lists the connections of a copy as."""

_CLIENTS: Final = """
CALL dbms.listConnections() YIELD userAgent
WHERE userAgent = $agent
RETURN count(*) AS clients
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphKind:
    """How one kind is read from a graph and written to it."""

    kind: Kind
    match: LiteralString
    """Pattern that binds `n`, the node whose index has the key, such as "(n:MnemeFact)"."""
    reads: Mapping[str, LiteralString]
    """Cypher for each field of a record, of what the pattern binds."""
    indexed: int
    """Fields of the key, its first ones, that are properties of `n` in an index."""
    write: LiteralString
    """Statement that creates what the maps in `$rows` describe, where it is missing. It must be repeatable."""
    conflicts: LiteralString = ""
    """Query that counts, as `conflicts`, those of `$rows` that conflict with other records of the graph."""
    conflict: str = ""
    """What is then wrong, for people."""
    condition: LiteralString = "true"
    """Distinguishes records from other nodes of the pattern."""
    decode: Mapping[str, Callable[[Any], Any]] = field(default_factory=dict)
    """How values that are read become those of a record, where they are others; None is not given to it."""
    row: Callable[[Record], Mapping[str, Any]] = dict
    """What `write` is given of a record."""


class GraphRecords:
    """A `RecordStore` of one component's part of a graph."""

    def __init__(self, graph: Graph, kinds: Sequence[GraphKind]) -> None:
        """Use a graph whose owner closes it; kinds that others refer to come first."""
        self._graph = graph
        self._kinds = {kind.kind.name: kind for kind in kinds}

    @property
    def kinds(self) -> Sequence[Kind]:
        """See `RecordStore.kinds`."""
        return tuple(kind.kind for kind in self._kinds.values())

    async def count(self, kind: Kind) -> int:
        """See `RecordStore.count`."""
        described = self._kinds[kind.name]
        query: LiteralString = f"MATCH {described.match} WHERE {described.condition} RETURN count(*) AS records"
        return int((await self._graph.read(query))[0]["records"])

    async def read(self, kind: Kind, *, after: Key | None, limit: int) -> list[Record]:
        """See `RecordStore.read`. The order is that of the key's fields, as the graph compares them.

        A key is passed by one query for each of its fields, from the last to the first: each is a seek in the index,
        while a comparison of whole keys would read all nodes before them.
        """
        described = self._kinds[kind.name]
        found: list[Record] = []
        if after is None:
            return await self._read(described, None, None, limit)
        for level in reversed(range(len(kind.key))):
            found += await self._read(described, level, after, limit - len(found))
            if len(found) >= limit:
                break
        return found

    async def read_owned(self, kind: Kind, owner: Owner, *, after: Key | None, limit: int) -> list[Record]:
        """See `OwnedRecords.read_owned`."""
        described = self._kinds[kind.name]
        if after is None:
            return await self._read(described, None, owner, limit, owned=True)
        found: list[Record] = []
        for level in reversed(range(len(OWNER_FIELDS), len(kind.key))):
            found += await self._read(described, level, after, limit - len(found), owned=True)
            if len(found) >= limit:
                break
        return found

    async def write(self, kind: Kind, records: Sequence[Record], *, replace: bool = False) -> None:  # noqa: ARG002
        """See `RecordStore.write`. The records of one call are one transaction.

        A record whose key is there already is always replaced, so `replace` makes no difference.

        Raises:
            CopyError: A record conflicts with another one in the graph.
        """
        described = self._kinds[kind.name]
        query: LiteralString = f"CYPHER 25 {described.write}"

        async def work(transaction: GraphTransaction) -> None:
            prepared = await self._prepared(transaction, described, records)
            rows = [dict(described.row(record)) for record in prepared]
            await transaction.run(query, {"rows": rows})
            if described.conflicts:
                [found] = await transaction.run(described.conflicts, {"rows": rows})
                if found["conflicts"]:
                    raise CopyError(described.conflict)

        await self._graph.write(work)

    async def _prepared(
        self,
        transaction: GraphTransaction,  # noqa: ARG002 - for those who write them in another form
        described: GraphKind,  # noqa: ARG002
        records: Sequence[Record],
    ) -> Sequence[Record]:
        """The records as they are written, in the transaction of that."""
        return records

    async def _read(
        self, described: GraphKind, level: int | None, after: Key | None, limit: int, *, owned: bool = False
    ) -> list[Record]:
        query = _query(described, level, owned=owned)
        parameters: dict[str, Any] = {"limit": limit}
        parameters.update({f"k{number}": value for number, value in enumerate(after or ())})
        return [self._record(described, row) for row in await self._graph.read(query, parameters)]

    def _record(self, described: GraphKind, row: Mapping[str, Any]) -> Record:
        record = dict(row)
        for name, decode in described.decode.items():
            if record[name] is not None:
                record[name] = decode(record[name])
        return record


_NUMBERS: Final[tuple[LiteralString, ...]] = ("0", "1", "2", "3", "4", "5", "6", "7")


def _query(described: GraphKind, level: int | None, *, owned: bool = False) -> LiteralString:
    """Records whose key begins as the parameters do, up to a field that is greater; all of them without a level.

    Those of one owner have the first fields of the parameters in any case.
    """
    expressions = [described.reads[name] for name in described.kind.key]
    conditions: list[LiteralString] = [described.condition]
    for number, (expression, place) in enumerate(zip(expressions, _NUMBERS, strict=False)):
        if (level is not None and number < level) or (owned and number < len(OWNER_FIELDS)):
            conditions.append(f"{expression} = $k{place}")
        elif level is not None and number == level:
            conditions.append(f"{expression} > $k{place}")
        elif number < described.indexed:
            # Says to the planner that the index has it.
            conditions.append(f"{expression} IS NOT NULL")
    fields: list[LiteralString] = [f"{expression} AS `{name}`" for name, expression in _named(described)]
    where: LiteralString = " AND ".join(conditions)
    order: LiteralString = ", ".join(expressions)
    returned: LiteralString = ", ".join(fields)
    return f"CYPHER 25 MATCH {described.match} WHERE {where} WITH * ORDER BY {order} LIMIT $limit RETURN {returned}"


def key_queries(described: GraphKind) -> list[LiteralString]:
    """All queries that read a kind, for the test that reads their plans."""
    return [_query(described, None), *(_query(described, level) for level in range(len(described.kind.key)))]


def _named(described: GraphKind) -> list[tuple[LiteralString, LiteralString]]:
    """Fields with what reads them. Names are constants of this program, as the expressions are."""
    names: Any = described.reads.items()
    return list(names)


async def clients_connected(graph: Graph) -> Sequence[str]:
    """Says so where services are connected to the same server."""
    rows = await graph.read(_CLIENTS, {"agent": USER_AGENT})
    clients = int(rows[0]["clients"])
    return [f"{clients} connections to Neo4j"] if clients else []


def vector_from_graph(value: Any) -> bytes:
    """A stored vector, or list of numbers, as records have it."""
    if isinstance(value, neo4j.vector.Vector):
        value = value.to_numpy()
    return vector_bytes(np.asarray(value, dtype=np.float32))


def four_byte(vector: LiteralString) -> LiteralString:
    """Cypher for stored numbers as a vector, which is sent and read several times faster than a list."""
    return f"vector({vector}, size({vector}), FLOAT32)"


def micros(moment: LiteralString) -> LiteralString:
    """Cypher for a stored time as whole microseconds since 1970, exact; null where it is.

    By its milliseconds: the server rounds the seconds of times before 1970 towards 1970.
    """
    return f"{moment}.epochMillis * 1000 + {moment}.microsecond % 1000"
