"""The cipher of one user in a transaction of a store."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Final

from services.common.encryption.cipher import PLAIN, Cipher
from services.common.encryption.postgres import DataKeys
from services.common.encryption.rows import Row, SealedTable
from services.common.owners import Owner
from services.common.postgres.types import Connection, Pool

_ROWS_ON_LOOP_MAX: Final = 64
"""Opening more of them takes longer than the event loop may wait; a thread does it."""


class OwnerSealing:
    """The cipher of one user in a transaction; asked for when it is first needed."""

    def __init__(self, keys: DataKeys, connection: Connection, owner: Owner) -> None:
        """In a transaction of the user's tenant that holds no row which a destruction of the key changes."""
        self._keys = keys
        self._connection = connection
        self._owner = owner
        self._reading: Cipher | None = None
        self._writing: Cipher | None = None

    async def cipher(self, *, is_new: bool) -> Cipher:
        """For new content, or to open what is stored.

        Raises:
            DecryptionError, StoreUnavailable: See `DataKeys.for_writing`.
        """
        if is_new:
            if self._writing is None:
                tenant_id, user_id = self._owner.tenant_id, self._owner.user_id
                ciphers = await self._keys.for_writing(self._connection, tenant_id, [user_id])
                self._reading = self._writing = ciphers.of(tenant_id, user_id)
            return self._writing
        if self._reading is None:
            self._reading = await reading_cipher(self._keys, self._connection, self._owner)
        return self._reading

    async def opened(self, table: SealedTable, rows: Sequence[Row]) -> Sequence[Row]:
        """Rows of the user with their encrypted columns decrypted; no statement is sent where there are none.

        Raises:
            DecryptionError, StoreUnavailable: See `DataKeys.for_reading`.
        """
        if not rows:
            return rows
        return await opened_with(await self.cipher(is_new=False), table, rows)

    async def destroy(self) -> int:
        """Destroys the user's key; how many there were."""
        self._reading = self._writing = None
        return await self._keys.destroy(self._connection, self._owner.tenant_id, self._owner.user_id)


async def reading_cipher(keys: DataKeys, source: Connection | Pool, owner: Owner) -> Cipher:
    """The cipher for rows of a user that were read before.

    Raises:
        DecryptionError, StoreUnavailable: See `DataKeys.for_reading`.
    """
    if not keys.is_on:
        return PLAIN
    name = (str(owner.tenant_id), str(owner.user_id))
    return (await keys.for_reading(source, [name])).of(*name)


async def opened_of(
    keys: DataKeys, source: Connection | Pool, owner: Owner, table: SealedTable, rows: Sequence[Row]
) -> Sequence[Row]:
    """Rows of one user, decrypted; see `OwnerSealing.opened`."""
    if not rows:
        return rows
    return await opened_with(await reading_cipher(keys, source, owner), table, rows)


async def opened_with(cipher: Cipher, table: SealedTable, rows: Sequence[Row]) -> Sequence[Row]:
    """Rows of one user, decrypted; many of them on a thread."""
    if len(rows) <= _ROWS_ON_LOOP_MAX:
        return [table.open(cipher, row) for row in rows]
    return await asyncio.to_thread(lambda: [table.open(cipher, row) for row in rows])
