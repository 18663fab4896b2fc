-- Vectors of the captions of notes' attachments, beside the vectors of the notes: searches take the best of a note's.
--
-- No number and no trigger as in note_vectors: few notes have captions, so these vectors are not cached but compared in
-- the database, by the statement that reads the hits.
CREATE TABLE caption_vectors (
    tenant_id text NOT NULL,
    user_id text NOT NULL,
    model text NOT NULL,
    note_id uuid NOT NULL,
    -- Of the attachment among the note's, from 0.
    place smallint NOT NULL CHECK (place >= 0),
    scope_key text NOT NULL,
    -- Whether searches compare it: its note is not archived.
    is_active boolean NOT NULL,
    embedding vector NOT NULL,
    PRIMARY KEY (tenant_id, user_id, model, note_id, place),
    FOREIGN KEY (tenant_id, user_id, note_id) REFERENCES notes ON DELETE CASCADE
);
-- For the deletion of notes, whichever model their captions are of.
CREATE INDEX caption_vectors_by_note ON caption_vectors (tenant_id, user_id, note_id);
-- Inline: fetching vectors from the side table costs more than comparing them.
ALTER TABLE caption_vectors ALTER COLUMN embedding SET STORAGE PLAIN;

ALTER TABLE caption_vectors ENABLE ROW LEVEL SECURITY;
ALTER TABLE caption_vectors FORCE ROW LEVEL SECURITY;
CREATE POLICY of_tenant ON caption_vectors
    USING (tenant_id = current_setting('mneme.tenant', true))
    WITH CHECK (tenant_id = current_setting('mneme.tenant', true));
