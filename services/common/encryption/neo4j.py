"""Data keys in a graph: nodes of a label of their own, beside the content that they encrypt.

CREATE CONSTRAINT mneme_semantic_data_key IF NOT EXISTS
FOR (k:MnemeSemanticDataKey) REQUIRE (k.tenant_id, k.user_id) IS UNIQUE;
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, LiteralString, Protocol, TypeAlias, cast

import stamina

from services.common.encryption.cipher import DESTROYED, PLAIN, Cipher, UserCipher
from services.common.encryption.key_management import WrappedKey
from services.common.encryption.postgres import ALL_PLAIN, Ciphers
from services.common.encryption.ring import DataKeyRing, StoredKey
from services.common.encryption.rows import SealedTable
from services.common.encryption.sealing import opened_with
from services.common.errors import Conflict
from services.common.neo4j.graph import Graph, GraphTransaction, Record
from services.common.owners import Owner

Run: TypeAlias = Callable[[LiteralString, Mapping[str, Any]], Awaitable[Sequence[Record]]]
"""Runs a query, in a transaction or by itself."""

_ATTEMPTS: Final = 3


@dataclass(frozen=True, slots=True)
class DataKeyQueries:
    """The queries of one label. Constants: tests read their plans."""

    find: LiteralString
    add: LiteralString
    delete: LiteralString
    users: LiteralString
    page: LiteralString
    rewrap: LiteralString

    @classmethod
    def of(cls, label: LiteralString) -> DataKeyQueries:
        """The queries of a label, such as "MnemeSemanticDataKey"."""
        columns: LiteralString = (
            "k.tenant_id AS tenant_id, k.user_id AS user_id, k.key_id AS key_id, k.version AS version, "
            "k.wrapped AS wrapped"
        )
        return cls(
            find=f"""
            UNWIND $owners AS owner
            MATCH (k:{label} {{tenant_id: owner.tenant_id, user_id: owner.user_id}})
            RETURN {columns}
            """,
            # Of two that make a user's key at once, the second waits here, and finds that of the first.
            add=f"""
            UNWIND $made AS made
            MERGE (k:{label} {{tenant_id: made.tenant_id, user_id: made.user_id}})
            ON CREATE SET k.key_id = made.key_id, k.version = made.version, k.wrapped = made.wrapped,
                k.create_time = datetime.statement()
            """,
            delete=f"""
            MATCH (k:{label} {{tenant_id: $tenant_id, user_id: $user_id}})
            WITH k, k.user_id AS user_id
            DELETE k
            RETURN user_id
            """,
            users=f"""
            MATCH (k:{label} {{tenant_id: $tenant_id}})
            WHERE k.user_id > $after
            RETURN k.user_id AS user_id ORDER BY user_id LIMIT $limit
            """,
            page=f"""
            MATCH (k:{label})
            WHERE k.tenant_id >= $tenant_id AND k.user_id IS NOT NULL
                AND (k.tenant_id > $tenant_id OR k.user_id > $user_id)
            WITH k ORDER BY k.tenant_id, k.user_id LIMIT $limit
            RETURN {columns}
            """,
            # A key that was destroyed and made anew meanwhile is another one.
            rewrap=f"""
            UNWIND $wrapped AS row
            MATCH (k:{label} {{tenant_id: row.tenant_id, user_id: row.user_id}})
            WHERE k.key_id = row.key_id
            SET k.version = row.version, k.wrapped = row.wrapped
            RETURN k.user_id AS user_id
            """,
        )

    @property
    def all(self) -> tuple[LiteralString, ...]:
        """Every query."""
        return (self.find, self.add, self.delete, self.users, self.page, self.rewrap)


class GraphDataKeys(Protocol):
    """The data keys of a component's content in a graph."""

    @property
    def is_on(self) -> bool:
        """Whether new content is encrypted."""
        ...

    async def for_writing(self, transaction: GraphTransaction, tenant_id: str, user_ids: Iterable[str]) -> Ciphers:
        """Ciphers of a tenant's users, with keys made for those who have none.

        The transaction holds a lock for each user. Destroying a key takes the same lock first.

        Raises:
            DecryptionError, StoreUnavailable: The key management cannot unwrap or reach a key.
        """
        ...

    async def for_reading(self, run: Run, owners: Collection[Owner]) -> Ciphers:
        """Ciphers of users, for records that were read before: their keys are read now.

        Raises:
            DecryptionError, StoreUnavailable: See `for_writing`.
        """
        ...

    async def destroy(self, transaction: GraphTransaction, owner: Owner) -> int:
        """Destroys a user's key in a transaction that holds all locks of writers; how many keys there were."""
        ...


