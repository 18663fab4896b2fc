"""Statements of the PostgreSQL note store.

Every one names tenant and user by key, beside row-level security: keys make it fast, policies make it sure.
"""

from typing import Final

from services.common.postgres.tenancy import as_tenant

NOTE_COLUMNS: Final = (
    "n.note_id, n.user_id, n.content, n.kind, n.importance, n.keywords, n.tags, n.attachments, n.metadata, "
    "n.derived_from, n.time, n.create_time, n.access_count, n.last_access_time, n.scope_key, n.speaker, "
    "n.conversation_id, n.position, n.spoken"
)

#: Of a hit: without what only linking looks at. Ids are text: the driver makes an object of each UUID.
_HIT_COLUMNS: Final = (
    "n.note_id::text AS note_id, n.content, n.kind, n.importance, n.keywords, n.tags, n.attachments, n.metadata, "
    "n.derived_from::text[] AS derived_from, n.time, n.create_time, n.access_count, n.last_access_time, n.scope_key"
)

LOCK_USER: Final = "SELECT pg_advisory_xact_lock(hashtextextended('mneme.agentic.' || $1 || chr(31) || $2, 0))"

GET_NOTE: Final = f"SELECT {NOTE_COLUMNS} FROM agentic.notes n WHERE tenant_id = $1 AND user_id = $2 AND note_id = $3"  # noqa: S608 - no input in it

_LINK_COLUMNS: Final = (
    "CASE WHEN is_first THEN note_id ELSE other_note_id END AS from_note_id, "
    "CASE WHEN is_first THEN other_note_id ELSE note_id END AS to_note_id, type, strength, create_time"
)

LINKS_OF_NOTE: Final = f"""
SELECT {_LINK_COLUMNS} FROM agentic.link_ends
WHERE tenant_id = $1 AND user_id = $2 AND note_id = $3
ORDER BY strength DESC, from_note_id, to_note_id, type
LIMIT $4
"""  # noqa: S608 - no input in it

LIST_NOTES: Final = f"""
SELECT {NOTE_COLUMNS} FROM agentic.notes n
WHERE tenant_id = $1 AND user_id = $2 AND ($3::smallint IS NULL OR kind = $3)
ORDER BY create_time DESC, note_id
LIMIT $4
"""  # noqa: S608 - no input in it

LIST_NOTES_AFTER: Final = f"""
SELECT {NOTE_COLUMNS} FROM agentic.notes n
WHERE tenant_id = $1 AND user_id = $2 AND ($3::smallint IS NULL OR kind = $3)
    AND create_time <= $5 AND (create_time < $5 OR note_id > $6)
ORDER BY create_time DESC, note_id
LIMIT $4
"""  # noqa: S608 - no input in it


def _expand(source: str) -> str:
    """Links of each note of `source`, in both directions, to notes that the reader may see.

    LATERAL with a LIMIT leaves the planner no choice but to look links up note by note, whatever it believes
    about the sizes of tables. Of a note's links those that could count are the strongest, so leaving out the others
    before or after the LIMIT is the same.
    """
    return f"""
        {source} s CROSS JOIN bound CROSS JOIN LATERAL (
            SELECT other_note_id AS note_id, strength, s.score * (strength * $8::float8) AS score
            FROM agentic.link_ends
            WHERE tenant_id = $1 AND user_id = $2 AND note_id = s.note_id
                AND other_scope_key = ANY ($4::text[])
                AND s.score * (strength * $8::float8) >= bound.score
            ORDER BY strength DESC, other_note_id
            LIMIT $9::bigint
        ) l
    """  # noqa: S608 - no input in it


