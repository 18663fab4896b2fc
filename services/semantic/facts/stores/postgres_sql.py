"""Statements of the PostgreSQL fact store.

Every one names tenant and user by key, beside row-level security: keys make it fast, policies make it sure.
"""

from typing import Final

from services.common.postgres.tenancy import as_tenant

_PLAIN_COLUMNS: Final = (
    "fact_id, user_id, text, subject, predicate, object, category, confidence, importance, first_observed_time, "
    "last_confirmed_time, valid_from_time, valid_to_time, derived_from, "
    "evidence_count, contradictions, status, "
    "merged_into_fact_id, scope_key, revision, fade_time, feedback"
)
_COLUMNS: Final = f"{_PLAIN_COLUMNS}, versions"

EXTRACTED: Final = (
    "SELECT interaction_id, fact_ids FROM semantic.extracted_interactions "
    "WHERE tenant_id = $1 AND user_id = $2 AND interaction_id = ANY ($3::uuid[])"
)
ADD_EXTRACTED: Final = (
    "INSERT INTO semantic.extracted_interactions (tenant_id, user_id, interaction_id, fact_ids) VALUES ($1, $2, $3, $4)"
)

RECORDS: Final = f"""
SELECT {_COLUMNS}, identity, text_identity, topic FROM semantic.facts
WHERE tenant_id = $1 AND user_id = $2 AND fact_id = ANY (ARRAY(
    SELECT fact_id FROM semantic.facts WHERE tenant_id = $1 AND user_id = $2 AND identity = ANY ($3::bytea[])
    UNION
    SELECT fact_id FROM semantic.facts WHERE tenant_id = $1 AND user_id = $2 AND text_identity = ANY ($4::bytea[])
    UNION
    SELECT newest.fact_id FROM unnest($5::bytea[]) AS asked (topic) CROSS JOIN LATERAL (
        SELECT f.fact_id FROM semantic.facts AS f
        WHERE f.tenant_id = $1 AND f.user_id = $2 AND f.topic = asked.topic
        ORDER BY f.last_confirmed_time DESC, f.fact_id
        LIMIT $6
    ) AS newest
))
ORDER BY fact_id
"""  # noqa: S608 - no input in it

RECORDS_BY_ID: Final = f"""
SELECT {_COLUMNS}, identity, text_identity, topic FROM semantic.facts
WHERE tenant_id = $1 AND user_id = $2 AND fact_id = ANY ($3::uuid[])
"""  # noqa: S608 - no input in it

STATEMENTS: Final = """
SELECT newest.* FROM unnest($3::uuid[]) AS asked (fact_id) CROSS JOIN LATERAL (
    SELECT s.fact_id, s.statement_id, s.time, s.text, s.category, s.confidence, s.importance, s.subject, s.predicate,
        s.object, s.valid_from_time, s.valid_to_time, s.interaction_ids, s.is_correction, s.recorded_time, s.sentences,
        s.shares_sentence
    FROM semantic.fact_statements AS s
    WHERE s.tenant_id = $1 AND s.user_id = $2 AND s.fact_id = asked.fact_id
    ORDER BY s.time DESC, s.statement_id DESC
    LIMIT $4
) AS newest
"""

PUT_FACT: Final = """
INSERT INTO semantic.facts (
    tenant_id, user_id, fact_id, identity, text_identity, topic, text, subject, predicate, object, category, confidence,
    importance, first_observed_time, last_confirmed_time, valid_from_time, valid_to_time, derived_from, contradictions,
    status, merged_into_fact_id, versions, scope_key, revision, embedding_model, embedding,
    evidence_count, fade_time, feedback
)
VALUES (
    $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24,
    $25, $26, $27, $28, $29
)
"""

UPDATE_FACT: Final = """
UPDATE semantic.facts SET
    identity = $4, text_identity = $5, topic = $6, text = $7, subject = $8, predicate = $9, object = $10,
    category = $11, confidence = $12, importance = $13, first_observed_time = $14, last_confirmed_time = $15,
    valid_from_time = $16,
    valid_to_time = $17, derived_from = $18, contradictions = $19, status = $20, merged_into_fact_id = $21,
    versions = $22, scope_key = $23, revision = $24,
    embedding_model = CASE WHEN $26::vector IS NULL THEN embedding_model ELSE $25 END,
    embedding = coalesce($26, embedding), evidence_count = $27, fade_time = $28, feedback = $29,
    number = DEFAULT
WHERE tenant_id = $1 AND user_id = $2 AND fact_id = $3
"""

ADD_STATEMENT: Final = """
INSERT INTO semantic.fact_statements (
    tenant_id, user_id, fact_id, statement_id, time, text, category, confidence, importance, subject, predicate, object,
    valid_from_time, valid_to_time, interaction_ids, is_correction, recorded_time, sentences, shares_sentence
)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19)
ON CONFLICT DO NOTHING
"""

