"""Values of PostgreSQL as records have them, and back."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final
from uuid import UUID

import numpy as np

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True)
class ValueForm:
    """How values of one type of the database go into records and out of them; NULL is None and not given to it."""

    to_record: Callable[[Any], Any]
    from_record: Callable[[Any], Any]


def microseconds(moment: datetime) -> int:
    """A time as records have it, exact."""
    return (moment - _EPOCH) // _MICROSECOND


def moment(value: int) -> datetime:
    """The inverse of `microseconds`."""
    return _EPOCH + value * _MICROSECOND


def vector_bytes(values: Any) -> bytes:
    """A vector as records have it."""
    return np.asarray(values, dtype="<f4").tobytes()


def vector_values(data: bytes) -> Any:
    """The inverse of `vector_bytes`: a float32 array."""
    return np.frombuffer(data, dtype="<f4").astype(np.float32)


def form_of(type_name: str) -> ValueForm:
    """The form of a type, by the name that the database has for it.

    Raises:
        LookupError: The type is not known here; add it together with the first column of it.
    """
    if type_name.endswith("[]"):
        element = form_of(type_name.removesuffix("[]"))
        return ValueForm(
            lambda values: [None if value is None else element.to_record(value) for value in values],
            lambda values: [None if value is None else element.from_record(value) for value in values],
        )
    return _FORMS[type_name]


def _same(value: Any) -> Any:
    return value


_SAME: Final = ValueForm(_same, _same)
DECODED_JSON: Final = _SAME
"""JSON in connections whose codec decodes it."""
_JSON: Final = ValueForm(json.loads, lambda value: json.dumps(value, ensure_ascii=False))
_FORMS: Final[Mapping[str, ValueForm]] = {
    **dict.fromkeys(
        ("boolean", "smallint", "integer", "bigint", "real", "double precision", "text", "character varying"), _SAME
    ),
    "bytea": ValueForm(bytes, _same),
    "uuid": ValueForm(str, UUID),
    "timestamp with time zone": ValueForm(microseconds, moment),
    "interval": ValueForm(lambda value: value // _MICROSECOND, lambda value: value * _MICROSECOND),
    "jsonb": _JSON,
    "json": _JSON,
    "vector": ValueForm(vector_bytes, vector_values),
}
