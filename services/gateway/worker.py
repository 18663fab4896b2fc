"""On whose behalf the gateway does what follows from a call: the caller's role need not allow it."""

from __future__ import annotations

from typing import Final

from services.common.auth import Principal, Role

_WORKER: Final = "gateway-dispatcher"


def worker_principal(tenant_id: str) -> Principal:
    """The gateway itself, inside one tenant."""
    return Principal(tenant_id=tenant_id, principal_id=_WORKER, role=Role.WRITER)
