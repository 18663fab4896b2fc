"""Exports of ChatGPT: one `conversations.json`, or since 2025 `conversations-000.json` and so on.

A conversation is a tree of messages (`mapping`): an edited question or an answer that was made again begins a branch.
What was last on the screen is the way from `current_node` up to the root; other branches are not imported. Messages
that were never shown are left out: empty ones, hidden ones, and the model's reasoning.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from mneme_client import Attachment, Role
from services.cli.importers.exports import RawTurn

_FILE = re.compile(r"conversations(-\d+)?\.json")
_ROLES = {"user": Role.USER, "assistant": Role.ASSISTANT, "system": Role.SYSTEM, "tool": Role.TOOL}
_NOT_SAID = frozenset({"thoughts", "reasoning_recap", "user_editable_context", "model_editable_context"})


def is_chatgpt_file(name: str) -> bool:
    """Whether a file of an export has conversations."""
    return _FILE.fullmatch(name) is not None


def chatgpt_id(fields: dict[str, Any], number: int) -> str:
    """The id of a conversation."""
    return str(fields.get("conversation_id") or fields.get("id") or f"chatgpt-{number}")


def chatgpt_turns(fields: dict[str, Any]) -> Iterator[RawTurn]:
    """The messages on the way to the current node.

    Raises:
        ValueError: The tree is broken.
    """
    mapping = fields.get("mapping")
    if not isinstance(mapping, dict):
        raise ValueError("has no mapping of messages")
    time = fields.get("create_time")
    for number, node in enumerate(_path(fields, mapping), start=1):
        message = node.get("message")
        if not isinstance(message, dict):
            continue
        time = message.get("create_time") or time
        text, attachments = _content(message.get("content"))
        metadata = message.get("metadata")
        is_hidden = isinstance(metadata, dict) and metadata.get("is_visually_hidden_from_conversation") is True
        if is_hidden or (isinstance(text, str) and not text.strip() and not attachments):
            continue
        author = message.get("author")
        role = _ROLES.get(str(author.get("role"))) if isinstance(author, dict) else None
        yield RawTurn(f"message {number}", role, text, time, attachments, message.get("id"))


def _path(fields: dict[str, Any], mapping: dict[str, Any]) -> list[dict[str, Any]]:
    """Nodes from the root to the current one; without one, to the last one that has no answer."""
    current = fields.get("current_node")
    if current is None:
        leaves = [key for key, node in mapping.items() if isinstance(node, dict) and not node.get("children")]
        current = leaves[-1] if leaves else None
    path: list[dict[str, Any]] = []
    seen: set[str] = set()
    while current is not None:
        if not isinstance(current, str) or current in seen:
            raise ValueError("the messages form no tree")
        seen.add(current)
        node = mapping.get(current)
        if not isinstance(node, dict):
            raise ValueError("a message on the way to the current one is missing")
        path.append(node)
        current = node.get("parent")
    return path[::-1]


def _content(content: Any) -> tuple[Any, tuple[Attachment, ...]]:
    """The text of a message, and its images by reference; an empty text for what was not said."""
    if not isinstance(content, dict):
        return None, ()
    if content.get("content_type") in _NOT_SAID:
        return "", ()
    parts = content.get("parts")
    if not isinstance(parts, list):
        return content.get("text", ""), ()
    texts = [part for part in parts if isinstance(part, str)]
    texts += [part["text"] for part in parts if isinstance(part, dict) and isinstance(part.get("text"), str)]
    images = [part.get("asset_pointer") for part in parts if isinstance(part, dict)]
    attachments = tuple(Attachment(uri=uri) for uri in images if isinstance(uri, str) and uri)
    return "\n".join(text for text in texts if text), attachments
