-- Groups of similar facts: those that wait for somebody to decide whether they say the same, and the decisions. Not
-- partitioned: the job that finds them stores a bounded number for each user.
CREATE TABLE merge_groups (
    tenant_id text NOT NULL,
    user_id text NOT NULL,
    -- Follows from the ids of its facts.
    group_id uuid NOT NULL,
    -- Ascending. Facts that are removed go from here too.
    fact_ids uuid[] NOT NULL,
    state smallint NOT NULL,
    create_time timestamptz NOT NULL,
    -- Null while it waits.
    decide_time timestamptz,
    -- The fact that the others were merged into.
    survivor_id uuid,
    PRIMARY KEY (tenant_id, user_id, group_id)
);
CREATE INDEX merge_groups_newest ON merge_groups (tenant_id, user_id, create_time DESC, group_id);

ALTER TABLE merge_groups ENABLE ROW LEVEL SECURITY;
ALTER TABLE merge_groups FORCE ROW LEVEL SECURITY;
CREATE POLICY of_tenant ON merge_groups USING (tenant_id = current_setting('mneme.tenant', true))
WITH CHECK (tenant_id = current_setting('mneme.tenant', true));
