"""Who may write to the journal now: fair turns by tenant, and a bound on each tenant's backlog of deliveries."""

from __future__ import annotations

import asyncio
import contextlib
import math
import time
from collections import OrderedDict, deque
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass

import structlog

from services.common.background import BackgroundWork
from services.common.errors import LimitExceeded, MnemeError
from services.common.settings_types import Count, Seconds

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class AdmissionSettings:
    """How many writes run at once, and how far a tenant's deliveries may fall behind."""

    writes_max: Count = 4  # writes of all tenants at once, each on one connection to PostgreSQL
    writes_per_tenant_max: Count = 2  # of one tenant; the rest is left to others
    writes_beside_others_max: Count = 1  # of one tenant while another one writes too
    others_seconds: Seconds = 10.0  # for so long after its last write a tenant counts as one that writes
    waiting_per_tenant_max: Count = 1_000  # writes of one tenant that wait for their turn; more are refused
    pending_max: Count = 100_000  # deliveries of one tenant that wait, five for a turn; at it Remember is refused
    pending_check_seconds: Seconds = 1.0  # how often the waiting deliveries of a tenant that writes are counted
    retry_after_seconds: Seconds = 5.0  # retry delay of a refused client
    stream_wait_seconds: Seconds = 30.0  # how long a stream is held back before its items are refused


class TenantTurns:
    """A semaphore whose permits go to waiting tenants in turn. Belongs to one event loop.

    Of each tenant the writes are admitted in the order in which they came.
    """

    def __init__(self, settings: AdmissionSettings, *, monotonic: Callable[[], float] = time.monotonic) -> None:
        """All permits are free."""
        self._settings = settings
        self._monotonic = monotonic
        self._last_writes: OrderedDict[str, float] = OrderedDict()  # of the two tenants that wrote last
        self._free: int = settings.writes_max
        self._active: dict[str, int] = {}
        self._waiting: OrderedDict[str, deque[asyncio.Future[None]]] = OrderedDict()  # the next tenant first

    @contextlib.asynccontextmanager
    async def turn(self, tenant_id: str) -> AsyncIterator[None]:
        """Holds a permit for the length of the block.

        Raises:
            LimitExceeded: Too many writes of the tenant wait already.
        """
        self._note_write(tenant_id)
        await self._acquire(tenant_id)
        try:
            yield
        finally:
            self._release(tenant_id)

    async def _acquire(self, tenant_id: str) -> None:
        queue = self._waiting.get(tenant_id)
        if queue is None and self._may_enter(tenant_id):
            self._enter(tenant_id)
            return
        if queue is None:
            queue = self._waiting[tenant_id] = deque()
        if len(queue) >= self._settings.waiting_per_tenant_max:
            raise LimitExceeded(
                "gateway.admission.waiting_per_tenant_max",
                self._settings.waiting_per_tenant_max,
                "too many writes of this tenant wait for their turn; try again later",
                retry_after_seconds=self._settings.retry_after_seconds,
            )
        permit = asyncio.get_running_loop().create_future()
        queue.append(permit)
        try:
            await permit
        except asyncio.CancelledError:
            if permit.done() and not permit.cancelled():
                self._release(tenant_id)  # it was handed over in the moment of the cancellation
            elif permit in queue:
                queue.remove(permit)
                if not queue and self._waiting.get(tenant_id) is queue:
                    del self._waiting[tenant_id]
            raise

    def _may_enter(self, tenant_id: str) -> bool:
        return self._free > 0 and self._active.get(tenant_id, 0) < self._writes_max(tenant_id)

    def has_others(self, tenant_id: str) -> bool:
        """Whether another tenant writes too, or did a moment ago."""
        since = self._monotonic() - self._settings.others_seconds
        return any(tenant != tenant_id and last > since for tenant, last in self._last_writes.items())

    def _writes_max(self, tenant_id: str) -> int:
        if self.has_others(tenant_id):
            return min(self._settings.writes_beside_others_max, self._settings.writes_per_tenant_max)
        return self._settings.writes_per_tenant_max

    def _note_write(self, tenant_id: str) -> None:
        self._last_writes[tenant_id] = self._monotonic()
        self._last_writes.move_to_end(tenant_id)
        if len(self._last_writes) > 2:
            self._last_writes.popitem(last=False)

    def _enter(self, tenant_id: str) -> None:
        self._free -= 1
        self._active[tenant_id] = self._active.get(tenant_id, 0) + 1

    def _release(self, tenant_id: str) -> None:
        self._free += 1
        self._active[tenant_id] -= 1
        if not self._active[tenant_id]:
            del self._active[tenant_id]
        self._hand_over()

    def _hand_over(self) -> None:
        """Gives free permits to the tenants that wait, one each, as long as there are any."""
        while self._free > 0:
            tenant_id = next((tenant for tenant in self._waiting if self._may_enter(tenant)), None)
            if tenant_id is None:
                return
            queue = self._waiting[tenant_id]
            permit = queue.popleft()
            if queue:
                self._waiting.move_to_end(tenant_id)
            else:
                del self._waiting[tenant_id]
            if not permit.done():
                self._enter(tenant_id)
                permit.set_result(None)


