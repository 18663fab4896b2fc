"""Data keys in a PostgreSQL schema: the table `data_keys`, beside the content that they encrypt."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Final, Protocol

from services.common.encryption.cipher import DESTROYED, PLAIN, Cipher, UserCipher
from services.common.encryption.key_management import WrappedKey
from services.common.encryption.ring import DataKeyRing, StoredKey
from services.common.errors import Conflict
from services.common.postgres.types import Connection, Pool, Record

Owner = tuple[str, str]
"""Tenant and user."""

_ATTEMPTS: Final = 3


class Ciphers:
    """The ciphers of some users."""

    def __init__(self, found: Mapping[Owner, Cipher] | None, *, otherwise: Cipher) -> None:
        """Those that were found, and that of all others."""
        self._found = found or {}
        self._otherwise = otherwise

    def of(self, tenant_id: str, user_id: str) -> Cipher:
        """The cipher of a user."""
        return self._found.get((tenant_id, user_id), self._otherwise)


ALL_PLAIN: Final = Ciphers(None, otherwise=PLAIN)
"""Without encryption."""


class DataKeys(Protocol):
    """The data keys of a store that holds content of users."""

    @property
    def is_on(self) -> bool:
        """Whether new content is encrypted."""
        ...

    async def for_writing(self, connection: Connection, tenant_id: str, user_ids: Iterable[str]) -> Ciphers:
        """Ciphers of a tenant's users, with keys made for those who have none; in the connection's transaction.

        Destroying one of the keys waits until the transaction has ended, and what is written after a key was
        destroyed gets a new one, whatever other replicas have in memory. Take them before other locks.

        Raises:
            DecryptionError, StoreUnavailable: The key management cannot unwrap or reach a key.
        """
        ...

    async def for_reading(self, source: Connection | Pool, owners: Collection[Owner]) -> Ciphers:
        """Ciphers of users, for rows that were read before: their keys are read now.

        Raises:
            DecryptionError, StoreUnavailable: See `for_writing`.
        """
        ...

    async def destroy(self, connection: Connection, tenant_id: str, user_id: str) -> int:
        """Destroys a user's key, in the connection's transaction; how many there were. Do it before other locks."""
        ...


class NoDataKeys:
    """Implements `DataKeys` where encryption is off: no statement is sent, and content passes as it is."""

    is_on = False

    async def for_writing(
        self,
        connection: Connection,  # noqa: ARG002 - the interface
        tenant_id: str,  # noqa: ARG002
        user_ids: Iterable[str],  # noqa: ARG002
    ) -> Ciphers:
        """See `DataKeys.for_writing`."""
        return ALL_PLAIN

    async def for_reading(self, source: Connection | Pool, owners: Collection[Owner]) -> Ciphers:  # noqa: ARG002
        """See `DataKeys.for_reading`."""
        return ALL_PLAIN

    async def destroy(self, connection: Connection, tenant_id: str, user_id: str) -> int:  # noqa: ARG002
        """See `DataKeys.destroy`. What was encrypted before it was switched off is left to the removal of rows."""
        return 0


NO_DATA_KEYS: Final = NoDataKeys()


class PostgresDataKeys:
    """Implements `DataKeys` on the table `data_keys` of a schema."""

    is_on = True

    def __init__(self, ring: DataKeyRing, schema: str) -> None:
        """The schema's migrations must have made the table."""
        self._ring = ring
        table = f"{schema}.data_keys"
        columns = "tenant_id, user_id, key_id, version, wrapped"
        self._lock = (
            f"SELECT {columns} FROM {table} WHERE tenant_id = $1 AND user_id = ANY($2::text[])"  # noqa: S608
            " ORDER BY user_id FOR KEY SHARE"
        )
        self._insert = (
            f"INSERT INTO {table} ({columns}, create_time) VALUES ($1, $2, $3, $4, $5, now())"  # noqa: S608
            " ON CONFLICT DO NOTHING"
        )
        self._read = f"SELECT {columns} FROM {schema}.data_keys_of($1::text[], $2::text[])"  # noqa: S608
        self._delete = f"DELETE FROM {table} WHERE tenant_id = $1 AND user_id = $2 RETURNING user_id"  # noqa: S608

    async def for_writing(self, connection: Connection, tenant_id: str, user_ids: Iterable[str]) -> Ciphers:
        """See `DataKeys.for_writing`."""
        wanted = sorted(set(user_ids))
        for _ in range(_ATTEMPTS):
            found = await connection.fetch(self._lock, tenant_id, wanted)
            if len(found) == len(wanted):
                return await self._ciphers(found)
            known = {row["user_id"] for row in found}
            for user_id in wanted:
                if user_id not in known:
                    stored, _ = await self._ring.create(tenant_id, user_id)
                    wrapped = stored.wrapped
                    await connection.execute(
                        self._insert, tenant_id, user_id, stored.key_id, wrapped.version, wrapped.data
                    )
        # Somebody destroys keys as fast as they are made.
        raise Conflict("the user is being erased; try again")

    async def for_reading(self, source: Connection | Pool, owners: Collection[Owner]) -> Ciphers:
        """See `DataKeys.for_reading`."""
        wanted = sorted(set(owners))
        if not wanted:
            return Ciphers(None, otherwise=DESTROYED)
        tenants, users = [list(column) for column in zip(*wanted, strict=True)]
        return await self._ciphers(await source.fetch(self._read, tenants, users))

    async def destroy(self, connection: Connection, tenant_id: str, user_id: str) -> int:
        """See `DataKeys.destroy`."""
        gone = await connection.fetch(self._delete, tenant_id, user_id)
        self._ring.forget(tenant_id, user_id)
        return len(gone)

    async def _ciphers(self, found: Iterable[Record]) -> Ciphers:
        ciphers: dict[Owner, Cipher] = {}
        for row in found:
            owner = (row["tenant_id"], row["user_id"])
            key = await self._ring.unwrapped(*owner, stored_key(row))
            ciphers[owner] = UserCipher(*owner, key)
        return Ciphers(ciphers, otherwise=DESTROYED)


