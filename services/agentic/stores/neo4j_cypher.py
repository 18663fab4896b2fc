"""Queries of the Neo4j note store. Every pattern of nodes names tenant and user.

An index is read in its order, and only as far as needed, where ORDER BY names all its properties: without the leading
ones, though they are fixed, the planner sorts all notes of the user. What can be long is collected into one record:
each record costs the client 0.1 ms, however small it is.
"""

from typing import Final

NOTE_PROPERTIES: Final = (
    "note_id",
    "user_id",
    "content",
    "kind",
    "importance",
    "time",
    "create_time",
    "keywords",
    "tags",
    "attachments",
    "metadata",
    "derived_from",
    "access_count",
    "last_access_time",
    "scope_key",
    "speaker",
    "conversation_id",
    "position",
    "spoken",
)

#: The values alone, without the names of all properties for each note.
_NOTE: Final = "[" + ", ".join(f"n.{name}" for name in NOTE_PROPERTIES) + "]"

#: The write lock on the owner lasts until the transaction ends.
LOCK_USER: Final = """CYPHER 25
MERGE (o:NoteOwner {tenant_id: $tenant_id, user_id: $user_id})
ON CREATE SET o.works = 0, o.notes = 0
SET o.works = o.works + 1
RETURN o.notes AS notes
"""

GET_NOTE: Final = f"""CYPHER 25
MATCH (n:Note {{tenant_id: $tenant_id, user_id: $user_id, note_id: $note_id}})
CALL (n) {{
    MATCH (n)-[l:LINKED]-(:Note {{tenant_id: $tenant_id, user_id: $user_id}})
    WITH l, startNode(l).note_id AS from_note_id, endNode(l).note_id AS to_note_id
    ORDER BY l.strength DESC, from_note_id, to_note_id, l.type
    LIMIT $links_max
    RETURN collect(l {{from_note_id: from_note_id, to_note_id: to_note_id, .type, .strength, .create_time}}) AS links
}}
RETURN {_NOTE} AS note, links
"""

LIST_NOTES: Final = f"""CYPHER 25
MATCH (n:Note {{tenant_id: $tenant_id, user_id: $user_id}})
WHERE n.list_key > $after
WITH n
ORDER BY n.tenant_id, n.user_id, n.list_key
LIMIT $limit
RETURN collect({_NOTE}) AS notes
"""

LIST_NOTES_OF_KIND: Final = f"""CYPHER 25
MATCH (n:Note {{tenant_id: $tenant_id, user_id: $user_id, kind: $kind}})
WHERE n.list_key > $after
WITH n
ORDER BY n.tenant_id, n.user_id, n.kind, n.list_key
LIMIT $limit
RETURN collect({_NOTE}) AS notes
"""


def _expand(source: str) -> str:
    """The strongest links of each `source`, in both directions, to notes that the reader may see."""
    return f"""
    CALL ({source}) {{
        MATCH ({source})-[l:LINKED]-(n:Note {{tenant_id: $tenant_id, user_id: $user_id}})
        WHERE n.scope_key IN $scope_keys
        RETURN n, l.strength AS strength
        ORDER BY strength DESC, n.note_id
        LIMIT $fanout_max
    }}"""