@dataclass(slots=True)
class _Backlog:
    """What is known of a tenant's backlog."""

    counted_at: float  # by the monotonic clock
    pending: int  # counted then, and what this gateway has written since


class BacklogBound:
    """Refuses writes of tenants whose deliveries have fallen too far behind.

    The count is an estimate: what this gateway writes is added, and a write that finds it older than
    `pending_check_seconds` has it made again behind its back, at the bound before it goes on. So a tenant exceeds its
    bound by no more than all gateways write in that time, and by the first write after a pause.
    """

    def __init__(
        self,
        count: Callable[[str, int], Awaitable[int]],
        settings: AdmissionSettings,
        *,
        deliveries_per_turn: int,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        """Counts by `count(tenant, at most so many)`."""
        self._count = count
        self._settings = settings
        self._deliveries_per_turn = deliveries_per_turn
        self._monotonic = monotonic
        self._known: OrderedDict[str, _Backlog] = OrderedDict()
        self._counting = BackgroundWork[str]("backlog-count")

    async def aclose(self) -> None:
        """Stop the counts that are under way."""
        await self._counting.aclose()

    async def check(self, tenant_id: str) -> None:
        """Returns where the tenant may write.

        Raises:
            LimitExceeded: Its backlog has reached the bound; says when to try again.
        """
        if await self._pending(tenant_id) >= self._settings.pending_max:
            raise LimitExceeded(
                "gateway.admission.pending_max",
                self._settings.pending_max,
                "too many deliveries of this tenant wait to be indexed; try again later",
                retry_after_seconds=self._settings.retry_after_seconds,
            )

    async def wait(self, tenant_id: str) -> None:
        """Returns when the tenant may write, for streams: what they send meanwhile is held back.

        Raises:
            LimitExceeded: Its backlog stays at the bound for too long.
        """
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self._settings.stream_wait_seconds):
                # There is no event to wait for: other gateways deliver too.
                while await self._pending(tenant_id) >= self._settings.pending_max:  # noqa: ASYNC110
                    await asyncio.sleep(self._settings.pending_check_seconds)
        await self.check(tenant_id)

    def written(self, tenant_id: str, turn_count: int) -> None:
        """Adds what was written to the estimate."""
        known = self._known.get(tenant_id)
        if known is not None:
            known.pending += turn_count * self._deliveries_per_turn

    async def _pending(self, tenant_id: str) -> int:
        known = self._known.get(tenant_id)
        if known is None:
            known = self._known[tenant_id] = _Backlog(-math.inf, 0)
            await self._recount(tenant_id, known)
        elif self._monotonic() - known.counted_at >= self._settings.pending_check_seconds:
            if known.pending >= self._settings.pending_max:
                await self._recount(tenant_id, known)
            else:
                self._counting.begin(tenant_id, lambda: self._recount_behind(tenant_id, known))
        return known.pending

    async def _recount(self, tenant_id: str, known: _Backlog) -> None:
        known.counted_at = self._monotonic()  # first: writes that come meanwhile do not count as well
        known.pending = await self._count(tenant_id, self._settings.pending_max)
        if tenant_id in self._known:
            self._known.move_to_end(tenant_id)
        if len(self._known) > _TENANTS_KNOWN_MAX:
            self._known.popitem(last=False)

    async def _recount_behind(self, tenant_id: str, known: _Backlog) -> None:
        try:
            await self._recount(tenant_id, known)
        except MnemeError as error:
            _log.info("backlog_not_counted", reason=error.reason)  # a later write counts again


_TENANTS_KNOWN_MAX = 10_000
