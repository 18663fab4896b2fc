"""All tables of a PostgreSQL schema as records, by the database's own catalog: no table or column is named here."""

from __future__ import annotations

import graphlib
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from services.common.copying.model import OWNER_FIELDS, CopyError, Key, Kind, Owner, Record
from services.common.copying.postgres_values import DECODED_JSON, ValueForm, form_of
from services.common.postgres.types import Connection

SEQUENCES: Final = "sequences"
"""Name of the kind that holds how far a schema's sequences are, identities of columns among them."""

_IS_OURS: Final = """
    c.relnamespace = $1::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
    AND c.relname NOT IN (
        'schema_migrations', 'owner_revisions', 'embedded_index', 'purges', 'purge_schedule', 'assertion_keys'
    )
"""
# Epochs are of one database: its caches load anew by them. So are the claim of an embedded index, and what was purged.
# The words of statements follow from these: the target's triggers store them.
# Tables divided into partitions are one table here: what is written to it finds its place by itself. What one database
# numbers its rows by for itself is an identity "by default", or, where tables in partitions cannot have one, a column
# with a sequence that belongs to it: each database numbers its own. A second vector of a fact is not copied: a job
# makes it again. Nor is the revision at which a mark was added: revisions are of one database, as epochs are.
_NUMBERS_ITSELF: Final = """
    (a.attidentity = 'd' OR EXISTS (
        SELECT FROM pg_depend AS o JOIN pg_class AS s ON s.oid = o.objid AND s.relkind = 'S'
        WHERE o.refobjid = a.attrelid AND o.refobjsubid = a.attnum AND o.deptype = 'a'
    ))
"""
_COLUMNS: Final = f"""
    SELECT c.relname::text AS table_name, a.attname::text AS name, format_type(a.atttypid, NULL) AS type_name,
        array_position(i.indkey::int2[], a.attnum) AS key_position
    FROM pg_class AS c
    JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''
        AND NOT {_NUMBERS_ITSELF}
    LEFT JOIN pg_index AS i ON i.indrelid = c.oid AND i.indisprimary
    WHERE {_IS_OURS} AND a.attname NOT IN ('second_model', 'second_embedding', 'marks_revision')
    ORDER BY c.relname, a.attnum
"""  # noqa: S608 - a constant
_REFERENCES: Final = f"""
    SELECT c.relname::text AS table_name, f.relname::text AS referred
    FROM pg_constraint AS k
    JOIN pg_class AS c ON c.oid = k.conrelid
    JOIN pg_class AS f ON f.oid = k.confrelid AND NOT f.relispartition AND f.oid <> c.oid
    WHERE k.contype = 'f' AND {_IS_OURS}
"""  # noqa: S608 - a constant
_SHARED_SEQUENCE: Final = f"""
    schemaname = $1 AND NOT EXISTS (
        SELECT FROM pg_depend AS d JOIN pg_attribute AS a ON a.attrelid = d.refobjid AND a.attnum = d.refobjsubid
        WHERE d.objid = format('%I.%I', schemaname, sequencename)::regclass AND d.deptype IN ('a', 'i')
            AND {_NUMBERS_ITSELF}
    )
"""
_HAS_SEQUENCES: Final = f"SELECT EXISTS (SELECT FROM pg_sequences WHERE {_SHARED_SEQUENCE})"  # noqa: S608 - a constant
_SEQUENCES: Final = f"""
    SELECT sequencename::text AS sequence, last_value AS value FROM pg_sequences
    WHERE {_SHARED_SEQUENCE} AND last_value IS NOT NULL AND ($2::text IS NULL OR sequencename > $2)
    ORDER BY sequencename::text COLLATE "C"
"""  # noqa: S608 - a constant


@dataclass(frozen=True, slots=True)
class _Table:
    """How one table is read and written."""

    name: str  # quoted, with its schema
    columns: Mapping[str, ValueForm]
    texts: frozenset[str]  # columns whose order depends on a collation
    condition: str = "true"  # SQL: which of its rows are records

    def record(self, row: Any) -> Record:
        return {
            name: None if (value := row[name]) is None else form.to_record(value) for name, form in self.columns.items()
        }

    def row(self, record: Record) -> list[Any]:
        return [
            None if (value := record[name]) is None else form.from_record(value) for name, form in self.columns.items()
        ]


