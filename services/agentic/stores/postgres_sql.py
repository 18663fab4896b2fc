"""Statements of the PostgreSQL note store.

Every one names tenant and user by key, beside row-level security: keys make it fast, policies make it sure.
"""

from typing import Final

from services.common.postgres.tenancy import as_tenant

SCHEMA: Final = "agentic"

NOTE_COLUMNS: Final = (
    "n.note_id, n.user_id, n.content, n.kind, n.importance, n.keywords, n.tags, n.attachments, n.metadata, "
    "n.derived_from, n.time, n.create_time, n.update_time, n.status, n.access_count, n.last_access_time, n.scope_key, "
    "n.speaker, n.conversation_id, n.position, n.spoken, n.question_id, n.question_chars, n.feedback, "
    "n.source_note_ids, n.successor_id, n.raised"
)

#: Of a hit: without what only linking looks at. Ids are text: the driver makes an object of each UUID.
_HIT_COLUMNS: Final = (
    "n.note_id::text AS note_id, n.content, n.kind, n.importance, n.keywords, n.tags, n.attachments, n.metadata, "
    "n.derived_from::text[] AS derived_from, n.time, n.create_time, n.update_time, n.access_count, n.last_access_time, "
    "n.scope_key, n.feedback"
)

LOCK_USER: Final = "SELECT pg_advisory_xact_lock(hashtextextended('mneme.agentic.' || $1 || chr(31) || $2, 0))"

GET_NOTE: Final = f"SELECT {NOTE_COLUMNS} FROM agentic.notes n WHERE tenant_id = $1 AND user_id = $2 AND note_id = $3"  # noqa: S608 - no input in it

LINK_COLUMNS: Final = (
    "CASE WHEN is_first THEN note_id ELSE other_note_id END AS from_note_id, "
    "CASE WHEN is_first THEN other_note_id ELSE note_id END AS to_note_id, type, strength, origin, create_time, "
    "update_time, feedback"
)

#: $4 type or null, $5 number; after a link of strength $6 between $7 and $8 of type $9, or null.
LIST_LINKS: Final = f"""
SELECT * FROM (
    SELECT {LINK_COLUMNS} FROM agentic.link_ends
    WHERE tenant_id = $1 AND user_id = $2 AND note_id = $3 AND NOT is_hidden AND ($4::smallint IS NULL OR type = $4)
        AND ($10::text[] IS NULL OR other_scope_key = ANY ($10))
) links
WHERE $6::float8 IS NULL
    OR (-strength, from_note_id, to_note_id, type) > (-$6::float8, $7::uuid, $8::uuid, $9::smallint)
ORDER BY strength DESC, from_note_id, to_note_id, type
LIMIT $5
"""  # noqa: S608 - no input in it

#: $3 status, $4 kind, $5 forms of a tag, $6 and $7 bounds of the time, each or null; $8 number; $9 scopes, or null;
#: after a note of time $10 with id $11, or null. Two statements, so that the planner reads a later page from its place
#: in the index.
LIST_NOTES: Final = f"""
SELECT {NOTE_COLUMNS} FROM agentic.notes n
WHERE tenant_id = $1 AND user_id = $2 AND status = $3 AND ($4::smallint IS NULL OR kind = $4)
    AND ($5::text[] IS NULL OR tags && $5) AND ($6::timestamptz IS NULL OR time >= $6)
    AND ($7::timestamptz IS NULL OR time < $7) AND ($9::text[] IS NULL OR scope_key = ANY ($9))
ORDER BY create_time DESC, note_id
LIMIT $8
"""  # noqa: S608 - no input in it
LIST_NOTES_AFTER: Final = LIST_NOTES.replace(
    "ORDER BY", "AND create_time <= $10 AND (create_time < $10 OR note_id > $11)\nORDER BY"
)


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
                AND NOT is_hidden AND other_scope_key = ANY ($4::text[])
                AND s.score * (strength * $8::float8) >= bound.score
            ORDER BY strength DESC, other_note_id
            LIMIT $9::bigint
        ) l
    """  # noqa: S608 - no input in it


#: A note is as near as the best of its own vector and those of its captions. `place` is that of the attachment whose
#: caption counts, null where its own vector does.
_NEAR_CAPTIONS: Final = """
    SELECT note_id, -(embedding <#> $5::vector) AS score, place
    FROM agentic.caption_vectors
    WHERE tenant_id = $1 AND user_id = $2 AND model = $3 AND is_active AND scope_key = ANY ($4::text[])
"""


def _search(near: str, beside: str = "", captions: str = _NEAR_CAPTIONS) -> str:
    """The walk from the notes that `near` finds by their own vectors, and from those found by captions.

    It leaves out what cannot be among the hits: a way's score never rises, strength and damping being at most 1 (nor
    does its float, since rounding keeps the order), so neither a note that does not reach the last of the nearest hits
    nor one that would not with a link of strength 1 is walked from. Equal scores may count, by the smaller id.
    """
    return f"""
