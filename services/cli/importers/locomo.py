"""Conversations in the layout of the LoCoMo benchmark.

One JSON object with `session_N`, a list of turns (`speaker`, `dia_id`, `text`, and for photos `blip_caption`
and `img_url`), and `session_N_date_time`, such as "1:56 pm on 8 May, 2023", which is read as UTC. Other keys
are ignored.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from mneme_client import Attachment, Role, Turn
from services.cli.importers.model import (
    SOURCE_ID_KEY,
    BadEntry,
    Entry,
    ImportedTurn,
    UnreadableFileError,
    text_problem,
)

SESSION = re.compile(r"session_(\d+)")
"""Keys of a file's sessions."""

_DATE_TIME_FORMAT = "%I:%M %p on %d %B, %Y"


@dataclass(frozen=True, slots=True)
class LocomoSession:
    """One session of a file, not validated yet."""

    name: str  # such as "session_3"
    date_time: Any
    turns: list[Any]


def load_locomo(path: Path) -> list[LocomoSession]:
    """Reads the file as a whole and returns its sessions in order.

    Raises:
        UnreadableFileError: It is no JSON object, or has no sessions.
        OSError: The file cannot be read.
    """
    try:
        document = json.loads(path.read_bytes())
    except (ValueError, RecursionError) as error:
        raise UnreadableFileError(f"{path.name} is not JSON: {error}") from error
    sessions = []
    if isinstance(document, dict):
        numbers = sorted(int(match[1]) for key in document if (match := SESSION.fullmatch(key)))
        names = [f"session_{number}" for number in numbers]
        sessions = [
            LocomoSession(name, document.get(f"{name}_date_time"), document[name])
            for name in names
            if isinstance(document.get(name), list)
        ]
    if not sessions:
        raise UnreadableFileError(f"{path.name} has no session_1 with a list of turns")
    return sessions


def read_locomo(sessions: list[LocomoSession]) -> Iterator[Entry]:
    """The turns of all sessions; progress is in turns. A session without a readable date has bad turns."""
    consumed = 0
    for session in sessions:
        time = _session_time(session.date_time)
        for number, fields in enumerate(session.turns, start=1):
            consumed += 1
            place = f"{session.name}, turn {number}"
            try:
                if time is None:
                    raise ValueError(f"{session.name}_date_time is missing or not like '1:56 pm on 8 May, 2023'")
                yield ImportedTurn(place, session.name, _turn(fields, time), consumed)
            except ValueError as error:
                yield BadEntry(place, str(error), consumed)


def _session_time(text: Any) -> datetime | None:
    try:
        return datetime.strptime(str(text).strip(), _DATE_TIME_FORMAT).replace(tzinfo=UTC)
    except ValueError:
        return None


def _turn(fields: Any, time: datetime) -> Turn:
    if not isinstance(fields, dict):
        raise ValueError("is no JSON object")
    text, speaker, caption = (_text(fields, name) for name in ("text", "speaker", "blip_caption"))
    if not text.strip() and not caption.strip():
        raise ValueError("text is missing")
    images = fields.get("img_url") or [""]
    uri = images[0] if isinstance(images, list) and isinstance(images[0], str) else ""
    source_id = _text(fields, "dia_id")
    return Turn(
        text,
        role=Role.ASSISTANT if speaker.lower() == "assistant" else Role.USER,
        speaker=speaker,
        time=time,
        attachments=(Attachment(uri=uri, caption=caption),) if caption else (),
        metadata={SOURCE_ID_KEY: source_id} if source_id else {},
    )


def _text(fields: dict[str, Any], name: str) -> str:
    value = fields.get(name)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise ValueError(f"{name} is no text")
    if problem := text_problem(value):
        raise ValueError(f"{name} {problem}")
    return value
