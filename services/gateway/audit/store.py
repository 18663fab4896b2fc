"""The port of the audit log."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from services.common.audit.verification import AuditEntry
from services.common.merkle import Frontier


@dataclass(frozen=True, slots=True)
class Access:
    """A call that ended well and is not written in a transaction of its own."""

    tenant_id: str
    principal_id: str
    method: str  # such as "FactService.UpdateFact"
    request_id: str
    user_id: str
    memory_ids: tuple[str, ...]  # UUIDs
    time: datetime
    target: Mapping[str, object] | None = None  # what it was about, where the ids of memories do not say it


class AuditStore(Protocol):
    """An append-only log for each tenant."""

    async def add(self, accesses: Sequence[Access], *, durable: bool) -> None:
        """Adds entries. A crash of the database can lose those that are not `durable`."""
        ...

    async def append(self, tenant_id: str) -> Frontier:
        """Appends all entries of a tenant to its tree and returns the tree."""
        ...

    async def append_waiting(self) -> int:
        """Appends entries of any tenants, in bounded steps, and returns how many."""
        ...

    async def entries(self, tenant_id: str, *, begin: int, limit: int) -> Sequence[AuditEntry]:
        """Entries of the tree from an index on."""
        ...

    async def leaves(self, tenant_id: str, *, size: int) -> Sequence[bytes]:
        """Hashes of the first leaves of the tree."""
        ...
