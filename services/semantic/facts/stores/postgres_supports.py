"""Interactions that support facts, and facts that are similar to a statement, in PostgreSQL."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from typing import Final

from services.common.owners import InteractionId, Owner
from services.common.postgres.types import Connection
from services.semantic.facts.model import FactId, Support
from services.semantic.facts.store import FactChange
from services.semantic.facts.stores.postgres_sql import HAS_VECTOR, VECTOR

# Each fact with those merged into it, directly or by way of others: what was given to one of them supports it.
OF_FACTS: Final = """
WITH RECURSIVE given (fact_id, member_id) AS (
    SELECT fact_id, fact_id FROM unnest($3::uuid[]) AS asked (fact_id)
    UNION
    SELECT given.fact_id, merged.fact_id FROM given CROSS JOIN LATERAL (
        SELECT f.fact_id FROM semantic.facts AS f
        WHERE f.tenant_id = $1 AND f.user_id = $2 AND f.merged_into_fact_id = given.member_id
            AND f.merged_into_fact_id IS NOT NULL
        OFFSET 0
    ) AS merged
)
SELECT asked.fact_id, newest.* FROM (
    SELECT fact_id, array_agg(member_id) AS members FROM given GROUP BY fact_id
) AS asked
CROSS JOIN LATERAL (
    SELECT s.interaction_id, max(s.time) AS time, min(s.recorded_time) AS recorded_time,
        array_agg(s.fact_id ORDER BY s.fact_id) AS given_to
    FROM unnest(asked.members) AS member (fact_id) CROSS JOIN LATERAL (
        SELECT g.* FROM semantic.fact_supports AS g
        WHERE g.tenant_id = $1 AND g.user_id = $2 AND g.fact_id = member.fact_id
        OFFSET 0
    ) AS s
    GROUP BY s.interaction_id
    ORDER BY max(s.time) DESC, s.interaction_id DESC
    LIMIT $4
) AS newest
"""
ADD: Final = """
INSERT INTO semantic.fact_supports (tenant_id, user_id, fact_id, interaction_id, time, recorded_time)
VALUES ($1, $2, $3, $4, $5, $6)
ON CONFLICT DO NOTHING
"""
REMOVE: Final = """
DELETE FROM semantic.fact_supports WHERE tenant_id = $1 AND user_id = $2 AND interaction_id = ANY ($3::uuid[])
RETURNING fact_id
"""
# Vectors have length 1, so that the inner product is the cosine.
SIMILAR: Final = f"""
SELECT fact_id, text, subject, predicate, object, valid_from_time, -({VECTOR} <#> $4) AS similarity FROM semantic.facts
WHERE tenant_id = $1 AND user_id = $2 AND {HAS_VECTOR} AND scope_key = $5 AND status IN (1, 2)
    AND valid_to_time IS NULL AND -({VECTOR} <#> $4) >= $6
ORDER BY {VECTOR} <#> $4, fact_id
LIMIT $7
"""  # noqa: S608 - no input in it


async def supports_of(
    connection: Connection, owner: Owner, fact_ids: Sequence[uuid.UUID], *, limit: int | None
) -> dict[FactId, list[Support]]:
    """The newest supports of facts and of those merged into them, oldest first; all of them where there is no limit."""
    rows = await connection.fetch(OF_FACTS, owner.tenant_id, owner.user_id, fact_ids, limit)
    found: dict[FactId, list[Support]] = {}
    for row in rows[::-1]:
        given_to = tuple(FactId(str(i)) for i in row["given_to"])
        support = Support(InteractionId(str(row["interaction_id"])), row["time"], row["recorded_time"], given_to)
        found.setdefault(FactId(str(row["fact_id"])), []).append(support)
    return found


async def add_supports(connection: Connection, owner: Owner, changes: Sequence[FactChange]) -> None:
    """Store the new supports of changes."""
    values = [
        (
            owner.tenant_id,
            owner.user_id,
            uuid.UUID(change.fact.fact_id),
            uuid.UUID(support.interaction_id),
            support.time,
            support.recorded_time,
        )
        for change in changes
        for support in change.new_supports
    ]
    if values:
        await connection.executemany(ADD, values)
