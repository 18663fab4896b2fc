"""A pool of connections that measures how long callers wait for one."""

from __future__ import annotations

import time
from collections.abc import Generator
from typing import TYPE_CHECKING, Any

import asyncpg
from asyncpg.pool import PoolAcquireContext, PoolConnectionProxy

from services.common.telemetry.instruments import duration_histogram

if TYPE_CHECKING:
    _Pool = asyncpg.Pool[asyncpg.Record]
    _Proxy = PoolConnectionProxy[asyncpg.Record]
else:
    _Pool = asyncpg.Pool


class MeasuredPool(_Pool):
    """Records `mneme.postgres.acquire.duration` by application name."""

    def __init__(self, *args: Any, application_name: str, **kwargs: Any) -> None:
        """Takes what `asyncpg.create_pool` takes, and the name of the service that the pool belongs to."""
        defaults = {"max_queries": 50_000, "loop": None}
        super().__init__(
            *args, connection_class=asyncpg.Connection, record_class=asyncpg.Record, **{**defaults, **kwargs}
        )
        self._waits = duration_histogram(
            "mneme.postgres.acquire.duration", "How long callers wait for a connection of the pool."
        )
        self._attributes = {"pool": application_name}

    def acquire(self, *, timeout: float | None = None) -> PoolAcquireContext[asyncpg.Record]:
        """A connection of the pool, as a context or to be awaited."""
        return _MeasuredAcquire(self, timeout)

    def record_wait(self, seconds: float) -> None:
        """Take in one wait, whether it ended with a connection or not."""
        self._waits.record(seconds, self._attributes)


class _MeasuredAcquire(PoolAcquireContext):
    """What `acquire` returns, with the wait measured."""

    async def __aenter__(self) -> _Proxy:
        started = time.perf_counter()
        try:
            return await super().__aenter__()
        finally:
            self._record(started)

    def __await__(self) -> Generator[Any, None, _Proxy]:
        started = time.perf_counter()
        try:
            return (yield from super().__await__())
        finally:
            self._record(started)

    def _record(self, started: float) -> None:
        assert isinstance(self.pool, MeasuredPool)
        self.pool.record_wait(time.perf_counter() - started)
