// Vectors of the captions of notes' attachments: (:Note)-[:HAS_CAPTION]->(:NoteCaption {caption_key, place, status, model,
// scope_key, embedding}). An index covers one vector of a node, so each caption is a node of its own; its status and scope
// are those of its note. caption_key is the note's id with the place of the attachment.

CREATE CONSTRAINT note_caption_key IF NOT EXISTS
FOR (c:NoteCaption) REQUIRE (c.tenant_id, c.user_id, c.caption_key) IS UNIQUE;

CYPHER 25 CREATE VECTOR INDEX caption_embedding IF NOT EXISTS
FOR (c:NoteCaption) ON c.embedding WITH [c.tenant_id, c.user_id, c.status, c.model, c.scope_key]
OPTIONS {indexConfig: {`vector.similarity_function`: 'cosine', `vector.quantization.enabled`: false}};
