"""The file of a user: a header, a line for each record, and a last line that says that it is whole."""

from __future__ import annotations

import hashlib
import itertools
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import IO, Any, Final

from services.common.errors import InvalidArgument
from services.common.portability.lines import dump, kind_of

FORMAT: Final = "mneme-user"
VERSION: Final = 1
TIERS: Final = ("gateway", "episodic", "semantic", "agentic")
"""Beginnings of the kinds' names, in the order of the file."""

LINE_BYTES_MAX: Final = 7 * 1024 * 1024
"""A longer line is no record of a memory; one must fit into a message to a tier."""

PAGE_LINES: Final = 200
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
    records: int


@dataclass(frozen=True, slots=True)
class WholeFile:
    """A file that is complete and unaltered."""

    user_id: str
    digest: bytes
    record_count: int
    parts: Mapping[str, Part]
    """By the names of tiers; those without a record are missing."""
    file: IO[bytes]

    def pages(self, tier: str) -> Iterator[list[str]]:
        """The records of a tier, in pages: one is read from the disk where it is asked for."""
        page: list[str] = []
        size = 0
        part = self.parts.get(tier, Part(0, 0))
        self.file.seek(part.offset)
        for raw in itertools.islice(self.file, part.records):
            size += len(raw)
            if page and (len(page) == PAGE_LINES or size > _PAGE_BYTES):
                yield page
                page, size = [], len(raw)
            page.append(raw.decode().rstrip("\n"))
        if page:
            yield page


def read_whole(file: IO[bytes]) -> WholeFile:
    """Reads a file from its beginning to its end.

    Raises:
        InvalidArgument: It is no file of a user, of an unknown version, incomplete or altered.
    """
    file.seek(0)
    header = _object(file.readline(LINE_BYTES_MAX), 1)
    if header.get("format") != FORMAT:
        raise InvalidArgument("the file is no export of a user")
    if header.get("version") != VERSION:
        raise InvalidArgument(f"the file has version {header.get('version')!r}, this server reads {VERSION}")
    user_id = header.get("user_id")
    if not isinstance(user_id, str) or header.keys() != {"format", "version", "user_id"}:
        raise InvalidArgument("the header of the file is not valid")
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
        part = parts.get(TIERS[position], Part(offset, 0))
        parts[TIERS[position]] = Part(part.offset, part.records + 1)
    if document != {"records": number - 2, "sha256": digest.hexdigest()}:
        raise InvalidArgument("the file is incomplete or was altered: its last line does not fit")
    if file.read(1):
        raise InvalidArgument("the file has lines behind its last one")
    return WholeFile(user_id, digest.digest(), number - 2, parts, file)


def _object(raw: bytes, number: int) -> dict[str, Any]:
    if not raw.endswith(b"\n"):
        cause = "the file is incomplete" if len(raw) < LINE_BYTES_MAX else "is too long"
        raise InvalidArgument(f"line {number}: {cause}")
    try:
        document = json.loads(raw)
    except (ValueError, RecursionError) as error:
        raise InvalidArgument(f"line {number}: is not JSON") from error
    if not isinstance(document, dict):
        raise InvalidArgument(f"line {number}: is no JSON object")
    return document


def _checked(raw: bytes, number: int, position: int) -> int:
    """The place of a record's tier, which is not before that of the last one."""
    try:
        name, fields = kind_of(raw.decode())
        found = TIERS.index(name.partition(".")[0])
        is_canonical = dump({"kind": name, "record": fields}).encode() + b"\n" == raw
    except (ValueError, RecursionError) as error:
        raise InvalidArgument(f"line {number}: is no record") from error
    if found < position or not is_canonical:
        raise InvalidArgument(f"line {number}: is not written as an export writes it")
    return found
