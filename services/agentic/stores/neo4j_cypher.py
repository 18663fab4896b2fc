"""Queries of the Neo4j note store. Every pattern of nodes names tenant and user.

An index is read in its order, and only as far as needed, where ORDER BY names all its properties: without the leading
ones, though they are fixed, the planner sorts all notes of the user. What can be long is collected into one record,
because each record costs the client time, however small it is.

Status 1 is active. A link is hidden while one of its notes is not.
"""

from typing import Final

from services.common.idempotency.neo4j import IdempotencyQueries

NOTE_PROPERTIES: Final = (
    "note_id",
    "user_id",
    "content",
    "kind",
    "importance",
    "time",
    "create_time",
    "update_time",
    "keywords",
    "tags",
    "attachments",
    "metadata",
    "derived_from",
    "status",
    "access_count",
    "last_access_time",
    "scope_key",
    "speaker",
    "conversation_id",
    "position",
    "spoken",
    "question_id",
    "question_chars",
    "feedback",
    "source_note_ids",
    "successor_id",
    "raised",
)

#: The values alone, without the names of all properties for each note.
NOTE_VALUES: Final = "[" + ", ".join(f"n.{name}" for name in NOTE_PROPERTIES) + "]"

#: The write lock on the owner lasts until the transaction ends.
LOCK_USER: Final = """CYPHER 25
MERGE (o:NoteOwner {tenant_id: $tenant_id, user_id: $user_id})
ON CREATE SET o.works = 0, o.notes = 0
SET o.works = o.works + 1
RETURN o.notes AS notes
"""

# By the index, which begins with tenant and user.
USERS: Final = """CYPHER 25
MATCH (n:NoteOwner {tenant_id: $tenant_id}) WHERE n.user_id > $after
WITH DISTINCT n.user_id AS user_id ORDER BY user_id LIMIT $limit
RETURN user_id
"""

_LINK: Final = (
    "l {from_note_id: from_note_id, to_note_id: to_note_id, .type, .strength, .origin, .create_time, .update_time, "
    ".feedback}"
)

#: $begin_strength is null, or links after this place are read.
_LINKS_OF_NOTE: Final = f"""
CALL (n) {{
    MATCH (n)-[l:LINKED]-(other:Note {{tenant_id: $tenant_id, user_id: $user_id}})
    WHERE n.status = 1 AND other.status = 1 AND ($link_type IS NULL OR l.type = $link_type)
        AND ($scope_keys IS NULL OR other.scope_key IN $scope_keys)
    WITH l, startNode(l).note_id AS from_note_id, endNode(l).note_id AS to_note_id
    WHERE $begin_strength IS NULL OR l.strength < $begin_strength OR (l.strength = $begin_strength AND (
        from_note_id > $begin_from OR (from_note_id = $begin_from AND (
            to_note_id > $begin_to OR (to_note_id = $begin_to AND l.type > $begin_type)
        ))
    ))
    WITH l, from_note_id, to_note_id
    ORDER BY l.strength DESC, from_note_id, to_note_id, l.type
    LIMIT $links_max
    RETURN collect({_LINK}) AS links
}}"""

GET_NOTE: Final = f"""CYPHER 25
MATCH (n:Note {{tenant_id: $tenant_id, user_id: $user_id, note_id: $note_id}})
WHERE $scope_keys IS NULL OR n.scope_key IN $scope_keys
{_LINKS_OF_NOTE}
RETURN {NOTE_VALUES} AS note, links
"""

LIST_NOTES: Final = f"""CYPHER 25
MATCH (n:Note {{tenant_id: $tenant_id, user_id: $user_id}})
WHERE n.list_key > $after AND n.status = $status AND ($kind IS NULL OR n.kind = $kind)
    AND ($tags IS NULL OR any(tag IN $tags WHERE tag IN n.tags)) AND ($start_time IS NULL OR n.time >= $start_time)
    AND ($end_time IS NULL OR n.time < $end_time) AND ($scope_keys IS NULL OR n.scope_key IN $scope_keys)
WITH n
ORDER BY n.tenant_id, n.user_id, n.list_key
LIMIT $limit
RETURN collect({NOTE_VALUES}) AS notes
"""

