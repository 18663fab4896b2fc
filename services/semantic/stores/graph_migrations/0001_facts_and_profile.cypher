// Facts with their statements and vectors, profiles, marks of what was read, and idempotency records.
//
// Every key begins with the tenant, so that each look-up names it. (Community has neither node keys nor existence
// constraints; that no part of a key is missing is up to the stores, which write them all in the pattern.)

// The users whose facts are written: the lock that serializes writes of one user.
CREATE CONSTRAINT mneme_fact_owner_key IF NOT EXISTS
FOR (o:MnemeFactOwner) REQUIRE (o.tenant_id, o.user_id) IS UNIQUE;

// (:MnemeStatement)-[:SUPPORTS]->(:MnemeFact)-[:CONTRADICTS]->(:MnemeFact)
CREATE CONSTRAINT mneme_fact_key IF NOT EXISTS
FOR (f:MnemeFact) REQUIRE (f.tenant_id, f.user_id, f.fact_id) IS UNIQUE;
// A digest of what it means; the next ones of what it says, and of which facts may exclude it.
CREATE CONSTRAINT mneme_fact_identity IF NOT EXISTS
FOR (f:MnemeFact) REQUIRE (f.tenant_id, f.user_id, f.identity) IS UNIQUE;
CREATE INDEX mneme_fact_by_text IF NOT EXISTS
FOR (f:MnemeFact) ON (f.tenant_id, f.user_id, f.text_identity);
CREATE INDEX mneme_fact_by_topic IF NOT EXISTS
FOR (f:MnemeFact) ON (f.tenant_id, f.user_id, f.topic, f.last_confirmed_time);
CREATE INDEX mneme_fact_last_confirmed IF NOT EXISTS
FOR (f:MnemeFact) ON (f.tenant_id, f.user_id, f.last_confirmed_time);

CREATE INDEX mneme_fact_fading IF NOT EXISTS
FOR (f:MnemeFact) ON (f.tenant_id, f.user_id, f.fade_time);

// What is filtered by stands in the index, so that a small tenant beside a large one finds all that is its own.
// No vector.dimensions: vectors of models of any dimension lie side by side, each found by queries of its own.
// Not quantized: the scores are those of the vectors themselves.
CYPHER 25 CREATE VECTOR INDEX mneme_fact_embedding IF NOT EXISTS
FOR (f:MnemeFact) ON f.embedding
WITH [f.tenant_id, f.user_id, f.embedding_model, f.status, f.scope_key, f.confidence]
OPTIONS {indexConfig: {`vector.similarity_function`: 'cosine', `vector.quantization.enabled`: false}};

// For people who look around in the graph: the stores search by vector alone.
CREATE FULLTEXT INDEX mneme_fact_text IF NOT EXISTS
FOR (f:MnemeFact) ON EACH [f.text];

CREATE CONSTRAINT mneme_statement_key IF NOT EXISTS
FOR (s:MnemeStatement) REQUIRE (s.tenant_id, s.user_id, s.fact_id, s.statement_id) IS UNIQUE;
CREATE INDEX mneme_statement_by_time IF NOT EXISTS
FOR (s:MnemeStatement) ON (s.tenant_id, s.user_id, s.fact_id, s.time, s.statement_id);

// Every interaction that was read, also those that gave no fact.
CREATE CONSTRAINT mneme_extraction_key IF NOT EXISTS
FOR (e:MnemeExtraction) REQUIRE (e.tenant_id, e.user_id, e.interaction_id) IS UNIQUE;

// Preferences and statistics of a user, and the lock of both.
CREATE CONSTRAINT mneme_profile_key IF NOT EXISTS
FOR (p:MnemeProfile) REQUIRE (p.tenant_id, p.user_id) IS UNIQUE;
CREATE CONSTRAINT mneme_observed_interaction_key IF NOT EXISTS
FOR (i:MnemeObservedInteraction) REQUIRE (i.tenant_id, i.user_id, i.interaction_id) IS UNIQUE;
// Those that state a preference or were judged.
CREATE INDEX mneme_observed_interaction_learned IF NOT EXISTS
FOR (i:MnemeObservedInteraction) ON (i.tenant_id, i.user_id, i.learned_time);

