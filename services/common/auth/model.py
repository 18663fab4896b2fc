"""Who calls, and what they may do."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum


class Role(IntEnum):
    """What a method asks of its caller. Reader, writer and admin are given to principals; each includes those below.

    No principal has SERVICE: a method that asks for it takes calls of other services alone, on behalf of any principal.
    """

    READER = 1
    WRITER = 2
    ADMIN = 3
    SERVICE = 4

    @classmethod
    def parse(cls, name: str) -> Role:
        """The role of a principal by its name, in upper or lower case.

        Raises:
            ValueError: There is no such role, or it is not given to principals.
        """
        role = cls.__members__.get(name.upper())
        if role is None or role is cls.SERVICE:
            raise ValueError(f"unknown role {name!r}; roles are reader, writer, admin")
        return role


@dataclass(frozen=True, slots=True)
class Principal:
    """An authenticated caller."""

    tenant_id: str  # owner of every record the caller can reach
    principal_id: str  # the caller within the tenant, for audit and idempotency
    role: Role
    # Keys of the places (`Scope.key`) that were granted to the reader on whose behalf this call is made.
    granted_scopes: tuple[str, ...] = ()
    # Another service has authenticated it, and signed for it.
    is_vouched_for: bool = field(default=False, compare=False)

    def may(self, role: Role) -> bool:
        """Whether this principal may call a method that asks for the role."""
        return self.is_vouched_for if role is Role.SERVICE else self.role >= role
