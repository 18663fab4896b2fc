# Generated from aio/documents.py by `make client`, not to be edited.
"""Documents: JSON values that an application stores under namespaces and keys."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from mneme.gateway.v1 import documents_pb2
from mneme_client import documents as r
from mneme_client import to_wire, wire_documents
from mneme_client.blocking.operations import Operations
from mneme_client.calls import PAGE_SIZE_MAX, Call, read_page

_SERVICE = "/mneme.gateway.v1.DocumentService"


class DocumentOperations(Operations):
    """Writes, reads, lists and searches documents. Recalls do not look at them."""

    def write_documents(
        self,
        user_id: str,
        writes: Sequence[r.PutDocument | r.DeleteDocument],
        *,
        request_id: str | None = None,
        timeout_seconds: float | None = None,
    ) -> tuple[r.DocumentWriteResult, ...]:
        """Puts and deletes documents, all of them or none. Fails with ALREADY_EXISTS, CONFLICT or LIMIT_EXCEEDED.

        Args:
            user_id: Whose documents.
            writes: 1 to 1,000, each of another document; a few MiB together.
            request_id: Idempotency key; None makes a new one.
            timeout_seconds: Deadline of this call.

        Returns:
            A result for each write, in order.
        """
        request = documents_pb2.WriteDocumentsRequest(
            request_id=request_id or to_wire.new_request_id(),
            user_id=user_id,
            writes=[wire_documents.write(write) for write in writes],
        )
        response = documents_pb2.WriteDocumentsResponse
        return self._call(
            Call(f"{_SERVICE}/WriteDocuments", request, response, wire_documents.results), timeout_seconds
        )

    def batch_get_documents(
        self,
        user_id: str,
        names: Sequence[r.DocumentName],
        *,
        extend_ttl: bool = False,
        timeout_seconds: float | None = None,
    ) -> tuple[r.Document, ...]:
        """Those of the documents that are there, in the order of the names. More than 3 MiB take several calls.

        Args:
            user_id: Whose documents.
            names: 1 to 1,000.
            extend_ttl: Whether the time to live of those that have one begins anew.
            timeout_seconds: Deadline of each call.
        """
        found: list[r.Document] = []
        unread = [wire_documents.name(name) for name in names]
        response = documents_pb2.BatchGetDocumentsResponse
        while True:
            request = documents_pb2.BatchGetDocumentsRequest(user_id=user_id, names=unread, extend_ttl=extend_ttl)
            call = Call(f"{_SERVICE}/BatchGetDocuments", request, response, lambda message: message)
            page = self._call(call, timeout_seconds)
            found += map(wire_documents.document, page.documents)
            if not page.unread:
                return tuple(found)
            unread = list(page.unread)

    def list_documents(
        self,
        user_id: str,
        *,
        namespace_prefix: Sequence[str] = (),
        key_prefix: str = "",
        filters: Sequence[r.DocumentFilter] = (),
        extend_ttl: bool = False,
        latest_first: bool = False,
        page_size: int = PAGE_SIZE_MAX,
        timeout_seconds: float | None = None,
    ) -> Iterator[r.Document]:
        """Documents in the order of namespace and key, or of their last write; pages are fetched as they are needed.

        Args:
            user_id: Whose.
            namespace_prefix: Only namespaces that begin with these labels, this one itself included.
            key_prefix: Only keys that begin with this.
            filters: Conditions that must all hold, at most 16.
            extend_ttl: Whether the time to live of those that are returned begins anew.
            latest_first: Whether those written last come first. One that is written meanwhile may be missed.
            page_size: How many each call fetches.
            timeout_seconds: Deadline of each call.
        """
        request = documents_pb2.ListDocumentsRequest(
            user_id=user_id,
            namespace_prefix=namespace_prefix,
            key_prefix=key_prefix,
            filters=wire_documents.filters(filters),
            page_size=page_size,
            extend_ttl=extend_ttl,
            latest_first=latest_first,
        )
        read = read_page("documents", wire_documents.document)
        call = Call(f"{_SERVICE}/ListDocuments", request, documents_pb2.ListDocumentsResponse, read)
        return self._pages(call, timeout_seconds)

    def search_documents(
        self,
        user_id: str,
        query: str,
        *,
        namespace_prefix: Sequence[str] = (),
        filters: Sequence[r.DocumentFilter] = (),
        limit: int = 10,
        extend_ttl: bool = False,
        timeout_seconds: float | None = None,
    ) -> r.FoundDocuments:
        """The documents whose search texts are nearest in meaning.

        Args:
            user_id: Whose.
            query: What is searched for.
            namespace_prefix: Only namespaces that begin with these labels, this one itself included.
            filters: Conditions that must all hold, at most 16.
            limit: How many at most, 1 to 200.
            extend_ttl: Whether the time to live of those that are returned begins anew.
            timeout_seconds: Deadline of this call.
        """
        request = documents_pb2.SearchDocumentsRequest(
            user_id=user_id,
            query=query,
            namespace_prefix=namespace_prefix,
            filters=wire_documents.filters(filters),
            limit=limit,
            extend_ttl=extend_ttl,
        )
        response = documents_pb2.SearchDocumentsResponse
        return self._call(Call(f"{_SERVICE}/SearchDocuments", request, response, wire_documents.found), timeout_seconds)

    def list_document_namespaces(
        self,
        user_id: str,
        *,
        prefix: Sequence[str] = (),
        suffix: Sequence[str] = (),
        max_depth: int = 0,
        page_size: int = PAGE_SIZE_MAX,
        timeout_seconds: float | None = None,
    ) -> Iterator[tuple[str, ...]]:
        """Namespaces that hold documents, in their order; pages are fetched as they are needed.

        Args:
            user_id: Whose.
            prefix: Only those that begin with these labels; "*" stands for any one label.
            suffix: Only those that end with these labels; "*" stands for any one label.
            max_depth: Longer ones are cut to this many labels, each returned once; 0 cuts none.
            page_size: How many each call fetches.
            timeout_seconds: Deadline of each call.
        """
        request = documents_pb2.ListDocumentNamespacesRequest(
            user_id=user_id, prefix=prefix, suffix=suffix, max_depth=max_depth, page_size=page_size
        )
        read = read_page("namespaces", wire_documents.namespace)
        response = documents_pb2.ListDocumentNamespacesResponse
        return self._pages(Call(f"{_SERVICE}/ListDocumentNamespaces", request, response, read), timeout_seconds)
