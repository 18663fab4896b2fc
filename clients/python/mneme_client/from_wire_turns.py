"""From the messages of conversations and sessions to plain data. Pure functions."""

from __future__ import annotations

from mneme.gateway.v1 import conversations_pb2
from mneme.session.v1 import session_pb2
from mneme_client import results as r
from mneme_client.from_wire import duration, moment, scope, turn
from mneme_client.from_wire_supersessions import supersession


def conversation(message: conversations_pb2.Conversation) -> r.Conversation:
    """An entry of the log."""
    return r.Conversation(
        conversation_id=message.conversation_id,
        user_id=message.user_id,
        interaction_count=message.interaction_count,
        create_time=moment(message, "create_time"),
        update_time=moment(message, "update_time"),
    )


def interaction(message: conversations_pb2.Interaction) -> r.Interaction:
    """One turn in the log."""
    return r.Interaction(
        interaction_id=message.interaction_id,
        conversation_id=message.conversation_id,
        position=message.position,
        turn=turn(message.turn),
        scope=scope(message.scope),
        create_time=moment(message, "create_time"),
        superseded_by=message.superseded_by,
        superseded_statements=tuple(map(supersession, message.superseded_statements)),
        marks_missing=message.marks_missing,
    )


def session_turn(message: session_pb2.SessionTurn) -> r.SessionTurn:
    """A turn in a window."""
    return r.SessionTurn(
        interaction_id=message.interaction_id,
        position=message.position if message.HasField("position") else None,
        turn=turn(message.turn),
        token_count=message.token_count,
        superseded_by=message.superseded_by,
        superseded_statements=tuple(map(supersession, message.superseded_statements)),
        marks_missing=message.marks_missing,
    )


def session(message: session_pb2.Session, *, rebuilt: bool = False, degraded: bool = False) -> r.SessionWindow:
    """A running conversation."""
    return r.SessionWindow(
        conversation_id=message.conversation_id,
        user_id=message.user_id,
        turns=tuple(session_turn(t) for t in message.turns),
        window_turns=message.window_turns,
        ttl=duration(message.ttl),
        create_time=moment(message, "create_time"),
        last_active_time=moment(message, "last_active_time"),
        expire_time=moment(message, "expire_time"),
        turn_count=message.turn_count,
        rebuilt=rebuilt,
        degraded=degraded,
    )


def session_window(
    message: session_pb2.CreateSessionResponse | session_pb2.GetSessionResponse | session_pb2.ExtendSessionResponse,
) -> r.SessionWindow:
    """The session of a response."""
    rebuilt = isinstance(message, session_pb2.GetSessionResponse) and message.rebuilt
    return session(message.session, rebuilt=rebuilt, degraded=message.degraded)


def append_result(message: session_pb2.AppendTurnsResponse) -> r.AppendResult:
    """What an append did."""
    window = session(message.session, degraded=message.degraded)
    return r.AppendResult(window, message.appended_count, message.created)
