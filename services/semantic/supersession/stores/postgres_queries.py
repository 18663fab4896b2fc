"""The statements of the store of statements and supersessions on PostgreSQL."""

from __future__ import annotations

from typing import Final

from services.common.postgres.tenancy import as_tenant

ADD: Final = """
INSERT INTO semantic.assertions
    (tenant_id, user_id, interaction_id, number, text, speaker, time, scope_key, keys, is_only, is_announced)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
"""
KNOWN: Final = """
SELECT interaction_id, number FROM semantic.assertions
WHERE tenant_id = $1 AND user_id = $2 AND interaction_id = ANY($3)
"""
# The keys of a new statement are read from its own row: arrays of different lengths cannot be passed as one array.
# A key weighs more the fewer statements have it, as in TF-IDF; rounding makes sums that are equal compare as equal.
CANDIDATES: Final = """
SELECT new.place, c.interaction_id, c.number, c.text, c.speaker, c.time, c.scope_key, c.keys, c.is_only, c.is_announced
FROM unnest($3::uuid[], $4::int[], $5::int[]) WITH ORDINALITY AS new (interaction_id, number, candidates_max, place)
JOIN semantic.assertions AS own ON own.tenant_id = $1 AND own.user_id = $2
    AND own.interaction_id = new.interaction_id AND own.number = new.number
CROSS JOIN LATERAL (
    WITH hits AS MATERIALIZED (
        SELECT k.key, k.interaction_id, k.number, k.time FROM semantic.assertion_keys AS k
        WHERE k.tenant_id = $1 AND k.key = ANY(own.keys) AND k.interaction_id <> own.interaction_id
    ), weights AS MATERIALIZED (
        SELECT key, ln((sum(count(*)) OVER () + 1)::float8 / (count(*) + 0.5)) AS weight FROM hits GROUP BY key
    )
    SELECT interaction_id, number, time, round(sum(weight)::numeric, 6) AS score
    FROM hits JOIN weights USING (key)
    GROUP BY interaction_id, number, time
    ORDER BY score DESC, time DESC, interaction_id, number
    LIMIT new.candidates_max
) AS best
CROSS JOIN LATERAL (
    SELECT * FROM semantic.assertions AS a
    WHERE a.tenant_id = $1 AND a.user_id = $2 AND a.interaction_id = best.interaction_id AND a.number = best.number
    OFFSET 0
) AS c
ORDER BY new.place, best.score DESC, best.time DESC, best.interaction_id, best.number
"""
PUT: Final = """
INSERT INTO semantic.supersessions
    (tenant_id, user_id, supersession_id, loser_id, loser_number, winner_id, winner_number, reason, state, end_time,
     create_time, statement, standing_statement, premise, decision_reason, is_whole, is_turned, premise_place,
     decided_by, is_called_wrong, marks_revision)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21)
ON CONFLICT DO NOTHING
RETURNING supersession_id
"""
_COLUMNS: Final = """
    s.supersession_id, s.loser_id, s.loser_number, s.winner_id, s.winner_number, s.reason, s.state, s.end_time,
    s.create_time, s.statement, s.standing_statement, s.is_whole, s.is_turned, s.premise, s.premise_place, s.decided_by,
    s.decision_reason, s.is_called_wrong
"""
ENDED: Final = f"""
SELECT {_COLUMNS} FROM semantic.supersessions AS s
JOIN unnest($3::uuid[], $4::int[]) AS place (loser_id, loser_number) USING (loser_id, loser_number)
WHERE s.tenant_id = $1 AND s.user_id = $2
"""  # noqa: S608 - a constant
# What the user decided about such a pair stays. A pair that waits for the user has the user as decider too.
RESTS: Final = """
UPDATE semantic.supersessions SET state = $6
WHERE tenant_id = $1 AND user_id = $2 AND premise_place = $3 AND (decided_by <> 1 OR state = 2)
    AND (winner_id = $4 AND winner_number = $5 OR loser_id = $4 AND loser_number = $5)
"""
# The row is locked until the transaction ends: no other change of the user's marks has the same revision.
NEXT_REVISION: Final = """
INSERT INTO semantic.owner_revisions AS o (tenant_id, user_id, epoch, marks) VALUES ($1, $2, 0, 0)
ON CONFLICT (tenant_id, user_id) DO UPDATE SET marks = o.marks
RETURNING marks + 1
"""
ADDED: Final = "UPDATE semantic.owner_revisions SET marks = $3 WHERE tenant_id = $1 AND user_id = $2"
CHANGED: Final = """
INSERT INTO semantic.owner_revisions AS o (tenant_id, user_id, epoch, marks, marks_base) VALUES ($1, $2, 0, 1, 1)
ON CONFLICT (tenant_id, user_id) DO UPDATE SET marks = o.marks + 1, marks_base = o.marks + 1
"""
MARKS: Final = as_tenant(f"""
SELECT r.marks AS marks_revision, r.since, {_COLUMNS}
FROM (
    SELECT coalesce(max(o.marks), 0) AS marks,
        CASE WHEN $5 AND $3::bigint BETWEEN coalesce(max(o.marks_base), 0) AND coalesce(max(o.marks), 0)
            THEN $3::bigint END AS since
    FROM semantic.owner_revisions AS o
    WHERE o.tenant_id = $1 AND o.user_id = $2
) AS r
LEFT JOIN LATERAL (
    SELECT * FROM semantic.supersessions AS one
    WHERE one.tenant_id = $1 AND one.user_id = $2 AND one.state IN (1, 2, 4) AND r.marks IS DISTINCT FROM $3::bigint
        AND (r.since IS NULL OR one.marks_revision > r.since)
    ORDER BY one.create_time DESC, one.supersession_id LIMIT $4
) AS s ON true
""")  # noqa: S608 - a constant
CORRECTED: Final = as_tenant("""
SELECT supersession_id, loser_id, statement FROM semantic.supersessions
WHERE tenant_id = $1 AND user_id = $2 AND loser_id = ANY ($3) AND reason = 3 AND state = 1
ORDER BY loser_id, loser_number LIMIT $4
""")
LIST: Final = f"""
SELECT {_COLUMNS} FROM semantic.supersessions AS s
WHERE s.tenant_id = $1 AND s.user_id = $2 AND ($3::smallint IS NULL OR s.state = $3)
    AND ($4::timestamptz IS NULL OR s.create_time < $4 OR (s.create_time = $4 AND s.supersession_id > $5))
ORDER BY s.create_time DESC, s.supersession_id
LIMIT $6
"""  # noqa: S608 - a constant
GET: Final = f"""
SELECT {_COLUMNS} FROM semantic.supersessions AS s
WHERE s.tenant_id = $1 AND s.user_id = $2 AND s.supersession_id = $3
"""  # noqa: S608 - a constant
UPDATE: Final = """
UPDATE semantic.supersessions
SET loser_id = $4, loser_number = $5, winner_id = $6, winner_number = $7, state = $8, end_time = $9, statement = $10,
    standing_statement = $11, decision_reason = $12, is_whole = $13, is_turned = $14, decided_by = $15
WHERE tenant_id = $1 AND user_id = $2 AND supersession_id = $3
"""
IS_ONLY: Final = """
SELECT is_only FROM semantic.assertions
WHERE tenant_id = $1 AND user_id = $2 AND interaction_id = $3 AND number = $4
"""
REMOVE_ASSERTIONS: Final = """
DELETE FROM semantic.assertions WHERE tenant_id = $1 AND user_id = $2 AND interaction_id = ANY($3)
"""
REMOVE: Final = """
DELETE FROM semantic.supersessions
WHERE tenant_id = $1 AND user_id = $2
    AND (loser_id = ANY($3) OR winner_id = ANY($3)
        OR premise <> '' AND split_part(premise_place, ':', 1) = ANY($3::uuid[]::text[]))
RETURNING supersession_id
"""
REMOVE_ALL_ASSERTIONS: Final = "DELETE FROM semantic.assertions WHERE tenant_id = $1 AND user_id = $2"
REMOVE_ALL: Final = """
DELETE FROM semantic.supersessions WHERE tenant_id = $1 AND user_id = $2 RETURNING supersession_id
"""

