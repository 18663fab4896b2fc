-- Claims of maintenance jobs with their cursors, and the log of what runs changed. Empty tenant and user: a whole store.

CREATE TABLE claims (
    job         text NOT NULL,
    tenant_id   text NOT NULL,
    user_id     text NOT NULL,
    holder      text NOT NULL,      -- empty: nobody's
    run_id      uuid NOT NULL,
    is_open     boolean NOT NULL,   -- the run has not finished: the next claim goes on with it
    cursor      text NOT NULL,      -- where it goes on
    term        bigint NOT NULL,    -- the fencing token: of the leader's term, 0 without an election
    lease_until timestamptz NOT NULL,
    PRIMARY KEY (job, tenant_id, user_id)
);

-- Numbers the terms of leaders, whatever elects them: a Lease that is made anew counts from the start.
CREATE SEQUENCE terms;

CREATE TABLE log (
    tenant_id   text NOT NULL,
    entry_id    bigint GENERATED ALWAYS AS IDENTITY,
    run_id      uuid NOT NULL,
    job         text NOT NULL,
    user_id     text NOT NULL,
    changes     jsonb NOT NULL,
    is_applied  boolean NOT NULL DEFAULT false,
    is_undone   boolean NOT NULL DEFAULT false,
    create_time timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, entry_id)
);
CREATE INDEX log_by_run ON log (run_id, entry_id);
CREATE INDEX log_by_user ON log (tenant_id, user_id);

-- Jobs work for all tenants, and say so.
DO $$
DECLARE name text;
BEGIN
    FOREACH name IN ARRAY ARRAY['claims', 'log'] LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
        EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', name);
        EXECUTE format(
            'CREATE POLICY tenant ON %I USING (tenant_id = current_setting(''mneme.tenant'', true)
                                            OR current_setting(''mneme.worker'', true) = ''on'')', name);
    END LOOP;
END $$;
