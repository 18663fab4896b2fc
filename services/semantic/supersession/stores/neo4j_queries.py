"""The queries of the store of statements and supersessions on Neo4j."""

from __future__ import annotations

from typing import Final, LiteralString

from services.semantic.stores.neo4j import microseconds

# The node is locked until the transaction ends: writes of one user are serialized. It holds the revision of the marks.
LOCK: Final[LiteralString] = """
MERGE (o:MnemeSupersessionOwner {tenant_id: $tenant_id, user_id: $user_id})
SET o.works = coalesce(o.works, 0) + 1
"""
ADDED: Final[LiteralString] = """
MATCH (o:MnemeSupersessionOwner {tenant_id: $tenant_id, user_id: $user_id})
SET o.marks = $revision
"""
# Marks that a caller cached before are of no use: some were changed or removed.
CHANGED: Final[LiteralString] = """
MATCH (o:MnemeSupersessionOwner {tenant_id: $tenant_id, user_id: $user_id})
WITH o, coalesce(o.marks, 0) + 1 AS revision
SET o.marks = revision, o.marks_base = revision
"""
KNOWN: Final[LiteralString] = """
MATCH (a:MnemeAssertion {
    tenant_id: $tenant_id, user_id: $user_id, interaction_id: $interaction_id, number: $number
})
RETURN a.is_only AS is_only
"""
KNOWN_OF_TURNS: Final[LiteralString] = """
UNWIND $interaction_ids AS interaction_id
MATCH (a:MnemeAssertion {tenant_id: $tenant_id, user_id: $user_id, interaction_id: interaction_id})
USING INDEX a:MnemeAssertion(tenant_id, user_id, interaction_id, number)
WHERE a.number IS NOT NULL
RETURN a.interaction_id AS interaction_id, a.number AS number
"""
ADD: Final[LiteralString] = """
UNWIND $added AS new
CREATE (a:MnemeAssertion {tenant_id: $tenant_id, user_id: $user_id})
SET a += new.state
WITH a
UNWIND a.keys AS key
MERGE (k:MnemeAssertionKey {tenant_id: $tenant_id, user_id: $user_id, key: key})
CREATE (a)-[:ABOUT]->(k)
"""
# A key weighs more the fewer statements have it, as in TF-IDF; rounding makes sums that are equal compare as equal.
CANDIDATES: Final[LiteralString] = f"""
UNWIND $added AS new
CALL (new) {{
    UNWIND new.state.keys AS key
    MATCH (k:MnemeAssertionKey {{tenant_id: $tenant_id, user_id: $user_id, key: key}})<-[:ABOUT]-(a)
    WHERE a.interaction_id <> new.state.interaction_id
    WITH new, key, collect(a) AS having
    WITH new, collect({{statements: having, count: size(having)}}) AS shared, sum(size(having)) AS total
    UNWIND shared AS one
    UNWIND one.statements AS a
    WITH new, a, round(sum(log((total + 1) / (one.count + 0.5))), 6) AS score
    ORDER BY score DESC, a.time DESC, a.interaction_id, a.number
    WITH new, collect(a) AS ranked
    UNWIND ranked[..new.candidates_max] AS a
    RETURN a
}}
RETURN new.place AS place, a {{
    .interaction_id, .number, .text, .speaker, .scope_key, .keys, .is_only, .is_announced,
    time: {microseconds("a.time")}
}} AS found
"""
ADD_SUPERSESSIONS: Final[LiteralString] = """
UNWIND $states AS state
OPTIONAL MATCH (known:MnemeSupersession {
    tenant_id: $tenant_id, user_id: $user_id, supersession_id: state.supersession_id
})
WITH state WHERE known IS NULL
CREATE (s:MnemeSupersession {tenant_id: $tenant_id, user_id: $user_id})
SET s += state
RETURN s.supersession_id AS supersession_id
"""
PUT: Final[LiteralString] = """
MERGE (s:MnemeSupersession {tenant_id: $tenant_id, user_id: $user_id, supersession_id: $supersession_id})
SET s += $state
"""
_FIELDS: Final[LiteralString] = f"""s {{
    .supersession_id, .loser_id, .loser_number, .winner_id, .winner_number, .reason, .state, .statement,
    .standing_statement, .is_whole, .is_turned,
    premise: coalesce(s.premise, ""), is_called_wrong: coalesce(s.is_called_wrong, false),
    premise_place: coalesce(s.premise_place, ""),
    decided_by: coalesce(s.decided_by, 0), decision_reason: coalesce(s.decision_reason, ""),
    end_time: {microseconds("s.end_time")}, create_time: {microseconds("s.create_time")}
}}"""
ENDED: Final[LiteralString] = f"""
UNWIND $places AS place
MATCH (s:MnemeSupersession {{
    tenant_id: $tenant_id, user_id: $user_id, loser_id: place.interaction_id, loser_number: place.number
}})
USING INDEX s:MnemeSupersession(tenant_id, user_id, loser_id, loser_number)
RETURN {_FIELDS} AS found
ORDER BY s.create_time, s.supersession_id
"""
RESTS: Final[LiteralString] = """
MATCH (s:MnemeSupersession {tenant_id: $tenant_id, user_id: $user_id, premise_place: $premise_place})
USING INDEX s:MnemeSupersession(tenant_id, user_id, premise_place)
WHERE (coalesce(s.decided_by, 0) <> 1 OR s.state = 2)
    AND (s.winner_id = $winner_id AND s.winner_number = $winner_number
        OR s.loser_id = $winner_id AND s.loser_number = $winner_number)
SET s.state = $state
"""
GET: Final[LiteralString] = f"""
MATCH (s:MnemeSupersession {{tenant_id: $tenant_id, user_id: $user_id, supersession_id: $supersession_id}})
RETURN {_FIELDS} AS found
"""
REVISION: Final[LiteralString] = """
MATCH (o:MnemeSupersessionOwner {tenant_id: $tenant_id, user_id: $user_id})
RETURN coalesce(o.marks, 0) AS revision, coalesce(o.marks_base, 0) AS base
"""
CORRECTED: Final[LiteralString] = """
UNWIND $interaction_ids AS interaction_id
MATCH (s:MnemeSupersession {tenant_id: $tenant_id, user_id: $user_id, loser_id: interaction_id})
USING INDEX s:MnemeSupersession(tenant_id, user_id, loser_id, loser_number)
WHERE s.loser_number IS NOT NULL AND s.reason = 3 AND s.state = 1
RETURN s.supersession_id AS supersession_id, s.loser_id AS loser_id, s.statement AS statement
ORDER BY s.loser_id, s.loser_number LIMIT $limit
"""
LIST: Final[LiteralString] = f"""
MATCH (s:MnemeSupersession {{tenant_id: $tenant_id, user_id: $user_id}})
USING INDEX s:MnemeSupersession(tenant_id, user_id, create_time)
WHERE s.create_time IS NOT NULL AND ($states IS NULL OR s.state IN $states)
    AND ($since IS NULL OR coalesce(s.marks_revision, 0) > $since)
    AND ($time IS NULL OR s.create_time < $time OR (s.create_time = $time AND s.supersession_id > $id))
RETURN {_FIELDS} AS found
ORDER BY s.create_time DESC, s.supersession_id
LIMIT $limit
"""
# Of some turns. A key goes with its last statement.
REMOVE_ASSERTIONS: Final[LiteralString] = """
UNWIND $interaction_ids AS interaction_id
MATCH (a:MnemeAssertion {tenant_id: $tenant_id, user_id: $user_id, interaction_id: interaction_id})
USING INDEX a:MnemeAssertion(tenant_id, user_id, interaction_id, number)
WHERE a.number IS NOT NULL
OPTIONAL MATCH (a)-[:ABOUT]->(k)
WITH collect(DISTINCT a) AS gone, collect(DISTINCT k) AS touched
FOREACH (a IN gone | DETACH DELETE a)
WITH touched
UNWIND touched AS k
WITH k WHERE NOT EXISTS { (k)<-[:ABOUT]-() }
DELETE k
"""
REMOVE: Final[LiteralString] = """
UNWIND $interaction_ids AS interaction_id
CALL (interaction_id) {
    MATCH (s:MnemeSupersession {tenant_id: $tenant_id, user_id: $user_id, loser_id: interaction_id})
    USING INDEX s:MnemeSupersession(tenant_id, user_id, loser_id, loser_number)
    WHERE s.loser_number IS NOT NULL
    RETURN s
    UNION
    MATCH (s:MnemeSupersession {tenant_id: $tenant_id, user_id: $user_id, winner_id: interaction_id})
    USING INDEX s:MnemeSupersession(tenant_id, user_id, winner_id, winner_number)
    WHERE s.winner_number IS NOT NULL
    RETURN s
    UNION
    MATCH (s:MnemeSupersession {tenant_id: $tenant_id, user_id: $user_id})
    USING INDEX s:MnemeSupersession(tenant_id, user_id, premise_place)
    WHERE s.premise_place STARTS WITH interaction_id + ":" AND coalesce(s.premise, "") <> ""
    RETURN s
}
WITH DISTINCT s
WITH s, s.supersession_id AS supersession_id
DELETE s
RETURN supersession_id
"""
# Of a user, `limit` at most: what one transaction deletes is bounded.
REMOVE_ASSERTIONS_OF_OWNER: Final[LiteralString] = """
MATCH (a:MnemeAssertion {tenant_id: $tenant_id, user_id: $user_id})
USING INDEX a:MnemeAssertion(tenant_id, user_id, interaction_id, number)
WHERE a.interaction_id IS NOT NULL AND a.number IS NOT NULL
WITH a LIMIT $limit
DETACH DELETE a
RETURN count(*) AS removed
"""
REMOVE_KEYS_OF_OWNER: Final[LiteralString] = """
MATCH (k:MnemeAssertionKey {tenant_id: $tenant_id, user_id: $user_id})
USING INDEX k:MnemeAssertionKey(tenant_id, user_id, key)
WHERE k.key IS NOT NULL AND NOT EXISTS { (k)<-[:ABOUT]-() }
WITH k LIMIT $limit
DELETE k
RETURN count(*) AS removed
"""
REMOVE_OF_OWNER: Final[LiteralString] = """
MATCH (s:MnemeSupersession {tenant_id: $tenant_id, user_id: $user_id})
USING INDEX s:MnemeSupersession(tenant_id, user_id, create_time)
WHERE s.create_time IS NOT NULL
WITH s, s.supersession_id AS supersession_id LIMIT $limit
DELETE s
RETURN supersession_id
"""

