"""The end of a session as the journal stores it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol

from services.gateway.journal.model import Caller, RememberCommand, SessionEvent


@dataclass(frozen=True, slots=True)
class EndCommand:
    """A session to end."""

    user_id: str
    conversation_id: str
    request_id: str  # identifies the end: a repeat does nothing


@dataclass(frozen=True, slots=True)
class SessionRecord:
    """A session's own settings as the log has them, for the time when its store loses it."""

    window_turns: int
    ttl: timedelta
    active_time: datetime  # when they were set, or the time to live last began anew
    create_time: datetime | None = None  # of the session; None where an earlier release wrote the record


@dataclass(frozen=True, slots=True)
class SessionBeginning:
    """Where a conversation's session begins in the log."""

    position: int  # turns before it belong to ended sessions
    time: datetime | None  # when the first turn from there on came into the log; None where there is none


@dataclass(frozen=True, slots=True)
class SessionRequest:
    """A request that changes a session and is carried out by the session tier."""

    user_id: str
    method: str
    request_id: str
    digest: bytes  # of all else in it


class SessionLog(Protocol):
    """Where sessions begin and end in the log."""

    async def session_start(self, tenant_id: str, user_id: str, conversation_id: str) -> int:
        """The position that the conversation's session begins at: turns before it belong to ended ones."""
        ...

    async def session_beginning(self, tenant_id: str, user_id: str, conversation_id: str) -> SessionBeginning:
        """Where the conversation's session begins, and when."""
        ...

    async def first_append(self, caller: Caller, command: RememberCommand) -> bytes | None:
        """The response that was stored for a request; None where none was, or of another request under the id."""
        ...

    async def put_append(self, caller: Caller, command: RememberCommand, response: bytes) -> None:
        """Stores the response to a request whose turns are durable. It must hold no content and no user."""
        ...

    async def first_response(self, caller: Caller, request: SessionRequest) -> bytes | None:
        """The response that was stored for a request; None where none was.

        Raises:
            InvalidArgument: The request id was used for another request of the method.
            NotFound: Its user was erased since.
        """
        ...

    async def put_response(self, caller: Caller, request: SessionRequest, response: bytes) -> None:
        """Stores the response to a request, unless there is one. It must hold no content and no user."""
        ...

    async def session_record(self, tenant_id: str, user_id: str, conversation_id: str) -> SessionRecord | None:
        """The own settings of the conversation's session; None where it has none, or was ended."""
        ...

    async def put_session_record(
        self, tenant_id: str, user_id: str, conversation_id: str, record: SessionRecord
    ) -> None:
        """Replaces the own settings of the conversation's session."""
        ...

    async def archive(self, caller: Caller, commands: Sequence[RememberCommand]) -> int:
        """Makes turns durable that were put into a session past the gateway, and returns how many were new.

        Each turn has an interaction id; one that is in the log, or was removed from it, is not written again. They are
        delivered to every tier but the session tier, which has them.

        Raises:
            Conflict: Another gateway writes one of them just now; nothing was written.
        """
        ...

    async def set_aside(self, event: SessionEvent, *, attempts: int, reason: str, detail: str) -> None:
        """Stores an event of a session that the log does not take as a dead letter of the session tier."""
        ...

    async def end_session(self, caller: Caller, command: EndCommand) -> None:
        """Notes that the session is over: what was said so far is never put into a session again.

        A repeat of the request id does nothing, so that it does not end the next session of the conversation.

        Raises:
            InvalidArgument: The request id was used for another conversation.
        """
        ...
