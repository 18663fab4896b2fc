"""A connection pool that has a connection at hand for the next read."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import asyncpg
import asyncpg.pool

if TYPE_CHECKING:  # the library's classes take no type arguments at run time
    _Pool: TypeAlias = asyncpg.Pool[asyncpg.Record]
    _Connection: TypeAlias = asyncpg.pool.PoolConnectionProxy[asyncpg.Record]
else:
    _Pool = asyncpg.Pool
    _Connection = asyncpg.pool.PoolConnectionProxy

_SIZE_MIN: Final = 4
"""Connections of a pool from which one can be spared."""
_IDLE_SECONDS: Final = 1.0
"""The connection at hand goes back once it was not used for so long, or up to twice that."""
_READS_MAX: Final = 10_000
"""It also goes back after so many reads: the pool replaces connections by what they have done."""
_DEFAULTS: Final[dict[str, Any]] = {
    "max_queries": 50_000,
    "loop": None,
    "connection_class": asyncpg.Connection,
    "record_class": asyncpg.Record,
}
"""What asyncpg.create_pool passes on unless it is told otherwise."""


class ReadingPool(_Pool):
    """A pool whose `fetch` and `fetch_within` leave their connection at hand for the next one that reads.

    To take a connection and to give it back costs the event loop 0.03 ms, and 0.1 to 0.15 where other work has emptied
    the processor's caches, of which a read's own part is twice that: two timers, a task, and a turn of the loop.
    """

    def __init__(self, *connect_args: Any, **settings: Any) -> None:
        """See asyncpg.create_pool."""
        super().__init__(*connect_args, **{**_DEFAULTS, **settings})
        self._at_hand: _Connection | None = None
        self._keeps_one = self.get_max_size() >= _SIZE_MIN
        self._reads = 0
        self._reads_seen = 0
        self._timer: asyncio.TimerHandle | None = None
        self._giving_back: set[asyncio.Task[None]] = set()

    async def fetch(self, query: str, *args: Any, timeout: float | None = None, record_class: Any = None) -> list[Any]:
        """See asyncpg.Pool.fetch."""
        connection = self._take() or await self.acquire()
        return await self._read(connection, query, args, timeout, record_class)

    async def fetch_within(self, acquire_timeout_seconds: float, query: str, *args: Any) -> list[asyncpg.Record]:
        """The rows of a statement that leaves nothing behind in its session.

        Raises:
            NoConnectionError: None became free in time.
        """
        connection = self._take()
        if connection is None:
            try:
                connection = await self.acquire(timeout=acquire_timeout_seconds)
            except TimeoutError as error:
                raise NoConnectionError from error
        return await self._read(connection, query, args, None, None)

    async def close(self) -> None:
        """See asyncpg.Pool.close."""
        self._keeps_one = False
        self._stop_timer()
        connection, self._at_hand = self._at_hand, None
        if connection is not None:
            await self.release(connection)
        await super().close()

    def terminate(self) -> None:
        """See asyncpg.Pool.terminate."""
        self._keeps_one = False
        self._stop_timer()
        self._at_hand = None
        super().terminate()

    async def _read(
        self, connection: _Connection, query: str, args: tuple[Any, ...], timeout: float | None, record_class: Any
    ) -> list[Any]:
        try:
            rows: list[Any] = await connection.fetch(query, *args, timeout=timeout, record_class=record_class)
        except BaseException:
            await self.release(connection)  # which finds out what has become of it
            raise
        self._reads += 1
        if self._at_hand is None and self._keeps_one and self._reads % _READS_MAX:
            self._at_hand = connection
            if self._timer is None:
                self._start_timer()
        else:
            await self.release(connection)
        return rows

    def _take(self) -> _Connection | None:
        connection, self._at_hand = self._at_hand, None
        if connection is None:
            return None
        try:
            if not connection.is_closed():
                return connection
        except asyncpg.InterfaceError:
            return None  # the pool has it back: it was lost
        self._give_back(connection)
        return None

    def _start_timer(self) -> None:
        self._reads_seen = self._reads
        self._timer = asyncio.get_running_loop().call_later(_IDLE_SECONDS, self._look)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _look(self) -> None:
        self._timer = None
        if self._reads != self._reads_seen:
            self._start_timer()
        elif (connection := self._take()) is not None:
            self._give_back(connection)

    def _give_back(self, connection: _Connection) -> None:
        task = asyncio.get_running_loop().create_task(self._given_back(connection))
        self._giving_back.add(task)
        task.add_done_callback(self._giving_back.discard)

    async def _given_back(self, connection: _Connection) -> None:
        with contextlib.suppress(asyncpg.PostgresError, asyncpg.InterfaceError, OSError):
            await self.release(connection)  # what fails is a connection that nobody will get again


class NoConnectionError(Exception):
    """All connections were in use for too long."""
