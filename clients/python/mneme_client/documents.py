"""Documents: JSON values under namespaces and keys, what is done with them, and what was found. Plain frozen data."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from mneme_client.enums import DocumentComparison


@dataclass(frozen=True, slots=True, order=True)
class DocumentName:
    """What names a document of a user."""

    namespace: tuple[str, ...]  # labels, 1 to 16
    key: str


@dataclass(frozen=True, slots=True)
class Document:
    """A value under a namespace and a key."""

    name: DocumentName
    value: Any  # parsed JSON
    search_texts: tuple[str, ...]  # what searches find it by
    etag: str  # changes with every write
    create_time: datetime | None
    update_time: datetime | None
    ttl: timedelta | None  # None: it does not expire
    expire_time: datetime | None  # from then on it is gone


@dataclass(frozen=True, slots=True)
class PutDocument:
    """Creates or replaces a document."""

    name: DocumentName
    value: Any  # what `json.dumps` takes, at most 262,144 bytes as JSON
    search_texts: tuple[str, ...] = ()  # what searches find it by, at most 16
    ttl: timedelta | None = None  # how long it lives, counted from this write; None: it does not expire
    must_be_new: bool = False  # fails with ALREADY_EXISTS if it is there
    etag: str = ""  # that was read: fails with CONFLICT if it has changed; empty: unconditional


@dataclass(frozen=True, slots=True)
class DeleteDocument:
    """Deletes a document, where there is one."""

    name: DocumentName
    etag: str = ""  # that was read: fails with CONFLICT if it has changed or is gone; empty: unconditional


@dataclass(frozen=True, slots=True)
class DocumentWriteResult:
    """What became of a write. After a deletion the etag is empty and the times are None."""

    existed: bool  # there was a document before
    etag: str
    create_time: datetime | None
    update_time: datetime | None


@dataclass(frozen=True, slots=True)
class DocumentFilter:
    """A condition on the value of a document."""

    path: tuple[str, ...]  # names of members, from the outermost object inwards; what is not there counts as null
    value: Any  # what `json.dumps` takes
    comparison: DocumentComparison = DocumentComparison.EQUAL


@dataclass(frozen=True, slots=True)
class FoundDocument:
    """A document that was searched for."""

    document: Document
    score: float  # cosine of the query and the nearest of its search texts, in [-1, 1]


@dataclass(frozen=True, slots=True)
class FoundDocuments:
    """What a search found."""

    documents: tuple[FoundDocument, ...]  # the nearest first
    unsearched_count: int  # documents that have no vector of the present embedding model yet
