"""Opens the indexes of the tier: one, or one for each model while the model is being changed."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

from services.common.cache import OwnerCache
from services.common.disk import DiskWatch
from services.common.embedding.embedder import Embedder
from services.episodic.config import EpisodicSettings, QdrantServer
from services.episodic.second_index import PairedEpisodeIndex
from services.episodic.store import EpisodeIndex
from services.episodic.stores.edge import EdgeEpisodeIndex


class IndexResources(Protocol):
    """What indexes need."""

    @property
    def embedder(self) -> Embedder:
        """Of the first model."""
        ...

    @property
    def second_embedder(self) -> Embedder | None:
        """Of the second one."""
        ...

    @property
    def cache(self) -> OwnerCache:
        """The process's."""
        ...

    @property
    def disk(self) -> DiskWatch | None:
        """Watches the disk of the embedded index."""
        ...


async def open_indexes(
    stack: contextlib.AsyncExitStack,
    folder: Path,
    server: QdrantServer | None,
    resources: IndexResources,
    settings: EpisodicSettings,
) -> Mapping[str, EpisodeIndex]:
    """The index that each model is to search, by its fingerprint. Of two, each writes to the other one as well.

    Args:
        stack: Closes them.
        folder: Of the embedded engine.
        server: Used instead where there is one.
        resources: The models, the first of which has the process's cache.
        settings: Of the tier.

    Raises:
        ValueError: The second model is the first one.
    """
    embedder, second = resources.embedder, resources.second_embedder
    if second is not None and second.fingerprint == embedder.fingerprint:
        raise ValueError("MNEME_EMBEDDING_SECOND_MODEL_DIR holds the model that is in use already")
    index = await _open_index(folder, server, resources.disk, settings, embedder, resources.cache)
    stack.push_async_callback(index.aclose)
    if second is None:
        return {embedder.fingerprint: index}
    # With a cache of its own: entries of the process's are named by their users.
    beside = await _open_index(folder, server, resources.disk, settings, second, OwnerCache())
    stack.push_async_callback(beside.aclose)
    return {
        embedder.fingerprint: PairedEpisodeIndex(index, beside, second),
        second.fingerprint: PairedEpisodeIndex(beside, index, embedder),
    }


async def _open_index(
    folder: Path,
    server: QdrantServer | None,
    disk: DiskWatch | None,
    settings: EpisodicSettings,
    embedder: Embedder,
    cache: OwnerCache,
) -> EpisodeIndex:
    model, dimension = embedder.fingerprint, embedder.dimension
    if server is None:
        return await EdgeEpisodeIndex.open(
            folder,
            model=model,
            dimension=dimension,
            text=settings.text,
            settings=settings.edge,
            cache=cache,
            disk=disk,
        )
    # Imported here: half a second that only the server's users pay.
    from services.episodic.stores.qdrant import QdrantEpisodeIndex
    from services.episodic.stores.qdrant_connection import create_qdrant_client

    client = create_qdrant_client(server, settings.qdrant)
    return await QdrantEpisodeIndex.open(
        client, model=model, dimension=dimension, text=settings.text, settings=settings.qdrant
    )
