-- A table as services define theirs: tenant first, guarded by row-level security even for its owner.
CREATE TABLE notes (
    tenant_id text NOT NULL,
    note_id text NOT NULL,
    body jsonb NOT NULL DEFAULT '{}',
    embedding vector(3),
    PRIMARY KEY (tenant_id, note_id)
);

ALTER TABLE notes ENABLE ROW LEVEL SECURITY;
ALTER TABLE notes FORCE ROW LEVEL SECURITY;

CREATE POLICY notes_of_tenant ON notes
    USING (tenant_id = current_setting('mneme.tenant', true))
    WITH CHECK (tenant_id = current_setting('mneme.tenant', true));
