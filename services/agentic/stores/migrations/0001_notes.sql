-- Notes, their vectors, the links between them, what was taken already, and answers kept for repeats.

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
    access_count bigint NOT NULL DEFAULT 0,
    last_access_time timestamptz,
    scope_key text NOT NULL,
    speaker text NOT NULL,
    conversation_id text NOT NULL,
    position bigint NOT NULL,
    -- What is embedded, where it is not the content itself.
    spoken text NOT NULL,
    PRIMARY KEY (tenant_id, user_id, note_id)
    -- Room on each page, so that access statistics are updated in place.
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
    embedding vector NOT NULL,
    PRIMARY KEY (tenant_id, user_id, model, note_id),
    FOREIGN KEY (tenant_id, user_id, note_id) REFERENCES notes ON DELETE CASCADE
);
-- Inline: fetching vectors from the side table costs more than comparing them.
ALTER TABLE note_vectors ALTER COLUMN embedding SET STORAGE PLAIN;

-- Links as each of their notes sees them: two rows a link, so that a walk in either direction is one look-up in the
-- only index. With an index per direction the planner, knowing nothing of a new table, took the wrong one and read all
-- links of the user for each note. The other end's scope is kept here, so that a walk need not look at a note to
-- know that its reader may not.
CREATE TABLE link_ends (
    tenant_id text NOT NULL,
    user_id text NOT NULL,
    note_id uuid NOT NULL,
    other_note_id uuid NOT NULL,
    type smallint NOT NULL,
    -- True where note_id is the link's first note; of a link without direction that is the smaller id.
    is_first boolean NOT NULL,
    strength double precision NOT NULL CHECK (strength BETWEEN 0 AND 1),
    create_time timestamptz NOT NULL,
    other_scope_key text NOT NULL,
    PRIMARY KEY (tenant_id, user_id, note_id, other_note_id, type, is_first),
    FOREIGN KEY (tenant_id, user_id, note_id) REFERENCES notes ON DELETE CASCADE,
    CHECK (note_id <> other_note_id)
);

-- Every interaction that was looked at, also those that gave no note.
CREATE TABLE taken_interactions (
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
CREATE INDEX taken_in_conversation ON taken_interactions (tenant_id, user_id, conversation_id, position)
    WHERE question <> '';

CREATE TABLE receipts (
    tenant_id text NOT NULL,
    principal_id text NOT NULL,
    request_id text NOT NULL,
    fingerprint text NOT NULL,
    answer text NOT NULL,
    create_time timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, principal_id, request_id)
);
CREATE INDEX receipts_oldest ON receipts (tenant_id, create_time);

DO $$
DECLARE
    name text;
BEGIN
    FOREACH name IN ARRAY ARRAY['notes', 'note_vectors', 'link_ends', 'taken_interactions', 'receipts'] LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
        EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', name);
        EXECUTE format(
            'CREATE POLICY of_tenant ON %I USING (tenant_id = current_setting(''mneme.tenant'', true)) '
            'WITH CHECK (tenant_id = current_setting(''mneme.tenant'', true))',
            name
        );
    END LOOP;
END $$;
