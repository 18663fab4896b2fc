"""Exports of Claude: `conversations.json`, a list of conversations with `chat_messages`.

A message has its text in `content` (blocks; those of tools and of reasoning are left out), in older exports in `text`
alone. Attached documents are named, with the text that was read from them left out.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from mneme_client import Attachment, Role
from services.cli.importers.exports import RawTurn

_ROLES = {"human": Role.USER, "user": Role.USER, "assistant": Role.ASSISTANT, "system": Role.SYSTEM}


def is_claude_file(name: str) -> bool:
    """Whether a file of an export has conversations."""
    return name == "conversations.json"


def claude_id(fields: dict[str, Any], number: int) -> str:
    """The id of a conversation."""
    return str(fields.get("uuid") or f"claude-{number}")


def claude_turns(fields: dict[str, Any]) -> Iterator[RawTurn]:
    """The messages of a conversation.

    Raises:
        ValueError: It has none.
    """
    messages = fields.get("chat_messages")
    if not isinstance(messages, list):
        raise ValueError("has no chat_messages")
    for number, message in enumerate(messages, start=1):
        place = f"message {number}"
        if not isinstance(message, dict):
            yield RawTurn(place, Role.USER, None)
            continue
        text, attachments = _text(message), _attachments(message)
        if isinstance(text, str) and not text.strip() and not attachments:
            continue  # nothing but the use of a tool
        role = _ROLES.get(str(message.get("sender")).lower())
        time = message.get("created_at") or fields.get("created_at")
        yield RawTurn(place, role, text, time, attachments, message.get("uuid"))


def _text(message: dict[str, Any]) -> Any:
    blocks = message.get("content")
    if isinstance(blocks, list) and blocks:
        texts = [block.get("text") for block in blocks if isinstance(block, dict) and block.get("type") == "text"]
        return "\n".join(text for text in texts if isinstance(text, str) and text)
    return message.get("text")


def _attachments(message: dict[str, Any]) -> tuple[Attachment, ...]:
    listed = [
        entry.get("file_name")
        for key in ("attachments", "files")
        if isinstance(message.get(key), list)
        for entry in message[key]
        if isinstance(entry, dict)
    ]
    names = dict.fromkeys(name for name in listed if isinstance(name, str) and name)
    return tuple(Attachment(caption=name) for name in list(names)[:16])
