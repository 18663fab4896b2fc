"""From the messages of mneme.session.v1 to checked commands. Pure functions."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final, TypeAlias

from google.protobuf.duration_pb2 import Duration

from mneme.session.internal.v1 import session_internal_pb2 as internal_pb
from mneme.session.v1 import session_pb2 as pb
from services.common.auth import Principal
from services.common.convert import moment, scope_from_proto, turn_from_proto
from services.common.errors import InvalidArgument
from services.common.idempotency.model import IdempotencyKey
from services.common.idempotency.requests import idempotency_key
from services.common.owners import InteractionId, Owner, TenantId, UserId
from services.common.paging import Cursor, PageTokens
from services.common.scope import Scope
from services.common.turns import TURNS_APART
from services.common.validation import Violations
from services.session.config import SessionDefaults, SessionLimits
from services.session.model import (
    POSITION_MAX,
    AppendCommand,
    ConversationId,
    CreateCommand,
    DeleteCommand,
    ExtendCommand,
    ListCommand,
    SaidTurn,
    SessionCursor,
    SessionKey,
    SessionPast,
    SessionSpec,
    moment_of,
)

_WriteRequest: TypeAlias = (
    pb.CreateSessionRequest | pb.AppendTurnsRequest | pb.ExtendSessionRequest | pb.DeleteSessionRequest
)
_KeyedRequest: TypeAlias = (
    pb.GetSessionRequest
    | pb.AppendTurnsRequest
    | pb.ExtendSessionRequest
    | pb.DeleteSessionRequest
    | internal_pb.IngestTurnsRequest
)
_EVENTS_DEFAULT: Final = 256
_EVENTS_MAX: Final = 1_000


def create_command(request: pb.CreateSessionRequest, principal: Principal, *, limits: SessionLimits) -> CreateCommand:
    """Checks a CreateSession.

    Raises:
        InvalidArgument: Names every wrong field.
    """
    violations = Violations()
    idempotency_key = _idempotency_key(request, principal, limits, violations)
    owner = _owner(request.user_id, principal, limits, violations)
    violations.identifier("conversation_id", request.conversation_id, chars_max=limits.id_chars_max, required=False)
    window_turns = request.window_turns if request.HasField("window_turns") else None
    if window_turns is not None:
        violations.number("window_turns", window_turns, low=1, high=limits.window_turns_max)
    ttl = _ttl(request.ttl, limits, violations) if request.HasField("ttl") else None
    violations.raise_if_any()
    return CreateCommand(
        owner=owner,
        conversation_id=ConversationId(request.conversation_id) if request.conversation_id else None,
        window_turns=window_turns,
        ttl=ttl,
        idempotency_key=idempotency_key,
    )


def session_key(request: pb.GetSessionRequest, principal: Principal, *, limits: SessionLimits) -> SessionKey:
    """Checks a GetSession.

    Raises:
        InvalidArgument: Names every wrong field.
    """
    violations = Violations()
    key = _key(request, principal, limits, violations)
    violations.raise_if_any()
    return key


def append_command(
    request: pb.AppendTurnsRequest, principal: Principal, *, now: datetime, limits: SessionLimits
) -> AppendCommand:
    """Checks an AppendTurns; turns without a time were said `now`.

    Raises:
        InvalidArgument: Names every wrong field.
    """
    violations = Violations()
    idempotency_key = _idempotency_key(request, principal, limits, violations)
    key = _key(request, principal, limits, violations)
    turns: Sequence[SaidTurn] = ()
    if violations.count("turns", len(request.turns), count_min=1, count_max=limits.append_turns_max):
        turns = _said_turns(request.turns, now, limits, violations)
    violations.raise_if_any()
    return AppendCommand(
        key=key, turns=tuple(turns), create_if_missing=request.create_if_missing, idempotency_key=idempotency_key
    )


def ingest_command(
    request: internal_pb.IngestTurnsRequest,
    principal: Principal,
    *,
    now: datetime,
    limits: SessionLimits,
    defaults: SessionDefaults,
) -> AppendCommand:
    """Checks an IngestTurns.

    Raises:
        InvalidArgument: Names every wrong field.
    """
    violations = Violations()
    key = _key(request, principal, limits, violations)
    turns_max = max(limits.append_turns_max, limits.window_turns_max)  # a whole window comes where it was lost
    violations.count("turns", len(request.turns), count_max=turns_max)
    turns = _said_turns(request.turns, now, limits, violations)
    window_turns = request.window_turns if request.HasField("window_turns") else defaults.window_turns
    violations.number("window_turns", window_turns, low=1, high=limits.window_turns_max)
    ttl = _ttl(request.ttl, limits, violations) if request.HasField("ttl") else None
    violations.number("earlier_turn_count", request.earlier_turn_count, low=0, high=2**31 - 1)
    past = None
    if request.HasField("create_time"):
        past = SessionPast(moment(request.create_time, field_path="create_time"), request.earlier_turn_count)
    violations.raise_if_any()
    return AppendCommand(
        key=key,
        turns=tuple(turns),
        create_if_missing=True,
        idempotency_key=None,
        spec=SessionSpec(window_turns, ttl or defaults.ttl),
        past=past,
    )


def events_owner(user_id: str, principal: Principal, *, limits: SessionLimits) -> Owner | None:
    """Whose events a request is about; None for those of all users.

    Raises:
        InvalidArgument: The user's id is not valid.
    """
    return owner_of(user_id, principal, limits=limits) if user_id else None


def owner_of(user_id: str, principal: Principal, *, limits: SessionLimits) -> Owner:
    """The user of the caller's tenant.

    Raises:
        InvalidArgument: The user's id is not valid.
    """
    violations = Violations()
    owner = _owner(user_id, principal, limits, violations)
    violations.raise_if_any()
    return owner


def events_limit(request: internal_pb.ListLogEventsRequest) -> int:
    """How many events to list.

    Raises:
        InvalidArgument: The number is not valid.
    """
    violations = Violations()
    violations.number("limit", request.limit, low=0, high=_EVENTS_MAX)
    violations.raise_if_any()
    return request.limit or _EVENTS_DEFAULT


def event_ids(request: internal_pb.AcknowledgeLogEventsRequest) -> Sequence[str]:
    """The events to remove.

    Raises:
        InvalidArgument: Their number is not valid.
    """
    violations = Violations()
    violations.count("event_ids", len(request.event_ids), count_min=1, count_max=_EVENTS_MAX)
    violations.raise_if_any()
    return request.event_ids


def removed_owner(
    request: internal_pb.RemoveSessionsRequest, principal: Principal, *, limits: SessionLimits
) -> Owner | None:
    """The user to remove; None for the whole tenant.

    Raises:
        InvalidArgument: Neither or both are named.
    """
    if request.whole_tenant == bool(request.user_id):
        violations = Violations()
        violations.add("user_id", "either a user or the whole tenant is required")
        violations.raise_if_any()
    return events_owner(request.user_id, principal, limits=limits)


def extend_command(request: pb.ExtendSessionRequest, principal: Principal, *, limits: SessionLimits) -> ExtendCommand:
    """Checks an ExtendSession.

    Raises:
        InvalidArgument: Names every wrong field.
    """
    violations = Violations()
    idempotency_key = _idempotency_key(request, principal, limits, violations)
    key = _key(request, principal, limits, violations)
    ttl = _ttl(request.ttl, limits, violations) if request.HasField("ttl") else None
    violations.raise_if_any()
    return ExtendCommand(key=key, ttl=ttl, idempotency_key=idempotency_key)


def delete_command(request: pb.DeleteSessionRequest, principal: Principal, *, limits: SessionLimits) -> DeleteCommand:
    """Checks a DeleteSession.

    Raises:
        InvalidArgument: Names every wrong field.
    """
    violations = Violations()
    idempotency_key = _idempotency_key(request, principal, limits, violations)
    key = _key(request, principal, limits, violations)
    violations.raise_if_any()
    return DeleteCommand(key=key, discard=request.discard, idempotency_key=idempotency_key)


def removed_conversation(request: internal_pb.RemoveSessionsRequest, *, limits: SessionLimits) -> ConversationId | None:
    """The only session to remove; None for all.

    Raises:
        InvalidArgument: It is not valid, or no user is named.
    """
    if not request.conversation_id:
        return None
    violations = Violations()
    violations.identifier("user_id", request.user_id, chars_max=limits.id_chars_max)
    violations.identifier("conversation_id", request.conversation_id, chars_max=limits.id_chars_max)
    violations.raise_if_any()
    return ConversationId(request.conversation_id)


def removed_scope(request: internal_pb.RemoveSessionsRequest) -> Scope:
    """The scope whose context items are to be removed.

    Raises:
        InvalidArgument: It is not valid, or a conversation is named as well.
    """
    if request.conversation_id:
        violations = Violations()
        violations.add("conversation_id", "must be empty where a scope is named")
        violations.raise_if_any()
    return scope_from_proto(request.scope, present=True, field_path="scope")


def list_command(
    request: pb.ListSessionsRequest, principal: Principal, *, limits: SessionLimits, tokens: PageTokens
) -> ListCommand:
    """Checks a ListSessions.

    Raises:
        InvalidArgument: Names every wrong field; the page token, when it was issued for another query.
    """
    violations = Violations()
    owner = _owner(request.user_id, principal, limits, violations)
    page_size = violations.page_size(request.page_size, default=limits.page_size_default, maximum=limits.page_size_max)
    violations.raise_if_any()
    cursor = tokens.decode(request.page_token, tenant_id=principal.tenant_id, query=list_identity(request.user_id))
    after = None
    if cursor is not None:
        last_active, conversation_id = cursor
        after = SessionCursor(moment_of(int(last_active)), ConversationId(str(conversation_id)))
    return ListCommand(owner=owner, page_size=page_size, after=after)


def list_identity(user_id: str) -> Cursor:
    """What must be the same for the next page."""
    return ("ListSessions", user_id)


def _said_turns(
    messages: Sequence[pb.SessionTurn], now: datetime, limits: SessionLimits, violations: Violations
) -> list[SaidTurn]:
    turns: list[SaidTurn] = []
    for i, message in enumerate(messages):
        path = f"turns[{i}]"
        violations.identifier(
            f"{path}.interaction_id", message.interaction_id, chars_max=limits.id_chars_max, required=False
        )
        position = message.position if message.HasField("position") else None
        if position is not None:
            violations.number(f"{path}.position", position, low=0, high=POSITION_MAX)
        try:
            said_time = now + i * TURNS_APART
            turn = turn_from_proto(message.turn, now=said_time, field_path=f"{path}.turn", limits=limits.turn)
            scope = scope_from_proto(message.scope, present=message.HasField("scope"), field_path=f"{path}.scope")
        except InvalidArgument as error:
            violations.include(error)
            continue
        turns.append(
            SaidTurn(
                interaction_id=InteractionId(message.interaction_id) or None, position=position, turn=turn, scope=scope
            )
        )
    return turns


def _owner(user_id: str, principal: Principal, limits: SessionLimits, violations: Violations) -> Owner:
    violations.identifier("user_id", user_id, chars_max=limits.id_chars_max)
    return Owner(TenantId(principal.tenant_id), UserId(user_id))


def _key(request: _KeyedRequest, principal: Principal, limits: SessionLimits, violations: Violations) -> SessionKey:
    owner = _owner(request.user_id, principal, limits, violations)
    violations.identifier("conversation_id", request.conversation_id, chars_max=limits.id_chars_max)
    return SessionKey(owner, ConversationId(request.conversation_id))


def _idempotency_key(
    request: _WriteRequest, principal: Principal, limits: SessionLimits, violations: Violations
) -> IdempotencyKey | None:
    violations.identifier("request_id", request.request_id, chars_max=limits.id_chars_max, required=False)
    if not request.request_id:
        return None
    # Of the message as it was sent: what the service fills in, such as times and ids, differs in a repeat.
    return idempotency_key(request, principal)


def _ttl(message: Duration, limits: SessionLimits, violations: Violations) -> timedelta | None:
    seconds = message.seconds + message.nanos / 1e9
    low, high = limits.ttl_min.total_seconds(), limits.ttl_max.total_seconds()
    if not violations.number("ttl", seconds, low=low, high=high, unit="s"):
        return None
    return timedelta(seconds=message.seconds, microseconds=message.nanos // 1_000)
