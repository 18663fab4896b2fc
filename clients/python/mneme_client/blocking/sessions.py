# Generated from aio/sessions.py by `make client`, not to be edited.
"""Sessions: the live windows of running conversations."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import timedelta

from mneme.session.v1 import session_pb2
from mneme_client import from_wire_turns, results, to_wire
from mneme_client.blocking.operations import Operations
from mneme_client.calls import PAGE_SIZE_MAX, Call, read_nothing, read_page
from mneme_client.types import Scope, TurnInput

_SERVICE = "/mneme.session.v1.SessionService"


class SessionOperations(Operations):
    """Creates, reads, lists, feeds, extends and deletes sessions."""

    def create_session(
        self,
        user_id: str,
        conversation_id: str = "",
        *,
        window_turns: int | None = None,
        ttl: timedelta | None = None,
        request_id: str | None = None,
        timeout_seconds: float | None = None,
    ) -> results.SessionWindow:
        """Creates an empty session with a window and a time to live of its own.

        Args:
            user_id: Whose session.
            conversation_id: The conversation; empty makes a new id.
            window_turns: Turns in the window, 1 to 1,000; None means the service's default.
            ttl: How long it lives after the last read or write, 1 s to 30 days; None means the default.
            request_id: Idempotency key; None makes a new one.
            timeout_seconds: Deadline of this call.

        Raises:
            MnemeClientError: With ALREADY_EXISTS when the conversation has a live session.
        """
        request = session_pb2.CreateSessionRequest(
            request_id=request_id or to_wire.new_request_id(),
            user_id=user_id,
            conversation_id=conversation_id,
            window_turns=window_turns,
            ttl=to_wire.optional_duration(ttl),
        )
        response = session_pb2.CreateSessionResponse
        call = Call(f"{_SERVICE}/CreateSession", request, response, from_wire_turns.session_window)
        return self._call(call, timeout_seconds)

    def get_session(
        self, user_id: str, conversation_id: str, *, timeout_seconds: float | None = None
    ) -> results.SessionWindow:
        """The window of a running conversation; extends its life.

        Raises:
            MnemeClientError: With NOT_FOUND when it never was, expired, or was deleted.
        """
        request = session_pb2.GetSessionRequest(user_id=user_id, conversation_id=conversation_id)
        response = session_pb2.GetSessionResponse
        call = Call(f"{_SERVICE}/GetSession", request, response, from_wire_turns.session_window)
        return self._call(call, timeout_seconds)

    def list_sessions(
        self, user_id: str, *, page_size: int = PAGE_SIZE_MAX, timeout_seconds: float | None = None
    ) -> Iterator[results.SessionWindow]:
        """A user's live sessions without their turns, the last active first; pages are fetched as they are needed."""
        request = session_pb2.ListSessionsRequest(user_id=user_id, page_size=page_size)
        read = read_page("sessions", from_wire_turns.session)
        call = Call(f"{_SERVICE}/ListSessions", request, session_pb2.ListSessionsResponse, read)
        return self._pages(call, timeout_seconds)

    def append_turns(
        self,
        user_id: str,
        conversation_id: str,
        turns: TurnInput | Sequence[TurnInput],
        *,
        create_if_missing: bool = False,
        scope: Scope | None = None,
        request_id: str | None = None,
        timeout_seconds: float | None = None,
    ) -> results.AppendResult:
        """Appends turns to a session. When this returns they are durable and remembered, as by `remember`.

        Args:
            user_id: Whose session.
            conversation_id: The conversation.
            turns: What was said, in order, 1 to 256 turns. A plain text is said by the user, now.
            create_if_missing: Create the session where there is none, with the default window and time to live.
            scope: Who may see the turns; None means everyone who reads this user's memory.
            request_id: Idempotency key; None makes a new one.
            timeout_seconds: Deadline of this call.

        Raises:
            MnemeClientError: With NOT_FOUND when there is no session, and it is not to be created.
        """
        request = session_pb2.AppendTurnsRequest(
            request_id=request_id or to_wire.new_request_id(),
            user_id=user_id,
            conversation_id=conversation_id,
            turns=[session_pb2.SessionTurn(turn=turn, scope=to_wire.scope(scope)) for turn in to_wire.turns(turns)],
            create_if_missing=create_if_missing,
        )
        response = session_pb2.AppendTurnsResponse
        call = Call(f"{_SERVICE}/AppendTurns", request, response, from_wire_turns.append_result)
        return self._call(call, timeout_seconds)

    def extend_session(
        self,
        user_id: str,
        conversation_id: str,
        *,
        ttl: timedelta | None = None,
        request_id: str | None = None,
        timeout_seconds: float | None = None,
    ) -> results.SessionWindow:
        """Resets the time to live of a session, or sets another one. The result has no turns.

        Args:
            user_id: Whose session.
            conversation_id: The conversation.
            ttl: The new time to live, 1 s to 30 days; None leaves it as it is.
            request_id: Idempotency key; None makes a new one.
            timeout_seconds: Deadline of this call.

        Raises:
            MnemeClientError: With NOT_FOUND when there is no session.
        """
        request = session_pb2.ExtendSessionRequest(
            request_id=request_id or to_wire.new_request_id(),
            user_id=user_id,
            conversation_id=conversation_id,
            ttl=to_wire.optional_duration(ttl),
        )
        response = session_pb2.ExtendSessionResponse
        call = Call(f"{_SERVICE}/ExtendSession", request, response, from_wire_turns.session_window)
        return self._call(call, timeout_seconds)

    def delete_session(
        self,
        user_id: str,
        conversation_id: str,
        *,
        discard: bool = False,
        request_id: str | None = None,
        timeout_seconds: float | None = None,
    ) -> None:
        """Deletes a session. Turns that are not in the log are archived to it first.

        Args:
            user_id: Whose session.
            conversation_id: The conversation.
            discard: Do not archive turns that are not in the log, which only calls past the gateway put in. Turns that
                came through the gateway are in the log and stay there; `erase` removes them.
            request_id: Idempotency key; None makes a new one.
            timeout_seconds: Deadline of this call.
        """
        request = session_pb2.DeleteSessionRequest(
            request_id=request_id or to_wire.new_request_id(),
            user_id=user_id,
            conversation_id=conversation_id,
            discard=discard,
        )
        response = session_pb2.DeleteSessionResponse
        self._call(Call(f"{_SERVICE}/DeleteSession", request, response, read_nothing), timeout_seconds)
