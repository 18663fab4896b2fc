"""Statements of the PostgreSQL note writer. See `postgres_sql.py`."""

from typing import Final

from services.agentic.stores.postgres_sql import LINK_COLUMNS, NOTE_COLUMNS

PRECEDING_NOTES: Final = """
SELECT p.conversation_id, p.position, n.note_id, n.position AS note_position, n.scope_key
FROM unnest($3::text[], $4::bigint[]) AS p (conversation_id, position)
CROSS JOIN LATERAL (
    SELECT note_id, position, scope_key FROM agentic.notes m
    WHERE tenant_id = $1 AND user_id = $2 AND conversation_id <> '' AND status = 1
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
    WHERE tenant_id = $1 AND user_id = $2 AND model = $3 AND is_active
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
        WHERE tenant_id = $1 AND user_id = $2 AND model = $3 AND is_active
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

GET_NOTES: Final = (
    f"SELECT {NOTE_COLUMNS} FROM agentic.notes n WHERE tenant_id = $1 AND user_id = $2 AND note_id = ANY ($3)"  # noqa: S608 - no input in it
)

#: Reads all of the user's notes: an index by source would cost each write for the sake of rare erasures.
NOTES_OF_SOURCES: Final = f"""
SELECT {NOTE_COLUMNS} FROM agentic.notes n
WHERE tenant_id = $1 AND user_id = $2 AND (derived_from && $3 OR question_id = ANY ($3))
ORDER BY note_id
"""  # noqa: S608 - no input in it

ADD_NOTE: Final = """
INSERT INTO agentic.notes (
    tenant_id, user_id, note_id, content, kind, importance, keywords, tags, attachments, metadata, derived_from, time,
    update_time, speaker, conversation_id, position, spoken, question_id, question_chars, feedback, source_note_ids,
    raised, create_time, scope_key, status
) VALUES (
    $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24, 1
)
"""

UPDATE_NOTE: Final = """
UPDATE agentic.notes
SET content = $4, kind = $5, importance = $6, keywords = $7, tags = $8, attachments = $9, metadata = $10,
    derived_from = $11, time = $12, update_time = $13, speaker = $14, conversation_id = $15, position = $16,
    spoken = $17, question_id = $18, question_chars = $19, feedback = $20, source_note_ids = $21, raised = $22
