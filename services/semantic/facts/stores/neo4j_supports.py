"""Interactions that support facts, and facts that are similar to a statement, in Neo4j."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, LiteralString

from services.semantic.facts.model import FactId, SimilarFact
from services.semantic.facts.store import FactChange
from services.semantic.stores.neo4j import microseconds, moment_of

_OWN: Final[LiteralString] = """
MATCH (s:MnemeFactSupport {tenant_id: $tenant_id, user_id: $user_id})
USING INDEX s:MnemeFactSupport(tenant_id, user_id, fact_id, interaction_id)
WHERE s.fact_id IS NOT NULL AND s.interaction_id IS NOT NULL
"""
_OF_FACT: Final[LiteralString] = """
MATCH (s:MnemeFactSupport {tenant_id: $tenant_id, user_id: $user_id, fact_id: fact_id})
USING INDEX s:MnemeFactSupport(tenant_id, user_id, fact_id, interaction_id)
WHERE s.interaction_id IS NOT NULL
"""
OF_FACTS: Final[LiteralString] = f"""
UNWIND $fact_ids AS fact_id
CALL (fact_id) {{
    {_OF_FACT}
    RETURN s ORDER BY s.time DESC, s.interaction_id DESC LIMIT $limit
}}
RETURN fact_id, s.interaction_id AS interaction_id, {microseconds("s.time")} AS time,
    {microseconds("s.recorded_time")} AS recorded_time
"""
ADD: Final[LiteralString] = """
UNWIND $supports AS row
MATCH (f:MnemeFact {tenant_id: $tenant_id, user_id: $user_id, fact_id: row.fact_id})
MERGE (s:MnemeFactSupport {
    tenant_id: $tenant_id, user_id: $user_id, fact_id: row.fact_id, interaction_id: row.interaction_id
})
ON CREATE SET s.time = row.time, s.recorded_time = row.recorded_time
MERGE (s)-[:SUPPORTS]->(f)
"""
REMOVE: Final[LiteralString] = f"""
{_OWN} AND s.interaction_id IN $interaction_ids
WITH s, s.fact_id AS fact_id
DETACH DELETE s
RETURN DISTINCT fact_id ORDER BY fact_id
"""
REMOVE_OF_FACTS: Final[LiteralString] = f"""
UNWIND $fact_ids AS fact_id
{_OF_FACT}
DETACH DELETE s
"""
REMOVE_OF_OWNER: Final[LiteralString] = f"""
{_OWN}
DETACH DELETE s
"""
# Status: tentative or stable. The score is (1 + cosine) / 2.
SIMILAR: Final[LiteralString] = f"""
CYPHER 25
MATCH (f:MnemeFact)
SEARCH f IN (
    VECTOR INDEX mneme_fact_embedding FOR $vector
    WHERE f.tenant_id = $tenant_id AND f.user_id = $user_id AND f.embedding_model = $model AND f.status < 3
        AND f.scope_key = $scope_key
    LIMIT $limit
) SCORE AS score
WITH f, score WHERE 2.0 * score - 1.0 >= $cosine_min AND f.valid_to_time IS NULL
WITH f, score ORDER BY score DESC, f.fact_id
RETURN f.fact_id AS fact_id, f.text AS text, f.predicate AS predicate,
    {microseconds("f.valid_from_time")} AS valid_from_time
"""
ALL_QUERIES: Final[tuple[LiteralString, ...]] = (OF_FACTS, ADD, REMOVE, REMOVE_OF_FACTS, REMOVE_OF_OWNER, SIMILAR)
"""For the test that reads their plans."""


def similar_fact(row: Any) -> SimilarFact:
    """What `SIMILAR` returns."""
    return SimilarFact(FactId(row["fact_id"]), row["text"], row["predicate"], moment_of(row["valid_from_time"]))


def support_rows(changes: Sequence[FactChange]) -> list[dict[str, Any]]:
    """What the nodes of new supports get."""
    return [
        {
            "fact_id": change.fact.fact_id,
            "interaction_id": support.interaction_id,
            "time": support.time,
            "recorded_time": support.recorded_time,
        }
        for change in changes
        for support in change.new_supports
    ]
