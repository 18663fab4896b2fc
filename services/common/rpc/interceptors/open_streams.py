"""How many streams callers without a credential may hold: watches of health, and reflection."""

from __future__ import annotations

from collections import Counter
from typing import Any, Final

from services.common.errors import LimitExceeded
from services.common.rpc.interceptors.base import AroundInterceptor, Context, Method, Serve

STREAMS_MAX: Final = 1_000
"""Of one method, of all callers."""
HOST_STREAMS_MAX: Final = 64
"""Of one method, of one host: others can still watch."""
_RETRY_SECONDS: Final = 5.0


class OpenStreamsInterceptor(AroundInterceptor):
    """Bounds streams of each method that everybody may call; single calls, such as health checks, always pass."""

    def around(self, call: Serve, method: Method) -> Serve:
        """See `AroundInterceptor`."""
        if not method.is_stream:
            return call
        streams: Counter[str] = Counter()

        async def serve(request: Any, context: Context) -> Any:
            host = str(context.peer()).rpartition(":")[0]
            if streams[host] >= HOST_STREAMS_MAX:
                raise LimitExceeded("host_streams", HOST_STREAMS_MAX, retry_after_seconds=_RETRY_SECONDS)
            if streams.total() >= STREAMS_MAX:
                raise LimitExceeded("open_streams", STREAMS_MAX, retry_after_seconds=_RETRY_SECONDS)
            streams[host] += 1
            try:
                return await call(request, context)
            finally:
                streams[host] -= 1
                if not streams[host]:
                    del streams[host]

        return serve
