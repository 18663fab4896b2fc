"""The principal of the call being served. Set by the auth interceptor, read wherever a tenant is needed."""

from __future__ import annotations

from contextvars import ContextVar

from services.common.auth.model import Principal, Role
from services.common.errors import PermissionDenied, Reason, Unauthenticated
from services.common.scope import Scope

_principal: ContextVar[Principal | None] = ContextVar("mneme_principal", default=None)


def current_principal() -> Principal:
    """The principal of this call.

    Raises:
        Unauthenticated: There is none: code outside a call, or a method open to everybody.
    """
    principal = _principal.get()
    if principal is None:
        raise Unauthenticated("a credential is required", reason=Reason.CREDENTIAL_MISSING)
    return principal


def current_principal_or_none() -> Principal | None:
    """The principal of this call, None outside a call; for logs."""
    return _principal.get()


def set_current_principal(principal: Principal | None) -> None:
    """Sets the principal for the current task and the tasks it starts.

    Never reset: each call is served in a task of its own, and the value ends with it.
    """
    _principal.set(principal)


def require(role: Role) -> Principal:
    """The principal of this call, once it has the role.

    Raises:
        Unauthenticated: There is none.
        PermissionDenied: It has a lower role.
    """
    principal = current_principal()
    if not principal.may(role):
        raise role_missing(role)
    return principal


def current_granted_scopes() -> tuple[Scope, ...]:
    """Places that were granted to the reader of this call; empty outside a call.

    The gateway keeps the grants and signs for them: nobody else can name any.
    """
    principal = _principal.get()
    return tuple(map(Scope.from_key, principal.granted_scopes)) if principal is not None else ()


def role_missing(role: Role) -> PermissionDenied:
    """The error for a caller without the role."""
    name = role.name.lower()
    return PermissionDenied(f"the role {name} is required", metadata={"required_role": name})
