"""Queries of the Neo4j fact store: constants, in which every pattern names the tenant and the user.

Hints name the index where the planner, which counts whole labels and not the facts of one user, could choose another.
ORDER BY repeats the columns that are equal in all rows, so that it is the index's own order: only the rows of the LIMIT
are then read, however many there are.
"""

from __future__ import annotations

from typing import Final, LiteralString

from services.common.neo4j.removal import RemovalQueries
from services.semantic.stores.neo4j import microseconds

# Columns, whose names travel once, and no nodes. Times are integers; vectors stay where they are: both read slowly.
_HIT: Final[LiteralString] = f"""
    f.fact_id AS fact_id, f.user_id AS user_id, f.text AS text, f.subject AS subject, f.predicate AS predicate,
    f.object AS object, f.category AS category, f.confidence AS confidence, f.importance AS importance,
    {microseconds("f.first_observed_time")} AS first_observed_time,
    {microseconds("f.last_confirmed_time")} AS last_confirmed_time,
    {microseconds("f.valid_from_time")} AS valid_from_time, {microseconds("f.valid_to_time")} AS valid_to_time,
    f.derived_from AS derived_from, f.evidence_count AS evidence_count,
    [
        (f)-[:CONTRADICTS]->(other:MnemeFact {{tenant_id: $tenant_id, user_id: $user_id}}) | other.fact_id
    ] AS contradictions,
    f.status AS status, f.merged_into_fact_id AS merged_into_fact_id, f.scope_key AS scope_key, f.revision AS revision,
    {microseconds("f.fade_time")} AS fade_time,
    f.feedback AS feedback
"""
_FACT: Final[LiteralString] = f"{_HIT}, f.versions AS versions"
_RECORD: Final[LiteralString] = f"{_FACT}, f.identity AS identity, f.text_identity AS text_identity, f.topic AS topic"
_STATEMENT: Final[LiteralString] = f"""s {{
    .statement_id, .text, .category, .confidence, .importance, .subject, .predicate, .object, .interaction_ids,
    .is_correction, .sentences, .shares_sentence,
    time: {microseconds("s.time")}, valid_from_time: {microseconds("s.valid_from_time")},
    valid_to_time: {microseconds("s.valid_to_time")}, recorded_time: {microseconds("s.recorded_time")}
}}"""

# The node is locked until the transaction ends: the next one waits here, and reads what this one has written.
OWNER: Final = RemovalQueries.of("MnemeFactOwner")
LOCK_OWNER: Final[LiteralString] = OWNER.lock

EXTRACTED: Final[LiteralString] = """
UNWIND $interaction_ids AS interaction_id
MATCH (e:MnemeExtraction {tenant_id: $tenant_id, user_id: $user_id, interaction_id: interaction_id})
RETURN e.interaction_id AS interaction_id, e.fact_ids AS fact_ids
"""

ADD_EXTRACTED: Final[LiteralString] = """
UNWIND $results AS result
CREATE (:MnemeExtraction {
    tenant_id: $tenant_id, user_id: $user_id, interaction_id: result.interaction_id, fact_ids: result.fact_ids
})
"""

# All facts, the newest of them, of the topics asked for and of those found; and those that these contradict, marked as
# context. Each with its newest statements, and what was merged into it.
_WITH_TOPICS_AND_STATEMENTS: Final[LiteralString] = f"""
WITH found, $topics + [f IN found WHERE f.topic IS NOT NULL | f.topic] AS topics
CALL (topics) {{
    UNWIND topics AS topic
    WITH DISTINCT topic
    CALL (topic) {{
        MATCH (f:MnemeFact {{tenant_id: $tenant_id, user_id: $user_id, topic: topic}})
        USING INDEX f:MnemeFact(tenant_id, user_id, topic, last_confirmed_time)
        WHERE f.last_confirmed_time IS NOT NULL
        RETURN f
        ORDER BY f.tenant_id DESC, f.user_id DESC, f.topic DESC, f.last_confirmed_time DESC, f.fact_id
        LIMIT $topic_facts_max
    }}
    RETURN collect(f) AS of_topics
}}
WITH found + of_topics AS known
CALL (known) {{
    UNWIND known AS f
    RETURN DISTINCT f, false AS is_context
    UNION
    UNWIND known AS one
    MATCH (one)-[:CONTRADICTS]->(f:MnemeFact {{tenant_id: $tenant_id, user_id: $user_id}})
    WHERE NOT f IN known
    RETURN DISTINCT f, true AS is_context
}}
CALL (f) {{
    CALL (f) {{
        MATCH (s:MnemeStatement {{tenant_id: $tenant_id, user_id: $user_id, fact_id: f.fact_id}})
        USING INDEX s:MnemeStatement(tenant_id, user_id, fact_id, time, statement_id)
        WHERE s.time IS NOT NULL AND s.statement_id IS NOT NULL
        RETURN s
        ORDER BY s.tenant_id DESC, s.user_id DESC, s.fact_id DESC, s.time DESC, s.statement_id DESC
        LIMIT $statements_max
    }}
    RETURN collect({_STATEMENT}) AS statements
}}
CALL (f) {{
    OPTIONAL MATCH (m:MnemeFact {{tenant_id: $tenant_id, user_id: $user_id, merged_into_fact_id: f.fact_id}})
    USING INDEX m:MnemeFact(tenant_id, user_id, merged_into_fact_id)
    RETURN collect(m.fact_id) AS merged
}}
WITH f, is_context, statements, merged ORDER BY f.fact_id
RETURN {_RECORD}, is_context, statements, merged
"""

