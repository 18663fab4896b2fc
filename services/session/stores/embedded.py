"""Sessions in the memory of this process: the default driver, and what Redis falls back on."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from heapq import nsmallest
from typing import TypeVar

from services.common.errors import AlreadyExists, NotFound
from services.common.idempotency.model import IdempotencyKey
from services.common.owners import InteractionId, Owner, TenantId
from services.session.config import EmbeddedSettings, StoreSettings
from services.session.model import (
    Appended,
    ConversationId,
    Deletion,
    LogEvent,
    NewTurn,
    Report,
    Session,
    SessionCursor,
    SessionKey,
    SessionPast,
    SessionSpec,
    SettingsChange,
    microseconds,
)
from services.session.store import StoreResponse
from services.session.stores.event_file import EventFile
from services.session.stores.idempotency import RecordMemory
from services.session.stores.outbox import Outbox
from services.session.stores.window import LiveSession

T = TypeVar("T")


class EmbeddedSessionStore:
    """A `SessionStore` in dictionaries, bounded in sessions, bytes and idempotency records.

    No method suspends between reading and writing, so in one event loop every call is atomic without locks.
    Not thread-safe. Sessions end with the process: the gateway rebuilds them from its log. Events that the log does not
    have yet outlive it where there is a file for them.
    """

    def __init__(
        self, settings: EmbeddedSettings, store_settings: StoreSettings, events: EventFile | None = None
    ) -> None:
        """Begin without sessions, and with the events of a file where there is one."""
        self._settings = settings
        self._remembered_turns = store_settings.remembered_turns
        self._sessions: OrderedDict[SessionKey, LiveSession] = OrderedDict()  # least recently active first
        self._by_owner: dict[Owner, dict[ConversationId, LiveSession]] = {}
        self._records = RecordMemory(
            retention=store_settings.idempotency_retention,
            records_max=settings.idempotency_records_max,
        )
        self._outbox = Outbox(store_settings.events_max, events)
        self._size_bytes = 0
        self._next_expiry: datetime | None = None  # no session expires before

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
        first = self._records.find(key.owner, idempotency_key, now=now)
        if isinstance(first, Session):
            return await self._durable(first, report, is_repeat=True)
        if self._live(key, now) is not None:
            raise AlreadyExists("session", key.conversation_id)
        self._outbox.check(key.owner, report, 1)
        self._outbox.add(report, key, SettingsChange(spec, now, now))
        session = self._begin(key, spec, now).snapshot()
        self._records.add(key.owner, idempotency_key, session, now=now)
        self._evict(now, spared=key)
        return await self._durable(session, report)

    async def get(self, key: SessionKey, *, now: datetime) -> StoreResponse[Session]:
        """See `SessionStore.get`."""
        live = self._required(key, now)
        self._touch(live, now)
        return StoreResponse(live.snapshot())

    async def list_sessions(
        self, owner: Owner, *, limit: int, after: SessionCursor | None, now: datetime
    ) -> StoreResponse[list[Session]]:
        """See `SessionStore.list_sessions`."""
        lives = self._by_owner.get(owner, {}).values()
        sessions = (live.snapshot(with_turns=False) for live in lives if live.expire_time > now)
        start = _rank(after.last_active_time, after.conversation_id) if after is not None else None
        ranked = [(_rank(s.last_active_time, s.key.conversation_id), s) for s in sessions]
        behind = [entry for entry in ranked if start is None or entry[0] > start]
        return StoreResponse([session for _, session in nsmallest(limit, behind, key=lambda entry: entry[0])])

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
        cipher = await self._outbox.prepare(key.owner, report)
        first = self._records.find(key.owner, idempotency_key, now=now)
        if isinstance(first, Appended):
            return await self._durable(first, report, is_repeat=True)
        live = self._live(key, now)
        is_created = live is None and create is not None
        self._outbox.check(key.owner, report, len(turns) + is_created)
        if live is None and create is not None:
            live = self._begin(key, create, now, past)
            self._outbox.add(report, key, SettingsChange(create, now, live.create_time))
        if live is None:
            raise NotFound("session", key.conversation_id)
        self._size_bytes -= live.size_bytes
        added = live.append(turns)
        for turn in added:
            self._outbox.add(report, key, turn, cipher)
        self._size_bytes += live.size_bytes
        self._touch(live, now)
        self._evict(now, spared=key)
        appended = Appended(live.snapshot(), appended_count=len(added), is_created=is_created)
        # Without turns: storing the window of every response would multiply what a session takes.
        first = replace(appended, session=live.snapshot(with_turns=False))
        self._records.add(key.owner, idempotency_key, first, now=now)
        return await self._durable(appended, report)

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
        first = self._records.find(key.owner, idempotency_key, now=now)
        if isinstance(first, Session):
            return await self._durable(first, report, is_repeat=True)
        live = self._required(key, now)
        self._outbox.check(key.owner, report, 1)
        if ttl is not None:
            live.set_ttl(ttl)
        self._touch(live, now)
        session = live.snapshot(with_turns=False)
        self._outbox.add(report, key, SettingsChange(session.spec, now, session.create_time))
        self._records.add(key.owner, idempotency_key, session, now=now)
        return await self._durable(session, report)

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
        first = self._records.find(key.owner, idempotency_key, now=now)
        if isinstance(first, Session):
            return await self._durable(first, report, is_repeat=True)
        session = self._required(key, now).snapshot(with_turns=False)
        self._drop(key)
        if discard:
            self._outbox.discard_turns(key)
        self._outbox.add(report, key, Deletion(session.create_time))
        self._records.add(key.owner, idempotency_key, session, now=now)
        return await self._durable(session, report)

    async def log_events(self, owner: Owner | None, *, limit: int, now: datetime) -> list[LogEvent]:
        """See `SessionStore.log_events`."""
        del now  # events do not expire
        return self._outbox.list_events(owner, limit)

    async def acknowledge(self, owner: Owner, event_ids: Sequence[str], *, now: datetime) -> None:
        """See `SessionStore.acknowledge`."""
        del now
        self._outbox.acknowledge(owner, event_ids)
        await self._outbox.compact()

    async def remove_owner(self, owner: Owner, *, now: datetime) -> int:
        """See `SessionStore.remove_owner`."""
        lives = list(self._by_owner.get(owner, {}).values())
        for live in lives:
            self._drop(live.key)
        self._outbox.remove(owner)
        self._records.remove(lambda of: of == owner)
        await self._outbox.compact(at_once=True)
        return sum(live.expire_time > now for live in lives)

    async def remove_tenant(self, tenant_id: TenantId, *, now: datetime) -> int:
        """See `SessionStore.remove_tenant`."""
        owners = {owner for owner in self._by_owner if owner.tenant_id == tenant_id}
        owners.update(self._outbox.owners_of(tenant_id))
        removed = sum([await self.remove_owner(owner, now=now) for owner in owners])
        self._records.remove(lambda of: of.tenant_id == tenant_id)
        return removed

    async def check(self) -> None:
        """See `SessionStore.check`: memory is always there."""

    def peek(self, key: SessionKey, *, now: datetime) -> Session | None:
        """The live session as it is, touching nothing."""
        live = self._live(key, now)
        return live.snapshot() if live is not None else None

    def adopt(self, session: Session, *, now: datetime, interaction_ids: Sequence[InteractionId] = ()) -> None:
        """Hold what another store reports of a session, in place of what was held here.

        `interaction_ids` were appended just before; some of the turns may have left the window already.
        """
        known = self._sessions.get(session.key)
        if known is not None and known.is_ahead_of(session):
            return  # responses to calls at once may arrive in another order than they were given
        live = LiveSession.of(session, interaction_ids, known=known, remembered_turns=self._remembered_turns)
        self._drop(session.key)
        self._hold(live)
        self._evict(now, spared=session.key)

    def adopt_record(
        self, owner: Owner, idempotency_key: IdempotencyKey, response: Session | Appended, *, now: datetime
    ) -> None:
        """Store the response of another store to a request."""
        if isinstance(response, Appended):
            response = replace(response, session=replace(response.session, turns=()))
        self._records.add(owner, idempotency_key, response, now=now)

    def forget(self, key: SessionKey) -> None:
        """Drop a session that another store reports as gone."""
        self._drop(key)

    def forget_events(self) -> None:
        """Drop all log events, which another store has."""
        self._outbox.clear()

    @property
    def size_bytes(self) -> int:
        """About how much memory the windows take."""
        return self._size_bytes

    def __len__(self) -> int:
        """How many sessions are held, expired ones included."""
        return len(self._sessions)

    async def _durable(self, response: T, report: Report, *, is_repeat: bool = False) -> StoreResponse[T]:
        """The response to a write, after its events are in the file."""
        if report is not Report.NO:
            await self._outbox.sync()
        return StoreResponse(response, is_repeat=is_repeat)

    def _live(self, key: SessionKey, now: datetime) -> LiveSession | None:
        live = self._sessions.get(key)
        if live is not None and live.expire_time <= now:
            self._drop(key)
            return None
        return live

    def _required(self, key: SessionKey, now: datetime) -> LiveSession:
        live = self._live(key, now)
        if live is None:
            raise NotFound("session", key.conversation_id)
        return live

    def _begin(self, key: SessionKey, spec: SessionSpec, now: datetime, past: SessionPast | None = None) -> LiveSession:
        live = LiveSession(key, spec, now=now, remembered_turns=self._remembered_turns, past=past)
        self._hold(live)
        return live

    def _hold(self, live: LiveSession) -> None:
        self._sessions[live.key] = live
        self._by_owner.setdefault(live.key.owner, {})[live.key.conversation_id] = live
        self._size_bytes += live.size_bytes
        self._note_expiry(live)

    def _drop(self, key: SessionKey) -> None:
        live = self._sessions.pop(key, None)
        if live is None:
            return
        self._size_bytes -= live.size_bytes
        of_owner = self._by_owner[key.owner]
        del of_owner[key.conversation_id]
        if not of_owner:
            del self._by_owner[key.owner]

    def _touch(self, live: LiveSession, now: datetime) -> None:
        live.touch(now)
        self._sessions.move_to_end(live.key)
        self._note_expiry(live)

    def _note_expiry(self, live: LiveSession) -> None:
        if self._next_expiry is None or live.expire_time < self._next_expiry:
            self._next_expiry = live.expire_time

    def _evict(self, now: datetime, *, spared: SessionKey) -> None:
        """Get back within the bounds; the session in hand stays even where it is too large for them."""
        if self._is_within_bounds():
            return
        if self._next_expiry is not None and self._next_expiry <= now:
            for live in [live for live in self._sessions.values() if live.expire_time <= now]:
                self._drop(live.key)
            self._next_expiry = min((live.expire_time for live in self._sessions.values()), default=None)
        while not self._is_within_bounds():
            oldest = next((key for key in self._sessions if key != spared), None)
            if oldest is None:
                return
            self._drop(oldest)

    def _is_within_bounds(self) -> bool:
        return (
            len(self._sessions) <= self._settings.sessions_max and self._size_bytes <= self._settings.payload_bytes_max
        )


def _rank(last_active_time: datetime, conversation_id: ConversationId) -> tuple[int, str]:
    """Sort key of listings."""
    return -microseconds(last_active_time), conversation_id
