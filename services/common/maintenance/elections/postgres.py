"""Elections by an advisory lock in PostgreSQL, outside of Kubernetes."""

from __future__ import annotations

import asyncio
import contextlib
from typing import Final

from asyncpg.pool import PoolConnectionProxy
from asyncpg.transaction import Transaction

from services.common.errors import MnemeError
from services.common.postgres.pool import translate_errors
from services.common.postgres.types import Pool, Record

_VALID_SECONDS: Final = 10.0
_HEARTBEAT_SECONDS: Final = 3.0
"""How long the server may take to show that it still has the connection."""


class AdvisoryLockElection:
    """Implements `Election`: the leader is who holds a lock of the database.

    The lock belongs to a transaction that stays open, so that it works through PgBouncer as well. Such a transaction
    has no snapshot between statements and keeps no row from being vacuumed; it occupies one connection of the pool.
    When the connection ends the server frees the lock: a process that was killed is replaced at once.
    """

    def __init__(self, pool: Pool, name: str) -> None:
        """Elects among all that use this name in the same database."""
        self._pool = pool
        self._name = name
        self._held: tuple[PoolConnectionProxy[Record], Transaction] | None = None

    @property
    def valid_seconds(self) -> float:
        """See `Election.valid_seconds`."""
        return _VALID_SECONDS

    async def lead(self) -> bool:
        """See `Election.lead`."""
        if self._held is None:
            return await self._take()
        connection, _ = self._held
        try:
            with translate_errors():
                await connection.fetchval("SELECT 1", timeout=_HEARTBEAT_SECONDS)
        except MnemeError:
            await self._drop()  # the lock is gone, or will be as soon as the server notices
            return False
        return True

    async def release(self) -> None:
        """See `Election.release`."""
        if self._held is not None:
            await self._drop()

    async def _take(self) -> bool:
        with translate_errors():
            connection = await self._pool.acquire(timeout=_HEARTBEAT_SECONDS)
            transaction = connection.transaction()
            self._held = connection, transaction
            try:
                await transaction.start()
                await connection.execute("SET LOCAL idle_in_transaction_session_timeout = 0")
                is_taken = await connection.fetchval(
                    "SELECT pg_try_advisory_xact_lock(hashtextextended($1, 0))", f"mneme.leader.{self._name}"
                )
            except BaseException:
                await self._drop()
                raise
        if not is_taken:
            await self._drop()
        return bool(is_taken)

    async def _drop(self) -> None:
        assert self._held is not None
        (connection, transaction), self._held = self._held, None
        with contextlib.suppress(Exception):  # a broken connection is closed, which frees the lock
            async with asyncio.timeout(_HEARTBEAT_SECONDS):
                await transaction.rollback()
        await self._pool.release(connection)
