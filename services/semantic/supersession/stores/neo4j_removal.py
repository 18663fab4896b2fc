"""Removal of statements and supersessions on Neo4j: those of some turns at once, all of a user page by page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, LiteralString

from services.common.idempotency.neo4j import Neo4jIdempotencyRecords
from services.common.neo4j.graph import Graph, GraphTransaction, Record
from services.common.owners import InteractionId, Owner
from services.semantic.stores.neo4j import IDEMPOTENCY
from services.semantic.supersession.stores.neo4j_queries import (
    CHANGED,
    LOCK,
    REMOVE,
    REMOVE_ASSERTIONS,
    REMOVE_ASSERTIONS_OF_OWNER,
    REMOVE_KEYS_OF_OWNER,
    REMOVE_OF_OWNER,
)


async def remove_sources(graph: Graph, owner: Owner, interaction_ids: Sequence[InteractionId]) -> int:
    """Removes what turns stated, in one transaction; how many supersessions are gone."""
    named = {**_key(owner), "interaction_ids": list(interaction_ids)}

    async def work(transaction: GraphTransaction) -> int:
        await transaction.run(LOCK, _key(owner))
        await transaction.run(REMOVE_ASSERTIONS, named)
        return await _forget(transaction, owner, await transaction.run(REMOVE, named))

    return await graph.write(work)


async def remove_owner(graph: Graph, owner: Owner, *, limit: int) -> int:
    """Removes everything of a user, in transactions of at most `limit` nodes; how many supersessions are gone.

    What was removed stays removed when a later transaction fails or the caller's time ends: a repeat removes the rest,
    and counts it alone.
    """
    await _remove_pages(graph, owner, REMOVE_ASSERTIONS_OF_OWNER, limit)
    await _remove_pages(graph, owner, REMOVE_KEYS_OF_OWNER, limit)
    # Last, so that those go too that a write found between two pages.
    gone = page = await _remove_supersessions(graph, owner, limit)
    while page == limit:
        page = await _remove_supersessions(graph, owner, limit)
        gone += page
    return gone


async def _remove_pages(graph: Graph, owner: Owner, query: LiteralString, limit: int) -> None:
    async def work(transaction: GraphTransaction) -> int:
        await transaction.run(LOCK, _key(owner))
        [row] = await transaction.run(query, {**_key(owner), "limit": limit})
        return int(row["removed"])

    while await graph.write(work) == limit:
        pass


async def _remove_supersessions(graph: Graph, owner: Owner, limit: int) -> int:
    async def work(transaction: GraphTransaction) -> int:
        await transaction.run(LOCK, _key(owner))
        removed = await transaction.run(REMOVE_OF_OWNER, {**_key(owner), "limit": limit})
        return await _forget(transaction, owner, removed)

    return await graph.write(work)


async def _forget(transaction: GraphTransaction, owner: Owner, removed: Sequence[Record]) -> int:
    """Erases responses about removed supersessions, and marks that callers cached; how many were removed."""
    gone = [row["supersession_id"] for row in removed]
    if gone:
        await Neo4jIdempotencyRecords(transaction, owner.tenant_id, IDEMPOTENCY).erase(owner.user_id, gone)
        await transaction.run(CHANGED, _key(owner))
    return len(gone)


def _key(owner: Owner) -> dict[str, Any]:
    return {"tenant_id": owner.tenant_id, "user_id": owner.user_id}
