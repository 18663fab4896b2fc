"""Writes that wait until the primary session store is back."""

from __future__ import annotations

import contextlib
from collections import deque
from dataclasses import replace
from datetime import datetime
from typing import Final

import structlog

from services.common.errors import MnemeError, NotFound, StoreUnavailable
from services.session.admission import Admission
from services.session.config import FallbackSettings
from services.session.model import Appended, Report, Session, SessionKey, SessionPast
from services.session.store import SessionStore
from services.session.stores.embedded import EmbeddedSessionStore
from services.session.stores.writes import Append, Extend, Repeat, Write

_log = structlog.get_logger(__name__)

_STORE_NAME: Final = "session"


class ReplayQueue:
    """Keeps writes in order, within bounds, and does them again in the primary.

    Bounded because an outage has no end in sight: a full queue refuses, so that nothing is acknowledged and
    then dropped.
    """

    def __init__(self, primary: SessionStore, memory: EmbeddedSessionStore, settings: FallbackSettings) -> None:
        """Begin empty."""
        self._primary = primary
        self._memory = memory
        self._settings = settings
        self._writes: deque[Write] = deque()
        self._size_bytes = 0
        self._repeats: dict[SessionKey, Repeat] = {}  # before all writes
        self._reads: dict[SessionKey, datetime] = {}  # the last read of sessions, which extends their life
        self._admission = Admission()

    def __len__(self) -> int:
        """Writes that wait."""
        return len(self._writes)

    def check_room(self, size_bytes: int) -> None:
        """Make sure that one more write of a size fits.

        Raises:
            StoreUnavailable: It does not.
        """
        is_full = len(self._writes) >= self._settings.queued_writes_max
        if is_full or self._size_bytes + size_bytes > self._settings.queued_bytes_max:
            raise StoreUnavailable(_STORE_NAME, self._settings.probe_seconds_max)

    def put(self, write: Write, result: Appended | Session) -> None:
        """Keep a write that memory has done with this result."""
        if isinstance(write, Append) and isinstance(result, Appended) and not result.is_created:
            # Memory knew the session, so the primary should too. If that has lost it, the whole window is
            # restored first: an append that creates would put its turns at the beginning.
            write = replace(write, create=None)
        if write.report is not Report.NO:
            write = replace(write, report=Report.ALWAYS)  # it is accepted: a full list of events must not drop it
        self._writes.append(write)
        self._size_bytes += write.size_bytes

    def repeat(self, session: Session) -> None:
        """Give the primary the turns of a window once more, before all writes; beyond a bound it stays as it is."""
        known = self._repeats.get(session.key)
        if known is not None:
            self._repeats[session.key] = known.joined(session)
        elif session.turns and len(self._repeats) < self._settings.repeated_sessions_max:
            self._repeats[session.key] = Repeat.of(session)

    def note_read(self, key: SessionKey, now: datetime) -> None:
        """Keep that a session was read; the oldest are forgotten beyond the bound on writes."""
        self._reads.pop(key, None)
        self._reads[key] = now
        if len(self._reads) > self._settings.queued_writes_max:
            del self._reads[next(iter(self._reads))]

    async def wait_for_place(self) -> None:
        """Return when another write may come: at once, or as the replay that is under way lets it."""
        await self._admission.wait()

    async def replay(self) -> int:
        """Do all writes in the primary, also those that come in meanwhile; there are none when it returns.

        Returns:
            How many writes were done.

        Raises:
            StoreUnavailable: The primary went again. What is left stays queued.
        """
        with self._admission.replaying():
            done = await self._replay_writes()
            for key, now in list(self._reads.items()):
                await self._redo(Extend(key=key, now=now, idempotency_key=None, ttl=None))
                self._forget_read(key, now)
                self._admission.replayed()
            return done + await self._replay_writes()

    async def extend_read(self) -> None:
        """Extend the life of sessions that were read after the replay had come to reads; where they still are.

        Raises:
            StoreUnavailable: The primary went again. The next replay extends the sessions that are left.
        """
        for key, now in list(self._reads.items()):
            with contextlib.suppress(NotFound):
                await self._primary.extend(key, ttl=None, now=now)
            self._forget_read(key, now)

    async def _replay_writes(self) -> int:
        done = 0
        while self._repeats or self._writes:
            if self._repeats:
                key, repeat = next(iter(self._repeats.items()))
                await self._redo(repeat)
                if self._repeats.get(key) is repeat:
                    del self._repeats[key]
            else:
                write = self._writes[0]
                await self._redo(write)
                # Only now: a write that failed half way is done again, which ids make safe.
                self._writes.popleft()
                self._size_bytes -= write.size_bytes
                done += 1
            self._admission.replayed()
        return done

    def _forget_read(self, key: SessionKey, now: datetime) -> None:
        if self._reads.get(key) == now:
            del self._reads[key]

    async def _redo(self, write: Write | Repeat) -> None:
        try:
            await self._apply(write)
        except StoreUnavailable:
            raise
        except MnemeError as error:
            # Such as a session that the primary has after all, or has not any more.
            _log.info("session_write_superseded", kind=type(write).__name__, reason=str(error.reason))
        except Exception:
            # One write that cannot be done must not keep all others from being done; the log has its turns.
            _log.exception("session_write_not_replayed", kind=type(write).__name__)

    async def _apply(self, write: Write | Repeat) -> None:
        try:
            await write.apply(self._primary)
        except NotFound:
            if not isinstance(write, Append | Extend):
                raise
            await self._restore(write)

    async def _restore(self, write: Append | Extend) -> None:
        """Put the window that memory holds into a primary that lost the session."""
        session = self._memory.peek(write.key, now=write.now)
        if session is None:
            return  # deleted or expired meanwhile
        whole = Append(
            key=write.key,
            now=session.last_active_time,
            idempotency_key=None,
            turns=tuple(turn.as_new() for turn in session.turns),
            create=session.spec,
            past=SessionPast(session.create_time, session.turn_count - len(session.turns)),
            report=Report.ALWAYS,  # the log knows by their ids which turns it has
        )
        await whole.apply(self._primary)
        if write.idempotency_key is not None:
            await write.apply(self._primary)  # so that a repeat is recognised; its turns are there already
