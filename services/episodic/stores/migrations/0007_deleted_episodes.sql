-- Ids of deleted episodes, without content: a delivery that comes late does not bring them back, and a deletion that was
-- interrupted finds again whose points an index may still hold.
CREATE TABLE deleted_episodes (
    tenant_id text NOT NULL,
    user_id text NOT NULL,
    episode_id uuid NOT NULL,
    -- The place that it had; null where it was deleted before it was stored.
    episode_key bytea,
    delete_time timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, user_id, episode_id)
);

CREATE INDEX deleted_episodes_by_key ON deleted_episodes (tenant_id, user_id, episode_key);

ALTER TABLE deleted_episodes ENABLE ROW LEVEL SECURITY;
-- Not written with "=", as for episodes: a statement that sets the tenant itself has not done so when it is planned.
CREATE POLICY deleted_episodes_of_tenant ON deleted_episodes
    USING (tenant_id IS NOT DISTINCT FROM current_setting('mneme.tenant', true))
    WITH CHECK (tenant_id = current_setting('mneme.tenant', true));
