"""No call without a deadline."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from services.common.rpc.deadline import set_deadline
from services.common.rpc.interceptors.around import AroundInterceptor, Context


class DeadlineInterceptor(AroundInterceptor):
    """Gives calls without a deadline a default one, and cuts those that ask for more than the maximum."""

    def __init__(self, *, default_seconds: float, max_seconds: float, open_prefixes: tuple[str, ...]) -> None:
        """Methods under `open_prefixes` (health watches, reflection) may run as long as their caller likes."""
        self._default_seconds = default_seconds
        self._max_seconds = max_seconds
        self._open_prefixes = open_prefixes

    @asynccontextmanager
    async def around(self, context: Context, method: str) -> AsyncIterator[None]:
        """See `AroundInterceptor`."""
        if method.startswith(self._open_prefixes):
            yield
            return
        remaining: float | None = context.time_remaining()  # None without a deadline, whatever its stub says
        seconds = min(self._default_seconds if remaining is None else remaining, self._max_seconds)
        set_deadline(seconds)  # the call has a context of its own, which ends with it
        async with asyncio.timeout(seconds):
            yield
