"""Health that follows the stores: NOT_SERVING while those that a service cannot work without are away."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeAlias

import structlog

from services.common.errors import MnemeError

_log = structlog.get_logger(__name__)

Check: TypeAlias = Callable[[], Awaitable[object]]
"""Asks a store for something small; raises where it cannot be reached."""


@dataclass(frozen=True, slots=True)
class ReadinessSettings:
    """How the stores are watched."""

    interval_seconds: float = 5.0  # between checks
    timeout_seconds: float = 2.0  # of one check; one that takes longer has failed
    failures_max: int = 3  # in a row: a store that fails once, or is slow for a moment, changes nothing


class Readiness:
    """Watches one store and reports each change."""

    def __init__(
        self,
        check: Check,
        report: Callable[[bool], Awaitable[None]],
        settings: ReadinessSettings | None = None,
        *,
        subject: str = "stores",
    ) -> None:
        """Takes the store to be there, as it is when a service starts.

        Args:
            check: Of the store.
            report: Called with whether the store can be used, when that changes.
            settings: Defaults where None.
            subject: What the check is of, with which the events in the log begin: `stores_away`, `stores_back`.
        """
        self._check = check
        self._report = report
        self._settings = settings or ReadinessSettings()
        self._subject = subject
        self._failures = 0

    async def run(self) -> None:
        """Checks until it is cancelled."""
        while True:
            await asyncio.sleep(self._settings.interval_seconds)
            await self.check_once()

    async def check_once(self) -> None:
        """One check. The first success after failures counts at once: callers are wanted back."""
        failures_max = self._settings.failures_max
        reason = await self._failure()
        if reason is None:
            if self._failures >= failures_max:
                _log.info(f"{self._subject}_back")
                await self._report(True)
            self._failures = 0
            return
        self._failures += 1
        if self._failures == failures_max:
            _log.warning(f"{self._subject}_away", reason=reason, checks=failures_max)
            await self._report(False)

    async def _failure(self) -> str | None:
        try:
            async with asyncio.timeout(self._settings.timeout_seconds):
                await self._check()
        except Exception as error:  # whatever it is, the store did not answer, and the watch goes on
            return str(error.reason) if isinstance(error, MnemeError) else type(error).__name__
        return None