WITH near AS MATERIALIZED (
    SELECT note_id, score, place FROM (
        SELECT DISTINCT ON (note_id) note_id, score, place
        FROM ((SELECT note_id, score, NULL::smallint AS place FROM ({near}) own) UNION ALL ({captions})) found
        ORDER BY note_id, score DESC, place NULLS FIRST
    ) best_of_note
    ORDER BY score DESC, note_id
    LIMIT greatest($6::bigint, $7::bigint)
), bound AS MATERIALIZED (
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
    coalesce(near.score, greatest(-(v.embedding <#> $5::vector), c.score), 0) AS similarity,
    CASE WHEN b.seed IS NULL THEN near.place END AS place{beside}
FROM best b LEFT JOIN near ON near.note_id = b.note_id
CROSS JOIN LATERAL (
    SELECT * FROM agentic.notes WHERE tenant_id = $1 AND user_id = $2 AND note_id = b.note_id OFFSET 0
) n
LEFT JOIN LATERAL (
    SELECT embedding FROM agentic.note_vectors
    WHERE near.note_id IS NULL AND tenant_id = $1 AND user_id = $2 AND model = $3 AND note_id = b.note_id OFFSET 0
) v ON true
LEFT JOIN LATERAL (
    SELECT max(-(embedding <#> $5::vector)) AS score FROM agentic.caption_vectors
    WHERE near.note_id IS NULL AND tenant_id = $1 AND user_id = $2 AND model = $3 AND note_id = b.note_id
) c ON true
ORDER BY b.score DESC, b.note_id
"""  # noqa: S608 - no input in it


#: $1 tenant, $2 user, $3 model, $4 visible scope keys, $5 query vector, $6 hits, $7 seeds (0: no walk), $8
#: damping, $9 fan-out, $10 frontier (0: one link only). The vectors have length 1, so the inner product is
#: the cosine.
_NEAR: Final = """
    SELECT note_id, -(embedding <#> $5::vector) AS score
    FROM agentic.note_vectors
    WHERE tenant_id = $1 AND user_id = $2 AND model = $3 AND is_active AND scope_key = ANY ($4::text[])
    ORDER BY score DESC, note_id
    LIMIT greatest($6::bigint, $7::bigint)
"""
SEARCH: Final = _search(_NEAR)
SEARCH_AS_TENANT: Final = as_tenant(SEARCH)


def _archived(near: str) -> str:
    return near.replace("AND is_active", "AND NOT is_active")


#: The same among archived notes; $7 is 0, since their links are hidden.
SEARCH_ARCHIVED_AS_TENANT: Final = as_tenant(_search(_archived(_NEAR), captions=_archived(_NEAR_CAPTIONS)))


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

#: The notes themselves, in any order, where it is known that no link leads to a better one; whether the user has
#: captions, so that other notes may be nearer: $3 model, $4 their ids, an
#: array as text, $5 and $6 revision and epoch of the cache that they are from.
NOTES_AS_TENANT: Final = as_tenant(f"""
SELECT {_HIT_COLUMNS}, {_is_stale("$3", "$5", "$6")}, EXISTS (
    SELECT FROM agentic.caption_vectors WHERE tenant_id = $1 AND user_id = $2 AND model = $3 AND is_active
) AS has_captions
FROM unnest($4::text::uuid[]) AS given (note_id)
CROSS JOIN LATERAL (
    SELECT * FROM agentic.notes WHERE tenant_id = $1 AND user_id = $2 AND note_id = given.note_id OFFSET 0
) n
""")  # noqa: S608 - no input in it

#: Vectors of a user after revision $4, up to $5 of them. Those of archived notes are `gone`.
NEW_VECTORS_AS_TENANT: Final = as_tenant(f"""
SELECT array_agg(note_id) FILTER (WHERE is_active) AS ids, array_agg(scope_key) FILTER (WHERE is_active) AS scope_keys,
    NULL::float8[] AS levels, NULL::float8[] AS ends,
    string_agg(vector_send(embedding), ''::bytea) FILTER (WHERE is_active) AS vectors,
    array_agg(note_id) FILTER (WHERE NOT is_active) AS gone, max(number) AS revision, {_EPOCH} AS epoch
FROM (
    SELECT note_id, scope_key, is_active, embedding, number FROM agentic.note_vectors
    WHERE tenant_id = $1 AND user_id = $2 AND model = $3 AND number > $4
    ORDER BY number
    LIMIT $5
) new
""")  # noqa: S608 - no input in it

#: How many vectors a user has, counted up to $4.
COUNT_VECTORS_AS_TENANT: Final = as_tenant("""
SELECT count(*) AS count FROM (
    SELECT FROM agentic.note_vectors
    WHERE tenant_id = $1 AND user_id = $2 AND model = $3 AND is_active
    LIMIT $4
) AS counted
""")

RECORD_ACCESS: Final = """
UPDATE agentic.notes n
SET access_count = n.access_count + c.count, last_access_time = greatest(n.last_access_time, $5)
FROM unnest($3::uuid[], $4::bigint[]) AS c (note_id, count)
WHERE n.tenant_id = $1 AND n.user_id = $2 AND n.note_id = c.note_id
"""

PROCESSED: Final = """
SELECT interaction_id, note_ids FROM agentic.processed_interactions
WHERE tenant_id = $1 AND user_id = $2 AND interaction_id = ANY ($3)
"""

QUESTIONS: Final = """
SELECT p.conversation_id, p.position, q.interaction_id, q.speaker, q.question
FROM unnest($3::text[], $4::bigint[]) AS p (conversation_id, position)
CROSS JOIN LATERAL (
    SELECT interaction_id, speaker, question FROM agentic.processed_interactions t
    WHERE tenant_id = $1 AND user_id = $2 AND question <> ''
        AND t.conversation_id = p.conversation_id AND t.position = p.position
    ORDER BY interaction_id
    LIMIT 1
) q
"""
