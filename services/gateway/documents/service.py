"""Use cases of documents."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta

import numpy as np

from services.common.background import BackgroundWork, every
from services.common.clock import Clock
from services.common.embedding.vectors import Vector
from services.common.owners import Owner
from services.common.tier_embedder import TierEmbedder
from services.gateway.documents.config import DocumentSettings
from services.gateway.documents.model import (
    ANY_LABEL,
    Document,
    DocumentFilter,
    DocumentName,
    DocumentWrite,
    Namespace,
    Position,
    Vectors,
    WriteDocuments,
    Written,
    meets,
    namespace_matches,
)
from services.gateway.documents.ranking import nearest
from services.gateway.documents.store import DocumentStore, Found
from services.gateway.journal.model import Caller

_SCANNED_AT_ONCE = 100
"""Documents that filters read together."""


@dataclass(frozen=True, slots=True)
class DocumentQuery:
    """Which documents a list holds."""

    owner: Owner
    prefix: Namespace = ()
    key_prefix: str = ""
    filters: tuple[DocumentFilter, ...] = ()
    extend_ttl: bool = False
    latest_first: bool = False  # those written last, ties in the order of their names


@dataclass(frozen=True, slots=True)
class DocumentSearch:
    """What is searched for."""

    owner: Owner
    query: str
    limit: int
    prefix: Namespace = ()
    filters: tuple[DocumentFilter, ...] = ()
    extend_ttl: bool = False


@dataclass(frozen=True, slots=True)
class DocumentPage:
    """A page of a list."""

    documents: Sequence[Document]
    behind: Position | None  # of the last document looked at, where the next page goes on; None on the last page


@dataclass(frozen=True, slots=True)
class SearchedDocuments:
    """The documents that a search found."""

    documents: Sequence[tuple[Document, float]]  # with their cosines, the nearest first
    unsearched_count: int  # documents with search texts that have no vector of the present model yet


class Documents:
    """Documents of all users. Arguments have been checked for form by the edge."""

    def __init__(self, store: DocumentStore, embedder: TierEmbedder, clock: Clock, settings: DocumentSettings) -> None:
        """Stores in `store`; search texts are embedded by `embedder`, whose owner closes it."""
        self._store = store
        self._embedder = embedder
        self._clock = clock
        self._settings = settings

    def start(self, background: BackgroundWork[str]) -> None:
        """Removes what has expired until `background` is closed."""
        work = every(self._settings.expiry_seconds, self.remove_expired)
        background.keep_running("remove-expired-documents", work)

    async def write(self, caller: Caller, command: WriteDocuments) -> Written:
        """See `DocumentStore.write`.

        Raises:
            StoreUnavailable: The model is busy, closed or failed.
        """
        embedder = self._embedder.pinned
        vectors = await self._embedded(embedder, command.writes)
        return await self._store.write(caller, command, vectors, embedder.model_id)

    async def get(self, owner: Owner, names: Sequence[DocumentName], *, extend_ttl: bool) -> Found:
        """See `DocumentStore.get`."""
        found = await self._store.get(owner, names)
        return replace(found, documents=await self._extended(owner, found.documents, is_wanted=extend_ttl))

    async def list_documents(self, query: DocumentQuery, *, after: Position | None, page_size: int) -> DocumentPage:
        """Documents in order. Filters may leave a page short, or empty, although more follow."""
        found: list[Document] = []
        scanned = scanned_bytes = 0
        chosen = self._settings
        while True:
            wanted = page_size + 1 - len(found)
            listed = await self._store.list_documents(
                query.owner,
                query.prefix,
                key_prefix=query.key_prefix,
                after=after,
                limit=_SCANNED_AT_ONCE if query.filters else wanted,
                latest_first=query.latest_first,
            )
            for document in listed.documents:
                if meets(document, query.filters):
                    if len(found) == page_size:
                        return await self._page(query, found, Position.of(found[-1]))
                    found.append(document)
                after = Position.of(document)
                scanned += 1
                scanned_bytes += len(document.value)
            if listed.is_last:
                return await self._page(query, found, None)
            if scanned >= chosen.scanned_max or scanned_bytes >= chosen.page_bytes_max:
                return await self._page(query, found, after)

    async def list_namespaces(
        self,
        owner: Owner,
        *,
        prefix: Namespace,
        suffix: Namespace,
        depth_max: int,
        after: Namespace | None,
        page_size: int,
    ) -> tuple[Sequence[Namespace], Namespace | None]:
        """Namespaces with documents, cut to `depth_max` labels where it is not 0, and where the next page begins."""
        fixed = prefix[: next((i for i, label in enumerate(prefix) if label == ANY_LABEL), len(prefix))]
        found = dict.fromkeys(
            namespace[: depth_max or None]
            for namespace in await self._store.list_namespaces(owner, fixed)
            if namespace_matches(namespace, prefix=prefix, suffix=suffix)
        )
        behind = [namespace for namespace in sorted(found) if after is None or namespace > after]
        page = behind[:page_size]
        return page, page[-1] if len(behind) > page_size else None

    async def search(self, search: DocumentSearch) -> SearchedDocuments:
        """The documents nearest in meaning.

        Raises:
            StoreUnavailable: The model is busy, closed or failed.
        """
        owner, embedder = search.owner, self._embedder.pinned
        question, entries = await asyncio.gather(
            embedder.embed_query(search.query),
            self._store.list_vectors(owner, search.prefix, model=embedder.model_id),
        )
        entries, unsearched = await self._complete(embedder, owner, entries)
        ranked = await asyncio.to_thread(nearest, entries, question)
        found = await self._take(search, ranked)
        documents = await self._extended(owner, [document for document, _ in found], is_wanted=search.extend_ttl)
        scores = [score for _, score in found]
        return SearchedDocuments(list(zip(documents, scores, strict=True)), unsearched)

    async def remove_expired(self) -> None:
        """Removes the documents of all tenants that have expired."""
        limit = self._settings.expiry_rows_max
        while await self._store.remove_expired(limit=limit) == limit:
            pass

    async def _take(
        self, search: DocumentSearch, ranked: Sequence[tuple[DocumentName, float]]
    ) -> list[tuple[Document, float]]:
        """The first of a ranking that meet the filters, as far as these look."""
        scores, names = dict(ranked), [name for name, _ in ranked[: self._settings.scanned_max]]
        found: list[tuple[Document, float]] = []
        scanned_bytes = 0
        while names and len(found) < search.limit and scanned_bytes < self._settings.page_bytes_max:
            count = _SCANNED_AT_ONCE if search.filters else search.limit - len(found)
            read = await self._store.get(search.owner, names[:count])
            scanned_bytes += sum(len(document.value) for document in read.documents)
            found += [(one, scores[one.name]) for one in read.documents if meets(one, search.filters)]
            names = [*read.unread, *names[count:]]
        return found[: search.limit]

    async def _complete(
        self, embedder: TierEmbedder, owner: Owner, entries: Sequence[Vectors]
    ) -> tuple[Sequence[Vectors], int]:
        """The entries that have vectors, some of the others embedded, and how many have none still.

        Vectors are missing after an import, and after a change of the model.
        """
        missing = [entry.name for entry in entries if entry.vectors is None]
        if not missing:
            return entries, 0
        read = await self._store.get(owner, missing[: self._settings.embedded_max])
        made = {one.name: one for one in await self._embedded(embedder, read.documents)}
        await self._store.put_vectors(owner, list(made.values()), model=embedder.model_id)
        complete = [made.get(entry.name, entry) for entry in entries]
        with_vectors = [entry for entry in complete if entry.vectors is not None]
        return with_vectors, len(complete) - len(with_vectors)

    async def _embedded(self, embedder: TierEmbedder, documents: Sequence[Document | DocumentWrite]) -> list[Vectors]:
        """The vectors of the documents that have search texts."""
        searched = [document for document in documents if document.search_texts]
        texts = [text for document in searched for text in document.search_texts]
        if not texts:
            return []
        matrix = await embedder.embed(texts)
        ends = np.cumsum([len(document.search_texts) for document in searched])
        parts: list[Vector] = [part.reshape(-1) for part in np.split(matrix, ends[:-1])]
        return [Vectors(one.name, one.etag, part) for one, part in zip(searched, parts, strict=True)]

    async def _page(self, query: DocumentQuery, found: Sequence[Document], behind: Position | None) -> DocumentPage:
        return DocumentPage(await self._extended(query.owner, found, is_wanted=query.extend_ttl), behind)

    async def _extended(self, owner: Owner, documents: Sequence[Document], *, is_wanted: bool) -> Sequence[Document]:
        """The documents, their time to live begun anew where that is wanted."""
        living = [document.name for document in documents if document.ttl_seconds is not None]
        if not is_wanted or not living:
            return documents
        await self._store.extend(owner, living)
        now = self._clock.now()
        return [
            document
            if document.ttl_seconds is None
            else replace(document, expire_time=now + timedelta(seconds=document.ttl_seconds))
            for document in documents
        ]