def _search(near: str, beside: str = "") -> str:
    """The walk from the notes that `near` finds.

    It leaves out what cannot be among the hits: a way's score never rises, strength and damping being at most 1 (nor
    does its float, since rounding keeps the order), so neither a note that does not reach the last of the nearest hits
    nor one that would not with a link of strength 1 is walked from. Equal scores may count, by the smaller id.
    """
    return f"""
WITH near AS MATERIALIZED ({near}), bound AS MATERIALIZED (
    SELECT coalesce((SELECT score FROM near ORDER BY score DESC OFFSET $6::bigint - 1 LIMIT 1), '-Infinity') AS score
), seeds AS MATERIALIZED (
    SELECT near.note_id, near.score
    FROM near CROSS JOIN bound
    WHERE near.score > 0 AND near.score * $8::float8 >= bound.score
    ORDER BY near.score DESC, near.note_id
    LIMIT $7
), one AS MATERIALIZED (
    SELECT DISTINCT ON (l.note_id) l.note_id, l.score, s.note_id AS seed, l.strength AS seed_strength
    FROM {_expand("seeds")}
    ORDER BY l.note_id, l.score DESC, seed
), frontier AS MATERIALIZED (
    SELECT one.note_id, one.score, one.seed, one.seed_strength
    FROM one CROSS JOIN bound LEFT JOIN near USING (note_id)
    WHERE one.score * $8::float8 >= bound.score AND (near.note_id IS NULL OR one.score > near.score)
    ORDER BY one.score DESC, one.note_id
    LIMIT $10::bigint
), two AS MATERIALIZED (
    SELECT DISTINCT ON (l.note_id) l.note_id, l.score, s.seed, s.seed_strength, s.note_id AS via,
        l.strength AS via_strength
    FROM {_expand("frontier")} WHERE l.note_id <> s.seed ORDER BY l.note_id, l.score DESC, s.seed, via
), best AS (
    -- A note that is not near is less similar than all that are, so what reached it is all that can place it.
    SELECT * FROM (
        SELECT DISTINCT ON (note_id) *
        FROM (
            SELECT note_id, score, 0 AS hops, NULL::uuid AS seed, NULL::float8 AS seed_strength, NULL::uuid AS via,
                NULL::float8 AS via_strength
            FROM near
            UNION ALL SELECT note_id, score, 1, seed, seed_strength, NULL, NULL FROM one
            UNION ALL SELECT note_id, score, 2, seed, seed_strength, via, via_strength FROM two
        ) found
        ORDER BY note_id, score DESC, hops
    ) ways
    ORDER BY score DESC, note_id
    LIMIT $6
)
SELECT {_HIT_COLUMNS}, b.score, b.seed::text AS seed, b.seed_strength, b.via::text AS via, b.via_strength,
    coalesce(near.score, -(v.embedding <#> $5::vector), 0) AS similarity{beside}
FROM best b LEFT JOIN near ON near.note_id = b.note_id
CROSS JOIN LATERAL (
    SELECT * FROM agentic.notes WHERE tenant_id = $1 AND user_id = $2 AND note_id = b.note_id OFFSET 0
) n
LEFT JOIN LATERAL (
    SELECT embedding FROM agentic.note_vectors
    WHERE near.note_id IS NULL AND tenant_id = $1 AND user_id = $2 AND model = $3 AND note_id = b.note_id OFFSET 0
) v ON true
ORDER BY b.score DESC, b.note_id
"""  # noqa: S608 - no input in it


#: $1 tenant, $2 user, $3 model, $4 visible scope keys, $5 query vector, $6 hits, $7 seeds (0: no walk), $8
#: damping, $9 fan-out, $10 frontier (0: one link only). The vectors have length 1, so the inner product is
#: the cosine.
SEARCH: Final = _search("""
    SELECT note_id, -(embedding <#> $5::vector) AS score
    FROM agentic.note_vectors
    WHERE tenant_id = $1 AND user_id = $2 AND model = $3 AND scope_key = ANY ($4::text[])
    ORDER BY score DESC, note_id
    LIMIT greatest($6::bigint, $7::bigint)
""")
SEARCH_AS_TENANT: Final = as_tenant(SEARCH)


_EPOCH: Final = "coalesce((SELECT epoch FROM agentic.owner_revisions WHERE tenant_id = $1 AND user_id = $2), 0)"


def _is_stale(model: str, revision: str, epoch: str) -> str:
    """Whether vectors were added after a revision, or removed since an epoch."""
    return f"""EXISTS (
        SELECT FROM agentic.note_vectors
        WHERE tenant_id = $1 AND user_id = $2 AND model = {model} AND number > {revision}
    ) OR {_EPOCH} <> {epoch}::bigint AS is_stale"""


