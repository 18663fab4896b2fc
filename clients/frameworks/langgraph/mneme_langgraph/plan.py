"""What a batch of LangGraph's operations asks of Mneme. Pure functions and data."""

from __future__ import annotations

import json
import math
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import zip_longest
from typing import Any, TypeAlias

from langgraph.store.base import (
    GetOp,
    InvalidNamespaceError,
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
_ANY_LABEL = "*"
_NEVER = False
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
        InvalidNamespaceError: A label is empty, no string, or has a period; or an item has no namespace.
        ValueError: An operation is of another kind.
    """
    plan = Plan()
    for index, op in enumerate(ops):
        plan.count = index + 1
        if isinstance(op, GetOp):
            if namespace := _checked(op.namespace):  # nothing is in the empty one
                plan.gets[user_of(namespace), op.refresh_ttl][index] = DocumentName(namespace, str(op.key))
        elif isinstance(op, SearchOp):
            plan.searches[index] = op._replace(namespace_prefix=_checked(op.namespace_prefix))
        elif isinstance(op, ListNamespacesOp):
            for condition in op.match_conditions or ():
                _checked(condition.path)
            plan.lists[index] = op
        elif isinstance(op, PutOp):
            name = DocumentName(_checked(op.namespace), str(op.key))
            if name.namespace:
                plan.writes[user_of(name.namespace)][name] = _write(name, op, fields)
            elif op.value is not None:
                raise InvalidNamespaceError("an item needs a namespace of at least one label")
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


def requests_of_all(plan: Plan, *, splits: bool) -> list[tuple[str, list[Any]]]:
    """The writes of a plan as requests, each of one user.

    Raises:
        ValueError: They need several requests, so that a failure would leave a part of them, and `splits` is not set.
    """
    requests = [(user_id, request) for user_id, writes in plan.writes.items() for request in requests_of(writes)]
    if len(requests) > 1 and not splits:
        raise ValueError(
            f"the puts of this batch need {len(requests)} requests and could be written in part: put less at a time, "
            "and of one user, or make the store with splits_batches=True"
        )
    return requests


def is_one_page(op: SearchOp) -> bool:
    """Whether the request of a search returns what the search returns, and nothing beside it."""
    return op.offset == 0 and op.limit <= LIMIT_MAX and bool(op.query or not op.filter)


def filters_of(conditions: Mapping[str, Any] | None, *, dotted: bool = False) -> list[DocumentFilter] | None:
    """The conditions of a search, or None where no value can meet them.

    Members of nested objects are conditions of their own; so are, where `dotted`, names with periods.

    Raises:
        ValueError: An operator is unknown.
    """
    found = list(_filters((), conditions or {}, dotted=dotted))
    return None if _NEVER in found else [one for one in found if isinstance(one, DocumentFilter)]


def namespaces_wanted(op: ListNamespacesOp) -> tuple[Namespace, Namespace] | None:
    """The prefix and the suffix that a list of namespaces is asked for; None where no namespace can have all of them.

    Raises:
        ValueError: A condition is of another kind.
    """
    prefix: Namespace | None = ()
    suffix: Namespace | None = ()
    for condition in op.match_conditions or ():
        path = _labels(condition.path)
        if condition.match_type == "prefix":
            prefix = _both(prefix, path)
        elif condition.match_type == "suffix":
            suffix = _both(suffix, path[::-1])
        else:
            raise ValueError(f"namespaces are matched by prefixes and suffixes, not by {condition.match_type!r}")
    return None if prefix is None or suffix is None else (prefix, suffix[::-1])


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
    return len(json.dumps(write.value)) + sum(len(text.encode()) for text in write.search_texts)


def _filters(path: Namespace, conditions: Mapping[str, Any], *, dotted: bool) -> Iterator[DocumentFilter | bool]:
    for name, wanted in conditions.items():
        inner = (*path, *name.split(".")) if dotted else (*path, name)
        if not isinstance(wanted, Mapping) or not wanted:
            yield _filter(inner, "$eq", wanted)
        elif any(operator.startswith("$") for operator in wanted):
            for operator, value in wanted.items():
                if operator not in _COMPARISONS:
                    raise ValueError(f"unknown operator: {operator}")
                yield _filter(inner, operator, value)
        else:
            yield from _filters(inner, wanted, dotted=dotted)


def _filter(path: Namespace, operator: str, value: Any) -> DocumentFilter | bool:
    """One condition; True or False where JSON's numbers, which are finite, always or never meet it."""
    if not isinstance(value, float) or math.isfinite(value):
        return DocumentFilter(path, value, _COMPARISONS[operator])
    if operator == "$ne":
        return True
    if value > 0 and operator in {"$lt", "$lte"}:
        return DocumentFilter(path, sys.float_info.max, DocumentComparison.LESS_OR_EQUAL)
    if value < 0 and operator in {"$gt", "$gte"}:
        return DocumentFilter(path, -sys.float_info.max, DocumentComparison.GREATER_OR_EQUAL)
    return _NEVER


def _checked(labels: Sequence[Any]) -> Namespace:
    """A namespace, or a part of one, by LangGraph's rules, which hold for operations that bypass its methods too."""
    for label in labels:
        if not isinstance(label, str) or not label or "." in label:
            raise InvalidNamespaceError(f"labels are strings that are not empty and have no period, not {label!r}")
    return tuple(labels)


def _labels(path: Sequence[str]) -> Namespace:
    return (path,) if isinstance(path, str) else tuple(path)


def _both(one: Namespace | None, other: Namespace) -> Namespace | None:
    """What begins with both; None where nothing can."""
    if one is None:
        return None
    both: list[str] = []
    for first, second in zip_longest(one, other, fillvalue=_ANY_LABEL):
        if _ANY_LABEL not in {first, second} and first != second:
            return None
        both.append(second if first == _ANY_LABEL else first)
    return tuple(both)
