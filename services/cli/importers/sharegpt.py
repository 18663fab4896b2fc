"""Conversations in the layout of ShareGPT: `conversations` (or `messages`), a list of `from` and `value`.

The form with `role` and `content` is read too. A file is a JSON list of conversations, or has one on each line.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from mneme_client import Role
from services.cli.importers.exports import RawConversation, RawTurn

_ROLES = {
    **dict.fromkeys(("human", "user", "prompter"), Role.USER),
    **dict.fromkeys(("gpt", "assistant", "chatgpt", "bing", "bard", "model"), Role.ASSISTANT),
    "system": Role.SYSTEM,
    **dict.fromkeys(
        ("tool", "observation", "function", "function_call", "function-call", "function_response", "function-response"),
        Role.TOOL,
    ),
}
_TURNS = ("conversations", "conversation", "messages", "items")


def sharegpt_id(stem: str) -> Callable[[dict[str, Any], int], str]:
    """Ids of conversations: their own, else by the file's name and their place in it."""
    return lambda fields, number: str(fields.get("id") or f"{stem}-{number}")


def load_sharegpt_lines(path: Path) -> list[RawConversation]:
    """The conversations of a file with one on each line; a line that is not JSON is reported as a bad one.

    Raises:
        OSError: The file cannot be read.
    """
    found: list[RawConversation] = []
    with path.open("rb") as file:
        for number, raw in enumerate(file, start=1):
            if raw.strip():
                try:
                    fields = json.loads(raw)
                except (ValueError, RecursionError):
                    fields = None
                found.append(RawConversation(f"line {number}", fields))
    return found


def sharegpt_turns(fields: dict[str, Any]) -> Iterator[RawTurn]:
    """The messages of a conversation, its system prompt first.

    Raises:
        ValueError: It has none.
    """
    messages = next((fields[name] for name in _TURNS if isinstance(fields.get(name), list)), None)
    if messages is None:
        raise ValueError("has no conversations")
    if isinstance(system := fields.get("system"), str) and system.strip():
        yield RawTurn("system", Role.SYSTEM, system)
    for number, message in enumerate(messages, start=1):
        place = f"message {number}"
        if not isinstance(message, dict):
            yield RawTurn(place, Role.USER, None)
            continue
        role = _ROLES.get(str(message.get("from") or message.get("role")).lower())
        text = message.get("value", message.get("content"))
        yield RawTurn(place, role, text, message.get("timestamp"))
