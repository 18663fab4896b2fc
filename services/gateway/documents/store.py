"""The port of documents. `tests/contract/documents.py` is the suite that every driver passes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from services.common.owners import Owner
from services.gateway.documents.model import (
    Document,
    DocumentName,
    Namespace,
    Position,
    Vectors,
    WriteDocuments,
    Written,
)
from services.gateway.journal.model import Caller


@dataclass(frozen=True, slots=True)
class Listed:
    """A part of a list."""

    documents: Sequence[Document]
    is_last: bool  # nothing follows


@dataclass(frozen=True, slots=True)
class Found:
    """Documents that were asked for by name."""

    documents: Sequence[Document]  # those that are there, in the order of the names
    unread: Sequence[DocumentName] = field(default=())  # names that were not looked at for lack of room


class DocumentStore(Protocol):
    """Documents of users. No operation sees those of another owner, nor those that have expired."""

    async def write(self, caller: Caller, command: WriteDocuments, vectors: Sequence[Vectors], model: str) -> Written:
        """Makes all writes, or none, in one transaction; writes of one user one after the other.

        Must store `vectors`, which are of `model`, with the documents that they name. Must return the first results to
        a repeat of a request id by the same principal, whatever became of the documents.

        Raises:
            InvalidArgument: The request id was used before with another content.
            AlreadyExists: A document that must be new is there.
            Conflict: A document has another etag than was read, or is gone.
            LimitExceeded: The user would have more documents than allowed.
            NotFound: It is a repeat, and the user has been erased since.
        """
        ...

    async def get(self, owner: Owner, names: Sequence[DocumentName]) -> Found:
        """Documents by name, as of one moment; of those that exceed `page_bytes_max` bytes at least the first."""
        ...

    async def list_documents(
        self,
        owner: Owner,
        prefix: Namespace,
        *,
        key_prefix: str,
        after: Position | None,
        limit: int,
        latest_first: bool = False,
    ) -> Listed:
        """Documents in the order of their names; of those that exceed `page_bytes_max` bytes at least the first.

        With `latest_first` those written last come first, ties in the order of names; `after` needs its time then.
        """
        ...

    async def list_namespaces(self, owner: Owner, prefix: Namespace) -> Sequence[Namespace]:
        """All namespaces with documents that begin with a prefix, in their order."""
        ...

    async def list_vectors(self, owner: Owner, prefix: Namespace, *, model: str) -> Sequence[Vectors]:
        """The vectors of all documents with search texts, in the order of their names."""
        ...

    async def put_vectors(self, owner: Owner, vectors: Sequence[Vectors], *, model: str) -> None:
        """Stores vectors of documents that have the same etag still."""
        ...

    async def extend(self, owner: Owner, names: Sequence[DocumentName]) -> None:
        """Begins the time to live of documents anew."""
        ...

    async def remove_expired(self, *, limit: int) -> int:
        """Removes documents of all tenants that have expired; how many, at most `limit`."""
        ...