# Users in the order of their key, a page at a time; those without a queued pair are left out of it.
QUEUED_OWNERS: Final[LiteralString] = """
MATCH (o:MnemeSupersessionOwner)
USING INDEX o:MnemeSupersessionOwner(tenant_id, user_id)
WHERE o.tenant_id >= $tenant_id AND o.user_id IS NOT NULL AND (o.tenant_id > $tenant_id OR o.user_id > $user_id)
WITH o.tenant_id AS tenant_id, o.user_id AS user_id ORDER BY tenant_id, user_id LIMIT $limit
CALL (tenant_id, user_id) {
    OPTIONAL MATCH (s:MnemeSupersession {tenant_id: tenant_id, user_id: user_id, state: 2})
    USING INDEX s:MnemeSupersession(tenant_id, user_id, state, create_time)
    WHERE s.create_time < $recorded_before AND coalesce(s.decided_by, 0) = 0
    RETURN s IS NOT NULL AS is_queued LIMIT 1
}
RETURN tenant_id, user_id, is_queued ORDER BY tenant_id, user_id
"""


def _strength(side: LiteralString, name: LiteralString) -> LiteralString:
    """The facts that were read in a statement, active ones and those that were merged into another one."""
    return f"""
CALL (s) {{
    OPTIONAL MATCH (e:MnemeExtraction {{tenant_id: $tenant_id, user_id: $user_id, interaction_id: s.{side}_id}})
    UNWIND coalesce(e.fact_ids, []) AS fact_id
    MATCH (t:MnemeStatement {{
        tenant_id: $tenant_id, user_id: $user_id, fact_id: fact_id, statement_id: s.{side}_id
    }})
    WHERE s.{side}_number IN coalesce(t.sentences, [])
    MATCH (f:MnemeFact {{tenant_id: $tenant_id, user_id: $user_id, fact_id: fact_id}})
    WHERE f.status IN [1, 2, 4]
    RETURN {{confidence: max(f.confidence), importance: max(f.importance)}} AS {name}
}}"""


