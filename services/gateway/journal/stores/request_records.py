"""Idempotency records of single writes: claimed before a write and completed with its response, in its transaction."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from services.common.postgres.types import Connection
from services.gateway.journal.model import Caller
from services.gateway.journal.stores import rows


async def claim_request(
    connection: Connection,
    caller: Caller,
    method: str,
    *,
    request_id: str,
    user_id: str,
    digest: bytes,
    now: datetime,
    target: Mapping[str, Any] | None = None,
) -> Mapping[str, Any] | None:
    """The response of an earlier use of the request id; None for the first, which is audited with its `target`.

    Raises:
        InvalidArgument: The request id was used before with another request.
        NotFound: It was used before, and what the request wrote was removed since.
    """
    earlier: dict[str, Any] | None = await connection.fetchval(
        "SELECT gateway.claim_request($1, $2, $3, $4, $5, $6, $7, $8)",
        caller.tenant_id,
        caller.principal_id,
        method,
        request_id,
        user_id,
        digest,
        now,
        target,
    )
    return rows.checked(earlier) if earlier is not None else None


async def earlier_response(
    connection: Connection, caller: Caller, method: str, *, request_id: str, digest: bytes
) -> Mapping[str, Any] | None:
    """The response of an earlier use of the request id; None where there was none. Claims nothing.

    Raises:
        InvalidArgument: The request id was used before with another request.
        NotFound: It was used before, and what the request wrote was removed since.
    """
    found = await connection.fetchrow(
        "SELECT request_hash, response FROM gateway.requests"
        " WHERE tenant_id = $1 AND principal_id = $2 AND method = $3 AND request_id = $4",
        caller.tenant_id,
        caller.principal_id,
        method,
        request_id,
    )
    if found is None:
        return None
    response: dict[str, Any] = {"reused": True} if found["request_hash"] != digest else found["response"]
    return rows.checked(response)


async def store_response(
    connection: Connection, caller: Caller, method: str, request_id: str, response: Mapping[str, Any]
) -> None:
    """Stores the response of a claimed request, for its repeats."""
    await connection.execute(
        "UPDATE gateway.requests SET response = $5"
        " WHERE tenant_id = $1 AND principal_id = $2 AND method = $3 AND request_id = $4",
        caller.tenant_id,
        caller.principal_id,
        method,
        request_id,
        response,
    )
