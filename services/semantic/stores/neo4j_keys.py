"""Data keys of the tier's users in Neo4j."""

from __future__ import annotations

from typing import Final, LiteralString

from services.common.encryption.neo4j import GraphDataKeys
from services.common.idempotency.neo4j import Neo4jIdempotencyRecords
from services.common.neo4j.graph import Graph, GraphTransaction
from services.common.owners import Owner, TenantId, UserId
from services.semantic.code.stores import neo4j as code
from services.semantic.facts.stores import neo4j_cypher as facts
from services.semantic.facts.stores import neo4j_merges as merges
from services.semantic.facts.stores import neo4j_supports as supports
from services.semantic.procedures.stores import neo4j as procedures
from services.semantic.profile.stores import neo4j as profiles
from services.semantic.stores.neo4j import IDEMPOTENCY
from services.semantic.stores.neo4j_sealing import DATA_KEYS
from services.semantic.supersession.stores import neo4j_queries as supersessions

LOCKS: Final[tuple[LiteralString, ...]] = (
    facts.LOCK_OWNER,
    supersessions.LOCK,
    profiles.LOCK_PROFILES,
    procedures.LOCK,
    code.LOCK_CODE,
)
"""Those that writers of encrypted content take before anything else."""

_REST: Final[tuple[LiteralString, ...]] = (
    facts.FORGET_RESULTS_OF_OWNER,
    facts.REMOVE_STATEMENTS_OF_OWNER,
    merges.REMOVE_OWNER,
    supports.REMOVE_OF_OWNER,
    facts.REMOVE_OWNER,
    supersessions.REMOVE_ASSERTIONS_OF_OWNER,
    supersessions.REMOVE_KEYS_OF_OWNER,
    supersessions.REMOVE_OF_OWNER,
    supersessions.CHANGED,
    profiles.DELETE_PROFILE,
    profiles.REMOVE_ALL,
    procedures.REMOVE_JUDGED,
    procedures.REMOVE,
    procedures.RAISE,
    code.REMOVE_REPOSITORIES,
    code.REMOVE_FILES,
)
ALL_QUERIES: Final[tuple[LiteralString, ...]] = (DATA_KEYS.delete, DATA_KEYS.users)
"""For the test that reads their plans."""
_NO_LIMIT: Final = 2**63 - 1
"""The largest number of Cypher."""


class Neo4jContentKeys:
    """Implements `ContentKeys` on the nodes of the tier's data keys."""

    def __init__(self, graph: Graph, keys: GraphDataKeys) -> None:
        """Uses a graph whose migrations ran; its owner closes it."""
        self._graph = graph
        self._keys = keys

    async def destroy(self, owner: Owner) -> int:
        """See `ContentKeys.destroy`. One transaction, which waits for the user's writers."""
        key = {"tenant_id": owner.tenant_id, "user_id": owner.user_id}
        # Of the queries that take some of a user's nodes: all of them.
        everything = {**key, "limit": _NO_LIMIT}

        async def work(transaction: GraphTransaction) -> int:
            for lock in LOCKS:
                await transaction.run(lock, {**key, "user_ids": [owner.user_id]})
            destroyed = await self._keys.destroy(transaction, owner)
            if destroyed:
                for query in _REST:
                    await transaction.run(query, everything)
                await Neo4jIdempotencyRecords(transaction, owner.tenant_id, IDEMPOTENCY).erase(owner.user_id)
            return destroyed

        return await self._graph.write(work)

    async def users(self, tenant_id: TenantId, *, after: UserId, limit: int) -> list[UserId]:
        """See `ContentKeys.users`. One query, by the index of the key."""
        parameters = {"tenant_id": tenant_id, "after": after, "limit": limit}
        return [UserId(row["user_id"]) for row in await self._graph.read(DATA_KEYS.users, parameters)]