RECORDS: Final[LiteralString] = f"""
CALL () {{
    CALL () {{
        UNWIND $identities AS identity
        MATCH (f:MnemeFact {{tenant_id: $tenant_id, user_id: $user_id, identity: identity}})
        RETURN f
        UNION
        UNWIND $texts AS text_identity
        MATCH (f:MnemeFact {{tenant_id: $tenant_id, user_id: $user_id, text_identity: text_identity}})
        RETURN f
    }}
    RETURN collect(f) AS found
}}
{_WITH_TOPICS_AND_STATEMENTS}
"""

RECORDS_OF: Final[LiteralString] = f"""
CALL () {{
    UNWIND $fact_ids AS fact_id
    MATCH (f:MnemeFact {{tenant_id: $tenant_id, user_id: $user_id, fact_id: fact_id}})
    RETURN collect(f) AS found
}}
{_WITH_TOPICS_AND_STATEMENTS}
"""

# The statements of one user are read: they are found by their facts, not by their interactions.
REMOVE_EVIDENCE: Final[LiteralString] = """
MATCH (s:MnemeStatement {tenant_id: $tenant_id, user_id: $user_id})
USING INDEX s:MnemeStatement(tenant_id, user_id, fact_id, statement_id)
WHERE s.fact_id IS NOT NULL AND s.statement_id IS NOT NULL
    AND any(interaction_id IN s.interaction_ids WHERE interaction_id IN $interaction_ids)
SET s.interaction_ids = [interaction_id IN s.interaction_ids WHERE NOT interaction_id IN $interaction_ids]
WITH s, s.fact_id AS fact_id, size(s.interaction_ids) = 0 AS is_gone
FOREACH (gone IN CASE WHEN is_gone THEN [s] ELSE [] END | DETACH DELETE gone)
RETURN DISTINCT fact_id ORDER BY fact_id
"""

REMOVE_STATEMENTS: Final[LiteralString] = """
UNWIND $statement_ids AS statement_id
MATCH (s:MnemeStatement {
    tenant_id: $tenant_id, user_id: $user_id, fact_id: $fact_id, statement_id: statement_id
})
DETACH DELETE s
"""

MARK_REMOVED: Final[LiteralString] = """
UNWIND $interaction_ids AS interaction_id
MERGE (e:MnemeExtraction {tenant_id: $tenant_id, user_id: $user_id, interaction_id: interaction_id})
SET e.fact_ids = []
"""

MERGED_INTO: Final[LiteralString] = """
MATCH (f:MnemeFact {tenant_id: $tenant_id, user_id: $user_id})
USING INDEX f:MnemeFact(tenant_id, user_id, merged_into_fact_id)
WHERE f.merged_into_fact_id IN $fact_ids
RETURN f.fact_id AS fact_id ORDER BY fact_id
"""

UNLINK: Final[LiteralString] = """
UNWIND $fact_ids AS fact_id
MATCH (f:MnemeFact {tenant_id: $tenant_id, user_id: $user_id, fact_id: fact_id})
MATCH (f)-[link:CONTRADICTS]-(other:MnemeFact {tenant_id: $tenant_id, user_id: $user_id})
WITH other, collect(link) AS links
SET other.revision = other.revision + 1
FOREACH (link IN links | DELETE link)
"""