#: The same where the nearest notes are known: $11 their ids, an array as text, $12 their scores, $13 and $14 the
#: revision and the epoch of the cache that they are from.
SEARCH_FROM_AS_TENANT: Final = as_tenant(
    _search(
        "SELECT note_id, score FROM unnest($11::text::uuid[], $12::float8[]) AS given (note_id, score)",
        f", {_is_stale('$3', '$13', '$14')}",
    )
)

#: The notes themselves, in any order, where it is known that no link leads to a better one: $3 model, $4 their ids, an
#: array as text, $5 and $6 revision and epoch of the cache that they are from.
NOTES_AS_TENANT: Final = as_tenant(f"""
SELECT {_HIT_COLUMNS}, {_is_stale("$3", "$5", "$6")}
FROM unnest($4::text::uuid[]) AS given (note_id)
CROSS JOIN LATERAL (
    SELECT * FROM agentic.notes WHERE tenant_id = $1 AND user_id = $2 AND note_id = given.note_id OFFSET 0
) n
""")  # noqa: S608 - no input in it

#: Vectors of a user after revision $4, up to $5 of them.
NEW_VECTORS_AS_TENANT: Final = as_tenant(f"""
SELECT array_agg(note_id) AS ids, array_agg(scope_key) AS scope_keys, NULL::float8[] AS levels,
    string_agg(vector_send(embedding), ''::bytea) AS vectors, NULL::uuid[] AS gone, max(number) AS revision,
    {_EPOCH} AS epoch
FROM (
    SELECT note_id, scope_key, embedding, number FROM agentic.note_vectors
    WHERE tenant_id = $1 AND user_id = $2 AND model = $3 AND number > $4
    ORDER BY number
    LIMIT $5
) behind
""")  # noqa: S608 - no input in it

#: How many vectors a user has, counted up to $4.
COUNT_VECTORS_AS_TENANT: Final = as_tenant("""
SELECT count(*) AS count FROM (
    SELECT FROM agentic.note_vectors WHERE tenant_id = $1 AND user_id = $2 AND model = $3 LIMIT $4
) AS counted
""")

RECORD_ACCESS: Final = """
UPDATE agentic.notes n
SET access_count = n.access_count + c.count, last_access_time = greatest(n.last_access_time, $5)
FROM unnest($3::uuid[], $4::bigint[]) AS c (note_id, count)
WHERE n.tenant_id = $1 AND n.user_id = $2 AND n.note_id = c.note_id
"""

TAKEN: Final = """
SELECT interaction_id, note_ids FROM agentic.taken_interactions
WHERE tenant_id = $1 AND user_id = $2 AND interaction_id = ANY ($3)
"""

QUESTIONS: Final = """
SELECT p.conversation_id, p.position, q.speaker, q.question
FROM unnest($3::text[], $4::bigint[]) AS p (conversation_id, position)
CROSS JOIN LATERAL (
    SELECT speaker, question FROM agentic.taken_interactions t
    WHERE tenant_id = $1 AND user_id = $2 AND question <> ''
        AND t.conversation_id = p.conversation_id AND t.position = p.position
    ORDER BY interaction_id
    LIMIT 1
) q
"""

PRECEDING_NOTES: Final = """
SELECT p.conversation_id, p.position, n.note_id, n.position AS note_position, n.scope_key
FROM unnest($3::text[], $4::bigint[]) AS p (conversation_id, position)
CROSS JOIN LATERAL (
    SELECT note_id, position, scope_key FROM agentic.notes m
    WHERE tenant_id = $1 AND user_id = $2 AND conversation_id <> ''
        AND m.conversation_id = p.conversation_id AND m.position < p.position
    ORDER BY m.position DESC, note_id
    LIMIT 1
) n
"""

#: All vectors of a user as one value: decoded in one step instead of row by row. $4: newest notes, by id,
#: which begins with the time.
ALL_VECTORS: Final = """
SELECT array_agg(note_id) AS note_ids, array_agg(scope_key) AS scope_keys,
    string_agg(vector_send(embedding), ''::bytea) AS vectors
FROM (
    SELECT note_id, scope_key, embedding FROM agentic.note_vectors
    WHERE tenant_id = $1 AND user_id = $2 AND model = $3
    ORDER BY note_id DESC
    LIMIT $4
) newest
"""

