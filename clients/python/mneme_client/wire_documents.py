"""Between documents and the messages of DocumentService. Pure functions."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from mneme.gateway.v1 import documents_pb2 as pb
from mneme_client import documents as r
from mneme_client import to_wire
from mneme_client.from_wire import duration, moment


def name(value: r.DocumentName) -> pb.DocumentName:
    """The name as a message."""
    return pb.DocumentName(namespace=value.namespace, key=value.key)


def write(value: r.PutDocument | r.DeleteDocument) -> pb.DocumentWrite:
    """The write as a message.

    Raises:
        TypeError, ValueError: The value is not JSON.
    """
    if isinstance(value, r.DeleteDocument):
        return pb.DocumentWrite(name=name(value.name), delete=pb.DeleteDocument(), etag=value.etag)
    put = pb.PutDocument(
        value=_json(value.value),
        search_texts=value.search_texts,
        ttl=to_wire.optional_duration(value.ttl),
        must_be_new=value.must_be_new,
    )
    return pb.DocumentWrite(name=name(value.name), put=put, etag=value.etag)


def filters(values: Iterable[r.DocumentFilter]) -> list[pb.DocumentFilter]:
    """The conditions as messages.

    Raises:
        TypeError, ValueError: A value is not JSON.
    """
    return [
        pb.DocumentFilter(path=one.path, comparison=to_wire.enum_number(one.comparison), value=_json(one.value))
        for one in values
    ]


def document(message: pb.Document) -> r.Document:
    """A document."""
    return r.Document(
        name=name_of(message.name),
        value=json.loads(message.value) if message.value else None,
        search_texts=tuple(message.search_texts),
        etag=message.etag,
        create_time=moment(message, "create_time"),
        update_time=moment(message, "update_time"),
        ttl=duration(message.ttl) if message.HasField("ttl") else None,
        expire_time=moment(message, "expire_time"),
    )


def name_of(message: pb.DocumentName) -> r.DocumentName:
    """A name."""
    return r.DocumentName(tuple(message.namespace), message.key)


def results(message: pb.WriteDocumentsResponse) -> tuple[r.DocumentWriteResult, ...]:
    """What became of writes, in their order."""
    return tuple(
        r.DocumentWriteResult(one.existed, one.etag, moment(one, "create_time"), moment(one, "update_time"))
        for one in message.results
    )


def found(message: pb.SearchDocumentsResponse) -> r.FoundDocuments:
    """What a search found."""
    documents = tuple(r.FoundDocument(document(one.document), one.score) for one in message.documents)
    return r.FoundDocuments(documents, message.unsearched_count)


def namespace(message: pb.DocumentNamespace) -> tuple[str, ...]:
    """The labels of a namespace."""
    return tuple(message.labels)


def _json(value: Any) -> str:
    # Not escaped more than needed: what is stored and counted is UTF-8. Lone surrogates cannot be sent but escaped.
    text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    try:
        text.encode()
    except UnicodeEncodeError:
        return json.dumps(value, allow_nan=False)
    return text
