"""Port of the session tier: where the windows of running conversations are stored."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Generic, Protocol, TypeVar

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

T_co = TypeVar("T_co", covariant=True)


@dataclass(frozen=True, slots=True)
class StoreResponse(Generic[T_co]):
    """A store's response, and whether it is the best one there could be."""

    value: T_co
    is_degraded: bool = False  # True when it comes from the process's memory because the store is unreachable
    is_repeat: bool = False  # True when the request was done before: the value is the first response, not the state now


class SessionStore(Protocol):
    """Stores sessions for a sliding time to live.

    A store must:

    - keep sessions of different tenants, and of different users of one tenant, apart whatever their ids;
    - treat a session as absent from its expire time on, judged by the `now` of each call, and drop it;
    - never move a last active time back, whatever order calls of several clocks arrive in;
    - do each call in one atomic step, beside any number of other writers;
    - return the first response to a repeated idempotency key and change nothing, and store idempotency records for
      the time it was configured with, also beyond the end of the session. No record holds a turn: the first response
      to `append` comes back without the turns of its session;
    - not store a record of a call that failed;
    - report, where a write asks for it, what the conversation log does not have, in the same atomic step: an event
      for each turn that was new, for the settings of a session that was created or extended, and for a deletion. It
      stays until it is acknowledged, whatever happens to its session. A user has at most a configured number of them:
      a write that is reported with `Report.BOUNDED` raises `LimitExceeded` beyond it.

    Every call with an idempotency key raises `InvalidArgument` (REQUEST_ID_REUSED) where its request id was used for
    another request. Records are distinguished by owner, principal and request id. All methods raise
    `StoreUnavailable`; whether a write that failed so took effect is unknown, and repeating it must be safe.
    """

    async def create(
        self,
        key: SessionKey,
        spec: SessionSpec,
        *,
        now: datetime,
        idempotency_key: IdempotencyKey | None = None,
        report: Report = Report.NO,
    ) -> StoreResponse[Session]:
        """Makes an empty session.

        Raises:
            AlreadyExists: There is a live one.
        """
        ...

    async def get(self, key: SessionKey, *, now: datetime) -> StoreResponse[Session]:
        """Reads a session with its window, and makes `now` its last active time.

        Raises:
            NotFound: There is no live one.
        """
        ...

    async def list_sessions(
        self, owner: Owner, *, limit: int, after: SessionCursor | None, now: datetime
    ) -> StoreResponse[list[Session]]:
        """Live sessions without their turns: the last active first, ties by id, behind the cursor.

        Ids are compared by code points. It touches nothing. Over the pages of a list, sessions that nobody
        touches must appear exactly once; one that is touched meanwhile moves to the front, and may be missed.
        """
        ...

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
        """Adds turns in order, trims the window and makes `now` the last active time.

        A turn without a position comes after the last one. A late turn with a lower position must take its
        place in the window, or stay outside it where the window is full of later ones; it counts either way.
        A turn whose id the session remembers must not be added again: it remembers all of its window, and the
        ids of a configured number of turns that arrived before.

        Args:
            key: Which session.
            turns: At least one.
            create: What to make the session with where it is missing; None if it must be there.
            past: What a session was that is made anew: its create time, and the turns to count beside these. Ignored
                where the session is there.
            now: The present.
            idempotency_key: Of the request.
            report: Whether the new turns are reported to the conversation log.

        Raises:
            NotFound: There is no live session, and `create` is None.
        """
        ...

    async def extend(
        self,
        key: SessionKey,
        *,
        ttl: timedelta | None,
        now: datetime,
        idempotency_key: IdempotencyKey | None = None,
        report: Report = Report.NO,
    ) -> StoreResponse[Session]:
        """Makes `now` the last active time and sets the time to live where one is given.

        Returns the session without its turns.

        Raises:
            NotFound: There is no live one.
        """
        ...

    async def delete(
        self,
        key: SessionKey,
        *,
        now: datetime,
        idempotency_key: IdempotencyKey | None = None,
        report: Report = Report.NO,
        discard: bool = False,
    ) -> StoreResponse[Session]:
        """Removes a session and returns it as it was, without its turns. What it remembered of turns goes with it.

        With `discard` the events of its conversation's turns are removed too.

        Raises:
            NotFound: There is no live one.
        """
        ...

    async def log_events(self, owner: Owner | None, *, limit: int, now: datetime) -> list[LogEvent]:
        """Events that were not acknowledged, those of one user in the order of their writes.

        Of all users, those come last whose events were listed last: none hides the others' events by its own.

        Args:
            owner: Whose; None for those of all users, as many users as the limit allows.
            limit: At most this many, at least 1.
            now: The present.
        """
        ...

    async def acknowledge(self, owner: Owner, event_ids: Sequence[str], *, now: datetime) -> None:
        """Removes events of a user; ids that are not there are ignored."""
        ...

    async def remove_owner(self, owner: Owner, *, now: datetime) -> int:
        """Removes all that is the user's, idempotency records and events included.

        Returns:
            How many sessions were live.
        """
        ...

    async def remove_tenant(self, tenant_id: TenantId, *, now: datetime) -> int:
        """Removes all that is the tenant's; returns the number of live sessions."""
        ...

    async def check(self) -> None:
        """Makes sure that the store takes writes.

        Raises:
            StoreUnavailable: It does not.
        """
        ...
