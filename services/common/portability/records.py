"""Use cases: pages of a user's records, and records that are stored again."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any, Final, TypeAlias

from services.common.copying.model import OWNER_FIELDS, Key, Kind, OwnedRecords, Owner, Record, key_of
from services.common.errors import FieldViolation, InvalidArgument
from services.common.portability.lines import from_fields, kind_of, to_line
from services.common.portability.store import UserRecordStore

PAGE_BYTES_MAX: Final = 2 * 1024 * 1024
"""No page has more bytes, but for one that is a single record."""

Written: TypeAlias = Mapping[str, Sequence[Record]]
"""Records to be written, by the names of their kinds, in this order."""


def _unchanged(record: Record) -> Record:
    return record


def _accepted(record: Record) -> None:
    pass


@dataclass(frozen=True, slots=True)
class Shape:
    """How the records of one kind appear in a file."""

    left_out: frozenset[str] = frozenset()
    """Fields that are computed from others, or number rows of one database."""
    outward: Callable[[Record], Record] = _unchanged
    """Applied before a record becomes a line."""
    added: Mapping[str, Any] = field(default_factory=dict)
    """Fields that files of earlier versions lack, with the values that stand for that."""
    is_memory: bool = True
    """False for marks that stay when a memory is erased."""
    records_at_once: int | None = None
    """Records that are read at once, where they may be large; None: as many as a page has."""
    check: Callable[[Record], None] = _accepted
    """Raises ValueError for a record of a file that no store would have; on a thread, before anything is written."""


@dataclass(frozen=True, kw_only=True)
class TierRecords:
    """What of a tier is in a file. Kinds that are named nowhere are in it as they are stored."""

    hidden: frozenset[str]
    """Kinds that are not exported: of no user, computed from others, or of one installation."""
    shapes: Mapping[str, Shape] = field(default_factory=dict)
    """Kinds with a form of their own."""
    restored: Callable[[str, list[Record]], Awaitable[Written]] | None = None
    """From a kind and records without the fields that are left out to what is written."""
    settle: Callable[[], Awaitable[None]] | None = None
    """Writes what is still counted in memory, before the first page of an export is read."""

    def shape(self, kind: Kind) -> Shape:
        """The form of a kind."""
        return self.shapes.get(kind.name, Shape())


@dataclass(frozen=True, slots=True)
class Page:
    """Some lines, and where the next ones are."""

    lines: Sequence[str]
    next_token: str  # empty after the last one


class UserRecords:
    """Exports and imports one tier's records of a user."""

    def __init__(self, store: UserRecordStore, tier: TierRecords) -> None:
        """Reads and writes in `store`."""
        self._store = store
        self._tier = tier

    async def read(self, owner: Owner, token: str, *, limit: int, memories_only: bool) -> Page:
        """A page of lines.

        Raises:
            InvalidArgument: The token is not one of ours.
        """
        if self._tier.settle is not None and not token and not memories_only:
            await self._tier.settle()
        async with self._store.open(owner[0]) as records:
            kinds = [kind for kind in self._kinds(records) if not memories_only or self._tier.shape(kind).is_memory]
            position, after = _position(token, kinds)
            lines: list[str] = []
            size = 0
            while position < len(kinds):
                kind = kinds[position]
                shape = self._tier.shape(kind)
                wanted = min(limit - len(lines), shape.records_at_once or limit)
                found = await records.read_owned(kind, owner, after=after, limit=wanted)
                made = await asyncio.to_thread(_lines, kind, shape, found)
                for record, line in zip(found, made, strict=True):
                    size += len(line.encode())
                    if lines and size > PAGE_BYTES_MAX:
                        return Page(lines, _token(kind, after))
                    lines.append(line)
                    after = key_of(kind, record)
                    if len(lines) == limit:
                        return Page(lines, _token(kind, after))
                if len(found) < wanted:
                    position, after = position + 1, None
            return Page(lines, "")

    async def write(self, owner: Owner, lines: Sequence[str], *, validate_only: bool) -> None:
        """Stores lines of `read`, or only checks them.

        Raises:
            InvalidArgument: A line is not one of a record of this tier.
        """
        async with self._store.open(owner[0]) as records:
            kinds = {kind.name: kind for kind in records.kinds}
            exported = {kind.name for kind in self._kinds(records)}
            first = 0
            for name, group in groupby(await asyncio.to_thread(_read_all, lines), key=lambda pair: pair[0]):
                if name not in exported:
                    raise wrong_line(first, f"there are no records of the kind {name[:80]!r}")
                shape = self._tier.shape(kinds[name])
                documents = [fields for _, fields in group]
                made = await asyncio.to_thread(
                    _records, kinds[name], shape, documents, owner, first=first, is_new=validate_only
                )
                first += len(documents)
                if not validate_only:
                    await self._write(records, kinds, name, made)

    async def _write(self, records: OwnedRecords, kinds: Mapping[str, Kind], name: str, made: list[Record]) -> None:
        restored = self._tier.restored
        written = await restored(name, made) if restored is not None else {name: made}
        for kind_name, restored_records in written.items():
            await records.write(kinds[kind_name], restored_records, replace=True)

    def _kinds(self, records: OwnedRecords) -> list[Kind]:
        """Kinds of users that are exported, in the order in which they can be written."""
        owned = frozenset(OWNER_FIELDS)
        return [kind for kind in records.kinds if owned <= kind.fields and kind.name not in self._tier.hidden]


def _lines(kind: Kind, shape: Shape, records: Sequence[Record]) -> list[str]:
    return [to_line(kind, shape.outward(record), shape.left_out) for record in records]


def wrong_line(position: int, description: str) -> InvalidArgument:
    """The refusal of one of the lines of a request, by its place among them."""
    return InvalidArgument(description, violations=[FieldViolation(f"lines[{position}]", description)])


def _read_all(lines: Sequence[str]) -> list[tuple[str, dict[str, Any]]]:
    read = []
    for position, line in enumerate(lines):
        try:
            read.append(kind_of(line))
        except (ValueError, RecursionError):
            raise wrong_line(position, "is no record") from None
    return read


def _records(
    kind: Kind, shape: Shape, documents: Sequence[dict[str, Any]], owner: Owner, *, first: int, is_new: bool
) -> list[Record]:
    """The records of lines, of which `first` is the place of the first one.

    New ones are checked: what is written afterwards is the same.
    """
    made = []
    for position, fields in enumerate(documents, first):
        try:
            record = from_fields(kind, fields, owner, shape.left_out, shape.added)
            if is_new:
                shape.check(record)
        except (ValueError, TypeError) as error:
            raise wrong_line(position, f"a record does not fit: {error}") from error
        made.append(record)
    return made


def _token(kind: Kind, after: Key | None) -> str:
    """Where a page begins: behind a record of a kind, or at its first one."""
    return json.dumps([kind.name, after])


def _position(token: str, kinds: Sequence[Kind]) -> tuple[int, Key | None]:
    if not token:
        return 0, None
    try:
        name, after = json.loads(token)
        return [kind.name for kind in kinds].index(name), None if after is None else tuple(after)
    except (ValueError, TypeError) as error:
        raise InvalidArgument("the page token is not valid") from error
