"""A session store that can be cut off, and a pause that ends when a test says so."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import Enum, auto
from typing import TypeVar

from services.common.errors import StoreUnavailable
from services.common.idempotency.model import IdempotencyKey
from services.common.owners import Owner, TenantId
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

T = TypeVar("T")


class Line(Enum):
    """How the line to a store is."""

    UP = auto()
    CUT = auto()
    CUT_ON_THE_WAY_BACK = auto()  # calls take effect, their responses are lost


class SwitchableStore:
    """Passes calls on to a real store while its line is up."""

    def __init__(self, store: SessionStore) -> None:
        self._store = store
        self.line = Line.UP
        self.answers_wait_for: asyncio.Event | None = None  # of calls that begin from now on
        self.calls = 0  # attempts, those over a cut line included
        self._awaited: dict[int, asyncio.Event] = {}

    async def more_calls(self, count: int) -> None:
        """Waits until so many more calls have begun."""
        await self._awaited.setdefault(self.calls + count, asyncio.Event()).wait()

    async def create(
        self,
        key: SessionKey,
        spec: SessionSpec,
        *,
        now: datetime,
        idempotency_key: IdempotencyKey | None = None,
        report: Report = Report.NO,
    ) -> StoreResponse[Session]:
        return await self._pass(
            lambda: self._store.create(key, spec, now=now, idempotency_key=idempotency_key, report=report)
        )

    async def get(self, key: SessionKey, *, now: datetime) -> StoreResponse[Session]:
        return await self._pass(lambda: self._store.get(key, now=now))

    async def list_sessions(
        self, owner: Owner, *, limit: int, after: SessionCursor | None, now: datetime
    ) -> StoreResponse[list[Session]]:
        return await self._pass(lambda: self._store.list_sessions(owner, limit=limit, after=after, now=now))

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
        return await self._pass(
            lambda: self._store.append(
                key, turns, create=create, past=past, now=now, idempotency_key=idempotency_key, report=report
            )
        )

    async def extend(
        self,
        key: SessionKey,
        *,
        ttl: timedelta | None,
        now: datetime,
        idempotency_key: IdempotencyKey | None = None,
        report: Report = Report.NO,
    ) -> StoreResponse[Session]:
        return await self._pass(
            lambda: self._store.extend(key, ttl=ttl, now=now, idempotency_key=idempotency_key, report=report)
        )

    async def delete(
        self,
        key: SessionKey,
        *,
        now: datetime,
        idempotency_key: IdempotencyKey | None = None,
        report: Report = Report.NO,
        discard: bool = False,
    ) -> StoreResponse[Session]:
        return await self._pass(
            lambda: self._store.delete(key, now=now, idempotency_key=idempotency_key, report=report, discard=discard)
        )

    async def log_events(self, owner: Owner | None, *, limit: int, now: datetime) -> list[LogEvent]:
        return await self._pass(lambda: self._store.log_events(owner, limit=limit, now=now))

    async def acknowledge(self, owner: Owner, event_ids: Sequence[str], *, now: datetime) -> None:
        await self._pass(lambda: self._store.acknowledge(owner, event_ids, now=now))

    async def remove_owner(self, owner: Owner, *, now: datetime) -> int:
        return await self._pass(lambda: self._store.remove_owner(owner, now=now))

    async def remove_tenant(self, tenant_id: TenantId, *, now: datetime) -> int:
        return await self._pass(lambda: self._store.remove_tenant(tenant_id, now=now))

    async def check(self) -> None:
        await self._pass(self._store.check)

    async def _pass(self, call: Callable[[], Awaitable[T]]) -> T:
        self.calls += 1
        if self.calls in self._awaited:
            self._awaited.pop(self.calls).set()
        waits_for = self.answers_wait_for
        await asyncio.sleep(0)  # as a call over a network, it lets others run
        if self.line is Line.CUT:
            raise StoreUnavailable("switchable")
        result = await call()
        if waits_for is not None:
            await waits_for.wait()
        if self.line is Line.CUT_ON_THE_WAY_BACK:
            raise StoreUnavailable("switchable")
        return result


@dataclass(frozen=True)
class Pause:
    """A pause that somebody is in."""

    seconds: float  # how long it would be
    over: asyncio.Event

    def end(self) -> None:
        self.over.set()


class ManualSleep:
    """Stands in for `asyncio.sleep`: a pause lasts until it is ended."""

    def __init__(self) -> None:
        self._begun: asyncio.Queue[Pause] = asyncio.Queue()

    async def __call__(self, seconds: float) -> None:
        pause = Pause(seconds, asyncio.Event())
        self._begun.put_nowait(pause)
        await pause.over.wait()

    async def next_pause(self) -> Pause:
        """Waits for the next pause to begin."""
        return await self._begun.get()