def data_keys(ring: DataKeyRing | None, schema: str) -> DataKeys:
    """The data keys of a schema; those that encrypt nothing where there is no ring."""
    return NO_DATA_KEYS if ring is None else PostgresDataKeys(ring, schema)


def stored_key(row: Record) -> StoredKey:
    """The key of a row of `data_keys`."""
    return StoredKey(row["key_id"], WrappedKey(row["version"], row["wrapped"]))


async def rewrap(connection: Connection, ring: DataKeyRing, schema: str, *, limit: int = 500) -> int:
    """Wraps all keys of a schema by the current key-encryption key; content is not touched.

    May be interrupted and repeated. Keys are encrypted anew by pages, each in a transaction.

    Args:
        connection: Of the services' role, in no transaction.
        ring: With the old key-encryption keys and the new one.
        schema: Whose table.
        limit: Keys in one transaction.

    Returns:
        How many keys were wrapped anew.

    Raises:
        DecryptionError: One was wrapped by a key-encryption key that is not there any more.
    """
    count = 0
    while True:
        version = await ring.current_version()  # for each page: a KMS may rotate its key by itself meanwhile
        async with connection.transaction():
            await connection.execute("SELECT set_config('mneme.worker', 'on', true)")
            found = await connection.fetch(
                "SELECT tenant_id, user_id, key_id, version, wrapped"  # noqa: S608 - a name of ours
                f" FROM {schema}.data_keys WHERE version <> $1 LIMIT $2 FOR NO KEY UPDATE",
                version,
                limit,
            )
            for row in found:
                owner = (row["tenant_id"], row["user_id"])
                wrapped = (await ring.rewrapped(*owner, stored_key(row))).wrapped
                await connection.execute(
                    f"UPDATE {schema}.data_keys SET version = $3, wrapped = $4"  # noqa: S608
                    " WHERE tenant_id = $1 AND user_id = $2",
                    *owner,
                    wrapped.version,
                    wrapped.data,
                )
        count += len(found)
        if len(found) < limit:
            return count