# The interactions keep their order in the statements they are removed from.
REMOVE_EVIDENCE: Final = """
UPDATE semantic.fact_statements AS s SET interaction_ids = ARRAY(
    SELECT i FROM unnest(s.interaction_ids) WITH ORDINALITY AS u (i, n) WHERE NOT i = ANY ($3::uuid[]) ORDER BY n
)
WHERE tenant_id = $1 AND user_id = $2 AND interaction_ids && $3::uuid[]
RETURNING fact_id, statement_id, cardinality(interaction_ids) AS remaining
"""
REMOVE_STATEMENTS: Final = """
DELETE FROM semantic.fact_statements
WHERE tenant_id = $1 AND user_id = $2 AND fact_id = $3 AND statement_id = ANY ($4::uuid[])
"""
MARK_REMOVED: Final = """
INSERT INTO semantic.extracted_interactions (tenant_id, user_id, interaction_id, fact_ids)
SELECT $1, $2, i, '{}' FROM unnest($3::uuid[]) AS given (i)
ON CONFLICT (tenant_id, user_id, interaction_id) DO UPDATE SET fact_ids = '{}'
"""

MERGED_INTO: Final = """
SELECT fact_id FROM semantic.facts
WHERE tenant_id = $1 AND user_id = $2 AND merged_into_fact_id = ANY ($3::uuid[])
ORDER BY fact_id
"""

# What facts were merged into, directly or by way of others.
WINNERS: Final = """
WITH RECURSIVE above (fact_id) AS (
    SELECT merged_into_fact_id FROM semantic.facts
    WHERE tenant_id = $1 AND user_id = $2 AND fact_id = ANY ($3::uuid[]) AND merged_into_fact_id IS NOT NULL
    UNION
    SELECT f.merged_into_fact_id FROM above JOIN semantic.facts AS f
        ON f.tenant_id = $1 AND f.user_id = $2 AND f.fact_id = above.fact_id
    WHERE f.merged_into_fact_id IS NOT NULL
)
SELECT fact_id FROM above
"""

# Links are stored on both sides, so that the facts to change are named by those in question.
UNLINK: Final = """
UPDATE semantic.facts AS f SET revision = revision + 1, number = DEFAULT, contradictions = CASE
    WHEN fact_id = ANY ($3::uuid[]) THEN '{}'
    ELSE ARRAY(SELECT i FROM unnest(f.contradictions) AS u (i) WHERE NOT i = ANY ($3::uuid[]) ORDER BY i)
END
WHERE tenant_id = $1 AND user_id = $2 AND contradictions <> '{}' AND (fact_id = ANY ($3::uuid[]) OR fact_id IN (
    SELECT unnest(contradictions) FROM semantic.facts
    WHERE tenant_id = $1 AND user_id = $2 AND fact_id = ANY ($3::uuid[])
))
"""
FORGET_RESULTS: Final = """
UPDATE semantic.extracted_interactions AS e SET fact_ids = ARRAY(
    SELECT i FROM unnest(e.fact_ids) WITH ORDINALITY AS u (i, n) WHERE NOT i = ANY ($3::uuid[]) ORDER BY n
)
WHERE tenant_id = $1 AND user_id = $2 AND interaction_id IN (
    SELECT unnest(interaction_ids) FROM semantic.fact_statements
    WHERE tenant_id = $1 AND user_id = $2 AND fact_id = ANY ($3::uuid[])
)
"""
# Statements go with their fact.
REMOVE: Final = "DELETE FROM semantic.facts WHERE tenant_id = $1 AND user_id = $2 AND fact_id = ANY ($3::uuid[])"

ARCHIVE: Final = """
UPDATE semantic.facts SET previous_status = status, status = 5, revision = revision + 1, number = DEFAULT
WHERE tenant_id = $1 AND user_id = $2 AND fact_id = ANY ($3::uuid[]) AND status IN (1, 2, 3)
"""
RESTORE: Final = """
UPDATE semantic.facts SET status = previous_status, previous_status = NULL, revision = revision + 1, number = DEFAULT
WHERE tenant_id = $1 AND user_id = $2 AND fact_id = ANY ($3::uuid[]) AND status = 5
"""

REMOVE_OWNER: Final = "DELETE FROM semantic.facts WHERE tenant_id = $1 AND user_id = $2"
FORGET_RESULTS_OF_OWNER: Final = """
UPDATE semantic.extracted_interactions SET fact_ids = '{}'
WHERE tenant_id = $1 AND user_id = $2 AND fact_ids <> '{}'
"""

GET_FACT: Final = f"SELECT {_COLUMNS} FROM semantic.facts WHERE tenant_id = $1 AND user_id = $2 AND fact_id = $3"  # noqa: S608 - no input in it

FACTS_OF: Final = f"""
SELECT {_PLAIN_COLUMNS} FROM semantic.facts WHERE tenant_id = $1 AND user_id = $2 AND fact_id = ANY ($3::uuid[])
"""  # noqa: S608 - no input in it