WHERE tenant_id = $1 AND user_id = $2 AND note_id = $3
"""

ADD_VECTOR: Final = """
INSERT INTO agentic.note_vectors (tenant_id, user_id, model, note_id, scope_key, embedding)
VALUES ($1, $2, $3, $4, $5, $6)
"""

#: With a new number, so that caches read it.
PUT_VECTOR: Final = """
INSERT INTO agentic.note_vectors (tenant_id, user_id, model, note_id, scope_key, is_active, embedding)
SELECT $1, $2, $3, note_id, scope_key, status = 1, $5 FROM agentic.notes
WHERE tenant_id = $1 AND user_id = $2 AND note_id = $4
ON CONFLICT (tenant_id, user_id, model, note_id) DO UPDATE SET embedding = excluded.embedding, number = DEFAULT
"""

DELETE_OTHER_VECTORS: Final = """
DELETE FROM agentic.note_vectors WHERE tenant_id = $1 AND user_id = $2 AND note_id = ANY ($3) AND model <> ALL ($4)
"""

DELETE_CAPTIONS: Final = """
DELETE FROM agentic.caption_vectors WHERE tenant_id = $1 AND user_id = $2 AND note_id = ANY ($3) AND model <> $4
"""

#: $3 model, $4 note, $5 place of the attachment, $6 vector.
ADD_CAPTION: Final = """
INSERT INTO agentic.caption_vectors (tenant_id, user_id, model, note_id, place, scope_key, is_active, embedding)
SELECT $1, $2, $3, note_id, $5, scope_key, status = 1, $6 FROM agentic.notes
WHERE tenant_id = $1 AND user_id = $2 AND note_id = $4
"""

SET_STATUS: Final = """
UPDATE agentic.notes
SET status = $4, update_time = $5, successor_id = CASE WHEN $4 = 1 THEN NULL ELSE successor_id END
WHERE tenant_id = $1 AND user_id = $2 AND note_id = ANY ($3) AND status <> $4
"""

#: A new number takes vectors of archived notes out of caches, and restored ones into them.
SET_VECTORS_ACTIVE: Final = """
UPDATE agentic.note_vectors SET is_active = $4, number = DEFAULT
WHERE tenant_id = $1 AND user_id = $2 AND note_id = ANY ($3) AND is_active <> $4
"""

SET_CAPTIONS_ACTIVE: Final = """
UPDATE agentic.caption_vectors SET is_active = $4
WHERE tenant_id = $1 AND user_id = $2 AND note_id = ANY ($3) AND is_active <> $4
"""


def _note(name: str, note_id: str) -> str:
    """A join with one note, looked up by its key whatever the planner believes.

    Of a table that it knows nothing of it would join all notes of the user with all, and find the wanted ones there.
    """
    return f"""CROSS JOIN LATERAL (
    SELECT note_id, status, scope_key FROM agentic.notes
    WHERE tenant_id = $1 AND user_id = $2 AND note_id = {note_id} OFFSET 0
) {name}"""  # noqa: S608 - no input in it


_PAIRS: Final = """
    WITH ends AS MATERIALIZED (
        SELECT note_id, other_note_id FROM agentic.link_ends
        WHERE tenant_id = $1 AND user_id = $2 AND note_id = ANY ($3)
    )
    SELECT note_id, other_note_id FROM ends UNION SELECT other_note_id, note_id FROM ends
"""

#: After a change of the notes' status.
SET_LINKS_HIDDEN: Final = f"""
UPDATE agentic.link_ends l SET is_hidden = a.status <> 1 OR b.status <> 1
FROM ({_PAIRS}) p
{_note("a", "p.note_id")}
{_note("b", "p.other_note_id")}
WHERE l.tenant_id = $1 AND l.user_id = $2 AND l.note_id = p.note_id AND l.other_note_id = p.other_note_id
"""  # noqa: S608 - no input in it

DELETE_LINKS_OF: Final = f"""
WITH gone AS (
    DELETE FROM agentic.link_ends l USING ({_PAIRS}) p
    WHERE l.tenant_id = $1 AND l.user_id = $2 AND l.note_id = p.note_id AND l.other_note_id = p.other_note_id
    RETURNING is_first
)
SELECT count(*) FILTER (WHERE is_first) FROM gone
"""  # noqa: S608 - no input in it

DELETE_SIMILARITY_LINKS: Final = f"""
DELETE FROM agentic.link_ends l USING ({_PAIRS}) p
WHERE l.tenant_id = $1 AND l.user_id = $2 AND l.note_id = p.note_id AND l.other_note_id = p.other_note_id
    AND l.origin = 1
