-- Links carry the last judgement on their notes, and notes without a link count how often they were used together.

ALTER TABLE link_ends ADD COLUMN feedback smallint NOT NULL DEFAULT 0 CHECK (feedback BETWEEN -1 AND 1);

CREATE TABLE note_pairs (
    tenant_id text NOT NULL,
    user_id text NOT NULL,
    -- The smaller id.
    note_id uuid NOT NULL,
    other_note_id uuid NOT NULL,
    -- Responses that both were returned in.
    use_count integer NOT NULL,
    last_use_time timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, user_id, note_id, other_note_id),
    FOREIGN KEY (tenant_id, user_id, note_id) REFERENCES notes ON DELETE CASCADE,
    FOREIGN KEY (tenant_id, user_id, other_note_id) REFERENCES notes ON DELETE CASCADE,
    CHECK (note_id < other_note_id)
);
-- For the deletion of notes.
CREATE INDEX note_pairs_by_other ON note_pairs (tenant_id, user_id, other_note_id);

ALTER TABLE note_pairs ENABLE ROW LEVEL SECURITY;
ALTER TABLE note_pairs FORCE ROW LEVEL SECURITY;
CREATE POLICY of_tenant ON note_pairs
    USING (tenant_id = current_setting('mneme.tenant', true))
    WITH CHECK (tenant_id = current_setting('mneme.tenant', true));
