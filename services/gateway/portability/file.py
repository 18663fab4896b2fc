"""The file of a user: a header, a line for each record, and a last line that says that it is whole."""

from __future__ import annotations

import hashlib
import itertools
import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import IO, Any, Final

from services.common.errors import FieldViolation, InvalidArgument
from services.common.portability.lines import dump, kind_of

FORMAT: Final = "mneme-user"
VERSION: Final = 1
TIERS: Final = ("gateway", "episodic", "semantic", "agentic")
"""Beginnings of the kinds' names, in the order of the file."""

LINE_BYTES_MAX: Final = 7 * 1024 * 1024
"""A longer line is no record of a memory; one must fit into a message to a tier."""

PAGE_LINES: Final = 200
_LINE: Final = re.compile(r"lines\[(\d+)\]")
_PAGE_BYTES: Final = 1024 * 1024


class FileWriter:
    """Makes a file, part by part."""

    def __init__(self) -> None:
        """Begins a file."""
        self._digest = hashlib.sha256()
        self._records = 0

    def header(self, user_id: str) -> bytes:
        """The first line."""
        return self._added(dump({"format": FORMAT, "version": VERSION, "user_id": user_id}) + "\n")

    def records(self, lines: list[str]) -> bytes:
        """Some records."""
        self._records += len(lines)
        return self._added("".join(f"{line}\n" for line in lines))

    def end(self) -> bytes:
        """The last line."""
        return (dump({"records": self._records, "sha256": self._digest.hexdigest()}) + "\n").encode()

    def _added(self, text: str) -> bytes:
        data = text.encode()
        self._digest.update(data)
        return data


@dataclass(frozen=True, slots=True)
class Part:
    """Where the records of a tier are in a file."""

    offset: int  # bytes before the first one
    line: int  # number of the first one's line, from 1
    records: int


@dataclass(frozen=True, slots=True)
class FilePage:
    """Some records of a file."""

    line: int  # number of the first one's line, from 1
    lines: list[str]


@dataclass(frozen=True, slots=True)
class WholeFile:
    """A file that is complete and unaltered."""

    user_id: str
    digest: bytes
    record_count: int
    parts: Mapping[str, Part]
    """By the names of tiers; those without a record are missing."""
    file: IO[bytes]

    def pages(self, tier: str) -> Iterator[FilePage]:
        """The records of a tier, in pages: one is read from the disk where it is asked for."""
        size = 0
        part = self.parts.get(tier, Part(0, 0, 0))
        page = FilePage(part.line, [])
        self.file.seek(part.offset)
        for raw in itertools.islice(self.file, part.records):
            size += len(raw)
            if page.lines and (len(page.lines) == PAGE_LINES or size > _PAGE_BYTES):
                yield page
                page, size = FilePage(page.line + len(page.lines), []), len(raw)
            page.lines.append(raw.decode().rstrip("\n"))
        if page.lines:
            yield page


def not_valid(description: str) -> InvalidArgument:
    """The refusal of a file."""
    return InvalidArgument("the file is not valid", violations=[FieldViolation("data", description)])


def in_file(error: InvalidArgument, page: FilePage) -> InvalidArgument:
    """The refusal of a page's lines, by their numbers in the file."""
    found = error.violations[0] if error.violations else None
    position = _LINE.fullmatch(found.field_path) if found is not None else None
    if found is not None and position is not None:
        return not_valid(f"line {page.line + int(position[1])}: {found.description}")
    return not_valid(f"lines {page.line} to {page.line + len(page.lines) - 1}: {error.message}")


def read_whole(file: IO[bytes], check_user: Callable[[str], None]) -> WholeFile:
    """Reads a file from its beginning to its end.

    Args:
        file: Its bytes.
        check_user: Raises InvalidArgument, with what is wrong, where a text is no id of a user.

    Raises:
        InvalidArgument: It is no file of a user, of an unknown version, incomplete or altered.
    """
    file.seek(0)
    header = _object(file.readline(LINE_BYTES_MAX), 1)
    if header.get("format") != FORMAT:
        raise not_valid("the file is no export of a user")
    if header.get("version") != VERSION:
        raise not_valid(f"the file has another version than {VERSION}, which this server reads")
    user_id = header.get("user_id")
    if not isinstance(user_id, str) or header.keys() != {"format", "version", "user_id"}:
        raise not_valid("line 1: is not the header of an export")
    try:
        check_user(user_id)
    except InvalidArgument as error:
        raise not_valid(f"line 1: user_id {error.violations[0].description}") from error
    digest = hashlib.sha256(dump(header).encode() + b"\n")
    number, position = 1, 0
    parts: dict[str, Part] = {}
    while True:
        offset = file.tell()
        raw = file.readline(LINE_BYTES_MAX)
        number += 1
        document = _object(raw, number)
        if document.keys() == {"records", "sha256"}:
            break
        position = _checked(raw, number, position)
        digest.update(raw)
        part = parts.get(TIERS[position], Part(offset, number, 0))
        parts[TIERS[position]] = Part(part.offset, part.line, part.records + 1)
    if document != {"records": number - 2, "sha256": digest.hexdigest()}:
        raise not_valid("the file is incomplete or was altered: its last line does not fit")
    if file.read(1):
        raise not_valid("the file has lines behind its last one")
    return WholeFile(user_id, digest.digest(), number - 2, parts, file)


def _object(raw: bytes, number: int) -> dict[str, Any]:
    if not raw.endswith(b"\n"):
        cause = "the file is incomplete" if len(raw) < LINE_BYTES_MAX else "is too long"
        raise not_valid(f"line {number}: {cause}")
    try:
        document = json.loads(raw)
    except (ValueError, RecursionError) as error:
        raise not_valid(f"line {number}: is not JSON") from error
    if not isinstance(document, dict):
        raise not_valid(f"line {number}: is no JSON object")
    return document


def _checked(raw: bytes, number: int, position: int) -> int:
    """The place of a record's tier, which is not before that of the last one."""
    try:
        name, fields = kind_of(raw.decode())
        found = TIERS.index(name.partition(".")[0])
        is_canonical = dump({"kind": name, "record": fields}).encode() + b"\n" == raw
    except (ValueError, RecursionError) as error:
        raise not_valid(f"line {number}: is no record of an export") from error
    if found < position or not is_canonical:
        raise not_valid(f"line {number}: is not written as an export writes it")
    return found
