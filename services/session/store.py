"""Port of the session tier: where the windows of running conversations are kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Generic, Protocol, TypeVar

from services.session.model import (
    Appended,
    NewTurn,
    Owner,
    RequestMark,
    Session,
    SessionCursor,
    SessionKey,
    SessionSpec,
)

T_co = TypeVar("T_co", covariant=True)


@dataclass(frozen=True, slots=True)
class Answer(Generic[T_co]):
    """A store's answer, and whether it is the best one there could be."""

    value: T_co
    is_degraded: bool = False  # True when it comes from the process's memory because the store is unreachable


class SessionStore(Protocol):
    """Keeps sessions for a sliding time to live.

    A store must:

    - keep sessions of different tenants, and of different users of one tenant, apart whatever their ids;
    - treat a session as absent from its expire time on, judged by the `now` of each call, and drop it;
    - never move a last active time back, whatever order calls of several clocks arrive in;
    - do each call in one atomic step, beside any number of other writers;
    - answer a repeated mark with the first answer and change nothing (`append` repeats the counts of the
      first answer with the session as it now is, which counts as reading it), and remember marks for the
      time it was configured with, also beyond the end of the session;
    - not remember a mark whose call failed.

    Every call with a mark raises `InvalidArgument` (REQUEST_ID_REUSED) where the mark's id was used for
    another request. Marks are told apart by owner, principal and request id. All methods raise
    `StoreUnavailable`; whether a write that failed so took effect is unknown, and repeating it must be safe.
    """

    async def create(
        self, key: SessionKey, spec: SessionSpec, *, now: datetime, mark: RequestMark | None = None
    ) -> Answer[Session]:
        """Makes an empty session.

        Raises:
            AlreadyExists: There is a live one.
        """
        ...

    async def get(self, key: SessionKey, *, now: datetime) -> Answer[Session]:
        """Reads a session with its window, and makes `now` its last active time.

        Raises:
            NotFound: There is no live one.
        """
        ...

    async def list_sessions(
        self, owner: Owner, *, limit: int, after: SessionCursor | None, now: datetime
    ) -> Answer[list[Session]]:
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
        now: datetime,
        mark: RequestMark | None = None,
    ) -> Answer[Appended]:
        """Adds turns in order, trims the window and makes `now` the last active time.

        A turn without a position comes after the last one. A late turn with a lower position must take its
        place in the window, or stay outside it where the window is full of later ones; it counts either way.
        A turn whose id the session remembers must not be added again: it remembers all of its window, and the
        ids of a configured number of turns that arrived before.

        Args:
            key: Which session.
            turns: At least one.
            create: What to make the session with where it is missing; None if it must be there.
            now: The present.
            mark: Identity of the request.

        Raises:
            NotFound: There is no live session, and `create` is None.
        """
        ...

    async def extend(
        self, key: SessionKey, *, ttl: timedelta | None, now: datetime, mark: RequestMark | None = None
    ) -> Answer[Session]:
        """Makes `now` the last active time and sets the time to live where one is given.

        Returns the session without its turns.

        Raises:
            NotFound: There is no live one.
        """
        ...

    async def delete(self, key: SessionKey, *, now: datetime, mark: RequestMark | None = None) -> Answer[Session]:
        """Removes a session and returns what it last held. What it remembered of turns goes with it.

        Raises:
            NotFound: There is no live one.
        """
        ...

    async def check(self) -> None:
        """Makes sure that the store takes writes.

        Raises:
            StoreUnavailable: It does not.
        """
        ...
