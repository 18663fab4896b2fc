"""Records of a user as lines of JSON, and back.

A line reads `{"kind": "semantic.facts", "record": {...}}`. Tenant and user are left out: the file says whose it is.
Times are RFC 3339 with microseconds, bytes are `{"$bytes": "<hexadecimal>"}`, more than 1 KiB of them
`{"$base64": "<base64>"}`. Names are sorted: equal records are equal lines.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Final

from services.common.copying.model import OWNER_FIELDS, Kind, Owner, Record
from services.common.copying.postgres_values import microseconds, moment

_BYTES: Final = "$bytes"
_LONG_BYTES: Final = "$base64"
_SHORT_MAX: Final = 1024
_ESCAPED_NUL: Final = "\\u0000"


def dump(value: Any) -> str:
    """JSON on one line; equal values are equal texts."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False)


def to_line(kind: Kind, record: Record, left_out: frozenset[str]) -> str:
    """A record as a line."""
    fields = {
        name: _outward(name, value)
        for name, value in record.items()
        if name not in OWNER_FIELDS and name not in left_out
    }
    return dump({"kind": kind.name, "record": fields})


def kind_of(line: str) -> tuple[str, dict[str, Any]]:
    """The name of a line's kind, and its fields as they stand there.

    Raises:
        ValueError: It is no line of records.
    """
    document = json.loads(line)
    if not isinstance(document, dict) or document.keys() != {"kind", "record"}:
        raise ValueError("the line is no record")
    name, fields = document["kind"], document["record"]
    if not isinstance(name, str) or not isinstance(fields, dict):
        raise ValueError("the line is no record")
    if _ESCAPED_NUL in line and _holds_nul(document):
        raise ValueError("the line holds a NUL character")
    return name, fields


def _holds_nul(value: Any) -> bool:
    if isinstance(value, dict):
        return any(_holds_nul(one) for pair in value.items() for one in pair)
    if isinstance(value, list):
        return any(map(_holds_nul, value))
    return isinstance(value, str) and "\0" in value


def from_fields(
    kind: Kind,
    fields: Mapping[str, Any],
    owner: Owner,
    left_out: frozenset[str],
    added: Mapping[str, Any] | None = None,
) -> Record:
    """The record of a line, without the fields that are left out.

    Args:
        kind: What it is a record of.
        fields: As they stand in the line.
        owner: Whose it is.
        left_out: Fields that no line has.
        added: Fields that lines of earlier versions lack, with the values that stand for that; None: none.

    Raises:
        ValueError: Fields are missing, unknown or of another form.
    """
    fields = {**(added or {}), **fields}
    wanted = kind.fields - left_out - frozenset(OWNER_FIELDS)
    missing, unknown = wanted - fields.keys(), fields.keys() - wanted
    if missing:
        raise ValueError(f"{kind.name} without the fields {', '.join(sorted(missing))}")
    if unknown:
        raise ValueError(f"{kind.name} with fields that are not known: {len(unknown)}")
    record = {name: _read(name, value) for name, value in fields.items()}
    return {**record, **dict(zip(OWNER_FIELDS, owner, strict=True))}


def _is_time(name: str) -> bool:
    return name == "time" or name.endswith("_time")


def _outward(name: str, value: Any) -> Any:
    if isinstance(value, bytes | bytearray | memoryview):
        content = bytes(value)
        if len(content) > _SHORT_MAX:
            return {_LONG_BYTES: base64.b64encode(content).decode("ascii")}
        return {_BYTES: content.hex()}
    if _is_time(name) and isinstance(value, int):
        return moment(value).isoformat(timespec="microseconds").replace("+00:00", "Z")
    return value


def _read(name: str, value: Any) -> Any:
    try:
        return _inward(name, value)
    except (ValueError, TypeError, OverflowError):
        raise ValueError(f"the value of {name} is not written as an export writes it") from None


def _inward(name: str, value: Any) -> Any:
    if isinstance(value, dict) and value.keys() == {_BYTES}:
        return bytes.fromhex(value[_BYTES])
    if isinstance(value, dict) and value.keys() == {_LONG_BYTES}:
        return base64.b64decode(value[_LONG_BYTES], validate=True)
    if _is_time(name) and isinstance(value, str):
        read = datetime.fromisoformat(value)
        if read.tzinfo is None:
            raise ValueError(f"{name} has no offset from UTC")
        return microseconds(read.astimezone(UTC))
    return value
