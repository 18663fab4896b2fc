"""From the requests of DocumentService to commands: checks every field and names the wrong ones."""

from __future__ import annotations

from collections.abc import Sequence

from google.protobuf.duration_pb2 import Duration

from mneme.gateway.v1 import documents_pb2 as pb
from services.common.auth import Principal
from services.common.errors import Reason
from services.common.idempotency.requests import request_digest
from services.common.owners import Owner, TenantId, UserId
from services.common.validation import Violations
from services.gateway.documents.config import DocumentSettings
from services.gateway.documents.model import (
    Comparison,
    DocumentFilter,
    DocumentName,
    DocumentWrite,
    Namespace,
    WriteDocuments,
    depth,
    parsed_json,
)
from services.gateway.documents.service import DocumentQuery, DocumentSearch


class DocumentRequestReader:
    """Reads requests; raises `InvalidArgument` with all that is wrong in one."""

    def __init__(self, settings: DocumentSettings, *, id_chars_max: int) -> None:
        """Checks against these limits."""
        self._settings = settings
        self._id_chars_max = id_chars_max

    def write(self, request: pb.WriteDocumentsRequest) -> WriteDocuments:
        """The writes."""
        v, chosen = Violations(), self._settings
        v.identifier("request_id", request.request_id, chars_max=self._id_chars_max)
        self._user(v, request.user_id)
        v.count("writes", len(request.writes), count_min=1, count_max=chosen.batch_max)
        writes = [self._write(v, f"writes[{i}]", write) for i, write in enumerate(request.writes[: chosen.batch_max])]
        seen: set[DocumentName] = set()
        for i, write in enumerate(writes):
            if write.name in seen:
                v.add(f"writes[{i}].name", "is written twice")
            seen.add(write.name)
        v.raise_if_any()
        return WriteDocuments(request.request_id, request.user_id, request_digest(request), tuple(writes))

    def names(self, request: pb.BatchGetDocumentsRequest, caller: Principal) -> tuple[Owner, list[DocumentName]]:
        """Whose documents, and which, each once."""
        v, batch_max = Violations(), self._settings.batch_max
        self._user(v, request.user_id)
        v.count("names", len(request.names), count_min=1, count_max=batch_max)
        names = [self._name(v, f"names[{i}]", name) for i, name in enumerate(request.names[:batch_max])]
        v.raise_if_any()
        return _owner(request.user_id, caller), list(dict.fromkeys(names))

    def list_query(self, request: pb.ListDocumentsRequest, caller: Principal) -> tuple[DocumentQuery, int]:
        """What is listed, and the page size."""
        v, chosen = Violations(), self._settings
        self._user(v, request.user_id)
        prefix = self._labels(v, "namespace_prefix", request.namespace_prefix)
        v.identifier("key_prefix", request.key_prefix, chars_max=chosen.key_chars_max, required=False)
        filters = self._filters(v, request.filters)
        size = v.page_size(request.page_size, default=chosen.page_size_default, maximum=chosen.page_size_max)
        v.raise_if_any()
        owner = _owner(request.user_id, caller)
        query = DocumentQuery(
            owner, prefix, request.key_prefix, filters, request.extend_ttl, latest_first=request.latest_first
        )
        return query, size

    def search(self, request: pb.SearchDocumentsRequest, caller: Principal) -> DocumentSearch:
        """What is searched for."""
        v, chosen = Violations(), self._settings
        self._user(v, request.user_id)
        v.text("query", request.query, chars_max=chosen.search_text_chars_max)
        prefix = self._labels(v, "namespace_prefix", request.namespace_prefix)
        filters = self._filters(v, request.filters)
        v.number("limit", request.limit, low=0, high=chosen.limit_max)
        v.raise_if_any()
        limit = request.limit or chosen.limit_default
        owner = _owner(request.user_id, caller)
        return DocumentSearch(owner, request.query, limit, prefix, filters, request.extend_ttl)

    def namespaces(
        self, request: pb.ListDocumentNamespacesRequest, caller: Principal
    ) -> tuple[Owner, Namespace, Namespace, int]:
        """Whose namespaces, what they begin and end with, and the page size."""
        v, chosen = Violations(), self._settings
        self._user(v, request.user_id)
        prefix = self._labels(v, "prefix", request.prefix)
        suffix = self._labels(v, "suffix", request.suffix)
        if request.max_depth < 0:
            v.add("max_depth", "must not be negative")
        size = v.page_size(request.page_size, default=chosen.page_size_default, maximum=chosen.page_size_max)
        v.raise_if_any()
        return _owner(request.user_id, caller), prefix, suffix, size

    def _user(self, v: Violations, user_id: str) -> None:
        v.identifier("user_id", user_id, chars_max=self._id_chars_max)

    def _write(self, v: Violations, path: str, write: pb.DocumentWrite) -> DocumentWrite:
        name = self._name(v, f"{path}.name", write.name)
        v.text(f"{path}.etag", write.etag, chars_max=self._id_chars_max, required=False)
        action = write.WhichOneof("action")
        if action is None:
            v.add(path, "needs put or delete")
        if action != "put":
            return DocumentWrite(name=name, etag=write.etag)
        put, chosen = write.put, self._settings
        self._value(v, f"{path}.put.value", put.value)
        v.count(f"{path}.put.search_texts", len(put.search_texts), count_max=chosen.search_texts_max)
        for i, text in enumerate(put.search_texts[: chosen.search_texts_max]):
            v.text(f"{path}.put.search_texts[{i}]", text, chars_max=chosen.search_text_chars_max)
        if put.must_be_new and write.etag:
            v.add(f"{path}.etag", "cannot be asked of a new document")
        ttl = self._ttl(v, f"{path}.put.ttl", put.ttl) if put.HasField("ttl") else None
        return DocumentWrite(
            name=name,
            value=put.value,
            search_texts=tuple(put.search_texts),
            ttl_seconds=ttl,
            must_be_new=put.must_be_new,
            etag=write.etag,
        )

    def _value(self, v: Violations, path: str, text: str) -> None:
        chosen = self._settings
        size = len(text.encode("utf-8"))
        if size > chosen.value_bytes_max:
            facts = {"limit": str(chosen.value_bytes_max), "actual": str(size)}
            description = f"has {size} bytes, at most {chosen.value_bytes_max} are allowed"
            v.add(path, description, reason=Reason.TEXT_TOO_LONG, facts=facts)
            return
        try:
            levels = depth(parsed_json(text))
        except ValueError:
            v.add(path, "is not JSON" if text else "is required")
            return
        if levels > chosen.value_depth_max:
            v.add(path, f"is nested {levels} deep, at most {chosen.value_depth_max} are allowed")

    def _ttl(self, v: Violations, path: str, ttl: Duration) -> float:
        seconds = ttl.seconds + ttl.nanos / 1e9
        v.number(path, seconds, low=self._settings.ttl_seconds_min, high=self._settings.ttl_seconds_max, unit="s")
        return seconds

    def _name(self, v: Violations, path: str, name: pb.DocumentName) -> DocumentName:
        chosen = self._settings
        if not name.namespace:
            v.add(f"{path}.namespace", "is required")
        namespace = self._labels(v, f"{path}.namespace", name.namespace)
        v.identifier(f"{path}.key", name.key, chars_max=chosen.key_chars_max)
        size = len(name.key.encode("utf-8")) + sum(len(label.encode("utf-8")) for label in namespace)
        if size > chosen.name_bytes_max:
            facts = {"limit": str(chosen.name_bytes_max), "actual": str(size)}
            description = f"has {size} bytes, at most {chosen.name_bytes_max} are allowed"
            v.add(path, description, reason=Reason.TEXT_TOO_LONG, facts=facts)
        return DocumentName(namespace, name.key)

    def _labels(self, v: Violations, path: str, labels: Sequence[str]) -> Namespace:
        chosen = self._settings
        v.count(path, len(labels), count_max=chosen.labels_max)
        for i, label in enumerate(labels[: chosen.labels_max]):
            v.identifier(f"{path}[{i}]", label, chars_max=chosen.label_chars_max)
        return tuple(labels)

    def _filters(self, v: Violations, filters: Sequence[pb.DocumentFilter]) -> tuple[DocumentFilter, ...]:
        chosen = self._settings
        v.count("filters", len(filters), count_max=chosen.filters_max)
        read = [self._filter(v, f"filters[{i}]", one) for i, one in enumerate(filters[: chosen.filters_max])]
        return tuple(one for one in read if one is not None)

    def _filter(self, v: Violations, path: str, one: pb.DocumentFilter) -> DocumentFilter | None:
        chosen = self._settings
        v.count(f"{path}.path", len(one.path), count_min=1, count_max=chosen.labels_max)
        for i, name in enumerate(one.path[: chosen.labels_max]):
            if len(name) > chosen.key_chars_max:
                v.add(f"{path}.path[{i}]", f"has more than {chosen.key_chars_max} characters")
        is_known = v.enum(f"{path}.comparison", one.comparison, Comparison)
        if not v.text(f"{path}.value", one.value, chars_max=chosen.filter_chars_max):
            return None
        try:
            value = parsed_json(one.value)
        except ValueError:
            v.add(f"{path}.value", "is not JSON")
            return None
        return DocumentFilter(tuple(one.path), Comparison(one.comparison), value) if is_known else None


def _owner(user_id: str, caller: Principal) -> Owner:
    return Owner(TenantId(caller.tenant_id), UserId(user_id))