QUEUED_OWNERS: Final = """
SELECT DISTINCT tenant_id, user_id FROM semantic.supersessions
WHERE state = 2 AND decided_by = 0 AND create_time < $1 AND (tenant_id, user_id) > ($2, $3)
ORDER BY tenant_id, user_id
LIMIT $4
"""


def _strength(side: str, number: str) -> str:
    """The facts that were read in a statement, active ones and those that were merged into another one."""
    return f"""
LEFT JOIN LATERAL (
    SELECT max(f.confidence) AS confidence, max(f.importance) AS importance
    FROM semantic.extracted_interactions AS e
    JOIN semantic.facts AS f ON f.tenant_id = $1 AND f.user_id = $2 AND f.fact_id = ANY (e.fact_ids)
        AND f.status IN (1, 2, 4)
    JOIN semantic.fact_statements AS t ON t.tenant_id = $1 AND t.user_id = $2 AND t.fact_id = f.fact_id
        AND t.statement_id = e.interaction_id AND {number} = ANY (t.sentences)
    WHERE e.tenant_id = $1 AND e.user_id = $2 AND e.interaction_id = {side}
)"""  # noqa: S608 - columns


_WITH_STRENGTHS: Final = f"""
SELECT s.*, earlier.confidence AS earlier_confidence, earlier.importance AS earlier_importance,
    later.confidence AS later_confidence, later.importance AS later_importance
FROM queued AS s
{_strength("s.loser_id", "s.loser_number")} AS earlier ON true
{_strength("s.winner_id", "s.winner_number")} AS later ON true
ORDER BY s.create_time, s.supersession_id
"""  # noqa: S608 - constants
QUEUED: Final = f"""
WITH queued AS (
    SELECT {_COLUMNS} FROM semantic.supersessions AS s
    WHERE s.tenant_id = $1 AND s.user_id = $2 AND s.state = 2 AND s.decided_by = 0 AND s.create_time < $3
        AND ($4::timestamptz IS NULL OR (s.create_time, s.supersession_id) > ($4, $5))
    ORDER BY s.create_time, s.supersession_id
    LIMIT $6
)
{_WITH_STRENGTHS}
"""  # noqa: S608 - a constant
QUEUED_BY_ID: Final = f"""
WITH queued AS (
    SELECT {_COLUMNS} FROM semantic.supersessions AS s
    WHERE s.tenant_id = $1 AND s.user_id = $2 AND s.supersession_id = ANY ($3) AND s.state = 2 AND s.decided_by = 0
)
{_WITH_STRENGTHS}
"""  # noqa: S608 - a constant
DECIDED: Final = f"""
SELECT {_COLUMNS} FROM semantic.supersessions AS s
WHERE s.tenant_id = $1 AND s.user_id = $2 AND s.supersession_id = ANY ($3) AND s.decided_by IN (2, 3)
"""  # noqa: S608 - a constant
