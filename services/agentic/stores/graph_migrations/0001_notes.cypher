// Notes, the links between them, what was processed already, and idempotency records.
//
// (:Note)-[:LINKED {type, strength, origin, create_time, update_time}]->(:Note), (:NoteOwner), (:ProcessedTurn),
// (:NoteIdempotencyRecord)
//
// Every key begins with the tenant and, but for idempotency records, the user. Times are whole microseconds since 1970. All five
// types of links are walked alike, so they are one type of relationship: with one for each, expanding a note was no
// faster, and a statement cannot take a type as a parameter without a plan for each.

CREATE CONSTRAINT note_key IF NOT EXISTS
FOR (n:Note) REQUIRE (n.tenant_id, n.user_id, n.note_id) IS UNIQUE;

// list_key sorts as text: newest first, ties by id.
CREATE INDEX note_newest IF NOT EXISTS FOR (n:Note) ON (n.tenant_id, n.user_id, n.list_key);
CREATE INDEX note_in_conversation IF NOT EXISTS FOR (n:Note) ON (n.tenant_id, n.user_id, n.conversation_id, n.position);

// Whose vectors a search compares is decided inside the index, so that a small user beside large ones loses nothing.
// Without quantization the scores are those of an exact comparison. No dimension is named: a model with another one
// drops in, and is told apart by the model's name.
CYPHER 25 CREATE VECTOR INDEX note_embedding IF NOT EXISTS
FOR (n:Note) ON n.embedding WITH [n.tenant_id, n.user_id, n.status, n.model, n.scope_key, n.note_id]
OPTIONS {indexConfig: {`vector.similarity_function`: 'cosine', `vector.quantization.enabled`: false}};

// For people who look for words in a graph browser: searches of this service are by meaning. It is filtered by tenant
// after the search, so nothing that answers a user may use it as it is.
CREATE FULLTEXT INDEX note_content IF NOT EXISTS FOR (n:Note) ON EACH [n.content];

// One for each user. Writing to it is the lock that lets works of one user run one after the other.
CREATE CONSTRAINT note_owner_key IF NOT EXISTS
FOR (o:NoteOwner) REQUIRE (o.tenant_id, o.user_id) IS UNIQUE;

// Every interaction that was processed, also those that gave no note. One whose memories were erased stays, without its
// texts, so that it is not processed again.
CREATE CONSTRAINT processed_turn_key IF NOT EXISTS
FOR (t:ProcessedTurn) REQUIRE (t.tenant_id, t.user_id, t.interaction_id) IS UNIQUE;
CREATE INDEX processed_turn_in_conversation IF NOT EXISTS
FOR (t:ProcessedTurn) ON (t.tenant_id, t.user_id, t.conversation_id, t.position);

CREATE CONSTRAINT note_idempotency_key IF NOT EXISTS
FOR (r:NoteIdempotencyRecord) REQUIRE (r.tenant_id, r.principal_id, r.request_id) IS UNIQUE;
CREATE INDEX note_idempotency_oldest IF NOT EXISTS
FOR (r:NoteIdempotencyRecord) ON (r.tenant_id, r.create_time);
CREATE INDEX note_idempotency_user IF NOT EXISTS
FOR (r:NoteIdempotencyRecord) ON (r.tenant_id, r.user_id);
