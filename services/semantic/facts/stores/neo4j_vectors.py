"""Facts in Neo4j whose vectors are of a former embedding model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, LiteralString

from services.common.embedding.vectors import Matrix
from services.common.encryption.neo4j import NO_GRAPH_DATA_KEYS, GraphDataKeys, opened_in_graph
from services.common.maintenance.neo4j import check_graph_fence
from services.common.model_change import EmbeddedText
from services.common.neo4j.graph import Graph, GraphTransaction, Record
from services.common.neo4j.owners import BEHIND_ALL_IDS, page_of_owners
from services.common.owners import Owner, TenantId, UserId
from services.semantic.facts.stores.neo4j_cypher import LOCK_OWNER
from services.semantic.facts.stores.neo4j_records import graph_vector
from services.semantic.stores.neo4j_sealing import FACTS

# Users in the order of their key, each with whether there is a fact of another model.
OWNERS: Final[LiteralString] = f"""
CYPHER 25
{page_of_owners("MnemeFactOwner")}CALL (tenant_id, user_id) {{
    MATCH (f:MnemeFact {{tenant_id: tenant_id, user_id: user_id}})
    USING INDEX f:MnemeFact(tenant_id, user_id, fact_id)
    WHERE f.fact_id IS NOT NULL AND f.embedding_model <> $model
    WITH f LIMIT 1
    RETURN count(f) AS count
}}
RETURN tenant_id, user_id, count ORDER BY tenant_id, user_id
"""
COUNT: Final[LiteralString] = """
MATCH (f:MnemeFact) WHERE f.fact_id IS NOT NULL AND f.embedding_model <> $model
WITH f LIMIT $limit
RETURN count(f) AS count
"""
LACKS: Final[LiteralString] = """
MATCH (f:MnemeFact {tenant_id: $tenant_id, user_id: $user_id})
USING INDEX f:MnemeFact(tenant_id, user_id, fact_id)
WHERE f.fact_id IS NOT NULL AND f.embedding_model <> $model AND f.status < 3
WITH f LIMIT 1
RETURN count(f) AS count
"""
FORMER: Final[LiteralString] = """
MATCH (f:MnemeFact {tenant_id: $tenant_id, user_id: $user_id})
USING INDEX f:MnemeFact(tenant_id, user_id, fact_id)
WHERE f.fact_id < $before AND f.embedding_model <> $model
WITH f ORDER BY f.tenant_id DESC, f.user_id DESC, f.fact_id DESC LIMIT $limit
RETURN f.fact_id AS fact_id ORDER BY fact_id DESC
"""
TEXTS: Final[LiteralString] = """
UNWIND $fact_ids AS fact_id
MATCH (f:MnemeFact {tenant_id: $tenant_id, user_id: $user_id, fact_id: fact_id})
RETURN f.fact_id AS fact_id, f.revision AS revision, f.text AS text
"""
REPLACE: Final[LiteralString] = """
UNWIND $facts AS row
MATCH (f:MnemeFact {tenant_id: $tenant_id, user_id: $user_id, fact_id: row.fact_id})
WHERE f.revision = row.revision
SET f.embedding_model = $model
WITH f, row
CALL db.create.setNodeVectorProperty(f, 'embedding', row.vector)
RETURN f.fact_id AS fact_id
"""
OWNER_QUERIES: Final[tuple[LiteralString, ...]] = (LACKS, FORMER, TEXTS, REPLACE)
"""For the test that reads their plans."""


class Neo4jFactVectors:
    """Implements `FormerVectorStore`; see there for what each method guarantees."""

    keeps_two = False  # a fact has one vector, in one vector index

    def __init__(self, graph: Graph, *, keys: GraphDataKeys = NO_GRAPH_DATA_KEYS) -> None:
        """Uses a graph whose migrations ran; its owner closes it. Texts are decrypted by `keys`."""
        self._graph = graph
        self._keys = keys

    async def owners(self, *, model: str, after: Owner | None, limit: int) -> Sequence[Owner]:
        """See `FormerVectorStore.owners`."""
        last = {"tenant_id": "", "user_id": ""} if after is None else _key(after)
        # A page of users may have no such facts at all: the next one is read then.
        while True:
            rows = await self._graph.read(OWNERS, {**last, "model": model, "limit": limit})
            found = [Owner(TenantId(row["tenant_id"]), UserId(row["user_id"])) for row in rows if row["count"]]
            if found or len(rows) < limit:
                return found
            last = {"tenant_id": rows[-1]["tenant_id"], "user_id": rows[-1]["user_id"]}

    async def count(self, *, model: str, limit: int) -> int:
        """See `FormerVectorStore.count`."""
        [row] = await self._graph.read(COUNT, {"model": model, "limit": limit})
        return int(row["count"])

    async def lacks(self, owner: Owner, *, model: str) -> bool:
        """See `FormerVectorStore.lacks`."""
        [row] = await self._graph.read(LACKS, {**_key(owner), "model": model})
        return bool(row["count"])

    async def former(self, owner: Owner, *, model: str, before: str, limit: int) -> Sequence[str]:
        """See `FormerVectorStore.former`."""
        parameters = {"model": model, "before": before or BEHIND_ALL_IDS, "limit": limit}
        return [row["fact_id"] for row in await self._graph.read(FORMER, _key(owner) | parameters)]

    async def texts(self, owner: Owner, row_ids: Sequence[str]) -> Sequence[EmbeddedText]:
        """See `FormerVectorStore.texts`."""
        found = await self._graph.read(TEXTS, {**_key(owner), "fact_ids": list(row_ids)})
        rows = await opened_in_graph(self._keys, self._graph.read, owner, FACTS, found)
        return [EmbeddedText(row["fact_id"], str(row["revision"]), row["text"]) for row in rows]

    async def replace(
        self, owner: Owner, texts: Sequence[EmbeddedText], vectors: Matrix, *, model: str, beside: str = ""
    ) -> set[str]:
        """See `FormerVectorStore.replace`."""
        del beside
        facts = [
            {"fact_id": each.row_id, "revision": int(each.version), "vector": graph_vector(vector)}
            for each, vector in zip(texts, vectors, strict=True)
        ]

        async def work(transaction: GraphTransaction) -> Sequence[Record]:
            await check_graph_fence(transaction)
            await transaction.run(LOCK_OWNER, _key(owner))
            return await transaction.run(REPLACE, {**_key(owner), "facts": facts, "model": model})

        return {row["fact_id"] for row in await self._graph.write(work)}

    async def owners_with_others(self, *, model: str, after: Owner | None, limit: int) -> Sequence[Owner]:
        """See `FormerVectorStore.owners_with_others`: there are none."""
        del model, after, limit
        return []

    async def drop_others(self, owner: Owner, *, model: str) -> int:
        """See `FormerVectorStore.drop_others`: there are none."""
        del owner, model
        return 0


def _key(owner: Owner) -> dict[str, Any]:
    return {"tenant_id": owner.tenant_id, "user_id": owner.user_id}
