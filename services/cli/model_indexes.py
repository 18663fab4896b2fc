"""The indexes of episodes by their embedding models, for `mneme model`."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from services.common.embedding.embedder import Embedder
from services.common.errors import FailedPrecondition
from services.episodic.config import QdrantSettings
from services.episodic.stores.edge_shard import known_shards, remove_shard, removed_shards, shard_folder
from services.episodic.stores.qdrant_collection import collection_name, known_collections
from services.episodic.stores.qdrant_connection import QdrantConnection


@dataclass(frozen=True, slots=True)
class ModelIndex:
    """An index of episodes."""

    name: str  # of its folder or its collection, which begins with the dimension and the model
    is_in_use: bool


async def shards(qdrant_folder: Path, embedder: Embedder) -> Sequence[ModelIndex]:
    """The indexes of the embedded engine below a folder; the one of `embedder` is in use.

    Raises:
        FailedPrecondition: There is none of this model: another one may be in use.
    """
    own = shard_folder(qdrant_folder, model=embedder.fingerprint, dimension=embedder.dimension)
    known = await asyncio.to_thread(known_shards, qdrant_folder)
    names = [folder.name for folder, _ in known.values()]
    names += await asyncio.to_thread(removed_shards, qdrant_folder)
    return _checked(names, own.name)


async def remove_shards(qdrant_folder: Path, indexes: Sequence[ModelIndex]) -> None:
    """Removes those of the indexes that are not in use. May be interrupted and repeated.

    Raises:
        DataDirLocked: A service has one of them open.
        OSError: A file cannot be removed.
    """
    for index in indexes:
        if not index.is_in_use:
            await asyncio.to_thread(remove_shard, qdrant_folder / index.name)


async def collections(
    connection: QdrantConnection, settings: QdrantSettings, embedder: Embedder
) -> Sequence[ModelIndex]:
    """The indexes on a Qdrant server; the one of `embedder` is in use.

    Raises:
        FailedPrecondition: There is none of this model: another one may be in use.
        StoreUnavailable: The server cannot be asked.
    """
    own = collection_name(settings.collection_prefix, model=embedder.fingerprint, dimension=embedder.dimension)
    known = await known_collections(connection, settings=settings)
    return _checked([collection.name for collection, _ in known.values()], own)


async def remove_collections(connection: QdrantConnection, indexes: Sequence[ModelIndex]) -> None:
    """Removes those of the indexes that are not in use. May be interrupted and repeated.

    Raises:
        StoreUnavailable: The server cannot be asked.
    """
    for index in indexes:
        if not index.is_in_use:
            await connection.prepare(lambda client, name=index.name: client.delete_collection(name))  # type: ignore[misc]


def _checked(names: Sequence[str], own: str) -> Sequence[ModelIndex]:
    if own not in names:
        raise FailedPrecondition(
            f"there is no index {own} of the configured model: is MNEME_EMBEDDING_MODEL_DIR that of the services?"
        )
    return [ModelIndex(name, name == own) for name in sorted(names)]