class PostgresRecords:
    """A `RecordStore` of one schema, through a connection that row-level security does not bind.

    Records are written in transactions, one for each call, so that a table holds whole pages. Triggers on updates and
    deletions do not come into it: rows are added and never changed.
    """

    def __init__(
        self, connection: Connection, schema: str, kinds: Sequence[Kind], tables: Mapping[str, _Table]
    ) -> None:
        """Use `open`."""
        self._connection = connection
        self._schema = schema
        self._kinds = tuple(kinds)
        self._tables = tables

    @classmethod
    async def open(
        cls,
        connection: Connection,
        *,
        schema: str,
        has_json_codec: bool = False,
        conditions: Mapping[str, str] | None = None,
    ) -> PostgresRecords:
        """Reads the tables from the catalog.

        Args:
            connection: As `open_administration` makes it, or of a pool; used by one task at a time.
            schema: Whose tables; kinds are named by it and their tables.
            has_json_codec: JSON passes the connection as objects, as in the connections of a pool.
            conditions: By table, which of its rows `count` and `read` see: SQL, a constant of the program.

        Raises:
            CopyError: The schema is missing, a table has no key, or a column's type is not known.
        """
        if not await connection.fetchval("SELECT true FROM pg_namespace WHERE nspname = $1", schema):
            raise CopyError(f"there is no schema {schema}: run the migrations")
        kinds: dict[str, Kind] = {}
        tables: dict[str, _Table] = {}
        for name, columns in (await _columns(connection, schema)).items():
            kind = _kind(f"{schema}.{name}", columns)
            kinds[name] = kind
            texts = frozenset(row["name"] for row in columns if row["type_name"] == "text")
            forms = _forms(kind.name, columns, has_json_codec=has_json_codec)
            condition = (conditions or {}).get(name, "true")
            tables[kind.name] = _Table(f"{_quoted(schema)}.{_quoted(name)}", forms, texts, condition)
        ordered = [kinds[name] for name in await _order(connection, schema, kinds)]
        if await connection.fetchval(_HAS_SEQUENCES, schema):
            sequences = Kind(name=f"{schema}.{SEQUENCES}", key=("sequence",), fields=frozenset({"sequence", "value"}))
            ordered.append(sequences)
        return cls(connection, schema, ordered, tables)

    @property
    def kinds(self) -> Sequence[Kind]:
        """Tables, those that others refer to first; then sequences, so that writing goes on behind what is there."""
        return self._kinds

    async def count(self, kind: Kind) -> int:
        """See `RecordStore.count`."""
        if kind.name not in self._tables:
            return len(await self._connection.fetch(_SEQUENCES, self._schema, None))
        table = self._tables[kind.name]
        query = f"SELECT count(*) FROM {table.name} WHERE {table.condition}"  # noqa: S608 - from the catalog
        return int(await self._connection.fetchval(query))

    async def read(self, kind: Kind, *, after: Key | None, limit: int) -> list[Record]:
        """See `RecordStore.read`. The order is that of the primary key, by the database's collation."""
        if kind.name not in self._tables:
            rows = await self._connection.fetch(_SEQUENCES, self._schema, after[0] if after else None)
            return [dict(row) for row in rows]
        table = self._tables[kind.name]
        key = ", ".join(_quoted(name) for name in kind.key)
        behind, values = "", []
        if after is not None:
            marks = ", ".join(f"${number}" for number in range(2, len(after) + 2))
            behind = f"AND ({key}) > ({marks})"
            values = [table.columns[name].from_record(value) for name, value in zip(kind.key, after, strict=True)]
        names = ", ".join(_quoted(name) for name in table.columns)
        query = (
            f"SELECT {names} FROM {table.name} WHERE {table.condition} {behind} "  # noqa: S608 - from the catalog
            f"ORDER BY {key} LIMIT $1"
        )
        return [table.record(row) for row in await self._connection.fetch(query, limit, *values)]

    async def read_owned(self, kind: Kind, owner: Owner, *, after: Key | None, limit: int) -> list[Record]:
        """See `OwnedRecords.read_owned`. Texts are in the order of their bytes, whatever the database's collation."""
        table = self._tables[kind.name]
        key = [name for name in kind.key if name not in OWNER_FIELDS]
        ordered = ", ".join(_quoted(name) + (' COLLATE "C"' if name in table.texts else "") for name in key) or "1"
        behind, values = "", []
        if after is not None:
            marks = ", ".join(f"${number}" for number in range(4, len(key) + 4))
            behind = f"AND ({ordered}) > ({marks})" if key else "AND false"
            found = dict(zip(kind.key, after, strict=True))
            values = [table.columns[name].from_record(found[name]) for name in key]
        names = ", ".join(_quoted(name) for name in table.columns)
        query = (
            f"SELECT {names} FROM {table.name} WHERE tenant_id = $1 AND user_id = $2 {behind} "  # noqa: S608
            f"ORDER BY {ordered} LIMIT $3"
        )
        return [table.record(row) for row in await self._connection.fetch(query, *owner, limit, *values)]

    async def write(self, kind: Kind, records: Sequence[Record], *, replace: bool = False) -> None:
        """See `RecordStore.write`; with `replace`, records whose key is there become those that are given."""
        if kind.name not in self._tables:
            for record in records:
                name = f"{_quoted(self._schema)}.{_quoted(record['sequence'])}"
                await self._connection.execute("SELECT setval($1::text::regclass, $2, true)", name, record["value"])
            return
        table = self._tables[kind.name]
        names = ", ".join(_quoted(name) for name in table.columns)
        marks = ", ".join(f"${number}" for number in range(1, len(table.columns) + 1))
        key = ", ".join(_quoted(name) for name in kind.key)
        # Identities keep the values that others know them by.
        others = [_quoted(name) for name in table.columns if name not in kind.key]
        change = ", ".join(f"{name} = excluded.{name}" for name in others)
        if "user_id" in table.columns and "user_id" not in kind.key:
            change += f" WHERE {table.name}.user_id = excluded.user_id"  # nobody else's record is replaced
        query = (
            f"INSERT INTO {table.name} ({names}) OVERRIDING SYSTEM VALUE VALUES ({marks}) "  # noqa: S608
            f"ON CONFLICT ({key}) DO " + (f"UPDATE SET {change}" if replace and others else "NOTHING")
        )
        async with self._connection.transaction():
            await self._connection.executemany(query, [table.row(record) for record in records])


