"""Which columns of a table are encrypted, and rows with them opened or sealed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final, TypeAlias

from services.common.encryption.cipher import Cipher
from services.common.encryption.postgres import ALL_PLAIN, Ciphers, DataKeys
from services.common.postgres.types import Connection, Pool, Record

Row: TypeAlias = Record | Mapping[str, Any]
"""A row of the database, or one whose columns were opened."""

_PARTS: Final = "\x1f"


class Form(Enum):
    """How a column is encrypted."""

    TEXT = "text"
    NAME = "name"  # equal values of one user alike, so that the database can compare them
    NAMES = "names"  # a list of them
    JSON = "json"  # an object or a list; as one value
    BYTES = "bytes"


@dataclass(frozen=True, slots=True)
class SealedTable:
    """The encrypted columns of a table. Each value is bound to tenant, user, table, column and the row's key."""

    name: str  # without the schema
    record: tuple[str, ...]  # columns that name a row of a user
    columns: Mapping[str, Form]
    has_text_key: bool = False  # `record` holds texts of callers, which may look like UUIDs, and no ids

    def open(self, cipher: Cipher, row: Row) -> Row:
        """The row with its columns decrypted; columns that it lacks are passed over.

        Raises:
            DecryptionError: See `Cipher.open`.
        """
        changed: dict[str, Any] = {}
        for column, form in self.columns.items():
            stored = row.get(column)
            if stored is None:
                continue
            opened = self._opened(cipher, row, column, form, stored)
            if opened is not stored:
                changed[column] = opened
        return {**dict(row), **changed} if changed else row

    def seal(self, cipher: Cipher, values: Mapping[str, Any]) -> dict[str, Any]:
        """The values of a row with those of encrypted columns encrypted."""
        sealed = dict(values)
        for column, form in self.columns.items():
            value = sealed.get(column)
            if value is not None:
                sealed[column] = self._sealed(cipher, values, column, form, value)
        return sealed

    def record_id(self, row: Row) -> str:
        """What names the row in associated data."""
        return _PARTS.join(str(row[column]) for column in self.record)

    def field(self, column: str) -> str:
        """What names a column in associated data."""
        return f"{self.name}.{column}"

    def _opened(self, cipher: Cipher, row: Row, column: str, form: Form, stored: Any) -> Any:
        if form is Form.NAME:
            return cipher.open_name(column, stored)
        if form is Form.NAMES:
            opened = [cipher.open_name(column, name) for name in stored]
            return stored if opened == list(stored) else opened
        record, field = self.record_id(row), self.field(column)
        if form is Form.TEXT:
            return cipher.open(record, field, stored)
        if form is Form.JSON:
            return cipher.open_json(record, field, stored)
        return cipher.open_bytes(record, field, stored)

    def _sealed(self, cipher: Cipher, row: Row, column: str, form: Form, value: Any) -> Any:
        if form is Form.NAME:
            return cipher.seal_name(column, value)
        if form is Form.NAMES:
            return [cipher.seal_name(column, name) for name in value]
        record, field = self.record_id(row), self.field(column)
        if form is Form.TEXT:
            return cipher.seal(record, field, value)
        if form is Form.JSON:
            return cipher.seal_json(record, field, value)
        return cipher.seal_bytes(record, field, value)


async def opened_rows(
    keys: DataKeys, source: Connection | Pool, table: SealedTable, rows: Sequence[Row]
) -> Sequence[Row]:
    """Rows with the columns tenant_id and user_id, decrypted.

    Raises:
        DecryptionError, StoreUnavailable: See `DataKeys.for_reading`.
    """
    if not rows:
        return rows
    ciphers = await ciphers_of(keys, source, rows)
    return [table.open(ciphers.of(row["tenant_id"], row["user_id"]), row) for row in rows]


async def ciphers_of(keys: DataKeys, source: Connection | Pool, rows: Iterable[Row]) -> Ciphers:
    """The ciphers of the users of rows with the columns tenant_id and user_id."""
    if not keys.is_on:
        return ALL_PLAIN
    return await keys.for_reading(source, {(row["tenant_id"], row["user_id"]) for row in rows})
