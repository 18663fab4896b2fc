"""Records of a graph that hold content: reading them decrypted, and encrypting those from before."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any, LiteralString

from services.common.copying.model import Key, Kind, OwnedRecords, Record, key_of
from services.common.copying.model import Owner as OwnerKey
from services.common.copying.neo4j import GraphKind, GraphRecords
from services.common.encryption.cipher import Cipher
from services.common.encryption.neo4j import GraphDataKeys, graph_cipher
from services.common.encryption.rows import SealedTable, is_plain
from services.common.neo4j.graph import Graph, GraphTransaction
from services.common.owners import Owner, TenantId, UserId


@dataclass(frozen=True, slots=True, kw_only=True)
class SealedKind:
    """A kind of records whose content is encrypted."""

    kind: GraphKind
    table: SealedTable
    """Its encrypted fields, as records have them."""
    lock: LiteralString
    """Takes the lock of the user whose content it is; given tenant_id, user_id, and user_ids with that one."""
    records_at_once: int = 200
    """That are encrypted in one transaction."""


class OpenedGraphRecords(GraphRecords):
    """Records of a graph with what is encrypted decrypted on the way out, and encrypted on the way in."""

    def __init__(
        self, graph: Graph, kinds: Sequence[GraphKind], sealed: Iterable[SealedKind], keys: GraphDataKeys
    ) -> None:
        """See `GraphRecords`; of the kinds, those of `sealed` hold content."""
        super().__init__(graph, kinds)
        self._sealed = {each.kind.kind.name: each for each in sealed}
        self._keys = keys

    async def read_owned(self, kind: Kind, owner: OwnerKey, *, after: Key | None, limit: int) -> list[Record]:
        """See `OwnedRecords.read_owned`.

        Raises:
            DecryptionError: See `Cipher.open`.
        """
        found = await super().read_owned(kind, owner, after=after, limit=limit)
        sealed = self._sealed.get(kind.name)
        if sealed is None or not found:
            return found
        table = sealed.table
        cipher = await graph_cipher(self._keys, self._graph.read, _owner(*owner))
        return await asyncio.to_thread(lambda: [dict(table.open(cipher, record)) for record in found])

    async def _prepared(
        self, transaction: GraphTransaction, described: GraphKind, records: Sequence[Record]
    ) -> Sequence[Record]:
        sealed = self._sealed.get(described.kind.name)
        if sealed is None or not records:
            return records
        owner = _owner(records[0]["tenant_id"], records[0]["user_id"])
        cipher = await _locked(transaction, sealed, self._keys, owner)
        return await asyncio.to_thread(lambda: [sealed.table.seal(cipher, record) for record in records])


def opened_graph_records(
    graph: Graph, kinds: Sequence[GraphKind], sealed: Iterable[SealedKind], keys: GraphDataKeys
) -> OwnedRecords:
    """The records of users, decrypted."""
    return OpenedGraphRecords(graph, kinds, sealed, keys)


async def encrypt_existing_graph(graph: Graph, keys: GraphDataKeys, kinds: Iterable[SealedKind]) -> dict[str, int]:
    """Encrypts what is plain in records of a graph. Services may run, with the same keys.

    May be interrupted and repeated. Records are read by pages, and those of one user in a page are encrypted in a
    transaction under the user's lock.

    Args:
        graph: Where they are; its migrations have run.
        keys: Of the component.
        kinds: Which records.

    Returns:
        How many records were encrypted, by the name of their kind.
    """
    counts: dict[str, int] = {}
    for sealed in kinds:
        table = sealed.table.with_json_as_text()
        names = (*sealed.kind.kind.key, *table.columns)
        # JSON is left as text: it is encrypted as one value.
        described = replace(sealed.kind, reads={name: sealed.kind.reads[name] for name in names}, decode={})
        kind, query, count = described.kind, replace_query(described), 0
        records = GraphRecords(graph, [described])
        after: Key | None = None
        while True:
            page = await records.read(kind, after=after, limit=sealed.records_at_once)
            plain = [record for record in page if _plain_columns(table, record)]
            for owner, of_owner in groupby(plain, key=lambda record: _owner(record["tenant_id"], record["user_id"])):
                count += await _encrypt(graph, keys, replace(sealed, table=table), query, owner, list(of_owner))
            if len(page) < sealed.records_at_once:
                break
            after = key_of(kind, page[-1])
        counts[kind.name] = count
    return counts


async def _encrypt(
    graph: Graph,
    keys: GraphDataKeys,
    sealed: SealedKind,
    query: LiteralString,
    owner: Owner,
    records: Sequence[Record],
) -> int:
    key, table = sealed.kind.kind.key, sealed.table

    def row(record: Record, cipher: Cipher) -> dict[str, Any]:
        names = _plain_columns(table, record)
        encrypted = table.seal(cipher, dict(table.open(cipher, record)))
        return {
            "key": {name: record[name] for name in key},
            "plain": {name: record[name] for name in names},
            "sealed": {name: encrypted[name] for name in names},
        }

    async def work(transaction: GraphTransaction) -> int:
        cipher = await _locked(transaction, sealed, keys, owner)
        rows = await asyncio.to_thread(lambda: [row(record, cipher) for record in records])
        [changed] = await transaction.run(query, {"rows": rows})
        return int(changed["changed"])

    return await graph.write(work)


def replace_query(described: GraphKind) -> LiteralString:
    """Replaces properties where they are still what was read; what was changed since then is encrypted already.

    Tests read its plan.
    """
    names: Any = described.kind.key
    conditions: list[LiteralString] = [f"n.{name} = row.key.{name}" for name in names]
    where: LiteralString = " AND ".join(conditions)
    return f"""
    UNWIND $rows AS row
    MATCH {described.match} WHERE {where} AND all(name IN keys(row.plain) WHERE n[name] = row.plain[name])
    SET n += row.sealed
    RETURN count(n) AS changed
    """


async def _locked(transaction: GraphTransaction, sealed: SealedKind, keys: GraphDataKeys, owner: Owner) -> Cipher:
    key = {"tenant_id": owner.tenant_id, "user_id": owner.user_id}
    await transaction.run(sealed.lock, {**key, "user_ids": [owner.user_id]})
    return (await keys.for_writing(transaction, owner.tenant_id, [owner.user_id])).of(owner.tenant_id, owner.user_id)


def _plain_columns(table: SealedTable, record: Mapping[str, Any]) -> list[str]:
    return [name for name, form in table.columns.items() if is_plain(form, record[name])]


def _owner(tenant_id: str, user_id: str) -> Owner:
    return Owner(TenantId(tenant_id), UserId(user_id))
