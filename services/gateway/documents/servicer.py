"""The gRPC edge of documents."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from datetime import datetime
from typing import Final

from google.protobuf.message import Message

from mneme.gateway.v1 import documents_pb2 as pb
from mneme.gateway.v1 import documents_pb2_grpc
from services.common.auth import Principal, Role, current_principal
from services.common.paging import Cursor, PageTokens
from services.common.rpc.interceptors.base import Context
from services.common.rpc.server import ServiceBinding
from services.gateway.documents import convert
from services.gateway.documents.config import DocumentSettings
from services.gateway.documents.model import DocumentName, Namespace, Position
from services.gateway.documents.requests import DocumentRequestReader
from services.gateway.documents.service import Documents
from services.gateway.journal.model import Caller

SERVICE_NAME: Final = pb.DESCRIPTOR.services_by_name["DocumentService"].full_name

ROLES: Final[Mapping[str, Role]] = {
    "WriteDocuments": Role.WRITER,
    "BatchGetDocuments": Role.READER,
    "ListDocuments": Role.READER,
    "SearchDocuments": Role.READER,
    "ListDocumentNamespaces": Role.READER,
}
"""The role that each method needs, by its name."""


class DocumentServicer(documents_pb2_grpc.DocumentServiceServicer):
    """Implements DocumentService."""

    def __init__(
        self, documents: Documents, reader: DocumentRequestReader, pages: PageTokens, settings: DocumentSettings
    ) -> None:
        """Serves `documents`."""
        self._documents = documents
        self._reader = reader
        self._pages = pages
        self._bytes_max = settings.page_bytes_max

    async def WriteDocuments(self, request: pb.WriteDocumentsRequest, context: Context) -> pb.WriteDocumentsResponse:
        """See the proto."""
        command, principal = self._reader.write(request), current_principal()
        caller = Caller(principal.tenant_id, principal.principal_id)
        return convert.written_response(await self._documents.write(caller, command))

    async def BatchGetDocuments(
        self, request: pb.BatchGetDocumentsRequest, context: Context
    ) -> pb.BatchGetDocumentsResponse:
        """See the proto."""
        owner, names = self._reader.names(request, current_principal())
        found = await self._documents.get(owner, names, extend_ttl=request.extend_ttl)
        return convert.found_response(found, bytes_max=self._bytes_max)

    async def ListDocuments(self, request: pb.ListDocumentsRequest, context: Context) -> pb.ListDocumentsResponse:
        """See the proto."""
        caller = current_principal()
        query, size = self._reader.list_query(request, caller)
        after = _position_of(self._cursor(request, caller))
        page = await self._documents.list_documents(query, after=after, page_size=size)
        messages, behind = convert.page_of(page, bytes_max=self._bytes_max)
        cursor = None if behind is None else _cursor_of(behind)
        return pb.ListDocumentsResponse(documents=messages, next_page_token=self._token(cursor, request, caller))

    async def SearchDocuments(self, request: pb.SearchDocumentsRequest, context: Context) -> pb.SearchDocumentsResponse:
        """See the proto."""
        searched = await self._documents.search(self._reader.search(request, current_principal()))
        return convert.search_response(searched, bytes_max=self._bytes_max)

    async def ListDocumentNamespaces(
        self, request: pb.ListDocumentNamespacesRequest, context: Context
    ) -> pb.ListDocumentNamespacesResponse:
        """See the proto."""
        caller = current_principal()
        owner, prefix, suffix, size = self._reader.namespaces(request, caller)
        cursor = self._cursor(request, caller)
        page, last = await self._documents.list_namespaces(
            owner,
            prefix=prefix,
            suffix=suffix,
            depth_max=request.max_depth,
            after=None if cursor is None else _namespace_of(cursor),
            page_size=size,
        )
        behind = None if last is None else (json.dumps(last),)
        return pb.ListDocumentNamespacesResponse(
            namespaces=[pb.DocumentNamespace(labels=labels) for labels in page],
            next_page_token=self._token(behind, request, caller),
        )

    def _cursor(
        self, request: pb.ListDocumentsRequest | pb.ListDocumentNamespacesRequest, caller: Principal
    ) -> Cursor | None:
        return self._pages.decode(request.page_token, tenant_id=caller.tenant_id, query=_query(request))

    def _token(self, cursor: Cursor | None, request: Message, caller: Principal) -> str:
        return self._pages.next_token(cursor, tenant_id=caller.tenant_id, query=_query(request))


def document_binding(servicer: DocumentServicer) -> ServiceBinding:
    """The service, for a server."""
    return ServiceBinding(SERVICE_NAME, documents_pb2_grpc.add_DocumentServiceServicer_to_server, servicer, ROLES)


def _query(request: Message) -> Cursor:
    """What must be the same for the next page."""
    query = type(request)()
    query.CopyFrom(request)
    for name in ("page_token", "page_size", "extend_ttl"):
        if name in query.DESCRIPTOR.fields_by_name:
            query.ClearField(name)
    return (query.DESCRIPTOR.name, hashlib.sha256(query.SerializeToString(deterministic=True)).hexdigest())


def _cursor_of(position: Position) -> Cursor:
    name, time = position.name, position.update_time
    return (json.dumps(name.namespace), name.key, "" if time is None else time.isoformat())


def _position_of(cursor: Cursor | None) -> Position | None:
    """A position; tokens of gateways that knew one order alone have no time."""
    if cursor is None:
        return None
    time = str(cursor[2]) if len(cursor) > 2 else ""
    return Position(DocumentName(_namespace_of(cursor), str(cursor[1])), datetime.fromisoformat(time) if time else None)


def _namespace_of(cursor: Cursor) -> Namespace:
    return tuple(json.loads(str(cursor[0])))
