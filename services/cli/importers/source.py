"""Opens a file, a folder or an archive of turns in whichever layout it has."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from services.cli.importers import chatgpt, claude, sharegpt
from services.cli.importers.exports import RawConversation, find_files, load_conversations, read_conversations
from services.cli.importers.jsonl import LINE_BYTES_MAX, read_jsonl
from services.cli.importers.locomo import SESSION, load_locomo, read_locomo
from services.cli.importers.model import Entry, UnreadableFileError

USER_FORMAT = "mneme-user"
"""What the first line of an exported user names."""


class FileFormat(StrEnum):
    """The layout of a file of turns."""

    AUTO = "auto"  # by its content
    JSONL = "jsonl"
    LOCOMO = "locomo"
    CHATGPT = "chatgpt"
    CLAUDE = "claude"
    SHAREGPT = "sharegpt"
    USER = "user"  # a file of `mneme export`


@dataclass(frozen=True, slots=True)
class Source:
    """A file that is being read."""

    entries: Iterator[Entry]
    total: int  # where the entries' progress ends


def detect(path: Path) -> FileFormat:
    """The layout of a file, a folder or an archive, by its content.

    Raises:
        UnreadableFileError: It is of none of them.
        OSError: It cannot be read.
    """
    if path.is_dir() or path.suffix == ".zip":
        return _of_conversations(path.name, load_conversations(find_files(path, chatgpt.is_chatgpt_file)))
    if path.suffix != ".json":
        return _of_lines(path)
    [(_, content)] = find_files(path, lambda _: True)
    try:
        document = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise UnreadableFileError(f"{path.name} is not JSON: {error}") from error
    if isinstance(document, dict) and any(SESSION.fullmatch(name) for name in document):
        return FileFormat.LOCOMO
    return _of_conversations(path.name, load_conversations(iter([(path.name, content)])))


def open_source(path: Path, file_format: FileFormat = FileFormat.AUTO) -> Source:
    """Opens a file of turns.

    Raises:
        UnreadableFileError: It does not have the layout.
        OSError: It cannot be read.
    """
    chosen = detect(path) if file_format is FileFormat.AUTO else file_format
    if chosen is FileFormat.LOCOMO:
        sessions = load_locomo(path)
        return Source(read_locomo(sessions), sum(len(session.turns) for session in sessions))
    if chosen is FileFormat.CHATGPT:
        found = load_conversations(find_files(path, chatgpt.is_chatgpt_file))
        return Source(read_conversations(found, chatgpt.chatgpt_turns, id_of=chatgpt.chatgpt_id), len(found))
    if chosen is FileFormat.CLAUDE:
        found = load_conversations(find_files(path, claude.is_claude_file))
        return Source(read_conversations(found, claude.claude_turns, id_of=claude.claude_id), len(found))
    if chosen is FileFormat.SHAREGPT:
        has_lines = path.suffix != ".json"
        found = (
            sharegpt.load_sharegpt_lines(path) if has_lines else load_conversations(find_files(path, lambda _: True))
        )
        id_of = sharegpt.sharegpt_id(path.stem)
        return Source(read_conversations(found, sharegpt.sharegpt_turns, id_of=id_of), len(found))
    return Source(read_jsonl(path), path.stat().st_size)


def _of_conversations(name: str, found: list[RawConversation]) -> FileFormat:
    for conversation in found:
        if isinstance(conversation.fields, dict):
            if "mapping" in conversation.fields:
                return FileFormat.CHATGPT
            if "chat_messages" in conversation.fields:
                return FileFormat.CLAUDE
            if "conversations" in conversation.fields or "messages" in conversation.fields:
                return FileFormat.SHAREGPT
    raise UnreadableFileError(f"the layout of {name} is not known: name it by --format")


def _of_lines(path: Path) -> FileFormat:
    """By the first line that is an object."""
    with path.open("rb") as file:
        while raw := file.readline(LINE_BYTES_MAX):
            try:
                fields: Any = json.loads(raw)
            except (ValueError, RecursionError):
                continue
            if isinstance(fields, dict):
                if fields.get("format") == USER_FORMAT:
                    return FileFormat.USER
                is_sharegpt = isinstance(fields.get("conversations", fields.get("messages")), list)
                return FileFormat.SHAREGPT if is_sharegpt else FileFormat.JSONL
    return FileFormat.JSONL