"""  # noqa: S608 - no input in it

DELETE_VECTORS_OF: Final = """
DELETE FROM agentic.note_vectors WHERE tenant_id = $1 AND user_id = $2 AND note_id = ANY ($3)
"""

#: With the number of the notes. They are taken out of the results of their interactions.
DELETE_NOTES: Final = """
WITH gone AS (
    DELETE FROM agentic.notes WHERE tenant_id = $1 AND user_id = $2 AND note_id = ANY ($3)
    RETURNING note_id, derived_from
), changed AS (
    UPDATE agentic.processed_interactions
    SET note_ids = ARRAY(SELECT unnest(note_ids) EXCEPT SELECT unnest($3::uuid[]) ORDER BY 1)
    WHERE tenant_id = $1 AND user_id = $2 AND interaction_id IN (SELECT unnest(derived_from) FROM gone)
)
SELECT count(*) FROM gone
"""

#: With the number of the links whose first end it was: all ends deleted, each link is counted once.
DELETE_ENDS_OF: Final = """
WITH gone AS (
    DELETE FROM agentic.link_ends WHERE tenant_id = $1 AND user_id = $2 AND note_id = ANY ($3) RETURNING is_first
)
SELECT count(*) FILTER (WHERE is_first) FROM gone
"""
DELETE_NOTES_ALONE: Final = """
WITH gone AS (
    DELETE FROM agentic.notes WHERE tenant_id = $1 AND user_id = $2 AND note_id = ANY ($3) RETURNING true
)
SELECT count(*) FROM gone
"""
NOTE_IDS: Final = """
SELECT note_id FROM agentic.notes WHERE tenant_id = $1 AND user_id = $2 ORDER BY note_id LIMIT $3
"""
ALL_NOTE_IDS: Final = "SELECT note_id FROM agentic.notes WHERE tenant_id = $1 AND user_id = $2"

PUT_LINKS: Final = f"""
INSERT INTO agentic.link_ends (
    tenant_id, user_id, note_id, other_note_id, type, is_first, strength, origin, create_time, update_time,
    other_scope_key, is_hidden, feedback
)
SELECT $1, $2, ends.note_id, ends.other_note_id, given.type, ends.is_first, given.strength, given.origin,
    given.create_time, given.update_time, ends.other_scope_key, a.status <> 1 OR b.status <> 1,
    given.feedback
FROM unnest(
    $3::uuid[], $4::uuid[], $5::smallint[], $6::float8[], $7::smallint[], $8::timestamptz[], $9::timestamptz[],
    $10::smallint[]
) AS given (from_note_id, to_note_id, type, strength, origin, create_time, update_time, feedback)
{_note("a", "given.from_note_id")}
{_note("b", "given.to_note_id")}
CROSS JOIN LATERAL (
    VALUES (a.note_id, b.note_id, true, b.scope_key), (b.note_id, a.note_id, false, a.scope_key)
) AS ends (note_id, other_note_id, is_first, other_scope_key)
ON CONFLICT (tenant_id, user_id, note_id, other_note_id, type, is_first)
    DO UPDATE SET strength = excluded.strength, origin = excluded.origin, update_time = excluded.update_time,
        feedback = excluded.feedback
RETURNING {LINK_COLUMNS}
"""  # noqa: S608 - no input in it

GET_LINK: Final = f"""
SELECT {LINK_COLUMNS} FROM agentic.link_ends
WHERE tenant_id = $1 AND user_id = $2 AND note_id = $3 AND other_note_id = $4 AND type = $5 AND is_first
"""  # noqa: S608 - no input in it

DELETE_LINK: Final = """
DELETE FROM agentic.link_ends
WHERE tenant_id = $1 AND user_id = $2 AND type = $5
    AND (
        (note_id = $3 AND other_note_id = $4 AND is_first)
        OR (note_id = $4 AND other_note_id = $3 AND NOT is_first)
    )
"""

ADD_PROCESSED: Final = """
INSERT INTO agentic.processed_interactions (
    tenant_id, user_id, interaction_id, conversation_id, position, note_ids, speaker, question
) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
"""

BLOCK: Final = """
INSERT INTO agentic.processed_interactions AS t (
    tenant_id, user_id, interaction_id, conversation_id, position, note_ids, speaker, question
)
SELECT $1, $2, interaction_id, '', 0, '{}', '', '' FROM (SELECT DISTINCT unnest($3::uuid[]) AS interaction_id) given
ON CONFLICT (tenant_id, user_id, interaction_id)
    DO UPDATE SET conversation_id = '', position = 0, note_ids = '{}', speaker = '', question = ''
"""

BLOCK_ALL: Final = """
UPDATE agentic.processed_interactions
SET conversation_id = '', position = 0, note_ids = '{}', speaker = '', question = ''
WHERE tenant_id = $1 AND user_id = $2
"""
