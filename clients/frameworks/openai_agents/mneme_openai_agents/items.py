"""Items of a run as turns, and back without a loss.

A message of one text becomes a turn of that text, so that it is found as what was said. Any other item, such as the
call of a tool, is stored as its JSON.
"""

from __future__ import annotations

import json
from typing import Any, Final

from mneme_client import Role, Turn

_KEY: Final = "openai_agents"
_WHOLE: Final = "whole"
_METADATA_CHARS_MAX: Final = 1_024  # the service's default for a value of a turn's metadata
_ROLES: Final = {"user": Role.USER, "assistant": Role.ASSISTANT, "system": Role.SYSTEM, "developer": Role.SYSTEM}


def turn_of(item: Any) -> Turn:
    """The turn that stands for an item."""
    text, frame = _split(item)
    role = _ROLES.get(item.get("role", ""), Role.TOOL)
    framed = _dump(frame)
    if text.strip() != text or not text or len(framed) > _METADATA_CHARS_MAX:
        return Turn(_dump(item), role=role, metadata={_KEY: _WHOLE})
    return Turn(text, role=role, metadata={_KEY: framed})


def item_of(turn: Turn) -> Any:
    """The item of a turn; a turn that another program wrote becomes a message."""
    stored = turn.metadata.get(_KEY)
    if stored is None:
        return {"role": "assistant" if turn.role is Role.ASSISTANT else "user", "content": turn.content}
    if stored == _WHOLE:
        return json.loads(turn.content)
    item = json.loads(stored)
    if isinstance(item["content"], str):
        item["content"] = turn.content
    else:
        item["content"][0]["text"] = turn.content
    return item


def _split(item: Any) -> tuple[str, Any]:
    """The one text of a message and the item without it; no text where it has none or several."""
    content = item.get("content")
    if isinstance(content, str):
        return content, {**item, "content": ""}
    if isinstance(content, list) and len(content) == 1 and isinstance(content[0], dict):
        text = content[0].get("text")
        if isinstance(text, str):
            return text, {**item, "content": [{**content[0], "text": ""}]}
    return "", item


def _dump(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
