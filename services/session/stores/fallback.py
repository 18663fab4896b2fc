"""A session store that goes on from memory while its primary cannot be reached, and catches up afterwards."""

from __future__ import annotations

import asyncio
import contextlib
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime, timedelta
from types import TracebackType
from typing import Final, Self, TypeVar, overload

import structlog

from services.common.background import BackgroundWork
from services.common.errors import AlreadyExists, NotFound, StoreUnavailable
from services.common.idempotency.model import IdempotencyKey
from services.common.owners import Owner, TenantId
from services.session.config import FallbackSettings
from services.session.model import (
    Appended,
    LogEvent,
    NewTurn,
    Report,
    Session,
    SessionCursor,
    SessionKey,
    SessionPast,
    SessionSpec,
)
from services.session.store import SessionStore, StoreResponse
from services.session.stores.embedded import EmbeddedSessionStore
from services.session.stores.replay import ReplayQueue
from services.session.stores.writes import Append, Create, Delete, Extend, Write

_log = structlog.get_logger(__name__)

_STORE_NAME: Final = "session"

T = TypeVar("T")
Sleep = Callable[[float], Awaitable[None]]
"""Waits for some seconds; an argument, so that tests need not."""


class FallbackSessionStore:
    """A `SessionStore` over a primary, with this process's memory behind it.

    While the primary is reachable, memory mirrors its responses. When it is not, responses come from memory, marked as
    degraded, and writes are queued. A background task asks for the primary with growing pauses, replays the
    queue in order once it is back, and only then lets calls through to it again, so that no write overtakes
    another. While it replays, new writes wait for their turn, so that it comes to an end.

    A write whose outcome is unknown (the connection broke before the response) is done in memory and replayed;
    turn ids and idempotency records keep it from taking effect twice. Windows that were appended to shortly before the
    loss are repeated too: a replica that took over may not have what was acknowledged last. What memory does not
    hold is absent while degraded; the gateway then rebuilds it from the conversation log.

    Use it as an async context manager: leaving stops the task, after a last attempt to replay.
    """

    def __init__(
        self,
        primary: SessionStore,
        memory: EmbeddedSessionStore,
        settings: FallbackSettings,
        *,
        sleep: Sleep = asyncio.sleep,
    ) -> None:
        """Assume that the primary is there. `memory` must be used by nobody else."""
        self._primary = primary
        self._memory = memory
        self._settings = settings
        self._sleep = sleep
        self._queue = ReplayQueue(primary, memory, settings)
        self._recent: OrderedDict[SessionKey, datetime] = OrderedDict()  # last appends, the latest at the end
        self._is_degraded = False
        self._background = BackgroundWork[str]("session-store")  # such as recovery, until the primary is back

    async def __aenter__(self) -> Self:
        """Nothing to start: the first failure does."""
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop, and say what could not be replayed: the conversation log still has it."""
        await self._background.aclose()
        if not self._is_degraded:
            return
        with contextlib.suppress(StoreUnavailable, TimeoutError):
            async with asyncio.timeout(self._settings.close_timeout_seconds):
                await self._catch_up()
        if len(self._queue):
            _log.warning("session_writes_not_replayed", writes=len(self._queue))

    @property
    def is_degraded(self) -> bool:
        """Whether responses come from memory."""
        return self._is_degraded

    async def wait_until_recovered(self) -> None:
        """Return when the primary is in use."""
        await self._background.settle()

    async def create(
        self,
        key: SessionKey,
        spec: SessionSpec,
        *,
        now: datetime,
        idempotency_key: IdempotencyKey | None = None,
        report: Report = Report.NO,
    ) -> StoreResponse[Session]:
        """See `SessionStore.create`."""
        return await self._write(Create(key=key, now=now, idempotency_key=idempotency_key, report=report, spec=spec))

    async def get(self, key: SessionKey, *, now: datetime) -> StoreResponse[Session]:
        """See `SessionStore.get`."""
        if not self.is_degraded:
            try:
                response = await self._primary.get(key, now=now)
            except StoreUnavailable as error:
                self._lose_primary(error)
            except NotFound:
                if not self.is_degraded:
                    self._memory.forget(key)
                raise
            else:
                self._mirror(response.value, now=now)
                return response
        response = await self._memory.get(key, now=now)
        self._queue.note_read(key, now)
        return StoreResponse(response.value, is_degraded=True)

    async def list_sessions(
        self, owner: Owner, *, limit: int, after: SessionCursor | None, now: datetime
    ) -> StoreResponse[list[Session]]:
        """See `SessionStore.list_sessions`."""
        if not self.is_degraded:
            try:
                return await self._primary.list_sessions(owner, limit=limit, after=after, now=now)
            except StoreUnavailable as error:
                self._lose_primary(error)
        response = await self._memory.list_sessions(owner, limit=limit, after=after, now=now)
        return StoreResponse(response.value, is_degraded=True)

    async def append(
        self,
        key: SessionKey,
        turns: Sequence[NewTurn],
        *,
        create: SessionSpec | None,
        past: SessionPast | None = None,
        now: datetime,
        idempotency_key: IdempotencyKey | None = None,
        report: Report = Report.NO,
    ) -> StoreResponse[Appended]:
        """See `SessionStore.append`."""
        write = Append(
            key=key,
            now=now,
            idempotency_key=idempotency_key,
            report=report,
            turns=tuple(turns),
            create=create,
            past=past,
        )
        return await self._write(write)

    async def extend(
        self,
        key: SessionKey,
        *,
        ttl: timedelta | None,
        now: datetime,
        idempotency_key: IdempotencyKey | None = None,
        report: Report = Report.NO,
    ) -> StoreResponse[Session]:
        """See `SessionStore.extend`."""
        return await self._write(Extend(key=key, now=now, idempotency_key=idempotency_key, report=report, ttl=ttl))

    async def delete(
        self,
        key: SessionKey,
        *,
        now: datetime,
        idempotency_key: IdempotencyKey | None = None,
        report: Report = Report.NO,
        discard: bool = False,
    ) -> StoreResponse[Session]:
        """See `SessionStore.delete`."""
        return await self._write(
            Delete(key=key, now=now, idempotency_key=idempotency_key, report=report, discard=discard)
        )

    async def log_events(self, owner: Owner | None, *, limit: int, now: datetime) -> list[LogEvent]:
        """See `SessionStore.log_events`. Events of queued writes are listed again when the primary has them."""
        if not self.is_degraded:
            try:
                return await self._primary.log_events(owner, limit=limit, now=now)
            except StoreUnavailable as error:
                self._lose_primary(error)
        return await self._memory.log_events(owner, limit=limit, now=now)

    async def acknowledge(self, owner: Owner, event_ids: Sequence[str], *, now: datetime) -> None:
        """See `SessionStore.acknowledge`. What the primary does not hear of, it lists again."""
        await self._memory.acknowledge(owner, event_ids, now=now)
        if not self.is_degraded:
            try:
                await self._primary.acknowledge(owner, event_ids, now=now)
            except StoreUnavailable as error:
                self._lose_primary(error)

    async def remove_owner(self, owner: Owner, *, now: datetime) -> int:
        """See `SessionStore.remove_owner`."""
        return await self._remove(lambda store: store.remove_owner(owner, now=now))

    async def remove_tenant(self, tenant_id: TenantId, *, now: datetime) -> int:
        """See `SessionStore.remove_tenant`."""
        return await self._remove(lambda store: store.remove_tenant(tenant_id, now=now))

    async def _remove(self, remove: Callable[[SessionStore], Awaitable[int]]) -> int:
        # Memory alone cannot remove: the primary still has the data.
        if self.is_degraded:
            raise StoreUnavailable(_STORE_NAME, self._settings.probe_seconds_max)
        try:
            removed = await remove(self._primary)
        except StoreUnavailable as error:
            self._lose_primary(error)
            raise
        await remove(self._memory)
        return removed

    async def check(self) -> None:
        """See `SessionStore.check`: one more write fits, here or in the primary."""
        if self.is_degraded:
            self._queue.check_room(0)

    @overload
    async def _write(self, write: Append) -> StoreResponse[Appended]: ...
    @overload
    async def _write(self, write: Create | Extend | Delete) -> StoreResponse[Session]: ...

    async def _write(self, write: Write) -> StoreResponse[Appended] | StoreResponse[Session]:
        response: StoreResponse[Appended] | StoreResponse[Session]
        await self._queue.wait_for_place()
        if not self.is_degraded:
            try:
                response = await write.apply(self._primary)
            except StoreUnavailable as error:
                self._lose_primary(error)
            else:
                if response.is_repeat:
                    self._mirror_record(write, response.value)  # it says how the session was then
                else:
                    await self._mirror_write(write, response.value)
                return response
        self._queue.check_room(write.size_bytes)
        # Nothing suspends from here to the queue: writes wait in the order in which memory took them.
        response = await write.apply(self._memory)
        if not response.is_repeat:
            self._queue.put(write, response.value)
        match response.value:
            case Appended() as appended:
                return StoreResponse(appended, is_degraded=True, is_repeat=response.is_repeat)
            case session:
                return StoreResponse(session, is_degraded=True, is_repeat=response.is_repeat)

    async def _mirror_write(self, write: Write, result: Appended | Session) -> None:
        if self.is_degraded:
            # The primary went while this call was on its way back: memory may hold later writes by now, which
            # the response does not. So memory does the write itself; it was done there, so it is not queued.
            with contextlib.suppress(NotFound, AlreadyExists):
                await write.apply(self._memory)
            if isinstance(result, Appended):
                self._queue.repeat(result.session)
            return
        match write, result:
            case Append() as append, Appended(session=session):
                self._memory.adopt(
                    session, now=write.now, interaction_ids=[turn.interaction_id for turn in append.turns]
                )
                self._note_append(write)
            case Create(), Session() as session:
                self._mirror(session, now=write.now)
            case Extend(), Session():
                with contextlib.suppress(NotFound):
                    await self._memory.extend(write.key, ttl=write.ttl, now=write.now)
            case _:
                self._memory.forget(write.key)
        self._mirror_record(write, result)

    def _mirror_record(self, write: Write, result: Appended | Session) -> None:
        if write.idempotency_key is not None:
            self._memory.adopt_record(write.key.owner, write.idempotency_key, result, now=write.now)

    def _mirror(self, session: Session, *, now: datetime) -> None:
        if not self.is_degraded:
            self._memory.adopt(session, now=now)

    def _note_append(self, write: Write) -> None:
        self._recent[write.key] = write.now
        self._recent.move_to_end(write.key)
        is_full = len(self._recent) > self._settings.repeated_sessions_max
        while self._recent:
            key, moment = next(iter(self._recent.items()))
            if not is_full and write.now - moment <= self._settings.repeated_time:
                break
            del self._recent[key]
            is_full = False

    def _lose_primary(self, error: StoreUnavailable) -> None:
        if self.is_degraded:
            return
        _log.warning("session_store_lost", store=error.metadata.get("store", _STORE_NAME))
        for key, moment in self._recent.items():
            session = self._memory.peek(key, now=moment)
            if session is not None:
                self._queue.repeat(session)
        self._recent.clear()
        self._is_degraded = True
        self._background.begin("recover", self._recover)

    async def _recover(self) -> None:
        pause_seconds = self._settings.probe_seconds_min
        replayed: int | None = None
        while replayed is None:
            await self._sleep(pause_seconds)
            pause_seconds = min(2 * pause_seconds, self._settings.probe_seconds_max)
            try:
                replayed = await self._catch_up()
            except StoreUnavailable:
                continue
            except Exception:
                # Nobody awaits this task: without the next attempt, memory would have to do for good.
                _log.exception("session_store_recovery_failed")
        # The queue was found empty without suspending since: nothing can have come in between.
        self._is_degraded = False
        self._memory.forget_events()  # the primary has them by now
        _log.info("session_store_back", replayed_writes=replayed)
        # In another task: this one must be able to begin anew where the primary goes again.
        self._background.begin("extend", self._extend_read)

    async def _extend_read(self) -> None:
        with contextlib.suppress(StoreUnavailable):  # the next recovery does it
            await self._queue.extend_read()

    async def _catch_up(self) -> int:
        await self._primary.check()
        return await self._queue.replay()
