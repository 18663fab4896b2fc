"""Reads conversations in the layout of LoCoMo: sessions of turns, and questions with their evidence.

A file is one conversation: `session_N` is a list of turns (`speaker`, `dia_id`, `text`, sometimes
`blip_caption`), `session_N_date_time` says when it took place, `qa` lists questions (`question`, `category`,
`evidence`). Everything else in a file is ignored.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

from bench.common import BenchError

_SESSION_KEY: Final = re.compile(r"session_(\d+)")
_EVIDENCE: Final = re.compile(r"D(\d+):(\d+)")
_DATE_FORMATS: Final = (
    "%I:%M %p on %d %B, %Y",
    "%I:%M %p on %d %b, %Y",
    "%d %B, %Y",
    "%d %B %Y",
    "%B %d, %Y",
)
_TURN_DISTANCE: Final = timedelta(seconds=10)
"""Time between two turns of a session: enough to keep their order, too short to change the date."""
_CATEGORY_NAMES: Final = {
    1: "1 multi-hop",
    2: "2 temporal",
    3: "3 open-domain",
    4: "4 single-hop",
    5: "5 adversarial",
}
NO_CATEGORY: Final = "none"


@dataclass(frozen=True, slots=True)
class LocomoTurn:
    """One turn."""

    turn_id: str
    """The file's `dia_id`."""
    speaker: str
    """Who speaks; may be empty."""
    text: str
    """What was said."""
    caption: str
    """What the photo sent with it shows; may be empty."""
    time: datetime | None
    """When it was said; None where the session has no readable date."""


@dataclass(frozen=True, slots=True)
class LocomoSession:
    """One session."""

    name: str
    """`session_N`."""
    turns: tuple[LocomoTurn, ...]
    """In order."""


@dataclass(frozen=True, slots=True)
class LocomoQuestion:
    """One question."""

    index: int
    """Its place in `qa`, from 0."""
    text: str
    """The question."""
    category: str
    """Name of its category, `none` where there is none."""
    gold: frozenset[str]
    """Ids of the turns that answer it; empty where nothing names a turn of the conversation."""
    answer: str = ""
    """The answer; where the question assumes what is wrong, the one that it tempts to."""


@dataclass(frozen=True, slots=True)
class LocomoConversation:
    """One file."""

    name: str
    """The file's name without `.json`."""
    sessions: tuple[LocomoSession, ...]
    """By number."""
    questions: tuple[LocomoQuestion, ...]
    """In the file's order."""

    @property
    def turn_count(self) -> int:
        """Turns of all sessions."""
        return sum(len(session.turns) for session in self.sessions)


def load_conversations(folder: Path) -> list[LocomoConversation]:
    """Read every conversation of a folder, by file name.

    Raises:
        BenchError: There is no such folder, no conversation in it, or a file is not JSON.
    """
    if not folder.is_dir():
        raise BenchError(
            f"there is no folder {folder}: give the folder with the conversations, one JSON file each,"
            " in LoCoMo's layout (keys session_1, session_1_date_time, ..., qa)"
        )
    conversations = []
    for file in sorted(folder.glob("*.json")):
        try:
            data = json.loads(file.read_text("utf-8"))
        except ValueError as error:
            raise BenchError(f"{file} is not JSON: {error}") from error
        if isinstance(data, dict) and any(_SESSION_KEY.fullmatch(key) for key in data):
            conversations.append(parse_conversation(file.stem, data))
    if not conversations:
        raise BenchError(f"{folder} holds no conversation: no *.json file with a key session_1")
    return conversations


def parse_conversation(name: str, data: Mapping[str, Any]) -> LocomoConversation:
    """Read one conversation from its parsed file."""
    numbers = sorted(int(match[1]) for match in map(_SESSION_KEY.fullmatch, data) if match)
    sessions = tuple(
        _session(number, data[f"session_{number}"] or [], data.get(f"session_{number}_date_time")) for number in numbers
    )
    turn_ids = {turn.turn_id for session in sessions for turn in session.turns}
    questions = tuple(
        LocomoQuestion(
            index=index,
            text=str(item.get("question") or ""),
            category=category_name(item.get("category")),
            gold=frozenset(evidence_ids(item.get("evidence"))) & turn_ids,
            answer=str(item.get("answer") or item.get("adversarial_answer") or ""),
        )
        for index, item in enumerate(data.get("qa") or [])
    )
    return LocomoConversation(name=name, sessions=sessions, questions=questions)


def evidence_ids(evidence: object) -> list[str]:
    """Turn ids in evidence: any number of `D<session>:<turn>` in a text or a list of texts."""
    if isinstance(evidence, str):
        return [match[0] for match in _EVIDENCE.finditer(evidence)]
    if isinstance(evidence, Iterable):
        return [turn_id for item in evidence for turn_id in evidence_ids(item)]
    return []


def category_name(category: object) -> str:
    """LoCoMo's numbers get their names; other categories keep theirs."""
    if category is None or category == "":
        return NO_CATEGORY
    if isinstance(category, int):
        return _CATEGORY_NAMES.get(category, str(category))
    return str(category)


def parse_date(text: object) -> datetime | None:
    """A session's date as UTC: LoCoMo's way of writing, ISO 8601, or None for anything else."""
    if not isinstance(text, str) or not text.strip():
        return None
    cleaned = " ".join(text.split())
    for pattern in _DATE_FORMATS:
        try:
            return datetime.strptime(cleaned, pattern).replace(tzinfo=UTC)
        except ValueError:
            continue
    try:
        parsed = datetime.fromisoformat(cleaned)
    except ValueError:
        return None
    return parsed.replace(tzinfo=UTC) if parsed.tzinfo is None else parsed.astimezone(UTC)


def _session(number: int, turns: Sequence[Mapping[str, Any]], date: object) -> LocomoSession:
    start = parse_date(date)
    return LocomoSession(
        name=f"session_{number}",
        turns=tuple(
            LocomoTurn(
                turn_id=str(turn.get("dia_id") or f"D{number}:{place}"),
                speaker=str(turn.get("speaker") or ""),
                text=str(turn.get("text") or ""),
                caption=str(turn.get("blip_caption") or ""),
                time=None if start is None else start + (place - 1) * _TURN_DISTANCE,
            )
            for place, turn in enumerate(turns, start=1)
        ),
    )
