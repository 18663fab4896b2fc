"""Reads keep a session alive, so the conversation log must learn of them: a session that is lost is rebuilt from it."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import replace
from datetime import datetime
from heapq import heappop, heappush
from itertools import count

from services.common.clock import Clock
from services.common.errors import LimitExceeded, NotFound, StoreUnavailable
from services.session.config import LifetimeSettings
from services.session.model import Report, Session, SessionKey
from services.session.store import SessionStore


class LifetimeReports:
    """Reports the last read of sessions to the log, after the responses.

    A session is reported at most once per half of its time to live, with its latest read. Between two reports the log
    therefore knows of a lifetime that lasts until the next one. A process that is killed loses the reads since the last
    report: such a session may end early in the log, by at most that half.
    """

    def __init__(self, store: SessionStore, clock: Clock, settings: LifetimeSettings) -> None:
        """Report to the log by way of `store`."""
        self._store = store
        self._clock = clock
        self._settings = settings
        self._known: OrderedDict[SessionKey, datetime] = OrderedDict()  # what the log knows, the latest at the end
        self._reads: dict[SessionKey, Session] = {}  # last read of sessions that the log does not know of
        self._due: list[tuple[datetime, int, SessionKey]] = []  # heap of looks at sessions, one of each
        self._planned: set[SessionKey] = set()  # sessions in the heap
        self._numbers = count()

    def note_read(self, session: Session) -> None:
        """A session was read just now."""
        if session.key not in self._planned:
            if len(self._planned) >= self._settings.sessions_max:
                return
            self._plan(session.key, self._due_time(session))
        self._reads[session.key] = replace(session, turns=())

    def note_write(self, key: SessionKey) -> None:
        """A session was written just now, of which the log learns anyway."""
        self._reads.pop(key, None)
        self._learn(key, self._clock.now())

    def note_extended(self, key: SessionKey) -> None:
        """The time to live of a session was set, which the log learns of."""
        self.note_write(key)
        self._planned.discard(key)  # the next report may be due before the one that is planned

    async def report_due(self) -> None:
        """Report what is due, at most so much as one batch.

        Raises:
            StoreUnavailable: What is left waits for the next call.
        """
        now = self._clock.now()
        for _ in range(self._settings.batch_max):
            session = self._next_due(now)
            if session is None:
                return
            await self._report(session)

    async def report_all(self) -> None:
        """Report what waits, due or not, as a service does that stops.

        Raises:
            StoreUnavailable: What is left is lost.
        """
        for session in list(self._reads.values()):
            del self._reads[session.key]
            await self._report(session)

    def _learn(self, key: SessionKey, known: datetime) -> None:
        self._known[key] = known
        self._known.move_to_end(key)
        if len(self._known) > self._settings.sessions_max:
            self._known.popitem(last=False)

    def _due_time(self, session: Session) -> datetime:
        return self._known.get(session.key, session.create_time) + session.spec.ttl / 2

    def _plan(self, key: SessionKey, due_time: datetime) -> None:
        heappush(self._due, (due_time, next(self._numbers), key))
        self._planned.add(key)

    def _next_due(self, now: datetime) -> Session | None:
        while self._due and self._due[0][0] <= now:
            key = heappop(self._due)[2]
            self._planned.discard(key)
            session = self._reads.pop(key, None)
            if session is None:
                continue  # written since it was read
            if self._due_time(session) <= now:
                return session
            self._put_back(session, self._due_time(session))
        return None

    def _put_back(self, session: Session, due_time: datetime) -> None:
        if session.key not in self._planned:  # it may have been read meanwhile
            self._plan(session.key, due_time)
        self._reads.setdefault(session.key, session)

    async def _report(self, session: Session) -> None:
        read_time = session.last_active_time
        try:
            await self._store.extend(session.key, ttl=None, now=read_time, report=Report.BOUNDED)
        except NotFound:
            return  # ended meanwhile
        except LimitExceeded:
            self._put_back(session, self._clock.now() + session.spec.ttl / 2)  # too many events of the user wait
            return
        except StoreUnavailable:
            self._put_back(session, self._clock.now())
            raise
        self._learn(session.key, read_time)