#: The nearest notes to one vector ($6), among the newest $4, visible with the keys $5.
NEAREST: Final = """
SELECT note_id, similarity
FROM (
    SELECT note_id, scope_key, -(embedding <#> $6::vector) AS similarity
    FROM (
        SELECT note_id, scope_key, embedding FROM agentic.note_vectors
        WHERE tenant_id = $1 AND user_id = $2 AND model = $3
        ORDER BY note_id DESC
        LIMIT $4::bigint
    ) newest
) compared
WHERE similarity >= $7 AND scope_key = ANY ($5::text[])
ORDER BY similarity DESC, note_id
LIMIT $8::bigint
"""

NOTES_FOR_LINKING: Final = """
SELECT note_id, kind, content, speaker FROM agentic.notes
WHERE tenant_id = $1 AND user_id = $2 AND note_id = ANY ($3)
"""

ADD_NOTE: Final = """
INSERT INTO agentic.notes (
    tenant_id, note_id, user_id, content, kind, importance, keywords, tags, attachments, metadata,
    derived_from, time, create_time, scope_key, speaker, conversation_id, position, spoken
) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18)
"""

ADD_VECTOR: Final = """
INSERT INTO agentic.note_vectors (tenant_id, user_id, model, note_id, scope_key, embedding)
VALUES ($1, $2, $3, $4, $5, $6)
"""

PUT_LINKS: Final = f"""
INSERT INTO agentic.link_ends (
    tenant_id, user_id, note_id, other_note_id, type, is_first, strength, create_time, other_scope_key
)
SELECT $1, $2, ends.note_id, ends.other_note_id, given.type, ends.is_first, given.strength, given.create_time,
    ends.other_scope_key
FROM unnest($3::uuid[], $4::uuid[], $5::smallint[], $6::float8[], $7::timestamptz[])
    AS given (from_note_id, to_note_id, type, strength, create_time)
JOIN agentic.notes a ON a.tenant_id = $1 AND a.user_id = $2 AND a.note_id = given.from_note_id
JOIN agentic.notes b ON b.tenant_id = $1 AND b.user_id = $2 AND b.note_id = given.to_note_id
CROSS JOIN LATERAL (
    VALUES (a.note_id, b.note_id, true, b.scope_key), (b.note_id, a.note_id, false, a.scope_key)
) AS ends (note_id, other_note_id, is_first, other_scope_key)
ON CONFLICT (tenant_id, user_id, note_id, other_note_id, type, is_first)
    DO UPDATE SET strength = excluded.strength
RETURNING {_LINK_COLUMNS}
"""  # noqa: S608 - no input in it

DELETE_LINK: Final = """
DELETE FROM agentic.link_ends
WHERE tenant_id = $1 AND user_id = $2 AND type = $5
    AND (
        (note_id = $3 AND other_note_id = $4 AND is_first)
        OR (note_id = $4 AND other_note_id = $3 AND NOT is_first)
    )
"""

ADD_TAKEN: Final = """
INSERT INTO agentic.taken_interactions (
    tenant_id, user_id, interaction_id, conversation_id, position, note_ids, speaker, question
) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
"""

RECEIPT: Final = """
SELECT fingerprint, answer, create_time FROM agentic.receipts
WHERE tenant_id = $1 AND principal_id = $2 AND request_id = $3
"""

ADD_RECEIPT: Final = """
INSERT INTO agentic.receipts (tenant_id, principal_id, request_id, fingerprint, answer, create_time)
VALUES ($1, $2, $3, $4, $5, $6)
"""

#: A few at a time, with each write: no job is needed, and none of them waits long.
FORGET_RECEIPTS: Final = """
DELETE FROM agentic.receipts
WHERE tenant_id = $1 AND (principal_id, request_id) IN (
    SELECT principal_id, request_id FROM agentic.receipts
    WHERE tenant_id = $1 AND create_time < $2
    ORDER BY create_time
    LIMIT 10
)
"""
