"""Who calls, and what they may do."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum


class Role(IntEnum):
    """What a principal may do; each role includes those below it."""

    READER = 1
    WRITER = 2
    ADMIN = 3

    @classmethod
    def parse(cls, name: str) -> Role:
        """The role of a name, in upper or lower case.

        Raises:
            ValueError: There is no such role.
        """
        try:
            return cls[name.upper()]
        except KeyError:
            raise ValueError(f"unknown role {name!r}; roles are reader, writer, admin") from None


@dataclass(frozen=True, slots=True)
class Principal:
    """An authenticated caller."""

    tenant_id: str  # owner of every record the caller can reach
    principal_id: str  # the caller within the tenant, for audit and idempotency
    role: Role
    # Another service has signed for it, and speaks for it: what it says the principal may see has been checked there.
    is_vouched_for: bool = field(default=False, compare=False)