#: Ways are maps {note, score, hops, seed, via}. `near` are the notes by similarity, `one` and `two` the best ways of
#: one and of two links to each note, `known` the best of `near` and `one`. A note that is not near is less similar than
#: all that are, so what reached it is all that can place it. The score s of the index is (1 + cosine) / 2.
#: A way's score never rises, so nothing is walked from where a link of strength 1 would not reach `bound`, the last of
#: the near hits.
SEARCH: Final = f"""CYPHER 25
MATCH (n:Note)
SEARCH n IN (
    VECTOR INDEX note_embedding FOR $vector
    WHERE n.tenant_id = $tenant_id AND n.user_id = $user_id AND n.status = 'stable' AND n.model = $model
        AND n.scope_key IN $scope_keys
    LIMIT $candidates
) SCORE AS s
WITH n, 2 * s - 1 AS score
ORDER BY score DESC, n.note_id
LIMIT $near_max
WITH collect({{note: n, score: score, hops: 0}}) AS near
WITH near, CASE WHEN size(near) >= $limit THEN near[$limit - 1].score ELSE -1.0 END AS bound
CALL (near, bound) {{
    UNWIND [way IN near WHERE way.score > 0 AND way.score * $damping >= bound][..$seeds_max] AS way
    WITH way.note AS seed, way.score AS score {_expand("seed")}
    WITH n, seed, strength, score * (strength * $damping) AS score
    WHERE score >= bound
    ORDER BY score DESC, seed.note_id
    WITH n, collect({{score: score, seed: seed, seed_strength: strength}})[0] AS way
    RETURN collect(way {{note: n, .score, hops: 1, .seed, .seed_strength}}) AS one
}}
CALL (near, one) {{
    UNWIND near + one AS way
    WITH way
    ORDER BY way.score DESC, way.hops
    WITH way.note AS n, collect(way)[0] AS way
    RETURN collect(way) AS known
}}
CALL (known, bound) {{
    UNWIND [way IN known WHERE way.hops = 1 AND way.score * $damping >= bound] AS way
    WITH way, way.note AS via, way.score AS score
    ORDER BY score DESC, via.note_id
    LIMIT $frontier_max {_expand("via")}
    WITH n, way, via, strength, score * (strength * $damping) AS score
    WHERE n <> way.seed AND score >= bound
    ORDER BY score DESC, way.seed.note_id, via.note_id
    WITH n, collect(way {{score: score, .seed, .seed_strength, via: via, via_strength: strength}})[0] AS way
    RETURN collect(way {{note: n, .score, hops: 2, .seed, .seed_strength, .via, .via_strength}}) AS two
}}
UNWIND known + two AS way
WITH way
ORDER BY way.score DESC, way.hops
WITH way.note AS n, collect(way)[0] AS way
ORDER BY way.score DESC, n.note_id
LIMIT $limit
RETURN collect({{
    note: {_NOTE}, score: way.score, seed: way.seed.note_id, seed_strength: way.seed_strength,
    via: way.via.note_id, via_strength: way.via_strength, similarity: CASE
        WHEN way.hops = 0 THEN way.score
        WHEN n.model = $model THEN 2 * vector.similarity.cosine(n.embedding, $vector) - 1
        ELSE 0.0
    END
}}) AS hits
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
        WHERE n.tenant_id = $tenant_id AND n.user_id = $user_id AND n.status = 'stable' AND n.model = $model
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
    WHERE m.position < place.position
    RETURN m.position AS position
    ORDER BY m.tenant_id DESC, m.user_id DESC, m.conversation_id DESC, m.position DESC
    LIMIT 1
}
CALL (place, position) {
    MATCH (n:Note {
        tenant_id: $tenant_id, user_id: $user_id, conversation_id: place.conversation_id, position: position
    })
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
CREATE (n:Note {tenant_id: $tenant_id, user_id: $user_id, model: $model, status: 'stable', access_count: 0})
SET n += note.fields, n.embedding = toFloatList(note.vector)
"""

PUT_LINKS: Final = """CYPHER 25
UNWIND $links AS link
MATCH (a:Note {tenant_id: $tenant_id, user_id: $user_id, note_id: link.from_note_id})
MATCH (b:Note {tenant_id: $tenant_id, user_id: $user_id, note_id: link.to_note_id})
MERGE (a)-[l:LINKED {type: link.type}]->(b)
ON CREATE SET l.create_time = link.create_time
SET l.strength = link.strength
RETURN collect(
    l {from_note_id: link.from_note_id, to_note_id: link.to_note_id, .type, .strength, .create_time}
) AS links
"""

EXISTING_NOTES: Final = """CYPHER 25
UNWIND $note_ids AS note_id
MATCH (n:Note {tenant_id: $tenant_id, user_id: $user_id, note_id: note_id})
RETURN n.note_id AS note_id
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

TAKEN: Final = """CYPHER 25
UNWIND $interaction_ids AS interaction_id
MATCH (t:TakenTurn {tenant_id: $tenant_id, user_id: $user_id, interaction_id: interaction_id})
RETURN interaction_id, t.note_ids AS note_ids
"""

ADD_TAKEN: Final = """CYPHER 25
UNWIND $turns AS turn
CREATE (t:TakenTurn {tenant_id: $tenant_id, user_id: $user_id})
SET t += turn
"""

QUESTIONS: Final = """CYPHER 25
UNWIND $places AS place
CALL (place) {
    MATCH (t:TakenTurn {
        tenant_id: $tenant_id, user_id: $user_id, conversation_id: place.conversation_id, position: place.position
    })
    WHERE t.question <> ''
    RETURN t
    ORDER BY t.interaction_id
    LIMIT 1
}
RETURN place.conversation_id AS conversation_id, place.position AS position, t.speaker AS speaker,
    t.question AS question
"""

RECEIPT: Final = """CYPHER 25
MATCH (r:NoteReceipt {tenant_id: $tenant_id, principal_id: $principal_id, request_id: $request_id})
RETURN r.fingerprint AS fingerprint, r.answer AS answer, r.create_time AS create_time
"""

ADD_RECEIPT: Final = """CYPHER 25
CREATE (r:NoteReceipt {
    tenant_id: $tenant_id, principal_id: $principal_id, request_id: $request_id, user_id: $user_id,
    fingerprint: $fingerprint, answer: $answer, create_time: $create_time
})
"""

#: A few at a time, with each write. Those of this user alone: works of others may be removing theirs.
FORGET_RECEIPTS: Final = """CYPHER 25
MATCH (r:NoteReceipt {tenant_id: $tenant_id, user_id: $user_id})
WHERE r.create_time < $forget_before
WITH r
ORDER BY r.tenant_id, r.user_id, r.create_time
LIMIT 10
DELETE r
"""
