"""Context windows that go on in memory while their primary store cannot be reached, and that catch up afterwards."""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from types import TracebackType
from typing import Final, Self, TypeVar

import structlog

from services.common.background import BackgroundWork
from services.common.errors import MnemeError, NotFound, StoreUnavailable
from services.common.idempotency.model import IdempotencyKey
from services.common.owners import Owner, TenantId
from services.session.admission import Admission
from services.session.config import FallbackSettings
from services.session.context_window.model import Change, Changed, ContextSnapshot, ContextWindow, WindowHead
from services.session.context_window.store import ContextWindowStore
from services.session.context_window.stores.embedded import EmbeddedContextWindowStore
from services.session.model import ConversationId, SessionKey
from services.session.store import StoreResponse

_log = structlog.get_logger(__name__)

_STORE_NAME: Final = "context window"
_DELETION_BYTES: Final = 512

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class _Write:
    """A write that memory has done and the primary has not."""

    key: SessionKey
    change: Change | None  # None: a deletion
    now: datetime
    idempotency_key: IdempotencyKey | None

    @property
    def size_bytes(self) -> int:
        return self.change.size_bytes if self.change is not None else _DELETION_BYTES

    async def apply(self, store: ContextWindowStore) -> None:
        if self.change is None:
            await store.delete(self.key, now=self.now, idempotency_key=self.idempotency_key)
        else:
            # What it was planned for is the revision in memory; items that are gone are ignored.
            change = replace(self.change, if_revision=None)
            await store.change(self.key, change, now=self.now, idempotency_key=self.idempotency_key)


