"""Finds out who calls, and whether they may."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

from services.common.auth import Authenticator, Role, role_missing, set_current_principal
from services.common.errors import PermissionDenied
from services.common.rpc.interceptors.around import AroundInterceptor, Context


class AuthInterceptor(AroundInterceptor):
    """Lets a call pass whose principal has the role that its method needs."""

    def __init__(
        self, authenticator: Authenticator, roles: Mapping[str, Role], *, open_prefixes: tuple[str, ...]
    ) -> None:
        """A method that is neither in `roles` nor under `open_prefixes` is denied to everybody."""
        self._authenticator = authenticator
        self._roles = roles
        self._open_prefixes = open_prefixes

    @asynccontextmanager
    async def around(self, context: Context, method: str) -> AsyncIterator[None]:
        """See `AroundInterceptor`."""
        if method.startswith(self._open_prefixes):
            yield
            return
        principal = self._authenticator.authenticate(dict(context.invocation_metadata() or ()))
        role = self._roles.get(method)
        if role is None:
            raise PermissionDenied("this method is not open to calls")
        if principal.role < role:
            raise role_missing(role)
        set_current_principal(principal)
        yield
