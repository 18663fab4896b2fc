"""Turns as JSON lines.

Each line is an object. `text` (or `content`) is required unless there is a `caption`; all else may be
missing: `session` or else `conversation` names the conversation, `time` is RFC 3339 (without a zone: UTC),
`speaker`, `role` (user, assistant, system or tool), `caption` and `uri` of a photo, `id` in the source,
`metadata` (texts by name).
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any, BinaryIO

from mneme_client import Attachment, Role, Turn
from services.cli.importers.model import SOURCE_ID_KEY, BadEntry, Entry, ImportedTurn, aware, text_problem

LINE_BYTES_MAX = 1024 * 1024
"""Longest line: a longer one cannot hold a valid turn, and is not read into memory."""

_ROLES = {role.name.lower(): role for role in Role if role is not Role.UNSPECIFIED}


def read_jsonl(path: Path) -> Iterator[Entry]:
    """Reads a file line by line, whatever its size. Empty lines count and are skipped; progress is in bytes.

    Raises:
        OSError: The file cannot be read.
    """
    conversations: dict[str, str] = {}  # by session
    with path.open("rb") as file:
        number = 0
        while raw := file.readline(LINE_BYTES_MAX + 1):
            number += 1
            place = f"line {number}"
            if len(raw) > LINE_BYTES_MAX and not raw.endswith(b"\n"):
                _skip_line(file)
                yield BadEntry(place, f"is longer than {LINE_BYTES_MAX} bytes", file.tell())
            elif raw.strip():
                yield _entry(raw, place, file.tell(), path.stem, conversations)


def _skip_line(file: BinaryIO) -> None:
    while (rest := file.readline(LINE_BYTES_MAX)) and not rest.endswith(b"\n"):
        pass


def _entry(raw: bytes, place: str, consumed: int, default: str, conversations: dict[str, str]) -> Entry:
    try:
        fields = json.loads(raw.decode("utf-8-sig" if place == "line 1" else "utf-8").rstrip())
        if not isinstance(fields, dict):
            return BadEntry(place, "is no JSON object", consumed)
        conversation, session = _text(fields, "conversation"), _text(fields, "session")
        if session and conversations.setdefault(session, conversation) != conversation:
            raise ValueError("session has the name of another conversation's session")
        return ImportedTurn(place, session or conversation or default, _turn(fields), consumed)
    except UnicodeDecodeError:
        return BadEntry(place, "is not UTF-8", consumed)
    except json.JSONDecodeError as error:
        return BadEntry(place, f"is not JSON: {error.msg} at column {error.colno}", consumed)
    except RecursionError:
        return BadEntry(place, "is nested too deeply", consumed)
    except ValueError as error:
        return BadEntry(place, str(error), consumed)


def _turn(fields: dict[str, Any]) -> Turn:
    content = _text(fields, "text") or _text(fields, "content")
    caption, uri = _text(fields, "caption"), _text(fields, "uri")
    if not content.strip() and not caption.strip():
        raise ValueError("text is missing")
    role = _text(fields, "role") or "user"
    if role not in _ROLES:
        raise ValueError(f"role is none of {', '.join(_ROLES)}")
    metadata = fields.get("metadata") or {}
    if not isinstance(metadata, dict):
        raise ValueError("metadata is no object")
    entries = {key: _text(metadata, key) for key in metadata}
    if source_id := _text(fields, "id"):
        entries[SOURCE_ID_KEY] = source_id
    return Turn(
        content,
        role=_ROLES[role],
        speaker=_text(fields, "speaker"),
        time=_time(_text(fields, "time")),
        attachments=(Attachment(uri=uri, caption=caption),) if caption or uri else (),
        metadata=entries,
    )


def _text(fields: dict[str, Any], name: str) -> str:
    value = fields.get(name)
    if value is None:
        return ""
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value)  # ids are often numbers
    if not isinstance(value, str):
        raise ValueError(f"{name} is no text")
    if problem := text_problem(value):
        raise ValueError(f"{name} {problem}")
    return value


def _time(text: str) -> datetime | None:
    if not text:
        return None
    try:
        return aware(datetime.fromisoformat(text))
    except (ValueError, OverflowError):
        raise ValueError("time is not RFC 3339, such as 2026-05-08T13:56:00Z") from None
