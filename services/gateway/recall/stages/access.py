"""Writes access statistics after the response."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Sequence
from dataclasses import dataclass

import structlog

from mneme.episodic.internal.v1 import episodic_internal_pb2
from services.common.auth import Principal
from services.common.errors import MnemeError
from services.gateway.upstream import Upstream
from services.gateway.worker import worker_principal

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class _Access:
    tenant_id: str
    user_id: str
    episode_ids: tuple[str, ...]


class AccessRecorder:
    """Reports to the episodic tier which episodes were used, one call after another, and never delays a response."""

    def __init__(self, upstream: Upstream, *, queue_max: int, timeout_seconds: float = 5.0) -> None:
        """Beyond `queue_max` waiting recalls, statistics are dropped: they are not worth an outage."""
        self._upstream = upstream
        self._timeout_seconds = timeout_seconds
        self._queue: asyncio.Queue[_Access | asyncio.Future[None]] = asyncio.Queue(queue_max)

    def record(self, principal: Principal, user_id: str, episode_ids: Sequence[str]) -> None:
        """Returns at once."""
        if not episode_ids:
            return
        with contextlib.suppress(asyncio.QueueFull):
            self._queue.put_nowait(_Access(principal.tenant_id, user_id, tuple(episode_ids)))

    async def reported(self, *, timeout_seconds: float) -> None:
        """Returns when all that was recorded before has been reported, or the time is over."""
        reached: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(timeout_seconds):
                await self._queue.put(reached)
                await reached

    async def run(self) -> None:
        """Writes until cancelled."""
        while True:
            access = await self._queue.get()
            if isinstance(access, asyncio.Future):
                if not access.done():
                    access.set_result(None)
                continue
            request = episodic_internal_pb2.RecordAccessRequest(user_id=access.user_id, episode_ids=access.episode_ids)
            try:
                # Access is counted for readers too, though a reader may not write.
                await self._upstream.episodic.record_access(
                    worker_principal(access.tenant_id), request, timeout_seconds=self._timeout_seconds
                )
            except MnemeError as error:
                _log.debug("access_not_recorded", reason=error.reason)