#: The oldest of the newest notes, by id, which begins with the time.
OLDEST_CANDIDATE: Final = """CYPHER 25
MATCH (n:Note {tenant_id: $tenant_id, user_id: $user_id})
WHERE n.note_id >= ''
RETURN n.note_id AS note_id
ORDER BY n.tenant_id DESC, n.user_id DESC, n.note_id DESC
SKIP $newer LIMIT 1
"""

NEIGHBOURS: Final = """CYPHER 25
UNWIND $wanted AS wanted
CALL (wanted) {
    MATCH (n:Note)
    SEARCH n IN (
        VECTOR INDEX note_embedding FOR wanted.vector
        WHERE n.tenant_id = $tenant_id AND n.user_id = $user_id AND n.status = 1 AND n.model = $model
            AND n.scope_key IN wanted.scope_keys AND n.note_id >= $oldest
        LIMIT $candidates
    ) SCORE AS s
    WITH n, 2 * s - 1 AS similarity
    WHERE similarity >= $similarity_min
    RETURN n, similarity
    ORDER BY similarity DESC, n.note_id
    LIMIT $count_max
}
RETURN collect(n {number: wanted.number, .note_id, .kind, .content, .speaker, similarity: similarity}) AS neighbours
"""

PRECEDING_NOTES: Final = """CYPHER 25
UNWIND $places AS place
CALL (place) {
    MATCH (m:Note {tenant_id: $tenant_id, user_id: $user_id, conversation_id: place.conversation_id})
    WHERE m.position < place.position AND m.status = 1
    RETURN m.position AS position
    ORDER BY m.tenant_id DESC, m.user_id DESC, m.conversation_id DESC, m.position DESC
    LIMIT 1
}
CALL (place, position) {
    MATCH (n:Note {
        tenant_id: $tenant_id, user_id: $user_id, conversation_id: place.conversation_id, position: position
    })
    WHERE n.status = 1
    RETURN n
    ORDER BY n.note_id
    LIMIT 1
}
RETURN place.conversation_id AS conversation_id, place.position AS position, n.note_id AS note_id,
    n.position AS note_position, n.scope_key AS scope_key
"""

ADD_NOTES: Final = """CYPHER 25
MATCH (o:NoteOwner {tenant_id: $tenant_id, user_id: $user_id})
SET o.notes = o.notes + size($notes)
WITH o
UNWIND $notes AS note
CREATE (n:Note {tenant_id: $tenant_id, user_id: $user_id, model: $model, status: 1, access_count: 0})
SET n += note.fields, n.embedding = toFloatList(note.vector)
"""

GET_NOTES: Final = f"""CYPHER 25
UNWIND $note_ids AS note_id
MATCH (n:Note {{tenant_id: $tenant_id, user_id: $user_id, note_id: note_id}})
RETURN collect({NOTE_VALUES}) AS notes
"""

#: Reads all of the user's notes: an index by source would cost each write for the sake of rare erasures.
NOTES_OF_SOURCES: Final = f"""CYPHER 25
MATCH (n:Note {{tenant_id: $tenant_id, user_id: $user_id}})
WHERE n.note_id >= '' AND (n.question_id IN $ids OR any(source IN n.derived_from WHERE source IN $ids))
WITH n ORDER BY n.note_id
RETURN collect({NOTE_VALUES}) AS notes
"""

#: A property that is null is removed.
UPDATE_NOTES: Final = """CYPHER 25
UNWIND $notes AS fields
MATCH (n:Note {tenant_id: $tenant_id, user_id: $user_id, note_id: fields.note_id})
SET n += fields
"""

REPLACE_VECTORS: Final = """CYPHER 25
UNWIND $vectors AS given
MATCH (n:Note {tenant_id: $tenant_id, user_id: $user_id, note_id: given.note_id})
SET n.model = $model, n.embedding = toFloatList(given.vector)
"""

