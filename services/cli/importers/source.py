"""Opens a file of turns in whichever layout it has."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from services.cli.importers.jsonl import read_jsonl
from services.cli.importers.locomo import load_locomo, read_locomo
from services.cli.importers.model import Entry


class FileFormat(StrEnum):
    """The layout of a file of turns."""

    AUTO = "auto"  # by the file's name: .json is LoCoMo's, all else JSON lines
    JSONL = "jsonl"
    LOCOMO = "locomo"


@dataclass(frozen=True, slots=True)
class Source:
    """A file that is being read."""

    entries: Iterator[Entry]
    total: int  # where the entries' progress ends


def open_source(path: Path, file_format: FileFormat = FileFormat.AUTO) -> Source:
    """Opens a file of turns.

    Raises:
        UnreadableFileError: It does not have the layout.
        OSError: It cannot be read.
    """
    if file_format is FileFormat.LOCOMO or (file_format is FileFormat.AUTO and path.suffix == ".json"):
        sessions = load_locomo(path)
        return Source(read_locomo(sessions), sum(len(session.turns) for session in sessions))
    return Source(read_jsonl(path), path.stat().st_size)