CREATE CONSTRAINT mneme_semantic_idempotency_key IF NOT EXISTS
FOR (r:MnemeSemanticIdempotencyRecord) REQUIRE (r.tenant_id, r.principal_id, r.request_id) IS UNIQUE;
CREATE INDEX mneme_semantic_idempotency_oldest IF NOT EXISTS
FOR (r:MnemeSemanticIdempotencyRecord) ON (r.tenant_id, r.create_time);
CREATE INDEX mneme_semantic_idempotency_user IF NOT EXISTS
FOR (r:MnemeSemanticIdempotencyRecord) ON (r.tenant_id, r.user_id);

// What people state, sentence by sentence: (:MnemeAssertion)-[:ABOUT]->(:MnemeAssertionKey), a node for each content word.
CREATE CONSTRAINT mneme_assertion_key IF NOT EXISTS
FOR (a:MnemeAssertion) REQUIRE (a.tenant_id, a.user_id, a.interaction_id, a.number) IS UNIQUE;
CREATE CONSTRAINT mneme_assertion_word_key IF NOT EXISTS
FOR (k:MnemeAssertionKey) REQUIRE (k.tenant_id, k.user_id, k.key) IS UNIQUE;

// Pairs of statements of which one holds no more, or may not.
CREATE CONSTRAINT mneme_supersession_key IF NOT EXISTS
FOR (s:MnemeSupersession) REQUIRE (s.tenant_id, s.user_id, s.supersession_id) IS UNIQUE;
CREATE INDEX mneme_supersession_newest IF NOT EXISTS
FOR (s:MnemeSupersession) ON (s.tenant_id, s.user_id, s.create_time);
// The lock of a user's statements, and the revision of the marks.
CREATE CONSTRAINT mneme_supersession_owner_key IF NOT EXISTS
FOR (o:MnemeSupersessionOwner) REQUIRE (o.tenant_id, o.user_id) IS UNIQUE;

// Learned patterns, judged recalls from which they are learned, and the lock of both with the revision of the patterns.
CREATE CONSTRAINT mneme_procedure_owner_key IF NOT EXISTS
FOR (o:MnemeProcedureOwner) REQUIRE (o.tenant_id, o.user_id) IS UNIQUE;
CREATE CONSTRAINT mneme_procedure_key IF NOT EXISTS
FOR (p:MnemeProcedure) REQUIRE (p.tenant_id, p.user_id, p.procedure_id) IS UNIQUE;
CREATE CONSTRAINT mneme_procedure_identity IF NOT EXISTS
FOR (p:MnemeProcedure) REQUIRE (p.tenant_id, p.user_id, p.identity) IS UNIQUE;
CREATE INDEX mneme_procedure_newest IF NOT EXISTS
FOR (p:MnemeProcedure) ON (p.tenant_id, p.user_id, p.create_time);
CREATE CONSTRAINT mneme_judged_recall_key IF NOT EXISTS
FOR (j:MnemeJudgedRecall) REQUIRE (j.tenant_id, j.user_id, j.recall_id) IS UNIQUE;
CREATE INDEX mneme_judged_recall_newest IF NOT EXISTS
FOR (j:MnemeJudgedRecall) ON (j.tenant_id, j.user_id, j.time);

// Repositories of source code, and their files. What files define is read into memory and searched there.
CREATE CONSTRAINT mneme_code_repository_key IF NOT EXISTS
FOR (r:MnemeCodeRepository) REQUIRE (r.tenant_id, r.user_id, r.repository_id) IS UNIQUE;
CREATE CONSTRAINT mneme_code_file_key IF NOT EXISTS
FOR (f:MnemeCodeFile) REQUIRE (f.tenant_id, f.user_id, f.repository_id, f.path) IS UNIQUE;
CREATE INDEX mneme_code_file_by_revision IF NOT EXISTS
FOR (f:MnemeCodeFile) ON (f.tenant_id, f.user_id, f.repository_id, f.revision);
