"""The worker of erasures: carries out what is durable, chunk by chunk, and resumes what a crash interrupted."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable

import structlog

from services.common.background import BackgroundWork
from services.common.clock import Clock
from services.common.errors import MnemeError
from services.gateway.erasure.model import Erasure, ErasureSettings, Progress
from services.gateway.erasure.store import ErasureClaim, ErasureStore

_log = structlog.get_logger(__name__)


class ErasureRunner:
    """Carries out erasures. Any number of them share a store."""

    def __init__(
        self,
        store: ErasureStore,
        steps: Callable[[ErasureClaim], Awaitable[Progress]],
        *,
        clock: Clock,
        settings: ErasureSettings,
    ) -> None:
        """Calls `steps` for each chunk, inside the claim."""
        self._store = store
        self._steps = steps
        self._clock = clock
        self._settings = settings
        self._work = asyncio.Condition()

    def start(self, background: BackgroundWork[str]) -> None:
        """Carries out what is due until `background` is closed."""
        for number in range(self._settings.concurrent_max):
            background.keep_running(f"erase-{number}", self.run)

    async def run(self) -> None:
        """Carries out what is due until cancelled.

        Raises:
            StoreUnavailable: The store cannot be reached; run it again.
        """
        while True:
            while await self.advance() is not None:
                pass
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(self._settings.poll_seconds), self._work:
                    await self._work.wait()

    async def finish(self, erasure: Erasure, *, timeout_seconds: float) -> Erasure:
        """Waits until a worker has carried out an erasure, and returns it as it is then or when time is up."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(timeout_seconds):
                while not erasure.is_done:
                    async with self._work:
                        self._work.notify_all()
                    await asyncio.sleep(self._settings.watch_seconds)  # other gateways carry it out as well
                    erasure = await self._store.get(erasure.tenant_id, erasure.erasure_id)
        return erasure

    async def advance(self) -> Erasure | None:
        """Carries out one chunk of a due erasure; None where none is due.

        A tier that does not respond postpones the erasure, which is never given up.
        """
        async with self._store.claim() as claim:
            if claim is None:
                return None
            try:
                progress = await self._steps(claim)
            except MnemeError as error:
                erasure = claim.erasure
                _log.warning("erasure_postponed", step=erasure.step.name, reason=error.reason)
                await claim.postpone(self._clock.now() + self._settings.retry.delay(erasure.attempts + 1))
                return erasure
            return await claim.save(progress)