DELETE_CAPTIONS: Final = """CYPHER 25
UNWIND $note_ids AS note_id
MATCH (n:Note {tenant_id: $tenant_id, user_id: $user_id, note_id: note_id})-[:HAS_CAPTION]->(c:NoteCaption {
    tenant_id: $tenant_id, user_id: $user_id
})
DETACH DELETE c
"""

ADD_CAPTIONS: Final = """CYPHER 25
UNWIND $captions AS given
MATCH (n:Note {tenant_id: $tenant_id, user_id: $user_id, note_id: given.note_id})
CREATE (n)-[:HAS_CAPTION]->(c:NoteCaption {
    tenant_id: $tenant_id, user_id: $user_id, caption_key: given.caption_key, place: given.place, status: n.status,
    scope_key: n.scope_key, model: $model
})
SET c.embedding = toFloatList(given.vector)
"""

SET_STATUS: Final = """CYPHER 25
UNWIND $note_ids AS note_id
MATCH (n:Note {tenant_id: $tenant_id, user_id: $user_id, note_id: note_id})
WHERE n.status <> $status
SET n.status = $status, n.update_time = $update_time,
    n.successor_id = CASE WHEN $status = 1 THEN null ELSE n.successor_id END
WITH n
MATCH (n)-[:HAS_CAPTION]->(c:NoteCaption {tenant_id: $tenant_id, user_id: $user_id})
SET c.status = $status
"""

#: Takes the notes out of the results of their interactions, too.
DELETE_NOTES: Final = """CYPHER 25
MATCH (o:NoteOwner {tenant_id: $tenant_id, user_id: $user_id})
CALL () {
    UNWIND $note_ids AS note_id
    MATCH (n:Note {tenant_id: $tenant_id, user_id: $user_id, note_id: note_id})
    UNWIND n.derived_from AS interaction_id
    MATCH (t:ProcessedTurn {tenant_id: $tenant_id, user_id: $user_id, interaction_id: interaction_id})
    SET t.note_ids = [id IN t.note_ids WHERE NOT id IN $note_ids]
    RETURN count(*) AS changed
}
CALL () {
    UNWIND $note_ids AS note_id
    MATCH (n:Note {tenant_id: $tenant_id, user_id: $user_id, note_id: note_id})-[l:LINKED]-()
    WITH DISTINCT l
    DELETE l
    RETURN count(*) AS links
}
CALL () {
    UNWIND $note_ids AS note_id
    MATCH (n:Note {tenant_id: $tenant_id, user_id: $user_id, note_id: note_id})-[:HAS_CAPTION]->(c:NoteCaption {
        tenant_id: $tenant_id, user_id: $user_id
    })
    DETACH DELETE c
    RETURN count(*) AS captions
}
CALL () {
    UNWIND $note_ids AS note_id
    MATCH (v:NoteVersion {tenant_id: $tenant_id, user_id: $user_id, note_id: note_id})
    WHERE v.end_microseconds IS NOT NULL
    DETACH DELETE v
    RETURN count(*) AS versions
}
CALL () {
    UNWIND $note_ids AS note_id
    MATCH (n:Note {tenant_id: $tenant_id, user_id: $user_id, note_id: note_id})
    DETACH DELETE n
    RETURN count(*) AS notes
}
SET o.notes = o.notes - notes
RETURN notes, links
"""

NOTE_IDS: Final = """CYPHER 25
MATCH (n:Note {tenant_id: $tenant_id, user_id: $user_id})
WHERE n.note_id >= ''
WITH n.note_id AS note_id LIMIT $limit
RETURN collect(note_id) AS note_ids
"""

ALL_NOTE_IDS: Final = """CYPHER 25
MATCH (n:Note {tenant_id: $tenant_id, user_id: $user_id})
WHERE n.note_id >= ''
RETURN collect(n.note_id) AS note_ids
"""