class NoGraphDataKeys:
    """Implements `GraphDataKeys` where encryption is off: no query is sent, and content passes as it is."""

    is_on = False

    async def for_writing(
        self,
        transaction: GraphTransaction,  # noqa: ARG002 - the interface
        tenant_id: str,  # noqa: ARG002
        user_ids: Iterable[str],  # noqa: ARG002
    ) -> Ciphers:
        """See `GraphDataKeys.for_writing`."""
        return ALL_PLAIN

    async def for_reading(self, run: Run, owners: Collection[Owner]) -> Ciphers:  # noqa: ARG002
        """See `GraphDataKeys.for_reading`."""
        return ALL_PLAIN

    async def destroy(self, transaction: GraphTransaction, owner: Owner) -> int:  # noqa: ARG002
        """See `GraphDataKeys.destroy`. What was encrypted before it was switched off goes with its nodes."""
        return 0


NO_GRAPH_DATA_KEYS: Final = NoGraphDataKeys()


class Neo4jDataKeys:
    """Implements `GraphDataKeys` on the nodes of a label."""

    is_on = True

    def __init__(self, ring: DataKeyRing, queries: DataKeyQueries) -> None:
        """The component's migrations must have made the label's constraint."""
        self._ring = ring
        self._queries = queries

    async def for_writing(self, transaction: GraphTransaction, tenant_id: str, user_ids: Iterable[str]) -> Ciphers:
        """See `GraphDataKeys.for_writing`."""
        owners = [{"tenant_id": tenant_id, "user_id": user_id} for user_id in sorted(set(user_ids))]
        for _ in range(_ATTEMPTS):
            found = await transaction.run(self._queries.find, {"owners": owners})
            if len(found) == len(owners):
                return await self._ciphers(found)
            known = {row["user_id"] for row in found}
            made = [await self._made(**owner) for owner in owners if owner["user_id"] not in known]
            await transaction.run(self._queries.add, {"made": made})
        raise Conflict("the user is being erased; try again")

    async def for_reading(self, run: Run, owners: Collection[Owner]) -> Ciphers:
        """See `GraphDataKeys.for_reading`."""
        wanted = [{"tenant_id": owner.tenant_id, "user_id": owner.user_id} for owner in set(owners)]
        return await self._ciphers(await run(self._queries.find, {"owners": wanted}) if wanted else ())

    async def destroy(self, transaction: GraphTransaction, owner: Owner) -> int:
        """See `GraphDataKeys.destroy`."""
        key = {"tenant_id": owner.tenant_id, "user_id": owner.user_id}
        gone = await transaction.run(self._queries.delete, key)
        self._ring.forget(owner.tenant_id, owner.user_id)
        return len(gone)

    async def _made(self, tenant_id: str, user_id: str) -> dict[str, Any]:
        stored, _ = await self._ring.create(tenant_id, user_id)
        return {"tenant_id": tenant_id, "user_id": user_id, **_values(stored)}

    async def _ciphers(self, found: Iterable[Record]) -> Ciphers:
        ciphers: dict[tuple[str, str], Cipher] = {}
        for row in found:
            name = (row["tenant_id"], row["user_id"])
            ciphers[name] = UserCipher(*name, await self._ring.unwrapped(*name, _stored_key(row)))
        return Ciphers(ciphers, otherwise=DESTROYED)


def graph_data_keys(ring: DataKeyRing | None, queries: DataKeyQueries) -> GraphDataKeys:
    """The data keys of a label; those that encrypt nothing where there is no ring."""
    return NO_GRAPH_DATA_KEYS if ring is None else Neo4jDataKeys(ring, queries)


