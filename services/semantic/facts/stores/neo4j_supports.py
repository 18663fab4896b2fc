"""Interactions that support facts, and facts that are similar to a statement, in Neo4j."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Final, LiteralString

from services.common.neo4j.graph import Record
from services.common.owners import InteractionId
from services.semantic.facts.model import FactId, SimilarFact, Support
from services.semantic.facts.store import FactChange
from services.semantic.stores.neo4j import known_moment_of, microseconds, moment_of

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
# Each fact with those merged into it, by whose ids its supports are found too.
OF_FACTS: Final[LiteralString] = f"""
UNWIND $facts AS fact
CALL (fact) {{
    UNWIND fact.members AS fact_id
    {_OF_FACT}
    WITH s.interaction_id AS interaction_id, max(s.time) AS said, min(s.recorded_time) AS stored,
        collect(s.fact_id) AS given_to
    RETURN interaction_id, said, stored, given_to ORDER BY said DESC, interaction_id DESC LIMIT $limit
}}
RETURN fact.fact_id AS fact_id, interaction_id, {microseconds("said")} AS time,
    {microseconds("stored")} AS recorded_time, given_to
"""
MERGED: Final[LiteralString] = """
UNWIND $fact_ids AS fact_id
MATCH (f:MnemeFact {tenant_id: $tenant_id, user_id: $user_id, merged_into_fact_id: fact_id})
USING INDEX f:MnemeFact(tenant_id, user_id, merged_into_fact_id)
RETURN fact_id, collect(f.fact_id) AS merged
"""
WINNERS: Final[LiteralString] = """
UNWIND $fact_ids AS fact_id
MATCH (f:MnemeFact {tenant_id: $tenant_id, user_id: $user_id, fact_id: fact_id})
WHERE f.merged_into_fact_id IS NOT NULL
RETURN DISTINCT f.merged_into_fact_id AS fact_id
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
WITH s LIMIT $limit
DETACH DELETE s
RETURN count(*) AS removed
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
RETURN f.fact_id AS fact_id, f.text AS text, f.predicate AS predicate, 2.0 * score - 1.0 AS similarity,
    {microseconds("f.valid_from_time")} AS valid_from_time
"""
ALL_QUERIES: Final[tuple[LiteralString, ...]] = (
    OF_FACTS,
    MERGED,
    WINNERS,
    ADD,
    REMOVE,
    REMOVE_OF_FACTS,
    REMOVE_OF_OWNER,
    SIMILAR,
)
"""For the test that reads their plans."""


async def with_merged(
    run: Callable[..., Awaitable[Sequence[Record]]], merged: dict[str, Sequence[str]]
) -> dict[str, list[str]]:
    """Facts with all that were merged into them, each itself first.

    Args:
        run: Runs a query of the user.
        merged: Each fact with those that were merged into it directly: the others are asked for.
    """
    members = {fact_id: [fact_id, *found] for fact_id, found in merged.items()}
    last = {fact_id: list(found) for fact_id, found in merged.items() if found}
    while last:
        asked = sorted({one for found in last.values() for one in found})
        below = {row["fact_id"]: row["merged"] for row in await run(MERGED, fact_ids=asked)}
        last = {fact_id: [other for one in found for other in below.get(one, ())] for fact_id, found in last.items()}
        last = {fact_id: found for fact_id, found in last.items() if found}
        for fact_id, found in last.items():
            members[fact_id] += found
    return members


async def winners_of(run: Callable[..., Awaitable[Sequence[Record]]], fact_ids: Sequence[str]) -> list[str]:
    """What facts were merged into, directly or by way of others."""
    found: list[str] = []
    last = list(fact_ids)
    while last:
        last = [row["fact_id"] for row in await run(WINNERS, fact_ids=last) if row["fact_id"] not in found]
        found += last
    return found


def support_of(row: Record) -> Support:
    """What `OF_FACTS` returns."""
    time, recorded = known_moment_of(row["time"]), known_moment_of(row["recorded_time"])
    return Support(InteractionId(row["interaction_id"]), time, recorded, tuple(sorted(row["given_to"])))


def similar_fact(row: Any) -> SimilarFact:
    """What `SIMILAR` returns."""
    return SimilarFact(
        FactId(row["fact_id"]), row["text"], row["predicate"], moment_of(row["valid_from_time"]), row["similarity"]
    )


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
