"""Exports of chat services: where their conversations are, and what their turns have in common.

An export is a JSON file, a folder with such files, or the ZIP archive that they came in. Progress is in conversations.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from typing import Any

from mneme_client import Attachment, Role, Turn
from services.cli.importers.model import (
    SOURCE_ID_KEY,
    BadEntry,
    Entry,
    ImportedTurn,
    UnreadableFileError,
    aware,
    text_problem,
)

MEMBER_BYTES_MAX = 4 * 1024**3
"""Largest file of an archive: a larger one is not unpacked into memory."""


@dataclass(frozen=True, slots=True)
class RawConversation:
    """One conversation as its file has it, not validated yet."""

    place: str  # such as "conversations-001.json, conversation 12"
    fields: Any


@dataclass(frozen=True, slots=True)
class RawTurn:
    """One message of a conversation, before it is checked."""

    place: str  # within the conversation, such as "message 3"
    role: Role | None  # None: a role that is not known
    text: Any
    time: Any = None
    attachments: tuple[Attachment, ...] = ()
    source_id: Any = None


ReadTurns = Callable[[dict[str, Any]], Iterator[RawTurn]]
"""From a conversation to its messages, in order.

Raises:
    ValueError: The conversation as a whole cannot be read.
"""


def find_files(path: Path, wanted: Callable[[str], bool]) -> Iterator[tuple[str, bytes]]:
    """The files of an export whose name is wanted, by name.

    Raises:
        UnreadableFileError: There is none, or the archive is damaged.
        OSError: A file cannot be read.
    """
    found = False
    if path.is_dir():
        for member in sorted(file for file in path.rglob("*.json") if wanted(file.name)):
            found = True
            yield member.relative_to(path).as_posix(), member.read_bytes()
    elif zipfile.is_zipfile(path):
        try:
            with zipfile.ZipFile(path) as archive:
                for info in sorted(archive.infolist(), key=lambda info: info.filename):
                    if wanted(PurePosixPath(info.filename).name):
                        if info.file_size > MEMBER_BYTES_MAX:
                            raise UnreadableFileError(f"{info.filename} is larger than {MEMBER_BYTES_MAX} bytes")
                        found = True
                        yield info.filename, archive.read(info)
        except (zipfile.BadZipFile, NotImplementedError, RuntimeError) as error:
            raise UnreadableFileError(f"{path.name} is damaged or encrypted: {error}") from error
    else:
        found = True
        yield path.name, path.read_bytes()
    if not found:
        raise UnreadableFileError(f"{path.name} holds no conversations")


def load_conversations(files: Iterator[tuple[str, bytes]]) -> list[RawConversation]:
    """All conversations of some files: lists of them, a single one, or an object that holds the list.

    Raises:
        UnreadableFileError: A file is not JSON.
        OSError: A file cannot be read.
    """
    found: list[RawConversation] = []
    for name, content in files:
        try:
            document = json.loads(content)
        except (ValueError, RecursionError) as error:
            raise UnreadableFileError(f"{name} is not JSON: {error}") from error
        if isinstance(document, dict) and isinstance(document.get("conversations"), list):
            listed = document["conversations"]
            if listed and all(isinstance(one, dict) and ("mapping" in one or "chat_messages" in one) for one in listed):
                document = listed
        items = document if isinstance(document, list) else [document]
        found += [
            RawConversation(f"{name}, conversation {number}", fields) for number, fields in enumerate(items, start=1)
        ]
    return found


def read_conversations(
    conversations: list[RawConversation], read: ReadTurns, *, id_of: Callable[[dict[str, Any], int], str]
) -> Iterator[Entry]:
    """The turns of all conversations; what cannot be read is reported by its place."""
    for number, conversation in enumerate(conversations, start=1):
        place = conversation.place
        if not isinstance(conversation.fields, dict):
            yield BadEntry(place, "is no JSON object", number)
            continue
        conversation_id = id_of(conversation.fields, number)
        try:
            for raw in read(conversation.fields):
                where = f"{place}, {raw.place}"
                try:
                    yield ImportedTurn(where, conversation_id, _turn(raw), number)
                except ValueError as error:
                    yield BadEntry(where, str(error), number)
        except ValueError as error:
            yield BadEntry(place, str(error), number)


def moment_of(value: Any) -> datetime | None:
    """A time as exports write it: seconds since 1970, or RFC 3339.

    Raises:
        ValueError: It is neither.
    """
    if value is None or value == "":
        return None
    try:
        if isinstance(value, int | float) and not isinstance(value, bool):
            return datetime.fromtimestamp(value, UTC)
        return aware(datetime.fromisoformat(str(value)))
    except (ValueError, OverflowError, OSError):
        raise ValueError("the time is neither RFC 3339 nor a number of seconds") from None


def _turn(raw: RawTurn) -> Turn:
    if raw.role is None:
        raise ValueError("the role is not known")
    if not isinstance(raw.text, str):
        raise ValueError("text is missing")
    if not raw.text.strip() and not raw.attachments:
        raise ValueError("text is missing")
    if problem := text_problem(raw.text):
        raise ValueError(f"text {problem}")
    source_id = raw.source_id if isinstance(raw.source_id, str) and not text_problem(raw.source_id) else ""
    return Turn(
        raw.text,
        role=raw.role,
        time=moment_of(raw.time),
        attachments=raw.attachments,
        metadata={SOURCE_ID_KEY: source_id} if source_id else {},
    )
