"""What a batch of LangGraph's operations asks of Mneme. Pure functions and data."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, TypeAlias

from langgraph.store.base import (
    GetOp,
    Item,
    ListNamespacesOp,
    Op,
    PutOp,
    SearchItem,
    SearchOp,
    get_text_at_path,
)

from mneme_client import (
    DeleteDocument,
    Document,
    DocumentComparison,
    DocumentFilter,
    DocumentName,
    PutDocument,
)

Namespace: TypeAlias = tuple[str, ...]
UserOf: TypeAlias = Callable[[Namespace], str]
"""The user whose documents a namespace, or the beginning of one, holds."""

WRITES_MAX = 1_000
"""Writes of one request."""
WRITES_BYTES = 4 * 1024 * 1024
"""Bytes of values in one request, about."""
LIMIT_MAX = 200
"""Results of one search by meaning."""
_TEXTS_MAX = 16
_TEXT_CHARS_MAX = 8_000
_COMPARISONS = {
    "$eq": DocumentComparison.EQUAL,
    "$ne": DocumentComparison.NOT_EQUAL,
    "$gt": DocumentComparison.GREATER,
    "$gte": DocumentComparison.GREATER_OR_EQUAL,
    "$lt": DocumentComparison.LESS,
    "$lte": DocumentComparison.LESS_OR_EQUAL,
}


@dataclass
class Plan:
    """The operations of a batch by kind, with their places among the results. Reads come before writes."""

    count: int = 0
    gets: dict[tuple[str, bool], dict[int, DocumentName]] = field(default_factory=lambda: defaultdict(dict))
    """By user and whether the time to live begins anew."""
    searches: dict[int, SearchOp] = field(default_factory=dict)
    lists: dict[int, ListNamespacesOp] = field(default_factory=dict)
    writes: dict[str, dict[DocumentName, PutDocument | DeleteDocument]] = field(
        default_factory=lambda: defaultdict(dict)
    )
    """By user; the last of several writes of one document."""


def plan_of(ops: Iterable[Op], user_of: UserOf, fields: Sequence[str]) -> Plan:
    """The plan of a batch.

    Raises:
        ValueError: An operation is of another kind.
    """
    plan = Plan()
    for index, op in enumerate(ops):
        plan.count = index + 1
        if isinstance(op, GetOp):
            plan.gets[user_of(op.namespace), op.refresh_ttl][index] = DocumentName(op.namespace, op.key)
        elif isinstance(op, SearchOp):
            plan.searches[index] = op
        elif isinstance(op, ListNamespacesOp):
            plan.lists[index] = op
        elif isinstance(op, PutOp):
            name = DocumentName(op.namespace, op.key)
            plan.writes[user_of(op.namespace)][name] = _write(name, op, fields)
        else:
            raise ValueError(f"unknown operation: {type(op).__name__}")
    return plan


def requests_of(writes: Mapping[DocumentName, PutDocument | DeleteDocument]) -> Iterator[list[Any]]:
    """A user's writes in as few requests as they fit into: one, up to `WRITES_MAX` of them and `WRITES_BYTES`."""
    request: list[PutDocument | DeleteDocument] = []
    size = 0
    for write in writes.values():
        bytes_of = _size(write)
        if request and (len(request) == WRITES_MAX or size + bytes_of > WRITES_BYTES):
            yield request
            request, size = [], 0
        request.append(write)
        size += bytes_of
    if request:
        yield request


def filters_of(conditions: Mapping[str, Any] | None) -> list[DocumentFilter]:
    """The conditions of a search; members of nested objects are conditions of their own.

    Raises:
        ValueError: An operator is unknown.
    """
    return list(_filters((), conditions or {}))


def namespaces_wanted(op: ListNamespacesOp) -> tuple[Namespace, Namespace]:
    """The prefix and the suffix that a list of namespaces is asked for.

    Raises:
        ValueError: There are several of one kind, or one of another kind.
    """
    wanted: dict[str, Namespace] = {"prefix": (), "suffix": ()}
    for condition in op.match_conditions or ():
        if condition.match_type not in wanted or wanted[condition.match_type]:
            raise ValueError(f"namespaces can be matched by one prefix and one suffix, not by {op.match_conditions}")
        wanted[condition.match_type] = tuple(condition.path)
    return wanted["prefix"], wanted["suffix"]


def item(document: Document) -> Item:
    """A document as LangGraph's item."""
    return Item(
        value=document.value,
        key=document.name.key,
        namespace=document.name.namespace,
        created_at=_time(document.create_time),
        updated_at=_time(document.update_time),
    )


def search_item(document: Document, score: float | None = None) -> SearchItem:
    """A document as the result of a search."""
    return SearchItem(
        namespace=document.name.namespace,
        key=document.name.key,
        value=document.value,
        created_at=_time(document.create_time),
        updated_at=_time(document.update_time),
        score=score,
    )


def _time(stored: datetime | None) -> datetime:
    if stored is None:
        raise TypeError("the service sent a document without its times")
    return stored


def _write(name: DocumentName, op: PutOp, fields: Sequence[str]) -> PutDocument | DeleteDocument:
    if op.value is None:
        return DeleteDocument(name)
    ttl = None if op.ttl is None else timedelta(minutes=op.ttl)
    return PutDocument(name, op.value, search_texts=_texts(op, fields), ttl=ttl)


def _texts(op: PutOp, fields: Sequence[str]) -> tuple[str, ...]:
    """What the item is found by: the texts of its own fields, or of those of the store."""
    if op.index is False:
        return ()
    chosen = fields if op.index is None else op.index
    found = (text[:_TEXT_CHARS_MAX] for path in chosen for text in get_text_at_path(op.value, path))
    return tuple(dict.fromkeys(text for text in found if text.strip()))[:_TEXTS_MAX]


def _size(write: PutDocument | DeleteDocument) -> int:
    if isinstance(write, DeleteDocument):
        return 0
    return len(json.dumps(write.value)) + sum(map(len, write.search_texts))


def _filters(path: tuple[str, ...], conditions: Mapping[str, Any]) -> Iterator[DocumentFilter]:
    for name, wanted in conditions.items():
        inner = (*path, name)
        if not isinstance(wanted, Mapping) or not wanted:
            yield DocumentFilter(inner, wanted)
        elif any(operator.startswith("$") for operator in wanted):
            for operator, value in wanted.items():
                if operator not in _COMPARISONS:
                    raise ValueError(f"unknown operator: {operator}")
                yield DocumentFilter(inner, value, _COMPARISONS[operator])
        else:
            yield from _filters(inner, wanted)
