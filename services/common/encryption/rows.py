"""Which columns of a table are encrypted, and rows with them opened or sealed."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any, Final, TypeAlias

from services.common.encryption.cipher import Cipher
from services.common.encryption.envelope import SEALED_BYTES, SEALED_TEXT
from services.common.encryption.postgres import ALL_PLAIN, Ciphers, DataKeys
from services.common.postgres.types import Connection, Pool, Record

Row: TypeAlias = Record | Mapping[str, Any]
"""A row of the database, or one whose columns were opened."""

_PARTS: Final = "\x1f"
_EMPTY_JSON: Final = ("", "{}", "[]", "null")
SEALED_JSON_TEXT: Final = json.dumps({"sealed": SEALED_TEXT})[:-2]
"""How the text of an encrypted object or list begins."""


class Form(Enum):
    """How a column is encrypted."""

    TEXT = "text"
    NAME = "name"  # equal values of one user alike, so that the database can compare them
    NAMES = "names"  # a list of them
    JSON = "json"  # an object or a list; as one value
    JSON_TEXT = "json text"  # the same where the engine holds it as text
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

    def with_json_as_text(self) -> SealedTable:
        """The same columns in an engine that holds objects and lists as text; what is encrypted is the same."""
        columns = {name: Form.JSON_TEXT if form is Form.JSON else form for name, form in self.columns.items()}
        return replace(self, columns=columns)

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
        if form is Form.JSON_TEXT:
            return _opened_json_text(cipher, record, field, stored)
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
        if form is Form.JSON_TEXT:
            return _sealed_json_text(cipher, record, field, value)
        return cipher.seal_bytes(record, field, value)


def is_plain(form: Form, stored: Any) -> bool:
    """Whether a stored value holds something that is not encrypted; of a value of `Form.JSON`, nobody asks it."""
    if stored is None:
        return False
    if form is Form.NAMES:
        return any(is_plain(Form.NAME, name) for name in stored)
    if form is Form.BYTES:
        return bool(stored) and not bytes(stored).startswith(SEALED_BYTES)
    if form is Form.JSON_TEXT:
        return stored not in _EMPTY_JSON and not stored.startswith(SEALED_JSON_TEXT)
    return bool(stored) and not stored.startswith(SEALED_TEXT)


def _sealed_json_text(cipher: Cipher, record: str, field: str, text: str) -> str:
    """The text of what `Cipher.seal_json` returns for the value that a text holds."""
    if text in _EMPTY_JSON:
        return text
    sealed = cipher.seal(record, field, text)
    return text if sealed == text else json.dumps({"sealed": sealed})


def _opened_json_text(cipher: Cipher, record: str, field: str, stored: str) -> str:
    if not stored.startswith(SEALED_JSON_TEXT):
        return stored
    return cipher.open(record, field, json.loads(stored)["sealed"])


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
