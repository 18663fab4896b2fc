-- What notes were before they changed, so that they are found as of a time. A row is a state that has ended.
CREATE TABLE note_versions (
    tenant_id text NOT NULL,
    user_id text NOT NULL,
    note_id uuid NOT NULL,
    -- When the state ended, since 1970. A number, because what is encrypted is bound to it, and graphs store numbers.
    end_microseconds bigint NOT NULL,
    -- Of the note until then: 1 active, 2 archived.
    status smallint NOT NULL,
    -- What the note said until then; empty: what it said in the state after this one.
    said jsonb NOT NULL,
    -- Whether a correction ended it: it never held.
    was_wrong boolean NOT NULL,
    -- Where what it said was from: erased with that.
    derived_from uuid[] NOT NULL,
    source_note_ids uuid[] NOT NULL,
    question_id uuid,
    PRIMARY KEY (tenant_id, user_id, note_id, end_microseconds),
    FOREIGN KEY (tenant_id, user_id, note_id) REFERENCES notes ON DELETE CASCADE
);

ALTER TABLE note_versions ENABLE ROW LEVEL SECURITY;
ALTER TABLE note_versions FORCE ROW LEVEL SECURITY;
CREATE POLICY of_tenant ON note_versions
    USING (tenant_id = current_setting('mneme.tenant', true))
    WITH CHECK (tenant_id = current_setting('mneme.tenant', true));