_WITH_STRENGTHS: Final[LiteralString] = f"""
{_strength("loser", "earlier")}
{_strength("winner", "later")}
RETURN {_FIELDS} AS found, earlier, later
ORDER BY s.create_time, s.supersession_id
"""
QUEUED: Final[LiteralString] = f"""
MATCH (s:MnemeSupersession {{tenant_id: $tenant_id, user_id: $user_id, state: 2}})
USING INDEX s:MnemeSupersession(tenant_id, user_id, state, create_time)
WHERE s.create_time < $recorded_before AND coalesce(s.decided_by, 0) = 0
    AND ($time IS NULL OR s.create_time > $time OR (s.create_time = $time AND s.supersession_id > $id))
WITH s ORDER BY s.create_time, s.supersession_id LIMIT $limit
{_WITH_STRENGTHS}
"""
QUEUED_BY_ID: Final[LiteralString] = f"""
UNWIND $supersession_ids AS supersession_id
MATCH (s:MnemeSupersession {{tenant_id: $tenant_id, user_id: $user_id, supersession_id: supersession_id}})
WHERE s.state = 2 AND coalesce(s.decided_by, 0) = 0
{_WITH_STRENGTHS}
"""
DECIDED: Final[LiteralString] = f"""
UNWIND $supersession_ids AS supersession_id
MATCH (s:MnemeSupersession {{tenant_id: $tenant_id, user_id: $user_id, supersession_id: supersession_id}})
WHERE s.decided_by IN [2, 3]
RETURN {_FIELDS} AS found
"""

ALL_QUERIES: Final[tuple[LiteralString, ...]] = (
    LOCK,
    ADDED,
    CHANGED,
    KNOWN,
    KNOWN_OF_TURNS,
    ADD,
    CANDIDATES,
    ADD_SUPERSESSIONS,
    PUT,
    ENDED,
    RESTS,
    GET,
    REVISION,
    CORRECTED,
    LIST,
    REMOVE_ASSERTIONS,
    REMOVE,
    REMOVE_ASSERTIONS_OF_OWNER,
    REMOVE_KEYS_OF_OWNER,
    REMOVE_OF_OWNER,
    QUEUED,
    QUEUED_BY_ID,
    DECIDED,
)
"""For the test that reads their plans."""
