"""How many calls a second a tenant may make."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from services.common.auth import Role, current_principal
from services.common.rates import CallKind, RateLimiter
from services.common.rpc.interceptors.base import AroundInterceptor, Context, Method, Serve

_KINDS: Final = {Role.READER: CallKind.READ, Role.WRITER: CallKind.WRITE, Role.ADMIN: CallKind.ADMIN}


class RateInterceptor(AroundInterceptor):
    """Refuses calls beyond their tenant's rate, before their request has come. Stands inside of authentication."""

    def __init__(self, limiter: RateLimiter, roles: Mapping[str, Role]) -> None:
        """Counts with `limiter`; the kind of a call follows from the role of its method in `roles`."""
        self._limiter = limiter
        self._roles = roles

    def around(self, call: Serve, method: Method) -> Serve:
        """See `AroundInterceptor`. Methods for services are not counted."""
        kind = _KINDS.get(self._roles.get(method.name, Role.SERVICE))
        if kind is None:
            return call
        limiter = self._limiter

        async def serve(request: Any, context: Context) -> Any:
            limiter.admit(current_principal().tenant_id, kind)
            return await call(request, context)

        return serve
