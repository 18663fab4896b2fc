"""Sessions and their turns as frozen values."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import Enum, auto
from typing import Final, NewType

from services.common.idempotency.model import IdempotencyKey
from services.common.owners import InteractionId, Owner
from services.common.scope import GLOBAL_SCOPE, Scope
from services.common.turns import Turn

ConversationId = NewType("ConversationId", str)

POSITION_MAX: Final = 2**53 - 1
"""The highest position. Redis and Lua count in doubles, which hold integers up to here exactly."""

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_TURN_OVERHEAD_BYTES: Final = 512
"""About what a turn takes beside its texts."""


@dataclass(frozen=True, slots=True)
class SessionKey:
    """Where a session is."""

    owner: Owner
    conversation_id: ConversationId


@dataclass(frozen=True, slots=True)
class SessionSpec:
    """What a new session is made with."""

    window_turns: int  # how many turns it holds, at least 1
    ttl: timedelta  # sliding time to live, positive


@dataclass(frozen=True, slots=True)
class SessionPast:
    """What a session was before its store lost it, for the call that makes it anew."""

    create_time: datetime
    turn_count: int  # turns ever appended, without those of the call


@dataclass(frozen=True, slots=True, kw_only=True)
class NewTurn:
    """A turn to append, checked and counted."""

    interaction_id: InteractionId
    position: int | None  # in [0, POSITION_MAX]; None means after the last one
    turn: Turn
    token_count: int  # of the content, in tokens of the service's tokenizer
    scope: Scope = GLOBAL_SCOPE  # who may see it


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionTurn:
    """A turn in a session's window."""

    interaction_id: InteractionId
    position: int  # in the conversation, from 0
    turn: Turn
    token_count: int
    scope: Scope = GLOBAL_SCOPE

    def as_new(self) -> NewTurn:
        """The turn as one to append at the place that it has."""
        return NewTurn(
            interaction_id=self.interaction_id,
            position=self.position,
            turn=self.turn,
            token_count=self.token_count,
            scope=self.scope,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """One running conversation."""

    key: SessionKey
    spec: SessionSpec
    turns: tuple[SessionTurn, ...]  # the last by position, ties by arrival, oldest first; empty in listings
    create_time: datetime
    last_active_time: datetime  # last read or write
    turn_count: int  # turns ever appended, including those that left the window

    @property
    def expire_time(self) -> datetime:
        """When it is gone, unless somebody reads or writes it before."""
        return self.last_active_time + self.spec.ttl


class Report(Enum):
    """Whether a write is reported to the conversation log, see `LogEvent`."""

    NO = auto()  # the log has it already
    BOUNDED = auto()  # reported, and refused where too many events of the user wait
    ALWAYS = auto()  # reported whatever waits: it was accepted before


@dataclass(frozen=True, slots=True)
class SettingsChange:
    """A session was created, or its time to live was set or began anew."""

    spec: SessionSpec
    set_time: datetime
    create_time: datetime | None = None  # of the session; None in an event of an earlier release


@dataclass(frozen=True, slots=True)
class Deletion:
    """A session was deleted; with the conversation, its create time identifies the deletion."""

    session_create_time: datetime


@dataclass(frozen=True, slots=True)
class LogEvent:
    """What the conversation log does not have yet."""

    event_id: str  # unique among the events of its user
    key: SessionKey
    content: NewTurn | SettingsChange | Deletion


@dataclass(frozen=True, slots=True)
class Appended:
    """What an append did."""

    session: Session
    appended_count: int  # turns that were new
    is_created: bool  # by this call


@dataclass(frozen=True, slots=True)
class SessionCursor:
    """The last session of a page: the next one begins behind it."""

    last_active_time: datetime
    conversation_id: ConversationId


def turn_size_bytes(turn: Turn) -> int:
    """About how many bytes a turn takes, in memory or in a message: its texts in UTF-8 and something more."""
    texts = [turn.content, turn.speaker, *turn.sources]
    texts += [text for a in turn.attachments for text in (a.uri, a.mime_type, a.caption)]
    texts += [text for entry in turn.metadata.items() for text in entry]
    return _TURN_OVERHEAD_BYTES + sum(len(text.encode()) for text in texts)


def microseconds(moment: datetime) -> int:
    """An aware datetime as whole microseconds since the Unix epoch."""
    return (moment - _EPOCH) // timedelta(microseconds=1)


def moment_of(microseconds: int) -> datetime:
    """The inverse of `microseconds`, in UTC."""
    return _EPOCH + timedelta(microseconds=microseconds)


@dataclass(frozen=True, slots=True, kw_only=True)
class CreateCommand:
    """A checked CreateSession."""

    owner: Owner
    conversation_id: ConversationId | None  # None: made by the service
    window_turns: int | None  # None: the default
    ttl: timedelta | None  # None: the default
    idempotency_key: IdempotencyKey | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SaidTurn:
    """A turn as a caller sends it, checked."""

    interaction_id: InteractionId | None  # None: made by the service
    position: int | None  # None: after the last one
    turn: Turn
    scope: Scope = GLOBAL_SCOPE


@dataclass(frozen=True, slots=True, kw_only=True)
class AppendCommand:
    """A checked AppendTurns."""

    key: SessionKey
    turns: tuple[SaidTurn, ...]
    create_if_missing: bool
    idempotency_key: IdempotencyKey | None
    spec: SessionSpec | None = None  # of a session that it creates; None: the defaults
    past: SessionPast | None = None  # of a session that it makes anew


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtendCommand:
    """A checked ExtendSession."""

    key: SessionKey
    ttl: timedelta | None  # None: as it is
    idempotency_key: IdempotencyKey | None


@dataclass(frozen=True, slots=True, kw_only=True)
class DeleteCommand:
    """A checked DeleteSession."""

    key: SessionKey
    discard: bool  # turns that are not in the log are not archived
    idempotency_key: IdempotencyKey | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ListCommand:
    """A checked ListSessions."""

    owner: Owner
    page_size: int
    after: SessionCursor | None


@dataclass(frozen=True, slots=True)
class SessionPage:
    """One page of a listing."""

    sessions: tuple[Session, ...]
    next_cursor: SessionCursor | None  # None on the last page