FORGET_RESULTS: Final[LiteralString] = """
UNWIND $fact_ids AS fact_id
MATCH (s:MnemeStatement {tenant_id: $tenant_id, user_id: $user_id, fact_id: fact_id})
USING INDEX s:MnemeStatement(tenant_id, user_id, fact_id, statement_id)
WHERE s.statement_id IS NOT NULL
UNWIND s.interaction_ids AS interaction_id
WITH DISTINCT interaction_id
MATCH (e:MnemeExtraction {tenant_id: $tenant_id, user_id: $user_id, interaction_id: interaction_id})
SET e.fact_ids = [fact_id IN e.fact_ids WHERE NOT fact_id IN $fact_ids]
"""

REMOVE_FACTS: Final[LiteralString] = """
UNWIND $fact_ids AS fact_id
MATCH (f:MnemeFact {tenant_id: $tenant_id, user_id: $user_id, fact_id: fact_id})
CALL (f) {
    MATCH (s:MnemeStatement {tenant_id: $tenant_id, user_id: $user_id, fact_id: f.fact_id})
    USING INDEX s:MnemeStatement(tenant_id, user_id, fact_id, statement_id)
    WHERE s.statement_id IS NOT NULL
    DETACH DELETE s
}
DETACH DELETE f
"""

ARCHIVE: Final[LiteralString] = """
UNWIND $fact_ids AS fact_id
MATCH (f:MnemeFact {tenant_id: $tenant_id, user_id: $user_id, fact_id: fact_id})
WHERE f.status IN [1, 2, 3]
SET f.previous_status = f.status, f.status = 5, f.revision = f.revision + 1
RETURN count(*) AS changed
"""

RESTORE: Final[LiteralString] = """
UNWIND $fact_ids AS fact_id
MATCH (f:MnemeFact {tenant_id: $tenant_id, user_id: $user_id, fact_id: fact_id})
WHERE f.status = 5
SET f.status = f.previous_status, f.previous_status = null, f.revision = f.revision + 1
RETURN count(*) AS changed
"""

# Of a user, `limit` at most: what one transaction removes is bounded.
REMOVE_OWNER: Final[LiteralString] = """
MATCH (f:MnemeFact {tenant_id: $tenant_id, user_id: $user_id})
USING INDEX f:MnemeFact(tenant_id, user_id, fact_id)
WHERE f.fact_id IS NOT NULL
WITH f LIMIT $limit
DETACH DELETE f
RETURN count(*) AS removed
"""

REMOVE_STATEMENTS_OF_OWNER: Final[LiteralString] = """
MATCH (s:MnemeStatement {tenant_id: $tenant_id, user_id: $user_id})
USING INDEX s:MnemeStatement(tenant_id, user_id, fact_id, statement_id)
WHERE s.fact_id IS NOT NULL AND s.statement_id IS NOT NULL
WITH s LIMIT $limit
DETACH DELETE s
RETURN count(*) AS removed
"""

FORGET_RESULTS_OF_OWNER: Final[LiteralString] = """
MATCH (e:MnemeExtraction {tenant_id: $tenant_id, user_id: $user_id})
USING INDEX e:MnemeExtraction(tenant_id, user_id, interaction_id)
WHERE e.interaction_id IS NOT NULL AND size(e.fact_ids) > 0
WITH e LIMIT $limit
SET e.fact_ids = []
RETURN count(*) AS removed
"""

PUT_FACTS: Final[LiteralString] = """
UNWIND $facts AS row
MERGE (f:MnemeFact {tenant_id: $tenant_id, user_id: $user_id, fact_id: row.fact_id})
SET f += row.state
"""

# Stored as 4-byte numbers, which is what the index compares.
PUT_VECTORS: Final[LiteralString] = """
UNWIND $vectors AS row
MATCH (f:MnemeFact {tenant_id: $tenant_id, user_id: $user_id, fact_id: row.fact_id})
SET f.embedding_model = row.model
WITH f, row
CALL db.create.setNodeVectorProperty(f, 'embedding', row.vector)
"""

PUT_STATEMENTS: Final[LiteralString] = """
UNWIND $statements AS row
MATCH (f:MnemeFact {tenant_id: $tenant_id, user_id: $user_id, fact_id: row.fact_id})
MERGE (s:MnemeStatement {
    tenant_id: $tenant_id, user_id: $user_id, fact_id: row.fact_id, statement_id: row.statement_id
})
ON CREATE SET s += row.state
MERGE (s)-[:SUPPORTS]->(f)
"""

PUT_CONTRADICTIONS: Final[LiteralString] = """
UNWIND $contradictions AS row
MATCH (f:MnemeFact {tenant_id: $tenant_id, user_id: $user_id, fact_id: row.fact_id})
CALL (f, row) {
    MATCH (f)-[link:CONTRADICTS]->(other:MnemeFact {tenant_id: $tenant_id, user_id: $user_id})
    WHERE NOT other.fact_id IN row.others
    DELETE link
}
CALL (f, row) {
    UNWIND row.others AS other_id
    MATCH (other:MnemeFact {tenant_id: $tenant_id, user_id: $user_id, fact_id: other_id})
    MERGE (f)-[:CONTRADICTS]->(other)
}
"""