class FallbackContextWindowStore:
    """A `ContextWindowStore` over a primary, with this process's memory behind it.

    While the primary is reachable, memory holds what this process read and wrote there. When it is not, responses come
    from memory, marked as degraded, and writes are queued, within bounds. A background task asks for the primary with
    growing pauses and replays the queue in order before calls go there again. Item ids and idempotency records keep a
    write whose outcome is unknown from taking effect twice.

    Use it as an async context manager: leaving stops the task.
    """

    def __init__(
        self,
        primary: ContextWindowStore,
        memory: EmbeddedContextWindowStore,
        settings: FallbackSettings,
        *,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        """Assume that the primary is there. `memory` must be used by nobody else."""
        self._primary = primary
        self._memory = memory
        self._settings = settings
        self._sleep = sleep
        self._queue: deque[_Write] = deque()
        self._queued_bytes = 0
        self._admission = Admission()
        self._is_degraded = False
        self._background = BackgroundWork[str]("context-window-store")

    async def __aenter__(self) -> Self:
        """Nothing to start: the first failure does."""
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop, after a last attempt to replay."""
        await self._background.aclose()
        if not self._is_degraded:
            return
        with contextlib.suppress(StoreUnavailable, TimeoutError):
            async with asyncio.timeout(self._settings.close_timeout_seconds):
                await self._catch_up()
        if self._queue:
            _log.warning("context_window_writes_not_replayed", writes=len(self._queue))

    @property
    def is_degraded(self) -> bool:
        """Whether responses come from memory."""
        return self._is_degraded

    async def wait_until_recovered(self) -> None:
        """Return when the primary is in use."""
        await self._background.settle()

    async def read(self, key: SessionKey, *, now: datetime) -> StoreResponse[ContextWindow]:
        """See `ContextWindowStore.read`."""
        if not self._is_degraded:
            try:
                response = await self._primary.read(key, now=now)
            except StoreUnavailable as error:
                self._lose_primary(error)
            except NotFound:
                if not self._is_degraded:
                    self._memory.forget(key)
                raise
            else:
                if not self._is_degraded:
                    self._memory.adopt(response.value, now=now)
                return response
        return _degraded(await self._memory.read(key, now=now))

    async def first(
        self, owner: Owner, idempotency_key: IdempotencyKey, *, now: datetime
    ) -> StoreResponse[Changed] | None:
        """See `ContextWindowStore.first`."""
        if not self._is_degraded:
            try:
                return await self._primary.first(owner, idempotency_key, now=now)
            except StoreUnavailable as error:
                self._lose_primary(error)
        found = await self._memory.first(owner, idempotency_key, now=now)
        return None if found is None else _degraded(found)

    async def change(
        self, key: SessionKey, change: Change, *, now: datetime, idempotency_key: IdempotencyKey | None = None
    ) -> StoreResponse[Changed]:
        """See `ContextWindowStore.change`."""
        write = _Write(key, change, now, idempotency_key)
        await self._admission.wait()
        if not self._is_degraded:
            try:
                response = await self._primary.change(key, change, now=now, idempotency_key=idempotency_key)
            except StoreUnavailable as error:
                self._lose_primary(error)
            else:
                if not response.is_repeat:
                    # A window that memory does not hold must not begin there with its latest items alone.
                    is_new = response.value.head.revision == 1
                    await self._mirror(write if is_new else replace(write, change=replace(change, create=None)))
                return response
        self._check_room(write)
        # Nothing suspends from here to the queue: writes wait in the order in which memory took them.
        response = await self._memory.change(key, change, now=now, idempotency_key=idempotency_key)
        self._put(write, is_repeat=response.is_repeat)
        return _degraded(response)

    async def snapshots(self, key: SessionKey, *, now: datetime) -> StoreResponse[Sequence[ContextSnapshot]]:
        """See `ContextWindowStore.snapshots`."""
        if not self._is_degraded:
            try:
                return await self._primary.snapshots(key, now=now)
            except StoreUnavailable as error:
                self._lose_primary(error)
        return _degraded(await self._memory.snapshots(key, now=now))

    async def delete(
        self, key: SessionKey, *, now: datetime, idempotency_key: IdempotencyKey | None = None
    ) -> StoreResponse[WindowHead]:
        """See `ContextWindowStore.delete`."""
        write = _Write(key, None, now, idempotency_key)
        await self._admission.wait()
        if not self._is_degraded:
            try:
                response = await self._primary.delete(key, now=now, idempotency_key=idempotency_key)
            except StoreUnavailable as error:
                self._lose_primary(error)
            else:
                if not response.is_repeat:
                    await self._mirror(write)
                return response
        self._check_room(write)
        response = await self._memory.delete(key, now=now, idempotency_key=idempotency_key)
        self._put(write, is_repeat=response.is_repeat)
        return _degraded(response)

    async def conversations(self, owner: Owner, *, now: datetime) -> Sequence[ConversationId]:
        """See `ContextWindowStore.conversations`. Memory alone does not know all of them."""
        if self._is_degraded:
            raise StoreUnavailable(_STORE_NAME, self._settings.probe_seconds_max)
        try:
            return await self._primary.conversations(owner, now=now)
        except StoreUnavailable as error:
            self._lose_primary(error)
            raise

    async def remove_owner(self, owner: Owner, *, now: datetime) -> None:
        """See `ContextWindowStore.remove_owner`."""
        await self._remove(lambda store: store.remove_owner(owner, now=now))

    async def remove_tenant(self, tenant_id: TenantId, *, now: datetime) -> None:
        """See `ContextWindowStore.remove_tenant`."""
        await self._remove(lambda store: store.remove_tenant(tenant_id, now=now))

    async def check(self) -> None:
        """See `ContextWindowStore.check`: one more write fits, here or in the primary."""
        if self._is_degraded and len(self._queue) >= self._settings.queued_writes_max:
            raise StoreUnavailable(_STORE_NAME, self._settings.probe_seconds_max)

    async def _remove(self, remove: Callable[[ContextWindowStore], Awaitable[None]]) -> None:
        # Memory alone cannot remove: the primary still has the data.
        if self._is_degraded:
            raise StoreUnavailable(_STORE_NAME, self._settings.probe_seconds_max)
        try:
            await remove(self._primary)
        except StoreUnavailable as error:
            self._lose_primary(error)
            raise
        await remove(self._memory)

    async def _mirror(self, write: _Write) -> None:
        """Does in memory what the primary did, as far as memory holds the window."""
        with contextlib.suppress(MnemeError):
            await write.apply(self._memory)

    def _check_room(self, write: _Write) -> None:
        is_full = len(self._queue) >= self._settings.queued_writes_max
        if is_full or self._queued_bytes + write.size_bytes > self._settings.queued_bytes_max:
            raise StoreUnavailable(_STORE_NAME, self._settings.probe_seconds_max)

    def _put(self, write: _Write, *, is_repeat: bool) -> None:
        if not is_repeat:
            self._queue.append(write)
            self._queued_bytes += write.size_bytes

    def _lose_primary(self, error: StoreUnavailable) -> None:
        if self._is_degraded:
            return
        _log.warning("context_window_store_lost", store=error.metadata.get("store", _STORE_NAME))
        self._is_degraded = True
        self._background.begin("recover", self._recover)

    async def _recover(self) -> None:
        pause_seconds = self._settings.probe_seconds_min
        while True:
            await self._sleep(pause_seconds)
            pause_seconds = min(2 * pause_seconds, self._settings.probe_seconds_max)
            try:
                await self._catch_up()
            except StoreUnavailable:
                continue
            except Exception:
                # Nobody awaits this task: without the next attempt, memory would have to do for good.
                _log.exception("context_window_store_recovery_failed")
                continue
            # The queue was found empty without suspending since: nothing can have come in between.
            self._is_degraded = False
            _log.info("context_window_store_back")
            return

    async def _catch_up(self) -> None:
        """Does everything in the primary, also what comes in meanwhile.

        Raises:
            StoreUnavailable: The primary went again. What is left stays queued.
        """
        await self._primary.check()
        with self._admission.replaying():
            while self._queue:
                write = self._queue[0]
                try:
                    await write.apply(self._primary)
                except StoreUnavailable:
                    raise
                except NotFound:
                    await self._restore(write)
                except MnemeError as error:
                    _log.info("context_window_write_superseded", reason=str(error.reason))
                self._queue.popleft()
                self._queued_bytes -= write.size_bytes
                self._admission.replayed()

    async def _restore(self, write: _Write) -> None:
        """Puts the window that memory holds into a primary that lost it."""
        try:
            window = (await self._memory.read(write.key, now=write.now)).value
        except NotFound:
            return  # deleted or expired meanwhile
        whole = Change(create=window.head.spec, current_task_id=window.head.current_task_id, added=window.items)
        await self._primary.change(write.key, whole, now=write.now)


def _degraded(response: StoreResponse[T]) -> StoreResponse[T]:
    return replace(response, is_degraded=True)
