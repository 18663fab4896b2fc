-- Clusters of a user's active episodes: ids and numbers alone, so that nothing of an erased episode is left in them.

CREATE TABLE clusters (
    tenant_id text NOT NULL,
    user_id text NOT NULL,
    cluster_id uuid NOT NULL,
    scope_key text NOT NULL,
    create_time timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, user_id, cluster_id)
);

-- Episodes that were looked at. Those that are archived stay until clusters are computed anew; reads leave them out.
CREATE TABLE cluster_members (
    tenant_id text NOT NULL,
    user_id text NOT NULL,
    episode_id uuid NOT NULL,
    -- Null: in none.
    cluster_id uuid,
    membership double precision NOT NULL CHECK (membership BETWEEN 0 AND 1),
    PRIMARY KEY (tenant_id, user_id, episode_id)
);

CREATE INDEX cluster_members_by_cluster ON cluster_members (tenant_id, user_id, cluster_id, membership DESC, episode_id);

-- Users whose episodes were looked at.
CREATE TABLE cluster_owners (
    tenant_id text NOT NULL,
    user_id text NOT NULL,
    -- Of `owners`, at which all of their episodes were looked at.
    revision bigint NOT NULL DEFAULT 0,
    -- Episodes looked at since clusters were computed.
    added bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (tenant_id, user_id)
);

DO $$
DECLARE
    whole text;
BEGIN
    FOREACH whole IN ARRAY ARRAY['clusters', 'cluster_members', 'cluster_owners']
    LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', whole);
        EXECUTE format('CREATE POLICY %I ON %I USING (tenant_id = current_setting(''mneme.tenant'', true)) '
                       'WITH CHECK (tenant_id = current_setting(''mneme.tenant'', true))', whole || '_of_tenant', whole);
    END LOOP;
END $$;

-- Deleted episodes leave their clusters in the same transaction; clusters without any go too.
CREATE FUNCTION leave_clusters() RETURNS trigger
LANGUAGE plpgsql SET search_path = episodic, pg_temp
AS $$
BEGIN
    DELETE FROM cluster_members AS m USING deleted AS d
    WHERE m.tenant_id = d.tenant_id AND m.user_id = d.user_id AND m.episode_id = d.episode_id;
    DELETE FROM clusters AS c USING (SELECT DISTINCT d.tenant_id, d.user_id FROM deleted AS d) AS gone
    WHERE c.tenant_id = gone.tenant_id AND c.user_id = gone.user_id AND NOT EXISTS (
        SELECT FROM cluster_members AS m
        WHERE m.tenant_id = c.tenant_id AND m.user_id = c.user_id AND m.cluster_id = c.cluster_id
    );
    RETURN NULL;
END
$$;

CREATE TRIGGER episodes_leave_clusters AFTER DELETE ON episodes
REFERENCING OLD TABLE AS deleted FOR EACH STATEMENT
EXECUTE FUNCTION leave_clusters();

-- Users after the named one, in the order of their keys, and whether their episodes changed since all were looked at.
CREATE FUNCTION cluster_owners_after(after_tenant text, after_user text, batch_limit integer)
RETURNS TABLE (tenant_id text, user_id text, revision bigint, is_changed boolean)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = episodic, pg_temp
AS $$
    SELECT o.tenant_id, o.user_id, o.revision, o.revision > coalesce(c.revision, 0)
    FROM owners AS o LEFT JOIN cluster_owners AS c ON c.tenant_id = o.tenant_id AND c.user_id = o.user_id
    WHERE (o.tenant_id, o.user_id) > (after_tenant, after_user)
    ORDER BY o.tenant_id, o.user_id
    LIMIT batch_limit
$$;
