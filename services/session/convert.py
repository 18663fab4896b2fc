"""From the models to the messages of mneme.session.v1. Pure functions."""

from __future__ import annotations

from dataclasses import replace

from google.protobuf.duration_pb2 import Duration

from mneme.session.internal.v1 import session_internal_pb2 as internal_pb
from mneme.session.v1 import session_pb2 as pb
from services.common.convert import scope_to_proto, timestamp, turn_to_proto
from services.common.owners import Owner
from services.common.paging import PageTokens
from services.common.scope import GLOBAL_SCOPE
from services.session.commands import list_identity
from services.session.model import (
    Appended,
    LogEvent,
    NewTurn,
    Session,
    SessionPage,
    SessionTurn,
    SettingsChange,
    microseconds,
)
from services.session.store import StoreResponse


def session_to_proto(session: Session) -> pb.Session:
    """A session with the turns that it has."""
    ttl = Duration()
    ttl.FromTimedelta(session.spec.ttl)
    return pb.Session(
        conversation_id=session.key.conversation_id,
        user_id=session.key.owner.user_id,
        turns=[session_turn_to_proto(turn) for turn in session.turns],
        window_turns=session.spec.window_turns,
        ttl=ttl,
        create_time=timestamp(session.create_time),
        last_active_time=timestamp(session.last_active_time),
        expire_time=timestamp(session.expire_time),
        turn_count=session.turn_count,
    )


def session_turn_to_proto(turn: SessionTurn) -> pb.SessionTurn:
    """A turn of a window."""
    return pb.SessionTurn(
        interaction_id=turn.interaction_id,
        position=turn.position,
        turn=turn_to_proto(turn.turn),
        token_count=turn.token_count,
        scope=None if turn.scope == GLOBAL_SCOPE else scope_to_proto(turn.scope),
    )


def append_response(response: StoreResponse[Appended]) -> pb.AppendTurnsResponse:
    """What an append did; without turns, as a repeat returns it."""
    appended = response.value
    return pb.AppendTurnsResponse(
        session=session_to_proto(replace(appended.session, turns=())),
        appended_count=appended.appended_count,
        created=appended.is_created,
        degraded=response.is_degraded,
    )


def ingest_response(response: StoreResponse[Appended]) -> internal_pb.IngestTurnsResponse:
    """What taking turns of the log did."""
    appended = response.value
    return internal_pb.IngestTurnsResponse(
        session=session_to_proto(appended.session),
        appended_count=appended.appended_count,
        created=appended.is_created,
        degraded=response.is_degraded,
    )


def event_to_proto(event: LogEvent) -> internal_pb.LogEvent:
    """What the conversation log does not have yet."""
    owner = event.key.owner
    message = internal_pb.LogEvent(
        event_id=event.event_id,
        tenant_id=owner.tenant_id,
        user_id=owner.user_id,
        conversation_id=event.key.conversation_id,
    )
    match event.content:
        case NewTurn() as new:
            message.turn.interaction_id = new.interaction_id
            message.turn.turn.CopyFrom(turn_to_proto(new.turn))
            message.turn.token_count = new.token_count
            if new.scope != GLOBAL_SCOPE:
                message.turn.scope.CopyFrom(scope_to_proto(new.scope))
        case SettingsChange() as change:
            message.settings.window_turns = change.spec.window_turns
            message.settings.ttl.FromTimedelta(change.spec.ttl)
            message.settings.set_time.CopyFrom(timestamp(change.set_time))
            if change.create_time is not None:
                message.settings.session_create_time.CopyFrom(timestamp(change.create_time))
        case deletion:
            message.deletion.session_create_time.CopyFrom(timestamp(deletion.session_create_time))
    return message


def list_response(response: StoreResponse[SessionPage], owner: Owner, tokens: PageTokens) -> pb.ListSessionsResponse:
    """A page with the token of the next one."""
    page = response.value
    token = ""
    if page.next_cursor is not None:
        cursor = (microseconds(page.next_cursor.last_active_time), page.next_cursor.conversation_id)
        token = tokens.encode(cursor, tenant_id=owner.tenant_id, query=list_identity(owner.user_id))
    return pb.ListSessionsResponse(
        sessions=[session_to_proto(session) for session in page.sessions],
        next_page_token=token,
        degraded=response.is_degraded,
    )
