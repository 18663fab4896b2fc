"""Opens a service as soon as its engines answer: one that is started together with them need not be started again."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Collection
from typing import Final, TypeVar

import structlog

from services.common.errors import DeadlineExceeded, StoreUnavailable, cause_of

_log = structlog.get_logger(__name__)

_T = TypeVar("_T")

_PAUSE_SECONDS: Final = 0.5
"""Before the second attempt; each further pause is twice as long."""
_PAUSE_SECONDS_MAX: Final = 5.0


@contextlib.asynccontextmanager
async def opened(
    attempt: Callable[[contextlib.AsyncExitStack], Awaitable[_T]],
    *,
    engines: Collection[str],
    wait_seconds: float,
    stop: asyncio.Event,
) -> AsyncIterator[_T]:
    """What `attempt` returns, tried again while a server that it needs cannot be reached; closed with the block.

    Args:
        attempt: Opens everything, and leaves on the stack how it is closed. A failed attempt is closed before the next.
        engines: Servers that are waited for, by the names in `StoreUnavailable`. An engine inside this process is not
            among them: what it lacks does not come by waiting.
        wait_seconds: For how long attempts begin, in seconds; 0 makes one.
        stop: No further attempt is made once it is set.

    Raises:
        StoreUnavailable: A server did not answer in time.
        DeadlineExceeded: It answered too slowly.
        Exception: What `attempt` failed with otherwise, at once.
    """
    until = time.monotonic() + wait_seconds
    pause = _PAUSE_SECONDS
    while True:
        async with contextlib.AsyncExitStack() as stack:
            try:
                result = await attempt(stack)
            except (StoreUnavailable, DeadlineExceeded) as error:
                if not _is_awaited(error, engines) or time.monotonic() + pause > until or stop.is_set():
                    raise
                _log.warning("waiting_for_engine", error=str(error), cause=cause_of(error), seconds=pause)
            else:
                yield result
                return
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(stop.wait(), pause)
        pause = min(2.0 * pause, _PAUSE_SECONDS_MAX)


def _is_awaited(error: StoreUnavailable | DeadlineExceeded, engines: Collection[str]) -> bool:
    """Whether the failure is that of a server that may answer later."""
    return bool(engines) and (isinstance(error, DeadlineExceeded) or error.metadata.get("store") in engines)
