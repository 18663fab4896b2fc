"""Points of a collection on a Qdrant server in the order of their ids, whatever shards they are in."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from qdrant_client import models

from services.episodic.stores.points import id_behind
from services.episodic.stores.qdrant_collection import QdrantCollection
from services.episodic.stores.qdrant_connection import QdrantConnection


async def scroll(
    connection: QdrantConnection,
    collection: QdrantCollection,
    *,
    start: UUID,
    limit: int,
    payload: bool | Sequence[str] = True,
    vectors: bool = False,
) -> list[models.Record]:
    """Points from an id on, in the order of ids; fewer than `limit` only where there are no more.

    In as many calls as a server in strict mode asks for. A majority of replicas is read, so that one which was away
    hides nothing.

    Args:
        connection: To the server.
        collection: One that is ready.
        start: The first id that may come.
        limit: Points at most.
        payload: All of it, or fields of it.
        vectors: Whether they come too.

    Raises:
        StoreUnavailable: The server cannot be asked.
    """
    chosen = payload if isinstance(payload, bool) else list(payload)
    found: list[models.Record] = []
    first: UUID | None = start
    while first is not None and len(found) < limit:
        asked = min(limit - len(found), collection.query_limit_max)
        offset = str(first)
        points, _ = await connection.write(  # with the patience of a write: nobody waits for the response
            lambda client, offset=offset, asked=asked: client.scroll(  # type: ignore[misc]
                collection.name,
                offset=offset,
                limit=asked,
                with_payload=chosen,
                with_vectors=vectors,
                consistency=models.ReadConsistencyType.MAJORITY,
                timeout=collection.settings.write_timeout_seconds,
            ),
            operation="scroll",
            collection=collection.name,
        )
        found += points
        if len(points) < asked:
            break
        first = id_behind(UUID(str(points[-1].id)))
    return found
