"""Documents, what is done with them, and conditions on their values. Frozen data and pure functions."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import IntEnum
from typing import Any, Final

import numpy as np
import numpy.typing as npt

Namespace = tuple[str, ...]
"""Labels, from the outermost inwards."""

ANY_LABEL: Final = "*"
"""Stands for any one label where namespaces are looked for."""


@dataclass(frozen=True, slots=True, order=True)
class DocumentName:
    """What names a document of a user. Names are ordered label by label, then by key, by code points."""

    namespace: Namespace
    key: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A value under a namespace and a key."""

    name: DocumentName
    value: str  # JSON text
    search_texts: tuple[str, ...] = ()
    etag: str
    create_time: datetime
    update_time: datetime
    ttl_seconds: float | None = None  # None: it does not expire
    expire_time: datetime | None = None  # from then on it is gone


@dataclass(frozen=True, slots=True)
class Position:
    """A document that a list goes on behind."""

    name: DocumentName
    update_time: datetime | None = None  # when it was last written; needed where those written last come first

    @classmethod
    def of(cls, document: Document) -> Position:
        """The position of a document."""
        return cls(document.name, document.update_time)


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentWrite:
    """Puts a document where there is a value, else deletes it."""

    name: DocumentName
    value: str | None = None  # JSON text
    search_texts: tuple[str, ...] = ()
    ttl_seconds: float | None = None
    must_be_new: bool = False
    etag: str = ""  # that the caller read; empty: whatever is stored


@dataclass(frozen=True, slots=True)
class WriteDocuments:
    """Writes that happen together or not at all."""

    request_id: str
    user_id: str
    digest: bytes  # distinguishes a repeat from another request under the same id
    writes: tuple[DocumentWrite, ...]


@dataclass(frozen=True, slots=True)
class WriteResult:
    """What became of a write. Etag and times are None after a deletion."""

    existed: bool
    etag: str | None = None
    create_time: datetime | None = None
    update_time: datetime | None = None


@dataclass(frozen=True, slots=True)
class Written:
    """The results of writes, in their order."""

    results: tuple[WriteResult, ...]
    replayed: bool  # an earlier call with this request id wrote them


@dataclass(frozen=True, slots=True)
class Vectors:
    """Vectors of a document's search texts, one behind the other: float32 `[texts * dimension]`, each of length 1."""

    name: DocumentName
    etag: str
    vectors: npt.NDArray[np.float32] | None  # None: there are none of the model


class Comparison(IntEnum):
    """How a filter compares; the numbers are those of the wire format."""

    EQUAL = 1
    NOT_EQUAL = 2
    GREATER = 3
    GREATER_OR_EQUAL = 4
    LESS = 5
    LESS_OR_EQUAL = 6


@dataclass(frozen=True, slots=True)
class DocumentFilter:
    """A condition on the value of a document."""

    path: tuple[str, ...]  # names of members, from the outermost object inwards
    comparison: Comparison
    value: Any  # parsed JSON

    def holds(self, document: Any) -> bool:
        """Whether a parsed value meets it; what is not there counts as null."""
        for name in self.path:
            document = document.get(name) if isinstance(document, dict) else None
        if self.comparison is Comparison.EQUAL:
            return same_json(document, self.value)
        if self.comparison is Comparison.NOT_EQUAL:
            return not same_json(document, self.value)
        if not _are_ordered(document, self.value):
            return False
        if self.comparison is Comparison.GREATER:
            return bool(document > self.value)
        if self.comparison is Comparison.GREATER_OR_EQUAL:
            return bool(document >= self.value)
        if self.comparison is Comparison.LESS:
            return bool(document < self.value)
        return bool(document <= self.value)


def meets(document: Document, filters: Sequence[DocumentFilter]) -> bool:
    """Whether a document meets all filters."""
    if not filters:
        return True
    value = json.loads(document.value)
    return all(condition.holds(value) for condition in filters)


def same_json(one: Any, other: Any) -> bool:
    """Whether two parsed values are the same JSON: 1 is 1.0, and true is not 1."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same_json(one[name], other[name]) for name in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same_json, one, other))
    return bool(one == other)


def depth(value: Any) -> int:
    """How many objects and lists are inside each other; 0 for a value that is neither."""
    deepest, level = 0, [value]
    while level := [item for item in level if isinstance(item, dict | list)]:
        deepest += 1
        level = [inner for item in level for inner in (item.values() if isinstance(item, dict) else item)]
    return deepest


def parsed_json(text: str) -> Any:
    """JSON text as Python data.

    Raises:
        ValueError: It is not JSON, or is nested too deep to be read.
    """
    try:
        return json.loads(text, parse_constant=_refused)
    except RecursionError as error:
        raise ValueError("nested too deep") from error


def namespace_matches(namespace: Namespace, *, prefix: Namespace, suffix: Namespace) -> bool:
    """Whether a namespace begins and ends with labels, of which `ANY_LABEL` stands for any."""
    return _begins(namespace, prefix) and _begins(namespace[::-1], suffix[::-1])


def _begins(labels: Namespace, wanted: Namespace) -> bool:
    return len(labels) >= len(wanted) and all(
        want in (ANY_LABEL, label) for label, want in zip(labels, wanted, strict=False)
    )


def _are_ordered(one: Any, other: Any) -> bool:
    if isinstance(one, bool) or isinstance(other, bool):
        return False
    both_numbers = isinstance(one, int | float) and isinstance(other, int | float)
    return both_numbers or (isinstance(one, str) and isinstance(other, str))


def _refused(constant: str) -> Any:
    raise ValueError(f"{constant} is not JSON")
