"""Whose memory: the ids that every store keys by."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NewType

TenantId = NewType("TenantId", str)
UserId = NewType("UserId", str)
InteractionId = NewType("InteractionId", str)


@dataclass(frozen=True, slots=True)
class Owner:
    """The user of a tenant whose memories are read or written; no operation sees those of another."""

    tenant_id: TenantId
    user_id: UserId

    @property
    def key(self) -> str:
        """Tenant and user as one string; ids hold no control characters, so it is unique."""
        return f"{self.tenant_id}\x1f{self.user_id}"
