"""The search of the Neo4j note store in one query; see `neo4j_cypher` for what all queries keep to."""

from typing import Final

from services.agentic.stores.neo4j_cypher import NOTE_VALUES


def _expand(source: str) -> str:
    """The strongest links of each `source`, in both directions, to notes that the reader may see."""
    return f"""
    CALL ({source}) {{
        MATCH ({source})-[l:LINKED]-(n:Note {{tenant_id: $tenant_id, user_id: $user_id}})
        WHERE n.status = 1 AND n.scope_key IN $scope_keys
        RETURN n, l.strength AS strength
        ORDER BY strength DESC, n.note_id
        LIMIT $fanout_max
    }}"""


#: $status is that of the notes found by similarity: of archived ones nothing is walked, by $seeds_max.
#:
#: Ways (paths) are maps {note, score, hops, place, seed, seed_strength, via, via_strength}. `near` are the notes found
#: by similarity: their own, or that of a caption, whose attachment is at `place`. `one` and `two` are the best ways of
#: one and of two links to each note, `known` the best of `near` and `one`. A user without captions costs one look-up.
#: A note that is not near is less similar than all that are, so only a way can place it. The score s of the index is
#: (1 + cosine) / 2. A way's score never rises, so nothing is walked from where a link of strength 1 would not reach
#: `bound`, the last of the near hits.
SEARCH: Final = f"""CYPHER 25
CALL () {{
    MATCH (n:Note)
    SEARCH n IN (
        VECTOR INDEX note_embedding FOR $vector
        WHERE n.tenant_id = $tenant_id AND n.user_id = $user_id AND n.status = $status AND n.model = $model
            AND n.scope_key IN $scope_keys
        LIMIT $candidates
    ) SCORE AS s
    WITH n, 2 * s - 1 AS score
    ORDER BY score DESC, n.note_id
    LIMIT $near_max
    RETURN collect({{note: n, score: score, hops: 0, place: null}}) AS by_note
}}
CALL () {{
    MATCH (any:NoteCaption {{tenant_id: $tenant_id, user_id: $user_id}})
    WHERE any.caption_key >= ''
    WITH any LIMIT 1
    MATCH (c:NoteCaption)
    SEARCH c IN (
        VECTOR INDEX caption_embedding FOR $vector
        WHERE c.tenant_id = $tenant_id AND c.user_id = $user_id AND c.status = $status AND c.model = $model
            AND c.scope_key IN $scope_keys
        LIMIT $candidates
    ) SCORE AS s
    MATCH (n:Note {{tenant_id: $tenant_id, user_id: $user_id}})-[:HAS_CAPTION]->(c)
    RETURN collect({{note: n, score: 2 * s - 1, hops: 0, place: c.place}}) AS by_caption
}}
CALL (by_note, by_caption) {{
    UNWIND by_note + by_caption AS way
    WITH way
    ORDER BY way.score DESC, coalesce(way.place, -1)
    WITH way.note AS n, collect(way)[0] AS way
    ORDER BY way.score DESC, n.note_id
    LIMIT $near_max
    RETURN collect(way) AS near
}}
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
    note: {NOTE_VALUES}, score: way.score, place: way.place, seed: way.seed.note_id, seed_strength: way.seed_strength,
    via: way.via.note_id, via_strength: way.via_strength, similarity: CASE
        WHEN way.hops = 0 THEN way.score
        WHEN n.model = $model THEN reduce(
            best = 2 * vector.similarity.cosine(n.embedding, $vector) - 1,
            other IN COLLECT {{
                MATCH (n)-[:HAS_CAPTION]->(c:NoteCaption {{tenant_id: $tenant_id, user_id: $user_id, model: $model}})
                RETURN 2 * vector.similarity.cosine(c.embedding, $vector) - 1
            }} | CASE WHEN other > best THEN other ELSE best END
        )
        ELSE 0.0
    END
}}) AS hits
"""