async def _columns(connection: Connection, schema: str) -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = defaultdict(list)
    for row in await connection.fetch(_COLUMNS, schema):
        found[row["table_name"]].append(row)
    return found


def _kind(name: str, columns: Sequence[Any]) -> Kind:
    key = sorted((row["key_position"], row["name"]) for row in columns if row["key_position"] is not None)
    if not key:
        raise CopyError(f"table {name} has no primary key: it cannot be copied in pages")
    return Kind(name=name, key=tuple(column for _, column in key), fields=frozenset(row["name"] for row in columns))


def _forms(name: str, columns: Sequence[Any], *, has_json_codec: bool) -> dict[str, ValueForm]:
    try:
        return {
            row["name"]: DECODED_JSON
            if has_json_codec and row["type_name"] in ("json", "jsonb")
            else form_of(row["type_name"].removeprefix("public."))
            for row in columns
        }
    except LookupError as error:
        raise CopyError(f"table {name} has a column of a type that copying does not know: {error}") from error


async def _order(connection: Connection, schema: str, kinds: Mapping[str, Kind]) -> list[str]:
    """Tables behind those that they refer to, otherwise by name."""
    graph: dict[str, set[str]] = {name: set() for name in sorted(kinds)}
    for row in await connection.fetch(_REFERENCES, schema):
        graph[row["table_name"]].add(row["referred"])
    return list(graphlib.TopologicalSorter(graph).static_order())


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
