-- Grants: readers of one place see the memories of another. Few for each user, so they are not divided by tenant.

CREATE TABLE grants (
    tenant_id    text NOT NULL,
    user_id      text NOT NULL,
    grant_id     uuid NOT NULL,
    from_key     text NOT NULL,          -- whose memories; keys of scopes
    to_key       text NOT NULL,          -- who sees them
    kinds        smallint[] NOT NULL,    -- which of them; empty for all
    expire_time  timestamptz,            -- NULL for never
    principal_id text NOT NULL,          -- who granted it last
    create_time  timestamptz NOT NULL,   -- or replaced it
    PRIMARY KEY (tenant_id, user_id, grant_id),
    UNIQUE (tenant_id, user_id, from_key, to_key)
);

ALTER TABLE grants ENABLE ROW LEVEL SECURITY;
ALTER TABLE grants FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON grants USING (tenant_id = current_setting('mneme.tenant', true)
                                      OR current_setting('mneme.worker', true) = 'on');