PUT_LINKS: Final = f"""CYPHER 25
UNWIND $links AS link
MATCH (a:Note {{tenant_id: $tenant_id, user_id: $user_id, note_id: link.from_note_id}})
MATCH (b:Note {{tenant_id: $tenant_id, user_id: $user_id, note_id: link.to_note_id}})
MERGE (a)-[l:LINKED {{type: link.type}}]->(b)
ON CREATE SET l.create_time = link.create_time
SET l.strength = link.strength, l.origin = link.origin, l.update_time = link.update_time, l.feedback = link.feedback
WITH l, link.from_note_id AS from_note_id, link.to_note_id AS to_note_id
RETURN collect({_LINK}) AS links
"""

GET_LINK: Final = f"""CYPHER 25
MATCH (a:Note {{tenant_id: $tenant_id, user_id: $user_id, note_id: $from_note_id}})
MATCH (b:Note {{tenant_id: $tenant_id, user_id: $user_id, note_id: $to_note_id}})
MATCH (a)-[l:LINKED {{type: $type}}]->(b)
WITH l, $from_note_id AS from_note_id, $to_note_id AS to_note_id
RETURN {_LINK} AS link
"""

DELETE_SIMILARITY_LINKS: Final = """CYPHER 25
UNWIND $note_ids AS note_id
MATCH (n:Note {tenant_id: $tenant_id, user_id: $user_id, note_id: note_id})-[l:LINKED {origin: 1}]-()
WITH DISTINCT l
DELETE l
"""

DELETE_LINK: Final = """CYPHER 25
MATCH (a:Note {tenant_id: $tenant_id, user_id: $user_id, note_id: $from_note_id})
MATCH (b:Note {tenant_id: $tenant_id, user_id: $user_id, note_id: $to_note_id})
MATCH (a)-[l:LINKED {type: $type}]->(b)
DELETE l
RETURN count(*) AS removed
"""

RECORD_ACCESS: Final = """CYPHER 25
UNWIND $counts AS counted
MATCH (n:Note {tenant_id: $tenant_id, user_id: $user_id, note_id: counted.note_id})
SET n.access_count = n.access_count + counted.count,
    n.last_access_time = CASE WHEN n.last_access_time > $time THEN n.last_access_time ELSE $time END
"""

PROCESSED: Final = """CYPHER 25
UNWIND $interaction_ids AS interaction_id
MATCH (t:ProcessedTurn {tenant_id: $tenant_id, user_id: $user_id, interaction_id: interaction_id})
RETURN interaction_id, t.note_ids AS note_ids
"""

ADD_PROCESSED: Final = """CYPHER 25
UNWIND $turns AS turn
CREATE (t:ProcessedTurn {tenant_id: $tenant_id, user_id: $user_id})
SET t += turn
"""

QUESTIONS: Final = """CYPHER 25
UNWIND $places AS place
CALL (place) {
    MATCH (t:ProcessedTurn {
        tenant_id: $tenant_id, user_id: $user_id, conversation_id: place.conversation_id, position: place.position
    })
    WHERE t.question <> ''
    RETURN t
    ORDER BY t.interaction_id
    LIMIT 1
}
RETURN place.conversation_id AS conversation_id, place.position AS position, t.interaction_id AS interaction_id,
    t.speaker AS speaker, t.question AS question
"""

BLOCK: Final = """CYPHER 25
UNWIND $interaction_ids AS interaction_id
MERGE (t:ProcessedTurn {tenant_id: $tenant_id, user_id: $user_id, interaction_id: interaction_id})
SET t.conversation_id = '', t.position = 0, t.note_ids = [], t.speaker = '', t.question = ''
"""

NO_LIMIT: Final = 2**63 - 1
"""The largest number of Cypher."""

#: Those that are not blocked yet.
BLOCK_ALL: Final = """CYPHER 25
MATCH (t:ProcessedTurn {tenant_id: $tenant_id, user_id: $user_id})
WHERE t.interaction_id >= ''
    AND (t.conversation_id <> '' OR t.position <> 0 OR size(t.note_ids) > 0 OR t.speaker <> '' OR t.question <> '')
WITH t LIMIT $limit
SET t.conversation_id = '', t.position = 0, t.note_ids = [], t.speaker = '', t.question = ''
RETURN count(*) AS blocked
"""

IDEMPOTENCY: Final = IdempotencyQueries.of("NoteIdempotencyRecord")
