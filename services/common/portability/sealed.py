"""Records of a schema with their encrypted columns decrypted: files hold content as it was said."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final
from uuid import UUID

from services.common.copying.model import OWNER_FIELDS, Key, Kind, OwnedRecords, Owner, Record, key_of
from services.common.encryption.postgres import DataKeys
from services.common.encryption.rows import Form, SealedTable
from services.common.postgres.types import Connection

_ALL_AT_ONCE: Final = 1_000


class OpenedRecords:
    """An `OwnedRecords` over one whose columns are encrypted where keys are given."""

    def __init__(
        self, connection: Connection, records: OwnedRecords, keys: DataKeys, tables: Mapping[str, SealedTable]
    ) -> None:
        """Tables by the names of their kinds; the keys are in the connection's database."""
        self._connection = connection
        self._records = records
        self._keys = keys
        self._tables = tables

    @property
    def kinds(self) -> Sequence[Kind]:
        """See `OwnedRecords.kinds`."""
        return self._records.kinds

    async def read_owned(self, kind: Kind, owner: Owner, *, after: Key | None, limit: int) -> list[Record]:
        """See `OwnedRecords.read_owned`. Kinds with an encrypted key are read as a whole: they are small."""
        table = self._tables.get(kind.name)
        if table is None:
            return await self._records.read_owned(kind, owner, after=after, limit=limit)
        cipher = (await self._keys.for_reading(self._connection, [owner])).of(*owner)
        if not any(table.columns.get(name) is Form.NAME for name in kind.key):
            found = await self._records.read_owned(kind, owner, after=after, limit=limit)
            return [dict(table.open(cipher, record)) for record in found]
        opened = {
            key_of(kind, record): record
            for stored in await self._all(kind, owner)
            for record in [dict(table.open(cipher, stored))]
        }
        behind = sorted(key for key in opened if after is None or key > tuple(after))
        return [opened[key] for key in behind[:limit]]

    async def write(self, kind: Kind, records: Sequence[Record], *, replace: bool = False) -> None:
        """See `OwnedRecords.write`."""
        table = self._tables.get(kind.name)
        if table is not None and records:
            tenant_id, user_id = records[0]["tenant_id"], records[0]["user_id"]
            cipher = (await self._keys.for_writing(self._connection, tenant_id, [user_id])).of(tenant_id, user_id)
            records = [table.seal(cipher, _named_alike(table, record)) for record in records]
        await self._records.write(kind, records, replace=replace)

    async def _all(self, kind: Kind, owner: Owner) -> list[Record]:
        found: list[Record] = []
        after: Key | None = None
        while True:
            page = await self._records.read_owned(kind, owner, after=after, limit=_ALL_AT_ONCE)
            found += page
            if len(page) < _ALL_AT_ONCE:
                return found
            after = key_of(kind, page[-1])


def _named_alike(table: SealedTable, record: Record) -> Record:
    """The record with ids as the database returns them: what is encrypted is bound to them."""
    if table.has_text_key:
        return record
    named = [name for name in table.record if name not in OWNER_FIELDS]
    return {**record, **{name: _canonical(record[name]) for name in named}}


def _canonical(value: Any) -> Any:
    try:
        return str(UUID(value)) if isinstance(value, str) else value
    except ValueError:
        return value
