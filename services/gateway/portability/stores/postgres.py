"""Imports in the journal's database, and the journal's own records of a user."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final
from uuid import UUID

from services.common.clock import Clock
from services.common.copying.model import Kind, Owner, Record
from services.common.encryption.postgres import DataKeys
from services.common.errors import FailedPrecondition
from services.common.portability.drivers import PostgresUserRecords
from services.common.portability.records import Shape, TierRecords, Written
from services.common.postgres.tenancy import tenant_transaction
from services.common.postgres.types import Connection, Pool
from services.gateway.documents.stores.postgres import imported_row
from services.gateway.journal.stores import rows
from services.gateway.journal.stores.postgres import SCHEMA
from services.gateway.portability.store import KnownImport

_TURNS: Final = f"{SCHEMA}.interactions"
_DOCUMENTS: Final = f"{SCHEMA}.documents"
_NUMBERED: Final = (_TURNS, f"{SCHEMA}.feedback")
_NOT_EXPORTED: Final = (
    "recalls", "requests", "tombstones", "deliveries", "erasures", "erasure_items", "imports",
    "audit_entries", "audit_trees", "data_keys",
)  # fmt: skip

_BEGIN: Final = """
    INSERT INTO gateway.imports AS i (tenant_id, user_id, digest, create_time) VALUES ($1, $2, $3, $4)
    ON CONFLICT (tenant_id, user_id) DO UPDATE SET create_time = i.create_time
    RETURNING digest, restored, complete_time, i.xmax <> 0 AS is_resumed
"""
_ERASED_NOW: Final = """
    SELECT EXISTS (SELECT FROM gateway.erasures
                   WHERE tenant_id = $1 AND user_id IN ($2, '') AND complete_time IS NULL)
"""
_COMPLETE: Final = """
    UPDATE gateway.imports SET complete_time = $3 WHERE tenant_id = $1 AND user_id = $2
    RETURNING digest, restored, complete_time, true AS is_resumed
"""
_SETTLED: Final = """
    SELECT NOT EXISTS (SELECT FROM gateway.deliveries
                       WHERE tenant_id = $1 AND user_id = $2 AND given_up_time IS NULL)
"""
_SEQUENCES: Final = "SELECT nextval('gateway.journal_sequence') FROM generate_series(1, $1)"
_OF_OTHERS: Final = """
    SELECT EXISTS (SELECT FROM gateway.interactions
                   WHERE tenant_id = $1 AND interaction_id = ANY($3::uuid[]) AND user_id <> $2)
"""
_RESTORE: Final = """
    WITH known AS (
        DELETE FROM gateway.tombstones WHERE tenant_id = $1 AND interaction_id = ANY($3::uuid[]) RETURNING 1
    )
    UPDATE gateway.imports SET restored = restored + (SELECT count(*) FROM known)
    WHERE tenant_id = $1 AND user_id = $2
"""


class PostgresImports:
    """Implements `ImportStore`."""

    def __init__(self, pool: Pool, *, clock: Clock) -> None:
        """Uses the journal's pool and schema."""
        self._pool = pool
        self._clock = clock

    async def begin(self, tenant_id: str, user_id: str, digest: bytes) -> KnownImport:
        """See `ImportStore.begin`."""
        async with tenant_transaction(self._pool, tenant_id) as connection:
            if await connection.fetchval(_ERASED_NOW, tenant_id, user_id):
                raise FailedPrecondition("the user is being erased: import when that is done")
            return _known(await connection.fetchrow(_BEGIN, tenant_id, user_id, digest, self._clock.now()))

    async def complete(self, tenant_id: str, user_id: str) -> KnownImport:
        """See `ImportStore.complete`."""
        async with tenant_transaction(self._pool, tenant_id) as connection:
            row = await connection.fetchrow(_COMPLETE, tenant_id, user_id, self._clock.now())
            if row is None:
                raise FailedPrecondition("the user was erased during the import")
            return _known(row)

    async def forget(self, tenant_id: str, user_id: str) -> None:
        """See `ImportStore.forget`."""
        async with tenant_transaction(self._pool, tenant_id) as connection:
            await connection.execute(
                "DELETE FROM gateway.imports WHERE tenant_id = $1 AND user_id = $2", tenant_id, user_id
            )

    async def is_settled(self, tenant_id: str, user_id: str) -> bool:
        """See `ImportStore.is_settled`."""
        async with tenant_transaction(self._pool, tenant_id) as connection:
            return bool(await connection.fetchval(_SETTLED, tenant_id, user_id))


def journal_user_records(pool: Pool, keys: DataKeys) -> PostgresUserRecords:
    """Where the journal's records are."""
    return PostgresUserRecords(pool, SCHEMA, _written, keys=keys, sealed=rows.SEALED_TABLES)


def journal_records(pool: Pool) -> TierRecords:
    """What of the journal is exported.

    Imported turns and feedback are numbered as new ones are. Documents are embedded by the searches that follow.
    """

    async def restored(kind: str, records: list[Record]) -> Written:
        if kind == _DOCUMENTS:
            return {kind: list(map(imported_row, records))}
        if kind not in _NUMBERED:
            return {kind: records}
        numbers = await pool.fetch(_SEQUENCES, len(records))
        return {kind: [{**record, "sequence": row[0]} for record, row in zip(records, numbers, strict=True)]}

    numbered = Shape(frozenset({"sequence"}))
    return TierRecords(
        hidden=frozenset(f"{SCHEMA}.{table}" for table in _NOT_EXPORTED),
        shapes={
            **dict.fromkeys(_NUMBERED, numbered),
            _DOCUMENTS: Shape(frozenset({"embedding", "embedding_model"})),
        },
        restored=restored,
    )


async def _written(connection: Connection, owner: Owner, kind: Kind, records: Sequence[Record]) -> None:
    """Imported turns are not erased any more."""
    if kind.name != _TURNS:
        return
    ids = [UUID(record["interaction_id"]) for record in records]
    if await connection.fetchval(_OF_OTHERS, *owner, ids):
        raise FailedPrecondition("the file has turns that belong to another user of this tenant")
    await connection.execute(_RESTORE, *owner, [rows.tombstone(owner[0], identifier) for identifier in ids])


def _known(row: Any) -> KnownImport:
    return KnownImport(row["digest"], row["restored"], row["complete_time"] is not None, row["is_resumed"])
