"""What the audit log says of an erasure."""

from __future__ import annotations

from typing import Final
from uuid import UUID

from services.common.postgres.types import Connection
from services.gateway.erasure.model import EraseCommand, Erasure
from services.gateway.journal.model import Caller

_ADD: Final = "SELECT gateway.audit($1, $2, $3, $4, $5, $6, $7, $8)"


async def audit_erasure(
    connection: Connection, caller: Caller, command: EraseCommand, erasure: Erasure, *, named_max: int
) -> None:
    """Names what is erased, in an entry that is blinded with its user.

    The entry of the call is about no user, and stays when the user is erased. The erasure of a tenant has no other one.
    """
    if not command.target.user_id:
        return
    named, about = command.target.audited(named_max)
    await connection.execute(
        _ADD,
        caller.tenant_id,
        caller.principal_id,
        command.method,
        command.request_id,
        command.target.user_id,
        list(map(UUID, named)),
        erasure.create_time,
        {"erasure": erasure.erasure_id, **about},
    )
