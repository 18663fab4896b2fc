"""From the client's arguments to requests. Pure functions; the service validates the values."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from google.protobuf.duration_pb2 import Duration
from google.protobuf.field_mask_pb2 import FieldMask
from google.protobuf.timestamp_pb2 import Timestamp

from mneme.common.v1 import common_pb2
from mneme.gateway.v1 import memory_pb2
from mneme.semantic.v1 import profile_pb2
from mneme_client.chat import turn_of
from mneme_client.enums import MemoryKind, Role, WireEnum
from mneme_client.resources import Preferences
from mneme_client.types import Attachment, RememberItem, Scope, Turn, TurnInput


def memory_references(kind: MemoryKind, memory_ids: Iterable[str]) -> list[memory_pb2.MemoryReference]:
    """Memories of one kind by their ids."""
    return [memory_pb2.MemoryReference(kind=enum_number(kind), memory_id=memory_id) for memory_id in memory_ids]


def enum_number(value: WireEnum) -> Any:
    """The number on the wire. Untyped, because stub generators disagree on the type of an enum field.

    Raises:
        TypeError: It is no member of an enum, such as the text "user".
    """
    if not isinstance(value, int):
        raise TypeError(f"{value!r} is no member of an enum, such as Role.USER")
    return int(value)


def optional_enum_number(value: WireEnum | None) -> Any:
    """The number, or None for None."""
    return None if value is None else enum_number(value)


def given(**values: Any) -> dict[str, Any]:
    """The values that are not None."""
    return {name: value for name, value in values.items() if value is not None}


def field_mask(*names: Iterable[str]) -> FieldMask:
    """The fields to update."""
    return FieldMask(paths=sorted({name for group in names for name in group}))


def new_request_id() -> str:
    """A fresh idempotency key."""
    return str(uuid.uuid4())


def timestamp(moment: datetime) -> Timestamp:
    """An aware datetime as a message.

    Raises:
        ValueError: It is naive: which instant it means would depend on the machine.
    """
    if moment.tzinfo is None:
        raise ValueError(f"{moment.isoformat()} has no time zone; use datetime(..., tzinfo=UTC)")
    message = Timestamp()
    message.FromDatetime(moment)
    return message


def optional_timestamp(moment: datetime | None) -> Timestamp | None:
    """The message, or None for None."""
    return None if moment is None else timestamp(moment)


def optional_duration(value: timedelta | None) -> Duration | None:
    """The duration as a message, or None for None."""
    if value is None:
        return None
    message = Duration()
    message.FromTimedelta(value)
    return message


def scope(value: Scope | None) -> common_pb2.Scope | None:
    """The scope, unset for None, which the service reads as GLOBAL."""
    if value is None:
        return None
    return common_pb2.Scope(
        level=enum_number(value.level),
        project_id=value.project_id,
        session_id=value.session_id,
        task_id=value.task_id,
        context_id=value.context_id,
    )


def preferences(value: Preferences) -> profile_pb2.Preferences:
    """The preferences; empty ones are not set."""
    return profile_pb2.Preferences(
        response_format=value.response_format,
        detail_level=value.detail_level,
        citation_style=value.citation_style,
        language=value.language,
        preferred_sources=value.preferred_sources,
        excluded_sources=value.excluded_sources,
        other=value.other,
    )


def attachments(values: Iterable[Attachment]) -> list[common_pb2.Attachment]:
    """The attachments, in order."""
    return [common_pb2.Attachment(uri=a.uri, mime_type=a.mime_type, caption=a.caption) for a in values]


def turn(value: TurnInput) -> common_pb2.Turn:
    """The turn; a plain text is said by the user, now.

    Raises:
        TypeError: It is no turn, no text and no message of a chat API.
    """
    if isinstance(value, str):
        value = Turn(value, role=Role.USER)
    elif isinstance(value, Mapping):
        value = turn_of(value)
    if not isinstance(value, Turn):
        raise TypeError(
            f"a turn is a text, a Turn(content, role=Role.USER), or a message with role and content, not "
            f"{type(value).__name__}"
        )
    return common_pb2.Turn(
        role=enum_number(value.role),
        speaker=value.speaker,
        content=value.content,
        time=optional_timestamp(value.time),
        attachments=attachments(value.attachments),
        confidence=value.confidence,
        importance=value.importance,
        sources=value.sources,
        metadata=value.metadata,
    )


def turns(value: TurnInput | Sequence[TurnInput]) -> list[common_pb2.Turn]:
    """One turn or several, in order."""
    found: Any = value  # callers without a type checker give anything
    is_several = isinstance(found, Iterable) and not isinstance(found, str | Mapping)
    return [turn(v) for v in found] if is_several else [turn(found)]


def remember_request(item: RememberItem) -> memory_pb2.RememberRequest:
    """The item, with a new request id where it has none: a repeat after a lost response must be recognised."""
    return memory_pb2.RememberRequest(
        request_id=item.request_id or new_request_id(),
        user_id=item.user_id,
        conversation_id=item.conversation_id,
        turns=turns(item.turns),
        scope=scope(item.scope),
    )


def stream_request(item: RememberItem) -> memory_pb2.RememberStreamRequest:
    """The item as a message of a stream."""
    return memory_pb2.RememberStreamRequest(item=remember_request(item))
