"""What is copied from one installation to another, and the port that every engine's driver has for it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, Protocol, TypeAlias

Record: TypeAlias = dict[str, Any]
"""One thing that is stored, as an engine's driver and that of another engine both write it down.

Values are None, bool, int, float, str, bytes, and lists and objects of them. Times are whole microseconds since 1970
in UTC, ids are text, vectors are the bytes of little-endian float32 numbers: nothing is rounded on the way.
"""

Key: TypeAlias = tuple[Any, ...]
"""The values of a record's key fields, in the order of `Kind.key`; JSON holds them unchanged."""

BATCH_RECORDS: Final = 500
"""Records in one page of a copy."""

_BYTES_TAG: Final = "$bytes"


class CopyError(Exception):
    """A copy cannot be begun, or cannot go on. The message is for people."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """A set of records with the same fields, such as one table."""

    name: str
    """Tier and subject, such as "semantic.facts"; the same in every driver."""
    key: tuple[str, ...]
    """Fields that identify a record, in the order in which the store reads by them."""
    fields: frozenset[str]
    """All fields, those of the key included."""
    vectors: frozenset[str] = frozenset()
    """Fields with vectors that an engine may bring to length 1 once more, and so return rounded otherwise."""


OWNER_FIELDS: Final = ("tenant_id", "user_id")
"""Fields that say whose a record is."""

Owner: TypeAlias = tuple[str, str]
"""Values of `OWNER_FIELDS`."""


class RecordStore(Protocol):
    """Part of an installation, for one copy. Nobody else writes meanwhile."""

    @property
    def kinds(self) -> Sequence[Kind]:
        """What it holds, in an order in which it can be written: what is referred to comes first."""
        ...

    async def count(self, kind: Kind) -> int:
        """Number of records."""
        ...

    async def read(self, kind: Kind, *, after: Key | None, limit: int) -> list[Record]:
        """Records behind a key, in an order by key that is the engine's own and always the same.

        Fewer than `limit` only at the end.
        """
        ...

    async def write(self, kind: Kind, records: Sequence[Record]) -> None:
        """Makes sure that the records are there, durably; those whose key is there already are left as they are.

        May be interrupted and repeated.
        """
        ...


class OwnedRecords(Protocol):
    """Records of one owner among others."""

    @property
    def kinds(self) -> Sequence[Kind]:
        """See `RecordStore.kinds`."""
        ...

    async def read_owned(self, kind: Kind, owner: Owner, *, after: Key | None, limit: int) -> list[Record]:
        """Records of an owner behind a key, in an order by key that all engines have.

        Fewer than `limit` only at the end.
        """
        ...

    async def write(self, kind: Kind, records: Sequence[Record], *, replace: bool = False) -> None:
        """See `RecordStore.write`; with `replace`, records whose key is there become those that are given."""
        ...


def key_of(kind: Kind, record: Record) -> Key:
    """A record's key."""
    return tuple(record[field] for field in kind.key)


def canonical(record: Mapping[str, Any]) -> bytes:
    """A record as bytes: equal for equal records, whatever the order of their fields.

    Whole floats keep their point, so that they differ from integers.
    """
    return json.dumps(
        record, sort_keys=True, ensure_ascii=True, separators=(",", ":"), default=_plain, check_circular=False
    ).encode("ascii")


def _plain(value: Any) -> Any:
    if isinstance(value, bytes | bytearray | memoryview):
        return {_BYTES_TAG: bytes(value).hex()}
    if isinstance(value, datetime):
        raise TypeError("a record's times are numbers of microseconds")
    raise TypeError(f"a record cannot hold a {type(value).__name__}")
