"""Finds out who calls, and whether they may."""

from __future__ import annotations

from collections.abc import Awaitable, Mapping
from typing import Any

from services.common.auth import Authenticator, Role, role_missing, set_current_principal
from services.common.errors import PermissionDenied
from services.common.rpc.interceptors.base import AroundInterceptor, Context, Method, Serve


class AuthInterceptor(AroundInterceptor):
    """Lets a call pass whose principal has the role that its method needs."""

    def __init__(self, authenticator: Authenticator, roles: Mapping[str, Role]) -> None:
        """A method that is not in `roles`, by full name, is denied to everybody."""
        self.authenticator = authenticator
        self._roles = dict(roles)

    @property
    def admits_anybody(self) -> bool:
        """Whether calls without a credential are let in: development mode."""
        return self.authenticator.development_principal is not None

    def around(self, call: Serve, method: Method) -> Serve:
        """See `AroundInterceptor`."""
        role = self._roles.get(method.name)

        def serve(request: Any, context: Context) -> Awaitable[Any]:
            principal = self.authenticator.authenticate(dict(context.invocation_metadata() or ()))
            set_current_principal(principal)  # before the role is looked at, so that the log says who was refused
            if role is None:
                raise PermissionDenied("no role may call this method")
            if not principal.may(role):
                raise role_missing(role)
            return call(request, context)

        return serve
