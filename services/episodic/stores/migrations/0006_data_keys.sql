-- Data keys of users, each wrapped by a key-encryption key that is not in this database (docs/privacy.md). Empty where
-- encryption is off. Deleting a row makes what was encrypted with its key unreadable.
CREATE TABLE data_keys (
    tenant_id   text NOT NULL,
    user_id     text NOT NULL,
    key_id      bytea NOT NULL,          -- stands in every encrypted value
    version     text NOT NULL,           -- of the key-encryption key
    wrapped     bytea NOT NULL,
    create_time timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, user_id)
);

ALTER TABLE data_keys ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant ON data_keys
    USING (tenant_id = current_setting('mneme.tenant', true) OR current_setting('mneme.worker', true) = 'on');

-- The keys of some users, for readers in no tenant's transaction and for background work across tenants. Runs as the owner,
-- whom the policy does not bind.
CREATE FUNCTION data_keys_of(tenant_ids text[], user_ids text[]) RETURNS SETOF data_keys
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = episodic, pg_temp AS $$
    SELECT k.* FROM unnest(tenant_ids, user_ids) AS wanted (tenant_id, user_id)
    JOIN data_keys AS k ON k.tenant_id = wanted.tenant_id AND k.user_id = wanted.user_id
$$;