class GraphSealing:
    """The cipher of one user in a transaction; asked for when it is first needed."""

    def __init__(self, keys: GraphDataKeys, transaction: GraphTransaction, owner: Owner) -> None:
        """In a transaction that holds a lock of the user; see `GraphDataKeys.for_writing`."""
        self._keys = keys
        self._transaction = transaction
        self._owner = owner
        self._reading: Cipher | None = None
        self._writing: Cipher | None = None

    async def cipher(self, *, is_new: bool) -> Cipher:
        """For new content, or to open what is stored.

        Raises:
            DecryptionError, StoreUnavailable: See `GraphDataKeys.for_writing`.
        """
        tenant_id, user_id = self._owner.tenant_id, self._owner.user_id
        if is_new:
            if self._writing is None:
                ciphers = await self._keys.for_writing(self._transaction, tenant_id, [user_id])
                self._reading = self._writing = ciphers.of(tenant_id, user_id)
            return self._writing
        if self._reading is None:
            self._reading = await graph_cipher(self._keys, self._transaction.run, self._owner)
        return self._reading

    async def opened(self, table: SealedTable, rows: Sequence[Record]) -> Sequence[Record]:
        """Records of the user with what is encrypted decrypted; no query is sent where there are none.

        Raises:
            DecryptionError, StoreUnavailable: See `GraphDataKeys.for_reading`.
        """
        return await opened_records(await self.cipher(is_new=False), table, rows) if rows else rows

    async def destroy(self) -> int:
        """Destroys the user's key; how many there were."""
        self._reading = self._writing = None
        return await self._keys.destroy(self._transaction, self._owner)


async def graph_cipher(keys: GraphDataKeys, run: Run, owner: Owner) -> Cipher:
    """The cipher for records of a user that were read before.

    Raises:
        DecryptionError, StoreUnavailable: See `GraphDataKeys.for_reading`.
    """
    if not keys.is_on:
        return PLAIN
    return (await keys.for_reading(run, [owner])).of(owner.tenant_id, owner.user_id)


async def opened_in_graph(
    keys: GraphDataKeys, run: Run, owner: Owner, table: SealedTable, rows: Sequence[Record]
) -> Sequence[Record]:
    """Records of one user, decrypted; see `GraphSealing.opened`."""
    return await opened_records(await graph_cipher(keys, run, owner), table, rows) if rows else rows


async def opened_records(cipher: Cipher, table: SealedTable, rows: Sequence[Record]) -> Sequence[Record]:
    """Records of one user, decrypted; many of them on a thread."""
    return cast("Sequence[Record]", await opened_with(cipher, table, rows))


async def rewrap_graph(graph: Graph, ring: DataKeyRing, queries: DataKeyQueries, *, limit: int = 500) -> int:
    """Wraps all keys of a label by the current key-encryption key; content is not touched.

    May be interrupted and repeated. Keys are wrapped anew by pages, each in a transaction.

    Args:
        graph: Where they are.
        ring: With the old key-encryption keys and the new one.
        queries: Of the label.
        limit: Keys in one transaction.

    Returns:
        How many keys were wrapped anew.

    Raises:
        DecryptionError: One was wrapped by a key-encryption key that is not there any more.
    """
    version = await ring.current_version()
    count = 0
    last = {"tenant_id": "", "user_id": ""}
    while True:
        page = await graph.read(queries.page, {**last, "limit": limit})
        rows = [await _rewrapped(ring, row) for row in page if row["version"] != version]
        count += await _put_wrapped(graph, queries, rows) if rows else 0
        if len(page) < limit:
            return count
        last = {name: page[-1][name] for name in last}


@stamina.retry(on=Conflict, attempts=5, timeout=60.0, wait_initial=0.05, wait_max=2.0)
async def _put_wrapped(graph: Graph, queries: DataKeyQueries, rows: Sequence[Mapping[str, Any]]) -> int:
    async def work(transaction: GraphTransaction) -> int:
        return len(await transaction.run(queries.rewrap, {"wrapped": rows}))

    return await graph.write(work)


async def _rewrapped(ring: DataKeyRing, row: Record) -> dict[str, Any]:
    owner = (row["tenant_id"], row["user_id"])
    return {"tenant_id": owner[0], "user_id": owner[1], **_values(await ring.rewrapped(*owner, _stored_key(row)))}


def _values(stored: StoredKey) -> dict[str, Any]:
    return {"key_id": stored.key_id, "version": stored.wrapped.version, "wrapped": stored.wrapped.data}


def _stored_key(row: Record) -> StoredKey:
    return StoredKey(bytes(row["key_id"]), WrappedKey(row["version"], bytes(row["wrapped"])))
