"""From documents to the messages of DocumentService. Pure functions."""

from __future__ import annotations

from datetime import timedelta

from google.protobuf.duration_pb2 import Duration

from mneme.gateway.v1 import documents_pb2 as pb
from services.common.convert import timestamp
from services.common.paging import fitting
from services.gateway.documents.model import Document, DocumentName, Position, WriteResult, Written
from services.gateway.documents.service import DocumentPage, SearchedDocuments
from services.gateway.documents.store import Found


def written_response(written: Written) -> pb.WriteDocumentsResponse:
    """The acknowledgement of writes."""
    results = [_result(result) for result in written.results]
    return pb.WriteDocumentsResponse(results=results, replayed=written.replayed)


def found_response(found: Found, *, bytes_max: int) -> pb.BatchGetDocumentsResponse:
    """Documents by name, as many as fit."""
    messages = [document_message(document) for document in found.documents]
    count = fitting(messages, bytes_max=bytes_max)
    unread = [*(document.name for document in found.documents[count:]), *found.unread]
    return pb.BatchGetDocumentsResponse(documents=messages[:count], unread=map(_name, unread))


def page_of(page: DocumentPage, *, bytes_max: int) -> tuple[list[pb.Document], Position | None]:
    """The messages of a page, as many as fit, and the position after which the next page goes on."""
    messages = [document_message(document) for document in page.documents]
    count = fitting(messages, bytes_max=bytes_max)
    behind = page.behind if count == len(messages) else Position.of(page.documents[count - 1])
    return messages[:count], behind


def search_response(searched: SearchedDocuments, *, bytes_max: int) -> pb.SearchDocumentsResponse:
    """The nearest documents, as many as fit."""
    messages = [
        pb.FoundDocument(document=document_message(document), score=score) for document, score in searched.documents
    ]
    count = fitting(messages, bytes_max=bytes_max)
    return pb.SearchDocumentsResponse(documents=messages[:count], unsearched_count=searched.unsearched_count)


def document_message(document: Document) -> pb.Document:
    """A document."""
    return pb.Document(
        name=_name(document.name),
        value=document.value,
        search_texts=document.search_texts,
        etag=document.etag,
        create_time=timestamp(document.create_time),
        update_time=timestamp(document.update_time),
        ttl=None if document.ttl_seconds is None else _duration(document.ttl_seconds),
        expire_time=None if document.expire_time is None else timestamp(document.expire_time),
    )


def _result(result: WriteResult) -> pb.DocumentWriteResult:
    return pb.DocumentWriteResult(
        existed=result.existed,
        etag=result.etag or "",
        create_time=None if result.create_time is None else timestamp(result.create_time),
        update_time=None if result.update_time is None else timestamp(result.update_time),
    )


def _name(name: DocumentName) -> pb.DocumentName:
    return pb.DocumentName(namespace=name.namespace, key=name.key)


def _duration(seconds: float) -> Duration:
    span = timedelta(seconds=seconds)
    return Duration(seconds=span.days * 86_400 + span.seconds, nanos=span.microseconds * 1_000)
