"""Messages of mem0's add as turns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from google.protobuf.timestamp_pb2 import Timestamp

from mneme.common.v1 import common_pb2
from services.gateway.http.mem0.filters import read_time
from services.gateway.http.mem0.refused import RefusedError

_ROLES: Final = {
    "user": common_pb2.MESSAGE_ROLE_USER,
    "assistant": common_pb2.MESSAGE_ROLE_ASSISTANT,
    "tool": common_pb2.MESSAGE_ROLE_TOOL,
}
_INSTRUCTIONS: Final = ("system", "developer")
_IMPORTANCE: Final = 0.5
"""Of what is stored without inference: a stated importance makes the write gate let it pass."""


def read_turns(
    messages: Any, metadata: Mapping[str, str], *, timestamp: Any = None, infer: bool = True
) -> list[common_pb2.Turn]:
    """The turns of some messages. Instructions to the model and messages without text are left out.

    Args:
        messages: A text, a message or a list of messages, each with `role`, `content` and perhaps `name`.
        metadata: Of every turn.
        timestamp: When it was said; None means now.
        infer: False makes every turn a memory, whatever the write gate thinks of it.

    Raises:
        RefusedError: They are no messages, or nothing is left.
    """
    if isinstance(messages, str):
        messages = {"role": "user", "content": messages}
    found = []
    has_images = False
    for index, message in enumerate(messages if isinstance(messages, list) else [messages]):
        turn = _turn(message, f"messages[{index}]")
        if turn is None or not turn.content.strip():
            has_images = has_images or (turn is not None and bool(turn.attachments))
            continue
        turn.metadata.update(metadata)
        if timestamp is not None:
            turn.time.CopyFrom(timestamp_of(timestamp))
        if not infer:
            turn.importance = _IMPORTANCE
        found.append(turn)
    if not found and has_images:
        raise RefusedError(
            "messages: images are not read; a message with an image needs a text that says what it shows"
        )
    if not found:
        raise RefusedError("messages: at least one message of a user, an assistant or a tool with content is required")
    return found


def timestamp_of(value: Any) -> Timestamp:
    """A time of a request as protobuf has it.

    Raises:
        RefusedError: It is not a time.
    """
    timestamp = Timestamp()
    time = read_time(value)
    try:
        timestamp.FromDatetime(time)
    except (ValueError, OverflowError):  # in UTC it is before the year 1, or after the year 9999
        raise RefusedError("a time must be in UTC between the years 1 and 9999") from None
    return timestamp


def _turn(message: Any, path: str) -> common_pb2.Turn | None:
    """One message, perhaps without text; None for instructions."""
    if not isinstance(message, dict):
        raise RefusedError(f"{path} must be an object with role and content")
    role = message.get("role")
    if role in _INSTRUCTIONS:
        return None
    if role not in _ROLES:
        raise RefusedError(f"{path}.role must be user, assistant, system or tool")
    turn = common_pb2.Turn(role=_ROLES[role])
    name = message.get("name")
    if name is not None:
        turn.speaker = _text(name, f"{path}.name")
    content = message.get("content")
    if isinstance(content, str):
        turn.content = content
    elif isinstance(content, list | dict):
        parts = content if isinstance(content, list) else [content]
        texts = [text for index, part in enumerate(parts) if (text := _part(part, turn, f"{path}.content[{index}]"))]
        turn.content = "\n".join(texts)
    elif content is not None:
        raise RefusedError(f"{path}.content must be a text or a list of parts")
    return turn


def _part(part: Any, turn: common_pb2.Turn, path: str) -> str:
    """The text of a part of a message; an image becomes an attachment of the turn."""
    kind = part.get("type") if isinstance(part, dict) else None
    if kind == "text":
        return _text(part.get("text"), f"{path}.text")
    if kind == "image_url":
        image = part.get("image_url")
        turn.attachments.add(uri=_text(image.get("url") if isinstance(image, dict) else image, f"{path}.image_url"))
        return ""
    raise RefusedError(f"{path}.type must be text or image_url")


def _text(value: Any, path: str) -> str:
    if not isinstance(value, str):
        raise RefusedError(f"{path} must be a text")
    return value
