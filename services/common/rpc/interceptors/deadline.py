"""No call without a deadline."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from services.common.errors import DeadlineExceeded
from services.common.rpc.deadline import set_deadline
from services.common.rpc.interceptors.base import AroundInterceptor, Context, Method, Serve


class DeadlineInterceptor(AroundInterceptor):
    """Gives calls without a deadline a default one, and cuts those that ask for more than the maximum."""

    def __init__(
        self, *, default_seconds: float, max_seconds: float, method_seconds: Mapping[str, float] | None = None
    ) -> None:
        """Takes the default of all methods, the maximum, and the defaults of single methods by full name.

        A method with a default of its own beyond the maximum may run so long.
        """
        self._default_seconds = default_seconds
        self._max_seconds = max_seconds
        self._method_seconds = dict(method_seconds or {})

    def around(self, call: Serve, method: Method) -> Serve:
        """See `AroundInterceptor`."""
        default = self._method_seconds.get(method.name, self._default_seconds)
        longest = max(self._max_seconds, default)

        async def serve(request: Any, context: Context) -> Any:
            remaining: float | None = context.time_remaining()  # None without a deadline, whatever its stub says
            if remaining is not None and remaining <= longest:
                if remaining <= 0:
                    raise DeadlineExceeded("the deadline of the call has passed")
                # gRPC itself cancels the call at its deadline; a timer of our own would only cost time.
                set_deadline(remaining)
                return await call(request, context)
            seconds = default if remaining is None else longest
            set_deadline(seconds)  # the call has a context of its own, which ends with it
            async with asyncio.timeout(seconds):
                return await call(request, context)

        return serve
