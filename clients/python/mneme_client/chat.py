"""Messages as chat APIs have them, read as turns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from mneme_client.enums import Role
from mneme_client.types import Turn

_ROLES: Final = {
    "user": Role.USER,
    "assistant": Role.ASSISTANT,
    "system": Role.SYSTEM,
    "developer": Role.SYSTEM,
    "tool": Role.TOOL,
}


def turn_of(message: Mapping[str, Any]) -> Turn:
    """The turn of a message such as `{"role": "user", "content": "Hi"}`; its `name` is the speaker.

    Its content is a text, or a list of parts of type "text" or "input_text", which become paragraphs. Other keys are
    left out.

    Raises:
        TypeError: The role is unknown, or the content is no text.
    """
    role = message.get("role")
    if not isinstance(role, str) or role not in _ROLES:
        raise TypeError(f"the role of a message is one of {', '.join(_ROLES)}, not {role!r}")
    return Turn(_text(message.get("content")), role=_ROLES[role], speaker=message.get("name") or "")


def _text(content: object) -> str:
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else [content]
    texts = [
        part.get("text") for part in parts if isinstance(part, Mapping) and part.get("type") in {"text", "input_text"}
    ]
    if not parts or len(texts) < len(parts) or not all(isinstance(text, str) for text in texts):
        raise TypeError("the content of a message is a text, or a list of parts that are texts")
    return "\n".join(map(str, texts))
