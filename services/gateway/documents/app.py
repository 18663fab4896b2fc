"""Composes the service of documents."""

from __future__ import annotations

from services.common.background import BackgroundWork
from services.common.clock import Clock
from services.common.embedding.embedder import Embedder
from services.common.encryption.postgres import DataKeys
from services.common.ids import IdSource
from services.common.paging import PageTokens
from services.common.postgres.types import Pool
from services.common.rpc.server import ServiceBinding
from services.common.tier_embedder import TierEmbedder
from services.gateway.documents.config import DocumentSettings
from services.gateway.documents.requests import DocumentRequestReader
from services.gateway.documents.service import Documents
from services.gateway.documents.servicer import DocumentServicer, document_binding
from services.gateway.documents.stores.postgres import PostgresDocuments


def open_documents(
    pool: Pool,
    keys: DataKeys,
    embedder: Embedder,
    clock: Clock,
    ids: IdSource,
    pages: PageTokens,
    settings: DocumentSettings,
    background: BackgroundWork[str],
    *,
    id_chars_max: int,
) -> ServiceBinding:
    """The service, for a server. Expired documents are removed until `background` is closed.

    Args:
        pool: Of the journal's database.
        keys: The journal's data keys.
        embedder: Makes the vectors of search texts and queries.
        clock: The time.
        ids: Etags.
        pages: Signs page tokens.
        settings: Bounds.
        background: What runs while the gateway is open.
        id_chars_max: Length of user ids and request ids.
    """
    store = PostgresDocuments(pool, clock=clock, ids=ids, settings=settings, keys=keys)
    documents = Documents(store, TierEmbedder(embedder), clock, settings)
    documents.start(background)
    reader = DocumentRequestReader(settings, id_chars_max=id_chars_max)
    return document_binding(DocumentServicer(documents, reader, pages, settings))
