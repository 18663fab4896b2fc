"""Writes to a session store as values, so that they can be queued and replayed."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from services.common.idempotency.model import IdempotencyKey
from services.session.model import (
    Appended,
    NewTurn,
    Report,
    Session,
    SessionKey,
    SessionPast,
    SessionSpec,
    turn_size_bytes,
)
from services.session.store import SessionStore, StoreResponse

_OVERHEAD_BYTES: Final = 512


@dataclass(frozen=True, slots=True, kw_only=True)
class Create:
    """See `SessionStore.create`."""

    key: SessionKey
    now: datetime
    idempotency_key: IdempotencyKey | None
    report: Report = Report.NO
    spec: SessionSpec

    async def apply(self, store: SessionStore) -> StoreResponse[Session]:
        """Do it."""
        return await store.create(
            self.key, self.spec, now=self.now, idempotency_key=self.idempotency_key, report=self.report
        )

    @property
    def size_bytes(self) -> int:
        """About how much memory it takes."""
        return _OVERHEAD_BYTES


@dataclass(frozen=True, slots=True, kw_only=True)
class Append:
    """See `SessionStore.append`."""

    key: SessionKey
    now: datetime
    idempotency_key: IdempotencyKey | None
    report: Report = Report.NO
    turns: tuple[NewTurn, ...]
    create: SessionSpec | None
    past: SessionPast | None = None

    async def apply(self, store: SessionStore) -> StoreResponse[Appended]:
        """Do it."""
        return await store.append(
            self.key,
            self.turns,
            create=self.create,
            past=self.past,
            now=self.now,
            idempotency_key=self.idempotency_key,
            report=self.report,
        )

    @property
    def size_bytes(self) -> int:
        """About how much memory it takes."""
        return _OVERHEAD_BYTES + sum(turn_size_bytes(turn.turn) for turn in self.turns)


@dataclass(frozen=True, slots=True, kw_only=True)
class Repeat:
    """Turns that the primary has acknowledged once, in a session that is not made for them."""

    key: SessionKey
    now: datetime
    turns: tuple[NewTurn, ...]

    @classmethod
    def of(cls, session: Session) -> Repeat:
        """All turns of a window, at their places."""
        return cls(key=session.key, now=session.last_active_time, turns=tuple(turn.as_new() for turn in session.turns))

    def joined(self, session: Session) -> Repeat:
        """With what another response says of the session, which may be a later or an earlier one."""
        turns = {turn.interaction_id: turn for turn in (*self.turns, *Repeat.of(session).turns)}
        return Repeat(key=self.key, now=max(self.now, session.last_active_time), turns=tuple(turns.values()))

    async def apply(self, store: SessionStore) -> StoreResponse[Appended]:
        """Do it: turns that the store has are not added again. What was lost may be missing in the log too."""
        return await store.append(self.key, self.turns, create=None, now=self.now, report=Report.ALWAYS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Extend:
    """See `SessionStore.extend`."""

    key: SessionKey
    now: datetime
    idempotency_key: IdempotencyKey | None
    report: Report = Report.NO
    ttl: timedelta | None

    async def apply(self, store: SessionStore) -> StoreResponse[Session]:
        """Do it."""
        return await store.extend(
            self.key, ttl=self.ttl, now=self.now, idempotency_key=self.idempotency_key, report=self.report
        )

    @property
    def size_bytes(self) -> int:
        """About how much memory it takes."""
        return _OVERHEAD_BYTES


@dataclass(frozen=True, slots=True, kw_only=True)
class Delete:
    """See `SessionStore.delete`."""

    key: SessionKey
    now: datetime
    idempotency_key: IdempotencyKey | None
    report: Report = Report.NO
    discard: bool = False

    async def apply(self, store: SessionStore) -> StoreResponse[Session]:
        """Do it."""
        return await store.delete(
            self.key, now=self.now, idempotency_key=self.idempotency_key, report=self.report, discard=self.discard
        )

    @property
    def size_bytes(self) -> int:
        """About how much memory it takes."""
        return _OVERHEAD_BYTES


Write = Create | Append | Extend | Delete
