"""Encryption of rows that were stored before it was switched on."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Any, Final

from services.common.encryption.envelope import SEALED_BYTES, SEALED_TEXT
from services.common.encryption.postgres import DataKeys
from services.common.encryption.rows import Form, Row, SealedTable
from services.common.postgres.types import Connection

_IS_PLAIN: Final = {
    Form.TEXT: "({0} <> '' AND left({0}, length($1)) <> $1)",
    Form.NAME: "({0} <> '' AND left({0}, length($1)) <> $1)",
    Form.NAMES: "EXISTS (SELECT FROM unnest({0}) AS name WHERE name <> '' AND left(name, length($1)) <> $1)",
    Form.JSON: "({0} <> '{{}}' AND {0} <> '[]' AND NOT ({0} ? 'sealed' AND jsonb_typeof({0}) = 'object'))",
    Form.BYTES: "({0} <> '' AND substring({0}, 1, length($2::bytea)) <> $2)",
}


async def encrypt_existing(
    reader: Connection,
    writer: Connection,
    keys: DataKeys,
    schema: str,
    tables: Iterable[SealedTable],
    *,
    rows_at_once: int = 500,
) -> dict[str, int]:
    """Encrypts what is plain in the encrypted columns of a schema's tables. Services may run, with the same keys.

    May be interrupted and repeated. A row that changes meanwhile is left to the next run.

    Args:
        reader: Of a role that row-level security does not bind, with `register_codecs`, in no transaction.
        writer: Another such connection.
        keys: Of the schema.
        schema: Its name.
        tables: Its tables.
        rows_at_once: In one transaction, >= 1.

    Returns:
        How many rows were encrypted, by table.
    """
    counts: dict[str, int] = {}
    for table in tables:
        condition = " OR ".join(_IS_PLAIN[form].format(column) for column, form in table.columns.items())
        names = ", ".join(("tenant_id", "user_id", *table.record, *table.columns))
        # Casts, so that the types of both parameters are known where a table needs one of them.
        statement = (
            f"SELECT {names} FROM {schema}.{table.name}"  # noqa: S608 - names of ours
            f" WHERE ($1::text, $2::bytea) IS NOT NULL AND ({condition})"
        )
        count = 0
        async with reader.transaction(readonly=True):
            await _as_worker(reader)
            cursor = await reader.cursor(statement, SEALED_TEXT, SEALED_BYTES)
            while found := await cursor.fetch(rows_at_once):
                count += await _encrypt(writer, keys, schema, table, found)
        counts[table.name] = count
    return counts


async def _encrypt(
    connection: Connection, keys: DataKeys, schema: str, table: SealedTable, found: Sequence[Row]
) -> int:
    count = 0
    ordered = sorted(found, key=lambda row: (row["tenant_id"], row["user_id"]))
    for tenant_id, of_tenant in groupby(ordered, key=lambda row: str(row["tenant_id"])):
        rows = list(of_tenant)
        async with connection.transaction():
            await _as_worker(connection)
            await connection.execute("SELECT set_config('mneme.tenant', $1, true)", tenant_id)
            ciphers = await keys.for_writing(connection, tenant_id, {row["user_id"] for row in rows})
            for row in rows:
                cipher = ciphers.of(tenant_id, row["user_id"])
                sealed = table.seal(cipher, dict(table.open(cipher, row)))
                count += await _replace(connection, schema, table, row, sealed)
    return count


async def _replace(connection: Connection, schema: str, table: SealedTable, row: Row, sealed: dict[str, Any]) -> int:
    """Writes a row's columns where they are still what was read; a row that is there already as sealed is dropped."""
    columns = list(table.columns)
    named = ["tenant_id", "user_id", *table.record]
    places = [f"{name} = ${number}" for number, name in enumerate(named, start=1)]
    old = [f"{name} IS NOT DISTINCT FROM ${number}" for number, name in enumerate(columns, start=len(named) + 1)]
    start = len(named) + len(columns) + 1
    new = [f"{name} = ${number}" for number, name in enumerate(columns, start=start)]
    key = [row[name] for name in named]
    before, after = [row[name] for name in columns], [sealed[name] for name in columns]
    where = " AND ".join((*places, *old))
    if not table.record:  # the columns are the key
        same = " AND ".join((*places, *(f"{name} = ${n}" for n, name in enumerate(columns, start=len(named) + 1))))
        if await connection.fetchval(f"SELECT true FROM {schema}.{table.name} WHERE {same}", *key, *after):  # noqa: S608
            await connection.execute(f"DELETE FROM {schema}.{table.name} WHERE {where}", *key, *before)  # noqa: S608
            return 1
    status = await connection.execute(
        f"UPDATE {schema}.{table.name} SET {', '.join(new)} WHERE {where}",  # noqa: S608 - names of ours
        *key,
        *before,
        *after,
    )
    return int(status.rpartition(" ")[2])


async def _as_worker(connection: Connection) -> None:
    await connection.execute("SELECT set_config('mneme.worker', 'on', true)")