GET_FACT: Final[LiteralString] = f"""
MATCH (f:MnemeFact {{tenant_id: $tenant_id, user_id: $user_id, fact_id: $fact_id}})
RETURN {_FACT}
"""

FACTS_OF: Final[LiteralString] = f"""
UNWIND $fact_ids AS fact_id
MATCH (f:MnemeFact {{tenant_id: $tenant_id, user_id: $user_id, fact_id: fact_id}})
RETURN {_HIT}
"""

LIST_FACTS: Final[LiteralString] = f"""
MATCH (f:MnemeFact {{tenant_id: $tenant_id, user_id: $user_id}})
USING INDEX f:MnemeFact(tenant_id, user_id, last_confirmed_time)
WHERE f.last_confirmed_time <= $after_time
WITH f ORDER BY f.tenant_id DESC, f.user_id DESC, f.last_confirmed_time DESC, f.fact_id
WHERE (f.last_confirmed_time < $after_time OR f.fact_id > $after_fact_id)
    AND f.status IN $statuses AND f.confidence >= $confidence_min
    AND ($category IS NULL OR f.category = $category)
    AND ($subject = '' OR toLower(f.subject) = toLower($subject))
    AND ($predicate = '' OR toLower(f.predicate) = toLower($predicate))
    AND ($scope_keys IS NULL OR f.scope_key IN $scope_keys)
WITH f ORDER BY f.tenant_id DESC, f.user_id DESC, f.last_confirmed_time DESC, f.fact_id LIMIT $limit
RETURN {_FACT}
"""

ACTIVE_TIME: Final[LiteralString] = f"""
MATCH (f:MnemeFact {{tenant_id: $tenant_id, user_id: $user_id}})
USING INDEX f:MnemeFact(tenant_id, user_id, last_confirmed_time)
WHERE f.last_confirmed_time IS NOT NULL
WITH f ORDER BY f.tenant_id DESC, f.user_id DESC, f.last_confirmed_time DESC LIMIT 1
RETURN {microseconds("f.last_confirmed_time")} AS active_time
"""

# Status: tentative or stable. The score is (1 + cosine) / 2.
SEARCH: Final[LiteralString] = f"""
CYPHER 25
MATCH (f:MnemeFact)
SEARCH f IN (
    VECTOR INDEX mneme_fact_embedding FOR $vector
    WHERE f.tenant_id = $tenant_id AND f.user_id = $user_id AND f.embedding_model = $model
        AND f.status < $status_before AND f.scope_key IN $scope_keys AND f.confidence >= $confidence_min
    LIMIT $candidates
) SCORE AS score
WITH f, score
WHERE f.status <> 4 AND ($fading_after IS NULL OR f.fade_time IS NULL OR f.fade_time > $fading_after)
WITH f, score ORDER BY score DESC, f.fact_id LIMIT $limit
RETURN {_HIT}, 2.0 * score - 1.0 AS similarity
"""
# By the index of the key: each of its properties has to be asked for.
USERS: Final[LiteralString] = """
MATCH (n:MnemeFact {tenant_id: $tenant_id})
USING INDEX n:MnemeFact(tenant_id, user_id, fact_id)
WHERE n.user_id > $after AND n.fact_id IS NOT NULL
WITH DISTINCT n.user_id AS user_id ORDER BY user_id LIMIT $limit
RETURN user_id
"""

ALL_QUERIES: Final[tuple[LiteralString, ...]] = (
    USERS,
    ACTIVE_TIME,
    *OWNER.all,
    EXTRACTED,
    ADD_EXTRACTED,
    RECORDS,
    RECORDS_OF,
    REMOVE_EVIDENCE,
    REMOVE_STATEMENTS,
    MARK_REMOVED,
    MERGED_INTO,
    UNLINK,
    FORGET_RESULTS,
    REMOVE_FACTS,
    ARCHIVE,
    RESTORE,
    REMOVE_OWNER,
    REMOVE_STATEMENTS_OF_OWNER,
    FORGET_RESULTS_OF_OWNER,
    PUT_FACTS,
    PUT_VECTORS,
    PUT_STATEMENTS,
    PUT_CONTRADICTIONS,
    GET_FACT,
    FACTS_OF,
    LIST_FACTS,
    SEARCH,
)
"""For the test that reads their plans."""
