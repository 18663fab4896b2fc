"""How many calls are served at once, in all and for one tenant."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any, Final

from services.common.auth import current_principal
from services.common.errors import LimitExceeded
from services.common.rpc.interceptors.base import AroundInterceptor, Context, Method, Serve

_RETRY_SECONDS: Final = 1.0


@dataclass(frozen=True, slots=True)
class AdmissionSettings:
    """Limits of concurrent calls. Beyond them a call fails with RESOURCE_EXHAUSTED and a time to retry."""

    calls_max: int = 1_000  # of all tenants
    tenant_calls_max: int = 256  # of one tenant
    tenant_streams_max: int = 64  # streams among these, which may last


class AdmissionInterceptor(AroundInterceptor):
    """Counts calls under way. Stands inside of authentication: who is refused there takes nobody's place.

    Health and reflection pass by all blocks, so that probes are answered however busy the server is.
    """

    def __init__(self, settings: AdmissionSettings) -> None:
        """Counts from zero."""
        self._settings = settings
        self._total = 0
        self._calls: Counter[str] = Counter()
        self._streams: Counter[str] = Counter()

    def around(self, call: Serve, method: Method) -> Serve:
        """See `AroundInterceptor`."""
        counters = [self._calls, self._streams] if method.is_stream else [self._calls]

        async def serve(request: Any, context: Context) -> Any:
            tenant = current_principal().tenant_id
            self._check(tenant, is_stream=method.is_stream)
            self._total += 1
            for counter in counters:
                counter[tenant] += 1
            try:
                return await call(request, context)
            finally:
                self._total -= 1
                for counter in counters:
                    counter[tenant] -= 1
                    if not counter[tenant]:
                        del counter[tenant]

        return serve

    def _check(self, tenant: str, *, is_stream: bool) -> None:
        limits = self._settings
        if is_stream and self._streams[tenant] >= limits.tenant_streams_max:
            raise _refusal("tenant_streams", limits.tenant_streams_max)
        if self._calls[tenant] >= limits.tenant_calls_max:
            raise _refusal("tenant_calls", limits.tenant_calls_max)
        if self._total >= limits.calls_max:
            raise _refusal("calls", limits.calls_max)


def _refusal(name: str, limit: int) -> LimitExceeded:
    return LimitExceeded(name, limit, retry_after_seconds=_RETRY_SECONDS)
