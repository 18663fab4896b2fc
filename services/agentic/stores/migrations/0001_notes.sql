-- Notes, their vectors, the links between them, what was processed already, and idempotency records.

CREATE TABLE notes (
    tenant_id text NOT NULL,
    user_id text NOT NULL,
    note_id uuid NOT NULL,
    content text NOT NULL,
    kind smallint NOT NULL,
    importance double precision NOT NULL CHECK (importance BETWEEN 0 AND 1),
    keywords text[] NOT NULL,
    tags text[] NOT NULL,
    attachments jsonb NOT NULL,
    metadata jsonb NOT NULL,
    derived_from uuid[] NOT NULL,
    time timestamptz NOT NULL,
    create_time timestamptz NOT NULL,
    update_time timestamptz NOT NULL,
    -- 1 active, 2 archived.
    status smallint NOT NULL,
    access_count bigint NOT NULL DEFAULT 0,
    last_access_time timestamptz,
    scope_key text NOT NULL,
    speaker text NOT NULL,
    conversation_id text NOT NULL,
    position bigint NOT NULL,
    -- What is embedded, where it is not the content itself.
    spoken text NOT NULL,
    -- The interaction whose question it answers, and the length of the quotation at the beginning of what is embedded.
    question_id uuid,
    question_chars integer NOT NULL,
    PRIMARY KEY (tenant_id, user_id, note_id)
    -- Pages are not filled, so that access statistics are updated in place.
) WITH (fillfactor = 85);

CREATE INDEX notes_newest ON notes (tenant_id, user_id, create_time DESC, note_id);
CREATE INDEX notes_in_conversation ON notes (tenant_id, user_id, conversation_id, position)
    WHERE conversation_id <> '';

-- Apart from the notes, so that an exact search reads little else, and so that a note can have vectors of two
-- models while one replaces the other.
CREATE TABLE note_vectors (
    tenant_id text NOT NULL,
    user_id text NOT NULL,
    model text NOT NULL,
    note_id uuid NOT NULL,
    scope_key text NOT NULL,
    -- Whether searches compare it: its note is not archived.
    is_active boolean NOT NULL DEFAULT true,
    embedding vector NOT NULL,
    PRIMARY KEY (tenant_id, user_id, model, note_id),
    FOREIGN KEY (tenant_id, user_id, note_id) REFERENCES notes ON DELETE CASCADE
);
-- Inline: fetching vectors from the side table costs more than comparing them.
ALTER TABLE note_vectors ALTER COLUMN embedding SET STORAGE PLAIN;

-- Links as each of their notes sees them: two rows a link, so that a walk in either direction is one look-up in the
-- only index. With an index per direction the planner, knowing nothing of a new table, took the wrong one and read all
-- links of the user for each note. What decides whether a walk may take a link stands here too, so that it need not read
-- the other note for it: that note's scope, and whether either note is archived.
CREATE TABLE link_ends (
    tenant_id text NOT NULL,
    user_id text NOT NULL,
    note_id uuid NOT NULL,
    other_note_id uuid NOT NULL,
    type smallint NOT NULL,
    -- True where note_id is the link's first note; of a link without direction that is the smaller id.
    is_first boolean NOT NULL,
    strength double precision NOT NULL CHECK (strength BETWEEN 0 AND 1),
    -- 1 similarity, 2 conversation, 3 caller.
    origin smallint NOT NULL,
    create_time timestamptz NOT NULL,
    update_time timestamptz NOT NULL,
    other_scope_key text NOT NULL,
    is_hidden boolean NOT NULL,
    PRIMARY KEY (tenant_id, user_id, note_id, other_note_id, type, is_first),
    FOREIGN KEY (tenant_id, user_id, note_id) REFERENCES notes ON DELETE CASCADE,
    CHECK (note_id <> other_note_id)
);

-- Every interaction that was processed, also those that gave no note. One whose memories were erased stays, without its
-- texts, so that it is not processed again.
CREATE TABLE processed_interactions (
    tenant_id text NOT NULL,
    user_id text NOT NULL,
    interaction_id uuid NOT NULL,
    conversation_id text NOT NULL,
    position bigint NOT NULL,
    note_ids uuid[] NOT NULL,
    speaker text NOT NULL,
    question text NOT NULL,
    PRIMARY KEY (tenant_id, user_id, interaction_id)
);
CREATE INDEX processed_in_conversation ON processed_interactions (tenant_id, user_id, conversation_id, position)
    WHERE question <> '';

CREATE TABLE idempotency_records (
    tenant_id text NOT NULL,
    principal_id text NOT NULL,
    request_id text NOT NULL,
    digest text NOT NULL,
    user_id text NOT NULL,
    resource_id text NOT NULL,
    -- JSON. Null: erased together with the resource.
    response text,
    create_time timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, principal_id, request_id)
);
CREATE INDEX idempotency_records_oldest ON idempotency_records (tenant_id, create_time);
CREATE INDEX idempotency_records_by_user ON idempotency_records (tenant_id, user_id);

DO $$
DECLARE
    name text;
BEGIN
    FOREACH name IN ARRAY ARRAY['notes', 'note_vectors', 'link_ends', 'processed_interactions', 'idempotency_records'] LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
        EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', name);
        EXECUTE format(
            'CREATE POLICY of_tenant ON %I USING (tenant_id = current_setting(''mneme.tenant'', true)) '
            'WITH CHECK (tenant_id = current_setting(''mneme.tenant'', true))',
            name
        );
    END LOOP;
END $$;
