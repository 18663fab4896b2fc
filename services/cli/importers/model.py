"""Entries of a file of turns."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime

from mneme_client import Turn

SOURCE_ID_KEY = "source_id"
"""Metadata key of the id that a turn had in its source."""


class UnreadableFileError(Exception):
    """A file does not have the layout that it should have. The message is for people."""


@dataclass(frozen=True, slots=True)
class ImportedTurn:
    """One turn of a file, and where it stood."""

    place: str  # for reports, such as "line 12" or "session_3, turn 4"
    conversation_id: str
    turn: Turn
    consumed: int  # progress of the whole file after this entry, in the reader's units


@dataclass(frozen=True, slots=True)
class BadEntry:
    """An entry of a file that is not a valid turn."""

    place: str
    reason: str
    consumed: int


Entry = ImportedTurn | BadEntry


def aware(moment: datetime) -> datetime:
    """The time in UTC; one without a zone is UTC already."""
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)


def text_problem(text: str) -> str:
    """Why a text cannot be stored, or an empty string."""
    if "\x00" in text:
        return "holds a NUL character"
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return "holds half of a surrogate pair"
    return ""


class RequestIds:
    """Makes the same request id for the same turn of the same conversation in every run.

    The second of two equal turns gets another id. The place in the file plays no part, so a file that has
    grown or was rearranged can be imported again: what was imported before is recognised.
    """

    def __init__(self, user_id: str) -> None:
        """Counts equal turns from here on."""
        self._user_id = user_id
        self._seen: Counter[bytes] = Counter()

    def request_id(self, entry: ImportedTurn) -> str:
        """The id of the next turn."""
        turn = entry.turn
        facts = [
            self._user_id,
            entry.conversation_id,
            int(turn.role),
            turn.speaker,
            turn.content,
            turn.time.isoformat() if turn.time else "",
            [[a.uri, a.mime_type, a.caption] for a in turn.attachments],
            sorted(turn.metadata.items()),
        ]
        content = json.dumps(facts).encode("ascii")
        key = hashlib.sha256(content).digest()
        self._seen[key] += 1
        return "import-" + hashlib.sha256(content + b"#%d" % self._seen[key]).hexdigest()[:40]
