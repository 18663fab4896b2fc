"""Notifies other gateways that the journal has something to deliver, over PostgreSQL's LISTEN and NOTIFY.

A NOTIFY inside of the writing transaction would make all commits wait for each other. So it is sent afterwards, on a
connection of its own, once for all writes of a moment; a worker that misses it finds the delivery when it polls.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, Protocol

import asyncpg

from services.common.postgres.pool import translate_errors
from services.common.settings_types import Amount, Seconds

_CHANNEL: Final = "mneme_deliveries"
_APPLICATION_NAME: Final = "mneme-gateway-notice"


class JournalNotice(Protocol):
    """Says to other gateways that something was written."""

    def announce(self) -> None:
        """Returns at once."""
        ...


class NoNotice:
    """For a gateway that is alone."""

    def announce(self) -> None:
        """Does nothing."""


@dataclass(frozen=True, slots=True)
class NoticeSettings:
    """How often notices are sent."""

    gather_seconds: Amount = 0.02  # writes of this long share one notice
    timeout_seconds: Seconds = 10.0  # for a connection to be made, and for a notice to be taken


class PostgresNotice:
    """Implements `JournalNotice`, and calls back on notices of others."""

    def __init__(self, dsn: str, *, on_notice: Callable[[], None], settings: NoticeSettings | None = None) -> None:
        """Uses one connection of its own while it runs.

        Args:
            dsn: Past PgBouncer: its transaction mode takes LISTEN and passes no notice on.
            on_notice: Called when another gateway has written something.
            settings: Defaults where None.
        """
        self._dsn = dsn
        self._on_notice = on_notice
        self._settings = settings or NoticeSettings()
        self._announced = asyncio.Event()

    def announce(self) -> None:
        """See `JournalNotice.announce`."""
        self._announced.set()

    async def run(self) -> None:
        """Sends and listens until cancelled.

        Raises:
            StoreUnavailable: The connection was lost; run it again.
        """
        with translate_errors():
            await self._run_connected()

    async def _run_connected(self) -> None:
        connection = await asyncpg.connect(
            self._dsn,
            timeout=self._settings.timeout_seconds,
            command_timeout=self._settings.timeout_seconds,
            server_settings={"application_name": _APPLICATION_NAME},
        )
        try:
            own_pid = connection.get_server_pid()

            def listener(_connection: Any, pid: int, _channel: str, _payload: object) -> None:
                if pid != own_pid:
                    self._on_notice()

            await connection.add_listener(_CHANNEL, listener)
            # A gateway that writes nothing would not find out that it is listening to nobody.
            connection.add_termination_listener(lambda _connection: self._announced.set())
            # What was written while there was no connection was announced to nobody.
            self._on_notice()
            while True:
                await self._announced.wait()
                await asyncio.sleep(self._settings.gather_seconds)
                self._announced.clear()
                await connection.execute(f"NOTIFY {_CHANNEL}")
        finally:
            connection.terminate()
