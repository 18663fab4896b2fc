"""What the PostgreSQL stores of the tier share: the schema, and answers kept for repeats."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Final

from services.common.postgres.types import Connection
from services.semantic.model import Receipt, RequestKey

MIGRATIONS_FOLDER: Final = Path(__file__).parent / "migrations"
SCHEMA: Final = "semantic"

LOCK_USER: Final = (
    "SELECT pg_advisory_xact_lock(hashtextextended('mneme.semantic.' || $3 || chr(31) || $1 || chr(31) || $2, 0))"
)
"""Takes tenant, user and subject; the lock ends with the transaction."""

_RECEIPT: Final = (
    "SELECT fingerprint, answer, create_time FROM semantic.receipts "
    "WHERE tenant_id = $1 AND principal_id = $2 AND request_id = $3"
)
_ADD_RECEIPT: Final = (
    "INSERT INTO semantic.receipts (tenant_id, principal_id, request_id, fingerprint, answer, create_time) "
    "VALUES ($1, $2, $3, $4, $5, $6)"
)
_FORGET_RECEIPTS: Final = """
DELETE FROM semantic.receipts WHERE (tenant_id, principal_id, request_id) IN (
    SELECT tenant_id, principal_id, request_id FROM semantic.receipts
    WHERE tenant_id = $1 AND create_time < $2
    ORDER BY create_time LIMIT 32 FOR UPDATE SKIP LOCKED
)
"""


async def find_receipt(connection: Connection, tenant_id: str, request: RequestKey) -> Receipt | None:
    """The answer given before, with the digest of the request it was given to."""
    row = await connection.fetchrow(_RECEIPT, tenant_id, request.principal_id, request.request_id)
    if row is None:
        return None
    known = RequestKey(request.principal_id, request.request_id, row["fingerprint"])
    return Receipt(known, row["answer"], row["create_time"])


async def keep_receipt(connection: Connection, tenant_id: str, receipt: Receipt, *, forget_before: datetime) -> None:
    """Keep an answer, and drop some that are too old."""
    await connection.execute(_FORGET_RECEIPTS, tenant_id, forget_before)
    await connection.execute(
        _ADD_RECEIPT,
        tenant_id,
        receipt.request.principal_id,
        receipt.request.request_id,
        receipt.request.fingerprint,
        receipt.answer,
        receipt.create_time,
    )