_LISTED: Final = """
    AND status = ANY ($4::smallint[]) AND confidence >= $5 AND ($6::smallint IS NULL OR category = $6)
    AND ($7 = '' OR lower(subject) = lower($7)) AND ($8 = '' OR lower(predicate) = lower($8))
    AND ($9::text[] IS NULL OR scope_key = ANY ($9))
ORDER BY last_confirmed_time DESC, fact_id
LIMIT $3
"""

LIST_FACTS: Final = f"""
SELECT {_COLUMNS} FROM semantic.facts
WHERE tenant_id = $1 AND user_id = $2 {_LISTED}
"""  # noqa: S608 - no input in it

LIST_FACTS_AFTER: Final = f"""
SELECT {_COLUMNS} FROM semantic.facts
WHERE tenant_id = $1 AND user_id = $2 AND last_confirmed_time <= $10 AND (last_confirmed_time < $10 OR fact_id > $11)
{_LISTED}
"""  # noqa: S608 - no input in it

ACTIVE_TIME: Final = """
SELECT max(last_confirmed_time) AS active_time FROM semantic.facts WHERE tenant_id = $1 AND user_id = $2
"""
ACTIVE_TIME_AS_TENANT: Final = as_tenant(ACTIVE_TIME)

HAS_VECTOR: Final = "(embedding_model = $3 OR second_model = $3)"
"""Whether a fact has a vector of the model $3."""
VECTOR: Final = "(CASE WHEN embedding_model = $3 THEN embedding ELSE second_embedding END)"
"""That vector, of a fact that has one: its first, or the second one beside it while the embedding model is changed."""

# Vectors have length 1, so that the inner product is the cosine. Only the winners' columns are fetched.
SEARCH: Final = f"""
SELECT {_PLAIN_COLUMNS}, -({VECTOR} <#> $4) AS similarity FROM semantic.facts
WHERE tenant_id = $1 AND user_id = $2 AND {HAS_VECTOR}
    AND scope_key = ANY ($5::text[]) AND (confidence > $6 OR ($7 AND confidence = $6))
    AND status = ANY ($10::smallint[]) AND ($9::timestamptz IS NULL OR fade_time IS NULL OR fade_time > $9)
ORDER BY {VECTOR} <#> $4, fact_id
LIMIT $8
"""  # noqa: S608 - no input in it
SEARCH_AS_TENANT: Final = as_tenant(SEARCH)

_EPOCH: Final = """
    coalesce((SELECT epoch FROM semantic.owner_revisions WHERE tenant_id = $1 AND user_id = $2), 0)
"""

#: Facts of the ids $3, an array as text, in any order, and whether a cache of revision $4 and epoch $5 is stale. Ids
#: are text both ways: the driver takes an array's elements apart in Python, and makes an object of each UUID.
FOUND_AS_TENANT: Final = as_tenant(f"""
SELECT fact_id::text, text, subject, predicate, object, category, confidence, importance, first_observed_time,
    last_confirmed_time, valid_from_time, valid_to_time, derived_from::text[],
    evidence_count, contradictions::text[], status,
    merged_into_fact_id::text, scope_key, revision, fade_time, feedback, EXISTS (
        SELECT FROM semantic.facts WHERE tenant_id = $1 AND user_id = $2 AND number > $4
    ) OR {_EPOCH} <> $5::bigint AS is_stale
FROM unnest($3::text::uuid[]) AS found (id) CROSS JOIN LATERAL (
    SELECT * FROM semantic.facts WHERE tenant_id = $1 AND user_id = $2 AND fact_id = found.id OFFSET 0
) AS fact
""")  # noqa: S608 - no input in it

#: What `VectorSource` asks for; levels are confidences, ends times. Of whatever model: a fact of another may have been
#: of this one.
NEW_VECTORS_AS_TENANT: Final = as_tenant(f"""
SELECT array_agg(fact_id) FILTER (WHERE may_be_found) AS ids,
    array_agg(scope_key) FILTER (WHERE may_be_found) AS scope_keys,
    array_agg(confidence) FILTER (WHERE may_be_found) AS levels,
    array_agg(extract(epoch FROM fade_time)::float8) FILTER (WHERE may_be_found) AS ends,
    string_agg(vector_send(embedding), ''::bytea) FILTER (WHERE may_be_found) AS vectors,
    array_agg(fact_id) FILTER (WHERE NOT may_be_found) AS gone,
    max(number) AS revision, {_EPOCH} AS epoch
FROM (
    SELECT fact_id, scope_key, confidence, fade_time, {VECTOR} AS embedding, number,
        {HAS_VECTOR} AND status IN (1, 2) AS may_be_found
    FROM semantic.facts
    WHERE tenant_id = $1 AND user_id = $2 AND number > $4
    ORDER BY number
    LIMIT $5
) behind
""")  # noqa: S608 - no input in it

#: How many facts of a user may be found, counted up to $4.
COUNT_VECTORS_AS_TENANT: Final = as_tenant(f"""
SELECT count(*) AS count FROM (
    SELECT FROM semantic.facts
    WHERE tenant_id = $1 AND user_id = $2 AND {HAS_VECTOR} AND status IN (1, 2) LIMIT $4
) AS counted
""")  # noqa: S608 - no input in it
